#![no_main]
//! Any bytes as a gif image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("gif", bytes));
