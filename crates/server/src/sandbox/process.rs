//! System calls that no thread of the server may use.
//!
//! These are the calls that no image server needs and that an attacker who runs code in it would look for: starting
//! programs and processes, inspecting other processes, mounting, namespaces, privileges, the machine's clock and keys,
//! programs inside the kernel, rings that do input and output past this filter, and sockets of families other than
//! Unix, IP and netlink (with which the C library looks up the machine's addresses).
//!
//! This is a deny list. An allow list would have to fit every C library and kernel that the server runs with, and a single
//! call that their next release begins to use would stop the server in production. The worker threads, which process
//! untrusted data, have an allow list ([`confine`](andon_isolation::confine)).
//!
//! The kernel remembers which calls a filter permits whatever their arguments (since Linux 5.11) and does not run the
//! filter for them: `read`, `write`, `epoll_wait` and `futex` cost the same with and without it.

use std::io;

use libc as c;
use seccompiler::{BackendError, BpfProgram, apply_filter_all_threads};

use andon_isolation::confine::syscalls::{Calls, Condition, is, is_not, lacks, said};

/// Installs seccomp filters for all threads, for the rest of the process. They refuse system calls that the server does
/// not need, such as those in [`REFUSED`].
///
/// # Errors
/// If the kernel has no seccomp.
pub(super) fn restrict() -> io::Result<()> {
    for filter in filters().map_err(io::Error::other)? {
        apply_filter_all_threads(&filter).map_err(said)?;
    }
    Ok(())
}

fn filters() -> Result<[BpfProgram; 2], BackendError> {
    let refuse_listed = Calls::default()
        .any(REFUSED)
        .any(REFUSED_HERE)
        .any(&other_numbers())
        // `clone` may create threads, but no processes.
        .when(c::SYS_clone, [lacks(0, c::CLONE_THREAD)])?
        .when(c::SYS_socket, other_families())?
        .when(c::SYS_socketpair, other_families())?
        // These requests push input into a terminal, as if its user had typed it.
        .when(c::SYS_ioctl, [is(1, TIOCSTI)])?
        .when(c::SYS_ioctl, [is(1, TIOCLINUX)])?
        .none(c::EPERM)?;
    // A filter cannot read the flags of `clone3`, which are in memory. With `ENOSYS`, the C library falls back to `clone`.
    let refuse_clone3 = Calls::default().any(&[c::SYS_clone3]).none(c::ENOSYS)?;
    Ok([refuse_listed, refuse_clone3])
}

/// Returns the refused system calls under their x32 numbers, which an x86-64 kernel may know as well; empty on other
/// architectures.
fn other_numbers() -> Vec<i64> {
    if cfg!(not(target_arch = "x86_64")) {
        return Vec::new();
    }
    const X32: i64 = 0x4000_0000;
    let conditional = [
        c::SYS_clone,
        c::SYS_clone3,
        c::SYS_socket,
        c::SYS_socketpair,
    ];
    let numbers = REFUSED.iter().chain(REFUSED_HERE).chain(&conditional);
    // From 512 on, x32 has numbers of its own, `execve` and `ptrace` among them.
    numbers
        .copied()
        .chain(512..=547)
        .map(|number| X32 | number)
        .collect()
}

fn other_families() -> [Condition; 4] {
    [c::AF_UNIX, c::AF_INET, c::AF_INET6, c::AF_NETLINK].map(|family| is_not(0, family))
}

const TIOCSTI: c::c_int = 0x5412;
const TIOCLINUX: c::c_int = 0x541c;

