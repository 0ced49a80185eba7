//! What the C library's allocator does with the buffers of large images, once they are free.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod ffi;

/// Makes free memory go back to the system: large buffers at once, the rest when there is much of it.
///
/// By itself glibc learns from the first large buffer that is freed to take the next ones (up to 32 MiB)
/// from its heaps, of which every thread has one, and there they leave holes. For a program of a few
/// threads that hand buffers of many megabytes to each other that doubles the resident memory. Other C
/// libraries have no such habit; there this does nothing.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    ffi::set_thresholds(LARGE_BYTES, MOST_FREE_BYTES);
}

/// From this size on buffers are the system's own: fresh pages cost little beside decoding as much.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 4 << 20;

/// Free bytes at a heap's end that stay for the next image.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MOST_FREE_BYTES: i32 = 8 << 20;
