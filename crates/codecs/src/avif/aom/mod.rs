//! Encoding AV1 by libaom: on the caller's thread alone, from planes as they are.

mod ffi;

pub(super) use ffi::{Encoder, Planes, Samples, Settings};
