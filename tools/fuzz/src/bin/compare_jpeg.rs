#![no_main]
//! Fuzzes JPEG with any bytes. Andon's decoder and libjpeg-turbo must give the same image or no image.

use andon_fuzz::LIMITS;
use andon_pixels::Limits;

/// Limits for images of a few MCUs with any subsampling. Larger images reveal nothing more, and take time.
const SMALL: Limits = Limits {
    pixels: 1 << 12,
    ..LIMITS
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = andon_codecs::compare_jpeg_decoders(bytes, &SMALL) {
        panic!("{difference}");
    }
});
