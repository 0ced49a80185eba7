//! Rewrite rules, which turn old URL shapes into URLs of a dialect.

use std::borrow::Cow;

use regex::{Captures, Regex};

use crate::{ConfigError, percent};

/// The `[[rewrite]]` table: one rule, as configured.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// A regular expression that is matched against the raw path (not decoded, without the query).
    pub from: String,
    /// The new path. `$1` to `$9` are the groups of the expression. `$arg_NAME` is an argument of the request's query:
    /// at the end of the path, behind a slash, any path or URL (`/r/fit:300x300/$arg_src`), and elsewhere a word, which is
    /// empty if it has characters other than letters, digits and `-._~`. Before a letter, a digit or `_` it needs braces:
    /// `${arg_w}x${arg_h}`. A query in the new path goes before the request's own.
    pub to: String,
    /// Whether the rule may lead to sources that a `[[secure_link]]` guards and to dialects that are closed to unsigned
    /// URLs. The rule itself then decides who gets them.
    #[serde(default)]
    pub opens: bool,
}

/// Compiled rewrite rules.
#[derive(Debug)]
pub(crate) struct Rewriter {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    from: Regex,
    to: Vec<Piece>,
    opens: bool,
}

/// A target after rewriting.
#[derive(Debug)]
pub(crate) struct Rewritten<'a> {
    pub(crate) target: Cow<'a, str>,
    /// The new target as the rule writes it, without the request's query, if the rule may lead to guarded sources and
    /// closed dialects.
    pub(crate) opened: Option<String>,
}

/// A piece of a rule's new path.
#[derive(Debug)]
enum Piece {
    Text(String),
    Group(usize),
    /// An argument that is one word.
    Argument(String),
    /// An argument that is a path, and the rest of the new path.
    Path(String),
}

impl Rewriter {
    pub(crate) fn new(rewrites: &[Rewrite]) -> Result<Self, ConfigError> {
        let rules = rewrites
            .iter()
            .enumerate()
            .map(|(index, rewrite)| Rule::new(index, rewrite))
            .collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Returns the target after the first rule that matches its path. Only one rule applies, so that no rule has to be
    /// written with the results of the others in mind.
    ///
    /// A rule applies to every spelling of a path that it matches: it is tried on the path as received, then on the
    /// path with escapes decoded and slashes merged, before the next rule is tried. So a path that a rule closes cannot
    /// be reached by another spelling.
    pub(crate) fn apply<'a>(&self, target: &'a str) -> Rewritten<'a> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let plain = match self.rules.is_empty() {
            true => None,
            false => plainest(path),
        };
        let found = self.rules.iter().find_map(|rule| {
            let plain = || rule.apply(plain.as_deref()?, query);
            let new = rule.apply(path, query).or_else(plain)?;
            let opens = rule.opens && rule.leads_to(&new, path, query);
            Some((new, opens))
        });
        let Some((mut new, opens)) = found else {
            return Rewritten {
                target: Cow::Borrowed(target),
                opened: None,
            };
        };
        let opened = opens.then(|| new.clone());
        if let Some(query) = query {
            new.push(if new.contains('?') { '&' } else { '?' });
            new.push_str(query);
        }
        Rewritten {
            target: Cow::Owned(new),
            opened,
        }
    }
}

/// Returns a raw path with as few escapes as possible and without repeated slashes. `None` if that is the same text, or
/// if the path cannot be decoded.
fn plainest(path: &str) -> Option<String> {
    if !path.contains('%') && !path.contains("//") {
        return None;
    }
    let decoded = percent::decode(path).ok()?;
    let mut plain = String::with_capacity(path.len());
    for segment in decoded.split('/').filter(|segment| !segment.is_empty()) {
        plain.push('/');
        plain.push_str(&percent::encode(segment, ""));
    }
    if decoded.ends_with('/') {
        plain.push('/');
    }
    (plain != path).then_some(plain)
}

/// Decodes a path and its query, which is how the server that the rules were written for sees them.
fn decoded(target: &str) -> Option<String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = plainest(path).unwrap_or_else(|| path.to_owned());
    let [path, query] = [path.as_str(), query].map(percent::decode);
    Some(format!("{}?{}", path.ok()?, query.ok()?))
}

