//! Finds the processes of a server that is already running on this machine by its listening socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use super::Endpoint;
use super::listeners::{holds, listeners};
use crate::proc::{self, Pid};

/// Returns the topmost processes that hold the socket listening at `endpoint`. All other processes of the server
/// descend from them.
///
/// # Errors
/// Why the processes cannot be found, phrased as the end of a sentence.
pub fn running(endpoint: &Endpoint) -> Result<Vec<Pid>, String> {
    if let Endpoint::Tcp(address) = endpoint
        && !is_local(address.ip())
    {
        return Err(format!("{} is no address of this machine", address.ip()));
    }
    let listeners = listeners(endpoint);
    if listeners.is_empty() {
        return Err(format!(
            "no listening socket at {endpoint} is in the tables of /proc/net (a server in a container listens \
             in a network of its own)"
        ));
    }
    let holding = |pid: &Pid| {
        listeners
            .iter()
            .any(|listener| holds(*pid, listener.inode) == Some(true))
    };
    let mut holders: Vec<Pid> = proc::all().filter(holding).collect();
    // A service manager (process 1) keeps open the sockets that it passes to servers.
    if holders.len() > 1 {
        holders.retain(|pid| *pid != 1);
    }
    let top = |pid: &Pid| {
        let parent = proc::stat(*pid).map(|stat| stat.ppid);
        parent.is_none_or(|parent| !holders.contains(&parent))
    };
    let roots: Vec<Pid> = holders.iter().copied().filter(top).collect();
    if !roots.is_empty() {
        return Ok(roots);
    }
    Err(match listeners.first().and_then(|listener| listener.uid) {
        Some(uid) => format!(
            "its socket belongs to user {uid}, whose processes may not be looked into: be root or that user"
        ),
        None => {
            "the process that holds its socket may not be looked into: be root or its user".into()
        }
    })
}

/// Describes a process by its id and command line: `pid 123 (nginx: master process nginx)`.
#[must_use]
pub fn describe(pid: Pid) -> String {
    format!("pid {pid} ({})", proc::command(pid))
}

/// Returns whether an address is unspecified or one of this machine's own. Only those can be listened on.
fn is_local(ip: IpAddr) -> bool {
    let anywhere = match ip {
        IpAddr::V4(_) => ip == Ipv4Addr::UNSPECIFIED,
        IpAddr::V6(_) => ip == Ipv6Addr::UNSPECIFIED,
    };
    anywhere || ip.is_loopback() || TcpListener::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_found_by_its_socket_and_described_by_its_command() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let endpoint = Endpoint::Tcp(listener.local_addr().expect("bound"));
        let me = std::process::id() as Pid;
        assert_eq!(running(&endpoint), Ok(vec![me]));
        assert!(describe(me).starts_with(&format!("pid {me} (")));
    }

    #[test]
    fn what_is_not_here_is_said_to_be_elsewhere() {
        // This address is reserved for documentation, so no machine has it.
        let elsewhere = Endpoint::Tcp("192.0.2.1:80".parse().expect("an address"));
        assert_eq!(
            running(&elsewhere),
            Err("192.0.2.1 is no address of this machine".into())
        );
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let free = Endpoint::Tcp(listener.local_addr().expect("bound"));
        drop(listener);
        let why = running(&free).expect_err("nobody is there");
        assert!(why.contains("/proc/net"), "{why}");
    }
}
