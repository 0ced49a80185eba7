//! Joins the expression of a location with that of a `rewrite` in it, so that both the variables that the location sets
//! and the new path of the `rewrite` can refer to groups of one expression.

use std::collections::BTreeMap;

use regex::Regex;

use super::pattern::{Groups, Pattern};

/// One expression for the paths that both a location and a `rewrite` match. It contains the groups of both expressions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// The joined expression with the group numbers of the location: `$1` is the first group of the location's own
    /// expression.
    pub(super) location: Pattern,
    /// The joined expression with the group numbers of the `rewrite`: `$1` is the first group of the `rewrite`'s own
    /// expression.
    pub(super) rewrite: Pattern,
}

/// Joins the expression of a location with that of a `rewrite`, segment by segment. Returns `None` unless each segment
/// of the `rewrite` has no groups, is a single group, or is the same as the location's.
pub(super) fn joined(location: &str, any_case: bool, rewrite: &str) -> Option<Joined> {
    let (all, new) = (segments(location)?, segments(rewrite)?);
    let (last, before) = new.split_last()?;
    let rest = all.get(before.len()..).filter(|rest| !rest.is_empty())?;
    let pairs = all.iter().cloned().zip(before);
    let pairs = pairs.chain([(rest.join("/"), last)]);
    let mut from = String::new();
    let (mut outer, mut inner) = (Numbers::default(), Numbers::default());
    let mut next = 1;
    for (at, (segment, new)) in pairs.enumerate() {
        if at > 0 {
            from.push('/');
        }
        if segment == *new {
            inner.take(&segment, next)?;
            next = outer.take(&segment, next)?;
            from += &segment;
        } else if Regex::new(new).ok()?.captures_len() == 1 {
            if is_literal(&segment) && is_literal(new) {
                return None;
            }
            next = outer.take(&segment, next)?;
            from += &segment;
        } else if is_group(new) {
            inner.take(new, next)?;
            next = outer.take(&segment, next + 1)?;
            from += &format!("({segment})");
        } else {
            return None;
        }
    }
    let flag = if any_case { "(?i)" } else { "" };
    let from = format!("{flag}^{from}$");
    let pattern = |numbers: Numbers| Pattern::new(&from, numbers.groups());
    Some(Joined {
        location: pattern(outer),
        rewrite: pattern(inner),
    })
}

/// Maps the groups of an expression to their numbers in a joined expression.
#[derive(Debug, Default)]
struct Numbers {
    numbers: Vec<usize>,
    names: BTreeMap<String, usize>,
}

impl Numbers {
    /// Adds the groups of `part`, the first of which has the number `first` in the joined expression. Returns the next
    /// number.
    fn take(&mut self, part: &str, first: usize) -> Option<usize> {
        let regex = Regex::new(part).ok()?;
        for (at, name) in regex.capture_names().skip(1).enumerate() {
            self.numbers.push(first + at);
            let number = self.numbers.len();
            self.names
                .extend(name.map(|name| (name.to_owned(), number)));
        }
        Some(first + regex.captures_len() - 1)
    }

    fn groups(self) -> Groups {
        Groups::new(self.numbers, self.names)
    }
}

/// Splits an expression that is anchored at its beginning at the slashes that are outside groups and classes. `None` if
/// it is not anchored or has alternatives outside groups.
fn segments(text: &str) -> Option<Vec<String>> {
    let text = text.strip_prefix('^')?;
    let (text, more) = match text.strip_suffix('$').filter(|text| !text.ends_with('\\')) {
        Some(text) => (text, ""),
        None if text.ends_with(".*)") || text.ends_with(".+)") => (text, ""),
        None => (text, ".*"),
    };
    let mut all = vec![String::new()];
    let (mut depth, mut in_class, mut escapes) = (0_usize, false, false);
    for letter in text.chars() {
        let is_outside = depth == 0 && !in_class;
        let segment = all.last_mut()?;
        if std::mem::take(&mut escapes) {
            match letter {
                // An escaped slash is an ordinary slash.
                '/' if is_outside => {
                    segment.pop();
                    all.push(String::new());
                }
                _ => segment.push(letter),
            }
            continue;
        }
        match letter {
            '\\' => escapes = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth = depth.checked_sub(1)?,
            '|' if is_outside => return None,
            '/' if is_outside => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        segment.push(letter);
    }
    all.last_mut()?.push_str(more);
    Some(all)
}

/// Whether an expression consists of a single capture group.
fn is_group(text: &str) -> bool {
    let inner = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let is_one = |text: &str| Regex::new(text).is_ok_and(|it| it.captures_len() == 2);
    inner.is_some_and(|inner| {
        let captures =
            !inner.starts_with('?') || inner.starts_with("?<") || inner.starts_with("?P<");
        captures && !inner.contains(['(', ')']) && is_one(text)
    })
}

fn is_literal(text: &str) -> bool {
    regex::escape(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matches `path` against the joined expression of a location and its `rewrite`. Returns `$1x$2` with the groups of
    /// the location, a space, and `/$1` with the group of the `rewrite`.
    fn made(location: &str, rewrite: &str, path: &str) -> Option<String> {
        let joined = joined(location, false, rewrite)?;
        let none = BTreeMap::new();
        let sides = joined.location.say("$1x$2", &none).ok()?;
        let file = joined.rewrite.say("/$1", &none).ok()?;
        let regex = Regex::new(&joined.location.from).ok()?;
        let found = regex.captures(path)?;
        let mut said = String::new();
        found.expand(
            &format!("{sides} {file}").replace("$1x", "${1}x"),
            &mut said,
        );
        Some(said)
    }

    #[test]
    fn groups_of_both_are_in_one_expression() {
        let path = "/thumbs/300x200/a/b.jpg";
        for (location, rewrite) in [
            (
                r"^/thumbs/(\d{2,4})x(\d{2,4})/(.+\.(?:jpe?g|png))$",
                "^/thumbs/[^/]+/(.*)$",
            ),
            (r"^/thumbs/(\d+)x(\d+)/", r"^/thumbs/\d+x\d+/(.*)$"),
            (
                r"^\/thumbs\/(?<w>\d+)x(?<h>\d+)\/(?<file>.+)$",
                "^/thumbs/[0-9x]+/(?<name>.+)",
            ),
        ] {
            assert_eq!(
                made(location, rewrite, path).as_deref(),
                Some("300x200 /a/b.jpg"),
                "{location}"
            );
        }
        assert_eq!(
            made(
                r"^/(\d+)/t/(\d+)/x/(.*)$",
                r"^/\d+/t/\d+/(.*)$",
                "/3/t/2/x/b.jpg"
            )
            .as_deref(),
            Some("3x2 /x/b.jpg")
        );
    }

    #[test]
    fn what_cannot_be_joined_is_not() {
        for (location, rewrite) in [
            (r"/(\d+)x(\d+)/(.+)$", "^/[^/]+/(.*)$"),
            (r"^/(\d+)x(\d+)/(.+)$", "^/a/[^/]+/b/(.*)$"),
            (r"^/(\d+)x(\d+)/(.+)$", r"^/(\d+x)\d+/(.*)$"),
            (r"^/a/(\d+)/(.+)$", r"^/b/\d+/(.*)$"),
            (r"^/a/(\d+)$|^/b/(.+)$", r"^/a/(.*)$"),
        ] {
            assert_eq!(joined(location, false, rewrite), None, "{location}");
        }
    }
}
