//! Kept runs: compared, saved as baselines, held against each other.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// WORK rounds of hashing for each reply.
const SERVER: &str = r#"
import hashlib, http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    def do_GET(self):
        digest = b""
        for _ in range(int(os.environ["WORK"])):
            digest = hashlib.sha256(digest + b"x" * 1024).digest()
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"#;

fn lab(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .arg("lab")
        .args(args)
        .env("XDG_STATE_HOME", folder.join("state"))
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A run of one server with so much work per reply, in the folder of this name.
fn ran(folder: &Path, name: &str, work: u32, connections: u32) {
    fs::write(folder.join("server.py"), SERVER).expect("writes");
    let scenario = format!(
        r#"
name = "hashing"
[server]
cmd = ["python3", "{{dir}}/server.py", "{{host}}", "{{port}}"]
env = {{ WORK = "{work}" }}
ready = {{ timeout = "60s" }}
[load]
connections = {connections}
[design]
block = "200ms"
warmup = {{ min = "50ms", max = "50ms" }}
pairs = {{ min = 3, max = 3 }}
discard = {{ steal = "> 100%", foreign_cpu = "> 100%", probe = "> 10000%" }}
"#
    );
    fs::write(folder.join("s.toml"), scenario).expect("writes");
    let output = lab(folder, &["run", "s.toml", "-q", "-o", name]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_later_run_is_held_against_a_saved_baseline_and_a_great_loss_is_a_regression() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    ran(here, "monday", 100, 2);
    // Thirty times the work: no busy machine can hide that, and no restless one make it up.
    ran(here, "today", 3000, 2);

    let output = lab(here, &["diff", "monday", "today"]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    for part in ["not interleaved", "spin probe", "variant.env.WORK", "100"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        said.contains("SLOWER") || said.contains("UNDECIDED"),
        "{said}"
    );
    let json = lab(here, &["diff", "monday", "today", "--as", "json"]);
    assert!(text(&json.stdout).contains("\"differences\""));

    let alone = lab(here, &["gate", "today"]);
    assert_eq!(alone.status.code(), Some(1), "one variant, no baseline");
    assert!(text(&alone.stderr).contains("--baseline"));
    let saved = lab(here, &["baseline", "save", "monday"]);
    assert!(saved.status.success(), "{}", text(&saved.stderr));
    let twice = lab(here, &["baseline", "save", "monday"]);
    assert!(text(&twice.stderr).contains("--force"));
    let list = text(&lab(here, &["baseline", "list"]).stdout);
    assert!(
        list.starts_with("hashing  ") && list.contains("this machine"),
        "{list}"
    );
    let shown = text(&lab(here, &["baseline", "show", "hashing"]).stdout);
    assert!(shown.starts_with("hashing\n"), "{shown}");

    for args in [
        &["gate", "today"][..],
        &["gate", "today", "--baseline", "hashing"],
        &["gate", "today", "--baseline", "monday"],
    ] {
        let gate = lab(here, args);
        let judged = text(&gate.stdout);
        let expected = if said.contains("SLOWER") { 1 } else { 0 };
        assert_eq!(gate.status.code(), Some(expected), "{args:?}: {judged}");
        assert!(judged.contains("held against hashing, "), "{judged}");
    }
    let itself = lab(here, &["gate", "monday"]);
    assert!(text(&itself.stderr).contains("nothing was compared"));
    let unknown = lab(here, &["gate", "today", "--baseline", "friday"]);
    assert!(text(&unknown.stderr).contains("there are hashing ("));
}

#[test]
fn runs_that_asked_for_something_else_are_not_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    ran(here, "two", 100, 2);
    ran(here, "four", 100, 4);
    let output = lab(here, &["diff", "two", "four"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("load.connections: 2 and 4"), "{said}");
    let gate = lab(here, &["gate", "four", "--baseline", "two"]);
    assert_eq!(gate.status.code(), Some(3), "{}", text(&gate.stdout));
    let none = lab(here, &["diff", "two", "nowhere"]);
    assert_eq!(none.status.code(), Some(1));
}
