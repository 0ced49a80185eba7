#![no_main]
//! Any bytes as a webp image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("webp", bytes));
