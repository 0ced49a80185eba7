//! HTTPS: both protocols, certificates that change, and clients that use HTTP/2 as a weapon.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Client, House, Reply};
use andon_server::Address;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const KEYS: &str =
    "[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
const HIT: &str = "/small_light(dw=60)/a.jpg";

/// Writes a new certificate for `localhost` and its key into `folder`, and returns the certificate.
fn issue(folder: &Path) -> CertificateDer<'static> {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), issued.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), issued.signing_key.serialize_pem()).unwrap();
    issued.cert.der().clone()
}

fn house() -> House {
    house_with("")
}

fn house_with(keys: &str) -> House {
    House::furnished(&format!("{KEYS}{keys}"), |folder| drop(issue(folder)))
}

fn address(house: &House) -> SocketAddr {
    let secure = house.addresses.iter().find_map(|address| match address {
        Address::Tls(address) => Some(*address),
        _ => None,
    });
    secure.expect("an address with TLS")
}

/// A client that trusts the certificate in the house's file.
fn config(house: &House, protocol: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let pem = house.folder.path().join("cert.pem");
    roots
        .add(CertificateDer::from_pem_file(pem).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Arc::new(config)
}

type Secure = StreamOwned<ClientConnection, TcpStream>;

fn connect(house: &House, protocol: &str) -> Secure {
    connect_with(house, config(house, protocol))
}

fn connect_with(house: &House, config: Arc<ClientConfig>) -> Secure {
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(config, name).unwrap();
    let stream = TcpStream::connect(address(house)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    StreamOwned::new(client, stream)
}

/// A reply: its status, its headers without those that depend on time or protocol, and its body.
type Told = (u16, Vec<(String, String)>, Vec<u8>);

fn told<'a>(status: u16, headers: impl Iterator<Item = (&'a str, &'a str)>, body: &[u8]) -> Told {
    let varies = ["date", "server-timing", "cache-status", "connection"];
    let mut headers: Vec<_> = headers
        .filter(|(name, _)| !varies.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    headers.sort();
    (status, headers, body.to_vec())
}

fn by_http1(house: &House, targets: &[&str]) -> Vec<Told> {
    let stream = Shared(Arc::new(Mutex::new(connect(house, "http/1.1"))));
    let mut client = Client::over(Box::new(stream.clone()), Box::new(stream));
    targets
        .iter()
        .map(|target| told_by(&client.get(target)))
        .collect()
}

fn told_by(reply: &Reply) -> Told {
    let headers = reply
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    told(reply.status, headers, &reply.body)
}

/// Both directions of a connection.
#[derive(Clone)]
struct Shared(Arc<Mutex<Secure>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().read(buffer)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

/// The replies to requests that are sent at the same time on one HTTP/2 connection.
fn by_http2(house: &House, targets: &[&str]) -> Vec<Told> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let connector = tokio_rustls::TlsConnector::from(config(house, "h2"));
        let stream = tokio::net::TcpStream::connect(address(house))
            .await
            .unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = connector.connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .unwrap();
        tokio::spawn(connection);
        let asked: Vec<_> = targets
            .iter()
            .map(|target| {
                let mut sender = sender.clone();
                let request = hyper::Request::get(format!("https://localhost{target}"));
                let request = request.body(Empty::<Bytes>::new()).unwrap();
                tokio::spawn(async move {
                    let reply = sender.send_request(request).await.unwrap();
                    let (head, body) = reply.into_parts();
                    let body = body.collect().await.unwrap().to_bytes();
                    let headers = head.headers.iter();
                    let headers =
                        headers.map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
                    told(head.status.as_u16(), headers, &body)
                })
            })
            .collect();
        let mut all = Vec::new();
        for one in asked {
            all.push(one.await.unwrap());
        }
        all
    })
}

#[test]
fn both_protocols_give_the_reply_that_there_is_without_tls() {
    let house = house();
    let targets = [
        HIT,
        "/a.jpg",
        "/missing.jpg",
        "/healthz",
        "/readyz",
        "/small_light(dw=x)/a.jpg",
    ];
    // Once, so that all find the same in the cache.
    for target in targets {
        house.get(target);
    }
    let plain: Vec<_> = targets
        .iter()
        .map(|target| told_by(&house.get(target)))
        .collect();
    assert_eq!(plain[0].0, 200);
    assert_eq!(by_http1(&house, &targets), plain);
    assert_eq!(by_http2(&house, &targets), plain);
}

