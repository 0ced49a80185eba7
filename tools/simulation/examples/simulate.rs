//! `./dev simulate`: runs the simulation, prints its tables, and fails if a demand is missed.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use andon_simulation::table::{self, Size, Table};
use andon_simulation::{demand, report};
use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

/// Simulates a fleet of 1,000 nodes.
#[derive(Parser)]
#[command(name = "./dev simulate")]
struct Args {
    /// Simulate 100 nodes and a tenth of the requests: for a first look, not for results to publish.
    #[arg(long)]
    quick: bool,
    /// Run only parts whose names contain this text, such as "hit ratio", and judge no demands.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        conflicts_with = "write"
    )]
    only: String,
    /// Write the tables into this Markdown page, between the two HTML comments that mark their place.
    #[arg(long, value_name = "PAGE")]
    write: Option<PathBuf>,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the raw results.
    #[arg(long, default_value = "runs")]
    runs: PathBuf,
    /// Date with which the file name of the raw results begins.
    #[arg(long, hide = true, default_value = "undated")]
    stamp: String,
}

/// The results that are written to `runs/`.
#[derive(Serialize)]
struct Run<'a> {
    size: Size,
    seed: u64,
    threads: usize,
    table: &'a Table,
    demands: &'a [demand::Demand],
}

fn main() -> Result<()> {
    let args = Args::parse();
    let size = if args.quick { Size::Quick } else { Size::Full };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let table = table::run(size, &args.only, runtime, threads, args.seed);
    let demands = match args.only.is_empty() {
        true => demand::all(&table),
        false => Vec::new(),
    };
    let text = report::markdown(&table, &demands);
    println!("{text}");
    for (part, seconds) in table.parts.iter().take(12) {
        println!("{seconds:6.1} s  {part}");
    }
    println!("{:6.1} s  in all, on {threads} threads", table.seconds);
    if !args.only.is_empty() {
        return Ok(());
    }
    let run = Run {
        size,
        seed: args.seed,
        threads,
        table: &table,
        demands: &demands,
    };
    if !args.quick {
        let path = args.runs.join(format!("{}-simulation.json", args.stamp));
        fs::write(&path, serde_json::to_string_pretty(&run)? + "\n")
            .with_context(|| path.display().to_string())?;
        println!("raw results: {}", path.display());
    }
    if let Some(page) = &args.write {
        write(page, &text).with_context(|| page.display().to_string())?;
    }
    let missed: Vec<_> = demands.iter().filter(|demand| !demand.is_met()).collect();
    let names: Vec<_> = missed.iter().map(|demand| demand.name.as_str()).collect();
    ensure!(missed.is_empty(), "missed: {}", names.join("; "));
    Ok(())
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let runtime = builder
        .enable_time()
        .start_paused(true)
        .max_blocking_threads(1)
        .build();
    runtime.expect("a runtime without sockets needs nothing of the system")
}

/// Replaces the text between the HTML comments [`BEGIN`] and [`END`] of a page by the tables.
fn write(page: &PathBuf, tables: &str) -> Result<()> {
    let before = fs::read_to_string(page)?;
    let (head, rest) = before
        .split_once(BEGIN)
        .context("the page has no begin marker")?;
    let (_, tail) = rest.split_once(END).context("the page has no end marker")?;
    fs::write(page, format!("{head}{BEGIN}\n\n{tables}\n{END}{tail}"))?;
    Ok(())
}

const BEGIN: &str = "<!-- begin: ./dev simulate --write -->";
const END: &str = "<!-- end -->";
