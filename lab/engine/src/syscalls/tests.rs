//! Tests with real servers whose calls per request are known.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::launch::guard_of_tests;
use crate::variant::expand;

/// Whether a pass has counted system calls or instructions. A pass that could not count for lack of a tool or of
/// privileges is not a failure.
fn counted(pass: &Pass) -> bool {
    let wanting = [
        "is not installed",
        "may not watch",
        "is not mounted",
        "need root",
        "in a container",
        "has none at system calls",
        "gives no tracer",
    ];
    let wants = wanting.iter().any(|want| pass.method.contains(want));
    let counted = !(wants && pass.method.starts_with("not available"));
    if !counted {
        eprintln!("skipped: {}", pass.method);
    }
    counted
}

/// Counts the system calls of the scenario's first variant by tracepoints and by strace, each in a pass of its own, and
/// applies `look` to the passes that could count.
fn by_each(scenario: &Scenario, look: impl Fn(&Pass)) {
    for (by, name) in [
        (CountBy::Tracepoints, "tracepoints (Linux "),
        (CountBy::Strace, "strace "),
    ] {
        let mut scenario = scenario.clone();
        scenario.sample.syscalls_by = by;
        let pass = pass_of(&scenario, 0, "/file", pass);
        if counted(&pass) {
            assert!(pass.method.starts_with(name), "{}", pass.method);
            look(&pass);
        }
    }
}

/// Returns a scenario that starts Python's HTTP server and counts 20 requests. `python` is the path of the interpreter,
/// `handler` the Python code of the request handler's methods, and `rest` is appended to the scenario's text.
fn scenario(python: &str, handler: &str, rest: &str) -> Scenario {
    let text = format!(
        "[server]\nready = {{ timeout = '60s' }}\nstop = {{ grace = '20s' }}\n\
         cmd = ['{python}', '-c', '''\nimport http.server, os, sys\n\
         class Handler(http.server.SimpleHTTPRequestHandler):\n  protocol_version = \"HTTP/1.1\"\n\
         {handler}\n\
         http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()\n\
         ''', '{{host}}', '{{port}}']\n\
         before = 'echo hello > file'\n\
         [sample]\nsyscalls = 20\ncallgrind = 10\n{rest}"
    );
    Scenario::parse(&text, Path::new("/")).unwrap_or_else(|error| panic!("{error}"))
}

