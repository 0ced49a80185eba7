//! Settings for how the C library's allocator treats the freed buffers of large images.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod ffi;

/// Makes the allocator return free memory to the system: large buffers at once, the rest when much of it is free.
///
/// By default, after the first large buffer is freed, glibc allocates further ones (up to 32 MiB) from its heaps. Every
/// thread has a heap, and the buffers leave holes in it. In a program whose few threads pass buffers of many megabytes
/// to each other, this doubles the resident memory. Other C libraries do not behave like this, and with them this
/// function does nothing.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    ffi::set_thresholds(LARGE_BYTES, MOST_FREE_BYTES);
}

/// Minimum size in bytes of a buffer that gets its own pages from the system. Fresh pages cost little compared with
/// decoding that many bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 4 << 20;

/// Maximum number of free bytes at a heap's end that are kept for the next image.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MOST_FREE_BYTES: i32 = 8 << 20;
