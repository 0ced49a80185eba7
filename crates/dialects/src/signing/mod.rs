//! Signatures in front of every dialect: `/~SIG[.EXPIRES[.KEY[.SCOPE]]]/REST`, where REST is any target that is served
//! here; and nginx's `secure_link`.
//!
//! SIG is the base64url of HMAC-SHA256 over four lines: `andon1`, EXPIRES, SCOPE and `/REST` in a normal form, so that
//! proxies may escape and unescape characters. With a SCOPE of n only the first n segments are signed, and anyone who
//! has the URL may choose the rest.
//!
//! ```
//! use andon_dialects::signing::Signature;
//! let key = b"0123456789abcdef0123456789abcdef";
//! let target = Signature::default().of(key, "/r/fit:250x250,q:80/trip/a.jpg").unwrap();
//! assert_eq!(target, "/~xZUZjLdO96qWkbP99ajA3E0oOs7KcNkDFFs_itm9QZo/r/fit:250x250,q:80/trip/a.jpg");
//! ```

mod config;
mod link;

use std::collections::BTreeMap;

pub use config::{Keys, SigningConfig};
pub use link::SecureLinkConfig;
pub(crate) use link::{Outcome, SecureLink, uri};

use crate::dialect::Target;
use crate::errors::Fault;
use crate::percent;
use crate::refusal::Refusal;
use crate::signature::{Digest, Key, base64, same};

/// The parameters of a signature in front of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// When the signature expires, in seconds since 1970; 0: never.
    pub expires: u64,
    /// The name of the key; empty: any key.
    pub key: String,
    /// The number of path segments that are signed; 0: all of them, and the query.
    pub scope: usize,
}

impl Signature {
    /// Signs a target with this key, and returns it with the signature in front.
    ///
    /// # Errors
    /// A target with invalid escapes, or with fewer segments than [`Self::scope`].
    pub fn of(&self, key: &[u8], target: &str) -> Result<String, Refusal> {
        let target = target.strip_prefix('/').unwrap_or(target);
        let signature = base64::bare(&self.bytes(key, target)?);
        let mut mark = format!("/~{signature}");
        let parameters = [
            self.expires.to_string(),
            self.key.clone(),
            self.scope.to_string(),
        ];
        let defaults = ["0", "", "0"];
        // Trailing parameters with their default values are left out.
        let count = (0..3)
            .rfind(|at| parameters[*at] != defaults[*at])
            .map_or(0, |at| at + 1);
        for part in &parameters[..count] {
            mark.push('.');
            mark.push_str(part);
        }
        Ok(format!("{mark}/{target}"))
    }

    /// Parses `SIG[.EXPIRES[.KEY[.SCOPE]]]` into the bytes of the signature and its parameters.
    fn read(mark: &str) -> Option<(Vec<u8>, Self)> {
        let mut parts = mark.split('.');
        let bytes = base64::read_bare(parts.next()?)?;
        let number = |text: Option<&str>| match text {
            None | Some("") => Some(0),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            Some(_) => None,
        };
        let signature = Self {
            expires: number(parts.next())?,
            key: parts.next().unwrap_or_default().to_owned(),
            scope: number(parts.next())? as usize,
        };
        parts.next().is_none().then_some((bytes, signature))
    }

    /// Returns the HMAC over a target, which is passed without its leading slash.
    fn bytes(&self, key: &[u8], rest: &str) -> Result<Vec<u8>, Refusal> {
        let (expires, scope) = (self.expires.to_string(), self.scope.to_string());
        let message = self.message(rest)?;
        Ok(Digest::Sha256.sign(
            key,
            &[
                b"andon1\n",
                expires.as_bytes(),
                b"\n",
                scope.as_bytes(),
                b"\n/",
                message.as_bytes(),
            ],
        ))
    }

