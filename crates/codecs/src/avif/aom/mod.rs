//! AV1 encoding with libaom, on the caller's thread only and directly from planes.

mod ffi;

pub(super) use ffi::{Encoder, Planes, Samples, Settings};