const REFUSED: &[i64] = &[
    // Programs.
    c::SYS_execve,
    c::SYS_execveat,
    c::SYS_memfd_create,
    c::SYS_personality,
    // Other processes.
    c::SYS_ptrace,
    c::SYS_process_vm_readv,
    c::SYS_process_vm_writev,
    c::SYS_process_madvise,
    c::SYS_pidfd_getfd,
    c::SYS_kcmp,
    c::SYS_move_pages,
    c::SYS_migrate_pages,
    // Programs inside the kernel, and ways around this filter.
    c::SYS_bpf,
    c::SYS_perf_event_open,
    c::SYS_userfaultfd,
    c::SYS_io_uring_setup,
    c::SYS_io_uring_enter,
    c::SYS_io_uring_register,
    c::SYS_fanotify_init,
    c::SYS_lookup_dcookie,
    c::SYS_open_by_handle_at,
    // Namespaces and mounts.
    c::SYS_unshare,
    c::SYS_setns,
    c::SYS_chroot,
    c::SYS_pivot_root,
    c::SYS_mount,
    c::SYS_umount2,
    c::SYS_mount_setattr,
    c::SYS_move_mount,
    c::SYS_open_tree,
    c::SYS_fsopen,
    c::SYS_fsconfig,
    c::SYS_fsmount,
    c::SYS_fspick,
    // Privileges.
    c::SYS_capset,
    c::SYS_setuid,
    c::SYS_setgid,
    c::SYS_setreuid,
    c::SYS_setregid,
    c::SYS_setresuid,
    c::SYS_setresgid,
    c::SYS_setfsuid,
    c::SYS_setfsgid,
    c::SYS_setgroups,
    c::SYS_fchown,
    c::SYS_fchownat,
    // The machine.
    c::SYS_acct,
    c::SYS_adjtimex,
    c::SYS_clock_adjtime,
    c::SYS_clock_settime,
    c::SYS_settimeofday,
    c::SYS_delete_module,
    c::SYS_finit_module,
    c::SYS_init_module,
    c::SYS_kexec_file_load,
    c::SYS_kexec_load,
    c::SYS_mknodat,
    c::SYS_nfsservctl,
    c::SYS_quotactl,
    c::SYS_quotactl_fd,
    c::SYS_reboot,
    c::SYS_setdomainname,
    c::SYS_sethostname,
    c::SYS_swapoff,
    c::SYS_swapon,
    c::SYS_syslog,
    c::SYS_vhangup,
    // Keys.
    c::SYS_add_key,
    c::SYS_keyctl,
    c::SYS_request_key,
];

/// Refused system calls that only this architecture has.
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    c::SYS_fork,
    c::SYS_vfork,
    c::SYS_uselib,
    c::SYS_iopl,
    c::SYS_ioperm,
    c::SYS_modify_ldt,
    c::SYS_mknod,
    c::SYS_chown,
    c::SYS_lchown,
];

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::thread;

    use rustix::io::Errno;
    use rustix::net::{AddressFamily, SocketType, socket};
    use seccompiler::apply_filter;

    use super::*;

    /// Runs `try_out` on a thread of its own to which the seccomp filters apply from its start.
    fn restricted<T: Send + 'static>(try_out: impl FnOnce() -> T + Send + 'static) -> T {
        let trying = thread::spawn(|| {
            for filter in filters().unwrap() {
                apply_filter(&filter).unwrap();
            }
            try_out()
        });
        trying.join().unwrap()
    }

    #[test]
    fn a_thread_of_the_server_starts_no_program() {
        restricted(|| {
            // Had it succeeded, this whole test program would have become `false`.
            let error = Command::new("/bin/false").exec();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            let started = Command::new("/bin/true").spawn();
            assert!(started.is_err_and(|it| it.kind() == io::ErrorKind::PermissionDenied));
        });
    }

    #[test]
    fn a_thread_of_the_server_opens_sockets_of_the_families_that_it_serves_and_fetches_by() {
        restricted(|| {
            for family in [AddressFamily::PACKET, AddressFamily::VSOCK] {
                let opened = socket(family, SocketType::RAW, None);
                assert_eq!(opened.err(), Some(Errno::PERM), "{family:?}");
            }
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            std::os::unix::net::UnixDatagram::unbound().unwrap();
        });
    }

    #[test]
    fn a_thread_of_the_server_starts_threads_which_are_as_restricted() {
        let refused = restricted(|| {
            let started = thread::spawn(|| Command::new("/bin/true").spawn().map(drop));
            started.join().unwrap()
        });
        assert!(refused.is_err());
    }
}
