//! Counting passes, outside of the timed blocks: system calls per request, and instructions per request.
//!
//! Watching slows a server down, so what is counted here is never timed there; by how much it was slowed is told
//! beside the figures. Start-up is kept out: [`pass`] compares two windows of one server, [`callgrind::pass`] two
//! servers; in both the second saw so many requests more, and their difference is that of the requests alone.

pub mod callgrind;
mod session;
mod strace;
mod tool;
mod trace;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::launch::{self, Attached, Endpoint, Guard, Launched, Tool};
use crate::load::Asked;
use crate::proc;
use crate::record::{Pass, SyscallRow};
use crate::scenario::Scenario;
use crate::variant::Variant;
use crate::witness;

use session::Session;
use strace::Strace;
use trace::{Count, Counts, Trace};

/// What a pass counts.
pub struct Subject<'a> {
    /// The experiment; its load is driven through one connection, whatever it says.
    pub scenario: &'a Scenario,
    /// The variant.
    pub variant: &'a Variant,
    /// The variant's index.
    pub index: u32,
    /// How to start the guard of servers.
    pub guard: &'a Guard,
    /// What the server is asked, once it runs; or why that cannot be said.
    pub asked: &'a dyn Fn(&Launched) -> Result<Vec<Asked>, String>,
    /// Ends it early when set.
    pub cancel: Arc<AtomicBool>,
}

/// Counts the system calls of all the server's processes and threads for `sample.syscalls` requests, and reads
/// the witnesses that need them. Why it could not is in [`Pass::method`].
#[must_use]
pub fn pass(subject: &Subject<'_>) -> Pass {
    pass_of(subject.index, |pass| {
        let strace = Strace::find()?;
        let requests = u64::from(subject.scenario.sample.syscalls);
        let unwatched = unwatched(subject, requests)?;
        watched(subject, requests, &strace)?.fill(pass, &strace, unwatched);
        pass.witnesses = witness::counted(&subject.variant.witness, &pass.syscalls)?;
        Ok(())
    })
}

/// A server that runs already, to be counted.
pub struct Running<'a> {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// What it is asked.
    pub asked: Vec<Asked>,
    /// Its load and checks count, and `sample.syscalls`.
    pub scenario: &'a Scenario,
    /// The index of its variant.
    pub index: u32,
    /// How to start the guard of the tool that watches.
    pub guard: &'a Guard,
}

/// The same for a server that runs already: strace is attached to its processes, found by their listening
/// socket, and lets go of them afterwards.
#[must_use]
pub fn attached(server: &Running<'_>) -> Pass {
    pass_of(server.index, |pass| {
        let strace = Strace::find()?;
        let roots = launch::running(&server.endpoint)?;
        let requests = u64::from(server.scenario.sample.syscalls);
        let scenario = session::patient(server.scenario, strace::PATIENCE);
        let asked = server.asked.clone();
        let session = Session::on(&scenario, server.endpoint.clone(), asked, requests)?;
        let unwatched = session.unwatched()?;
        let mut pids = roots.clone();
        pids.extend(roots.iter().flat_map(|root| proc::descendants(*root).pids));
        let trace = new_trace()?;
        let mut tool = Attached::start(server.guard, strace.attach(&trace.path(), &pids))?;
        tool.wait_until_traced(&pids)?;
        let seen = seen(&session, &trace)?;
        tool.stop();
        seen.fill(pass, &strace, unwatched);
        Ok(())
    })
}

/// A pass that this fills, or that says why it could not.
fn pass_of(variant: u32, fill: impl FnOnce(&mut Pass) -> Result<(), String>) -> Pass {
    let nothing = Pass {
        variant,
        method: String::new(),
        requests: 0,
        slowdown: 0.0,
        syscalls: Vec::new(),
        instructions: None,
        witnesses: Vec::new(),
    };
    let mut pass = nothing.clone();
    match fill(&mut pass) {
        Ok(()) => pass,
        Err(why) => Pass {
            method: format!("not available: {why}"),
            ..nothing
        },
    }
}

/// What was seen of a server under strace.
struct Seen {
    /// Requests in which `many` has more than `few`.
    requests: u64,
    /// Mean time per request.
    seconds: f64,
    few: Counts,
    many: Counts,
    /// As long without requests as `many` was longer than `few`: what the server does anyway.
    idle: Counts,
}

/// Mean time per request of a server that nobody watches.
fn unwatched(subject: &Subject<'_>, requests: u64) -> Result<f64, String> {
    let session = Session::start(subject, requests, &Tool::default(), 1.0)?;
    let seconds = session.unwatched()?;
    session.stop()?;
    Ok(seconds)
}

fn new_trace() -> Result<Trace, String> {
    Trace::new().map_err(|error| format!("no file for the trace: {error}"))
}

fn watched(subject: &Subject<'_>, requests: u64, strace: &Strace) -> Result<Seen, String> {
    let trace = new_trace()?;
    let tool = Tool {
        words: strace.words(&trace.path()),
        litter: Vec::new(),
    };
    let session = Session::start(subject, requests, &tool, strace::PATIENCE)?;
    let seen = seen(&session, &trace)?;
    session.stop()?;
    Ok(seen)
}

/// What a traced server calls in windows that differ by the counted requests alone.
fn seen(session: &Session, trace: &Trace) -> Result<Seen, String> {
    session.warm()?;
    let few = Window::of(trace, || session.few())?;
    let many = Window::of(trace, || session.many())?;
    let longer = many.time.saturating_sub(few.time);
    let idle = Window::of(trace, || session.idle(longer))?;
    Ok(Seen {
        requests: session.requests(),
        seconds: many.served,
        few: few.counts,
        many: many.counts,
        idle: idle.counts,
    })
}

/// A part of a trace.
struct Window<T> {
    counts: Counts,
    time: Duration,
    served: T,
}

impl<T> Window<T> {
    /// What the server calls meanwhile, and until it rests again.
    fn of(trace: &Trace, serve: impl FnOnce() -> Result<T, String>) -> Result<Self, String> {
        let (from, begun) = (trace.settled(), Instant::now());
        let served = serve()?;
        let to = trace.settled();
        let time = begun.elapsed();
        let counts = trace.counts(from, to);
        Ok(Self {
            counts: counts.map_err(|error| format!("the trace cannot be read: {error}"))?,
            time,
            served,
        })
    }
}

impl Seen {
    fn fill(&self, pass: &mut Pass, strace: &Strace, unwatched: f64) {
        pass.method = strace.to_string();
        pass.requests = self.requests;
        pass.slowdown = self.seconds / unwatched;
        pass.syscalls = self.rows();
    }

    /// Per request, the most frequent first.
    fn rows(&self) -> Vec<SyscallRow> {
        let per_request = |name: &str, number: fn(&Count) -> u64| {
            let of = |counts: &Counts| counts.get(name).map_or(0, number) as f64;
            let more = of(&self.many) - of(&self.few) - of(&self.idle);
            thousandths(more.max(0.0) / self.requests as f64)
        };
        let mut rows: Vec<_> = (self.many.iter())
            .map(|(name, count)| SyscallRow {
                name: name.clone(),
                calls: per_request(name, |count| count.calls),
                errors: per_request(name, |count| count.errors),
                microseconds: thousandths(count.seconds * 1e6 / count.timed.max(1) as f64),
            })
            .filter(|row| row.calls > 0.0)
            .collect();
        rows.sort_by(|a, b| b.calls.total_cmp(&a.calls));
        rows
    }
}

/// More digits would only be noise.
fn thousandths(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests;
