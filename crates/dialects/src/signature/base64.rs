//! URL-safe base64 (`-` and `_`), in the variants that the dialects use.

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

/// Encodes bytes without `=` at the end.
#[must_use]
pub fn bare(bytes: &[u8]) -> String {
    BARE.encode(bytes)
}

/// Encodes bytes, padded with `=` to a multiple of four characters.
#[must_use]
pub fn padded(bytes: &[u8]) -> String {
    PADDED.encode(bytes)
}

/// Decodes a text that is exactly what [`bare`] returns for its bytes; `None` for any other text. Used for signatures.
#[must_use]
pub fn read_bare(text: &str) -> Option<Vec<u8>> {
    BARE.decode(text).ok()
}

/// Decodes a text with any number of `=` at its end, and ignores surplus bits of its last character. Used for sources.
#[must_use]
pub fn read(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.trim_end_matches('=')).ok()
}
