#![no_main]
//! Fuzzes the decoding of any bytes as a JPEG image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("jpeg", bytes));
