//! libjpeg-turbo: the files that our own decoder does not take, and those that our own encoder does not write.

pub(super) mod ffi;
