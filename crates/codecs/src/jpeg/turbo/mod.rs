//! libjpeg-turbo, for files that our own decoder and encoder do not support.

pub(super) mod ffi;
