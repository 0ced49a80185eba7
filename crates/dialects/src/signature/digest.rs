//! Keyed digests, and plain MD5, for signatures.

use hmac::digest::{Digest as _, KeyInit};
use hmac::{Hmac, Mac};
use serde::Deserialize;

/// The hash function of an HMAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digest {
    /// SHA-1: 20 bytes. It is unbroken when used in an HMAC.
    Sha1,
    /// SHA-256: 32 bytes.
    #[default]
    Sha256,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl Digest {
    /// Returns the HMAC of a message, which may consist of several parts.
    #[must_use]
    pub fn sign(self, key: &[u8], message: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha1 => hmac::<Hmac<sha1::Sha1>>(key, message),
            Self::Sha256 => hmac::<Hmac<sha2::Sha256>>(key, message),
            Self::Sha512 => hmac::<Hmac<sha2::Sha512>>(key, message),
        }
    }
}

fn hmac<M: Mac + KeyInit>(key: &[u8], message: &[&[u8]]) -> Vec<u8> {
    // HMAC accepts keys of any length, so that this never fails.
    let Ok(mac) = <M as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    let mac = message.iter().fold(mac, |mac, part| mac.chain_update(part));
    mac.finalize().into_bytes().to_vec()
}

/// Returns the plain MD5 of a message, for the dialects that sign with it (imgix, nginx's `secure_link`).
#[must_use]
pub fn md5(message: &[&[u8]]) -> [u8; 16] {
    let md5 = message
        .iter()
        .fold(md5::Md5::new(), |md5, part| md5.chain_update(part));
    md5.finalize().into()
}
