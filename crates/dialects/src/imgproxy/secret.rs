//! Who may ask: signatures, and sources that only the server can read.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};

use crate::signature::{Digest, Key, base64, same};

/// A key and what stands before each signed path.
#[derive(Clone, Debug)]
pub(super) struct Signer {
    pub(super) key: Key,
    pub(super) salt: Vec<u8>,
}

/// How paths are signed.
#[derive(Clone, Debug)]
pub(super) struct Signing {
    /// Any may match; none: nothing is signed.
    pub(super) signers: Vec<Signer>,
    /// Bytes of a digest that are written.
    pub(super) length: usize,
    /// Texts that pass for a signature of everything.
    pub(super) trusted: Vec<String>,
}

impl Signing {
    /// Is this the signature of a mended path, which begins with a slash? Without keys every text is, but for those
    /// that look like an option.
    pub(super) fn allows(&self, signature: &str, path: &str) -> bool {
        if self.signers.is_empty() {
            return !signature.contains(':');
        }
        let trusted = |known: &String| same(signature.as_bytes(), known.as_bytes());
        if self.trusted.iter().any(trusted) {
            return true;
        }
        let Some(given) = base64::read_bare(signature) else {
            return false;
        };
        // All are tried, so that the time does not tell which it was.
        let matching = self
            .signers
            .iter()
            .filter(|signer| same(&given, &self.digest(signer, path)));
        matching.count() > 0
    }

    /// Does a signature mean anything, so that nobody else can have made the path?
    pub(super) fn is_on(&self) -> bool {
        !self.signers.is_empty()
    }

    /// The signature of a path by the first key; `unsafe` without one.
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

/// Opens AES-CBC with PKCS #7 padding; the first block is the initialization vector. It does not tell whether somebody
/// changed the bytes: that is what the signature around them is for.
pub(super) fn open(key: &Key, bytes: &[u8]) -> Option<Vec<u8>> {
    let (iv, sealed) = bytes.split_at_checked(16)?;
    match key.bytes().len() {
        16 => decrypt::<cbc::Decryptor<Aes128>>(key, iv, sealed),
        24 => decrypt::<cbc::Decryptor<Aes192>>(key, iv, sealed),
        _ => decrypt::<cbc::Decryptor<Aes256>>(key, iv, sealed),
    }
}

fn decrypt<C: KeyIvInit + BlockDecryptMut>(key: &Key, iv: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let cipher = C::new_from_slices(key.bytes(), iv).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(sealed).ok()
}
