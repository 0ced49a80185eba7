//! One row in a process of its own.

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::judge;
use crate::rows::Row;

/// How long a row may take, in an unoptimised build beside other work.
const DEADLINE: Duration = Duration::from_secs(20);

/// How much address space it may take: what a request may hold by default, and as much again for the program.
const MEMORY: u64 = 2 << 30;

/// What came of a row.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Verdict {
    /// As it should be.
    Passed {
        /// To the last bit, where that can be said.
        exact: bool,
        /// What of it could not be judged.
        left: Vec<String>,
    },
    /// Why not.
    Missed(String),
}

impl Verdict {
    pub(crate) fn missed(&self) -> bool {
        matches!(self, Self::Missed(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed { left, .. } if !left.is_empty() => {
                write!(f, "ok, but not judged: {}", left.join(", "))
            }
            Self::Passed { exact: true, .. } => f.write_str("ok, to the bit"),
            Self::Passed { .. } => f.write_str("ok"),
            Self::Missed(why) => write!(f, "MISSED: {why}"),
        }
    }
}

/// Starts this program for one row and waits for its verdict.
pub(crate) fn judged(row: &Row, set: &Path) -> Result<Verdict> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--alone")
        .arg("--set")
        .arg(set)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that is gone already has said why.
        let _ = stdin.write_all(serde_json::to_string(row)?.as_bytes());
    }
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > DEADLINE {
            child.kill()?;
            child.wait()?;
            return Ok(Verdict::Missed(format!("no answer within {DEADLINE:?}")));
        }
        thread::sleep(Duration::from_millis(2));
    };
    let (mut said, mut complaint) = (String::new(), String::new());
    child
        .stdout
        .take()
        .context("its output")?
        .read_to_string(&mut said)?;
    child
        .stderr
        .take()
        .context("its errors")?
        .read_to_string(&mut complaint)?;
    Ok(serde_json::from_str(&said).unwrap_or_else(|_| {
        let complaint = complaint.lines().take(3).collect::<Vec<_>>().join(" ");
        Verdict::Missed(format!("crashed ({status}): {complaint}"))
    }))
}

/// Judges the row on standard input, on a thread as a server has them.
pub(crate) fn judge(set: &Path) -> Result<()> {
    let limit = Some(MEMORY);
    setrlimit(
        Resource::As,
        Rlimit {
            current: limit,
            maximum: limit,
        },
    )?;
    let row: Row = serde_json::from_reader(std::io::stdin().lock())?;
    if row.folder() == "svg" {
        fonts(&set.join("svg/fonts"))?;
    }
    let verdict = thread::scope(|scope| scope.spawn(|| judge::judge(&row, set)).join());
    let verdict = match verdict {
        Ok(Ok(passed)) => passed,
        Ok(Err(why)) => Verdict::Missed(why),
        Err(_) => anyhow::bail!("it panicked"),
    };
    println!("{}", serde_json::to_string(&verdict)?);
    Ok(())
}

/// The set's own, which its pictures were drawn with.
fn fonts(folder: &Path) -> Result<()> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "ttf" || end == "otf")
        })
        .collect();
    paths.sort();
    let files = paths.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    let families = [
        "Noto Sans",
        "Noto Serif",
        "Noto Mono",
        "Yellowtail",
        "Sedgwick Ave Display",
    ];
    andon_codecs::Fonts::new(files, families).install();
    Ok(())
}