impl Rule {
    fn new(index: usize, rewrite: &Rewrite) -> Result<Self, ConfigError> {
        let wrong = |key: &str, value: &str, why: &str| {
            let key = format!("rewrite.{index}.{key}");
            ConfigError::new(key, format!("`{value}` cannot work: {why}"))
        };
        let from = Regex::new(&rewrite.from)
            .map_err(|error| wrong("from", &rewrite.from, &error.to_string()))?;
        let to = pieces(&rewrite.to).map_err(|why| wrong("to", &rewrite.to, &why))?;
        let groups = from.captures_len() - 1;
        for piece in &to {
            if let Piece::Group(group) = piece
                && *group > groups
            {
                let why = format!("there is no ${group}: `from` has {groups} groups");
                return Err(wrong("to", &rewrite.to, &why));
            }
        }
        Ok(Self {
            from,
            to,
            opens: rewrite.opens,
        })
    }

    /// Whether the rule leads to the same target from the decoded path. nginx matches the decoded path: `[^/]+` does
    /// not match `a%2Fb` there, and an escape must not open what the expression leaves closed.
    fn leads_to(&self, new: &str, path: &str, query: Option<&str>) -> bool {
        if percent::decode(path).is_err() {
            return false;
        }
        let plain = plainest(path);
        let from_plain = self.apply(plain.as_deref().unwrap_or(path), query);
        let from_plain = from_plain.and_then(|new| decoded(&new));
        from_plain.is_some() && from_plain == decoded(new)
    }

    fn apply(&self, path: &str, query: Option<&str>) -> Option<String> {
        let captures: Captures<'_> = self.from.captures(path)?;
        let group = |group: usize| captures.get(group).map_or("", |found| found.as_str());
        let pieces = self.to.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Group(number) => Cow::Borrowed(group(*number)),
            Piece::Argument(name) => Cow::Borrowed(word(argument(query, name))),
            Piece::Path(name) => Cow::Owned(path_of(argument(query, name))),
        });
        Some(pieces.collect())
    }
}

/// Returns the value of the first query argument of this name, in any case.
fn argument<'a>(query: Option<&'a str>, name: &str) -> &'a str {
    let pairs = query.unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.eq_ignore_ascii_case(name).then_some(value)
    });
    values.next().unwrap_or_default()
}

/// Returns a value, or nothing if it has characters other than letters, digits and `-._~`, because a slash or a parenthesis
/// would change the meaning of the rule's own text.
fn word(value: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if value.bytes().all(is_plain) {
        value
    } else {
        ""
    }
}

/// Returns a form's value as the end of a raw path, without slashes in front. One that cannot be decoded is kept, so that
/// the dialect refuses it by its name.
fn path_of(value: &str) -> String {
    let raw = value.replace('+', "%20");
    match percent::decode(&raw) {
        Ok(decoded) => percent::encode(decoded.trim_start_matches('/'), "/"),
        Err(_) => raw.replace('?', "%3F"),
    }
}

/// Splits a rule's new path into text, groups and arguments. Own code because the `regex` crate reads `$1x` as a group
/// named `1x`, which is not what nginx users mean.
///
/// # Errors
/// If braces are not closed, or name neither a group nor an argument.
fn pieces(to: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = to;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let (piece, behind) = match after.strip_prefix('{') {
            Some(braced) => {
                let closed = braced.split_once('}');
                let (name, behind) = closed.ok_or("`${` without its `}`")?;
                let piece = named(name).ok_or_else(|| {
                    format!(
                        "`${{{name}}}` is not known: `${{1}}` to `${{9}}` and `${{arg_NAME}}` are"
                    )
                })?;
                (Some(piece), behind)
            }
            None => {
                let (name, behind) = after.split_at(length_of_name(after));
                (named(name), behind)
            }
        };
        match piece {
            Some(piece) => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(piece);
                rest = behind;
            }
            None => {
                text.push('$');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    Ok(with_path(pieces))
}

/// Takes an argument for a path if nothing but a query follows it in the new path, and a slash is before it.
fn with_path(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let is_query = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('?'));
    let end = pieces.iter().position(is_query);
    let end = end.unwrap_or(pieces.len() - 1);
    if let [.., Piece::Text(before), argument, Piece::Text(after)] = &mut pieces[..=end]
        && before.ends_with('/')
        && (after.is_empty() || after.starts_with('?'))
        && let Piece::Argument(name) = argument
    {
        *argument = Piece::Path(std::mem::take(name));
    }
    pieces
}

