//! Checks whether the server ever starts a process. strace watches every clone, fork and exec of all its threads.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;

use super::client;
use super::server::{ResultCaching, Server, terminate};

/// Numbers of threads and processes that the server started between its start and its end.
#[derive(Serialize)]
pub(crate) struct Counts {
    /// Calls of `fork`, `vfork` and `clone`, except those that start a thread.
    pub(crate) processes: usize,
    /// Calls of `execve` and `execveat`, not counting the start of the server itself.
    pub(crate) execs: usize,
    /// Threads that were started.
    pub(crate) threads: usize,
}

/// Starts the server under strace, sends the requests, stops it and counts the calls in strace's log.
pub(crate) fn watch(
    photos: &Path,
    urls: &[String],
    connections: usize,
    requests: usize,
) -> Result<Counts> {
    let andon = env::current_exe()?.with_file_name("andon");
    let log = env::temp_dir().join(format!("andon-bench-strace-{}", std::process::id()));
    let mut strace = Command::new("strace");
    strace
        // strace stops the server only for these calls. All others run at full speed.
        .args([
            "-f",
            "--seccomp-bpf",
            "-e",
            "trace=execve,execveat,fork,vfork,clone,clone3",
            "-o",
        ])
        .arg(&log)
        .arg(andon);
    let server = Server::spawn(strace, photos, ResultCaching::Nothing, "").context("strace")?;
    client::load(&server, urls, connections, 0, requests)?;
    // strace ends with the server, its only child.
    terminate(only_child(server.pid())?)?;
    server.wait()?;
    let text = fs::read_to_string(&log)?;
    fs::remove_file(&log)?;
    Ok(count(&text))
}

fn only_child(pid: u32) -> Result<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    Ok(children
        .split_whitespace()
        .next()
        .context("strace has no child")?
        .parse()?)
}

fn count(log: &str) -> Counts {
    let mut counts = Counts {
        processes: 0,
        execs: 0,
        threads: 0,
    };
    for line in log.lines() {
        // "PID call(…", or "PID <... call resumed>…" for the second half of a call that was already counted.
        let call = line
            .split_once(' ')
            .map_or("", |(_, rest)| rest.trim_start());
        if call.starts_with("execve") {
            counts.execs += 1;
        } else if call.starts_with("clone") && call.contains("CLONE_THREAD") {
            counts.threads += 1;
        } else if ["clone", "fork", "vfork"]
            .iter()
            .any(|name| call.starts_with(name))
        {
            counts.processes += 1;
        }
    }
    // The first exec is strace's start of the server.
    counts.execs = counts.execs.saturating_sub(1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_from_processes() {
        let counts = count(
            "7 execve(\"andon\", [\"andon\"], 0x7ffd /* 9 vars */) = 0\n\
             7 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD, child_tid=0x7f} => {parent_tid=[8]}, 88) = 8\n\
             7 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 9\n\
             9 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 9 vars */) = 0\n\
             8 <... clone3 resumed> => {parent_tid=[10]}, 88) = 10\n\
             7 +++ exited with 0 +++\n",
        );
        assert_eq!((counts.processes, counts.execs, counts.threads), (1, 1, 1));
    }
}