fn pass_of(
    scenario: &Scenario,
    variant: usize,
    target: &str,
    pass: impl Fn(&Subject<'_>) -> Pass,
) -> Pass {
    let variants = expand(scenario).expect("expands");
    pass(&Subject {
        scenario,
        variant: &variants[variant],
        index: variant as u32,
        guard: &guard_of_tests(),
        templates: &|_| Ok(vec![RequestTemplate::get(target)]),
        cancel: Arc::default(),
    })
}

/// Returns the path of the interpreter itself. A launcher of Python versions would be traced too, which takes long.
fn python() -> Option<String> {
    let said = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    let Ok(said) = said else {
        eprintln!("skipped: no python3 here");
        return None;
    };
    Some(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

fn row<'a>(pass: &'a Pass, name: &str) -> Option<&'a SyscallRow> {
    pass.syscalls.iter().find(|row| row.name == name)
}

/// Whether the calls per request are within 0.05 of `calls`: a timer of the server may fire while calls are counted.
fn about(pass: &Pass, name: &str, calls: f64) -> bool {
    let counted = row(pass, name).map_or(0.0, |row| row.calls);
    (counted - calls).abs() <= 0.05
}

#[test]
fn the_calls_of_one_request_are_counted_and_those_of_start_and_connection_are_not() {
    let Some(python) = python() else { return };
    let handler = "  def log_message(self, *words):\n    try: os.rmdir(\"/no/such\")\n    except OSError: pass";
    let rest = "[[variant]]\nname = 'v'\nassert = [{ syscall = 'sendfile', is = '> 0' },\n\
                { syscall = 'rmdir', is = '= 1' }, { threads_peak = '> 1' }]\n";
    by_each(&scenario(&python, handler, rest), |pass| {
        assert_eq!(pass.requests, 20);
        assert!(pass.slowdown > 0.0);
        assert!(about(pass, "openat", 1.0), "{:?}", pass.syscalls);
        assert!(about(pass, "rmdir", 1.0), "{:?}", pass.syscalls);
        let rmdir = row(pass, "rmdir").expect("a row");
        assert!(rmdir.errors == rmdir.calls && rmdir.microseconds > 0.0);
        for of_start in ["execve", "listen", "accept4", "clone", "clone3"] {
            assert!(about(pass, of_start, 0.0), "{:?}", pass.syscalls);
        }
        // Only assertions that need this pass have readings in it.
        let holds: Vec<_> = pass
            .assertions
            .iter()
            .map(|reading| reading.holds)
            .collect();
        assert_eq!(holds.len(), 2, "{:?}", pass.assertions);
        let sent = row(pass, "sendfile").map_or(0.0, |row| row.calls);
        assert_eq!(holds[0], Some(sent > 0.0), "{:?}", pass.assertions);
        let once = rmdir.calls == 1.0;
        assert_eq!(holds[1], Some(once), "{:?}", pass.assertions);
    });
}

#[test]
fn the_calls_of_children_are_counted() {
    let Some(python) = python() else { return };
    let handler = "  def do_GET(self):\n    os.system(\"/bin/true\")\n    super().do_GET()";
    // Each request has its own connection, whose cost then belongs to the request.
    let scenario = scenario(&python, handler, "[load]\nkeepalive = false\n");
    by_each(&scenario, |pass| {
        // A shell runs the program: it either becomes the program (one `execve`) or starts it (two).
        let started = row(pass, "execve").map_or(0.0, |row| row.calls);
        assert!((0.95..=2.05).contains(&started), "{:?}", pass.syscalls);
        assert!(about(pass, "accept4", 1.0), "{:?}", pass.syscalls);
    });
}

/// System calls for locks, timers and memory, whose number depends on how threads happen to be scheduled.
const BY_CHANCE: [&str; 6] = ["futex", "poll", "brk", "madvise", "mmap", "munmap"];

#[test]
fn both_methods_see_the_same_calls() {
    let Some(python) = python() else { return };
    let handler = "  def do_GET(self):\n    os.stat(self.directory)\n    os.system(\"/bin/true\")\n    \
                   super().do_GET()\n  def log_message(self, *words):\n    \
                   try: os.rmdir(\"/no/such\")\n    except OSError: pass";
    let passes = RefCell::new(Vec::new());
    by_each(&scenario(&python, handler, ""), |pass| {
        passes.borrow_mut().push(pass.clone());
    });
    let passes = passes.into_inner();
    let [tracepoints, strace] = passes.as_slice() else {
        return;
    };
    let names: BTreeSet<_> = (passes.iter().flat_map(|pass| &pass.syscalls))
        .map(|row| row.name.as_str())
        .filter(|name| !BY_CHANCE.contains(name))
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let calls = |pass| row(pass, name).map_or(0.0, |row| row.calls);
        let errors = |pass| row(pass, name).map_or(0.0, |row| row.errors);
        let differ = |one: f64, other: f64| (one - other).abs() > 0.1;
        assert!(
            !differ(calls(tracepoints), calls(strace))
                && !differ(errors(tracepoints), errors(strace)),
            "{name}: {:?} and {:?}",
            row(tracepoints, name),
            row(strace, name)
        );
    }
}

