//! Tests with real servers: one that serves, one that becomes a daemon, some that fail and some that do not end by
//! themselves.

use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::variant::expand;

fn start(text: &str) -> Result<Launched, LaunchError> {
    let scenario = Scenario::parse(text, Path::new("/")).unwrap_or_else(|error| panic!("{error}"));
    let variants = expand(&scenario).expect("expands");
    Launched::start(&scenario, &variants[0], &guard_of_tests(), 64)
}

/// Scenario that starts Python's built-in HTTP server. Tests that use it are skipped if `python3` is not installed.
const PYTHON: &str = "[server]\ncmd = ['python3', '-m', 'http.server', '--bind', '{host}', '{port}']\n\
                      ready = { http = '/', status = 200, timeout = '60s' }\n";

fn gone(pid: Pid) -> bool {
    !proc::runs(pid)
}

fn python_is_here() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no python3 here");
    }
    found
}

#[test]
fn a_server_runs_in_its_own_folder_with_a_clean_environment_and_leaves_nothing() {
    if !python_is_here() {
        return;
    }
    let mut server = start(&format!("{PYTHON}cpus = '0'\nenv = {{ A = '{{port}}' }}"))
        .unwrap_or_else(|error| panic!("{error}"));
    let tree = server.tree();
    let root = server.root_pid().expect("it runs");
    assert!(server.alive() && tree.contains(&root));
    let cwd = fs::read_link(format!("/proc/{root}/cwd")).expect("cwd");
    assert_eq!(cwd, server.work);
    let env = fs::read_to_string(format!("/proc/{root}/environ")).expect("environ");
    let mut names: Vec<&str> = env
        .split('\0')
        .filter_map(|pair| pair.split('=').next())
        .collect();
    names.retain(|name| !name.is_empty());
    // A launcher of Python versions may add variables of its own, but no variable of this process may be passed on.
    assert!(
        names.contains(&"A") && names.contains(&"ANDON_LAB_PADDING"),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.starts_with("CARGO")),
        "{names:?}"
    );
    let status = fs::read_to_string(format!("/proc/{root}/status")).expect("status");
    assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
    let folder = server.folder.path().to_owned();
    let stopped = server.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(!stopped.killed);
    assert!(tree.into_iter().all(gone) && !folder.exists());
}

