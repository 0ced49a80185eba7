//! Assertions: proof that a variant's toggle reached the server. Without them, "no difference" may only mean that
//! nothing was different.

mod bound;
mod evaluate;

use std::collections::BTreeMap;
use std::fmt;

pub use bound::Bound;
pub use evaluate::{Assertions, readings_of_pass};

use crate::scenario::unknown;

/// A condition that shows that the setting which a variant changes took effect in the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Assertion {
    /// `{ threads_peak = "<= 3" }`: the largest number of threads of the server's process tree seen at once.
    ThreadsPeak(Bound),
    /// `{ processes_peak = "> 1" }`: the largest number of processes seen at once.
    ProcessesPeak(Bound),
    /// `{ maps = "libgomp" }`: the number of processes of the tree that map a file whose path contains this text; `is`
    /// defaults to `"> 0"`.
    Maps(String, Bound),
    /// `{ counter = "NAME", is = "> 0" }`: growth of a Prometheus counter of the server, summed over its labels. `path`
    /// defaults to `/metrics`.
    Counter {
        /// The counter's name, or its name with labels as printed: `a_total{kind="x"}`.
        name: String,
        /// Path at which the server publishes its metrics.
        path: String,
        /// The bound that the counter's growth must meet.
        is: Bound,
    },
    /// `{ syscall = "sendfile", is = "> 0" }`, `{ execve = "> 0" }`: system calls per request, from the counting pass.
    Syscall(String, Bound),
}

impl Assertion {
    /// Reads one assertion of a scenario.
    ///
    /// # Errors
    /// A sentence that names the offending word and what would be accepted.
    pub fn parse(words: &BTreeMap<String, String>) -> Result<Self, String> {
        let kinds: Vec<&String> = words
            .keys()
            .filter(|key| !EXTRA.contains(&key.as_str()))
            .collect();
        let [kind] = kinds.as_slice() else {
            return Err(format!("write one of {} here", KINDS.join(", ")));
        };
        let value = &words[*kind];
        let allowed: &[&str] = match kind.as_str() {
            "maps" | "syscall" => &["is"],
            "counter" => &["is", "path"],
            kind if KINDS.contains(&kind) => &[],
            kind => return Err(unknown("assertion", kind, &KINDS)),
        };
        if let Some(extra) = words
            .keys()
            .find(|key| key != kind && !allowed.contains(&key.as_str()))
        {
            return Err(format!("`{kind}` has no `{extra}`"));
        }
        let is = || {
            words
                .get("is")
                .map_or(Ok(Bound::ABOVE_ZERO), |text| Bound::parse(text))
        };
        Ok(match kind.as_str() {
            "threads_peak" => Self::ThreadsPeak(Bound::parse(value)?),
            "processes_peak" => Self::ProcessesPeak(Bound::parse(value)?),
            "execve" => Self::Syscall("execve".into(), Bound::parse(value)?),
            "syscall" => Self::Syscall(value.clone(), is()?),
            "maps" => Self::Maps(value.clone(), is()?),
            _ => Self::Counter {
                name: value.clone(),
                path: words.get("path").map_or("/metrics", |path| path).to_owned(),
                is: is()?,
            },
        })
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadsPeak(is) => write!(f, "threads_peak {is}"),
            Self::ProcessesPeak(is) => write!(f, "processes_peak {is}"),
            Self::Maps(part, is) => write!(f, "maps {part} {is}"),
            Self::Counter { name, is, .. } => write!(f, "counter {name} {is}"),
            Self::Syscall(name, is) => write!(f, "syscall {name} {is}"),
        }
    }
}

/// The kinds of assertion that a scenario may make.
const KINDS: [&str; 6] = [
    "threads_peak",
    "processes_peak",
    "maps",
    "counter",
    "syscall",
    "execve",
];

/// Keys that may accompany an assertion but do not name its kind.
const EXTRA: [&str; 2] = ["is", "path"];

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        let words: BTreeMap<String, String> = toml::from_str(text).expect("toml");
        Assertion::parse(&words).map(|assertion| assertion.to_string())
    }

    #[test]
    fn every_kind_is_read_and_printed() {
        let cases = [
            ("threads_peak = '<= 3'", "threads_peak <= 3"),
            ("processes_peak = '> 1'", "processes_peak > 1"),
            ("maps = 'libgomp'", "maps libgomp > 0"),
            ("maps = 'libgomp'\nis = '= 0'", "maps libgomp = 0"),
            (
                "counter = 'a_total'\nis = '>= 0.5'\npath = '/m'",
                "counter a_total >= 0.5",
            ),
            ("syscall = 'sendfile'\nis = '> 0'", "syscall sendfile > 0"),
            ("execve = '> 0'", "syscall execve > 0"),
        ];
        for (text, printed) in cases {
            assert_eq!(parsed(text).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn what_is_no_assertion_is_named() {
        for (text, part) in [
            ("thread_peak = '> 1'", "did you mean `threads_peak`?"),
            ("threads_peak = '3 or so'", "`3 or so` is not a bound"),
            ("maps = 'a'\npath = '/m'", "`maps` has no `path`"),
            ("is = '> 1'", "write one of threads_peak"),
            ("maps = 'a'\nexecve = '> 1'", "write one of"),
        ] {
            let said = parsed(text).expect_err(text);
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
