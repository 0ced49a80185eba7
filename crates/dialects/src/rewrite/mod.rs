//! Rewrite rules, which turn old URL shapes into URLs of a dialect.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde::{Deserialize, Deserializer};

use crate::{ConfigError, percent};

mod suspicion;
mod template;

use template::{Piece, pieces};

/// The `[[rewrite]]` table: one rule, as configured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// A regular expression that is matched against the raw path (not decoded, without the query).
    pub from: String,
    /// Regular expressions, all of which must match the raw query. A configuration file may have a single string instead
    /// of a list. If empty, the rule applies to any query, and to targets without a query.
    #[serde(default, deserialize_with = "one_or_all")]
    pub query: Vec<String>,
    /// The new path. `$1` to `$9` are the groups of the expression. `$arg_NAME` is an argument of the request's query:
    /// at the end of the path, after a slash, any path or URL (`/r/fit:300x300/$arg_src`), and elsewhere a word, which
    /// is empty if it has characters other than letters, digits and `-._~`. Before a letter, a digit or `_` it needs
    /// braces: `${arg_w}x${arg_h}`. `${arg_w:-300}` is 300 if the argument is empty or missing. A query in the new path
    /// goes before the request's own.
    pub to: String,
    /// Whether the rule may lead to sources that a `[[secure_link]]` guards and to dialects that are closed to unsigned
    /// URLs. The pattern of the rule then decides which targets reach them.
    #[serde(default)]
    pub opens: bool,
}

/// Deserializes a text or a list of texts.
fn one_or_all<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected a regular expression, or a list of them"
    )]
    enum Queries {
        One(String),
        All(Vec<String>),
    }
    Ok(match Queries::deserialize(from)? {
        Queries::One(text) => vec![text],
        Queries::All(texts) => texts,
    })
}

/// Compiled rewrite rules.
#[derive(Debug)]
pub(crate) struct Rewriter {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    from: Regex,
    query: Vec<Regex>,
    to: Vec<Piece>,
    opens: bool,
}

/// A target after rewriting.
#[derive(Debug)]
pub(crate) struct Rewritten<'a> {
    pub(crate) target: Cow<'a, str>,
    /// Index of the rule that applied; `None` if none did.
    pub(crate) rule: Option<usize>,
    /// The new target as the rule writes it, without the request's query, if the rule has `opens = true`, and so may
    /// lead to sources that a `[[secure_link]]` guards and to dialects that are closed to unsigned URLs.
    pub(crate) opened_target: Option<String>,
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

    /// Applies the first rule that matches the target's path. Only one rule applies, so that rules do not depend on the
    /// results of others.
    ///
    /// A rule applies to every spelling of a path that it matches: it is tried on the path as received, then on the
    /// path with escapes decoded and slashes merged, before the next rule is tried. So a path that a rule closes cannot
    /// be reached by another spelling.
    pub(crate) fn apply<'a>(&self, target: &'a str) -> Rewritten<'a> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let normal_path = match self.rules.is_empty() {
            true => None,
            false => plainest(path),
        };
        let rule_match = self.rules.iter().enumerate().find_map(|(index, rule)| {
            let normal_path = || rule.apply(normal_path.as_deref()?, query);
            let new = rule.apply(path, query).or_else(normal_path)?;
            let opens = rule.opens && rule.leads_to(&new, path, query);
            Some((index, new, opens))
        });
        let Some((index, mut new, opens)) = rule_match else {
            return Rewritten {
                target: Cow::Borrowed(target),
                rule: None,
                opened_target: None,
            };
        };
        let opened_target = opens.then(|| new.clone());
        if let Some(query) = query {
            new.push(if new.contains('?') { '&' } else { '?' });
            new.push_str(query);
        }
        Rewritten {
            target: Cow::Owned(new),
            rule: Some(index),
            opened_target,
        }
    }
}

