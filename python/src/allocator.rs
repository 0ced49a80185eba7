//! The C library's allocator, which the interpreter shares with the engine.

use std::env;

/// Has it keep and return memory as it does in the binary, unless the environment says what it is to do: by glibc's own
/// rules every image would get fresh pages from the system, a tenth of the time that a small result takes.
pub(crate) fn set() {
    if SETTINGS.iter().all(|name| env::var_os(name).is_none()) {
        andon_codecs::allocator::return_free_memory();
    }
}

/// glibc's own variables, older and newer.
const SETTINGS: [&str; 3] = [
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "GLIBC_TUNABLES",
];
