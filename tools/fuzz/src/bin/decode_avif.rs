#![no_main]
//! Fuzzes the decoding of any bytes as an AVIF image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("avif", bytes));
