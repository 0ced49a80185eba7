//! What the kernel still does for those who compute: threads of the server, and worker processes.

pub mod syscalls;
mod thread;

pub use thread::restrict as thread;
pub(crate) use thread::restrict_process as process;
