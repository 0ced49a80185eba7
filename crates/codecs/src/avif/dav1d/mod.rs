//! AV1 decoding with rav1d, on the caller's thread, for images up to the number of pixels that the caller expects.

mod ffi;

pub(super) use ffi::{DecodedImage, Decoder, Layout, Row, Sequence};
