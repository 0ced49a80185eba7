//! Tests the commands for servers that are already running, including the counts of system calls.

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Said, Served, command, lab};

/// Starts a server with one file, `/a.txt`.
fn served(folder: &Path) -> Served {
    fs::write(folder.join("a.txt"), "hello").expect("writes");
    Served::start(
        folder,
        "[[origin]]\nfs.root = \".\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n",
    )
}

/// Returns the id of the listening process from the laboratory's output.
fn pid(said: &str) -> Option<u32> {
    let (_, rest) = said.split_once("pid ")?;
    rest.split(' ').next()?.parse().ok()
}

fn tracer(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"))?;
    line.trim().parse().ok()
}

/// Waits for a condition that must become true, however slow the machine.
fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn bench_shows_the_servers_own_cost_and_says_whose_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}/a.txt", server.address);
    let words = format!("bench {url} -n 3000 -c 2");
    let said = lab(folder.path(), &words).ending(0).out;
    assert!(pid(&said).is_some(), "{said}");
    let of = |label: &str| {
        let line = said.lines().find(|line| line.starts_with(label));
        let line = line.unwrap_or_else(|| panic!("{label}: {said}"));
        line.split_whitespace()
            .last()
            .and_then(|it| it.parse::<f64>().ok())
    };
    assert!(of("Server memory, peak [MB]").is_some_and(|it| it > 1.0));
    assert!(of("Server CPUs used").is_some(), "{said}");
}

#[test]
fn bench_with_several_levels_shows_rate_against_connections_and_draws_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}/a.txt", server.address);
    let words = format!("bench {url} -c 1,3,1 -n 200 -o run");
    let said = lab(folder.path(), &words).ending(0).out;
    assert!(said.contains("Rate against connections"), "{said}");
    let blocks = fs::read_to_string(folder.path().join("run/blocks.jsonl")).expect("reads");
    assert_eq!(blocks.lines().count(), 4, "upwards and downwards again");
    let html = lab(folder.path(), "report run --as html").out;
    assert!(html.contains("Rate and latency against connections"));
}

#[test]
fn the_calls_of_a_running_server_are_counted_and_it_is_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}/a.txt", server.address);
    let counted = lab(folder.path(), &format!("syscalls {url} -n 20 -o run"));
    let pid = pid(&counted.err).unwrap_or_else(|| panic!("{}", counted.err));
    if counted.out.contains("not available") {
        eprintln!("skipped: {}", counted.ending(3).out);
        return;
    }
    let said = counted.ending(0).out;
    let row = said.lines().find(|line| line.starts_with("openat2"));
    let calls = row.and_then(|row| row.split_whitespace().nth(1));
    let calls: f64 = calls.and_then(|it| it.parse().ok()).unwrap_or(0.0);
    assert!((0.9..1.2).contains(&calls), "one file per request: {said}");
    assert_eq!(tracer(pid), Some(0));
    assert!(!traced_by_the_kernel(pid));
    assert_eq!(server.get("/a.txt").body, b"hello");
    assert_eq!(lab(folder.path(), "report run --as strace").out, said);
}

#[test]
fn a_killed_laboratory_lets_go_of_the_server_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    killed_while(folder.path(), "strace", |pid| tracer(pid) != Some(0));
    killed_while(folder.path(), "tracepoints", traced_by_the_kernel);
}

