#![no_main]
//! Fuzzes the decoding of any bytes as a PSD image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("psd", bytes));
