//! Peak memory of each contestant, alone in a fresh process, for all photos at one size.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::compare::Setup;
use crate::engines::{Contestant, Format, Job, engine};
use crate::photos::Folder;
use crate::proc::status_bytes;

/// Peak memory of one contestant at one size and in one format.
#[derive(Serialize)]
pub(crate) struct Peak {
    pub(crate) contestant: Contestant,
    pub(crate) side: u32,
    pub(crate) format: Format,
    /// Resident memory in bytes before the first photo, with the libraries of all contestants loaded and idle.
    pub(crate) idle_bytes: u64,
    /// Peak resident memory in bytes (`VmHWM`), including `idle_bytes`.
    pub(crate) peak_bytes: u64,
}

/// Arguments of the hidden task `alone`, which renders all photos with one contestant to measure its memory.
#[derive(Args)]
pub(crate) struct AloneArgs {
    contestant: Contestant,
    side: u32,
    output: Format,
}

/// Measures the peak memory of each contestant for each combination of longest side of the results (in px) and output
/// format, each time in a new process that renders all photos.
pub(crate) fn all(setup: &Setup, photos: &Folder) -> Result<Vec<Peak>> {
    let mut peaks = Vec::new();
    for &format in &setup.formats {
        for &side in &setup.sides {
            for &contestant in &setup.contestants {
                let child = Command::new(env::current_exe()?)
                    .args([
                        "alone",
                        &word(&contestant),
                        &side.to_string(),
                        &word(&format),
                    ])
                    .arg("--photos")
                    .arg(&photos.path)
                    .output()?;
                let errors = String::from_utf8_lossy(&child.stderr);
                ensure!(child.status.success(), "{}: {errors}", contestant.name());
                let text = String::from_utf8(child.stdout)?;
                let (idle, peak) = text.trim().split_once(' ').context("two numbers")?;
                peaks.push(Peak {
                    contestant,
                    side,
                    format,
                    idle_bytes: idle.parse()?,
                    peak_bytes: peak.parse()?,
                });
            }
        }
    }
    Ok(peaks)
}

/// The task of a child process that measures one contestant: renders every photo twice, and prints the resident memory
/// before and at its peak, in bytes.
pub(crate) fn alone(args: &AloneArgs, photos: &Folder) -> Result<()> {
    let idle = status_bytes("self", "VmRSS")?;
    for name in photos.names.iter().chain(&photos.names) {
        let photo = photos.read(name)?;
        // The size is computed instead of requested from libvips, whose memory must not count for this contestant.
        let header = engine().probe(&photo)?;
        let longest = f64::from(header.width.max(header.height));
        let scaled = |length: u32| {
            let exact = f64::from(length) * f64::from(args.side) / longest;
            (exact.round() as u32).max(1)
        };
        let job = Job {
            photo: &photo,
            side: args.side,
            size: (scaled(header.width), scaled(header.height)),
            format: args.output,
        };
        args.contestant.run(&job)?;
    }
    println!("{idle} {}", status_bytes("self", "VmHWM")?);
    Ok(())
}

/// Returns a value as it is written on the command line.
pub(crate) fn word(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|word| word.get_name().to_owned())
        .unwrap_or_default()
}
