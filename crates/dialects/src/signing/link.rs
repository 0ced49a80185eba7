//! nginx's `secure_link`: the MD5 of an expression over the request, optionally with an expiry time; or, in its older
//! form, the MD5 of the rest of the path, as a segment of the path.

use andon_settings::check;
use serde::Deserialize;

use super::Target;
use crate::ConfigError;
use crate::percent;
use crate::refusal::Refusal;
use crate::signature::{base64, md5, same, unhex};

/// The `[[secure_link]]` table: one location whose URLs are signed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecureLinkConfig {
    /// Prefix of the paths that are checked.
    pub location: String,
    /// nginx's directive `secure_link`: the expression that yields the signature and, after a comma, the expiry time.
    #[serde(default)]
    pub secure_link: String,
    /// nginx's directive `secure_link_md5`: the expression that is signed. It contains the secret.
    #[serde(default)]
    pub secure_link_md5: String,
    /// nginx's directive `secure_link_secret`, in place of the other two: paths are `/PREFIX/MD5/REST`, where MD5 is
    /// the digest of REST and this secret, in hexadecimal digits.
    #[serde(default)]
    pub secure_link_secret: String,
    /// Prefixes of the paths of protected sources: only URLs that carry a valid signature of this location may open
    /// them, whatever the URL's dialect. If absent, the location is the only prefix.
    #[serde(default)]
    pub guards: Option<Vec<String>>,
}

/// Hides the secret.
impl std::fmt::Debug for SecureLinkConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SecureLinkConfig")
            .field(&self.location)
            .finish()
    }
}

/// A compiled location, against which targets are checked.
pub(crate) struct SecureLink {
    location: String,
    form: Form,
    guards: Vec<String>,
}

/// The result of checking a target against a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The target is not below the location.
    Elsewhere,
    /// The target is not signed as the location requires.
    Unsigned,
    /// The target is signed, and expires at this time in seconds since 1970; `None`: never.
    Signed(Option<u64>),
}

enum Form {
    /// The expression that yields the signature and the expiry time, and the expression that is signed.
    Expression(Vec<Piece>, Vec<Piece>),
    /// The secret of paths `/PREFIX/MD5/REST`, where MD5 is the digest of REST followed by the secret.
    Secret(String),
}

impl std::fmt::Debug for SecureLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SecureLink").field(&self.location).finish()
    }
}

/// A piece of a `secure_link` expression.
enum Piece {
    Text(String),
    /// `$secure_link_expires`: the expiry time.
    Expires,
    /// `$uri`: the decoded path, without repeated slashes and dot segments.
    Path,
    /// `$request_uri`: path and query as received.
    Whole,
    /// `$args`: the query, raw.
    Query,
    /// `$arg_NAME`: an argument of the query, raw.
    Argument(String),
    /// `$http_NAME`: a request header.
    Header(&'static str),
}

/// The variables for request headers that expressions may use, each with the name of its header.
const HEADERS: &[(&str, &str)] = &[
    ("http_host", "host"),
    ("host", "host"),
    ("http_user_agent", "user-agent"),
    ("http_referer", "referer"),
    ("http_cookie", "cookie"),
    ("http_authorization", "authorization"),
    ("http_x_real_ip", "x-real-ip"),
    ("http_x_forwarded_for", "x-forwarded-for"),
];

impl SecureLink {
    pub(crate) fn new(index: usize, config: &SecureLinkConfig) -> Result<Self, ConfigError> {
        let key = |name: &str| format!("secure_link.{index}.{name}");
        check(config.location.starts_with('/'), key("location"), || {
            format!("`{}` must be a path, such as \"/secure/\"", config.location)
        })?;
        let guards = match &config.guards {
            None => vec![config.location.clone()],
            Some(guards) => guards.clone(),
        };
        let unsound = guards.iter().find(|guard| !guard.starts_with('/'));
        check(unsound.is_none(), key("guards"), || {
            let guard = unsound.map_or("", String::as_str);
            format!("`{guard}` must be a path, such as \"/members/\"")
        })?;
        let expression = |name: &str, text: &str| {
            pieces(text).map_err(|variable| {
                ConfigError::new(
                    key(name),
                    format!(
                        "`${variable}` is not known here: $secure_link_expires, $uri, $request_uri, $args, $arg_NAME and \
                         some $http_NAME are"
                    ),
                )
            })
        };
        let SecureLinkConfig {
            secure_link: given,
            secure_link_md5: signed,
            secure_link_secret: secret,
            ..
        } = config;
        let newer = !given.is_empty() && !signed.is_empty();
        let none = given.is_empty() && signed.is_empty();
        check(
            (newer && secret.is_empty()) || (none && !secret.is_empty()),
            key("secure_link"),
            || "a location has secure_link and secure_link_md5, or secure_link_secret".to_owned(),
        )?;
        Ok(Self {
            location: config.location.clone(),
            guards,
            form: match newer {
                true => Form::Expression(
                    expression("secure_link", given)?,
                    expression("secure_link_md5", signed)?,
                ),
                false => Form::Secret(secret.clone()),
            },
        })
    }

    /// Checks whether a target is below the location and signed. The expiry time is compared with the clock later,
    /// because nginx decides about the signature first.
    ///
    /// # Errors
    /// A path that cannot be decoded.
    pub(crate) fn check(&self, target: &Target<'_>) -> Result<Outcome, Refusal> {
        let uri = uri(target.path)?;
        if !uri.starts_with(&self.location) {
            return Ok(Outcome::Elsewhere);
        }
        let until = self.verify(target, &uri);
        Ok(until.map_or(Outcome::Unsigned, Outcome::Signed))
    }