/// The length of the name that a text begins with: one digit, or `arg_` with letters, digits and `_`.
fn length_of_name(text: &str) -> usize {
    if text.starts_with(ARGUMENT) {
        let is_end = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
        return text.find(is_end).unwrap_or(text.len());
    }
    usize::from(text.starts_with(|char: char| char.is_ascii_digit()))
}

/// Returns the group or the argument of this name.
fn named(name: &str) -> Option<Piece> {
    match (name.strip_prefix(ARGUMENT), name.as_bytes()) {
        (Some(argument), _) => Some(Piece::Argument(argument.to_owned())),
        (None, [digit @ b'1'..=b'9']) => Some(Piece::Group(usize::from(digit - b'0'))),
        _ => None,
    }
}

/// Prefix of argument names in a rule's new path, after the dollar sign.
const ARGUMENT: &str = "arg_";

#[cfg(test)]
mod tests {
    use super::{Rewrite, Rewriter};

    fn rule(from: &str, to: &str) -> Rewrite {
        Rewrite {
            from: from.to_owned(),
            to: to.to_owned(),
            opens: false,
        }
    }

    #[test]
    fn groups_are_put_where_they_are_named() {
        let rewriter = Rewriter::new(&[rule(
            r"^/resize/w/(\d+)/h/(\d+)/(.+)$",
            "/small_light(dw=$1,dh=$2,da=l)/$3",
        )])
        .unwrap();
        assert_eq!(
            rewriter.apply("/resize/w/150/h/100/a%20b.jpg?v=2").target,
            "/small_light(dw=150,dh=100,da=l)/a%20b.jpg?v=2"
        );
        assert_eq!(rewriter.apply("/other.jpg").target, "/other.jpg");
    }

    #[test]
    fn a_group_ends_after_its_digit_and_a_lone_dollar_is_itself() {
        let rewriter = Rewriter::new(&[rule("^/(.)(.)$", "/$1x$2$/$0")]).unwrap();
        assert_eq!(rewriter.apply("/ab").target, "/axb$/$0");
    }

    #[test]
    fn arguments_of_the_query_are_put_where_they_are_named_if_they_are_words() {
        let rewriter = Rewriter::new(&[rule("^/(.+)$", "/x(resize,$arg_w,$arg_h)/$1")]).unwrap();
        let path = |target: &str| {
            let new = rewriter.apply(target).target;
            new.split('?').next().unwrap_or_default().to_owned()
        };
        assert_eq!(path("/a.jpg?h=20&W=10&w=30"), "/x(resize,10,20)/a.jpg");
        assert_eq!(path("/a.jpg"), "/x(resize,,)/a.jpg");
        assert_eq!(path("/a.jpg?w=1,2)/b&h=%2F"), "/x(resize,,)/a.jpg");
    }

    #[test]
    fn an_argument_at_the_end_of_a_path_is_any_path() {
        let to = |to: &str, query: &str| {
            let rewriter = Rewriter::new(&[rule(r"^/resize\.php$", to)]).unwrap();
            let target = format!("/resize.php?{query}");
            let new = rewriter.apply(&target).target;
            new.strip_suffix(query)
                .expect(&new)
                .trim_end_matches(['?', '&'])
                .to_owned()
        };
        for (value, path) in [
            ("trip%2Fa.jpg", "trip/a.jpg"),
            ("/trip/a+b%20c.jpg", "trip/a%20b%20c.jpg"),
            (
                "M%C3%B6bel%2F50%25+%231%3F.jpg",
                "M%C3%B6bel/50%25%20%231%3F.jpg",
            ),
            ("https%3A%2F%2Fa.example%2Fb.jpg", "https://a.example/b.jpg"),
            ("", ""),
            ("K%FCche+1%3f.jpg", "K%FCche%201%3f.jpg"),
            ("%zz?", "%zz%3F"),
            ("%00", "%00"),
        ] {
            let query = format!("w=30&src={value}");
            assert_eq!(
                to("/r/fit:${arg_w}x/$arg_src", &query),
                format!("/r/fit:30x/{path}")
            );
            assert_eq!(to("/$arg_src?dw=$arg_w", &query), format!("/{path}?dw=30"));
        }
        // Elsewhere it is a word.
        for text in [
            "/r/$arg_src/a.jpg",
            "/a.jpg?x=/$arg_src",
            "/r/$arg_src$1",
            "/r/fit:$arg_src",
        ] {
            let rewriter = Rewriter::new(&[rule("^/(x)$", text)]).unwrap();
            let new = rewriter.apply("/x?src=a/b").target;
            assert!(
                !new.starts_with("/r/a/b") && !new.contains("/a/b"),
                "{text}: {new}"
            );
        }
    }

