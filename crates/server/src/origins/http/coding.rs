//! Content codings of sources. They are not requested, but some stores send objects that were stored gzipped with that
//! coding.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use hyper::header::{self, HeaderMap};

use crate::error::{Error, OriginError};

/// The content coding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Plain,
    Gzip,
}

impl Coding {
    /// Reads the coding from `Content-Encoding`. `aws-chunked` is ignored: S3 clients store it by mistake, and it says
    /// nothing about the stored bytes.
    ///
    /// # Errors
    /// `Packed` for other codings, and for more than one.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, OriginError> {
        let lines = headers.get_all(header::CONTENT_ENCODING).iter();
        let lines = lines.map(|line| String::from_utf8_lossy(line.as_bytes()));
        let mut coding = Self::Plain;
        for line in lines {
            for name in line.split(',').map(str::trim) {
                match name.to_ascii_lowercase().as_str() {
                    "" | "identity" | "aws-chunked" => {}
                    "gzip" | "x-gzip" if coding == Self::Plain => coding = Self::Gzip,
                    _ => return Err(OriginError::Packed(name.to_owned())),
                }
            }
        }
        Ok(coding)
    }

    /// Returns how many bytes to reserve for a body of `length` bytes that has at most `most` bytes when it is decoded.
    pub(super) fn holds(self, length: u64, most: u64) -> u64 {
        match self {
            Self::Plain => length,
            Self::Gzip => length.saturating_add(most),
        }
    }

    /// Returns the decoded bytes of a body.
    ///
    /// # Errors
    /// `BrokenOff` for a body that is not encoded as declared; `Pixels(Limit)` for more than `most` decoded bytes.
    pub(super) async fn decode(self, packed: Bytes, most: u64) -> Result<Bytes, Error> {
        match self {
            Self::Plain => Ok(packed),
            Self::Gzip => tokio::task::spawn_blocking(move || gunzip(&packed, most))
                .await
                .unwrap_or_else(|_| Err(OriginError::BrokenOff.into())),
        }
    }
}

fn gunzip(packed: &[u8], most: u64) -> Result<Bytes, Error> {
    let mut bytes = Vec::new();
    let mut unpacker = MultiGzDecoder::new(packed).take(most.saturating_add(1));
    if unpacker.read_to_end(&mut bytes).is_err() {
        return Err(OriginError::BrokenOff.into());
    }
    match bytes.len() as u64 > most {
        true => Err(super::body::too_large(bytes.len() as u64, most)),
        false => Ok(bytes.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hyper::header::{CONTENT_ENCODING, HeaderValue};

    use super::*;

    fn of(lines: &[&str]) -> Result<Coding, OriginError> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CONTENT_ENCODING, HeaderValue::from_str(line).unwrap());
        }
        Coding::of(&headers)
    }

    #[test]
    fn what_names_no_packing_is_passed_over_and_what_is_unknown_is_named() {
        for plain in [
            &[][..],
            &[""],
            &["identity"],
            &["aws-chunked"],
            &["", "Identity"],
        ] {
            assert_eq!(of(plain), Ok(Coding::Plain), "{plain:?}");
        }
        for gzip in [
            &["gzip"][..],
            &["X-GZIP"],
            &["aws-chunked, gzip"],
            &["aws-chunked", "gzip"],
        ] {
            assert_eq!(of(gzip), Ok(Coding::Gzip), "{gzip:?}");
        }
        for unknown in [&["br"][..], &["gzip, gzip"], &["gzip", "zstd"]] {
            assert!(
                matches!(of(unknown), Err(OriginError::Packed(_))),
                "{unknown:?}"
            );
        }
    }

    #[test]
    fn no_more_is_unpacked_than_a_source_may_have() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&[7; 100_000]).unwrap();
        let packed = packer.finish().unwrap();
        assert_eq!(gunzip(&packed, 100_000).unwrap().len(), 100_000);
        assert!(gunzip(&packed, 99_999).is_err());
        assert!(gunzip(&packed[..packed.len() - 9], 100_000).is_err());
        assert!(gunzip(b"no gzip", 100_000).is_err());
    }
}
