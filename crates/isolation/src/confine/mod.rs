//! Restrictions on the system calls of computing code: threads of the server, and worker processes.

pub mod syscalls;
mod thread;

pub use thread::restrict as thread;
pub(crate) use thread::restrict_process as process;
