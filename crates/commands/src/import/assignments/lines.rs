//! Finds assignments of variables in line-based files: environment files, Dockerfiles, systemd units, shell scripts,
//! and the flags of command lines.

use std::sync::LazyLock;

use regex::Regex;
use toml::Value;

use super::{Absent, Assignment, At, Elsewhere, Environment, is_name};

/// Where the value is of a variable that a file names without one, as `export NAME` does: the end of a sentence that
/// begins with "its value is".
pub(super) const OF_STARTER: &str = "that of the environment in which the server is started";

/// Where the value is of a variable that refers to a YAML anchor which the file lacks: the end of a sentence that
/// begins with "its value is".
const OF_ANCHOR: &str = "that of an anchor, which is not in this file";

/// Returns the variables that the lines of a text set, in order. Lines that set nothing are skipped.
pub(super) fn read(text: &str) -> Environment {
    let mut environment = Environment::default();
    let mut assignments = Vec::new();
    // State across lines: the words of a command that is written as a YAML list, and the last `name:` of a Kubernetes
    // list.
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
            assignments.extend(of_words(words, number - 1));
            command = None;
        }
        let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
        environment.elsewhere.extend(files_of(line, number));
        if let Some(rest) = after_command(line) {
            match rest.trim() {
                "" => command = Some(Vec::new()),
                rest => assignments.extend(of_words(&words(rest), number)),
            }
            continue;
        }
        if let Some(name) = line.strip_prefix("name:") {
            named = Some(unquoted(name));
            continue;
        }
        if let (Some(name), Some(value)) = (&named, line.strip_prefix("value:")) {
            assignments.push(assignment(name, &unquoted(value), number));
            named = None;
            continue;
        }
        if let Some((name, place)) = without_value(line) {
            environment.absent.push(Absent {
                name: name.to_owned(),
                at: At::line(number),
                place: place.to_owned(),
            });
            continue;
        }
        assignments.extend(of_line(line, number));
    }
    assignments.extend(
        command
            .iter()
            .flat_map(|words| of_words(words, lines.len())),
    );
    environment.set = assignments;
    environment
}

/// Returns the variable that a line names without a value, and a description of where the value is: `NAME`, `export
/// NAME`, `NAME:`, or `NAME: *anchor` of a YAML fragment that lacks the anchor.
fn without_value(line: &str) -> Option<(&str, &'static str)> {
    let is_of_anchor = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, place) = match line.split_once(": *") {
        Some((name, anchor)) if anchor.chars().all(is_of_anchor) => (name, OF_ANCHOR),
        _ => (line.trim_end_matches(':'), OF_STARTER),
    };
    is_name(name).then_some((name, place))
}

/// Returns the environment files that a line of a systemd unit or of a docker command refers to.
pub(super) fn files_of(line: &str, number: usize) -> Vec<Elsewhere> {
    static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(EnvironmentFile=-?|--env-file[= ])\s*["']?([^\s"']+)"#).ok()
    });
    let all = FILE.iter().flat_map(|it| it.captures_iter(line));
    let named = |captures: regex::Captures<'_>| Elsewhere {
        at: At::line(number),
        key: captures[1].trim_end_matches(['=', '-', ' ']).to_owned(),
        place: format!("`{}`", &captures[2]),
        path: Some(captures[2].to_owned()),
    };
    all.map(named).collect()
}

/// Returns the lines of a text with their numbers. Lines that end in a backslash are joined with the next one.
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

/// Returns the text after the key of a command, such as `command:` in YAML, `CMD` or `ExecStart=`.
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

/// Splits a command into words. It is a JSON list or a shell command line.
pub(super) fn words(text: &str) -> Vec<String> {
    if text.starts_with('[')
        && let Ok(words) = serde_json::from_str(text)
    {
        return words;
    }
    shlex::split(text).unwrap_or_default()
}

/// Parses a line: an assignment, or a command with assignments and flags.
pub(super) fn of_line(line: &str, number: usize) -> Vec<Assignment> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^["']?([A-Z][A-Z0-9_]*)["']?(?:\s*=\s*|:\s+|:$)(.*)$"#).ok()
    });
    let line = ["export ", "ENV ", "Environment="]
        .iter()
        .find_map(|start| line.strip_prefix(start))
        .unwrap_or(line)
        .trim();
    let words = shlex::split(line).unwrap_or_default();
    // In `A=1 B=2` and `A=1 imagor -debug`, every word is parsed on its own.
    let is_command = words.iter().skip(1).any(|word| {
        let is_set = word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let program = word.rsplit('/').next().unwrap_or_default();
        is_set || ["imagor", "imgproxy", "thumbor", "docker"].contains(&program)
    });
    // In YAML lists and systemd units, the whole assignment may be quoted.
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

/// Parses the words of a command: `NAME=value`, `-flag value`, `--flag=value`, and `-flag`, which is set to `1`.
pub(super) fn of_words(words: &[String], number: usize) -> Vec<Assignment> {
    let mut assignments = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let flag = word.strip_prefix('-').filter(|flag| !flag.is_empty());
        let Some(flag) = flag.map(|flag| flag.trim_start_matches('-')) else {
            if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
                assignments.push(assignment(name, value, number));
            }
            continue;
        };
        let variable = |flag: &str| flag.replace('-', "_").to_ascii_uppercase();
        match flag.split_once('=') {
            Some((flag, value)) => assignments.push(assignment(&variable(flag), value, number)),
            // The next word is the assignment of `docker run -e NAME=value`.
            None if ["e", "env"].contains(&flag) => {}
            None => {
                let value = rest.next_if(|next| !next.starts_with('-'));
                let value = value.map_or("1", String::as_str);
                assignments.push(assignment(&variable(flag), value, number));
            }
        }
    }
    assignments
}

pub(super) fn assignment(name: &str, value: &str, line: usize) -> Assignment {
    Assignment {
        name: name.to_owned(),
        value: Value::String(value.to_owned()),
        at: At::line(line),
    }
}

/// Returns a value without surrounding quotes or a trailing comment.
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
