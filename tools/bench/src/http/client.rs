//! An HTTP client that takes hardly any CPU time: blocking sockets, and one thread for each kept-alive connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::server::Server;
use crate::proc::{self, Threads};

/// Results of sending requests to a server on several connections.
pub(crate) struct Load {
    pub(crate) seconds: f64,
    /// The server's threads at the moment when the most of them were runnable.
    pub(crate) busiest: Threads,
}

/// Sends `count` requests over `connections` connections in closed loops, and meanwhile samples the server's threads.
/// The requests are numbered from `first` on. Request `n` is for URL `n`, modulo the number of URLs. Every response
/// must be a complete 200.
pub(crate) fn load(
    server: &Server,
    urls: &[String],
    connections: usize,
    first: usize,
    count: usize,
) -> Result<Load> {
    let next = AtomicUsize::new(first);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(server.pid(), &stop));
        let start = Instant::now();
        let outcome = run_clients(connections, || {
            closed_loop(server, urls, &next, first + count)
        });
        let seconds = start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        let busiest = watcher.join().unwrap_or_default();
        outcome.map(|()| Load { seconds, busiest })
    })
}

/// Runs `client` on `count` threads at once. When all have ended, returns an error if any of them failed.
pub(crate) fn run_clients(count: usize, client: impl Fn() -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..count).map(|_| scope.spawn(&client)).collect();
        clients
            .into_iter()
            .map(join_client)
            .fold(Ok(()), Result::and)
    })
}

/// Joins a client's thread and returns its result. A panic becomes an error.
pub(crate) fn join_client(thread: thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    thread
        .join()
        .unwrap_or_else(|_| bail!("a client thread panicked"))
}

fn closed_loop(server: &Server, urls: &[String], next: &AtomicUsize, end: usize) -> Result<()> {
    let mut connection = Connection::open(server)?;
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= end {
            return Ok(());
        }
        connection.get(&urls[index % urls.len()])?;
    }
}

/// Samples the server's threads every 5 ms until `stop` is set. Returns the sample with the most runnable threads.
fn watch(pid: u32, stop: &AtomicBool) -> Threads {
    let mut busiest = Threads::default();
    while !stop.load(Ordering::Relaxed) {
        if let Ok(threads) = proc::threads(pid)
            && threads.runnable.len() > busiest.runnable.len()
        {
            busiest = threads;
        }
        thread::sleep(Duration::from_millis(5));
    }
    busiest
}

/// A complete HTTP response.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Value of the `Retry-After` header, in seconds.
    pub(crate) retry_after: Option<u64>,
    /// Headers as `name: value`, in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// A kept-alive HTTP connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(server: &Server) -> Result<Self> {
        Self::to(server.address())
    }

    pub(crate) fn to(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a GET request and returns the body. Any status but 200 is an error.
    pub(crate) fn get(&mut self, url: &str) -> Result<Vec<u8>> {
        let reply = self.ask(url)?;
        ensure!(reply.status == 200, "{url}: status {}", reply.status);
        Ok(reply.body)
    }

    /// Sends a GET request and returns the complete response, whatever its status.
    pub(crate) fn ask(&mut self, url: &str) -> Result<Reply> {
        let request = format!("GET {url} HTTP/1.1\r\nHost: bench\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.with_context(|| format!("{url}: {:?}", line.trim()))?;
        let mut length = None;
        let mut retry_after = None;
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>()?);
            }
            if let Some(value) = header.strip_prefix("retry-after:") {
                retry_after = Some(value.trim().parse()?);
            }
            headers.push(header);
        }
        let mut body = vec![0; length.with_context(|| format!("{url}: no Content-Length"))?];
        self.stream.read_exact(&mut body)?;
        Ok(Reply {
            status,
            retry_after,
            headers,
            body,
        })
    }
}

impl Reply {
    /// Whether the `Cache-Status` header reports a fresh hit.
    pub(crate) fn is_hit(&self) -> bool {
        self.header("cache-status")
            .is_some_and(|value| value.contains("; hit") && !value.contains("stale"))
    }

    /// Returns the milliseconds of decoding, resizing and encoding that the `Server-Timing` header reports. They are 0
    /// for a cached result.
    pub(crate) fn work_ms(&self) -> f64 {
        self.header("server-timing")
            .map_or(0.0, |timing| stages(timing, &WORK))
    }

    /// Returns the milliseconds that the request waited for a worker thread, as the `Server-Timing` header reports them.
    pub(crate) fn queued_ms(&self) -> f64 {
        self.header("server-timing")
            .map_or(0.0, |timing| stages(timing, &["queue"]))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find_map(|header| header.strip_prefix(name)?.strip_prefix(':'))
    }
}

/// The stages in `Server-Timing` during which a worker thread works.
const WORK: [&str; 3] = ["decode", "resize", "encode"];

/// Sums the milliseconds of the named stages in a `Server-Timing` header.
fn stages(timing: &str, names: &[&str]) -> f64 {
    timing
        .split(',')
        .filter_map(|stage| stage.trim().split_once(";dur="))
        .filter(|(name, _)| names.contains(name))
        .filter_map(|(_, millis)| millis.parse::<f64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_fetching_are_no_work() {
        let timing =
            " fetch;dur=1.5, queue;dur=90.0, decode;dur=6.1, resize;dur=2.0, encode;dur=0.4";
        assert!((stages(timing, &WORK) - 8.5).abs() < 1e-9);
        assert!(stages(" cache;dur=0.0", &WORK).abs() < 1e-9);
        assert!((stages(timing, &["queue"]) - 90.0).abs() < 1e-9);
    }
}
