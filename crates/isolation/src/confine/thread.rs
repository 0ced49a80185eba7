//! The system calls that computing threads may use: the server's worker threads, and all threads of worker processes.
//!
//! Decoders and encoders get bytes and return bytes. Their threads allocate, wait for work, wake the thread that waits
//! for a result, and read the clock; no font, profile or library is opened while an image is made. This is therefore a
//! list of what is permitted, short enough for each entry to be justified:
//!
//! - memory, but none that is executable;
//! - waiting and waking, the clock, the thread's own identity and core, random bytes (hash maps);
//! - signals as a panic, a stack overflow or `abort` need them, to this process alone;
//! - existing descriptors: a wake-up is written to a pipe or counter of the waiting thread, a log line to standard
//!   error, and the thread that drops the last reference to a file closes it.
//!
//! Everything else fails with `EPERM`: opening a file or a socket, starting a program or another thread. A backtrace
//! then has no names, because the program's own file is not read.

use std::io;

use libc as c;
use seccompiler::{BackendError, BpfProgram, apply_filter, apply_filter_all_threads};

use super::syscalls::{Calls, has, is, lacks, said};

/// Restricts the system calls of the calling thread for the rest of its life.
///
/// # Errors
/// If the kernel has no seccomp.
pub fn restrict() -> io::Result<()> {
    let filter = computing()
        .and_then(permit_only)
        .map_err(io::Error::other)?;
    apply_filter(&filter).map_err(said)
}

/// Restricts the system calls of all threads of a worker process. In addition to computing, it may receive from its
/// socket, set its own limits and start threads, which are restricted in the same way: a third-party decoder needs
/// threads.
///
/// # Errors
/// If the kernel has no seccomp.
pub(crate) fn restrict_process() -> io::Result<()> {
    // The flags of `clone3` are in memory, which a filter cannot read. With `ENOSYS`, the C library falls back to `clone`.
    let newer_clone = Calls::default().any(&[c::SYS_clone3]).none(c::ENOSYS);
    let others = computing()
        .and_then(|calls| {
            calls
                .any(&[c::SYS_recvfrom, c::SYS_set_robust_list, c::SYS_clone3])
                .when(c::SYS_prlimit64, [is(0, ITSELF)])?
                .when(c::SYS_clone, [has(0, c::CLONE_THREAD)])
        })
        .and_then(permit_only);
    // The order matters: the first filter permits the installation of the second.
    for filter in [newer_clone, others] {
        let filter = filter.map_err(io::Error::other)?;
        apply_filter_all_threads(&filter).map_err(said)?;
    }
    Ok(())
}

fn computing() -> Result<Calls, BackendError> {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    Calls::default()
        .any(PERMITTED)
        .when(c::SYS_mmap, [lacks(2, c::PROT_EXEC)])?
        .when(c::SYS_mprotect, [lacks(2, c::PROT_EXEC)])?
        .when(c::SYS_sched_setaffinity, [is(0, ITSELF)])?
        .when(c::SYS_tgkill, [is(0, process)])
}

fn permit_only(calls: Calls) -> Result<BpfProgram, BackendError> {
    calls.only(c::EPERM)
}

/// Process or thread id with which a thread refers to itself in system calls.
const ITSELF: i32 = 0;

const PERMITTED: &[i64] = &[
    // Memory.
    c::SYS_brk,
    c::SYS_madvise,
    c::SYS_mremap,
    c::SYS_munmap,
    // Waiting and waking.
    c::SYS_futex,
    c::SYS_restart_syscall,
    c::SYS_sched_yield,
    // Time.
    c::SYS_clock_getres,
    c::SYS_clock_gettime,
    c::SYS_clock_nanosleep,
    c::SYS_gettimeofday,
    c::SYS_nanosleep,
    // The thread and its process.
    c::SYS_exit,
    c::SYS_exit_group,
    c::SYS_getcpu,
    c::SYS_getpid,
    c::SYS_getrandom,
    c::SYS_gettid,
    c::SYS_membarrier,
    c::SYS_rseq,
    c::SYS_sched_getaffinity,
    // Signals.
    c::SYS_rt_sigaction,
    c::SYS_rt_sigprocmask,
    c::SYS_rt_sigreturn,
    c::SYS_sigaltstack,
    // Existing descriptors.
    c::SYS_close,
    c::SYS_epoll_ctl,
    c::SYS_fcntl,
    c::SYS_fstat,
    c::SYS_lseek,
    c::SYS_pread64,
    c::SYS_read,
    c::SYS_write,
    c::SYS_writev,
];

