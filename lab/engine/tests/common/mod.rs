//! Small misbehaving servers on real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use andon_lab::load::Endpoint;

/// A server with one peculiarity. Its threads end with the test's process.
pub(crate) struct Misbehaving {
    endpoint: Endpoint,
}

type Habit = Arc<dyn Fn(u64, &mut dyn Write) -> bool + Send + Sync>;

impl Misbehaving {
    /// Starts a server that takes this long for a reply and serves one request at a time.
    pub(crate) fn slow(time: Duration) -> Self {
        Self::on_tcp(Arc::new(move |_, out| {
            std::thread::sleep(time);
            whole(out, b"slow")
        }))
    }

    /// Starts a server that closes each connection after this many replies without announcing it.
    pub(crate) fn closing_after(replies: u64) -> Self {
        Self::on_tcp(Arc::new(move |number, out| {
            whole(out, b"ok") && number + 1 < replies
        }))
    }

    /// Starts a server that announces more bytes than it sends.
    pub(crate) fn cutting() -> Self {
        Self::on_tcp(Arc::new(|_, out| {
            let _ = out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
            false
        }))
    }

    /// Starts a server that never sends the same body twice.
    pub(crate) fn counting() -> Self {
        let count = AtomicU64::new(0);
        Self::on_tcp(Arc::new(move |_, out| {
            whole(
                out,
                format!("{:08}", count.fetch_add(1, Ordering::Relaxed)).as_bytes(),
            )
        }))
    }

    /// Starts a well-behaved server on a Unix socket.
    pub(crate) fn on_unix_socket(path: &Path) -> Self {
        let listener = UnixListener::bind(path).expect("binds");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let out = stream.try_clone().expect("clones");
                std::thread::spawn(move || {
                    converse(
                        stream,
                        out,
                        &(Arc::new(|_, out: &mut dyn Write| whole(out, b"ok")) as Habit),
                    )
                });
            }
        });
        Self {
            endpoint: Endpoint::Unix(PathBuf::from(path)),
        }
    }

    /// The address at which the server listens.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn on_tcp(habit: Habit) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
        let address = listener.local_addr().expect("has an address");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let habit = habit.clone();
                let _ = stream.set_nodelay(true);
                let out = stream.try_clone().expect("clones");
                std::thread::spawn(move || converse(stream, out, &habit));
            }
        });
        Self {
            endpoint: Endpoint::Tcp(address),
        }
    }
}

fn converse(stream: impl Read, mut out: impl Write, habit: &Habit) {
    let mut lines = BufReader::new(stream).lines();
    for number in 0.. {
        loop {
            match lines.next() {
                Some(Ok(line)) if line.is_empty() => break,
                Some(Ok(_)) => {}
                _ => return,
            }
        }
        if !habit(number, &mut out) {
            return;
        }
    }
}

fn whole(out: &mut dyn Write, body: &[u8]) -> bool {
    let mut reply =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    reply.extend_from_slice(body);
    out.write_all(&reply).is_ok()
}
