//! An origin that misbehaves: a raw TCP server on loopback with one path per misdeed, and a few on
//! which it behaves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::listener::Listener;

/// The server. It stops when this is dropped.
pub struct Hostile {
    listener: Listener,
    shared: Arc<Shared>,
}

struct Shared {
    image: Vec<u8>,
    /// The heads of all requests, in order.
    seen: Mutex<Vec<String>>,
}

/// A path, what the origin does there, and the statuses with which the server may respond.
pub struct Misdeed {
    pub path: &'static str,
    pub expected: &'static [u16],
    act: fn(&mut TcpStream, &Shared),
}

/// The entity tag of the good image.
pub const TAG: &str = "\"state-1\"";

impl Hostile {
    /// Serves `image` on the paths on which the origin behaves well.
    pub fn start(image: Vec<u8>) -> Self {
        let shared = Arc::new(Shared {
            image,
            seen: Mutex::default(),
        });
        let answering = shared.clone();
        let listener = Listener::start(move |stream| converse(stream, &answering));
        Self { listener, shared }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// The heads of the requests so far.
    pub fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().expect("no panic").clone()
    }

    /// The number of requests for this path.
    pub fn count(&self, path: &str) -> usize {
        let start = format!("GET {path} ");
        let seen = self.seen();
        seen.iter().filter(|head| head.starts_with(&start)).count()
    }
}

impl Misdeed {}

/// Answers requests until one of them was a misdeed.
fn converse(stream: TcpStream, shared: &Shared) {
    // Whatever is forgotten here ends some time.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
    let Ok(mut writer) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(stream);
    while let Some(head) = head(&mut reader) {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        shared.seen.lock().expect("no panic").push(head.clone());
        if let Some(misdeed) = MISDEEDS.iter().find(|misdeed| misdeed.path == path) {
            (misdeed.act)(&mut writer, shared);
            let _ = writer.shutdown(Shutdown::Both);
            return;
        }
        if behave(&mut writer, &path, &head, shared).is_none() {
            return;
        }
    }
}

fn head(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(length) if length > 0 => head.push_str(&line),
            _ => return None,
        }
        if line == "\r\n" {
            return Some(head);
        }
    }
}

/// The good paths. `/good.jpg` and whatever ends like it has validators, `/plain.jpg` has none,
/// `/once.jpg` breaks the first connection it is asked on, `/hop/N/…` sends on N times.
fn behave(stream: &mut TcpStream, path: &str, head: &str, shared: &Shared) -> Option<()> {
    let say = |stream: &mut TcpStream, head: String, body: &[u8]| {
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body).ok()
    };
    let whole = |extra: &str| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{extra}\r\n",
            shared.image.len()
        )
    };
    if let Some(rest) = path.strip_prefix("/hop/") {
        let (hops, rest) = rest.split_once('/')?;
        let to = match hops.parse::<u32>().ok()? {
            0 | 1 => format!("/{rest}"),
            hops => format!("/hop/{}/{rest}", hops - 1),
        };
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        return say(stream, head, b"");
    }
    match path {
        "/once.jpg" if shared.count_of("/once.jpg") == 1 => None,
        "/plain.jpg" | "/once.jpg" => say(stream, whole(""), &shared.image),
        "/chunked.jpg" => {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
            say(stream, head, b"")?;
            for piece in shared.image.chunks(1000) {
                say(stream, format!("{:x}\r\n", piece.len()), piece)?;
                say(stream, "\r\n".to_owned(), b"")?;
            }
            say(stream, "0\r\n\r\n".to_owned(), b"")
        }
        "/until-close.jpg" => {
            say(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned(),
                &shared.image,
            )?;
            let _ = stream.shutdown(Shutdown::Write);
            None
        }
        _ if !path.ends_with("good.jpg") => say(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
            b"",
        ),
        _ if head
            .to_ascii_lowercase()
            .contains(&format!("if-none-match: {TAG}")) =>
        {
            let head = format!(
                "HTTP/1.1 304 Not Modified\r\nETag: {TAG}\r\nCache-Control: max-age=7\r\n\r\n"
            );
            say(stream, head, b"")
        }
        _ => {
            let extra = format!(
                "ETag: {TAG}\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: max-age=60\r\nContent-Type: image/jpeg\r\n"
            );
            say(stream, whole(&extra), &shared.image)
        }
    }
}

