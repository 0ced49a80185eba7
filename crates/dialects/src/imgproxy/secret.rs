//! Signatures of URLs, and decryption of sources.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};

use crate::signature::{Digest, Key, base64, same};

/// A signing key, and the salt that precedes each path in the signed message.
#[derive(Clone, Debug)]
pub(super) struct Signer {
    pub(super) key: Key,
    pub(super) salt: Vec<u8>,
}

/// The signing keys, and how signatures are checked and made.
#[derive(Clone, Debug)]
pub(super) struct Signing {
    /// Keys, any of which may match. Empty: URLs are not signed.
    pub(super) signers: Vec<Signer>,
    /// Length in bytes to which digests are truncated.
    pub(super) length: usize,
    /// Texts that are accepted as a signature of any path.
    pub(super) trusted: Vec<String>,
}

impl Signing {
    /// Whether `signature` is valid for `path`, which begins with a slash and in which changes by proxies have been
    /// reversed. Without keys, every text is a valid signature, except one that looks like an option.
    pub(super) fn allows(&self, signature: &str, path: &str) -> bool {
        if self.signers.is_empty() {
            return !signature.contains(':');
        }
        let is_trusted = |entry: &String| same(signature.as_bytes(), entry.as_bytes());
        if self.trusted.iter().any(is_trusted) {
            return true;
        }
        let Some(signature_bytes) = base64::read_bare(signature) else {
            return false;
        };
        // All keys are tried in any case, so that the time does not reveal which one matched.
        let matches = self
            .signers
            .iter()
            .filter(|signer| same(&signature_bytes, &self.digest(signer, path)));
        matches.count() > 0
    }

    /// Whether URLs are signed, so that only holders of a key can have made the path.
    pub(super) fn is_on(&self) -> bool {
        !self.signers.is_empty()
    }

    /// Returns the signature of a path with the first key, or `unsafe` if there is none.
    pub(super) fn sign(&self, path: &str) -> String {
        let signer = self.signers.first();
        signer.map_or("unsafe".to_owned(), |signer| {
            base64::bare(&self.digest(signer, path))
        })
    }

    fn digest(&self, signer: &Signer, path: &str) -> Vec<u8> {
        let mut digest = Digest::Sha256.sign(signer.key.bytes(), &[&signer.salt, path.as_bytes()]);
        digest.truncate(self.length);
        digest
    }
}

/// Decrypts AES-CBC with PKCS #7 padding. The first block of 16 bytes is the initialization vector. Modified bytes are
/// not detected; the URL's signature protects against them.
pub(super) fn open(key: &Key, bytes: &[u8]) -> Option<Vec<u8>> {
    let (iv, ciphertext) = bytes.split_at_checked(16)?;
    match key.bytes().len() {
        16 => decrypt::<cbc::Decryptor<Aes128>>(key, iv, ciphertext),
        24 => decrypt::<cbc::Decryptor<Aes192>>(key, iv, ciphertext),
        _ => decrypt::<cbc::Decryptor<Aes256>>(key, iv, ciphertext),
    }
}

fn decrypt<C: KeyIvInit + BlockDecryptMut>(
    key: &Key,
    iv: &[u8],
    ciphertext: &[u8],
) -> Option<Vec<u8>> {
    let cipher = C::new_from_slices(key.bytes(), iv).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(ciphertext).ok()
}
