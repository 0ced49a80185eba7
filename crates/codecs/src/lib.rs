//! Image formats that implement one trait, [`Codec`]: one folder per format, one entry in [`ALL`].
//!
//! ```
//! use andon_codecs::ALL;
//! let png = ALL.iter().find(|codec| codec.name() == "png");
//! assert!(png.is_some_and(|codec| codec.sniff(b"\x89PNG\r\n\x1a\n")));
//! ```
//!
//! The engine uses them to process images:
//!
//! ```
//! use andon_codecs::ALL;
//! use andon_pixels::{Engine, Limits, Run};
//! use andon_recipe::Recipe;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="20" height="30"/></svg>"#;
//! let engine = Engine::new(ALL, Limits::default());
//! let recipe: Recipe = "fit:20x20,as:webp,lossless".parse()?;
//! let plan = engine.plan(&recipe, svg)?;
//! assert_eq!(plan.to_string(), "draw svg 20x15 rgba | encode webp lossless");
//! let result = engine.run(&plan, Run::of(svg))?;
//! assert_eq!(engine.probe(result.bytes(svg))?.format, "webp");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change how frames are composed, and which part of a changed frame is written | `crates/codecs/src/animation/` |
//! | know where our JPEG decoder may differ from libjpeg-turbo | `crates/codecs/src/jpeg/decode/compare.rs`; `./dev fuzz` compares both for every input |
//! | change which detail JPEGs leave out, and the quantisation steps of each quality | `crates/jpeg/src/encode/` (`steps.rs`, `activity.rs`), `crates/jpeg/src/tables.rs`; then `./dev bench encode` |
//! | know what limits the speed of WebP | `docs/webp.md`; then `./dev bench encode --encoder WebP` |
//! | know what limits the size of AVIF | `docs/avif.md`; then `./dev bench encode --encoder AVIF` |
//! | change how images of few colours are detected and reduced, for GIF and PNG | `crates/codecs/src/indexed/` |
//! | change which files are converted to another format without decoding | `Recoder::recodes`, `crates/codecs/src/jxl/recode.rs` |
//! | change how a part of a huge JPEG is decoded alone | `crates/jpeg/src/decode/index/` (content of an index), `crates/pixels/src/plan/part.rs` (when an index helps), `crates/server/src/results/making/measured.rs` (when an index is made); then `./dev bench tiles` |

#![deny(unsafe_code)]

use andon_pixels::Codec;

pub mod allocator;
mod animation;
mod avif;
mod bmp;
mod bytes;
mod drawn;
mod exif;
mod fonts;
mod gain_map;
mod gif;
mod guard;
mod heic;
mod heif;
mod ico;
mod indexed;
mod jpeg;
mod jxl;
mod pack_bits;
mod pdf;
mod placeholder;
mod png;
mod psd;
mod raw;
mod svg;
mod text;
mod tiff;
mod webp;

pub use fonts::{FontError, FontSettings, Fonts};

/// Formats that are read only by builds with the cargo feature of the same name. Other builds recognize these files
/// only to report that they cannot read them.
pub const BEHIND_FEATURES: &[&str] = &[heic::NAME, pdf::NAME];

/// All formats. Tests iterate over this list.
pub static ALL: &[&dyn Codec] = &[
    &jpeg::Jpeg,
    &png::Png,
    &webp::Webp,
    &gif::Gif,
    &avif::Avif,
    &heic::Heic,
    &jxl::Jxl,
    &bmp::Bmp,
    &ico::Ico,
    // Before TIFF, because most raw files begin like a TIFF.
    &raw::Raw,
    &tiff::Tiff,
    &psd::Psd,
    &svg::Svg,
    &pdf::Pdf,
    &placeholder::BLURHASH,
    &placeholder::THUMBHASH,
    &placeholder::PALETTE,
];

/// Decodes a JPEG with our own decoder and with libjpeg-turbo, at every scale, for the fuzzer that compares them.
///
/// # Errors
/// A description of the difference, if it is not a known and intended one.
#[cfg(feature = "compare")]
pub fn compare_jpeg_decoders(file: &[u8], limits: &andon_pixels::Limits) -> Result<(), String> {
    jpeg::compare(file, &jpeg::SCALES, limits).map(drop)
}
