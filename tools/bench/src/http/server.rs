//! Runs `andon serve` as a child process on a port of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use crate::proc;

/// A running server. It is stopped when this is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    /// Configuration file of the server, removed when this is dropped.
    _config: Scratch,
}

/// What the server caches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultCaching {
    /// The default caches.
    Default,
    /// The default caches, but no decoded frames: every result that is not cached is decoded from its source.
    WithoutFrames,
    /// The default caches, and no log.
    WithoutLog,
    /// No results: every request is rendered again. Decoded frames may be cached.
    Nothing,
    /// No results and no decoded frames: every request decodes its source again.
    NotEvenFrames,
}

impl Server {
    /// Starts the server that was built with this program, with a folder of photos.
    pub(crate) fn start(photos: &Path, keeping: ResultCaching) -> Result<Self> {
        Self::configured(photos, keeping, "")
    }

    /// Starts the server that was built with this program, with extra `lines` at the top of its configuration.
    pub(crate) fn configured(photos: &Path, keeping: ResultCaching, lines: &str) -> Result<Self> {
        Self::spawn(Command::new(Self::binary()?), photos, keeping, lines)
    }

    /// Returns the path of the `andon` binary in the folder of this program.
    pub(crate) fn binary() -> Result<PathBuf> {
        let andon = env::current_exe()?.with_file_name("andon");
        ensure!(andon.is_file(), "{} is not built", andon.display());
        Ok(andon)
    }

    /// Starts the server with another command, to which `serve` and its options are appended.
    pub(crate) fn spawn(
        mut command: Command,
        photos: &Path,
        keeping: ResultCaching,
        lines: &str,
    ) -> Result<Self> {
        let config = Scratch::new(&config(photos, keeping, lines)?)?;
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = command
            .args(["serve", "--config"])
            .arg(&config.0)
            .args(["--listen", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("andon serve")?;
        let mut server = Self {
            child,
            address,
            _config: config,
        };
        proc::wait_until_it_listens(&mut server.child, "andon serve", address)?;
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the server's resident memory in bytes.
    pub(crate) fn rss(&self) -> Result<u64> {
        proc::status_bytes(&self.pid().to_string(), "VmRSS")
    }

    /// Sends SIGTERM to the server and waits until it has ended.
    pub(crate) fn stop(self) -> Result<()> {
        terminate(self.pid())?;
        self.wait()
    }

    /// Waits until the server has ended.
    pub(crate) fn wait(mut self) -> Result<()> {
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error is harmless: the process has ended already, or ends now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the configuration of a server whose origin is a folder.
fn config(photos: &Path, keeping: ResultCaching, lines: &str) -> Result<String> {
    let root = photos
        .canonicalize()
        .with_context(|| photos.display().to_string())?;
    let cache = match keeping {
        ResultCaching::Default => "",
        ResultCaching::WithoutFrames => "[cache]\nframes = \"0\"\n",
        ResultCaching::WithoutLog => "[log]\nformat = \"off\"\n",
        ResultCaching::Nothing => "[cache]\nmemory = \"0\"\n",
        ResultCaching::NotEvenFrames => "[cache]\nmemory = \"0\"\nframes = \"0\"\n",
    };
    Ok(format!(
        "{lines}\n[[origin]]\nprefix = \"/\"\nfs.root = {root:?}\n{cache}"
    ))
}

/// A temporary file that is removed when this is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str) -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("andon-bench-{}-{number}.toml", std::process::id());
        let path = env::temp_dir().join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // An error is harmless: the file has a few bytes and is in the system's temporary folder.
        let _ = fs::remove_file(&self.0);
    }
}

/// Sends SIGTERM to a process.
pub(crate) fn terminate(pid: u32) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(pid as i32).context("a process id is not 0")?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    Ok(())
}
