//! Counting passes, outside of the timed blocks: system calls per request, and instructions per request.
//!
//! Tracing slows a server down, so a counting pass gives no speeds; its slowdown is reported next to the counts.
//! Start-up is excluded: [`pass`] compares two windows of one server, [`callgrind::pass`] two servers. In both cases
//! the second one served a known number of additional requests, and the difference belongs to these requests alone.
//!
//! System calls are counted by the kernel's tracepoints where they may be used, because these slow a server down less,
//! and by strace elsewhere. Both follow all threads and children, and give the same table.

pub mod callgrind;
mod session;
mod strace;
mod tool;
mod trace;
mod tracepoints;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::assertion;
use crate::launch::{self, Attached, Endpoint, Guard, Launched, Tool};
use crate::load::RequestTemplate;
use crate::proc;
use crate::record::{Pass, SyscallRow};
use crate::scenario::{CountBy, Scenario};
use crate::variant::Variant;

use session::Session;
use strace::Strace;
use trace::{Count, Counts, Watch};
use tracepoints::Tracepoints;

/// The server and the requests that a pass counts.
pub struct Subject<'a> {
    /// The experiment. Its load is driven through one connection, whatever `load` says.
    pub scenario: &'a Scenario,
    /// The variant of the server that is started.
    pub variant: &'a Variant,
    /// Index of the variant.
    pub index: u32,
    /// How to start the guard that watches over the server.
    pub guard: &'a Guard,
    /// Returns the requests for the server once it runs, or the reason why they cannot be determined.
    pub templates: &'a dyn Fn(&Launched) -> Result<Vec<RequestTemplate>, String>,
    /// Ends the pass early when set.
    pub cancel: Arc<AtomicBool>,
}

/// Counts the system calls of all processes and threads of the server for `sample.syscalls` requests, and reads the
/// assertions that depend on them. If it cannot count, [`Pass::method`] says why.
#[must_use]
pub fn pass(subject: &Subject<'_>) -> Pass {
    pass_of(subject.index, |pass| {
        let sample = &subject.scenario.sample;
        let requests = u64::from(sample.syscalls);
        let unwatched = unwatched(subject, requests)?;
        let measurement = by(
            sample.syscalls_by,
            || by_tracepoints(subject, requests),
            || by_strace(subject, requests),
        )?;
        measurement.fill(pass, unwatched);
        pass.assertions = assertion::readings_of_pass(&subject.variant.assert, &pass.syscalls)?;
        Ok(())
    })
}

/// A server that is already running, whose system calls are to be counted.
pub struct Running<'a> {
    /// The address at which the server listens.
    pub endpoint: Endpoint,
    /// The requests that are counted.
    pub templates: Vec<RequestTemplate>,
    /// The experiment, of which only the load, the checks, the seed and the system call settings of `sample` are used.
    pub scenario: &'a Scenario,
    /// Index of the server's variant.
    pub index: u32,
    /// How to start the guard that watches over the tracing tool.
    pub guard: &'a Guard,
}

/// Counts the system calls of a server that is already running. Its processes are found by their listening socket, and
/// are left as they were.
#[must_use]
pub fn attached(server: &Running<'_>) -> Pass {
    pass_of(server.index, |pass| {
        let roots = launch::running(&server.endpoint)?;
        let sample = &server.scenario.sample;
        let scenario = session::patient(server.scenario, strace::PATIENCE);
        let session = Session::on(
            &scenario,
            server.endpoint.clone(),
            server.templates.clone(),
            u64::from(sample.syscalls),
        )?;
        let tree = || {
            let below = roots.iter().flat_map(|root| proc::descendants(*root).pids);
            roots.iter().copied().chain(below).collect::<Vec<_>>()
        };
        let unwatched = session.unwatched()?;
        let measurement = by(
            sample.syscalls_by,
            || {
                let tracepoints = Tracepoints::find()?;
                let watching = tracepoints.watch(server.guard, &tree)?;
                measure(&session, &watching, tracepoints.method())
            },
            || {
                let strace = Strace::find()?;
                let (trace, pids) = (Strace::trace()?, tree());
                let words = strace.attach(&trace.path(), &pids);
                let mut tool = Attached::start(server.guard, words, Vec::new())?;
                tool.wait_until_traced(&pids)?;
                let measurement = measure(&session, &trace, strace.to_string())?;
                tool.stop();
                Ok(measurement)
            },
        )?;
        measurement.fill(pass, unwatched);
        Ok(())
    })
}

