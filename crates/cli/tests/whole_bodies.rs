//! Every byte of every response arrives: bodies of 0.2 to 10 MB, files and results, over TCP and a Unix socket, on
//! connections that close and connections that stay open, to clients with small buffers that pause.
//!
//! `./dev bench bodies 30000` runs this number of responses and saves the statistics.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

/// A target, and the expected response.
struct Wanted {
    target: String,
    body: Vec<u8>,
}

/// How a client reads one response.
#[derive(Clone, Copy, Debug)]
struct Manner {
    unix: bool,
    close: bool,
    small_buffer: bool,
    naps: bool,
}

impl Manner {
    /// Returns one of the sixteen combinations of the four properties, selected by the lowest four bits of `number`.
    fn of(number: usize) -> Self {
        let bit = |place: usize| number >> place & 1 == 1;
        Self {
            unix: bit(0),
            close: bit(1),
            small_buffer: bit(2),
            naps: bit(3),
        }
    }
}

/// A server process that is killed when the test ends, even if it fails.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The addresses that the server listens on.
struct Places {
    tcp: SocketAddr,
    unix: PathBuf,
}

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

impl Places {
    fn connect(&self, manner: Manner) -> Box<dyn Stream> {
        match manner.unix {
            true => {
                let stream = UnixStream::connect(&self.unix).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                Box::new(stream)
            }
            false => {
                let kind = SocketType::STREAM;
                let flags = SocketFlags::CLOEXEC;
                let socket = socket_with(AddressFamily::INET, kind, flags, None).unwrap();
                if manner.small_buffer {
                    sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
                }
                connect(&socket, &self.tcp).unwrap();
                let stream = TcpStream::from(socket);
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                Box::new(stream)
            }
        }
    }
}

/// Reads a complete response and compares it. The error describes the difference.
fn read(
    stream: &mut dyn Stream,
    wanted: &Wanted,
    manner: Manner,
    seed: usize,
) -> Result<(), String> {
    let connection = if manner.close { "close" } else { "keep-alive" };
    let target = &wanted.target;
    let request = format!("GET {target} HTTP/1.1\r\nHost: t\r\nConnection: {connection}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut reader = BufReader::with_capacity(16 << 10, stream);
    let mut length = None;
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    if !line.starts_with("HTTP/1.1 200 ") {
        return Err(format!("answered with {line:?}"));
    }
    while line != "\r\n" {
        line.clear();
        reader
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().ok();
        }
    }
    if length != Some(wanted.body.len()) {
        return Err(format!(
            "{length:?} bytes are promised of {}",
            wanted.body.len()
        ));
    }
    let mut at = 0;
    // Pauses of 1 to 50 ms, five times per body.
    let mut next_nap = 0;
    while at < wanted.body.len() {
        if manner.naps && at >= next_nap {
            thread::sleep(Duration::from_millis(1 + (seed * 7 + at) as u64 % 50));
            next_nap += wanted.body.len() / 5;
        }
        let here = reader
            .fill_buf()
            .map_err(|error| format!("after {at} bytes: {error}"))?;
        if here.is_empty() {
            return Err(format!("cut after {at} of {} bytes", wanted.body.len()));
        }
        let taken = here.len();
        if wanted.body.get(at..at + taken) != Some(here) {
            return Err(format!("wrong bytes after {at}"));
        }
        reader.consume(taken);
        at += taken;
    }
    let mut rest = Vec::new();
    if manner.close
        && reader
            .read_to_end(&mut rest)
            .map_err(|error| error.to_string())?
            > 0
    {
        return Err("more than was promised".to_owned());
    }
    Ok(())
}

/// Returns bytes without repetitions.
fn noise(length: usize) -> Vec<u8> {
    let words = (0..length as u32 / 4).map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes());
    words.flatten().collect()
}

/// Returns the body that the server must send, made by the same program without a server.
fn rendered(root: &Path, target: &str) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["render", target, "-o", "-"])
        .arg("--root")
        .arg(root)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    done.stdout
}

/// Timeout that is longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn no_reply_is_cut() {
    let count = std::env::var("ANDON_TEST_REPLIES").map_or(400, |count| count.parse().unwrap());
    let house = tempfile::tempdir().unwrap();
    let root = house.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/420.jpg");
    std::fs::copy(sample, root.join("a.jpg")).unwrap();
    // Small bodies are more frequent: of ten responses three have 0.2 MB and one has 10 MB.
    let mut wanted = Vec::new();
    for (name, size) in [
        ("200k", 200_000),
        ("1m", 1 << 20),
        ("3m", 3 << 20),
        ("10m", 10_000_000),
    ] {
        let body = noise(size);
        std::fs::write(root.join(name), &body).unwrap();
        wanted.push(Wanted {
            target: format!("/{name}"),
            body,
        });
    }
    for options in ["dw=700,dh=525,ds=s,of=png", "dw=2400,dh=1800,ds=s,of=png"] {
        let target = format!("/small_light({options})/a.jpg");
        let body = rendered(&root, &target);
        assert!(body.len() > 200_000, "{} bytes", body.len());
        wanted.push(Wanted { target, body });
    }
    let turns = [0, 4, 1, 0, 5, 4, 2, 0, 1, 3];

    let config = house.path().join("andon.toml");
    let keys = "listen = [\"127.0.0.1:0\", \"unix:andon.sock\"]\n[log]\nformat = \"off\"\n[[origin]]\nfs.root = \"root\"\nfs.files = \"all\"\n";
    std::fs::write(&config, keys).unwrap();
    let server = Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["serve", "--config"])
        .arg(&config)
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(server.unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let tcp = line.strip_prefix("listening on http://").unwrap();
    let places = Places {
        tcp: tcp.split(' ').next().unwrap().parse().unwrap(),
        unix: house.path().join("andon.sock"),
    };

    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let bytes = AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                // One persistent connection for each kind of socket and buffer.
                let mut kept: [Option<Box<dyn Stream>>; 4] = Default::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let manner = Manner::of(number);
                    let wanted = &wanted[turns[number / 16 % turns.len()]];
                    let place = usize::from(manner.unix) + 2 * usize::from(manner.small_buffer);
                    let mut stream = match kept[place].take() {
                        Some(stream) if !manner.close => stream,
                        _ => places.connect(manner),
                    };
                    match read(&mut *stream, wanted, manner, number) {
                        Ok(()) if !manner.close => kept[place] = Some(stream),
                        Ok(()) => {}
                        Err(wrong) => {
                            let told = format!("{} ({manner:?}): {wrong}", wanted.target);
                            failures.lock().unwrap().push(told);
                        }
                    }
                    bytes.fetch_add(wanted.body.len(), Ordering::Relaxed);
                }
            });
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let failures = failures.into_inner().unwrap();
    if let Ok(file) = std::env::var("ANDON_TEST_RECORD") {
        let record = serde_json::json!({
            "replies": count,
            "cut_or_wrong": failures.len(),
            "failures": failures,
            "bytes": bytes.into_inner(),
            "seconds": seconds,
            "readers": READERS,
            "bodies": wanted.iter().map(|one| (one.target.as_str(), one.body.len())).collect::<Vec<_>>(),
            "manners": "TCP and Unix socket, close and keep-alive, SO_RCVBUF of 4096 or the system's, \
                        with five naps of 1 to 50 ms or none: all sixteen in turn",
        });
        std::fs::write(file, format!("{record:#}\n")).unwrap();
    }
    assert!(
        failures.is_empty(),
        "{} of {count}: {failures:#?}",
        failures.len()
    );
}

/// Number of concurrent clients.
const READERS: usize = 48;
