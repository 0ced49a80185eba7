//! `andon` and its laboratory in a folder of their own, what they said, and a server to try.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What a command said, and how it ended.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub fn ending(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

/// `andon lab` with these words, as one types them.
pub fn lab(folder: &Path, words: &str) -> Said {
    andon(folder, &format!("lab {words}"))
}

/// `andon` with these words.
pub fn andon(folder: &Path, words: &str) -> Said {
    let output = command(folder, words).output();
    output.expect("the binary runs").into()
}

/// The command `andon` with these words, not yet started. Its state goes into `folder/state`, temporary files into `folder/tmp`.
pub fn command(folder: &Path, words: &str) -> Command {
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
    command
        .args(words.split_whitespace())
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("TMPDIR", temporary)
        .current_dir(folder);
    command
}

/// Puts `server.py HOST PORT` there: one packet per reply, WORK rounds of hashing for each.
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
