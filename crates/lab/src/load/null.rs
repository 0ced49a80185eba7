//! A responder that does nothing: every request gets the same reply, made ready beforehand. It shows what the
//! client itself could do at best.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// A running responder. Ends when dropped.
pub struct NullResponder {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl NullResponder {
    /// Starts one on a free port of the loopback interface; see [`Self::listen`].
    ///
    /// # Errors
    /// The port or the thread could not be had.
    pub fn start(body: usize) -> io::Result<Self> {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), body)
    }

    /// Starts one whose replies have bodies of so many bytes, on a thread of its own.
    ///
    /// # Errors
    /// The address or the thread could not be had.
    pub fn listen(address: SocketAddr, body: usize) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let reply = reply_of(body);
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::Builder::new()
            .name("null".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = stopped => {}
                        () = accept(listener, &reply) => {}
                    }
                });
            })?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullResponder {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn reply_of(body: usize) -> bytes::Bytes {
    let mut reply = format!(
        // ab speaks HTTP/1.0 and keeps a connection only if it is told so.
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {body}\r\n\r\n"
    )
    .into_bytes();
    reply.resize(reply.len() + body, b'x');
    reply.into()
}

async fn accept(listener: std::net::TcpListener, reply: &bytes::Bytes) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, reply.clone()));
        }
    }
}

/// Answers every empty line: requests without bodies end in one.
async fn answer(mut stream: TcpStream, reply: bytes::Bytes) {
    let _ = stream.set_nodelay(true);
    let mut read = Vec::with_capacity(4096);
    while stream
        .read_buf(&mut read)
        .await
        .is_ok_and(|bytes| bytes > 0)
    {
        while let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            read.drain(..end + 4);
            if stream.write_all(&reply).await.is_err() {
                return;
            }
        }
    }
}
