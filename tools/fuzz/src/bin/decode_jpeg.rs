#![no_main]
//! Any bytes as a jpeg image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("jpeg", bytes));