/// Returns a pass filled by `fill`, or one that says why it could not be filled.
fn pass_of(variant: u32, fill: impl FnOnce(&mut Pass) -> Result<(), String>) -> Pass {
    let nothing = Pass {
        variant,
        method: String::new(),
        requests: 0,
        slowdown: 0.0,
        syscalls: Vec::new(),
        instructions: None,
        assertions: Vec::new(),
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

/// Counts by the requested method. With [`CountBy::Auto`], strace is used where the tracepoints cannot be, and the
/// method's name says why.
fn by(
    method: CountBy,
    tracepoints: impl Fn() -> Result<Measurement, String>,
    strace: impl Fn() -> Result<Measurement, String>,
) -> Result<Measurement, String> {
    match method {
        CountBy::Tracepoints => tracepoints().map_err(|why| format!("no tracepoints: {why}")),
        CountBy::Strace => strace(),
        CountBy::Auto => tracepoints().or_else(|why| match strace() {
            Ok(mut measurement) => {
                measurement.method += &format!(" (no tracepoints: {why})");
                Ok(measurement)
            }
            Err(other) if other == why => Err(why),
            Err(other) => Err(format!("{other}; no tracepoints: {why}")),
        }),
    }
}

/// The system calls of a traced server in its windows.
struct Measurement {
    method: String,
    /// Number of counted requests, by which the two measured windows differ: `many` has them in addition to those of
    /// `few`.
    requests: u64,
    /// Mean time per request in seconds while the server was traced.
    seconds: f64,
    few: Counts,
    many: Counts,
    /// System calls of the idle server in a window without requests. It is as long as the time by which `many` was
    /// longer than `few`.
    idle: Counts,
}

/// Returns the mean time per request in seconds of a server that is not traced.
fn unwatched(subject: &Subject<'_>, requests: u64) -> Result<f64, String> {
    let session = Session::start(subject, requests, &Tool::default(), 1.0)?;
    let seconds = session.unwatched()?;
    session.stop()?;
    Ok(seconds)
}

fn by_tracepoints(subject: &Subject<'_>, requests: u64) -> Result<Measurement, String> {
    let tracepoints = Tracepoints::find()?;
    let session = Session::start(subject, requests, &Tool::default(), tracepoints::PATIENCE)?;
    let watching = tracepoints.watch(subject.guard, &|| session.tree())?;
    let measurement = measure(&session, &watching, tracepoints.method())?;
    drop(watching);
    session.stop()?;
    Ok(measurement)
}

fn by_strace(subject: &Subject<'_>, requests: u64) -> Result<Measurement, String> {
    let strace = Strace::find()?;
    let trace = Strace::trace()?;
    let tool = Tool {
        words: strace.words(&trace.path()),
        litter: Vec::new(),
    };
    let session = Session::start(subject, requests, &tool, strace::PATIENCE)?;
    let measurement = measure(&session, &trace, strace.to_string())?;
    session.stop()?;
    Ok(measurement)
}

/// Counts the system calls of a traced server in three windows: with few requests, with the same and the counted ones,
/// and without requests.
fn measure(session: &Session, watch: &dyn Watch, method: String) -> Result<Measurement, String> {
    session.warm()?;
    let few = Window::of(watch, || session.few())?;
    let many = Window::of(watch, || session.many())?;
    if many.counts.is_empty() {
        return Err("no call was seen, and no server answers without one".into());
    }
    let longer = many.time.saturating_sub(few.time);
    let idle = Window::of(watch, || session.idle(longer))?;
    Ok(Measurement {
        method,
        requests: session.requests(),
        seconds: many.served,
        few: few.counts,
        many: many.counts,
        idle: idle.counts,
    })
}

/// A window of a trace: its system calls, its duration and the result of serving its requests.
struct Window<T> {
    counts: Counts,
    time: Duration,
    served: T,
}

impl<T> Window<T> {
    /// Runs `serve` and returns the system calls made from its beginning until the server is at rest again.
    fn of(watch: &dyn Watch, serve: impl FnOnce() -> Result<T, String>) -> Result<Self, String> {
        let (from, start) = (watch.settled()?, Instant::now());
        let served = serve()?;
        let to = watch.settled()?;
        Ok(Self {
            time: start.elapsed(),
            counts: watch.counts(from, to)?,
            served,
        })
    }
}

impl Measurement {
    fn fill(&self, pass: &mut Pass, unwatched: f64) {
        pass.method.clone_from(&self.method);
        pass.requests = self.requests;
        pass.slowdown = self.seconds / unwatched;
        pass.syscalls = self.rows();
    }

    /// Returns one row per system call, with its calls and errors per request, the most frequent first.
    fn rows(&self) -> Vec<SyscallRow> {
        let per_request = |name: &str, number: fn(&Count) -> u64| {
            let of = |counts: &Counts| counts.get(name).map_or(0, number) as f64;
            let per_window = of(&self.many) - of(&self.few) - of(&self.idle);
            thousandths(per_window.max(0.0) / self.requests as f64)
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

/// Rounds to three decimals. More digits would only be noise.
fn thousandths(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests;
