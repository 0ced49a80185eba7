//! Evaluating a variant's assertions in a block, or in the pass that counts its system calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Assertion;
use crate::launch::{Endpoint, Launched};
use crate::proc::Pid;
use crate::record::{Reading, ServerCost, SyscallRow};

/// A variant's assertions, observed while a block runs.
#[derive(Debug)]
pub struct Assertions(Vec<Watched>);

#[derive(Debug)]
struct Watched {
    assertion: Assertion,
    /// The counter's value before the measured window, or why it could not be read; 0 for other assertions.
    before: Result<f64, String>,
    /// For an assertion `maps`: the largest number of the server's processes that mapped a matching file at once, and
    /// the file's name.
    mapped: (usize, String),
}

impl Assertions {
    /// Parses the assertions of a variant and reads the counters as they stand before the measured window.
    ///
    /// # Errors
    /// See [`Assertion::parse`].
    pub fn begin(
        assertions: &[BTreeMap<String, String>],
        server: &Launched,
    ) -> Result<Self, String> {
        let watched = assertions.iter().map(|words| {
            let assertion = Assertion::parse(words)?;
            let before = match &assertion {
                Assertion::Counter { name, path, .. } => counter(&server.address, path, name),
                _ => Ok(0.0),
            };
            Ok(Watched {
                assertion,
                before,
                mapped: (0, String::new()),
            })
        });
        watched.collect::<Result<_, _>>().map(Self)
    }

    /// Records which files the server's processes map now. Short-lived processes exist only under load, so this has to
    /// be called several times within the window.
    pub fn look(&mut self, server: &Launched) {
        if !(self.0.iter()).any(|watched| matches!(watched.assertion, Assertion::Maps(..))) {
            return;
        }
        let tree = server.tree();
        for watched in &mut self.0 {
            if let Assertion::Maps(part, _) = &watched.assertion {
                let names: Vec<String> = tree.iter().filter_map(|pid| mapped(*pid, part)).collect();
                if let Some(name) = names.first().filter(|_| names.len() > watched.mapped.0) {
                    watched.mapped = (names.len(), name.clone());
                }
            }
        }
    }

    /// Returns the readings of the assertions at the end of the window, while the server still runs. Assertions about
    /// system calls have no result yet, because these are counted in a pass of their own.
    #[must_use]
    pub fn readings(mut self, server: &Launched, cost: &ServerCost) -> Vec<Reading> {
        self.look(server);
        self.0
            .iter()
            .map(|watched| watched.reading(&server.address, cost))
            .collect()
    }
}

/// Evaluates the assertions about system calls by the calls that were counted in `rows`, and leaves out the others.
///
/// # Errors
/// See [`Assertion::parse`].
pub fn readings_of_pass(
    assertions: &[BTreeMap<String, String>],
    rows: &[SyscallRow],
) -> Result<Vec<Reading>, String> {
    let mut readings = Vec::new();
    for words in assertions {
        let assertion = Assertion::parse(words)?;
        if let Assertion::Syscall(name, is) = &assertion {
            let calls = rows
                .iter()
                .find(|row| row.name == *name)
                .map_or(0.0, |row| row.calls);
            readings.push(Reading {
                assertion: assertion.to_string(),
                seen: format!("{calls} per request"),
                holds: Some(is.holds(calls)),
            });
        }
    }
    Ok(readings)
}

impl Watched {
    fn reading(&self, address: &Endpoint, cost: &ServerCost) -> Reading {
        let (value, holds) = match &self.assertion {
            Assertion::ThreadsPeak(is) => {
                let threads = cost.threads_peak;
                (threads.to_string(), Some(is.holds(threads.into())))
            }
            Assertion::ProcessesPeak(is) => {
                let processes = cost.processes_peak;
                (processes.to_string(), Some(is.holds(processes.into())))
            }
            Assertion::Maps(part, is) => {
                let (processes, name) = &self.mapped;
                let value = match processes {
                    0 => format!("{part} not mapped"),
                    1 => format!("{name} mapped by 1 process"),
                    more => format!("{name} mapped by {more} processes"),
                };
                (value, Some(is.holds(*processes as f64)))
            }
            Assertion::Counter { name, path, is } => {
                match (&self.before, counter(address, path, name)) {
                    (Ok(before), Ok(after)) => (
                        format!("{before} to {after}"),
                        Some(is.holds(after - before)),
                    ),
                    (Err(what), _) => (what.clone(), Some(false)),
                    (_, Err(what)) => (what, Some(false)),
                }
            }
            Assertion::Syscall(..) => ("read in the counting pass".into(), None),
        };
        Reading {
            assertion: self.assertion.to_string(),
            seen: value,
            holds,
        }
    }
}

