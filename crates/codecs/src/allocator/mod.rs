//! Settings for how the C library's allocator treats the freed buffers of large images.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod ffi;

/// Makes the allocator return free memory to the system: large buffers at once, the rest when much of it is free.
///
/// By default glibc learns from the first large buffer that is freed to take the next ones (up to 32 MiB) from its
/// heaps. Every thread has one of these, and the buffers leave holes there. In a program whose few threads hand buffers
/// of many megabytes to each other, this doubles the resident memory. Other C libraries have no such habit, and with
/// them this function does nothing.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    ffi::set_thresholds(LARGE_BYTES, MOST_FREE_BYTES);
}

/// Smallest size in bytes of a buffer that gets pages of its own from the system. Fresh pages cost little compared with
/// decoding that many bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 4 << 20;

/// Most free bytes at a heap's end that are kept for the next image.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MOST_FREE_BYTES: i32 = 8 << 20;
