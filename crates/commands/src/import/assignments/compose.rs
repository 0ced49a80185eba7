//! Replaces variables such as `${KEY}` in the values of a docker-compose file, as docker compose does: by values from
//! the file `.env` in the same folder, or else by the default in the expression. The environment of docker compose
//! itself, which overrides both, is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Value;

use super::{Absent, Environment, lines, text_of};

/// Name of the file with the variables for a docker-compose file.
pub(super) const FILE: &str = ".env";

/// Maximum nesting depth of defaults in defaults.
const DEEPEST: usize = 8;

/// The error for a value that cannot be determined: the name of the variable that is missing.
#[derive(Debug, PartialEq)]
struct Unknown(String);

/// Replaces variables in all values. Assignments that use an undefined variable without a default move from `set` to
/// `absent`.
pub(super) fn interpolate(environment: &mut Environment, file: &Path) {
    let text = text_of(file).unwrap_or_default();
    let mut variables = BTreeMap::new();
    for it in lines::read(&text).set {
        if let Value::String(value) = it.value {
            variables.insert(it.name, value);
        }
    }
    let mut set = Vec::new();
    for mut it in std::mem::take(&mut environment.set) {
        let text = it.value.as_str().filter(|text| text.contains('$'));
        match text.map(|text| interpolated(text, &variables, 0)) {
            None => set.push(it),
            Some(Ok(value)) => {
                it.value = Value::String(value);
                set.push(it);
            }
            Some(Err(Unknown(name))) => environment.absent.push(Absent {
                name: it.name,
                at: it.at,
                place: format!(
                    "made with the variable {name}, which is neither in {FILE} beside the file nor given a default"
                ),
            }),
        }
    }
    environment.set = set;
}

/// Replaces `$NAME`, `${NAME}`, `${NAME:-default}` and the other forms of `${…}` in a value, and `$$` by `$`.
fn interpolated(
    text: &str,
    variables: &BTreeMap<String, String>,
    depth: usize,
) -> Result<String, Unknown> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((inner, after)) = after.strip_prefix('{').and_then(braced) {
            out.push_str(&expression(inner, variables, depth)?);
            rest = after;
        } else {
            let (name, after) = name(after);
            match (name, variables.get(name)) {
                ("", _) => out.push('$'),
                (_, Some(value)) => out.push_str(value),
                (_, None) => return Err(Unknown(name.to_owned())),
            }
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Evaluates the text between the braces of `${…}`.
fn expression(
    inner: &str,
    variables: &BTreeMap<String, String>,
    depth: usize,
) -> Result<String, Unknown> {
    let (name, operation) = name(inner);
    let value = variables.get(name);
    let (counts, word) = match operation.strip_prefix(':') {
        // With a colon, an empty value is treated like an undefined variable.
        Some(operation) => (value.filter(|value| !value.is_empty()), operation),
        None => (value, operation),
    };
    let unknown = || Unknown(name.to_owned());
    let of_word = |word: &str| match depth < DEEPEST {
        true => interpolated(word, variables, depth + 1),
        false => Err(unknown()),
    };
    if let Some(default) = word.strip_prefix('-') {
        return counts.map_or_else(|| of_word(default), |value| Ok(value.clone()));
    }
    if let Some(other) = word.strip_prefix('+') {
        return counts.map_or_else(|| Ok(String::new()), |_| of_word(other));
    }
    match word.is_empty() || word.starts_with('?') {
        true => counts.cloned().ok_or_else(unknown),
        false => Err(unknown()),
    }
}

/// Splits a text that follows an opening brace at the matching closing brace: the text before it, and the text after
/// it.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut open = 0_usize;
    for (index, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some((&text[..index], &text[index + 1..])),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Splits a text after the variable name that it begins with. The name is empty if there is none.
fn name(text: &str) -> (&str, &str) {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => ("", text),
        false => text.split_at(end),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::environment;
    use super::*;

    fn variables() -> BTreeMap<String, String> {
        let all = [("KEY", "k"), ("EMPTY", "")];
        all.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn variables_are_replaced_as_docker_compose_does() {
        for (text, value) in [
            ("${KEY}", "k"),
            ("$KEY/a", "k/a"),
            ("a${KEY}b${KEY}", "akbk"),
            ("${KEY:-x}", "k"),
            ("${OTHER:-x}", "x"),
            ("${OTHER:-}", ""),
            ("${OTHER:-${KEY}}", "k"),
            ("${OTHER-a-b:c}", "a-b:c"),
            ("${EMPTY:-x}", "x"),
            ("${EMPTY-x}", ""),
            ("${EMPTY}", ""),
            ("${KEY:?is needed}", "k"),
            ("${KEY:+x}", "x"),
            ("${OTHER:+x}", ""),
            ("$$KEY $", "$KEY $"),
            ("$1", "$1"),
        ] {
            assert_eq!(
                interpolated(text, &variables(), 0).as_deref(),
                Ok(value),
                "{text}"
            );
        }
        for text in [
            "${OTHER}",
            "$OTHER",
            "${OTHER:?is needed}",
            "${OTHER-$OTHER}",
            "${OTHER!}",
        ] {
            let unknown = Err(Unknown("OTHER".to_owned()));
            assert_eq!(interpolated(text, &variables(), 0), unknown, "{text}");
        }
    }

    #[test]
    fn only_a_compose_file_is_read_with_the_file_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "# of all\nKEY='a b'\n").expect("written");
        let read = |text: &str| {
            let mut read = environment(text);
            read.read_files(&folder.path().join("compose.yml"));
            read
        };
        let compose =
            read("services:\n  a:\n    environment:\n      A_ONE: ${KEY}\n      A_TWO: ${NONE}\n");
        assert_eq!(compose.set.len(), 1);
        assert_eq!(compose.set[0].value.as_str(), Some("a b"));
        let [absent] = &compose.absent[..] else {
            panic!("{:?}", compose.absent);
        };
        assert_eq!((&*absent.name, absent.at.line), ("A_TWO", 5));
        assert!(
            absent.place.contains("the variable NONE"),
            "{}",
            absent.place
        );
        let other = read("env:\n  A_ONE: ${KEY}\n");
        assert_eq!(other.set[0].value.as_str(), Some("${KEY}"));
    }

    proptest! {
        #[test]
        fn any_value_is_read_without_a_panic(text in "([$]|[$][{]|[}]|:-|KEY|OTHER|[ -~é]){0,60}") {
            let _ = interpolated(&text, &variables(), 0);
        }

        #[test]
        fn what_is_escaped_stays(text in "[ -~]{0,30}") {
            let escaped = text.replace('$', "$$");
            prop_assert_eq!(interpolated(&escaped, &variables(), 0), Ok(text));
        }
    }
}
