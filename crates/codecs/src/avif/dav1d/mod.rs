//! Decoding AV1 by rav1d: without threads of its own, and never more px than its caller expects.

mod ffi;

pub(super) use ffi::{Decoder, Layout, Picture, Row, Sequence};
