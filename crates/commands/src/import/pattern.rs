//! Translates the paths of a location to a regular expression for `[[rewrite]]`, and nginx's variables to groups of
//! that expression.

use std::collections::BTreeMap;

use andon_dialects::forms::is_script;
use regex::Regex;

/// The paths that a location or a `rewrite` directive matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Regular expression that is matched against the raw path.
    pub(super) from: String,
    /// The path that nginx calls `$uri`, expressed with the groups of `from`.
    pub(super) uri: String,
    /// The groups that nginx's `$1` and `$name` refer to.
    groups: Groups,
}

/// Maps the groups of nginx's expression to those of the translated one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    /// Whether `from` has an additional group around the whole expression.
    is_wrapped: bool,
    /// The number in `from` of each group of nginx's expression.
    numbers: Vec<usize>,
    /// The number in nginx's expression of each named group.
    names: BTreeMap<String, usize>,
}

impl Groups {
    pub(super) fn new(numbers: Vec<usize>, names: BTreeMap<String, usize>) -> Self {
        Self {
            is_wrapped: false,
            numbers,
            names,
        }
    }

    fn of(regex: &Regex, is_wrapped: bool) -> Self {
        let names = regex.capture_names().enumerate();
        let first = 1 + usize::from(is_wrapped);
        Self {
            is_wrapped,
            numbers: (first..first + regex.captures_len() - 1).collect(),
            names: names
                .filter_map(|(at, name)| Some((name?.to_owned(), at)))
                .collect(),
        }
    }

    fn number(&self, name: &str) -> Option<usize> {
        let number: usize = match name.parse() {
            Ok(number) => number,
            Err(_) => *self.names.get(name)?,
        };
        self.numbers.get(number.checked_sub(1)?).copied()
    }
}

/// Whether the path or expression of a location has only extensions of scripts, and at least one.
pub(super) fn names_scripts(text: &str) -> bool {
    let plain = text.replace(['\\', '(', ')', '$', '^', '?', ':'], "");
    let mut names = plain
        .split('/')
        .filter_map(|name| Some(name.split_once('.')?.1));
    let all_scripts = |extensions: &str| {
        extensions
            .split('|')
            .all(|it| is_script(&format!("/a.{it}")))
    };
    names.next().is_some_and(all_scripts) && names.all(all_scripts)
}

impl Pattern {
    /// Creates the pattern for a finished `[[rewrite]]` expression, with a mapping of nginx's groups.
    pub(super) fn new(from: &str, groups: Groups) -> Self {
        Self {
            from: from.to_owned(),
            uri: String::new(),
            groups,
        }
    }

    /// Creates the pattern of `location /x/` or `location ^~ /x/`.
    pub(super) fn prefix(path: &str) -> Self {
        Self {
            from: format!("^{}(.*)$", regex::escape(path)),
            uri: format!("{path}$1"),
            groups: Groups::default(),
        }
    }

    /// Creates the pattern of `location = /x`.
    pub(super) fn exact(path: &str) -> Self {
        Self {
            from: format!("^{}$", regex::escape(path)),
            uri: path.to_owned(),
            groups: Groups::default(),
        }
    }

    /// Creates the pattern of `location ~ …`, or of `location ~* …` if `any_case`. It has an additional group around
    /// the whole expression, so that the whole path can be referred to.
    ///
    /// # Errors
    /// If the expression uses features of PCRE that Andon's regular expressions do not support.
    pub(super) fn regex(text: &str, any_case: bool) -> Result<Self, String> {
        let groups = Groups::of(&compiled(text)?, true);
        let flag = if any_case { "(?i)" } else { "" };
        let inner = text
            .strip_prefix('^')
            .and_then(|text| text.strip_suffix('$'));
        let from = match inner.filter(|inner| !inner.contains('|') && !inner.ends_with('\\')) {
            Some(inner) => format!("{flag}^({inner})$"),
            None => format!("{flag}^(.*?(?:{text}).*)$"),
        };
        Ok(Self {
            from,
            uri: "$1".to_owned(),
            groups,
        })
    }

    /// Creates the pattern of a `rewrite` directive's expression, whose groups keep their numbers.
    ///
    /// # Errors
    /// If the expression uses features of PCRE that Andon's regular expressions do not support.
    pub(super) fn rewrite(text: &str) -> Result<Self, String> {
        Ok(Self {
            from: text.to_owned(),
            uri: String::new(),
            groups: Groups::of(&compiled(text)?, false),
        })
    }

