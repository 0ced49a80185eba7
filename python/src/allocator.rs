//! Configures the C library's allocator, which the interpreter shares with the engine.

use std::env;

/// Makes the allocator retain and return memory as in the `andon` binary, unless the environment configures it. With
/// glibc's default settings, every image would get fresh pages from the system, which costs a tenth of the time that a
/// small result takes.
pub(crate) fn set() {
    if SETTINGS.iter().all(|name| env::var_os(name).is_none()) {
        andon_codecs::allocator::return_free_memory();
    }
}

/// The environment variables by which users configure glibc's allocator: two older ones, and `GLIBC_TUNABLES`.
const SETTINGS: [&str; 3] = [
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "GLIBC_TUNABLES",
];
