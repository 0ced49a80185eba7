//! Digests that a URL requires of a source.

use std::fmt;

use hmac::digest::Digest as _;

use super::unhex;

/// The digest of a file, as given in a URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Checksum {
    kind: Kind,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

impl Kind {
    const ALL: [(&'static str, Self, usize); 4] = [
        ("md5", Self::Md5, 16),
        ("sha1", Self::Sha1, 20),
        ("sha256", Self::Sha256, 32),
        ("sha512", Self::Sha512, 64),
    ];
}

impl Checksum {
    /// Creates a digest from the name of its algorithm and its hex digits. `None` if the algorithm is unknown, or if
    /// the digits are invalid or not of its length.
    #[must_use]
    pub fn new(name: &str, digits: &str) -> Option<Self> {
        let (_, kind, length) = *Kind::ALL.iter().find(|(entry, ..)| *entry == name)?;
        let value = unhex(digits).filter(|value| value.len() == length)?;
        Some(Self { kind, value })
    }

    /// Whether this is the digest of these bytes.
    #[must_use]
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        match self.kind {
            Kind::Md5 => md5::Md5::digest(bytes)[..] == self.value,
            Kind::Sha1 => sha1::Sha1::digest(bytes)[..] == self.value,
            Kind::Sha256 => sha2::Sha256::digest(bytes)[..] == self.value,
            Kind::Sha512 => sha2::Sha512::digest(bytes)[..] == self.value,
        }
    }
}

/// The algorithm and the hex digits, such as `sha1:0beec7…`, from which the same digest can be created again.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Kind::ALL.iter().find(|(_, kind, _)| *kind == self.kind);
        f.write_str(name.map_or("", |(name, ..)| name))?;
        f.write_str(":")?;
        self.value
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    #[test]
    fn the_digests_of_abc_are_those_of_their_standards() {
        for (name, digits) in [
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "sha256",
                "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
            ),
            (
                "sha512",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
        ] {
            let digest = Checksum::new(name, digits).expect(name);
            assert!(digest.is_of(b"abc") && !digest.is_of(b"abd"), "{name}");
            assert_eq!(
                digest.to_string(),
                format!("{name}:{}", digits.to_lowercase())
            );
        }
        for (name, digits) in [
            ("md4", "00"),
            ("md5", "00"),
            ("sha1", "xyz"),
            ("sha256", ""),
        ] {
            assert!(Checksum::new(name, digits).is_none(), "{name} {digits}");
        }
    }
}
