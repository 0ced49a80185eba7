//! The file that strace writes: a line per call, or two where other threads came between.
//!
//! strace flushes each line before the thread goes on, so the file's length when a reply has come divides what
//! the server did before from what it does after: no clocks have to agree.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// What was called how often.
pub(super) type Counts = BTreeMap<String, Count>;

/// One system call's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    /// Calls begun.
    pub(super) calls: u64,
    /// Calls that failed.
    pub(super) errors: u64,
    /// Calls whose time is known.
    pub(super) timed: u64,
    /// Their time.
    pub(super) seconds: f64,
}

/// A trace that is being written: a file without a name, of which nothing is left however we end.
pub(super) struct Trace(File);

impl Trace {
    pub(super) fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Self)
    }

    /// Where another process finds it, as long as we live.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }

    /// Its length in bytes, once nothing more is added: a server still has to close and to log after it has
    /// replied. One that never rests is not waited for long.
    pub(super) fn settled(&self) -> u64 {
        let length = || self.0.metadata().map_or(0, |file| file.len());
        let begun = Instant::now();
        let mut last = (length(), Instant::now());
        while last.1.elapsed() < QUIET && begun.elapsed() < LONGEST {
            thread::sleep(QUIET / 10);
            let now = length();
            if now != last.0 {
                last = (now, Instant::now());
            }
        }
        length()
    }

    /// What was called between two lengths.
    pub(super) fn counts(&self, from: u64, to: u64) -> io::Result<Counts> {
        // strace has opened it for itself, so that its place in it is not ours.
        let mut file = &self.0;
        file.seek(SeekFrom::Start(from))?;
        count(BufReader::new(file.take(to.saturating_sub(from))))
    }
}

fn count(mut trace: impl BufRead) -> io::Result<Counts> {
    let mut counts = Counts::new();
    let mut line = Vec::new();
    while trace.read_until(b'\n', &mut line)? > 0 {
        if let Some(line) = Line::parse(&String::from_utf8_lossy(&line)) {
            let count = counts.entry(line.name.to_owned()).or_default();
            count.calls += u64::from(line.begins);
            count.errors += u64::from(line.failed);
            if let Some(seconds) = line.seconds {
                count.timed += 1;
                count.seconds += seconds;
            }
        }
        line.clear();
    }
    Ok(counts)
}

/// What one line tells of a call.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    name: &'a str,
    begins: bool,
    failed: bool,
    seconds: Option<f64>,
}

impl<'a> Line<'a> {
    /// `PID name(…) = result <seconds>`, its first half `PID name(… <unfinished ...>`, or its second half
    /// `PID <... name resumed>…) = result <seconds>`. `None` for anything else.
    fn parse(line: &'a str) -> Option<Self> {
        let (pid, rest) = line.trim_end().split_once(' ')?;
        pid.parse::<u32>().ok()?;
        let rest = rest.trim_start();
        let (name, begins) = match rest.strip_prefix("<... ") {
            Some(resumed) => (resumed.split_once(" resumed>")?.0, false),
            None => (rest.split_once('(')?.0, true),
        };
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(named) {
            return None;
        }
        let result = match rest.rsplit_once(" = ") {
            Some((_, result)) if !rest.ends_with("<unfinished ...>") => result,
            _ => "",
        };
        let time = result.rsplit_once('<').map(|(_, time)| time);
        Some(Self {
            name,
            begins,
            // A call that a signal interrupts goes on afterwards (ERESTARTSYS and its like): no failure.
            failed: result.starts_with("-1 E") && !result.starts_with("-1 ERESTART"),
            seconds: time.and_then(|time| time.strip_suffix('>')?.parse().ok()),
        })
    }
}

/// Nothing was added for so long: it rests.
const QUIET: Duration = Duration::from_millis(200);

/// A server that never rests is waited for so long.
const LONGEST: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_others_interrupt_count_once_with_their_outcome() {
        let trace = "\
17 openat(0xffffff9c, 0x7f71, 0x80000, 0) = -1 ENOENT (No such file or directory) <0.000011>
17 openat(0xffffff9c, 0x7f71, 0x80000, 0) = 0x3 <0.000009>
17 futex(0x1f16cce0, 0x189, 0 <unfinished ...>
18 clock_nanosleep(0x1, 0x1)         = -1 ERESTARTNOHAND (Unknown error 514) <0.5>
17 <... futex resumed>)              = -1 EAGAIN (Resource temporarily unavailable) <0.25>
18 exit_group(0)                     = ?
17 <... wait4 resumed>)              = 0x12 <1.5>
17 --- SIGCHLD {si_signo=SIGCHLD} ---
18 +++ exited with 0 +++
";
        let counts = count(trace.as_bytes()).expect("reads");
        let of = |name: &str| counts[name];
        let names: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["clock_nanosleep", "exit_group", "futex", "openat", "wait4"]
        );
        assert_eq!((of("openat").calls, of("openat").errors), (2, 1));
        assert!((of("openat").seconds - 20e-6).abs() < 1e-12);
        assert_eq!((of("futex").calls, of("futex").errors), (1, 1));
        assert_eq!(of("futex").seconds, 0.25);
        assert_eq!(of("clock_nanosleep").errors, 0);
        assert_eq!((of("exit_group").calls, of("exit_group").timed), (1, 0));
        // It began before the window.
        assert_eq!((of("wait4").calls, of("wait4").timed), (0, 1));
    }

    #[test]
    fn torn_and_foreign_lines_are_passed_over() {
        for line in [
            "",
            "17",
            "17 fut",
            "ex(0x1) = 0 <0.1>",
            "17 <... futex",
            "strace: hello (1)",
        ] {
            assert_eq!(Line::parse(line), None, "{line}");
        }
    }
}
