//! Tests with real processes: the CPU time they burn must be found, whichever process used it.

use std::path::Path;

use super::*;
use crate::launch::{Launched, guard_of_tests};
use crate::record::Probe;
use crate::scenario::Scenario;
use crate::variant::expand;

/// Starts Python's HTTP server from a shell script, whose further lines `shell` burn CPU in child processes.
fn burning(shell: &str) -> (Launched, Scenario) {
    let text = format!(
        "[server]\nready = {{ timeout = '60s' }}\nstop = {{ grace = '200ms' }}\n\
         cmd = ['sh', '-c', '''python3 -m http.server --bind {{host}} {{port}} >/dev/null 2>&1 &\n{shell}''']\n"
    );
    let scenario = Scenario::parse(&text, Path::new("/")).unwrap_or_else(|e| panic!("{e}"));
    let variants = expand(&scenario).expect("expands");
    let launched = Launched::start(&scenario, &variants[0], &guard_of_tests(), 0)
        .unwrap_or_else(|error| panic!("{error}"));
    (launched, scenario)
}

/// Returns a shell command that burns about this many seconds of CPU time, however busy the machine is.
fn burn(seconds: f64) -> String {
    format!("python3 -c 'import time\nwhile time.process_time() < {seconds}: pass'")
}

/// Creates the file `go`, at which the server burns CPU, and samples until the server has created the file `done`.
/// Returns the samples and the times of both events, in seconds since sampling began.
fn sampled(server: &Launched) -> (Samples, f64, f64) {
    let sampler = Sampler::start(
        Some(Watched::Below(server.guard_pid())),
        ClientThreads::default(),
        Duration::from_millis(20),
        Instant::now(),
    );
    let from = sampler.mark();
    std::fs::write(server.work.join("go"), "").expect("writes");
    let begun = Instant::now();
    while !server.work.join("done").exists() && begun.elapsed() < Duration::from_secs(120) {
        thread::sleep(Duration::from_millis(10));
    }
    let to = sampler.mark();
    (sampler.finish(), from, to)
}

fn python_is_here() -> bool {
    let found = std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        eprintln!("skipped: no python3 here");
    }
    found
}

#[test]
fn children_that_burn_and_are_reaped_are_counted_once() {
    if !python_is_here() {
        return;
    }
    let work = burn(0.4);
    let (server, _) = burning(&format!(
        "until [ -e go ]; do sleep 0.01; done\n{work}\n({work})\n: > done\nwait"
    ));
    let (samples, from, to) = sampled(&server);
    server.stop().unwrap_or_else(|error| panic!("{error}"));
    let cost = samples.server(from, to);
    // The burning takes 0.8 s, the start of two interpreters and a shell some more; double counting would give twice
    // that.
    let seconds = cost.cpu_seconds();
    assert!((0.75..1.6).contains(&seconds), "{cost:?}");
    assert!(
        cost.processes_peak >= 3 && cost.threads_peak >= 3,
        "{cost:?}"
    );
    assert!(
        cost.rss_peak > 1 << 20 && cost.context_switches > 0,
        "{cost:?}"
    );
    let drawn: f64 = (samples.ticks().windows(2))
        .map(|pair| pair[1].server_cpus * (pair[1].at - pair[0].at))
        .sum();
    assert!((0.7..1.7).contains(&drawn), "the timeline has {drawn}");
}

#[test]
fn daemons_that_burn_and_end_are_counted_by_the_guard() {
    if !python_is_here() {
        return;
    }
    let work = burn(0.4).replace("'", "\"");
    let (server, _) = burning(&format!(
        "until [ -e go ]; do sleep 0.01; done\n(setsid sh -c '{work}; : > done' &)\nwait"
    ));
    let (samples, from, to) = sampled(&server);
    server.stop().unwrap_or_else(|error| panic!("{error}"));
    let seconds = samples.server(from, to).cpu_seconds();
    assert!((0.38..1.2).contains(&seconds), "{seconds}");
}

#[test]
fn the_system_and_the_client_are_seen_on_the_same_clock() {
    let client = ClientThreads::default();
    let sampler = Sampler::start(
        None,
        client.clone(),
        Duration::from_millis(20),
        Instant::now(),
    );
    let _registered = client.register();
    let from = sampler.mark();
    let begun = Instant::now();
    let mut rounds = 0_u64;
    while begun.elapsed() < Duration::from_millis(300) {
        rounds = std::hint::black_box(rounds + 1);
    }
    let to = sampler.mark();
    let samples = sampler.finish();
    let load = samples.system(from, to);
    let whole = load.user + load.system + load.iowait + load.steal + load.idle;
    assert!((whole - 1.0).abs() < 0.001, "{load:?}");
    let cpu = samples.client_cpu(from, to);
    assert!(
        cpu > 0.0 && cpu <= (to - from) * 1.01,
        "{cpu} of {}",
        to - from
    );
    let noise = samples.noise(from, to, Probe::default());
    assert!(
        (0.0..=1.0).contains(&noise.foreign) && noise.clock_resolution < 0.001,
        "{noise:?}"
    );
    assert!(noise.clock_step.abs() < 0.5, "{noise:?}");
    assert_eq!(samples.server(from, to).cpu_seconds(), 0.0);
}
