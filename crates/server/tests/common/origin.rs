//! An origin that answers as it was last told, and counts how often it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::listener::Listener;

/// The origin. It stops when this is dropped.
pub struct Origin {
    listener: Listener,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    answer: Mutex<Answer>,
    asked: AtomicUsize,
    /// The head of each request.
    heads: Mutex<Vec<String>>,
    /// Requests wait while this is true.
    held: Mutex<bool>,
    released: Condvar,
}

#[derive(Clone, Default)]
struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Origin {
    /// Starts an origin that answers 200 with `body` and these header lines, each of which ends in `\r\n`.
    pub fn start(body: Vec<u8>, headers: &str) -> Self {
        let shared = Arc::new(Shared::default());
        let answering = shared.clone();
        let listener = Listener::start(move |stream| answering.converse(stream));
        let origin = Self { listener, shared };
        origin.answers(200, headers, body);
        origin
    }

    /// From now on, the origin answers with this status, these headers and this body.
    pub fn answers(&self, status: u16, headers: &str, body: Vec<u8>) {
        *self.shared.answer.lock().expect("a lock") = Answer {
            status,
            headers: headers.to_owned(),
            body,
        };
    }

    /// The number of requests so far.
    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }

    /// The value of a header in each request so far.
    pub fn told(&self, name: &str) -> Vec<Option<String>> {
        let heads = self.shared.heads.lock().expect("a lock");
        let value = |head: &String| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut values = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
            values.next().map(|(_, value)| value.to_owned())
        };
        heads.iter().map(value).collect()
    }

    /// What each request so far was for: path and query as they stand in the request line.
    pub fn targets(&self) -> Vec<String> {
        let heads = self.shared.heads.lock().expect("a lock");
        let target = |head: &String| head.split(' ').nth(1).map(str::to_owned);
        heads.iter().filter_map(target).collect()
    }

    /// Lets requests wait, or go on.
    pub fn hold(&self, held: bool) {
        *self.shared.held.lock().expect("a lock") = held;
        self.shared.released.notify_all();
    }

    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// The tables of a configuration with this origin at `/far`.
    pub fn keys(&self) -> String {
        format!(
            "[[origin]]\nprefix = \"/far\"\nhttp.base = \"http://127.0.0.1:{}\"\nallow = [\"127.0.0.1\"]\n",
            self.listener.port()
        )
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.hold(false);
    }
}

impl Shared {
    /// Answers the only request of a connection.
    fn converse(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let (mut tag, mut head) = (None, String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            head.push_str(&line);
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("if-none-match")
            {
                tag = Some(format!("ETag: {value}\r\n"));
            }
        }
        self.heads.lock().expect("a lock").push(head);
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut held = self.held.lock().expect("a lock");
        while *held {
            held = self.released.wait(held).expect("a lock");
        }
        drop(held);
        let Answer {
            mut status,
            headers,
            mut body,
        } = self.answer.lock().expect("a lock").clone();
        if status == 200 && tag.is_some_and(|tag| headers.contains(&tag)) {
            status = 304;
            body.clear();
        }
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Told\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        // Whoever asked may have left.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&body);
    }
}
