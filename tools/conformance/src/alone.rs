//! Judges a row of the manifest (a file and the expected answer) with the decoders alone, in a process of its own.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::decoders::Decoders;
use crate::judge;
use crate::rows::Row;
use crate::verdict::Verdict;

/// Maximum time for judging one row of the manifest in an unoptimised build, while other work runs.
const DEADLINE: Duration = Duration::from_secs(20);

/// Maximum address space, in bytes, of the process that judges one row of the manifest: the default memory limit of a
/// request, and as much again for the program.
const MEMORY: u64 = 2 << 30;

/// Starts this program for one row of the manifest and returns its verdict. The row is missed if the process crashes or
/// exceeds its deadline.
pub(crate) fn judge_in_process(row: &Row, set: &Path) -> Result<Verdict> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--alone")
        .arg("--set")
        .arg(set)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the process has ended already, its exit status tells why.
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

/// Judges one row of the manifest, read from standard input, and prints the verdict. The work runs on a thread with the
/// default stack size.
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
    let verdict = || match Decoders::read(&set.join(&row.path)) {
        Ok(decoders) => judge::judge(&row, set, &decoders),
        Err(why) => Verdict::Missed(why),
    };
    let verdict = thread::scope(|scope| scope.spawn(verdict).join());
    let verdict = verdict.map_err(|_| anyhow::anyhow!("it panicked"))?;
    println!("{}", serde_json::to_string(&verdict)?);
    Ok(())
}

/// Installs the conformance set's own fonts, with which its SVG images were drawn.
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
