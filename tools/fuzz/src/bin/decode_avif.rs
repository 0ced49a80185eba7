#![no_main]
//! Any bytes as an AVIF image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("avif", bytes));
