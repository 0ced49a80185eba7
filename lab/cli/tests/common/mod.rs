//! Helpers that run `andon-lab` in a temporary folder, and servers to test it on.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test program uses its own part"
)]

#[path = "../../../../crates/cli/tests/common/mod.rs"]
mod server;

use std::fs;
use std::path::Path;
use std::process::Command;

pub use server::said::Said;
pub use server::{Served, free_address, manual, program, said};

/// The laboratory's program.
pub const LAB: &str = env!("CARGO_BIN_EXE_andon-lab");

/// Runs `andon-lab` with these words, separated by spaces as on a command line.
pub fn lab(folder: &Path, words: &str) -> Said {
    said::said(LAB, folder, words)
}

/// Returns the command `andon-lab` with these words, not yet started.
pub fn command(folder: &Path, words: &str) -> Command {
    said::command(LAB, folder, words)
}

/// Writes a `server.py` that is started with HOST and PORT, sends one packet per reply, and does WORK rounds of hashing
/// for each.
pub fn write_server(folder: &Path) {
    fs::write(folder.join("server.py"), SERVER).expect("writes");
}

const SERVER: &str = r#"
import hashlib, http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    def do_GET(self):
        digest = b""
        for _ in range(int(os.environ.get("WORK", "1"))):
            digest = hashlib.sha256(digest + b"x" * 1024).digest()
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"#;
