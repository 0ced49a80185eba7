//! Tests whole experiments on a real server process: a small Python server whose work per request is set by its
//! environment.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use andon_lab::analysis::{Verdict, analyse};
use andon_lab::bodies::judge;
use andon_lab::experiment::{Error, Experiment, Finished, run};
use andon_lab::launch::{Guard, stand};
use andon_lab::record::Folder;
use andon_lab::scenario::Scenario;

const ASKED: &str = "ANDON_LAB_TEST_IS_GUARD";

/// A server that responds with the text `BODY` after WORK rounds of hashing.
const SERVER: &str = r#"
import hashlib, http.server, os, sys
rounds, body = int(os.environ["WORK"]), os.environ.get("BODY", "same").encode()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet per reply: two would wait for each other (Nagle and delayed ACK), whatever the work.
    wbufsize = 65536
    def do_GET(self):
        digest = b""
        for _ in range(rounds):
            digest = hashlib.sha256(digest + b"x" * 1024).digest()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"#;

#[test]
fn the_test_program_stands_as_guard_when_asked_to() {
    if std::env::var_os(ASKED).is_some() {
        std::process::exit(stand());
    }
}

fn experiment(folder: &Path, variants: &str) -> Result<Finished, Error> {
    fs::write(folder.join("server.py"), SERVER).expect("writes");
    let text = format!(
        r#"
[server]
cmd = ["python3", "{{work}}/server.py", "{{host}}", "{{port}}"]
files = {{ "server.py" = "server.py" }}
{variants}
[load]
connections = 2
[design]
block = "250ms"
warmup = {{ min = "50ms", max = "100ms" }}
pairs = {{ min = 6, max = 6 }}
aa = false
discard = {{ steal = "> 100%", foreign_cpu = "> 100%", probe = "> 10000%" }}
"#
    );
    run(&Experiment {
        scenario: Scenario::parse(&text, folder).expect("a scenario"),
        guard: Guard::this_program([
            "the_test_program_stands_as_guard_when_asked_to",
            "--exact",
            "--nocapture",
        ])
        .env(ASKED, "1"),
        folder: folder.join("run"),
        program: "test".to_owned(),
        budget: None,
        cancel: Arc::new(AtomicBool::new(false)),
        watch: &|_| {},
    })
}

fn verdict(finished: &Finished) -> Verdict {
    let kept = finished.folder.saved_bodies().expect("reads bodies");
    let analysis = analyse(&finished.run, &judge(&finished.run, &kept).work);
    analysis
        .primary()
        .next()
        .expect("a comparison")
        .verdict
        .clone()
}

#[test]
fn three_times_the_work_is_slower_and_the_folder_holds_every_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let finished = experiment(
        folder.path(),
        "[[variant]]\nname = \"once\"\nenv = { WORK = \"800\" }\n\
         [[variant]]\nname = \"thrice\"\nenv = { WORK = \"2400\" }\n",
    )
    .expect("runs");
    assert_eq!(verdict(&finished), Verdict::Slower);
    for block in &finished.run.blocks {
        assert!(block.server.cpu_seconds() > 0.0, "its CPU was seen");
        assert!(block.server.rss_peak > 1 << 20 && block.server.threads_peak >= 1);
        assert!(!block.timeline.is_empty());
        assert!(block.client.ceiling > 0.0);
    }
    let (_, back) = Folder::read(&folder.path().join("run")).expect("reads");
    assert_eq!(back.blocks.len(), finished.run.blocks.len());
    assert_eq!(back.blocks.len(), 12);
}

#[test]
fn a_run_that_ended_before_anything_was_measured_leaves_room_for_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let broken = "[[variant]]\nname = \"a\"\ncmd = [\"false\"]\n";
    let sound = "[[variant]]\nname = \"a\"\nenv = { WORK = \"10\" }\n";
    for (variants, runs) in [(broken, false), (broken, false), (sound, true)] {
        let outcome = experiment(folder.path(), variants);
        assert_eq!(outcome.is_ok(), runs, "{:?}", outcome.err());
    }
    let kept = experiment(folder.path(), sound).map(drop).unwrap_err();
    assert!(kept.to_string().contains("a run here already"), "{kept}");
}

#[test]
fn other_replies_are_not_the_same_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let finished = experiment(
        folder.path(),
        "[[variant]]\nname = \"a\"\nenv = { WORK = \"10\" }\n\
         [[variant]]\nname = \"b\"\nenv = { WORK = \"10\", BODY = \"other\" }\n",
    )
    .expect("runs");
    assert!(matches!(verdict(&finished), Verdict::Invalid { .. }));
}

#[test]
fn an_assertion_that_does_not_hold_means_an_inactive_switch() {
    let folder = tempfile::tempdir().expect("a folder");
    let finished = experiment(
        folder.path(),
        "[[variant]]\nname = \"a\"\nenv = { WORK = \"10\" }\n\
         [[variant]]\nname = \"b\"\nenv = { WORK = \"10\" }\nassert = [{ maps = \"libgomp-that-is-not-there\" }]\n",
    )
    .expect("runs");
    assert!(matches!(verdict(&finished), Verdict::SwitchInactive { .. }));
}

#[test]
fn a_server_that_does_not_start_is_named_with_its_last_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let failed = experiment(
        folder.path(),
        "[[variant]]\nname = \"good\"\nenv = { WORK = \"1\" }\n\
         [[variant]]\nname = \"bad\"\nenv = { WORK = \"many\" }\n",
    );
    let Err(Error::Start { variant, why }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(variant, "bad");
    assert!(why.to_string().contains("invalid literal"), "{why}");
}

#[test]
fn a_line_that_a_crash_cut_short_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let finished = experiment(
        folder.path(),
        "[[variant]]\nname = \"a\"\nenv = { WORK = \"10\" }\n\
         [[variant]]\nname = \"b\"\nenv = { WORK = \"10\" }\n",
    )
    .expect("runs");
    let file = finished.folder.path().join("blocks.jsonl");
    let text = fs::read(&file).expect("reads");
    fs::write(&file, &text[..text.len() - 100]).expect("writes");
    let (_, back) = Folder::read(finished.folder.path()).expect("reads");
    assert_eq!(back.blocks.len() + 1, finished.run.blocks.len());
}
