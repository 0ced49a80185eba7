#![no_main]
//! Any bytes as a JPEG XL picture.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("jxl", bytes));
