#![no_main]
//! Any bytes as a JPEG, by our own decoder and by libjpeg-turbo: the same image or no image.

use andon_fuzz::LIMITS;
use andon_pixels::Limits;

/// A few MCUs of any sampling: more of them show nothing new, and take time.
const SMALL: Limits = Limits {
    pixels: 1 << 12,
    ..LIMITS
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = andon_codecs::compare_jpeg_decoders(bytes, &SMALL) {
        panic!("{difference}");
    }
});
