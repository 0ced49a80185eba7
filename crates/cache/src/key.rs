//! Keys of entries.
//!
//! A key is a digest of parts that are each hashed with their length, so that no two lists of parts give the same
//! input: `["ab", "c"]` and `["a", "bc"]` differ. The digest is cryptographic because the parts are not trusted: a
//! client must not be able to make two images share a key.

use std::fmt;

const DOMAIN: &str = "andon result cache key 1";

/// The key of one result: a 256-bit digest of the parts that decide its bytes.
///
/// ```
/// use andon_cache::Key;
/// let key = Key::of(&["fit:250x250,as:jpeg", "photos/cat.jpg", "jpeg"]);
/// assert_eq!(key, Key::of(&["fit:250x250,as:jpeg", "photos/cat.jpg", "jpeg"]));
/// assert_ne!(key, Key::of(&["fit:250x250,as:jpeg,photos", "/cat.jpg", "jpeg"]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; Self::BYTES]);

impl Key {
    pub(crate) const BYTES: usize = 32;

    /// Computes the key of these parts, in this order: canonical recipe text, source identity, negotiated format, and
    /// whatever else affects the bytes.
    pub fn of<P: AsRef<[u8]>>(parts: &[P]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            let part = part.as_ref();
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Parses a key from 64 lower-case hexadecimal digits, as `Display` formats it. `None` for any other text.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        // `from_str_radix` alone would accept a sign, and `to_string` prints small letters only.
        if text.len() != 2 * Self::BYTES
            || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        {
            return None;
        }
        let mut bytes = [0; Self::BYTES];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// Formats the key as 64 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn different_parts_never_share_a_key(
            a in prop::collection::vec("[ab,/:]{0,4}", 0..4),
            b in prop::collection::vec("[ab,/:]{0,4}", 0..4),
        ) {
            prop_assert_eq!(Key::of(&a) == Key::of(&b), a == b);
        }

        #[test]
        fn the_text_of_a_key_reads_back(part in ".*") {
            let key = Key::of(&[part]);
            prop_assert_eq!(Key::from_hex(&key.to_string()), Some(key));
        }
    }

    #[test]
    fn only_the_exact_text_is_a_key() {
        let text = Key::of(&["x"]).to_string();
        assert_eq!(Key::from_hex(&text[1..]), None);
        assert_eq!(Key::from_hex(&text.to_uppercase()), None);
        assert_eq!(Key::from_hex(&format!("+{}", &text[1..])), None);
    }
}