/// Counts a server's system calls by a method, and kills the laboratory as soon as the server is traced.
fn killed_while(folder: &Path, method: &str, watched: fn(u32) -> bool) {
    let server = served(folder);
    let url = format!("http://{}/a.txt", server.address);
    let probe = lab(folder, &format!("bench {url} -n 10")).out;
    let pid = pid(&probe).unwrap_or_else(|| panic!("{probe}"));
    let words = format!("syscalls {url} -n 20000 --by {method}");
    let mut counting = command(folder, &words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    // The laboratory first sends the requests without tracing. Wait until it traces, or reports that it may not.
    let begun = Instant::now();
    while !watched(pid) {
        if begun.elapsed() > Duration::from_secs(180)
            || counting.try_wait().expect("a child").is_some()
        {
            eprintln!("skipped: {method} does not watch here");
            let _ = counting.kill();
            let _ = counting.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    counting.kill().expect("kills");
    counting.wait().expect("waits");
    wait("the server stays watched", || !watched(pid));
    assert_eq!(server.get("/a.txt").body, b"hello");
    let temporary = folder.join("tmp");
    wait("files are left", || {
        fs::read_dir(&temporary).expect("a folder").count() == 0
    });
}

/// Whether any instance of the kernel's tracer names this process.
fn traced_by_the_kernel(pid: u32) -> bool {
    let instances = fs::read_dir("/sys/kernel/tracing/instances");
    let mut instances = instances.into_iter().flatten().flatten();
    instances.any(|instance| {
        let named = fs::read_to_string(instance.path().join("set_event_pid"));
        named.is_ok_and(|named| named.split_whitespace().any(|it| it == pid.to_string()))
    })
}

#[test]
fn the_calls_of_two_variants_stand_side_by_side_with_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = r#"
[server]
cmd = ["python3", "-c", '''
import http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words):
        for _ in range(int(os.environ["TIMES"])):
            try: os.rmdir("/no/such/folder")
            except OSError: pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
''', "{host}", "{port}"]
before = "echo hello > file"
ready = { timeout = "60s" }
[load]
url = [{ path = "/file" }]
[[variant]]
name = "once"
env = { TIMES = "1" }
[[variant]]
name = "thrice"
env = { TIMES = "3" }
assert = [{ syscall = "rmdir", is = "> 2" }]
[[variant]]
name = "left out"
cmd = ["false"]
"#;
    fs::write(folder.path().join("s.toml"), scenario).expect("writes");
    let counted = lab(folder.path(), "syscalls s.toml -n 20 --only once,thrice");
    if counted.out.contains("not available") {
        eprintln!("skipped: {}", counted.out);
        return;
    }
    let Said {
        out: said,
        err: told,
        ..
    } = counted.ending(0);
    let (_, differs) = said
        .split_once("What differs per request: thrice beside once\n")
        .unwrap_or_else(|| panic!("{said}"));
    let rmdir = differs.lines().find(|line| line.starts_with("rmdir"));
    assert!(
        rmdir.is_some_and(|row| row.contains("+2.0")),
        "two more each time: {said}"
    );
    assert!(told.contains("rmdir > 2 holds"), "{told}");
    let wrong = lab(folder.path(), "syscalls s.toml --by guessing").ending(4);
    assert!(wrong.err.contains("tracepoints"));
    let wrong = lab(folder.path(), "syscalls s.toml --only twice").ending(4);
    assert!(wrong.err.contains("`thrice`"));
}

#[test]
fn what_a_log_a_run_or_a_list_says_is_asked_again_at_its_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::write(here.join("a.txt"), "hello").expect("writes");
    let config = "[[origin]]\nfs.root = \".\"\nfs.files = \"all\"\n";
    let server = Served::start(here, config);
    for target in ["/a.txt", "/missing.txt", "/a.txt"] {
        server.get(target);
        std::thread::sleep(Duration::from_millis(400));
    }
    server.get("/a.txt");
    fs::write(here.join("access.log"), server.stop()).expect("writes");

    let server = served(here);
    let url = format!("http://{}", server.address);
    let words = format!("replay access.log {url} --speed 2 -o run");
    let Said {
        out: said,
        err: told,
        ..
    } = lab(here, &words).ending(0);
    assert!(told.contains("4 requests, 2 of them distinct"), "{told}");
    let row = |said: &str, label: &str| -> f64 {
        let line = said.lines().find(|line| line.starts_with(label));
        let value = line.and_then(|line| line.split_whitespace().last()?.parse().ok());
        value.unwrap_or_else(|| panic!("{label}: {said}"))
    };
    assert_eq!(row(&said, "Complete requests"), 4.0);
    assert!(row(&said, "Time taken for tests") >= 0.55, "half of 1.2 s");

    // A reply with status 404 is not a good one by default.
    let again = lab(here, &format!("replay run {url} --status 0"));
    let said = again.ending(3).out;
    assert_eq!(row(&said, "Complete requests"), 3.0);

    let line = |request: &str, status: u16| {
        format!(
            "h - - [10/Oct/2000:13:55:36 +0000] \"{request} HTTP/1.1\" {status} 1 \"-\" \"x\"\n"
        )
    };
    let log = line("GET /a.txt", 304) + &line("POST /a.txt", 200) + &line("HEAD /a.txt", 503);
    fs::write(here.join("combined.log"), log).expect("writes");
    let told = lab(here, &format!("replay combined.log {url}"))
        .ending(0)
        .err;
    assert!(told.contains("1 left out: neither GET nor HEAD"), "{told}");
    assert!(told.contains("2 requests"), "{told}");

    fs::write(here.join("urls.txt"), "/a.txt\n/a.txt\n/a.txt\n").expect("writes");
    let list = format!("replay urls.txt {url}");
    let told = lab(here, &list).err;
    assert!(told.contains("--rate"), "{told}");
    let said = lab(here, &format!("{list} --rate 20")).out;
    assert_eq!(row(&said, "Complete requests"), 3.0);
}

#[test]
fn a_port_where_nobody_listens_refuses_the_connection_and_is_no_busy_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = common::free_address();
    fs::write(folder.path().join("urls.txt"), "/a\n").expect("writes");
    for words in [
        format!("bench http://{address}/ -n 50"),
        format!("bench http://{address}/ -c 1,4 -z 1s"),
        format!("replay urls.txt http://{address} --rate 100"),
    ] {
        let said = lab(folder.path(), &words).ending(5);
        assert_eq!(said.out, "", "{words}");
        let expected = format!("cannot connect to {address}: connection refused");
        assert!(said.err.contains(&expected), "{words}: {}", said.err);
    }
    let socket = format!("bench unix:{}/none.sock -n 5", folder.path().display());
    let said = lab(folder.path(), &socket).ending(5);
    assert!(
        said.err.contains("none.sock: no such file or directory"),
        "{}",
        said.err
    );
}

