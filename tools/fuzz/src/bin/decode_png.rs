#![no_main]
//! Any bytes as a png image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("png", bytes));
