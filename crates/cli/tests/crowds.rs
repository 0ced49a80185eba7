//! Thousands of malicious or slow clients against the real program. Meanwhile well-behaved clients are served, and
//! afterwards the program has its initial state.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The running program, which serves a folder of its own.
struct Server {
    child: Child,
    address: SocketAddr,
    log: Receiver<String>,
    folder: tempfile::TempDir,
    /// Number of open file descriptors before the first connection.
    open_before: usize,
}

impl Server {
    /// Starts the program. `descriptors` is its limit of open file descriptors; `None` means the system's limit. `keys`
    /// are further lines of its configuration.
    fn start(descriptors: Option<u32>, keys: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/420.jpg");
        std::fs::copy(sample, folder.path().join("a.jpg")).unwrap();
        let config = folder.path().join("andon.toml");
        // No worker processes, because their sockets would appear while descriptors are counted.
        let text = format!(
            "listen = [\"127.0.0.1:0\"]\n{keys}\n[sandbox]\nprocesses = \"none\"\n[[origin]]\nfs.root = \".\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n"
        );
        std::fs::write(&config, text).unwrap();
        let limit = descriptors.map_or(String::new(), |most| format!("ulimit -n {most};"));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("{limit} exec \"$0\" serve --config \"$1\""))
            .arg(env!("CARGO_BIN_EXE_andon"))
            .arg(&config)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").unwrap();
        let address = address.split(' ').next().unwrap();
        let address = address.parse().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, log) = channel();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut server = Self {
            child,
            address,
            log,
            folder,
            open_before: 0,
        };
        // After this request, everything that is opened once and stays open is open, such as the folder's first thread.
        assert_eq!(server.get(IMAGE), 200);
        server.open_before = server.open();
        server
    }

    /// Sends one GET on a new connection, and returns its status once the whole body has arrived.
    fn get(&self, target: &str) -> u16 {
        let mut client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        let mut reply = Vec::new();
        // A refusal may arrive before the request is sent completely.
        let asked = client.write_all(request.as_bytes());
        if asked.and_then(|()| client.read_to_end(&mut reply)).is_err() {
            return 0;
        }
        let status = reply.get(9..12).unwrap_or_default();
        String::from_utf8_lossy(status).parse().unwrap_or(0)
    }

    fn of_process(&self, file: &str) -> std::path::PathBuf {
        Path::new("/proc")
            .join(self.child.id().to_string())
            .join(file)
    }

    fn open(&self) -> usize {
        std::fs::read_dir(self.of_process("fd")).unwrap().count()
    }

    /// Returns the peak of resident memory in bytes.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(self.of_process("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() << 10
    }

    /// Checks that everything is as before: descriptors, successful requests, and no panic in the log.
    fn recovers(mut self) {
        let closed = (0..6000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            self.open() <= self.open_before
        });
        assert!(closed, "{} open, {} before", self.open(), self.open_before);
        assert_eq!(self.get(IMAGE), 200);
        assert_eq!(self.get("/healthz"), 200);
        let stopped = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        assert!(stopped.unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let log: Vec<String> = self.log.iter().collect();
        assert!(!log.iter().any(|line| line.contains("panic")), "{log:#?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process has already ended, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects from the loopback address whose last byte is `last`, with a small receive buffer.
fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    // A server that is started later must not inherit the socket.
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
    let own = SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0));
    bind(&socket, &own).unwrap();
    connect(&socket, &to).unwrap();
    TcpStream::from(socket)
}

/// Returns `wanted`, or the number of connections that this process may open if that is smaller.
fn may_open(wanted: usize) -> usize {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let most = maximum.map_or(wanted, |most| usize::try_from(most).unwrap_or(wanted));
    wanted.min(most.saturating_sub(100) / 2)
}

const IMAGE: &str = "/small_light(dw=40)/a.jpg";

/// Timeout that is longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn five_thousand_half_open_connections_keep_nobody_from_being_served() {
    let server = Server::start(None, "");
    let half_open: Vec<TcpStream> = (0..may_open(5000))
        .map(|number| {
            let mut client = connect_from(2 + (number % 20) as u8, server.address);
            // Clients for whom there was no room have been disconnected by now.
            let _ = client.write_all(b"GET /a.jpg HTTP/1.1\r\nHost: t");
            if number % 50 == 0 {
                // While all other connections are new, one more may be rejected with a request to retry.
                let status = server.get(IMAGE);
                assert!(matches!(status, 200 | 503), "{status} beside {number}");
            }
            client
        })
        .collect();
    // The oldest connections are old enough to be closed for new ones.
    let served = (0..6000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        server.get(IMAGE) == 200
    });
    assert!(served);
    for _ in 0..100 {
        assert_eq!(server.get(IMAGE), 200);
        assert_eq!(server.get("/healthz"), 200);
    }
    assert!(server.peak() < 256 << 20, "{} bytes", server.peak());
    drop(half_open);
    server.recovers();
}

#[test]
fn two_thousand_clients_and_256_descriptors_leave_one_for_health() {
    let server = Server::start(Some(256), "");
    let silent: Vec<TcpStream> = (0..may_open(2000))
        .map(|number| connect_from(2 + (number % 20) as u8, server.address))
        .collect();
    for _ in 0..50 {
        assert_eq!(server.get("/healthz"), 200);
    }
    assert!(server.open() < 256);
    drop(silent);
    server.recovers();
}

#[test]
fn five_hundred_slow_readers_of_ten_megabytes_hold_pieces_and_not_the_file() {
    let server = Server::start(None, "");
    let file = vec![7; 10 << 20];
    std::fs::write(server.folder.path().join("large.bin"), &file).unwrap();
    assert_eq!(server.get("/large.bin"), 200);
    let before = server.peak();
    let mut readers: Vec<TcpStream> = (0..may_open(500))
        .map(|number| {
            let mut client = connect_from(2 + (number % 20) as u8, server.address);
            client.set_read_timeout(Some(PATIENCE)).unwrap();
            client
                .write_all(b"GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n")
                .unwrap();
            client
        })
        .collect();
    for _ in 0..5 {
        for reader in &mut readers {
            assert!(reader.read(&mut [0; 512]).unwrap() > 0, "it goes on");
        }
        assert_eq!(server.get(IMAGE), 200);
    }
    let grown = server.peak().saturating_sub(before);
    let most = readers.len() as u64 * (256 << 10);
    assert!(
        grown < most,
        "{grown} bytes more for {} readers",
        readers.len()
    );
    drop(readers);
    server.recovers();
}
