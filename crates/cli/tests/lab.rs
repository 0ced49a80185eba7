//! The laboratory as its users meet it: real servers, exit codes, files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// One packet per reply; WORK rounds of hashing for each.
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

fn lab(folder: &Path, args: &[&str]) -> Output {
    fs::write(folder.join("server.py"), SERVER).expect("writes");
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .arg("lab")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn quick_says_which_is_slower_and_report_and_gate_read_the_same_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = lab(
        folder.path(),
        &[
            "quick",
            "-e",
            "WORK=800,2400",
            "-c",
            "2",
            "--block",
            "250ms",
            "--pairs",
            "6",
            "--no-aa",
            "--budget",
            "20s",
            "-o",
            "run",
            "--",
            "python3",
            "server.py",
            "{host}",
            "{port}",
        ],
    );
    let said = text(&output.stdout);
    // A restless machine may discard so many pairs that nothing can be said: that is exit 3, and says why.
    let known = said.contains("SLOWER") || said.contains("INVALID") || said.contains("UNDECIDED");
    assert!(known, "{said}{}", text(&output.stderr));
    assert!(said.contains("WORK=2400 / WORK=800"), "{said}");
    assert_eq!(
        files(&folder.path().join("run")),
        [
            "blocks.jsonl",
            "bodies",
            "report.html",
            "report.json",
            "report.md",
            "report.txt",
            "run.json"
        ]
    );
    let csv = lab(folder.path(), &["report", "run", "--as", "csv"]);
    let blocks = fs::read_to_string(folder.path().join("run/blocks.jsonl")).expect("reads");
    assert_eq!(
        text(&csv.stdout).lines().count(),
        1 + blocks.lines().count(),
        "a head, and a line per block"
    );
    let gate = lab(folder.path(), &["gate", "run"]);
    if said.contains("SLOWER") {
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(gate.status.code(), Some(1), "{}", text(&gate.stdout));
    }
    let again = lab(
        folder.path(),
        &[
            "quick",
            "-o",
            "run",
            "--",
            "python3",
            "server.py",
            "{host}",
            "{port}",
        ],
    );
    assert!(
        text(&again.stderr).contains("another folder"),
        "nothing is overwritten"
    );
}

#[test]
fn a_server_that_does_not_start_is_exit_5_with_its_last_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = lab(
        folder.path(),
        &[
            "quick",
            "-o",
            "run",
            "--",
            "python3",
            "server.py",
            "{host}",
            "many",
        ],
    );
    assert_eq!(output.status.code(), Some(5));
    assert!(
        text(&output.stderr).contains("invalid literal"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_is_not_understood_is_exit_4_and_names_the_nearest_key() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        lab(folder.path(), &["quick", "--conections", "3"])
            .status
            .code(),
        Some(4)
    );
    fs::write(
        folder.path().join("s.toml"),
        "[server]\ncmd = [\"true\"]\n[load]\nconections = 3\n",
    )
    .expect("writes");
    let output = lab(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(
        said.contains("line 4") && said.contains("`connections`"),
        "{said}"
    );
}

#[test]
fn bench_asks_a_server_that_already_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let null = andon_lab::load::null::NullResponder::start(1000).expect("starts");
    let url = format!("http://{}/", null.address());
    let output = lab(folder.path(), &["bench", &url, "-n", "500", "-c", "4"]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(said.contains("Requests per second"), "{said}");
    let gone = lab(folder.path(), &["bench", "ftp://127.0.0.1/", "-n", "1"]);
    assert!(text(&gone.stderr).contains("http://HOST:PORT/PATH"));
}

#[test]
fn check_measures_nothing_and_says_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = r#"
[server]
cmd = ["python3", "{dir}/server.py", "{host}", "{port}"]
[[variant]]
name = "a"
[[variant]]
name = "b"
witness = [{ threads_peak = ">= 1" }]
"#;
    fs::write(folder.path().join("s.toml"), scenario).expect("writes");
    let output = lab(folder.path(), &["check", "s.toml"]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(said.contains("witness threads_peak >= 1: holds"), "{said}");
    assert!(said.contains("same bytes"), "{said}");
}