#[test]
fn a_server_that_becomes_a_daemon_and_ignores_its_end_is_counted_too() {
    let Some(python) = python() else { return };
    let mut scenario = scenario(&python, "  pass", "");
    let served = std::mem::take(&mut scenario.server.cmd);
    let shell = "trap '' TERM; setsid \"$@\" & exit 0";
    scenario.server.cmd = ["sh", "-c", shell, "sh"].map(str::to_owned).to_vec();
    scenario.server.cmd.extend(served);
    scenario.server.stop.grace.0 = 0.01;
    by_each(&scenario, |pass| {
        assert!(about(pass, "openat", 1.0), "{:?}", pass.syscalls);
    });
}

#[test]
fn a_pass_that_cannot_count_says_why() {
    let Some(python) = python() else { return };
    let pass = pass_of(&scenario(&python, "  pass", ""), 0, "/no-such-file", pass);
    if counted(&pass) {
        let said = &pass.method;
        assert!(said.starts_with("not available: "), "{said}");
        assert!(said.contains("requests failed"), "{said}");
        assert!(pass.syscalls.is_empty() && pass.requests == 0);
    }
    let mut none = scenario(&python, "  pass", "");
    none.server.cmd = vec!["no-such-server-here".into()];
    let pass = pass_of(&none, 0, "/", callgrind::pass);
    if counted(&pass) {
        assert!(
            pass.method.contains("could not be started"),
            "{}",
            pass.method
        );
    }
}

#[test]
fn strace_counts_where_the_tracepoints_may_not_and_says_why() {
    let counts = |method: &str| {
        Ok(Measurement {
            method: method.to_owned(),
            requests: 1,
            seconds: 1.0,
            few: Counts::new(),
            many: Counts::new(),
            idle: Counts::new(),
        })
    };
    let refuses = |why: &str| Err(why.to_owned());
    let method = |wanted, tracepoints: &dyn Fn() -> _, strace: &dyn Fn() -> _| {
        by(wanted, tracepoints, strace).map(|seen| seen.method)
    };
    let (kernel, strace) = (|| counts("kernel"), || counts("strace 6"));
    let (root, ptrace) = (|| refuses("they need root"), || refuses("no ptrace"));
    let word = |text: &str| text.to_owned();
    assert_eq!(method(CountBy::Auto, &kernel, &strace), Ok(word("kernel")));
    assert_eq!(
        method(CountBy::Strace, &kernel, &strace),
        Ok(word("strace 6"))
    );
    assert_eq!(
        method(CountBy::Auto, &root, &strace),
        Ok(word("strace 6 (no tracepoints: they need root)"))
    );
    assert_eq!(
        method(CountBy::Auto, &root, &ptrace),
        Err(word("no ptrace; no tracepoints: they need root"))
    );
    assert_eq!(
        method(CountBy::Tracepoints, &root, &strace),
        Err(word("no tracepoints: they need root"))
    );
}

#[test]
fn instructions_per_request_grow_with_the_work_and_forks_are_counted_once() {
    let Some(python) = python() else { return };
    // The parent executes a hundred million instructions before it forks, none of which may count twice.
    let handler = "  def do_GET(self):\n    for i in range(LOOPS): pass\n    child = os.fork()\n    \
                   if child == 0: os._exit(0)\n    os.waitpid(child, 0)\n    super().do_GET()";
    let few = scenario(&python, &handler.replace("LOOPS", "1000"), "");
    let few = pass_of(&few, 0, "/file", callgrind::pass);
    if !counted(&few) {
        return;
    }
    let many = scenario(&python, &handler.replace("LOOPS", "101000"), "");
    let many = pass_of(&many, 0, "/file", callgrind::pass);
    let of = |pass: &Pass| {
        pass.instructions
            .unwrap_or_else(|| panic!("{}", pass.method))
    };
    assert!(many.method.starts_with("callgrind "), "{}", many.method);
    let (few, more) = (of(&few), of(&many) - of(&few));
    assert!((1e5..5e6).contains(&few), "{few}");
    // A round of the loop takes tens to hundreds of instructions, depending on the version of Python.
    assert!((1e6..1e8).contains(&more), "{more}");
    assert!(many.slowdown > 1.0);
}