    /// Returns the prefix of the paths that are checked.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// Whether the source at `path`, which begins with a slash, is protected: only URLs that carry a valid signature of
    /// this location may open it.
    pub(crate) fn guards(&self, path: &str) -> bool {
        self.guards.iter().any(|guard| path.starts_with(guard))
    }

    /// Returns a target without the parts of its query that are not signed. The path is always kept, because the
    /// location depends on it.
    pub(crate) fn signed_part(&self, target: &Target<'_>) -> String {
        let Form::Expression(_, signed) = &self.form else {
            return target.path.to_owned();
        };
        let is_whole = |piece: &Piece| matches!(piece, Piece::Whole | Piece::Query);
        if signed.iter().any(is_whole) {
            return target.whole.to_owned();
        }
        let is_signed = |pair: &&str| {
            let key = pair.split('=').next().unwrap_or_default();
            signed.iter().any(
                |piece| matches!(piece, Piece::Argument(name) if name.eq_ignore_ascii_case(key)),
            )
        };
        // If an argument is repeated, only its first value is signed.
        let mut pairs: Vec<&str> = Vec::new();
        for pair in target
            .query
            .unwrap_or_default()
            .split('&')
            .filter(is_signed)
        {
            let key = |pair: &str| {
                pair.split('=')
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase()
            };
            if pairs.iter().all(|other| key(other) != key(pair)) {
                pairs.push(pair);
            }
        }
        match pairs.is_empty() {
            true => target.path.to_owned(),
            false => format!("{}?{}", target.path, pairs.join("&")),
        }
    }

    fn verify(&self, target: &Target<'_>, uri: &str) -> Option<Option<u64>> {
        let (link_pieces, message_pieces) = match &self.form {
            Form::Expression(link_pieces, message_pieces) => (link_pieces, message_pieces),
            Form::Secret(secret) => return is_link(uri, secret).then_some(None),
        };
        let link = text(link_pieces, target, uri, "");
        let (signature, expires) = match link.split_once(',') {
            Some((signature, expires)) => (signature, Some(expires)),
            None => (link.as_str(), None),
        };
        let moment = match expires {
            None => None,
            Some(expires) => Some(seconds(expires)?),
        };
        if signature.len() > 24 {
            return None;
        }
        let bytes = base64::read(signature).filter(|bytes| bytes.len() == 16)?;
        let message = text(message_pieces, target, uri, expires.unwrap_or_default());
        // A link is valid until the end of the second that it names.
        same(&bytes, &md5(&[message.as_bytes()]))
            .then_some(moment.map(|moment| moment.saturating_add(1)))
    }
}

/// Whether a path is `/PREFIX/MD5/REST`, with the MD5 of REST and the secret. The digits of MD5 may be in upper case,
/// as in nginx.
fn is_link(uri: &str, secret: &str) -> bool {
    let mut parts = uri.trim_start_matches('/').splitn(3, '/');
    let (_, hash, rest) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let digest = hash.and_then(unhex);
    let expected = md5(&[rest.as_bytes(), secret.as_bytes()]);
    !rest.is_empty() && digest.is_some_and(|digest| same(&digest, &expected))
}

/// Parses a time in seconds since 1970; `None` for 0 and for a text that is not a number.
fn seconds(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let moment: u64 = plain.then(|| text.parse().ok()).flatten()?;
    (moment > 0).then_some(moment)
}

/// Returns a path in the form of nginx's `$uri`: decoded, without repeated slashes, with dot segments resolved.
pub(crate) fn uri(path: &str) -> Result<String, Refusal> {
    let decoded = percent::decode(path)?;
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    let is_folder = matches!(decoded.rsplit('/').next(), Some("" | "." | ".."));
    let end = if is_folder && !segments.is_empty() {
        "/"
    } else {
        ""
    };
    Ok(format!("/{}{end}", segments.join("/")))
}

fn text(pieces: &[Piece], target: &Target<'_>, uri: &str, expires: &str) -> String {
    let query = target.query.unwrap_or_default();
    let argument = |name: &str| {
        let pairs = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let mut values = pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        values.next().map_or("", |(_, value)| value)
    };
    let value = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Expires => expires.to_owned(),
        Piece::Path => uri.to_owned(),
        Piece::Whole => target.whole.to_owned(),
        Piece::Query => query.to_owned(),
        Piece::Argument(name) => argument(name).to_owned(),
        Piece::Header(name) => target.header(name).unwrap_or_default().to_owned(),
    };
    pieces.iter().map(value).collect()
}

/// Splits an expression at its variables, `$name` or `${name}`.
///
/// # Errors
/// The name of an unknown variable.
fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        pieces.push(Piece::Text(before.to_owned()));
        let name_end = |text: &str| {
            let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            text.find(|letter| !word(letter)).unwrap_or(text.len())
        };
        let (name, after) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').ok_or(braced)?,
            None => after.split_at(name_end(after)),
        };
        pieces.push(variable(name).ok_or(name)?);
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

fn variable(name: &str) -> Option<Piece> {
    Some(match name {
        "secure_link_expires" => Piece::Expires,
        "uri" => Piece::Path,
        "request_uri" => Piece::Whole,
        "args" | "query_string" => Piece::Query,
        name => match name.strip_prefix("arg_") {
            Some(argument) => Piece::Argument(argument.to_owned()),
            None => HEADERS
                .iter()
                .find(|(variable, _)| *variable == name)
                .map(|(_, header)| Piece::Header(header))?,
        },
    })
}
