//! Detects rewrite rules that cannot have their intended effect, whichever dialects are enabled.

use super::template::Piece;
use super::{Rewriter, Rule};

impl Rewriter {
    /// Returns for each rewrite rule its index, an example of a new path that the rule may write, and sentences about
    /// parts of the rule that cannot have their intended effect.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = (usize, String, Vec<String>)> {
        self.rules.iter().enumerate().map(|(index, rule)| {
            let asks_query = rule.from.as_str().contains(r"\?").then(|| {
                format!(
                    "rewrite.{index}.from has a question mark, and is matched against the path without the query: `query` \
                     is matched against that, and $arg_NAME in `to` is an argument"
                )
            });
            let doubts = [asks_query, self.taken_before(index, rule)];
            (index, rule.sample(), doubts.into_iter().flatten().collect())
        })
    }

    /// Returns a warning if the expression of the rule `rule` at `index` matches a single path, and an earlier rule
    /// without conditions on the query matches that path, too.
    fn taken_before(&self, index: usize, rule: &Rule) -> Option<String> {
        let path = only_path(rule.from.as_str())?;
        let matches_path =
            |earlier: &Rule| earlier.query.is_empty() && earlier.from.is_match(&path);
        let earlier = self.rules[..index].iter().position(matches_path)?;
        Some(format!(
            "rewrite.{index} never applies: only the first rule that matches does, and rewrite.{earlier} takes {path}; put \
             this one before it"
        ))
    }
}

impl Rule {
    /// Returns an example of a new path that the rule may write.
    fn sample(&self) -> String {
        let pieces = self.to.iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Group(_) | Piece::Argument(..) => "1",
            Piece::Path(..) => "a.jpg",
        });
        pieces.collect()
    }
}

/// Returns the only path that an expression matches; `None` if it may match others.
fn only_path(from: &str) -> Option<String> {
    let inner = from.strip_prefix('^')?.strip_suffix('$')?;
    let mut path = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => path.push(chars.next().filter(|it| !it.is_alphanumeric())?),
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => {
                return None;
            }
            char => path.push(char),
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::only_path;

    #[test]
    fn only_expressions_for_one_path_have_one() {
        assert_eq!(
            only_path(r"^/a-b/thumb\.php$").as_deref(),
            Some("/a-b/thumb.php")
        );
        for many in [
            r"^/thumb.php$",
            r"/a$",
            "^/a",
            r"^/\d$",
            "^/a+$",
            "^/(a)$",
            r"^/[ab]$",
            r"^/a|b$",
        ] {
            assert_eq!(only_path(many), None, "{many}");
        }
    }
}