#[cfg(test)]
mod tests {
    use std::backtrace::Backtrace;
    use std::collections::HashMap;
    use std::fs::{self, File};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::{UnixDatagram, UnixStream};
    use std::os::unix::process::CommandExt;
    use std::panic::catch_unwind;
    use std::process::Command;
    use std::sync::mpsc::sync_channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Runs `try_out` on a thread that is restricted like the server's worker threads, and returns its result.
    fn restricted<T: Send + 'static>(try_out: impl FnOnce() -> T + Send + 'static) -> T {
        let trying = thread::spawn(|| {
            restrict().unwrap();
            try_out()
        });
        trying.join().unwrap()
    }

    fn is_refused<T>(result: io::Result<T>) -> bool {
        result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    #[test]
    fn a_worker_thread_opens_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "a").unwrap();
        restricted(move || {
            assert!(is_refused(File::open("/etc/passwd")));
            assert!(is_refused(File::open(&path)));
            assert!(is_refused(fs::write(&path, "b")));
            assert!(is_refused(fs::remove_file(&path)));
            assert!(is_refused(fs::metadata(&path)));
            assert!(is_refused(fs::read_dir("/")));
        });
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"a");
    }

    #[test]
    fn a_worker_thread_opens_no_socket_and_connects_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bound = UdpSocket::bind("127.0.0.1:0").unwrap();
        restricted(move || {
            assert!(is_refused(TcpStream::connect(address)));
            assert!(is_refused(TcpListener::bind("127.0.0.1:0")));
            assert!(is_refused(UdpSocket::bind("127.0.0.1:0")));
            assert!(is_refused(UnixDatagram::unbound()));
            assert!(is_refused(UnixStream::pair()));
            assert!(is_refused(listener.accept()));
            assert!(is_refused(bound.connect(address)));
            assert!(is_refused(bound.send_to(b"passwords", address)));
        });
    }

    #[test]
    fn a_worker_thread_starts_neither_program_nor_thread() {
        restricted(|| {
            // Had it succeeded, this whole test program would have become `false`.
            assert!(is_refused(Err::<(), _>(Command::new("/bin/false").exec())));
            assert!(is_refused(Command::new("/bin/true").spawn()));
            assert!(is_refused(thread::Builder::new().spawn(|| {})));
        });
    }

    #[test]
    fn a_worker_thread_chooses_its_own_core_and_no_other_threads() {
        use rustix::thread::{gettid, sched_getaffinity, sched_setaffinity};
        let other = gettid();
        restricted(move || {
            let all = sched_getaffinity(None).unwrap();
            sched_setaffinity(None, &all).unwrap();
            let refused = sched_setaffinity(Some(other), &all);
            assert_eq!(refused, Err(rustix::io::Errno::PERM));
        });
    }

    #[test]
    fn a_worker_thread_cannot_give_itself_another_filter() {
        assert!(is_refused(restricted(restrict)));
    }

    #[test]
    fn a_worker_thread_computes_waits_panics_and_says_so() {
        let (sender, receiver) = sync_channel(1);
        let total = restricted(move || {
            sender.send(thread::current().id()).unwrap();
            let began = Instant::now();
            thread::sleep(Duration::from_millis(1));
            assert!(began.elapsed() >= Duration::from_millis(1));
            // Larger than the allocator keeps, and grown where it may have to move.
            let mut bytes = vec![1_u8; 64 << 20];
            bytes.resize(96 << 20, 1);
            let counts: HashMap<u8, usize> = HashMap::from([(1, bytes.len())]);
            let backtrace = Backtrace::force_capture().to_string();
            eprintln!("a backtrace of {} bytes", backtrace.len());
            assert!(catch_unwind(|| panic!("as told")).is_err());
            counts[&1]
        });
        assert_eq!(total, 96 << 20);
        receiver.recv().unwrap();
    }
}
