//! A collector on loopback, with TLS if wanted, that hands over what it is sent.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::read::GzDecoder;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use crate::common::listener::Listener;

/// A collector. It answers with the statuses that it was given, and then with 200.
pub(crate) struct Collector {
    listener: Listener,
    received: Receiver<Message>,
}

/// One message: the path it came to, the lines of its head in small letters, and its body.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Longer than anything takes, so that a lost message fails a test instead of stopping it.
const PATIENCE: Duration = Duration::from_secs(60);

impl Collector {
    /// A collector without TLS that answers the first messages with these statuses.
    pub(crate) fn answering(statuses: &[&'static str]) -> Self {
        Self::start(None, statuses)
    }

    /// A collector with TLS, and its certificate as PEM.
    pub(crate) fn with_tls() -> (Self, String) {
        let issued = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]);
        let issued = issued.expect("a certificate");
        let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![issued.cert.der().clone()], key)
            .expect("a configuration");
        let pem = issued.cert.pem();
        (Self::start(Some(Arc::new(config)), &[]), pem)
    }

    fn start(tls: Option<Arc<ServerConfig>>, statuses: &[&'static str]) -> Self {
        let (sender, received) = channel();
        let statuses = Mutex::new(statuses.iter().copied().collect());
        let listener = Listener::start(move |stream| {
            let message = match &tls {
                None => converse(stream, &statuses),
                Some(config) => {
                    let connection = ServerConnection::new(config.clone()).expect("a connection");
                    converse(StreamOwned::new(connection, stream), &statuses)
                }
            };
            // Nobody listens any more at the end of a test.
            let _ = message.map(|message| sender.send(message));
        });
        Self { listener, received }
    }

    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.listener.port())
    }

    /// The next message.
    pub(crate) fn next(&self) -> Message {
        self.received.recv_timeout(PATIENCE).expect("a message")
    }

    /// The next message that came to this path.
    pub(crate) fn next_at(&self, path: &str) -> Message {
        loop {
            let message = self.next();
            if message.path == path {
                return message;
            }
        }
    }

    /// What was received and not looked at yet.
    pub(crate) fn rest(&self) -> Vec<Message> {
        self.received.try_iter().collect()
    }
}

/// Reads one request and answers it, and then ends the connection. `None` if there is no request.
fn converse(
    stream: impl Read + Write,
    statuses: &Mutex<VecDeque<&'static str>>,
) -> Option<Message> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let mut lengths = head
        .lines()
        .filter_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; lengths.next()?.parse().expect("a number")];
    reader.read_exact(&mut body).ok()?;
    let status = statuses
        .lock()
        .expect("a lock")
        .pop_front()
        .unwrap_or("200 OK");
    let reply = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    let stream = reader.get_mut();
    stream.write_all(reply.as_bytes()).ok()?;
    stream.flush().ok()?;
    let mut json = String::new();
    let mut gzip = GzDecoder::new(&*body);
    gzip.read_to_string(&mut json).expect("gzip");
    Some(Message {
        path: head.split(' ').nth(1)?.to_owned(),
        body: serde_json::from_str(&json).expect("JSON"),
        head,
    })
}

/// A port of this machine where nobody listens.
pub(crate) fn nobody() -> String {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("its address");
    drop(free);
    drop(TcpStream::connect(address));
    format!("http://{address}")
}