    /// Returns `text` with nginx's variables replaced by groups or by the values in `variables`.
    ///
    /// # Errors
    /// If Andon has no equivalent of a variable, or a group's number is above 9.
    pub(super) fn say(
        &self,
        text: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<String, String> {
        let mut out = String::new();
        for piece in pieces(text) {
            let name = match piece {
                Piece::Text(text) => {
                    out += text;
                    continue;
                }
                Piece::Variable(name) => name,
            };
            if let Some(number) = self.groups.number(name) {
                if number > 9 {
                    return Err(format!("${name}: a rewrite has nine groups"));
                }
                out += &format!("${number}");
            } else if let Some(value) = variables.get(name) {
                // The value was already translated when the variable was set.
                out += value;
            } else if name.starts_with("arg_") {
                // Braces are needed, because a letter may follow.
                out += &format!("${{{name}}}");
            } else if matches!(name, "uri" | "document_uri" | "request_uri") {
                out += &self.uri;
            } else {
                return Err(format!("the variable ${name} has no equivalent"));
            }
        }
        Ok(out)
    }

    /// Returns the regular expression `from`. If [`Pattern::regex`] has put an additional group around the whole of it,
    /// and `to`, the path to which a matching path is rewritten, does not refer to that group, the group is left out
    /// where possible. The references to the other groups in `to` are then renumbered.
    pub(super) fn without_unused_group(&self, to: &mut String) -> String {
        let inner = self
            .from
            .strip_prefix("^(")
            .and_then(|from| from.strip_suffix(")$"));
        let count = self.groups.numbers.len();
        let is_unused = self.groups.is_wrapped && !to.contains("$1") && count < 9;
        match inner.filter(|inner| is_unused && !inner.starts_with(".*?(?:")) {
            Some(inner) => {
                for number in 1..=count {
                    *to = to.replace(&format!("${}", number + 1), &format!("${number}"));
                }
                format!("^{inner}$")
            }
            None => self.from.clone(),
        }
    }
}

/// Returns the folders that all paths matched by an expression begin with, such as `/x/` for `^/x/(.+)$`.
pub(super) fn fixed_start(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('^').filter(|_| !has_choice(text)) else {
        return "";
    };
    let meta = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_'));
    // A quantifier may repeat or omit the last character before it, even a slash.
    let end = rest.find(meta).unwrap_or(rest.len());
    let is_repeated = rest[end..].starts_with(['*', '?', '+', '{']);
    let start = &rest[..end - usize::from(is_repeated)];
    &start[..start.rfind('/').map_or(0, |at| at + 1)]
}

/// Whether an expression has alternatives outside of its groups.
fn has_choice(text: &str) -> bool {
    let (mut depth, mut is_escaped) = (0, false);
    text.chars().any(|char| {
        let is_plain = std::mem::replace(&mut is_escaped, false);
        match char {
            _ if is_plain => {}
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' => return depth == 0,
            _ => {}
        }
        false
    })
}

fn compiled(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|_| format!("the expression `{text}` uses what only PCRE knows"))
}

enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// Splits a text into literal pieces and the variables `$1`, `$name` and `${name}`.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        pieces.push(Piece::Text(before));
        let (name, after) = match after
            .strip_prefix('{')
            .and_then(|after| after.split_once('}'))
        {
            Some(braced) => braced,
            None => {
                let digit = after.starts_with(|c: char| c.is_ascii_digit());
                let end = after
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(after.len());
                after.split_at(if digit { 1 } else { end })
            }
        };
        pieces.push(match name {
            "" => Piece::Text("$"),
            name => Piece::Variable(name),
        });
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_groups_of_an_expression_that_has_the_whole_path_too() {
        let pattern = Pattern::regex(r"^/(\d+)x(?<height>\d+)/(.+)$", false).unwrap();
        assert_eq!(pattern.from, r"^(/(\d+)x(?<height>\d+)/(.+))$");
        let none = BTreeMap::new();
        assert_eq!(
            pattern.say("$1,${height}/$3$uri", &none).unwrap(),
            "$2,$3/$4$1"
        );
        let mut to = pattern.say("/a/$1/$height", &none).unwrap();
        assert_eq!(
            pattern.without_unused_group(&mut to),
            r"^/(\d+)x(?<height>\d+)/(.+)$"
        );
        assert_eq!(to, "/a/$1/$2");
        let set = [("file".to_owned(), "$4".to_owned())].into();
        assert_eq!(pattern.say("/$file", &set).unwrap(), "/$4");
        let said = pattern.say("$arg_w-${arg_h}x$1", &none).unwrap();
        assert_eq!(said, "${arg_w}-${arg_h}x$2");
        let why = pattern.say("$cookie_w", &none).unwrap_err();
        assert_eq!(why, "the variable $cookie_w has no equivalent");
    }

    #[test]
    fn locations_of_scripts_are_told_from_those_of_images() {
        for scripts in [
            r"\.php$",
            r"[^/]\.php(/|$)",
            r"^/(index|thumb)\.php(?:/|$)",
            r"\.(php|phtml)$",
            r".+\.php$",
            "/thumb.php",
        ] {
            assert!(names_scripts(scripts), "{scripts}");
        }
        for images in [
            r"\.(jpg|php)$",
            r"\.jpe?g$",
            "/img/v1.2/",
            "/",
            r"^/p/(.*)$",
        ] {
            assert!(!names_scripts(images), "{images}");
        }
    }

    #[test]
    fn an_expression_that_is_not_anchored_matches_anywhere() {
        let pattern = Pattern::regex(r"\.(jpg|png)$", true).unwrap();
        let regex = Regex::new(&pattern.from).unwrap();
        let found = regex.captures("/a/b.JPG").unwrap();
        assert_eq!((&found[1], &found[2]), ("/a/b.JPG", "JPG"));
        assert!(!regex.is_match("/a.jpg.txt"));
        assert!(
            Pattern::regex("^/(?!x)", false)
                .unwrap_err()
                .contains("PCRE")
        );
    }

    #[test]
    fn the_folders_that_all_paths_begin_with_are_known() {
        for (text, start) in [
            (r"^/img/(\d+)x(\d+)/(.+)$", "/img/"),
            ("^/img/small(er)?/", "/img/"),
            ("^/a/b", "/a/"),
            ("^/a/?b", "/"),
            ("^/a/b*", "/a/"),
            ("^/a/x|^/b/", ""),
            ("^/a/(x|y)/", "/a/"),
            (r"\.jpg$", ""),
            ("/a/", ""),
        ] {
            assert_eq!(fixed_start(text), start, "{text}");
        }
    }

    #[test]
    fn prefixes_are_taken_as_they_are_written() {
        assert_eq!(Pattern::prefix("/a.b/").from, r"^/a\.b/(.*)$");
        assert_eq!(Pattern::exact("/a.b").from, r"^/a\.b$");
    }
}
