//! The only module that touches glibc's allocator.

#![allow(unsafe_code)]

use std::ffi::c_int;

/// Gives buffers of `mapped` bytes or more pages of their own, and trims a heap with more than `trimmed` free bytes at
/// its end.
pub(super) fn set_thresholds(mapped: c_int, trimmed: c_int) {
    // SAFETY: the declaration is that of malloc.h. The call takes numbers, changes two settings under the
    // allocator's own lock, and refuses what it does not know; a refusal leaves everything as it was.
    unsafe {
        mallopt(M_MMAP_THRESHOLD, mapped);
        mallopt(M_TRIM_THRESHOLD, trimmed);
    }
}

unsafe extern "C" {
    fn mallopt(param: c_int, value: c_int) -> c_int;
}

/// Parameter number of `mallopt`, as `malloc.h` defines it.
const M_TRIM_THRESHOLD: c_int = -1;
const M_MMAP_THRESHOLD: c_int = -3;
