//! In place of the crate `crc-fast` for `object_store`, which uses one algorithm of it, for uploads that ask for that checksum (none
//! of ours does). The crate chooses its algorithm at run time, so that the tables of all fifty are linked: 0.7 MB of the binary.

#![forbid(unsafe_code)]

use crc::{CRC_64_NVME, Crc};

/// Which checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-64/NVME, which S3 calls `CRC64NVME`.
    Crc64Nvme,
}

/// A checksum in the making.
#[derive(Clone)]
pub struct Digest(crc::Digest<'static, u64>);

static CRC64_NVME: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);

impl Digest {
    /// Of nothing yet.
    #[must_use]
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        match algorithm {
            CrcAlgorithm::Crc64Nvme => Self(CRC64_NVME.digest()),
        }
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes that were added.
    #[must_use]
    pub fn finalize(self) -> u64 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_the_catalogue() {
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        digest.update(b"1234");
        digest.update(b"56789");
        assert_eq!(digest.finalize(), 0xae8b_1486_0a79_9888);
    }
}
