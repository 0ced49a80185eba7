//! The commands of `andon`, with their arguments.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change how a shared store is filled without a server | `crates/server/src/handler/fill.rs`, `results/making/fill.rs`; `crates/commands/src/convert/into_store.rs` |
//! | change what `andon shadow` compares | `crates/commands/src/shadow/compare.rs` |
//! | import another directive of nginx's | `crates/commands/src/import/site.rs`; `reasons.rs` there says why others have no key |
//! | recognise URLs of a further dialect in logs | `forms` of its settings, in a `form.rs` in its folder of `crates/dialects/src` |
//! | import the configuration of another server | a file in `crates/commands/src/import/` with a table, its row in `FORMATS` |
//! | add a command | a file in `crates/commands/src/`, its line in `Command` |

#![forbid(unsafe_code)]

mod accept;
mod adopt;
mod client;
mod completions;
mod config_check;
mod convert;
mod explain;
mod fonts;
mod format_of;
mod healthcheck;
mod import;
mod journal;
mod lab;
mod lb_config;
mod man;
mod place;
mod play;
mod processes;
mod purge;
mod read;
mod reference;
mod render;
mod serve;
mod shadow;
mod sign;
mod template;
mod translate;
mod warm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "andon",
    version,
    about = "Andon resizes and converts images: on request as an HTTP server, or in a batch",
    before_help = EXAMPLES,
    after_help = AFTER,
    help_template = "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Play(play::Args),
    Render(render::Args),
    Explain(explain::Args),
    Convert(Box<convert::Args>),
    Purge(purge::Args),
    Warm(warm::Args),
    Translate(translate::Args),
    Sign(sign::Args),
    Import(import::Args),
    Adopt(adopt::Args),
    Shadow(shadow::Args),
    Healthcheck(healthcheck::Args),
    Lab(lab::Lab),
    Tune(lab::Tune),
    Config(config_check::Args),
    LbConfig(lb_config::Args),
    Reference(reference::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Parses the program's arguments, runs the command, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    // Must run before a second thread exists and before memory is freed.
    andon_codecs::allocator::return_free_memory();
    let arguments = std::env::args_os().skip(1);
    if let Some(outcome) =
        andon_isolation::as_process(andon_codecs::ALL, andon_codecs::Fonts::adopt, arguments)
    {
        return outcome.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
        Command::Play(args) => play::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Purge(args) => purge::run(&args),
        Command::Warm(args) => return warm::run(&args).unwrap_or_else(failed),
        Command::Translate(args) => translate::run(&args),
        Command::Sign(args) => sign::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Adopt(args) => return adopt::run(&args).unwrap_or_else(failed),
        Command::Shadow(args) => return shadow::run(&args).unwrap_or_else(failed),
        Command::Healthcheck(args) => healthcheck::run(&args),
        Command::Lab(args) => return lab::run(&args),
        Command::Tune(args) => return lab::tune(&args),
        Command::Config(args) => config_check::run(&args),
        Command::LbConfig(args) => lb_config::run(&args),
        Command::Reference(args) => reference::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(error),
    }
}

fn failed(error: anyhow::Error) -> ExitCode {
    eprintln!("andon: {error:#}");
    ExitCode::FAILURE
}

const EXAMPLES: &str = "\
Examples:
  andon serve ~/photos                       # then open http://127.0.0.1:8080/
  andon convert fit:1200x1200,as:webp ~/photos -o small/
  andon explain /r/fit:250x250/trip/a.jpg --root ~/photos";

const AFTER: &str = "\
`andon COMMAND --help` has examples of each command, and `andon reference` lists the steps of recipes.

Exit codes: 0 done, 1 it failed and the message says why, 2 the command line was not understood.";