#[test]
fn bench_begins_with_rate_latencies_errors_and_cpu_per_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}", server.address);
    let said = lab(folder.path(), &format!("bench {url}/a.txt -n 2000 -c 2")).ending(0);
    let first: Vec<&str> = said.out.lines().take(6).collect();
    let starts = [
        "Requests per second  ",
        "Latency, median (p50)  ",
        "Latency, p99  ",
        "Errors                  0 of 2000 requests",
        "Server CPU per request  ",
    ];
    for (line, start) in first.iter().zip(starts) {
        assert!(line.starts_with(start), "{start}: {}", said.out);
    }
    assert_eq!(first[5], "", "{}", said.out);
    assert!(!first[4].contains('–'), "{}", said.out);
    let failing = lab(folder.path(), &format!("bench {url}/none.jpg -n 40 -c 2")).ending(3);
    let errors = failing.out.lines().nth(3).expect("a line");
    assert_eq!(
        errors,
        "Errors                  40 (status 40) of 40 requests, most of them /none.jpg: status 404, expected 200"
    );
    let levels = lab(folder.path(), &format!("bench {url}/a.txt -n 2000 -c 1,2")).ending(0);
    assert!(
        levels
            .out
            .lines()
            .next()
            .is_some_and(|line| line.contains("of 2 levels, -c ")),
        "{}",
        levels.out
    );
}

