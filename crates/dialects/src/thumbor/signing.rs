//! Signatures of URLs, which are the first path segment.

use std::borrow::Cow;

use super::flavour::Flavour;
use crate::percent;
use crate::signature::{Digest, Key, base64, same};

/// The signing keys, and whether `unsafe` is accepted in place of a signature.
#[derive(Debug)]
pub(super) struct Signing {
    pub(super) keys: Vec<Key>,
    pub(super) allow_unsafe: bool,
    pub(super) digest: Digest,
    /// To how many characters signatures are truncated; 0: not at all.
    pub(super) truncate: usize,
}

/// The path segment that replaces a signature.
pub(super) const UNSAFE: &str = "unsafe";

impl Signing {
    /// Returns the first segment for a path: its signature or, without keys, `unsafe`.
    pub(super) fn sign(&self, rest: &str) -> String {
        match self.keys.first() {
            Some(key) => self.signature(key, rest),
            None => UNSAFE.to_owned(),
        }
    }

    fn signature(&self, key: &Key, rest: &str) -> String {
        let mut text = base64::padded(&self.digest.sign(key.bytes(), &[rest.as_bytes()]));
        if self.truncate > 0 {
            text.truncate(self.truncate);
        }
        text
    }

    /// Whether a signature was made with one of the keys, or is `unsafe` where that is allowed. The time of the
    /// comparison reveals neither which key nor how much of the signature is right.
    fn allows(&self, signature: &str, rest: &str) -> bool {
        if signature == UNSAFE {
            return self.allow_unsafe;
        }
        self.keys.iter().fold(false, |is_valid, key| {
            is_valid | same(signature.as_bytes(), self.signature(key, rest).as_bytes())
        })
    }

    /// Returns the path after a valid signature, and whether there is a signature rather than the word `unsafe`. Only
    /// one signature is removed: a later segment that looks like another one is part of the signed text.
    pub(super) fn verify<'a>(
        &self,
        flavour: Flavour,
        path_below: &'a str,
    ) -> Option<(Cow<'a, str>, bool)> {
        if flavour == Flavour::Thumbor {
            let (signature, rest) = path_below.split_once('/')?;
            // Proxies may escape the padding `=` as `%3D`.
            let signature = percent::decode(signature).ok()?;
            let is_valid = self.allows(&signature, rest);
            return is_valid.then_some((rest.into(), signature != UNSAFE));
        }
        if let Some((rest, is_signed)) = self.imagor(path_below) {
            return Some((rest.into(), is_signed));
        }
        // If a proxy has escaped the path, the signature matches only after the whole path is decoded once.
        let decoded_path = percent::decode(path_below).ok()?;
        let (rest, is_signed) = self
            .imagor(&decoded_path)
            .filter(|_| decoded_path != path_below)?;
        Some((rest.to_owned().into(), is_signed))
    }

    fn imagor<'a>(&self, path_below: &'a str) -> Option<(&'a str, bool)> {
        let (signature, rest) = path_below.trim_start_matches('/').split_once('/')?;
        let is_valid = is_signature(signature) && self.allows(signature, rest);
        is_valid.then_some((rest, signature != UNSAFE))
    }
}

/// Whether a first path segment can be a signature of imagor, or `unsafe` in its place.
pub(super) fn is_signature(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte);
    let part = segment == "adaptive-full-fit-in";
    segment == UNSAFE || (segment.len() >= 17 && segment.bytes().all(plain) && !part)
}
