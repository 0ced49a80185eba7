//! libjpeg-turbo: all encoding, and the files that our own decoder does not take.

pub(super) mod encode;
pub(super) mod ffi;
