//! Are the replies the same work? Every distinct body is decoded, its size checked, and all replies, each by its
//! share, are compared with the baseline's most frequent one, URL by URL.
//!
//! A speed ratio between a server that sends 44 KB and one that sends 14 KB says little; one between an image
//! and an error page says nothing. Decoding is done after the blocks, so that it costs nobody's time.

mod judge;
mod size;

pub use andon_client::{Picture, ssim};
pub use judge::{Judged, judge};
