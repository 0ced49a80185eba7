//! The trace that a counting method writes, with one or two lines per call, and the sums over any part of it.
//!
//! The length of the trace when a reply has arrived separates what the server did before from what it does afterwards,
//! so that no clocks have to agree. A window is the part between two lengths.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::proc::Pid;

/// Sums of calls by the name of the system call.
pub(super) type Counts = BTreeMap<String, Count>;

/// Sums over the calls of one system call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    /// Number of calls begun.
    pub(super) calls: u64,
    /// Number of calls that failed.
    pub(super) errors: u64,
    /// Number of calls whose duration is known.
    pub(super) timed: u64,
    /// Total time of the `timed` calls, in seconds.
    pub(super) seconds: f64,
}

/// A trace of a server's system calls that is being written.
pub(super) trait Watch {
    /// Waits until the server is at rest and returns the length of the trace in bytes. A server still has to close
    /// files and to log after it has replied. The wait is limited for one that never rests.
    fn settled(&self) -> Result<u64, String>;

    /// Returns the sums of the calls between two lengths returned by `settled`.
    fn counts(&self, from: u64, to: u64) -> Result<Counts, String>;
}

/// A trace file that is being written.
pub(super) struct Trace {
    file: File,
    parse: Parse,
}

/// Parses a line of a trace. `None` if it tells nothing about calls.
pub(super) type Parse = fn(&str) -> Option<Line<'_>>;

/// The content of one line of a trace.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// The beginning of a call, its end, or both.
    Call(Call<'a>),
    /// Notice that earlier calls were lost.
    Lost,
}

/// What a line of the trace tells about a call.
#[derive(Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) thread: Pid,
    pub(super) name: &'a str,
    pub(super) begins: bool,
    pub(super) failed: bool,
    pub(super) time: Time,
}

/// What a line of the trace tells about a call's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    Unknown,
    /// The call took this many seconds.
    Took(f64),
    /// The call began or ended at this time in seconds.
    At(f64),
}

impl Trace {
    /// Creates an unnamed temporary file, which disappears however the laboratory ends.
    pub(super) fn new(parse: Parse) -> Result<Self, String> {
        let file = tempfile::tempfile().map_err(|error| format!("no file for the trace: {error}"));
        Ok(Self::of(file?, parse))
    }

    /// Wraps a file that another process writes into.
    pub(super) fn of(file: File, parse: Parse) -> Self {
        Self { file, parse }
    }

    /// Returns a path by which another process can open the file, valid as long as this process lives.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Returns the current length of the trace in bytes.
    pub(super) fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |file| file.len())
    }

    /// Waits until nothing more is added (for a limited time) and returns the length of the trace in bytes.
    pub(super) fn rested(&self) -> u64 {
        let start = Instant::now();
        let mut last = (self.length(), Instant::now());
        while last.1.elapsed() < QUIET && start.elapsed() < LONGEST {
            thread::sleep(QUIET / 10);
            let now = self.length();
            if now != last.0 {
                last = (now, Instant::now());
            }
        }
        self.length()
    }

    /// Reads the part of the trace between two lengths in bytes. The tracer has opened the file itself, so that reading
    /// does not move the position at which it writes.
    pub(super) fn part(&self, from: u64, to: u64) -> io::Result<impl BufRead> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from))?;
        Ok(BufReader::new(file.take(to.saturating_sub(from))))
    }
}

impl Watch for Trace {
    fn settled(&self) -> Result<u64, String> {
        Ok(self.rested())
    }

    fn counts(&self, from: u64, to: u64) -> Result<Counts, String> {
        let counts = self.part(from, to).and_then(|part| count(part, self.parse));
        counts.map_err(|error| format!("the trace cannot be read: {error}"))
    }
}

/// Sums up the calls in a trace.
pub(super) fn count(mut trace: impl BufRead, parse: Parse) -> io::Result<Counts> {
    let mut counts = Counts::new();
    let mut starts: HashMap<Pid, (String, f64)> = HashMap::new();
    let mut line = Vec::new();
    while trace.read_until(b'\n', &mut line)? > 0 {
        match parse(&String::from_utf8_lossy(&line)) {
            Some(Line::Call(call)) => {
                let count = counts.entry(call.name.to_owned()).or_default();
                count.calls += u64::from(call.begins);
                count.errors += u64::from(call.failed);
                let seconds = match call.time {
                    Time::Unknown => None,
                    Time::Took(seconds) => Some(seconds),
                    Time::At(at) if call.begins => {
                        starts.insert(call.thread, (call.name.to_owned(), at));
                        None
                    }
                    // The thread that began the call may have ended in it, and another may have got its id.
                    Time::At(at) => (starts.remove(&call.thread))
                        .filter(|(name, _)| name == call.name)
                        .map(|(_, start)| at - start),
                };
                if let Some(seconds) = seconds {
                    count.timed += 1;
                    count.seconds += seconds;
                }
            }
            Some(Line::Lost) => return Err(io::Error::other("calls came too fast to be kept")),
            None => {}
        }
        line.clear();
    }
    Ok(counts)
}

/// Time without additions after which a trace counts as at rest.
const QUIET: Duration = Duration::from_millis(200);

/// Maximum wait for a server that never rests.
const LONGEST: Duration = Duration::from_secs(2);
