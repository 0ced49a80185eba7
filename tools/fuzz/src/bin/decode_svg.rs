#![no_main]
//! Any bytes as an SVG image.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| andon_fuzz::decode("svg", bytes));
