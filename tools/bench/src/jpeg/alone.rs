//! Runs one decoder alone in a process of its own to measure its memory and its instructions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Decoder, decode};
use crate::proc::status_bytes;

/// Arguments of the hidden task `jpeg-alone`, which decodes one file with one decoder.
#[derive(Args)]
pub(crate) struct JpegAloneArgs {
    decoder: Decoder,
    eighths: u8,
    file: PathBuf,
}

/// Memory in bytes that each decoder needs for decoding at 1/8 of the size, in addition to the idle process and the
/// file.
#[derive(Serialize)]
pub(super) struct Memory {
    ours: u64,
    turbo: u64,
}

impl Memory {
    pub(super) fn ratio(&self) -> f64 {
        self.turbo as f64 / self.ours as f64
    }
}

/// The task of a child process that measures one decoder: decodes once, and prints the resident memory before and at
/// its peak, in bytes.
pub(crate) fn alone(args: &JpegAloneArgs) -> Result<()> {
    let file = fs::read(&args.file)?;
    let before = status_bytes("self", "VmRSS")?;
    let samples = decode(args.decoder, &file, args.eighths)?;
    ensure!(samples > 0, "nothing was decoded");
    println!("{before} {}", status_bytes("self", "VmHWM")?);
    Ok(())
}

/// Measures the memory that both decoders need for decoding at 1/8 of the size.
pub(super) fn memory(file: &Path) -> Result<Memory> {
    let memory_of = |decoder| {
        let output = child(Command::new(env::current_exe()?), decoder, file, 1)?;
        let text = String::from_utf8(output.stdout)?;
        let (before, peak) = text.trim().split_once(' ').context("two numbers")?;
        let bytes = peak.parse::<u64>()?.saturating_sub(before.parse()?);
        Ok::<_, anyhow::Error>(bytes.max(1))
    };
    Ok(Memory {
        ours: memory_of(Decoder::Ours)?,
        turbo: memory_of(Decoder::Turbo)?,
    })
}

/// Counts the instructions of one decode with callgrind.
pub(super) fn instructions(decoder: Decoder, file: &Path, eighths: u8) -> Result<u64> {
    let mut callgrind = Command::new("valgrind");
    callgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=andon_bench::jpeg::decode*")
        .arg(env::current_exe()?);
    let output = child(callgrind, decoder, file, eighths)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    Ok(count
        .context("callgrind counted nothing")?
        .1
        .trim()
        .parse()?)
}

fn child(mut command: Command, decoder: Decoder, file: &Path, eighths: u8) -> Result<Output> {
    let decoder = decoder.to_possible_value().context("a decoder's name")?;
    let output = command
        .args(["jpeg-alone", decoder.get_name(), &eighths.to_string()])
        .arg(file)
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {errors}", file.display());
    Ok(output)
}
