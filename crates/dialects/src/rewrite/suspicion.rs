//! Rewrite rules that are valid and yet do not what they were written for.

use super::template::Piece;
use super::{Rewriter, Rule};
use crate::dialect::Target;
use crate::{Dialects, Read};

impl Dialects {
    /// Returns a sentence about each rewrite rule that never applies, because its only path is taken by a rule before it,
    /// or whose new path looks like a URL of a dialect that is off or elsewhere.
    #[must_use]
    pub fn rewrite_warnings(&self) -> Vec<String> {
        let rules = self.rewriter.rules.iter().enumerate();
        let found = rules.flat_map(|(index, rule)| {
            let asks_query = rule.from.as_str().contains(r"\?").then(|| {
                format!(
                    "rewrite.{index}.from has a question mark, and is matched against the path without the query: `query` \
                     is matched against that, and $arg_NAME in `to` is an argument"
                )
            });
            let taken = self.rewriter.taken_before(index, rule);
            let is_file = |read: Read| read.request.is_file();
            let sample = rule.sample();
            let read = self.read_rewritten(Target::new(&sample));
            let hint = read.is_ok_and(is_file).then(|| self.hint_of(&sample)).flatten();
            let hint = hint.map(|hint| format!("rewrite.{index}.to: {hint}"));
            [asks_query, taken, hint].into_iter().flatten()
        });
        found.collect()
    }
}

impl Rewriter {
    /// Returns a sentence about the rule of this index if one before it takes its only path.
    fn taken_before(&self, index: usize, rule: &Rule) -> Option<String> {
        let path = only_path(rule.from.as_str())?;
        let takes = |before: &Rule| before.query.is_none() && before.from.is_match(&path);
        let before = self.rules[..index].iter().position(takes)?;
        Some(format!(
            "rewrite.{index} never applies: only the first rule that matches does, and rewrite.{before} takes {path}; put \
             this one before it"
        ))
    }
}

impl Rule {
    /// Returns a new path as the rule may write it.
    fn sample(&self) -> String {
        let pieces = self.to.iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Group(_) | Piece::Argument(..) => "1",
            Piece::Path(..) => "a.jpg",
        });
        pieces.collect()
    }
}

/// Returns the path that an expression matches, if it matches no other.
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
    use crate::{Config, Dialects};

    fn warnings(keys: &str) -> Vec<String> {
        let known = andon_settings::Known::default();
        let config = crate::ConfigError::reading(keys, &known, |all| all.read::<Config>());
        Dialects::new(&config.expect(keys))
            .unwrap()
            .rewrite_warnings()
    }

    fn rule(from: &str, to: &str) -> String {
        format!("[[rewrite]]\nfrom = '{from}'\nto = '{to}'\n")
    }

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

    #[test]
    fn a_rule_whose_path_another_takes_before_it_is_said() {
        let thumb = rule(r"^/thumb\.php$", "/r/fit:${arg_w}x/$arg_src");
        let all = rule(r"^(.*\.php)$", "/files$1");
        let said = warnings(&format!("{all}{thumb}"));
        assert!(said[0].starts_with("rewrite.1 never applies: "), "{said:?}");
        assert!(said[0].contains("rewrite.0 takes /thumb.php"), "{said:?}");
        assert_eq!(warnings(&format!("{thumb}{all}")), [""; 0]);
        let some = format!("{all}query = 'x=1'\n{thumb}");
        assert_eq!(warnings(&some), [""; 0]);
    }

    #[test]
    fn a_rule_that_looks_for_the_query_in_the_path_is_said() {
        let said = warnings(&rule(
            r"^/thumb\.php\?(.*&)?zc=1",
            "/r/cover:30x30/$arg_src",
        ));
        assert!(
            said[0].starts_with("rewrite.0.from has a question mark"),
            "{said:?}"
        );
    }

    #[test]
    fn a_rule_that_leads_to_a_dialect_that_is_off_is_said() {
        let thumb = rule(r"^/thumb\.php$", "/r/fit:${arg_w}x${arg_h}/$arg_src");
        let said = warnings(&format!("{thumb}[native]\nenabled = false\n"));
        assert!(
            said[0].starts_with("rewrite.0.to: this looks like a URL of native, "),
            "{said:?}"
        );
        assert!(
            said[0].contains("[native] with `enabled = true`"),
            "{said:?}"
        );
        let moved = warnings(&format!("{thumb}[native]\nprefix = \"/img\"\n"));
        assert!(
            moved[0].contains("here it is /img/fit:1x1/a.jpg"),
            "{moved:?}"
        );
        assert_eq!(
            warnings(&format!("{thumb}[native]\nprefix = \"/r\"\n")),
            [""; 0]
        );
        let filter = rule(
            r"^/w([0-9]+)/(.+)$",
            "/_nginx/image_filter(resize,$1,-)/_nginx/1/$2",
        );
        let below = format!("{filter}[image_filter]\nprefix = \"/_nginx\"\n");
        assert_eq!(warnings(&below), [""; 0]);
        let options = rule("^/s/([^/]+)/(.+)$", "/small_light($1)/$2");
        assert_eq!(warnings(&options), [""; 0]);
    }
}
