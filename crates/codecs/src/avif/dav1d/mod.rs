//! AV1 decoding with rav1d, without threads of its own and never of more px than the caller expects.

mod ffi;

pub(super) use ffi::{Decoder, Layout, Picture, Row, Sequence};
