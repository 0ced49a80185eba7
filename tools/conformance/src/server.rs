//! A real server (`andon serve` in a process of its own) that serves the folder of the conformance set.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// Maximum time for a response in an unoptimised build, while other work runs. The server itself has shorter timeouts.
const DEADLINE: Duration = Duration::from_secs(90);

/// The server's configuration. Lossless encoding in a file's own format takes more work than small files may request by
/// default, and an unoptimised server predicts long waits.
const CONFIGURATION: &str = "\
target_wait = \"60s\"
max_wait = \"60s\"

[imgproxy]
prefix = \"/imgproxy\"

[timeouts]
request = \"60s\"

[limits]
cpu = \"40s\"

[log]
format = \"off\"
level = \"error\"
";

/// A running server, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    socket: PathBuf,
    _folder: TempDir,
}

/// A response: its status and body.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Starts `program`, which is `andon`, and waits until it responds.
    pub(crate) fn start(program: &Path, set: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (socket, configuration) = (folder.path().join("socket"), folder.path().join("toml"));
        let (set, listen) = (set.canonicalize()?, socket.display());
        let text = format!(
            "listen = [\"unix:{listen}\"]\n{CONFIGURATION}\n[[origin]]\nprefix = \"/\"\nfs.root = {set:?}\n"
        );
        std::fs::write(&configuration, text)?;
        let child = Command::new(program)
            .arg("serve")
            .arg("--config")
            .arg(&configuration)
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let mut server = Self {
            child,
            socket,
            _folder: folder,
        };
        let began = Instant::now();
        while !server.lives() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server does not start: {status}");
            }
            ensure!(began.elapsed() < DEADLINE, "the server does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Returns whether the server responds.
    pub(crate) fn lives(&self) -> bool {
        self.get("/healthz").is_ok_and(|reply| reply.status == 200)
    }

    /// Returns how many of the server's worker processes ended while they were working.
    pub(crate) fn deaths(&self) -> Result<f64> {
        let reply = self.get("/metrics")?;
        let text = String::from_utf8(reply.body)?;
        let counts = (text.lines())
            .filter(|line| line.starts_with("andon_process_deaths_total"))
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        Ok(counts.sum())
    }

    /// Sends one GET request on a connection of its own.
    pub(crate) fn get(&self, target: &str) -> Result<Reply> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: conformance\r\nConnection: close\r\n\r\n"
        )?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = (bytes.windows(4).position(|window| window == b"\r\n\r\n")).context("no head")?;
        let body = bytes.split_off(end + 4);
        let head = String::from_utf8(bytes)?.to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let length = (head.lines()).find_map(|line| line.strip_prefix("content-length: "));
        ensure!(
            length.is_some_and(|length| length.parse() == Ok(body.len())),
            "a body of {} bytes, not {length:?}",
            body.len()
        );
        Ok(Reply {
            status: status.context("no status")?,
            body,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