#[test]
fn a_server_that_becomes_a_daemon_stays_ours_and_is_stopped() {
    if !python_is_here() {
        return;
    }
    let server = start(
        "[server]\ncmd = ['sh', '-c', 'setsid python3 -m http.server --bind {host} {port} & exit 0']\n\
         ready = { timeout = '60s' }\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let tree = server.tree();
    assert!(server.root_pid().is_some_and(|root| tree.contains(&root)));
    let stopped = server.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(!stopped.killed && tree.into_iter().all(gone));
}

#[test]
fn a_server_that_ends_is_reported_with_its_last_words() {
    let error =
        start("[server]\ncmd = ['sh', '-c', 'echo line one; echo no such config >&2; exit 3']\n")
            .expect_err("ends")
            .to_string();
    assert!(
        error.contains("ended with status 3 before it was ready"),
        "{error}"
    );
    assert!(error.contains("\n  line one\n  no such config"), "{error}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = start("[server]\ncmd = ['no-such-server-here']\n")
        .expect_err("missing")
        .to_string();
    assert!(
        error.contains("`no-such-server-here` could not be started: No such file"),
        "{error}"
    );
}

#[test]
fn a_server_that_is_never_ready_is_killed_in_time() {
    let error = start(
        "[server]\ncmd = ['sh', '-c', 'echo waiting; sleep 1000']\nready = { timeout = '200ms' }\n",
    )
    .expect_err("never ready")
    .to_string();
    assert!(
        error.contains("was not ready at 127.0.0.1:") && error.contains("waiting"),
        "{error}"
    );
}

#[test]
fn a_port_owned_by_another_is_refused_with_its_owner() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = taken.local_addr().expect("bound");
    let error = start(&format!(
        "[server]\ncmd = ['sleep', '1000']\naddr = '{address}'\n"
    ))
    .expect_err("taken")
    .to_string();
    let owner = format!("{address} is already taken by pid {} (", std::process::id());
    assert!(error.contains(&owner), "{error}");
}

#[test]
fn another_free_port_is_tried_where_the_first_is_taken_meanwhile() {
    if !python_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("pid");
    // Another server takes the free port once, before the server under test listens there.
    let before = format!(
        "if [ ! -e {pid} ]; then python3 -m http.server --bind {{host}} {{port}} >/dev/null 2>&1 & echo $! {{port}} >{pid}; \
         until python3 -c 'import socket; socket.create_connection((\"{{host}}\", {{port}}))' 2>/dev/null; do :; done; fi",
        pid = other.display()
    );
    let started = start(&format!("{PYTHON}before = \"\"\"{before}\"\"\"\n"));
    let told = fs::read_to_string(&other).expect("it was started");
    let (pid, port) = told.trim().split_once(' ').expect("two numbers");
    let pid: Pid = pid.parse().expect("a number");
    guard::signal(pid, rustix::process::Signal::KILL);
    let launched = started.expect("starts on another port");
    assert_ne!(launched.values()["port"], port);
    launched.stop().expect("stops");
}

#[test]
fn someone_else_who_answers_is_not_taken_for_the_server() {
    // The port is free when it is chosen, and this process takes it while the server sleeps.
    let address = match listeners::free_port().expect("free port") {
        Endpoint::Tcp(address) => address,
        Endpoint::Unix(_) => unreachable!("a port was asked for"),
    };
    let text = format!(
        "[server]\ncmd = ['sleep', '1000']\naddr = '{address}'\nready = {{ timeout = '60s' }}\n"
    );
    let starting = thread::spawn(move || start(&text).map(drop));
    thread::sleep(Duration::from_millis(300));
    let _listener = TcpListener::bind(address).expect("binds");
    let error = starting
        .join()
        .expect("joins")
        .expect_err("not ours")
        .to_string();
    assert!(
        error.contains("belongs to pid") || error.contains("already taken"),
        "{error}"
    );
}

#[test]
fn a_server_that_ignores_its_signal_is_killed_with_its_children() {
    if !python_is_here() {
        return;
    }
    let server = start(
        "[server]\ncmd = ['sh', '-c', 'trap \"\" TERM; python3 -m http.server --bind {host} {port} & while :; do sleep 1; done']\n\
         ready = { timeout = '60s' }\nstop = { grace = '100ms' }\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let tree = server.tree();
    assert!(tree.len() >= 2);
    let stopped = server.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(stopped.killed && tree.into_iter().all(gone));
}

#[test]
fn a_unix_socket_in_the_work_directory_is_served() {
    if !python_is_here() {
        return;
    }
    let program = "import http.server, socketserver, sys\\n\
                   socketserver.UnixStreamServer(sys.argv[1], http.server.SimpleHTTPRequestHandler).serve_forever()";
    let server = start(&format!(
        "[server]\naddr = 'unix'\ncmd = ['python3', '-c', \"{program}\", '{{socket}}']\n\
         ready = {{ timeout = '60s' }}\n"
    ))
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(server.address, Endpoint::Unix(server.work.join("socket")));
    server.stop().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn hooks_run_before_and_after_and_their_failure_is_told() {
    let folder = tempfile::tempdir().expect("folder");
    let trace = folder.path().join("trace");
    let error = start(&format!(
        "[server]\ncmd = ['sleep', '1000']\nbefore = 'echo {{port}} > {}; echo told; exit 4'\n",
        trace.display()
    ))
    .expect_err("a failing hook")
    .to_string();
    assert!(
        error.contains("`server.before`") && error.contains("told"),
        "{error}"
    );
    let port = fs::read_to_string(trace).expect("the hook ran");
    assert!(port.trim().parse::<u16>().is_ok(), "{port}");
}

#[test]
fn nginx_becomes_a_daemon_of_ours_with_the_variants_configuration() {
    if Command::new("nginx").arg("-v").output().is_err() {
        eprintln!("skipped: no nginx here");
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let conf = "daemon on; worker_processes {workers}; pid {work}/pid; error_log {work}/errors;\n\
                events {} http { access_log off; client_body_temp_path {work}/a;\n\
                proxy_temp_path {work}/b; fastcgi_temp_path {work}/c; uwsgi_temp_path {work}/d;\n\
                scgi_temp_path {work}/e; server { listen {addr}; location / { return 204; } } }\n";
    fs::write(folder.path().join("base.conf"), conf).expect("writes");
    let scenario = Scenario::parse(
        "[server]\ncmd = ['nginx', '-p', '{work}', '-e', '{work}/errors', '-c', '{work}/n.conf']\n\
         files = { 'n.conf' = 'base.conf' }\n\
         ready = { http = '/', status = 204, timeout = '60s' }\nstop = { grace = '60s' }\n\
         [matrix]\nworkers = [1, 3]\n",
        folder.path(),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    for (variant, workers) in expand(&scenario).expect("expands").iter().zip([1, 3]) {
        let server = Launched::start(&scenario, variant, &guard_of_tests(), 0)
            .unwrap_or_else(|error| panic!("{error}"));
        // The master accepts connections before it has started its workers.
        let patience = Instant::now();
        while server.tree().len() <= workers && patience.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        let tree = server.tree();
        assert_eq!(tree.len(), 1 + workers);
        assert_eq!(server.root_pid(), Some(tree[0]));
        let stopped = server.stop().unwrap_or_else(|error| panic!("{error}"));
        assert!(!stopped.killed && tree.into_iter().all(gone));
    }
}

/// Not a test in itself: the entry point of the laboratory process that [`a_killed_laboratory_leaves_no_server_behind`]
/// kills.
#[test]
fn the_test_program_is_a_laboratory_when_asked_to() {
    let Some(tell) = env::var_os(VICTIM) else {
        return;
    };
    let server = start("[server]\ncmd = ['sh', '-c', 'setsid python3 -m http.server --bind {host} {port} & wait']\n\
                        ready = { timeout = '60s' }\n")
        .unwrap_or_else(|error| panic!("{error}"));
    let pids: Vec<String> = server.tree().iter().map(ToString::to_string).collect();
    let said = format!("{}\n{}\n", server.folder.path().display(), pids.join("\n"));
    let whole = Path::new(&tell).with_extension("whole");
    fs::write(&whole, said)
        .and_then(|()| fs::rename(&whole, &tell))
        .expect("tells");
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_killed_laboratory_leaves_no_server_behind() {
    if !python_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let tell = folder.path().join("tell");
    let mut laboratory = Command::new("/proc/self/exe")
        .args([
            "launch::tests::the_test_program_is_a_laboratory_when_asked_to",
            "--exact",
        ])
        .env(VICTIM, &tell)
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    let patience = Instant::now();
    while !tell.exists() && patience.elapsed() < Duration::from_secs(120) {
        thread::sleep(Duration::from_millis(20));
    }
    let told = fs::read_to_string(&tell).unwrap_or_default();
    laboratory.kill().expect("kills");
    laboratory.wait().expect("reaps");
    let mut lines = told.lines();
    let work = PathBuf::from(lines.next().expect("the server started"));
    let pids: Vec<Pid> = lines.filter_map(|pid| pid.parse().ok()).collect();
    assert!(!pids.is_empty());
    let patience = Instant::now();
    let left = || !pids.iter().all(|pid| gone(*pid)) || work.exists();
    while left() && patience.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!left(), "{pids:?} {}", work.display());
}

const VICTIM: &str = "ANDON_LAB_TEST_IS_LABORATORY";
