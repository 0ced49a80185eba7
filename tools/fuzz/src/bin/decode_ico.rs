#![no_main]
//! Fuzzes the decoding of any bytes as an ICO image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("ico", bytes));
