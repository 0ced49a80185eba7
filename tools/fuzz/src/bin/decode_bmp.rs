#![no_main]
//! Any bytes as a BMP picture.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("bmp", bytes));
