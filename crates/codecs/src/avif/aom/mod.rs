//! AV1 encoding with libaom, on the caller's thread alone and from planes as they are.

mod ffi;

pub(super) use ffi::{Encoder, Planes, Samples, Settings};