    #[test]
    fn braces_end_a_name_before_a_letter() {
        let rewriter =
            Rewriter::new(&[rule("^/(.+)$", "/r/fit:${arg_w}x${arg_h}/${1}0$")]).unwrap();
        let new = rewriter.apply("/a?w=30&h=20").target;
        assert_eq!(new, "/r/fit:30x20/a0$?w=30&h=20");
        for (to, why) in [
            ("/${arg_w", "without its `}`"),
            ("/${host}", "`${host}` is not known"),
            ("/${0}", "`${0}` is not known"),
            ("/${2}", "there is no $2"),
        ] {
            let error = Rewriter::new(&[rule("^/(.+)$", to)]).unwrap_err();
            assert!(error.to_string().contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn the_first_rule_that_matches_is_the_only_one_that_acts() {
        let rewriter = Rewriter::new(&[rule("^/a$", "/b"), rule("^/[ab]$", "/c")]).unwrap();
        assert_eq!(rewriter.apply("/a").target, "/b");
        assert_eq!(rewriter.apply("/b").target, "/c");
    }

    #[test]
    fn a_query_in_the_rule_goes_before_the_requests_own() {
        let rewriter = Rewriter::new(&[rule("^/w(.+)/(.+)$", "/$2?dw=$1")]).unwrap();
        assert_eq!(rewriter.apply("/w10/a.jpg").target, "/a.jpg?dw=10");
        assert_eq!(
            rewriter.apply("/w10/a.jpg?dh=5").target,
            "/a.jpg?dw=10&dh=5"
        );
    }

    #[test]
    fn a_rule_opens_what_it_leads_to_from_the_decoded_path() {
        let opens = |from: &str, target: &str| {
            let rule = Rewrite {
                opens: true,
                ..rule(from, "/secure/$1")
            };
            Rewriter::new(&[rule])
                .unwrap()
                .apply(target)
                .opened
                .is_some()
        };
        for target in [
            "/thumb/a.jpg",
            "/thumb/a%20b.jpg?v=2",
            "/%74humb//%61.jpg",
            "/thumb%2Fa.jpg",
        ] {
            assert!(opens("^/thumb/([^/]+)$", target), "{target}");
        }
        assert!(opens("^/thumb/(.*)$", "/thumb/vip%2Fa.jpg"));
        for (from, target) in [
            ("^/thumb/([^/]+)$", "/thumb/vip%2Fa.jpg"),
            ("^/thumb/([^/]+)$", "/thumb/vip%2fa.jpg?v=2"),
            // It matches that, and means another file.
            ("^/thumb/([^/]+)(/.*)?$", "/thumb/vip%2Fa.jpg"),
            ("^/thumb/(.*)$", "/thumb/%zz"),
        ] {
            assert!(!opens(from, target), "{from} {target}");
        }
    }

    #[test]
    fn rules_that_cannot_work_are_named() {
        let error = Rewriter::new(&[rule("(", "/")]).unwrap_err();
        assert!(
            error.to_string().starts_with("`rewrite.from`: `(` "),
            "{error}"
        );
        let error = Rewriter::new(&[rule("^/(a)$", "/$2")]).unwrap_err();
        let why = "`rewrite.to`: `/$2` cannot work: there is no $2: `from` has 1 groups";
        assert_eq!(error.to_string(), why);
    }

    #[test]
    fn a_rule_acts_on_every_spelling_of_its_paths_before_the_next_one_does() {
        let rules = [rule("^/private/", "/.closed"), rule("^/(.*)$", "/files/$1")];
        let rewriter = Rewriter::new(&rules).unwrap();
        for spelling in [
            "/private/a.jpg",
            "/%70rivate/a.jpg",
            "//private/a.jpg",
            "/private%2Fa.jpg",
            "/%2Fprivate//a.jpg",
        ] {
            assert_eq!(rewriter.apply(spelling).target, "/.closed", "{spelling}");
        }
        // What it matches as it came, it changes as it came.
        assert_eq!(rewriter.apply("/a%2fb//c").target, "/files/a%2fb//c");
    }
}
