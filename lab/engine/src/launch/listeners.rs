//! Finds listening sockets and the processes that own them.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use andon_client::Endpoint;
use procfs::net::{self, TcpNetEntry, TcpState};

use crate::proc::{self, Pid};

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) inode: u64,
    /// The user who opened the socket; unknown for Unix sockets.
    pub(super) uid: Option<u32>,
}

/// Returns a loopback port that no process listens on at the moment. Another process may take it before the server
/// does, so the caller must check which process listens on it once the server is ready.
pub(super) fn free_port() -> io::Result<Endpoint> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(Endpoint::Tcp(listener.local_addr()?))
}

/// Returns the sockets that listen at `endpoint` now.
pub(super) fn listeners(endpoint: &Endpoint) -> Vec<Listener> {
    match endpoint {
        Endpoint::Tcp(address) => {
            let tables = [net::tcp(), net::tcp6()].into_iter().flatten().flatten();
            tables
                .filter_map(|entry| tcp_listener(&entry, *address))
                .collect()
        }
        Endpoint::Unix(path) => {
            let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
            unix_listeners(&table, path)
        }
    }
}

/// Returns whether a process holds the socket with this inode open, or `None` if that may not be read or the process
/// has ended.
pub(super) fn holds(pid: Pid, inode: u64) -> Option<bool> {
    let name = format!("socket:[{inode}]");
    let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut links = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    Some(links.any(|link| link.as_os_str() == name.as_str()))
}

/// Describes the process that holds a listening socket: `pid 123 (nginx: master process)`.
pub(super) fn owner(listener: Listener) -> String {
    let holder = proc::all().find(|pid| holds(*pid, listener.inode) == Some(true));
    match (holder, listener.uid) {
        (Some(pid), _) => format!("pid {pid} ({})", proc::command(pid)),
        (None, Some(uid)) => format!("a process of user {uid} that cannot be looked into"),
        (None, None) => "a process that cannot be looked into".into(),
    }
}

fn tcp_listener(entry: &TcpNetEntry, address: SocketAddr) -> Option<Listener> {
    let local = entry.local_address;
    let same = local.ip().is_unspecified() || local.ip().to_canonical() == address.ip();
    let matches = local.port() == address.port() && (same || address.ip().is_unspecified());
    (matches && entry.state == TcpState::Listen).then_some(Listener {
        inode: entry.inode,
        uid: Some(entry.uid),
    })
}

fn unix_listeners(table: &str, path: &Path) -> Vec<Listener> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(3)?, 16).ok()?;
        let matches = flags & ACCEPTS != 0 && Path::new(fields.get(7)?) == path;
        matches.then_some(Listener {
            inode: fields.get(6)?.parse().ok()?,
            uid: None,
        })
    });
    rows.collect()
}

/// The flag `__SO_ACCEPTCON` of a Unix socket that accepts connections, as in `/proc/net/unix`.
const ACCEPTS: u32 = 0x10000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_ours_is_found_and_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let endpoint = Endpoint::Tcp(listener.local_addr().expect("bound"));
        let found = listeners(&endpoint);
        assert_eq!(found.len(), 1);
        let me = std::process::id();
        assert_eq!(holds(me as Pid, found[0].inode), Some(true));
        assert!(owner(found[0]).starts_with(&format!("pid {me} (")));
    }

    #[test]
    fn a_listener_on_every_address_is_found_by_its_port() {
        let Ok(listener) = TcpListener::bind("[::]:0") else {
            eprintln!("skipped: no IPv6 here");
            return;
        };
        let port = listener.local_addr().expect("bound").port();
        let endpoint = Endpoint::Tcp((Ipv4Addr::LOCALHOST, port).into());
        assert_eq!(listeners(&endpoint).len(), 1);
    }

    #[test]
    fn a_unix_listener_is_found_by_its_path() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("binds");
        assert_eq!(listeners(&Endpoint::Unix(path)).len(), 1);
    }
}
