//! Judges whether the replies of the variants are equivalent. Every distinct body is decoded and its size checked.
//! All replies, weighted by how often they came, are compared with the baseline's most frequent one, URL by URL.
//!
//! A speed ratio between a server that sends 44 KB and one that sends 14 KB says little; one between an image and an
//! error page says nothing. Bodies are decoded after the blocks, so that decoding does not disturb any measurement.

mod judge;
mod size;

pub use andon_client::{DecodedImage, ssim};
pub use judge::{Judged, judge};
