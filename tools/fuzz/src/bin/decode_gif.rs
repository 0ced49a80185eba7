#![no_main]
//! Fuzzes the decoding of any bytes as a GIF image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("gif", bytes));
