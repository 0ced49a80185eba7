//! libjpeg-turbo, for files that our own decoder does not support and files that our own encoder does not write.

pub(super) mod ffi;
