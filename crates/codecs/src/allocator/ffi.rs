//! The only module that touches glibc's allocator.

#![allow(unsafe_code)]

use std::ffi::c_int;

/// Sets two thresholds in bytes: buffers of `mapped` bytes or more get their own pages from the system, and a heap with
/// more than `trimmed` free bytes at its end is trimmed.
pub(super) fn set_thresholds(mapped: c_int, trimmed: c_int) {
    // SAFETY: the declaration is that of malloc.h. The call takes numbers and changes two settings under the
    // allocator's own lock. It rejects unknown parameters, and then changes nothing.
    unsafe {
        mallopt(M_MMAP_THRESHOLD, mapped);
        mallopt(M_TRIM_THRESHOLD, trimmed);
    }
}

unsafe extern "C" {
    fn mallopt(param: c_int, value: c_int) -> c_int;
}

/// Number of `mallopt`'s parameter for the trim threshold, as `malloc.h` defines it.
const M_TRIM_THRESHOLD: c_int = -1;
/// Number of `mallopt`'s parameter for the threshold of separate pages, as `malloc.h` defines it.
const M_MMAP_THRESHOLD: c_int = -3;
