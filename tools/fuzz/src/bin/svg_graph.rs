#![no_main]
//! Fuzzes SVG with documents of elements that refer to each other, chosen by bytes: circular references, style sheets,
//! filters, and numbers that are too large.

#[path = "../../../../crates/codecs/tests/support/bombs.rs"]
mod bombs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    andon_fuzz::decode("svg", bombs::chosen(bytes).as_bytes());
});
