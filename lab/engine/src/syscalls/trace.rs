//! What a method of counting writes down, a line per call or two, and the sums of any part of it.
//!
//! Its length when a reply has come divides what the server did before from what it does after, so that no clocks
//! have to agree: a window is what stands between two lengths.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::proc::Pid;

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

/// A server's calls, being written down.
pub(super) trait Watch {
    /// How much is written, once the server rests: it still has to close and to log after it has replied. One
    /// that never rests is not waited for long.
    fn settled(&self) -> Result<u64, String>;

    /// What was called between two such lengths.
    fn counts(&self, from: u64, to: u64) -> Result<Counts, String>;
}

/// A file that is being written.
pub(super) struct Trace {
    file: File,
    parse: Parse,
}

/// Reads a line.
pub(super) type Parse = fn(&str) -> Option<Line<'_>>;

/// What a line tells.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// Of a call's beginning, its end, or both.
    Call(Call<'a>),
    /// That calls before it could not be kept.
    Lost,
}

/// What is told of a call.
#[derive(Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) thread: Pid,
    pub(super) name: &'a str,
    pub(super) begins: bool,
    pub(super) failed: bool,
    pub(super) time: Time,
}

/// What is told of a call's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    Unknown,
    /// It took so many seconds.
    Took(f64),
    /// It began, or ended, at this second.
    At(f64),
}

impl Trace {
    /// A file without a name, of which nothing is left however we end.
    pub(super) fn new(parse: Parse) -> Result<Self, String> {
        let file = tempfile::tempfile().map_err(|error| format!("no file for the trace: {error}"));
        Ok(Self::of(file?, parse))
    }

    /// One that others write into.
    pub(super) fn of(file: File, parse: Parse) -> Self {
        Self { file, parse }
    }

    /// Where another process finds it, as long as we live.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |file| file.len())
    }

    /// Its length once nothing more is added.
    pub(super) fn rested(&self) -> u64 {
        let begun = Instant::now();
        let mut last = (self.length(), Instant::now());
        while last.1.elapsed() < QUIET && begun.elapsed() < LONGEST {
            thread::sleep(QUIET / 10);
            let now = self.length();
            if now != last.0 {
                last = (now, Instant::now());
            }
        }
        self.length()
    }

    /// Reads a part of the trace. The tracer has its own offset in the file.
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
        let counted = self.part(from, to).and_then(|part| count(part, self.parse));
        counted.map_err(|error| format!("the trace cannot be read: {error}"))
    }
}

/// Sums a trace up.
pub(super) fn count(mut trace: impl BufRead, parse: Parse) -> io::Result<Counts> {
    let mut counts = Counts::new();
    let mut begun: HashMap<Pid, (String, f64)> = HashMap::new();
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
                        begun.insert(call.thread, (call.name.to_owned(), at));
                        None
                    }
                    // A thread may have ended in a call and given its number to another.
                    Time::At(at) => (begun.remove(&call.thread))
                        .filter(|(name, _)| name == call.name)
                        .map(|(_, begun)| at - begun),
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

/// Nothing was added for so long: it rests.
const QUIET: Duration = Duration::from_millis(200);

/// A server that never rests is waited for so long.
const LONGEST: Duration = Duration::from_secs(2);
