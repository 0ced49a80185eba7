//! Servers whose capacity is known, to try `andon-lab capacity` on:
//!
//! ```sh
//! cargo run --release -p andon-lab --example known_truth -- mm1 200 127.0.0.1:9001
//! andon-lab capacity http://127.0.0.1:9001/ --target 50ms        # 108: 200 - ln(100) / 0.05
//! ```
//!
//! - `mm1 RATE` serves one request at a time, with exponentially distributed service times. For p99 ≤ T, its capacity
//!   is RATE - ln(100) / T.
//! - `bucket RATE` lets RATE requests per second pass and delays the others. Its capacity is RATE, and less if T is
//!   short.
//! - `busy RATE` serves one request at a time, using one CPU for 1/RATE seconds.
//! - `errors SHARE` in front of any of them turns this share of the replies into a 500: `errors 0.005 mm1 200`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_lab::stats::Random;

#[derive(Clone, Copy)]
enum Kind {
    Mm1,
    Bucket,
    Busy,
}

struct Server {
    kind: Kind,
    rate: f64,
    errors: f64,
    /// The time at which the simulated server finishes its current request (or, for a bucket, gets its next token), and
    /// the source of random numbers.
    free: Mutex<(Instant, Random)>,
}

impl Server {
    /// Serves one request. Returns whether the reply is a good one.
    fn work(&self) -> bool {
        let mut state = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (free, random) = &mut *state;
        let good = random.unit() >= self.errors;
        let time = match self.kind {
            Kind::Mm1 => random.exponential() / self.rate,
            Kind::Bucket | Kind::Busy => 1.0 / self.rate,
        };
        let time = Duration::from_secs_f64(time);
        if let Kind::Busy = self.kind {
            // The lock is still held, so other requests queue for it.
            let start = Instant::now();
            while start.elapsed() < time {
                std::hint::spin_loop();
            }
            return good;
        }
        let begins = (*free).max(Instant::now());
        *free = begins + time;
        let until = if let Kind::Mm1 = self.kind {
            *free
        } else {
            begins
        };
        drop(state);
        thread::sleep(until.saturating_duration_since(Instant::now()));
        good
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut stream = stream;
        stream.set_nodelay(true)?;
        while let Some(line) = lines.next() {
            let mut line = line?;
            while !line.is_empty() {
                line = lines.next().transpose()?.unwrap_or_default();
            }
            let status = if self.work() { "200 OK" } else { "500 Broken" };
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok")?;
        }
        Ok(())
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let errors = match words.first().is_some_and(|word| word == "errors") {
        true => words
            .drain(..2)
            .nth(1)
            .and_then(|share| share.parse().ok())
            .expect("a share"),
        false => 0.0,
    };
    let [kind, rate, address] = &words[..] else {
        panic!("write [errors SHARE] mm1|bucket|busy RATE HOST:PORT");
    };
    let server = Arc::new(Server {
        kind: match kind.as_str() {
            "mm1" => Kind::Mm1,
            "bucket" => Kind::Bucket,
            "busy" => Kind::Busy,
            other => panic!("`{other}` is not mm1, bucket or busy"),
        },
        rate: rate.parse().expect("a rate"),
        errors,
        free: Mutex::new((Instant::now(), Random::new(1))),
    });
    let listener = TcpListener::bind(address.as_str()).expect("an address");
    for stream in listener.incoming().flatten() {
        let server = server.clone();
        thread::spawn(move || server.serve(stream));
    }
}
