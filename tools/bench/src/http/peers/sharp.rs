//! Runs sharp behind a bare Node server, as a child process.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::proc;

/// A running server. It is stopped when this is dropped. Node finds sharp by `NODE_PATH`.
pub(super) struct Sharp {
    child: Child,
    address: SocketAddr,
}

impl Sharp {
    pub(super) fn start(folder: &Path) -> Result<Self> {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new("node")
            .arg(SERVER)
            .arg(folder)
            .arg(address.port().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("node")?;
        let mut server = Self { child, address };
        proc::wait_until_it_listens(&mut server.child, "sharp's server", address)?;
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Sharp {
    fn drop(&mut self) {
        // An error means that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the versions of sharp and of its libvips.
pub(super) fn versions() -> Result<String> {
    let output = Command::new("node")
        .args(["-e", "const { sharp, vips } = require('sharp').versions; console.log(`sharp ${sharp}, libvips ${vips}`)"])
        .output()
        .context("node")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "sharp is not installed: {errors}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/peers/sharp.cjs");
