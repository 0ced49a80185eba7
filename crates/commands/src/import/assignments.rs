//! Finds assignments of variables in what people start containers with: environment files, `environment:` of a
//! docker-compose file, `env:` of Kubernetes, a Dockerfile, a unit of systemd, a script of the shell, and the flags of
//! command lines.

use std::sync::LazyLock;

use regex::Regex;
use toml::Value;

/// One variable and its value, as a file sets it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Value,
    /// Line of the file, counted from 1.
    pub(super) line: usize,
}

/// Returns the variables that a text sets, in its order. Flags such as `-imagor-secret` count as the variables of the
/// same name, `IMAGOR_SECRET`. A line that sets nothing is skipped.
pub(super) fn assignments(text: &str) -> Vec<Assignment> {
    let mut found = Vec::new();
    // The words of a command that a list of YAML has one a line, and the last `name:` of a list of Kubernetes.
    let (mut command, mut named): (Option<Vec<String>>, Option<String>) = (None, None);
    let lines: Vec<(usize, String)> = joined(text);
    for (number, line) in lines.iter().map(|(number, line)| (*number, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(words) = &mut command {
            if let Some(word) = line.strip_prefix("- ") {
                words.push(unquoted(word));
                continue;
            }
            found.extend(of_words(words, number - 1));
            command = None;
        }
        let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
        if let Some(rest) = after_command(line) {
            match rest.trim() {
                "" => command = Some(Vec::new()),
                rest => found.extend(of_words(&words(rest), number)),
            }
            continue;
        }
        if let Some(name) = line.strip_prefix("name:") {
            named = Some(unquoted(name));
            continue;
        }
        if let (Some(name), Some(value)) = (&named, line.strip_prefix("value:")) {
            found.push(assignment(name, &unquoted(value), number));
            named = None;
            continue;
        }
        found.extend(of_line(line, number));
    }
    found.extend(
        command
            .iter()
            .flat_map(|words| of_words(words, lines.len())),
    );
    found
}

/// Whether a value names another variable, whose value the file does not tell: `$KEY`, `${KEY:-x}` or `$(command)`.
pub(super) fn is_reference(value: &str) -> bool {
    static REFERENCE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^\$(\{[^}]*\}|\(.*\)|[A-Za-z_]\w*)$").ok());
    REFERENCE.as_ref().is_some_and(|it| it.is_match(value))
}

/// Returns the lines of a text with their numbers. Lines that end in a backslash continue in the next one.
fn joined(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (index, line) in text.lines().enumerate() {
        let (start, ends) = match line.trim_end().strip_suffix('\\') {
            Some(start) => (start, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| continues) {
            Some((_, last)) => *last = format!("{last} {}", start.trim()),
            None => lines.push((index + 1, start.to_owned())),
        }
        continues = ends;
    }
    lines
}

/// Returns what follows the key of a command, such as `command:` of YAML, `CMD` or `ExecStart=`.
fn after_command(line: &str) -> Option<&str> {
    let keys = [
        "command:",
        "args:",
        "entrypoint:",
        "CMD ",
        "ENTRYPOINT ",
        "RUN ",
        "ExecStart=",
    ];
    keys.iter().find_map(|key| line.strip_prefix(key))
}

/// Returns the words of a command: a list of JSON, or a line of the shell.
fn words(text: &str) -> Vec<String> {
    if text.starts_with('[')
        && let Ok(words) = serde_json::from_str(text)
    {
        return words;
    }
    shlex::split(text).unwrap_or_default()
}

/// Reads a line: an assignment, or a command with assignments and flags.
fn of_line(line: &str, number: usize) -> Vec<Assignment> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^["']?([A-Z][A-Z0-9_]*)["']?(?:\s*=\s*|:\s+|:$)(.*)$"#).ok()
    });
    let line = ["export ", "ENV ", "Environment="]
        .iter()
        .find_map(|start| line.strip_prefix(start))
        .unwrap_or(line)
        .trim();
    let words = shlex::split(line).unwrap_or_default();
    // `A=1 B=2` and `A=1 imagor -debug`: every word counts.
    let is_command = words.iter().skip(1).any(|word| {
        let is_set = word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let program = word.rsplit('/').next().unwrap_or_default();
        is_set || ["imagor", "imgproxy", "thumbor", "docker"].contains(&program)
    });
    // A list of YAML and systemd put quotes around the whole of it.
    let whole = match words.as_slice() {
        [one] if line.starts_with(['"', '\'']) && one.contains('=') => one.clone(),
        _ => line.to_owned(),
    };
    let named = NAMED.as_ref().and_then(|it| it.captures(&whole));
    match named {
        Some(named) if !is_command => vec![assignment(&named[1], &unquoted(&named[2]), number)],
        _ => of_words(&words, number),
    }
}

