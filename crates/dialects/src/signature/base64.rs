//! The URL-safe alphabet of base64 (`-` and `_`), in the ways that dialects write it.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BARE: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

const PADDED: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, GeneralPurposeConfig::new());

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// Without `=` at the end.
#[must_use]
pub fn bare(bytes: &[u8]) -> String {
    BARE.encode(bytes)
}

/// With `=` at the end, to a multiple of four characters.
#[must_use]
pub fn padded(bytes: &[u8]) -> String {
    PADDED.encode(bytes)
}

/// What [`bare`] makes this text of, and no other text of the same bytes: for signatures.
#[must_use]
pub fn read_bare(text: &str) -> Option<Vec<u8>> {
    BARE.decode(text).ok()
}

/// The bytes of a text with any number of `=` at its end, whatever its last character holds beyond them: for
/// sources.
#[must_use]
pub fn read(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.trim_end_matches('=')).ok()
}
