//! A house for tests: a real server on loopback over a folder of its own, and a client that writes raw
//! HTTP, so that what is tested is what is on the wire.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program uses its own part"
)]

mod client;
pub mod hostile;
pub mod images;
pub mod listener;
pub mod origin;
pub mod s3;
mod trick;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use andon_pixels::Codec;
use andon_server::{Address, Config, Inherited, Listen, Pulse, Reloader, Server};
use tempfile::TempDir;
use tokio::sync::oneshot;

pub use client::{Client, Reply};
pub use trick::{Gate, Trick};

/// A running server and its folder. Dropping it stops the server gracefully.
pub struct House {
    pub folder: TempDir,
    pub addresses: Vec<Address>,
    pub reloader: Reloader,
    pub pulse: Pulse,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

impl House {
    /// A server with the default configuration over a folder with one image, `a.jpg`.
    pub fn new() -> Self {
        Self::with("")
    }

    /// A server with these configuration keys beside its origin, which serves every file. Relative paths
    /// are below the folder; the images are in its `root`.
    pub fn with(keys: &str) -> Self {
        Self::furnished(keys, |_| {})
    }

    /// A server with these configuration keys, with something put into its folder first.
    pub fn furnished(keys: &str, furnish: impl FnOnce(&Path)) -> Self {
        // As without a configuration file: tests are clients of this machine.
        Self::built(keys, furnish, true)
    }

    /// Starts a server as with a configuration file: clients with loopback addresses do not count as local, because a
    /// proxy may connect from such an address, too.
    pub fn configured(keys: &str) -> Self {
        Self::built(keys, |_| {}, false)
    }

    fn built(keys: &str, furnish: impl FnOnce(&Path), loopback_is_local: bool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("root")).expect("a folder in it");
        std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("root/a.jpg")).expect("a sample");
        furnish(folder.path());
        let text = format!(
            "{keys}\n[[origin]]\nfs.root = \"root\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n"
        );
        let mut config = Config::parse(&text, folder.path()).expect("a configuration");
        if config.listen == Config::default().listen {
            config.listen = vec![Listen::Tcp("127.0.0.1:0".to_owned())];
        }

        config.loopback_is_local = loopback_is_local;
        let (stop, stopped) = oneshot::channel();
        let (bound, is_bound) = std::sync::mpsc::channel();
        let running = std::thread::spawn(move || {
            let runtime = andon_server::runtime(&config).expect("a runtime");
            runtime.block_on(async {
                let server = Server::bind(&config, codecs(), Inherited::default())
                    .await
                    .expect("a server");
                bound
                    .send((server.addresses(), server.reloader(), server.pulse()))
                    .expect("a waiting test");
                server
                    .run(async {
                        let _ = stopped.await;
                    })
                    .await;
            });
        });
        let (addresses, reloader, pulse) = is_bound.recv().expect("a bound server");
        Self {
            addresses,
            reloader,
            pulse,
            folder,
            stop: Some(stop),
            running: Some(running),
        }
    }

    pub fn address(&self) -> SocketAddr {
        match &self.addresses[0] {
            Address::Tcp(address) => *address,
            other => panic!("the first address is {other}"),
        }
    }

    /// A file below the images' root.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    /// Writes a file below the images' root.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::write(&path, content).expect("the file");
        path
    }

    /// Copies a sample to a path below the images' root.
    pub fn put_sample(&self, name: &str, from: &str) -> PathBuf {
        self.put(name, std::fs::read(sample(from)).expect("a sample"))
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// One GET on a connection of its own.
    pub fn get(&self, target: &str) -> Reply {
        self.client().get(target)
    }

    /// One request with headers, on a connection of its own.
    pub fn request(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Reply {
        self.client().request(method, target, headers)
    }

    /// Asks the server to stop, and does not wait for it.
    pub fn begin_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the server has stopped.
    pub fn wait_until_stopped(&mut self) {
        if let Some(running) = self.running.take() {
            running.join().expect("a server that ends in peace");
        }
    }

    /// Asks the server to stop without waiting for it, for grace periods that are longer than a test.
    pub fn abandon(mut self) {
        self.running = None;
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.begin_to_stop();
        if !std::thread::panicking() {
            self.wait_until_stopped();
        }
    }
}

/// An image of the repository's `samples`.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(name)
}

/// The real codecs, and the trick codec.
fn codecs() -> &'static [&'static dyn Codec] {
    let mut codecs: Vec<&'static dyn Codec> = vec![&Trick];
    codecs.extend(andon_codecs::ALL);
    codecs.leak()
}

/// One figure of `/metrics`, by its name with its labels.
pub fn figure(house: &House, name: &str) -> f64 {
    let page = house.get("/metrics").text();
    let mut values = page.lines().filter_map(|line| line.strip_prefix(name));
    let value = values.find_map(|value| value.strip_prefix(' '));
    let value = value.unwrap_or_else(|| panic!("no {name} in {page}"));
    value.parse().expect("a number")
}

/// Waits until so many requests follow others that make the same result (`result`) or fetch the same source (`fetch`).
pub fn wait_for_followers(house: &House, work: &str, followers: usize) {
    let name = format!("andon_coalesced_requests{{work=\"{work}\"}}");
    wait_for_figure(house, &name, followers as f64);
}

/// Waits until a figure of `/metrics` is at least `least`. The end of a connection, for example, may be counted only
/// after the client has seen it.
pub fn wait_for_figure(house: &House, name: &str, least: f64) {
    let began = std::time::Instant::now();
    loop {
        let value = figure(house, name);
        if value >= least {
            return;
        }
        let waited = began.elapsed();
        assert!(waited.as_secs() < 60, "{name} is still {value}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The target of an image that waits or panics.
pub fn trick_target(name: &str) -> String {
    format!("/small_light(dw=4,of=png)/{name}")
}

impl House {
    /// Writes an image to `name` below the images' root. Its decoder waits at the returned gate.
    pub fn put_gate(&self, name: &str) -> Gate {
        self.put_gate_that("wait", name)
    }

    /// Writes a trick image to `name` below the images' root. `word` says what it does at the returned gate.
    pub fn put_gate_that(&self, word: &str, name: &str) -> Gate {
        let (gate, content) = Gate::that(word, &self.folder.path().join(name));
        self.put(name, content);
        gate
    }
}
