//! Restrictions on the system calls of threads that compute: worker threads of the server, and all threads of worker
//! processes.

pub mod syscalls;
mod thread;

pub use thread::restrict as thread;
pub(crate) use thread::restrict_process as process;
