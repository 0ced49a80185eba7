#![no_main]
//! SVG documents made of everything that refers to something, chosen by bytes: references that lead around, style sheets,
//! filters, and numbers that are too large.

#[path = "../../../../crates/codecs/tests/support/bombs.rs"]
mod bombs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    andon_fuzz::decode("svg", bombs::chosen(bytes).as_bytes());
});
