//! The two kinds of process besides the server: workers, and the *starter* that starts them.
//!
//! A program whose `main` begins with [`as_process`] can be started as either. The server drops privileges and then can
//! neither start nor end a process. The starter does both for the server: it is a separate process from the beginning,
//! and it has no data of the server except the file that all workers share, if any. A worker is a newly executed
//! program, not a copy of the server. It inherits no environment variables and no open files, except for a socket (as
//! standard input) and the file that all workers share (as standard output).

mod starter;
mod worker;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use andon_pixels::Codec;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Signal, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// The program file from which worker processes are started.
#[derive(Clone, Debug)]
pub struct Program {
    /// Path of the program's file.
    pub path: PathBuf,
    /// Arguments that precede those that select the kind of process.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// Returns the currently running program, even if its file has been replaced since the start.
    #[must_use]
    pub fn this() -> Self {
        Self {
            path: "/proc/self/exe".into(),
            arguments: Vec::new(),
        }
    }

    /// Whether the program can be started, and its processes have the same version as this one.
    #[must_use]
    pub fn is_of_this_version(&self) -> bool {
        let status = self.command(CHECK, Stdio::null(), None).status();
        status.is_ok_and(|status| status.success())
    }

    /// Returns a command for a process of this program in the given role. The process inherits nothing of the current
    /// one except its standard input, `socket`, and as its standard output the file that all workers share, if any.
    fn command(&self, role: &str, socket: Stdio, shared_file: Option<OwnedFd>) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .args([FLAG, role, VERSION])
            .env_clear()
            // Each allocator arena of a thread would reserve address space, which counts against the limit of the job.
            .env("MALLOC_ARENA_MAX", "1")
            .current_dir("/")
            .stdin(socket)
            .stdout(shared_file.map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null());
        command
    }
}

/// Runs this process as a worker or as the starter if the arguments after the program's name select that. Returns the
/// result when the worker or starter has finished, or `None` if the process is neither. Call this first in `main`. A
/// worker calls `adopt` with [the file that all workers share](crate::Settings::shared), if there is one, before it
/// restricts its system calls.
#[must_use]
pub fn as_process(
    codecs: &'static [&'static dyn Codec],
    adopt: fn(File) -> io::Result<()>,
    mut arguments: impl Iterator<Item = OsString>,
) -> Option<io::Result<()>> {
    if arguments.next()? != FLAG {
        return None;
    }
    let role = arguments.next()?;
    if arguments.next()? != VERSION {
        return Some(Err(io::Error::other("the server is of another version")));
    }
    if role == CHECK {
        return Some(Ok(()));
    }
    let mut bytes = || arguments.next()?.to_str()?.parse().ok();
    let memory = [bytes()?, bytes()?];
    Some(match role.to_str()? {
        STARTER => {
            let path = arguments.next()?.into();
            let arguments = arguments.collect();
            prepare();
            starter::run(&Program { path, arguments }, memory)
        }
        WORKER => {
            prepare();
            // Kill this worker when its parent ends. The signal is sent when the thread that started the worker ends; the
            // starter has one thread, so that is when the starter ends.
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            worker::run(codecs, adopt, memory)
        }
        _ => return None,
    })
}

/// Returns the file that all workers share, which this process has inherited as its standard output. `None` if standard
/// output is not a file.
fn shared_file() -> io::Result<Option<File>> {
    let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let is_file = file.metadata().as_ref().is_ok_and(Metadata::is_file);
    Ok(is_file.then_some(file))
}

/// Creates a file in memory whose content cannot be changed after `write` has returned.
///
/// # Errors
/// If the system cannot create such a file, or `write` fails.
pub fn sealed(write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<File> {
    let descriptor = memfd_create(
        "andon-shared",
        MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
    )?;
    let mut file = File::from(descriptor);
    write(&mut file)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Makes processes that are started from now on inherit only the descriptors of standard input, output and error.
pub(crate) fn keep_descriptors() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Ignores signals that are meant to end the server. The server has to finish its requests and needs the starter and
/// the workers for that. Also prevents descriptors from being inherited.
fn prepare() {
    keep_descriptors();
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        let flag = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal, flag);
    }
}

pub(crate) use starter::Starter;
pub use worker::{AT_REST, BARE};

const FLAG: &str = "--andon-process";
const STARTER: &str = "starter";
const WORKER: &str = "worker";
/// Role of a process that only reports whether it has the server's version, by its exit code.
const CHECK: &str = "check";

/// Version of the protocol between the server, the starter and the workers. It is the version of the program, because
/// the protocol may change with every one.
const VERSION: &str = env!("CARGO_PKG_VERSION");
