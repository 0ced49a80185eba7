//! `./dev conformance`: judges every image of the conformance set as its README specifies.
//!
//! The images of each row of the set's manifest are requested from a server over HTTP, as by its clients. Alternatively
//! the decoders alone are judged, each row in a process of its own with a deadline and a memory limit. Either way a
//! hang, a crash or a decompression bomb is a missed row and does not end the run.

#[cfg(test)]
mod against_lcms;
mod alone;
mod apng;
mod colours;
mod decoders;
mod delta;
mod frames;
mod gain_maps;
mod house;
mod judge;
mod misses;
mod page;
mod planes;
mod rgba;
mod rows;
mod served;
mod server;
mod verdict;
mod way;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use clap::Parser;

use crate::house::House;
use crate::misses::Misses;
use crate::rows::Row;
use crate::verdict::Verdict;

/// Judge the images of the conformance set
#[derive(Parser)]
#[command(name = "./dev conformance", after_help = AFTER)]
struct Args {
    /// Only rows whose path contains one of these words
    words: Vec<String>,
    /// Only rows of this format, as named in the manifest
    #[arg(long)]
    format: Option<String>,
    /// Print every row, not only those that are missed (the result is not the expected answer)
    #[arg(short, long)]
    verbose: bool,
    /// Fail if a row is missed without an explanation in tools/conformance/misses.txt
    #[arg(long)]
    strict: bool,
    /// Judge only the decoders, without a server (takes a fraction of the time)
    #[arg(long)]
    decoders: bool,
    /// Program of the server to test [default: `andon` beside this program]
    #[arg(long, value_name = "PROGRAM", conflicts_with = "decoders")]
    andon: Option<PathBuf>,
    /// Folder of the conformance set
    #[arg(long, default_value = "../shared/conformance")]
    set: PathBuf,
    /// Judge the whole set and write the results to this page
    #[arg(long, value_name = "PAGE", num_args = 0..=1, default_missing_value = "docs/conformance.md")]
    #[arg(conflicts_with_all = ["words", "format", "decoders"])]
    write: Option<PathBuf>,
    /// Judge one row of the manifest, read from standard input, and print the verdict (this program runs itself with
    /// --alone for every row)
    #[arg(long, hide = true)]
    alone: bool,
}

const AFTER: &str = "\
Examples:
  ./dev conformance                              the whole set
  ./dev conformance --write                      the same, and writes docs/conformance.md
  ./dev conformance avif/own/odd-420-8bit.avif -v   one row
  ./dev conformance tiff/ bmp/                   two folders
  ./dev conformance --format jxl -v              one format, in whatever folder
  ./dev conformance --decoders                   without a server

Why a row is missed is explained by hand, in tools/conformance/misses.txt.";

fn main() -> Result<()> {
    let args = Args::parse();
    if args.alone {
        return alone::judge(&args.set);
    }
    if !args.set.join("manifest.jsonl").is_file() {
        println!(
            "skipped: there is no conformance set in {}",
            args.set.display()
        );
        return Ok(());
    }
    let rows = rows::read(&args.set)?;
    let chosen = |row: &Row| {
        args.words.is_empty()
            || args
                .words
                .iter()
                .any(|word| row.path.contains(word.as_str()))
    };
    let rows: Vec<Row> = (rows.into_iter())
        .filter(chosen)
        .filter(|row| {
            args.format
                .as_ref()
                .is_none_or(|format| *format == row.format)
        })
        .collect();
    let whole = args.words.is_empty() && args.format.is_none();
    let house = match args.decoders {
        true => None,
        false => Some(House::open(&args.set, args.andon.as_deref())?),
    };
    let verdicts = judged(&rows, &args, house.as_ref())?;
    let judged: Vec<_> = rows.iter().zip(&verdicts).collect();
    let misses = Misses::read()?;
    let unexplained = (judged.iter())
        .filter(|(row, verdict)| verdict.missed() && misses.why(&row.path).is_none())
        .count();
    print!("{}", page::tables(&judged));
    if let Some(house) = &house {
        println!("\n{}", house.summary()?);
    }
    if let Some(path) = &args.write {
        std::fs::write(path, page::write(&judged, &misses))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("\nwritten: {}", path.display());
    }
    for pattern in misses.stale(&judged).filter(|_| whole) {
        println!("misses.txt explains `{pattern}`, of which nothing is missed any more");
    }
    anyhow::ensure!(
        unexplained == 0 || !args.strict,
        "{unexplained} rows are missed without an explanation"
    );
    Ok(())
}

/// Judges every row on all cores, and returns the verdicts in the order of the rows.
fn judged(rows: &[Row], args: &Args, house: Option<&House>) -> Result<Vec<Verdict>> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(vec![None; rows.len()]);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(index) else {
                return Ok(());
            };
            let verdict = match house {
                Some(house) => house.judge(row, &args.set)?,
                None => alone::judge_in_process(row, &args.set)?,
            };
            if verdict.missed() || args.verbose {
                println!("{:<56} {verdict}", row.path);
            }
            if let Ok(mut verdicts) = verdicts.lock() {
                verdicts[index] = Some(verdict);
            }
        }
    };
    let threads = thread::available_parallelism()?.get().min(rows.len());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        (threads.into_iter()).try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| anyhow::bail!("a thread panicked"))
        })
    })?;
    let verdicts = verdicts.into_inner().unwrap_or_default();
    (verdicts.into_iter())
        .collect::<Option<_>>()
        .context("a row was left out")
}
