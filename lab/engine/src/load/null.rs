//! A null responder: it answers every request with the same prepared reply, and so shows the most that the client
//! itself could achieve.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::Endpoint;
use crate::scenario::HttpVersion;

/// A running null responder. Dropping it stops it.
pub struct NullResponder {
    endpoint: Endpoint,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// Settings of a null responder: its replies, and the threads that send them.
#[derive(Clone, Copy, Debug)]
pub struct NullConfig {
    /// Size of each reply's body in bytes.
    pub body: usize,
    /// The HTTP version that the responder speaks.
    pub http: HttpVersion,
    /// Number of threads that answer.
    pub threads: u32,
}

impl NullConfig {
    /// HTTP/1.1 on one thread, with bodies of `body` bytes.
    #[must_use]
    pub fn plain(body: usize) -> Self {
        Self {
            body,
            http: HttpVersion::One,
            threads: 1,
        }
    }
}

impl NullResponder {
    /// Starts a plain responder on a free port of the loopback interface; see [`Self::listen`].
    ///
    /// # Errors
    /// The port cannot be bound or the thread cannot be started.
    pub fn start(body: usize) -> io::Result<Self> {
        Self::listen(&free_port(), NullConfig::plain(body))
    }

    /// Starts a responder on threads of its own. Connections are kept alive unless the client asks to close them. The
    /// responder then closes first, as servers do: otherwise each connection would occupy one of the client's ports for
    /// a while, and the ports would limit the rate.
    ///
    /// # Errors
    /// The address cannot be bound or the threads cannot be started.
    pub fn listen(endpoint: &Endpoint, manner: NullConfig) -> io::Result<Self> {
        let listener = Listener::bind(endpoint)?;
        let replies = Replies::of(manner.body);
        let (stop, stop_signal) = watch::channel(false);
        let mut responder = Self {
            endpoint: listener.endpoint(endpoint)?,
            stop,
            threads: Vec::new(),
        };
        for _ in 0..manner.threads.max(1) {
            let listener = listener.try_clone()?;
            let replies = replies.clone();
            let mut stop_signal = stop_signal.clone();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let thread = std::thread::Builder::new().name("null".to_owned());
            responder.threads.push(thread.spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = stop_signal.wait_for(|stop| *stop) => {}
                        _ = listener.accept(manner.http, &replies) => {}
                    }
                });
            })?);
        }
        Ok(responder)
    }

    /// The address at which the responder listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Drop for NullResponder {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Returns a loopback address with port 0, which stands for any free port.
pub(crate) fn free_port() -> Endpoint {
    Endpoint::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

enum Listener {
    Tcp(std::net::TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            Endpoint::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener))
            }
        }
    }

    /// Returns the requested address, with the port that was assigned.
    fn endpoint(&self, requested: &Endpoint) -> io::Result<Endpoint> {
        match self {
            Self::Tcp(listener) => Ok(Endpoint::Tcp(listener.local_addr()?)),
            Self::Unix(_) => Ok(requested.clone()),
        }
    }

    fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(listener) => listener.try_clone().map(Self::Tcp),
            Self::Unix(listener) => listener.try_clone().map(Self::Unix),
        }
    }

    /// Accepts and serves connections until the future is dropped.
    async fn accept(self, http: HttpVersion, replies: &Replies) -> io::Result<Infallible> {
        match self {
            Self::Tcp(listener) => {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(NO_DESCRIPTORS).await;
                        continue;
                    };
                    let _ = stream.set_nodelay(true);
                    replies.serve(stream, http);
                }
            }
            Self::Unix(listener) => {
                let listener = tokio::net::UnixListener::from_std(listener)?;
                loop {
                    match listener.accept().await {
                        Ok((stream, _)) => replies.serve(stream, http),
                        Err(_) => tokio::time::sleep(NO_DESCRIPTORS).await,
                    }
                }
            }
        }
    }
}

/// The prepared replies.
#[derive(Clone)]
struct Replies {
    keep_alive: Bytes,
    close: Bytes,
    body: Bytes,
}

impl Replies {
    fn of(body: usize) -> Self {
        let body = vec![b'x'; body];
        let with = |connection: &str| {
            // ab speaks HTTP/1.0 and keeps a connection alive only if the reply has `Connection: keep-alive`.
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: {connection}\r\nContent-Type: {TYPE}\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            );
            [head.as_bytes(), &body].concat().into()
        };
        Self {
            keep_alive: with("keep-alive"),
            close: with("close"),
            body: body.clone().into(),
        }
    }

    fn serve<S>(&self, stream: S, http: HttpVersion)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let replies = self.clone();
        match http {
            HttpVersion::One => tokio::spawn(async move { replies.answer(stream).await }),
            HttpVersion::Two => tokio::spawn(async move { replies.answer_streams(stream).await }),
        };
    }

    /// Answers an HTTP/1 connection: one reply for every empty line, since requests without bodies end in one.
    async fn answer(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let mut read = Vec::with_capacity(4096);
        while stream
            .read_buf(&mut read)
            .await
            .is_ok_and(|bytes| bytes > 0)
        {
            while let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
                let close = wants_close(&read[..end]);
                read.drain(..end + 4);
                let reply = if close { &self.close } else { &self.keep_alive };
                if stream.write_all(reply).await.is_err() || close {
                    return;
                }
            }
        }
    }

    /// Answers every stream of an HTTP/2 connection.
    async fn answer_streams(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let answer = service_fn(move |_| {
            let mut reply = Response::new(Full::new(self.body.clone()));
            let media_type = HeaderValue::from_static(TYPE);
            reply.headers_mut().insert(CONTENT_TYPE, media_type);
            std::future::ready(Ok::<_, Infallible>(reply))
        });
        // An error here means that the client has closed the connection, as it does at the end.
        let _ = http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    }
}

/// Returns whether a request head asks to close the connection. HTTP/1.0 does so unless it says otherwise.
fn wants_close(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let old = lines.next().is_some_and(|line| line.ends_with(b"HTTP/1.0"));
    let value = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(CONNECTION.len())?;
        name.eq_ignore_ascii_case(CONNECTION)
            .then(|| value.trim_ascii())
    });
    match value {
        Some(value) if old => !value.eq_ignore_ascii_case(b"keep-alive"),
        Some(value) => value.eq_ignore_ascii_case(b"close"),
        None => old,
    }
}

const CONNECTION: &[u8] = b"connection:";
const TYPE: &str = "application/octet-stream";

/// Pause after a failed `accept`. It fails when no file descriptors are left, which soon passes.
const NO_DESCRIPTORS: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_closed_when_the_client_says_so_or_is_too_old_to_say() {
        for (head, close) in [
            ("GET / HTTP/1.1\r\nHost: a", false),
            ("GET / HTTP/1.1\r\nhost: a\r\nconnection: close", true),
            ("GET / HTTP/1.1\r\nConnection:Close\r\nHost: a", true),
            ("GET / HTTP/1.1\r\nConnection: keep-alive", false),
            ("GET / HTTP/1.0\r\nHost: a", true),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive", false),
        ] {
            assert_eq!(wants_close(head.as_bytes()), close, "{head}");
        }
    }
}