    /// Returns the signed part of a target in its normal form: each raw segment, and the query, is decoded once and
    /// encoded again.
    fn message(&self, rest: &str) -> Result<String, Refusal> {
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let segments: Vec<&str> = path.split('/').collect();
        if self.scope > segments.len() {
            let why = format!("its signature is for {} segments", self.scope);
            return Err(Refusal::of(Fault::Signature, rest, why));
        }
        let all = self.scope == 0;
        let count = if all { segments.len() } else { self.scope };
        let path: Result<Vec<String>, Refusal> = segments
            .iter()
            .take(count)
            .map(|segment| percent::normal(segment, b""))
            .collect();
        let mut message = path?.join("/");
        if let (true, Some(query)) = (all, query) {
            message.push('?');
            message.push_str(&percent::normal(query, b"/?")?);
        }
        Ok(message)
    }
}

/// The signing keys, with which targets are checked.
#[derive(Debug)]
pub(crate) struct Signing {
    keys: BTreeMap<String, Key>,
    required: bool,
    /// The length in bytes that truncated signatures have.
    bytes: usize,
}

/// A target, split into its signature and the rest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SplitTarget<'a> {
    /// The signature in front of the path, `/~SIGNATURE`, or an empty text.
    pub(crate) front: &'a str,
    pub(crate) rest: &'a str,
    /// The time at which the signature expires, in seconds since 1970; `None`: there is none, or it never expires.
    pub(crate) expires: Option<u64>,
    pub(crate) signed_part: SignedPart<'a>,
}

/// The part of a target that its signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignedPart<'a> {
    Nothing,
    /// The beginning of the path, including its leading slash.
    Beginning(&'a str),
    Whole,
}

impl<'a> SplitTarget<'a> {
    fn new(target: &'a str, front: usize) -> Self {
        let (front, rest) = target.split_at(front);
        Self {
            front,
            rest,
            expires: None,
            signed_part: SignedPart::Nothing,
        }
    }

    /// Sets the signed part to this number of path segments; 0: the whole target.
    fn with_scope(self, scope: usize) -> Self {
        let path = self.rest.split('?').next().unwrap_or_default();
        // Each segment has a slash in front of it, the first one included.
        let end = path.match_indices('/').nth(scope).map(|(at, _)| at);
        let signed_part = match scope {
            0 => SignedPart::Whole,
            _ => SignedPart::Beginning(&path[..end.unwrap_or(path.len())]),
        };
        Self {
            signed_part,
            ..self
        }
    }
}

impl Signing {
    /// Splits off the signature of a target, if it has one, and verifies it. No other part of the target is parsed
    /// before.
    ///
    /// # Errors
    /// A signature that does not match, or is missing although it is required.
    pub(crate) fn open<'a>(&self, target: &'a str) -> Result<SplitTarget<'a>, Refusal> {
        let refusal = |why: &str| Err(Refusal::of(Fault::Signature, target, why));
        let unsigned = SplitTarget::new(target, 0);
        let signed_target = target
            .strip_prefix("/~")
            .and_then(|signed_target| signed_target.split_once('/'));
        let Some((mark, rest)) = signed_target else {
            return match self.required {
                true => refusal("it must be signed"),
                false => Ok(unsigned),
            };
        };
        let parsed = Signature::read(mark);
        let without_signature = SplitTarget::new(target, "/~".len() + mark.len());
        if self.keys.is_empty() {
            // Without keys, signatures are cut off and mean nothing. Another name that begins with a tilde is a file's.
            return Ok(match parsed {
                Some((bytes, _)) if (16..=32).contains(&bytes.len()) => without_signature,
                _ => unsigned,
            });
        }
        let mismatch = "its signature does not match";
        let Some((signature_bytes, parameters)) = parsed else {
            return refusal(mismatch);
        };
        if signature_bytes.len() != 32 && signature_bytes.len() != self.bytes {
            return refusal(mismatch);
        }
        let mut is_valid = false;
        for (name, key) in &self.keys {
            let expected = parameters.bytes(key.bytes(), rest)?;
            let is_named = parameters.key.is_empty() || parameters.key == *name;
            is_valid |= is_named
                & same(
                    &signature_bytes,
                    &expected[..signature_bytes.len().min(expected.len())],
                );
        }
        if !is_valid {
            return refusal(mismatch);
        }
        Ok(SplitTarget {
            expires: (parameters.expires > 0).then_some(parameters.expires),
            ..without_signature.with_scope(parameters.scope)
        })
    }
}

#[cfg(test)]
mod tests;
