//! What every origin of the tests is: a TCP server on loopback, with a thread for each connection.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The server. It stops when this is dropped; conversations end by themselves.
pub struct Listener {
    port: u16,
    stopped: Arc<AtomicBool>,
}

impl Listener {
    /// Lets `converse` have every connection.
    pub fn start(converse: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let stopped = Arc::new(AtomicBool::new(false));
        let (ends, converse) = (stopped.clone(), Arc::new(converse));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(stream), converse) = (stream, converse.clone()) else {
                    continue;
                };
                thread::spawn(move || converse(stream));
            }
        });
        Self { port, stopped }
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // It looks up once more.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}
