//! `andon-lab`: honest A/B experiments with any HTTP server.

#![forbid(unsafe_code)]

mod baseline;
mod bench;
mod capacity;
mod check;
mod completions;
mod conduct;
mod diff;
mod gate;
mod judged_run;
mod man;
mod noise;
mod null;
mod progress;
mod quick;
mod replay;
mod report;
mod run;
mod running;
mod syscalls;
mod tune;

use std::io::ErrorKind;
use std::process::ExitCode;

use andon_lab::experiment::Error;
use andon_lab::launch::{Guard, stand};
use andon_lab::load;
use andon_lab::record::FolderError;
use clap::Parser;

/// Compare servers, or one server's settings, and report which is faster, by how much and how certain that is
#[derive(Parser)]
#[command(name = "andon-lab", version, after_help = AFTER, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Quick(Box<quick::Args>),
    Run(run::Args),
    Check(check::Args),
    Bench(bench::Args),
    Capacity(capacity::Args),
    Noise(noise::Args),
    Syscalls(syscalls::Args),
    Replay(replay::Args),
    Null(null::Args),
    Report(report::Args),
    Diff(diff::Args),
    Baseline(baseline::Args),
    Gate(gate::Args),
    Tune(tune::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// Run as the process between the laboratory and a server that cleans up if the laboratory is killed
    #[command(name = GUARD, hide = true)]
    Guard,
}

/// Runs the command. The exit code states the outcome.
fn main() -> ExitCode {
    // The allocator has to be configured before memory is freed and before a second thread starts.
    andon_codecs::allocator::return_free_memory();
    let result = match parse().command {
        Command::Quick(args) => quick::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Capacity(args) => capacity::run(&args),
        Command::Noise(args) => noise::run(&args),
        Command::Syscalls(args) => syscalls::run(&args),
        Command::Null(args) => null::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Baseline(args) => baseline::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Tune(args) => tune::run(&args).or_else(|error| {
            // `tune` exits with 0 or 1 only, because it passes no verdict on a run.
            eprintln!("andon-lab: {error:#}");
            Ok(ExitCode::FAILURE)
        }),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Guard => return ExitCode::from(stand().clamp(0, 255) as u8),
    };
    result.unwrap_or_else(|error| {
        eprintln!("andon-lab: {error:#}");
        ExitCode::from(code(&error))
    })
}

/// Parses the command line, and exits with [`USAGE`] if that fails. The code that clap would use, 2, stands for an
/// undecided run here.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let _ = error.print();
        std::process::exit(match error.exit_code() {
            2 => USAGE.into(),
            code => code,
        })
    })
}

/// Returns the exit code of a command that failed. It is never [`REGRESSION`], because nothing was found to be slower.
fn code(error: &anyhow::Error) -> u8 {
    if let Some(load::Error::Asking(andon_client::Error::Unreachable(_))) = error.downcast_ref() {
        return NOT_STARTED;
    }
    match error.downcast_ref::<Error>() {
        Some(Error::Start { .. }) => NOT_STARTED,
        Some(Error::Folder(FolderError::NotKept { .. } | FolderError::NoBlocks { .. })) => INVALID,
        // For example, the disk was full: the command line was right, but there is no result.
        Some(Error::Folder(FolderError::Io { error, .. }))
            if error.kind() != ErrorKind::NotFound =>
        {
            INVALID
        }
        _ => USAGE,
    }
}

/// Returns how this program starts itself as the guard of a server.
fn guard() -> Guard {
    Guard::this_program([GUARD])
}

const GUARD: &str = "__guard";

/// Name and version of the program that writes a run.
const PROGRAM: &str = concat!("andon-lab ", env!("CARGO_PKG_VERSION"));

/// The exit code for a regression. 0 means that all is well.
const REGRESSION: u8 = 1;
const UNDECIDED: u8 = 2;
const INVALID: u8 = 3;
/// The exit code for a command line, a scenario, a name or a file that was not understood or does not exist.
const USAGE: u8 = 4;
const NOT_STARTED: u8 = 5;

const AFTER: &str = "\
Examples:
  andon-lab quick -e OMP_NUM_THREADS=,1 -c 10 -n 500 -L urls.txt -- ./server --port {port}
  andon-lab bench http://127.0.0.1:8080/a.jpg -c 10 -n 1000
  andon-lab check lab/scenarios/5-sendfile/c-nginx-disk.toml
  andon-lab run lab/scenarios/5-sendfile/c-nginx-disk.toml -o runs/sendfile
  andon-lab capacity http://127.0.0.1:8080/a.jpg --target 200ms
  andon-lab syscalls http://127.0.0.1:8080/a.jpg
  andon-lab report runs/sendfile --as html -o sendfile.html
  andon-lab tune ~/photos

Exit codes: 0 fine, 1 regression (gate, nothing else), 2 undecided (gate; run with --strict), 3 invalid, switch inactive or nothing
to judge, 4 not understood (command line, scenario, a name or folder that is not there), 5 a server did not start,\nor nothing listens at its address.";
