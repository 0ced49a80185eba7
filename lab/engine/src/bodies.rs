//! Whether the replies are the same work. Every distinct body is decoded and its size checked; all replies, weighted by
//! how often they came, are compared with the baseline's most frequent one, URL by URL.
//!
//! A speed ratio between a server that sends 44 KB and one that sends 14 KB says little; one between an image and an
//! error page says nothing. Decoding is done after the blocks, so that it does not disturb any measurement.

mod judge;
mod size;

pub use andon_client::{DecodedImage, ssim};
pub use judge::{Judged, judge};