/// Reads the words of a command: `NAME=value`, `-flag value`, `--flag=value` and `-flag`, which sets it to `1`.
fn of_words(words: &[String], number: usize) -> Vec<Assignment> {
    let mut found = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let flag = word.strip_prefix('-').filter(|flag| !flag.is_empty());
        let Some(flag) = flag.map(|flag| flag.trim_start_matches('-')) else {
            if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
                found.push(assignment(name, value, number));
            }
            continue;
        };
        let variable = |flag: &str| flag.replace('-', "_").to_ascii_uppercase();
        match flag.split_once('=') {
            Some((flag, value)) => found.push(assignment(&variable(flag), value, number)),
            // The variable of `docker run -e NAME=value` is its next word.
            None if ["e", "env"].contains(&flag) => {}
            None => {
                let value = rest.next_if(|next| !next.starts_with('-'));
                let value = value.map_or("1", String::as_str);
                found.push(assignment(&variable(flag), value, number));
            }
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(is_of_name)
}

fn assignment(name: &str, value: &str, line: usize) -> Assignment {
    Assignment {
        name: name.to_owned(),
        value: Value::String(value.to_owned()),
        line,
    }
}

/// Returns a value without the quotes around it and the comment behind it.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote);
        if let Some((inner, _)) = inner.and_then(|inner| inner.split_once(quote)) {
            return inner.to_owned();
        }
    }
    text.split(" #")
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let pair = |it: Assignment| (it.name, it.value.as_str().unwrap_or_default().to_owned());
        assignments(text).into_iter().map(pair).collect()
    }

    #[test]
    fn every_usual_way_to_set_a_variable_is_read() {
        for text in [
            "A_KEY=x y",
            "A_KEY=x y # why",
            "export A_KEY=\"x y\"",
            "environment:\n  A_KEY: x y",
            "environment:\n  A_KEY: 'x y'",
            "environment:\n  - A_KEY=x y",
            "environment:\n  - \"A_KEY=x y\"",
            "env:\n  - name: A_KEY\n    value: \"x y\"",
            "Environment=\"A_KEY=x y\"",
            "ENV A_KEY=\"x y\"",
            "docker run -e 'A_KEY=x y' image",
            "docker run \\\n  -e A_KEY='x y' \\\n  image",
            "A_KEY='x y' imagor",
            "imagor -a-key 'x y'",
            "imagor --a-key='x y'",
            "ExecStart=/usr/bin/imagor -a-key \"x y\"",
            "CMD [\"imagor\", \"-a-key\", \"x y\"]",
            "command:\n  - -a-key\n  - x y\nports: 80",
        ] {
            assert_eq!(pairs(text), [("A_KEY".into(), "x y".into())], "{text}");
        }
        let two = [
            ("DEBUG".to_owned(), "1".to_owned()),
            ("A".into(), "b".into()),
        ];
        assert_eq!(pairs("imagor -debug -a b"), two);
        assert_eq!(pairs("DEBUG=1 A=b imagor"), two);
        assert_eq!(pairs("# A=b\nimage: a/b\nlower=1"), []);
        assert_eq!(assignments("\n\nA=b")[0].line, 3);
    }

    #[test]
    fn a_reference_is_told_from_a_value_with_a_dollar() {
        for text in ["$KEY", "${KEY}", "${KEY:-x}", "$(cat key)"] {
            assert!(is_reference(text), "{text}");
        }
        for text in ["a$KEY", "$1/$2", "", "$"] {
            assert!(!is_reference(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            assignments(&text);
        }

        #[test]
        fn a_quoted_value_is_read_as_it_is(value in "[^'\r\n\\\\]{0,20}") {
            let text = format!("A_KEY='{value}'");
            prop_assert_eq!(pairs(&text), [("A_KEY".to_owned(), value)]);
        }
    }
}
