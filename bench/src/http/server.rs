//! `andon serve` as a child process on a port of its own.

use std::env;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::proc;

/// A running server; stopped when dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// The server that was built beside this program, on a folder of photographs.
    pub(crate) fn start(photos: &Path) -> Result<Self> {
        let andon = env::current_exe()?.with_file_name("andon");
        ensure!(andon.is_file(), "{} is not built", andon.display());
        Self::spawn(Command::new(andon), photos)
    }

    /// The same under another command, which is given `serve` and its options.
    pub(crate) fn spawn(mut command: Command, photos: &Path) -> Result<Self> {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = command
            .arg("serve")
            .arg(photos)
            .args(["--listen", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("andon serve")?;
        let mut server = Self { child, address };
        server.wait_until_it_listens()?;
        Ok(server)
    }

    fn wait_until_it_listens(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("andon serve ended at once: {status}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("andon serve does not listen on {}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Resident bytes now.
    pub(crate) fn rss(&self) -> Result<u64> {
        proc::status_bytes(&self.pid().to_string(), "VmRSS")
    }

    /// Asks it to stop (SIGTERM) and waits until it has.
    pub(crate) fn stop(self) -> Result<()> {
        terminate(self.pid())?;
        self.wait()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> Result<()> {
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Too late for errors to matter: it has ended already, or is ended now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// SIGTERM to one process.
pub(crate) fn terminate(pid: u32) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(pid as i32).context("a process id is not 0")?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    Ok(())
}