#[test]
fn capacity_doubles_the_rate_as_long_as_the_target_is_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}", server.address);
    let words = format!(
        "capacity {url}/a.txt --start 200 -z 1s --warmup 0s --target 30s --trials 3 --as json"
    );
    let said = lab(folder.path(), &words).ending(3);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let trials = found["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 3, "{found}");
    let rate = |trial: &serde_json::Value| trial["rate"].as_f64().expect("a rate").round();
    assert_eq!(rate(&trials[0]), 200.0, "{found}");
    // A busy machine may miss arrivals, which lowers the rate of the next trial.
    for pair in trials.windows(2).take_while(|pair| pair[0]["met"] == true) {
        assert_eq!(rate(&pair[1]), 2.0 * rate(&pair[0]), "{found}");
    }
    assert_eq!(found["rate"], serde_json::Value::Null);
    let first = said.err.lines().next().expect("a line").trim_start();
    assert!(first.starts_with("200.0/s for 1 s: p99 "), "{}", said.err);
}

#[test]
fn capacity_is_not_known_where_requests_fail_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}", server.address);
    let words = format!("capacity {url}/none.txt --start 400 -z 500ms --warmup 0s --trials 2");
    let said = lab(folder.path(), &words).ending(3);
    assert!(
        said.out
            .contains("no trial of 2 met p99 ≤ 200ms and no failures"),
        "{}",
        said.out
    );
    assert!(said.err.contains("failed: not met"), "{}", said.err);
}

#[test]
fn capacity_asks_for_each_url_once_and_says_when_the_list_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let urls: String = (0..1000)
        .map(|number| format!("/a.txt?{number}\n"))
        .collect();
    fs::write(folder.path().join("urls.txt"), urls).expect("writes");
    let words = format!(
        "capacity http://{}/ -L urls.txt --once --start 200 -z 1s --warmup 0s --target 30s",
        server.address
    );
    let said = lab(folder.path(), &words).ending(3);
    // A second trial, at 400 requests per second, needs more URLs than are left.
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    assert!(
        said.out
            .contains("the list has 1000 URLs, too few for another trial"),
        "{}",
        said.out
    );
}

/// Reports of `bench` and `replay` have no findings about what these commands themselves cause, such as blocks without
/// pairs, a fixed rate of requests, or bodies that are not decoded.
#[test]
fn bench_and_replay_do_not_object_to_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = served(folder.path());
    let url = format!("http://{}", server.address);
    fs::write(folder.path().join("urls.txt"), "/a.txt\n").expect("writes");
    for words in [
        format!("bench {url}/a.txt -n 300 -c 1,2 --as json"),
        format!("bench {url}/a.txt -n 300 -c 2 -R 300 --as json"),
        format!("replay urls.txt {url} --rate 100 --as json"),
    ] {
        let said = lab(folder.path(), &words).ending(0);
        let report: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
        let names = report["analysis"]["findings"].as_array().expect("findings");
        for finding in names {
            let name = finding["name"].as_str().unwrap_or_default();
            let by_design = [
                "one-order",
                "fixed-rate",
                "undecoded",
                "load-windows",
                "lower-cpu",
            ];
            assert!(!by_design.contains(&name), "{words}: {finding}");
        }
    }
    let text = lab(folder.path(), &format!("bench {url}/a.txt -n 50 --as text")).out;
    for word in ["Verdicts", "Noise floor", "Discards"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

const TWO_WRITES: &str = r#"
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// Python's server writes head and body one after the other and leaves Nagle's algorithm on.
#[test]
fn a_server_that_waits_for_delayed_acknowledgements_is_told_from_a_slow_one() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = std::process::Command::new("/usr/bin/python3")
        .args(["-c", TWO_WRITES])
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python is there");
    let mut port = String::new();
    let out = server.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut port).expect("its port");
    let url = format!("http://127.0.0.1:{}/", port.trim());
    // A busy machine may delay a reply beyond the timer, so there are ten attempts.
    let mut said = lab(folder.path(), &format!("bench {url} -n 60 -c 2"));
    for _ in 1..10 {
        if said.out.contains("critical delayed-ack: ") {
            break;
        }
        said = lab(folder.path(), &format!("bench {url} -n 60 -c 2"));
    }
    server.kill().expect("ends");
    server.wait().expect("ended");
    assert!(
        said.out.contains("critical delayed-ack: "),
        "{}{}",
        said.out,
        said.err
    );
}