/// Reads a counter of the server. A counter that the server does not print has not been used yet and is 0.
fn counter(address: &Endpoint, path: &str, name: &str) -> Result<f64, String> {
    match address.fetch(path, PATIENCE) {
        Ok(text) => Ok(total(&text, name)),
        Err(error) => Err(format!("{path} cannot be read: {error}")),
    }
}

/// Returns the sum of all series of a metric in Prometheus text format. If `name` has labels, only that series counts.
fn total(text: &str, name: &str) -> f64 {
    let samples = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let end = match line.find('}') {
                Some(brace) => brace + 1,
                None => line.find(' ')?,
            };
            let (series, value) = line.split_at(end);
            let metric = series.split('{').next();
            let value = value.split_ascii_whitespace().next()?.parse::<f64>().ok()?;
            (series == name || metric == Some(name)).then_some(value)
        });
    samples.sum()
}

/// Returns the name of a file that a process maps and whose path contains `part`.
fn mapped(pid: Pid, part: &str) -> Option<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let mut paths = maps
        .lines()
        .filter_map(|line| Some(&line[line.find('/')?..]));
    let path = paths.find(|path| path.contains(part))?;
    Some(Path::new(path).file_name()?.to_string_lossy().into_owned())
}

/// How long to wait for the server's metrics. A healthy server responds at once.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::guard_of_tests;
    use crate::scenario::Scenario;
    use crate::variant::expand;

    #[test]
    fn a_metric_is_summed_over_its_labels_or_taken_with_them() {
        let text = "# HELP a_total x\n# TYPE a_total counter\na_total{k=\"1 2\"} 3\n\
                    a_total{k=\"3\"} 4 1700000000\na_total_more 100\nb 5\n";
        assert_eq!(total(text, "a_total"), 7.0);
        assert_eq!(total(text, "a_total{k=\"3\"}"), 4.0);
        assert_eq!(total(text, "b"), 5.0);
        assert_eq!(total(text, "none"), 0.0);
    }

    /// Uses a real server whose metrics are a file that grows.
    #[test]
    fn assertions_of_a_running_server_are_read() {
        if std::process::Command::new("python3")
            .arg("--version")
            .output()
            .is_err()
        {
            eprintln!("skipped: no python3 here");
            return;
        }
        let text = "[server]\ncmd = ['python3', '-m', 'http.server', '--bind', '{host}', '{port}']\n\
             before = 'echo \"grown_total{a=\\\"b\\\"} 1\" > metrics'\n\
             ready = { timeout = '60s' }\n\
             [[variant]]\nname = 'v'\nassert = [{ threads_peak = '<= 3' },\n\
             { maps = 'libc' }, { maps = 'no-such-library', is = '= 0' },\n\
             { counter = 'grown_total', is = '> 1' },\n\
             { counter = 'grown_total', is = '> 1', path = '/nowhere' }, { execve = '> 0' }]\n";
        let scenario = Scenario::parse(text, Path::new("/")).unwrap_or_else(|e| panic!("{e}"));
        let variant = &expand(&scenario).expect("expands")[0];
        let server = Launched::start(&scenario, variant, &guard_of_tests(), 0)
            .unwrap_or_else(|error| panic!("{error}"));
        let assertions = Assertions::begin(&variant.assert, &server).expect("known assertions");
        fs::write(server.work.join("metrics"), "grown_total{a=\"b\"} 4\n").expect("writes");
        let cost = ServerCost {
            threads_peak: 4,
            ..ServerCost::default()
        };
        let readings = assertions.readings(&server, &cost);
        let holds: Vec<_> = readings.iter().map(|reading| reading.holds).collect();
        let expected = [false, true, true, true, false].map(Some);
        assert_eq!(holds[..5], expected, "{readings:?}");
        assert_eq!(holds[5], None);
        assert_eq!(readings[0].seen, "4");
        assert!(readings[1].seen.starts_with("libc"), "{readings:?}");
        assert_eq!(readings[3].seen, "1 to 4");
        assert!(readings[4].seen.contains("status 404"), "{readings:?}");
        server.stop().unwrap_or_else(|error| panic!("{error}"));
        let row = SyscallRow {
            name: "execve".into(),
            calls: 1.5,
            errors: 0.0,
            microseconds: 0.0,
        };
        let readings = readings_of_pass(&variant.assert, &[row]).expect("known assertions");
        assert_eq!(readings.len(), 1);
        assert_eq!(readings[0].holds, Some(true));
    }
}
