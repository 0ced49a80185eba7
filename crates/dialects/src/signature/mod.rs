//! The building blocks of all dialects' signatures: keyed digests, base64, and keys.
//!
//! A dialect decides what is signed and where the signature stands. It must compare signatures with [`same`], which
//! takes the same time wherever the first wrong byte is.
//!
//! ```
//! use andon_dialects::signature::{Digest, base64, same};
//! let right = Digest::Sha1.sign(b"my-security-key", &[b"300x200/my.server.com/some/path/to/image.jpg"]);
//! assert_eq!(base64::padded(&right), "8ammJH8D-7tXy6kU3lTvoXlhu4o=");
//! assert!(same(b"8ammJH8D-7tXy6kU3lTvoXlhu4o=", base64::padded(&right).as_bytes()));
//! ```

pub mod base64;
mod checksum;
mod digest;
mod key;

pub use checksum::Checksum;
pub use digest::{Digest, md5};
pub use key::{Key, unhex};

use subtle::ConstantTimeEq;

/// Whether two byte strings are equal. The time of the comparison reveals only whether their lengths are equal.
#[must_use]
pub fn same(given: &[u8], right: &[u8]) -> bool {
    given.ct_eq(right).into()
}

#[cfg(test)]
mod tests;
