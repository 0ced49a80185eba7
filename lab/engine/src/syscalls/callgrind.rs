//! Instructions per request, counted by Valgrind's callgrind: the same in every run, however busy the machine.
//!
//! A count is known only once its process has ended, so two servers are compared. Both are started, warmed up and
//! stopped alike, and one of them serves a known number of additional requests. The difference still contains what
//! varies from start to start (such as the seeds of hash tables), which more requests make smaller. What a child does
//! between `fork` and `exec` is not counted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use super::session::Session;
use super::{Subject, tool};
use crate::launch::Tool;
use crate::record::Pass;

/// Counts the instructions of all processes and threads of the server for `sample.callgrind` requests. If it cannot
/// count, [`Pass::method`] says why.
#[must_use]
pub fn pass(subject: &Subject<'_>) -> Pass {
    super::pass_of(subject.index, |pass| {
        let program = tool::find("valgrind")?;
        let version = tool::version(&program)?;
        pass.method = version.replace("valgrind-", "callgrind ");
        let requests = u64::from(subject.scenario.sample.callgrind);
        let unwatched = super::unwatched(subject, requests)?;
        let count = |end: &dyn Fn(&Session) -> Result<f64, String>| {
            instructions(subject, requests, &program, end)
        };
        let start = Instant::now();
        let (many, seconds) = count(&|server| server.many())?;
        let longer = start.elapsed();
        let start = Instant::now();
        let (few, _) = count(&|server| {
            let seconds = server.few()?;
            server.idle(longer.saturating_sub(start.elapsed()))?;
            Ok(seconds)
        })?;
        pass.requests = requests;
        pass.slowdown = seconds / unwatched;
        pass.instructions = Some((many as f64 - few as f64) / requests as f64);
        Ok(())
    })
}

/// Runs a server under callgrind from start to stop. Returns its number of instructions and the mean time in seconds of
/// the last requests, which `end` sends.
fn instructions(
    subject: &Subject<'_>,
    requests: u64,
    program: &str,
    end: &dyn Fn(&Session) -> Result<f64, String>,
) -> Result<(u64, f64), String> {
    let folder = folder().map_err(|error| format!("no folder for callgrind: {error}"))?;
    let tool = Tool {
        words: words(program, folder.path()),
        litter: vec![folder.path().to_owned()],
    };
    let session = Session::start(subject, requests, &tool, PATIENCE)?;
    session.warm()?;
    let seconds = end(&session)?;
    if session.stop()? {
        let why = "the server had to be killed, and its count is lost: is `server.stop` right?";
        return Err(why.into());
    }
    let total = total(folder.path()).map_err(|error| format!("callgrind's files: {error}"))?;
    if total == 0 {
        return Err("callgrind wrote nothing".into());
    }
    Ok((total, seconds))
}

/// Returns the words that run callgrind, to be put before the server's command.
fn words(program: &str, folder: &Path) -> Vec<String> {
    let mut words = vec![program.to_owned(), "--tool=callgrind".into()];
    let options = [
        "-q",
        "--trace-children=yes",
        "--vgdb=no",
        "--log-file=/dev/null",
    ];
    words.extend(options.map(str::to_owned));
    // A child inherits its parent's counts, which would then count twice. Therefore callgrind writes and resets them
    // right before a process forks.
    words.extend(["fork", "_Fork"].map(|name| format!("--dump-before={name}")));
    words.push(format!("--callgrind-out-file={}/%p", folder.display()));
    words
}

/// Creates a temporary folder in which everyone may write, since servers may change their user.
fn folder() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("andon-lab-callgrind-")
        .tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777))?;
    Ok(folder)
}

/// Returns the sum of the totals of all callgrind files in a folder.
fn total(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let bytes = fs::read(entry?.path())?;
        let text = String::from_utf8_lossy(&bytes);
        let totals = text.lines().filter_map(|line| {
            let numbers = line.strip_prefix("totals:")?;
            numbers.split_whitespace().next()?.parse::<u64>().ok()
        });
        sum += totals.sum::<u64>();
    }
    Ok(sum)
}

/// Factor by which the time-outs of a server under callgrind are extended.
const PATIENCE: f64 = 60.0;
