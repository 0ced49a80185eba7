//! `[sample]`: sampling of the machine and the server while blocks run, and the passes outside of the blocks in which
//! system calls and instructions are counted.

use serde::{Deserialize, Serialize};

use super::{Seconds, unknown};

/// Settings of the sampling of the machine and the server, and of the passes that count system calls and instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sample {
    /// Time between samples.
    pub every: Seconds,
    /// Number of requests per variant whose system calls are counted, in a pass of its own. 0 leaves this pass out.
    pub syscalls: u32,
    /// The method that counts system calls.
    pub syscalls_by: CountBy,
    /// Number of requests per variant whose instructions callgrind counts, in a pass of its own. 0 leaves this pass
    /// out.
    pub callgrind: u32,
}

/// The method that counts system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountBy {
    /// The kernel's tracepoints where they may be used, strace otherwise.
    #[default]
    Auto,
    /// The kernel's tracepoints, which need root and tracefs but slow the server down less than strace.
    Tracepoints,
    /// strace, which needs no privileges for a server that the laboratory started.
    Strace,
}

impl CountBy {
    /// Parses a method's name as written in a scenario.
    ///
    /// # Errors
    /// The word is unknown. The message names the known ones.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "auto" => Ok(Self::Auto),
            "tracepoints" => Ok(Self::Tracepoints),
            "strace" => Ok(Self::Strace),
            _ => Err(unknown("method", word, &["auto", "tracepoints", "strace"])),
        }
    }
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            every: Seconds(0.1),
            syscalls: 0,
            syscalls_by: CountBy::Auto,
            callgrind: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::path::Path;

    #[test]
    fn the_method_is_read_alike_from_a_scenario_and_from_a_command_and_unknown_ones_are_errors() {
        let read = |word: &str| {
            let text = format!("[server]\ncmd = ['x']\n[sample]\nsyscalls_by = '{word}'\n");
            Scenario::parse(&text, Path::new("/")).map(|it| it.sample.syscalls_by)
        };
        for word in ["auto", "tracepoints", "strace"] {
            assert_eq!(read(word).ok(), CountBy::parse(word).ok(), "{word}");
        }
        assert_ne!(read("strace").ok(), read("tracepoints").ok());
        let said = read("strase").expect_err("unknown").to_string();
        assert!(said.contains("did you mean `strace`"), "{said}");
        let said = CountBy::parse("strase").expect_err("unknown");
        assert!(said.contains("did you mean `strace`"), "{said}");
    }
}