#[test]
fn the_reply_to_a_last_request_arrives_whole_and_with_its_end() {
    let house = house_with("[cache]\nfs_fresh = \"1h\"\n");
    let target = "/small_light(of=png)/a.jpg";
    let whole = house.get(target);
    for version in ["HTTP/1.1", "HTTP/1.0"] {
        let mut stream = connect(&house, "http/1.1");
        let asked = format!("GET {target} {version}\r\nHost: h\r\nConnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).unwrap();
        let mut reply = Vec::new();
        // Without TLS's own end this is an error.
        stream.read_to_end(&mut reply).unwrap();
        assert!(reply.starts_with(version.as_bytes()));
        assert!(reply.ends_with(&whole.body), "{version}");
    }
}

#[test]
fn the_first_connection_after_a_certificate_was_replaced_gets_the_new_one() {
    let house = house();
    let before = by_http1(&house, &["/healthz"]);
    for _ in 0..5 {
        let new = issue(house.folder.path());
        // The client trusts the new one alone.
        let mut stream = connect(&house, "http/1.1");
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .expect("the new certificate");
        assert_eq!(stream.conn.peer_certificates().unwrap()[0], new);
    }
    assert_eq!(by_http1(&house, &["/healthz"]), before);
}

#[test]
fn while_only_one_of_its_files_is_replaced_the_old_certificate_stays() {
    let house = house();
    let folder = house.folder.path();
    let old = CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap();
    let trusts_the_old = config(&house, "http/1.1");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("key.pem"), other.signing_key.serialize_pem()).unwrap();
    let mut stream = connect_with(&house, trusts_the_old);
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    assert_eq!(stream.conn.peer_certificates().unwrap()[0], old);
    std::fs::write(folder.join("cert.pem"), other.cert.pem()).unwrap();
    let mut stream = connect(&house, "http/1.1");
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
}

#[test]
fn a_certificate_and_the_key_to_another_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    issue(folder.path());
    let key = folder.path().join("key.pem");
    let first = std::fs::read(&key).unwrap();
    issue(folder.path());
    std::fs::write(&key, first).unwrap();
    let text = |keys: &str| {
        let config = andon_server::Config::parse(keys, folder.path());
        let outcome = config.and_then(|config| andon_server::check(&config, andon_codecs::ALL));
        outcome.expect_err("no pair").to_string()
    };
    let said = text(&format!("{KEYS}[[origin]]\nfs.root = \".\""));
    assert!(
        said.contains("key.pem") && said.contains("cert.pem"),
        "{said}"
    );
    let said = text("[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificate = \"cert.pem\"");
    assert!(said.contains("tls.key"), "{said}");
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Returns the HPACK header block of `GET https://localhost/`. All fields but the host are in the static table.
fn get() -> Vec<u8> {
    [&[0x82, 0x87, 0x84, 0x41, 9][..], b"localhost"].concat()
}

/// Opens an HTTP/2 connection for frames that no ordinary client sends.
fn weapon(house: &House) -> Secure {
    let mut stream = connect(house, "h2");
    let preface = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &[]),
    ]
    .concat();
    stream.write_all(&preface).unwrap();
    stream
}

/// Sends the frames that `frames` returns for each number below `shots` on one HTTP/2 connection. Asserts that the
/// server ends this connection, and still serves others.
fn fire(house: &House, shots: u32, frames: impl Fn(u32) -> Vec<u8>) {
    let mut stream = weapon(house);
    let ended = (0..shots).any(|shot| stream.write_all(&frames(shot)).is_err())
        || is_sent_away(&mut stream);
    assert!(ended, "the server goes on listening");
    assert_eq!(
        house.get("/healthz").status,
        200,
        "it serves everybody else"
    );
}

/// Does the server say GOAWAY, or close, before it answers anything?
fn is_sent_away(stream: &mut Secure) -> bool {
    loop {
        match read_frame(stream) {
            Ok(read) if read.kind == GOAWAY => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            }
        }
    }
}

/// A frame that the server sends.
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

fn read_frame(stream: &mut Secure) -> io::Result<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(Frame {
        kind: head[3],
        flags: head[4],
        stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
        payload,
    })
}

/// Asks for `/` and reads the whole reply; was there a GOAWAY before its end?
fn ask(stream: &mut Secure, number: u32) -> bool {
    let mut is_sent_away = false;
    let request = frame(HEADERS, END_STREAM | END_HEADERS, number, &get());
    stream.write_all(&request).unwrap();
    loop {
        let read = read_frame(stream).expect("a reply");
        assert_ne!(read.kind, RESET, "no reply");
        is_sent_away |= read.kind == GOAWAY;
        if read.stream == number && read.flags & END_STREAM != 0 {
            return is_sent_away;
        }
    }
}

#[test]
fn in_the_grace_period_a_connection_ends_with_its_next_reply_and_new_ones_are_served() {
    let mut house = house_with("[timeouts]\ngrace = \"1h\"\n");
    let mut stream = weapon(&house);
    assert!(!ask(&mut stream, 1));
    house.begin_to_stop();
    while house.get("/readyz").status == 200 {}
    let ends = ask(&mut stream, 3) || is_sent_away(&mut stream);
    assert!(ends, "the connection goes on");
    assert_eq!(by_http2(&house, &["/healthz"])[0].0, 200);
    house.abandon();
}

