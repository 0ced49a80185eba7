//! Saves the raw results of a benchmark with their date and a description of the machine.

use std::fs;
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::peers;

/// The machine that a benchmark ran on.
#[derive(Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    /// Content of `/proc/loadavg` before the first measurement, which shows what else the machine was doing.
    pub(crate) load_before: String,
    pub(crate) peers: Vec<String>,
}

impl Machine {
    pub(crate) fn here() -> Result<Self> {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
        Ok(Self {
            processor: processor.to_owned(),
            cores: thread::available_parallelism()?.get(),
            kernel: read("/proc/sys/kernel/osrelease"),
            load_before: read("/proc/loadavg"),
            peers: peers::versions(),
        })
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Writes the results to `RUNS/STAMP-NAME.json`.
pub(crate) fn save(runs: &Path, stamp: &str, name: &str, run: &impl Serialize) -> Result<()> {
    fs::create_dir_all(runs)?;
    let path = runs.join(format!("{stamp}-{name}.json"));
    let text = serde_json::to_string_pretty(run)?;
    fs::write(&path, text + "\n").with_context(|| path.display().to_string())?;
    println!("\nraw results: {}", path.display());
    Ok(())
}