/// Returns a raw path with as few escapes as possible and without repeated slashes. `None` if that is the same text, or
/// if the path cannot be decoded.
fn plainest(path: &str) -> Option<String> {
    if !path.contains('%') && !path.contains("//") {
        return None;
    }
    let decoded_path = percent::decode(path).ok()?;
    let mut normal_path = String::with_capacity(path.len());
    for segment in decoded_path
        .split('/')
        .filter(|segment| !segment.is_empty())
    {
        normal_path.push('/');
        normal_path.push_str(&percent::encode(segment, ""));
    }
    if decoded_path.ends_with('/') {
        normal_path.push('/');
    }
    (normal_path != path).then_some(normal_path)
}

/// Decodes a path and its query, as nginx does before it matches rules.
fn decode_target(target: &str) -> Option<String> {
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
        let expression = |key: &str, text: &str| {
            Regex::new(text).map_err(|error| wrong(key, text, &error.to_string()))
        };
        let from = expression("from", &rewrite.from)?;
        let query = rewrite.query.iter().map(|text| expression("query", text));
        let query: Vec<Regex> = query.collect::<Result<_, _>>()?;
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
            query,
            to,
            opens: rewrite.opens,
        })
    }

    /// Whether the rule also makes `new` of the decoded path. `new` is the target that the rule makes of `path`, which
    /// is not decoded. nginx matches only the decoded path, so that an expression such as `[^/]+` never matches `a%2Fb`
    /// in nginx. Without this check, such an escape could reach targets that the expression is meant to exclude.
    fn leads_to(&self, new: &str, path: &str, query: Option<&str>) -> bool {
        if percent::decode(path).is_err() {
            return false;
        }
        let plain = plainest(path);
        let from_plain = self.apply(plain.as_deref().unwrap_or(path), query);
        let from_plain = from_plain.and_then(|new| decode_target(&new));
        from_plain.is_some() && from_plain == decode_target(new)
    }

    fn apply(&self, path: &str, query: Option<&str>) -> Option<String> {
        let is_for = |expression: &Regex| expression.is_match(query.unwrap_or_default());
        if !self.query.iter().all(is_for) {
            return None;
        }
        let captures: Captures<'_> = self.from.captures(path)?;
        let group = |group: usize| captures.get(group).map_or("", |capture| capture.as_str());
        let pieces = self.to.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Group(number) => Cow::Borrowed(group(*number)),
            Piece::Argument(name, otherwise) => {
                Cow::Borrowed(or(word(argument(query, name)), otherwise))
            }
            Piece::Path(name, otherwise) => {
                Cow::Owned(path_of(or(argument(query, name), otherwise)))
            }
        });
        Some(pieces.collect())
    }
}

/// Returns a value, or `otherwise` if it is empty.
fn or<'a>(value: &'a str, otherwise: &'a str) -> &'a str {
    match value {
        "" => otherwise,
        value => value,
    }
}

/// Returns the value of the first query argument whose name is `name`, ignoring case; empty if there is none.
fn argument<'a>(query: Option<&'a str>, name: &str) -> &'a str {
    let pairs = query.unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.eq_ignore_ascii_case(name).then_some(value)
    });
    values.next().unwrap_or_default()
}

/// Returns a value unchanged, or an empty text if it has characters other than letters, digits and `-._~`: a slash or a
/// parenthesis would change the meaning of the rule's own text.
fn word(value: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if value.bytes().all(is_plain) {
        value
    } else {
        ""
    }
}

/// Converts the value of a query argument to the end of a raw path, without leading slashes. A value that cannot be
/// decoded is kept, so that the dialect's error names it.
fn path_of(value: &str) -> String {
    let raw = value.replace('+', "%20");
    match percent::decode(&raw) {
        Ok(decoded) => {
            // A whole URL may contain escapes, which are decoded once more here, because the path is encoded again.
            let is_url = ["http://", "https://"]
                .iter()
                .any(|it| decoded.starts_with(it));
            let plain = percent::decode(&decoded).ok().filter(|_| is_url);
            let text = plain.as_deref().unwrap_or(&decoded);
            percent::encode(from_root(text), "/")
        }
        Err(_) => raw.replace('?', "%3F"),
    }
}

/// Removes slashes and `./` from the beginning of a path. The image scripts that rules replace accept both in their
/// arguments.
fn from_root(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix('/').or_else(|| path.strip_prefix("./")) {
        path = rest;
    }
    path
}

#[cfg(test)]
mod tests;