#[test]
fn requests_that_are_taken_back_as_fast_as_they_come_end_the_connection() {
    let house = house();
    // A hundred at a stroke, so that they are read together.
    fire(&house, 1000, |shot| {
        let pairs = (100 * shot..100 * (shot + 1)).map(|number| {
            let stream = 2 * number + 1;
            let ask = frame(HEADERS, END_STREAM | END_HEADERS, stream, &get());
            [ask, frame(RESET, 0, stream, &8u32.to_be_bytes())].concat()
        });
        pairs.collect::<Vec<_>>().concat()
    });
}

#[test]
fn a_head_without_an_end_ends_the_connection() {
    let house = house();
    // 16 MB of it.
    fire(&house, 1024, |shot| match shot {
        0 => frame(HEADERS, END_STREAM, 1, &get()),
        _ => frame(
            CONTINUATION,
            0,
            1,
            &literal("x", &"y".repeat(100)).repeat(150),
        ),
    });
}

#[test]
fn frames_without_end_that_ask_for_no_response_end_with_goaway() {
    const ENHANCE_YOUR_CALM: u32 = 11;
    let house = house();
    for (what, one) in [
        ("PING", frame(PING, 0, 0, &[7; 8])),
        ("SETTINGS", frame(SETTINGS, 0, 0, &[])),
        ("a setting", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255])),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 7])),
        ("WINDOW_UPDATE", frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("an unknown frame", frame(0xbe, 0, 0, &[])),
    ] {
        let mut stream = weapon(&house);
        // All of it is taken: who is sent away reads why.
        stream.write_all(&one.repeat(30_000)).expect(what);
        let code = loop {
            let read = read_frame(&mut stream).expect(what);
            if read.kind == GOAWAY {
                break u32::from_be_bytes(read.payload[4..8].try_into().unwrap());
            }
        };
        assert_eq!(code, ENHANCE_YOUR_CALM, "{what}");
    }
    assert_eq!(by_http2(&house, &["/healthz"])[0].0, 200);
}

#[test]
fn a_client_that_asks_for_much_and_opens_no_window_makes_room_for_others() {
    // Replies may hold an eighth of three quarters of it, 1.5 MiB.
    let keys = "[limits]\nsource_bytes = \"4MiB\"\nheld_bytes = \"4MiB\"\n";
    let keys = format!("memory_budget = \"16MiB\"\n{KEYS}{keys}");
    let house = House::furnished(&keys, |folder| drop(issue(folder)));
    let file = vec![7; 250_000];
    house.put("large.bin", &file);
    let mut stream = weapon(&house);
    stream
        .write_all(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]))
        .unwrap();
    let head = [&get()[..2], &[4, 10], b"/large.bin", &get()[3..]].concat();
    for number in 0..50 {
        let ask = frame(HEADERS, END_STREAM | END_HEADERS, 2 * number + 1, &head);
        stream.write_all(&ask).unwrap();
    }
    // Of what it asked for, some is there and waits for its window.
    while read_frame(&mut stream).unwrap().kind != HEADERS {}
    std::thread::sleep(Duration::from_secs(4));
    for reply in by_http2(&house, &["/large.bin"; 4]) {
        assert_eq!((reply.0, reply.2.len()), (200, file.len()));
    }
    let answered = Instant::now();
    while read_frame(&mut stream).is_ok() {}
    // Otherwise it would end after `timeouts.request` and `timeouts.write`.
    let took = answered.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Returns an HPACK header field that is not added to the dynamic table. Name and value must be shorter than 127 bytes.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    [
        &[0, length(name)],
        name.as_bytes(),
        &[length(value)],
        value.as_bytes(),
    ]
    .concat()
}

#[test]
fn a_head_that_unfolds_beyond_its_limit_is_refused_and_costs_nothing() {
    let house = house();
    let mut stream = weapon(&house);
    // One header of 3,900 bytes goes into the table, and is then named sixteen thousand times, a byte each: 64 MB.
    let value = "y".repeat(3900);
    let mut head = get();
    head.extend([&[0x40, 1, b'x', 0x7f, 0xbd, 0x1d][..], value.as_bytes()].concat());
    let first = frame(HEADERS, END_STREAM, 1, &head);
    let bomb = frame(CONTINUATION, END_HEADERS, 1, &vec![0xbe; 16_000]);
    let sent = stream.write_all(&[first, bomb].concat());
    // 431 without a body, or the end of the connection; the page at `/` would mean that the head was taken.
    if sent.is_ok() {
        while let Ok(read) = read_frame(&mut stream) {
            if [HEADERS, GOAWAY, RESET].contains(&read.kind) {
                let has_no_body = read.kind != HEADERS || read.flags & END_STREAM != 0;
                assert!(has_no_body, "the head was taken: {:x?}", read.payload);
                break;
            }
        }
    }
    assert_eq!(house.get("/healthz").status, 200);
}