impl Shared {
    fn count_of(&self, path: &str) -> usize {
        let start = format!("GET {path} ");
        let seen = self.seen.lock().expect("no panic");
        seen.iter().filter(|head| head.starts_with(&start)).count()
    }
}

/// Writes, whether or not anybody still listens.
fn write(stream: &mut TcpStream, text: impl AsRef<[u8]>) -> bool {
    stream.write_all(text.as_ref()).is_ok()
}

/// Waits until the other side gives up.
fn hang(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}

/// Closes with a reset instead of a farewell.
fn reset(stream: &TcpStream) {
    let linger = Some(Duration::ZERO);
    let _ = rustix::net::sockopt::set_socket_linger(stream, linger);
}

fn half(shared: &Shared) -> &[u8] {
    &shared.image[..shared.image.len() / 2]
}

fn head_for(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {length}\r\n\r\n")
}

fn redirect(stream: &mut TcpStream, to: &str) {
    write(
        stream,
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"),
    );
}

const fn misdeed(
    path: &'static str,
    expected: &'static [u16],
    act: fn(&mut TcpStream, &Shared),
) -> Misdeed {
    Misdeed {
        path,
        expected,
        act,
    }
}

/// All misdeeds.
pub const MISDEEDS: &[Misdeed] = &[
    misdeed("/hang-before-headers", &[504], |stream, _| hang(stream)),
    misdeed("/hang-in-headers", &[504], |stream, _| {
        write(stream, "HTTP/1.1 200 OK\r\nContent-Le");
        hang(stream);
    }),
    misdeed("/hang-mid-body", &[504], |stream, shared| {
        write(stream, head_for(shared.image.len()));
        write(stream, half(shared));
        hang(stream);
    }),
    misdeed("/hang-before-the-last-chunk", &[504], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        write(stream, format!("{:x}\r\n", shared.image.len()));
        write(stream, &shared.image);
        write(stream, "\r\n");
        hang(stream);
    }),
    misdeed("/trickle-headers", &[504], |stream, _| {
        write(stream, "HTTP/1.1 200 OK\r\nX: ");
        while write(stream, "x") {
            std::thread::sleep(Duration::from_millis(20));
        }
    }),
    misdeed("/trickle-body", &[504], |stream, shared| {
        write(stream, head_for(shared.image.len()));
        for byte in &shared.image {
            if !write(stream, [*byte]) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }),
    misdeed("/close-at-once", &[502], |_, _| {}),
    misdeed("/reset-at-once", &[502], |stream, _| reset(stream)),
    misdeed("/reset-mid-body", &[502], |stream, shared| {
        write(stream, head_for(shared.image.len()));
        write(stream, half(shared));
        std::thread::sleep(Duration::from_millis(50));
        reset(stream);
    }),
    misdeed("/close-mid-headers", &[502], |stream, _| {
        write(stream, "HTTP/1.1 200 OK\r\nContent-Le");
    }),
    misdeed("/close-mid-body", &[502], |stream, shared| {
        write(stream, head_for(shared.image.len()));
        write(stream, half(shared));
    }),
    misdeed("/length-too-long", &[502], |stream, shared| {
        write(stream, head_for(shared.image.len() + 1));
        write(stream, &shared.image);
    }),
    // What a length cuts off cannot be known; that the rest is no whole image can.
    misdeed("/length-too-short", &[415, 502], |stream, shared| {
        write(stream, head_for(shared.image.len() / 2));
        write(stream, &shared.image);
    }),
    misdeed("/two-lengths", &[502], |stream, shared| {
        let length = shared.image.len();
        write(
            stream,
            format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nContent-Length: {}\r\n\r\n",
                length / 2
            ),
        );
        write(stream, &shared.image);
    }),
    misdeed("/length-of-nonsense", &[502], |stream, shared| {
        write(stream, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n");
        write(stream, &shared.image);
    }),
    misdeed("/cut-chunked", &[502], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        write(stream, format!("{:x}\r\n", shared.image.len()));
        write(stream, half(shared));
    }),
    misdeed("/no-last-chunk", &[502], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        write(stream, format!("{:x}\r\n", shared.image.len()));
        write(stream, &shared.image);
        write(stream, "\r\n");
    }),
    misdeed("/chunk-of-nonsense", &[502], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        );
        write(stream, &shared.image);
    }),
    misdeed("/chunk-beyond-64-bits", &[502], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        );
        write(stream, &shared.image);
    }),
    misdeed("/cut-at-close", &[415, 502], |stream, shared| {
        write(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        write(stream, half(shared));
    }),
    // A coding that is not `chunked` leaves the end to the connection.
    misdeed("/cut-in-a-coding", &[415, 502], |stream, shared| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        );
        write(stream, half(shared));
    }),
    misdeed("/nothing", &[415], |stream, _| {
        write(stream, head_for(0));
    }),
    misdeed("/html", &[415], |stream, _| {
        let page = "<!doctype html><script>alert(1)</script>";
        write(
            stream,
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            ),
        );
    }),
    misdeed("/partial", &[502], |stream, shared| {
        let (length, half) = (shared.image.len(), half(shared));
        write(
            stream,
            format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-{}/{length}\r\nContent-Length: {}\r\n\r\n",
                half.len() - 1,
                half.len()
            ),
        );
        write(stream, half);
    }),
    misdeed("/no-content", &[502], |stream, _| {
        write(stream, "HTTP/1.1 204 No Content\r\n\r\n");
    }),
    misdeed("/not-modified", &[502], |stream, _| {
        write(stream, "HTTP/1.1 304 Not Modified\r\n\r\n");
    }),
    misdeed("/switching", &[502], |stream, _| {
        write(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        );
    }),
    misdeed("/forever-about-to", &[502, 504], |stream, _| {
        while write(stream, "HTTP/1.1 103 Early Hints\r\n\r\n") {
            std::thread::sleep(Duration::from_millis(5));
        }
    }),
    misdeed("/gzip", &[502], |stream, shared| {
        write(
            stream,
            format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                shared.image.len()
            ),
        );
        write(stream, &shared.image);
    }),
    misdeed("/loop", &[502], |stream, _| redirect(stream, "/loop")),
    misdeed("/to-nowhere", &[502], |stream, _| {
        write(stream, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
    }),
    misdeed("/to-file", &[502], |stream, _| {
        redirect(stream, "file:///etc/hostname")
    }),
    misdeed("/to-gopher", &[502], |stream, _| {
        redirect(stream, "gopher://127.0.0.1:70/1")
    }),
    misdeed("/to-data", &[502], |stream, _| {
        redirect(stream, "data:image/gif;base64,R0lGODlhAQABAAAAACw=");
    }),
    misdeed("/to-metadata", &[502], |stream, _| {
        redirect(stream, "http://169.254.169.254/latest/meta-data/");
    }),
    misdeed("/to-metadata-in-hex", &[502], |stream, _| {
        redirect(stream, "http://0xa9fea9fe/")
    }),
    misdeed("/to-metadata-mapped", &[502], |stream, _| {
        redirect(stream, "http://[::ffff:169.254.169.254]/");
    }),
    misdeed("/to-private", &[502], |stream, _| {
        redirect(stream, "http://10.0.0.1/")
    }),
    misdeed("/eleven-hops", &[502], |stream, _| {
        redirect(stream, "/hop/10/good.jpg")
    }),
    misdeed("/huge-declared", &[422], |stream, _| {
        write(stream, head_for(1 << 40));
        while write(stream, [0; 65536]) {}
    }),
    misdeed("/huge-chunked", &[422], |stream, _| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        let mut chunk = b"10000\r\n".to_vec();
        chunk.resize(7 + 65536, 0xff);
        chunk.extend(b"\r\n");
        while write(stream, &chunk) {}
    }),
    misdeed("/endless-headers", &[502], |stream, _| {
        write(stream, "HTTP/1.1 200 OK\r\n");
        while write(stream, "X-More: and more\r\n".repeat(100)) {}
    }),
    misdeed("/one-endless-header", &[502], |stream, _| {
        write(stream, "HTTP/1.1 200 OK\r\nX-More: ");
        while write(stream, [b'x'; 4096]) {}
    }),
    misdeed("/no-http", &[502], |stream, _| {
        write(stream, "220 mail.test ESMTP\r\n");
    }),
    misdeed("/http-0.9", &[502], |stream, shared| {
        write(stream, &shared.image);
    }),
    misdeed("/broken", &[502], |stream, _| {
        write(
            stream,
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nsorry",
        );
    }),
    misdeed("/overloaded", &[502], |stream, _| {
        write(
            stream,
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
        );
    }),
    misdeed("/who-are-you", &[502], |stream, _| {
        write(
            stream,
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        );
    }),
    misdeed("/not-for-you", &[403], |stream, _| {
        write(
            stream,
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
        );
    }),
    misdeed("/gone", &[404], |stream, _| {
        write(stream, "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n");
    }),
];
