#![no_main]
//! Any bytes as an ICO picture.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("ico", bytes));
