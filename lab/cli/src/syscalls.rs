//! `andon-lab syscalls`: counts the system calls that a request costs, apart from all timing.

use std::path::PathBuf;
use std::process::ExitCode;

use andon_lab::analysis::analyse;
use andon_lab::bodies::Judged;
use andon_lab::experiment::{self, Error, Event, Experiment};
use andon_lab::record::{Folder, Header, Kind, Pass, Run};
use andon_lab::report::ReportInput;
use andon_lab::scenario::{CountBy, Sample, Scenario};
use andon_lab::syscalls::{Running, attached};
use anyhow::{anyhow, bail};

use super::judged_run::{colour, format};
use super::running::{self, RequestOptions};
use super::{INVALID, PROGRAM, guard};
use andon_client::from_url;
use andon_terminal::print;

/// Count the system calls per request, child processes included, as strace -c would; time nothing
///
/// WHAT is a scenario, whose variants are started one after the other, or the URL of a running server, whose processes
/// are traced (this takes root, or for strace the privileges of their user). Several URLs or variants are shown side by
/// side, with their differences. Start-up, connection set-up and idle activity are subtracted.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// A scenario, or one or more URLs: http://HOST:PORT/PATH, unix:/path/of/socket
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,
    /// Number of requests to count, for each variant or URL
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Counting method: tracepoints (of the kernel, with root and tracefs), strace, or auto: tracepoints where possible
    /// [default: the scenario's, or auto]
    #[arg(long, value_name = "METHOD", value_parser = CountBy::parse)]
    by: Option<CountBy>,
    /// Only these variants of the scenario
    #[arg(long, value_name = "NAME,NAME…", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    request_options: RequestOptions,
    /// Save the counts in this new folder, for `andon-lab report`
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Report format: strace, md, json…
    #[arg(long = "as", value_name = "FORMAT", default_value = "strace")]
    format: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = format(&args.format)?;
    let urls = args.what.iter().all(|what| is_url(what));
    if !urls && args.what.len() > 1 {
        bail!("give one scenario, or URLs only");
    }
    let run = if urls {
        of_urls(args)?
    } else {
        of_scenario(args)?
    };
    let input = ReportInput {
        analysis: &analyse(&run, &[]),
        run: &run,
        judgement: &Judged::default(),
        bodies: &Default::default(),
        colour: colour(),
    };
    let output = (format.print)(&input).map_err(|why| anyhow!("{}: {why}", format.name))?;
    print(&output)?;
    let mut good = true;
    let mut text = String::new();
    for pass in &run.passes {
        good &= pass.requests > 0;
        let name = &run.header.variants[pass.variant as usize].name;
        for reading in &pass.assertions {
            good &= reading.holds == Some(true);
            let word = if reading.holds == Some(true) {
                "holds"
            } else {
                "DOES NOT HOLD"
            };
            let (assertion, value) = (&reading.assertion, &reading.seen);
            text += &format!("assertion of {name}: {assertion} {word} (saw {value})\n");
        }
    }
    eprint!("{text}");
    if let Some(folder) = &args.output {
        eprintln!("Everything is in {}", folder.display());
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INVALID)
    })
}

fn is_url(what: &str) -> bool {
    what.contains("://") || what.starts_with("unix:")
}

fn count(sample: &mut Sample, args: &Args) {
    sample.syscalls = args.requests;
    sample.syscalls_by = args.by.unwrap_or(sample.syscalls_by);
}

/// Counts the system calls of each variant of a scenario. Each variant is started once for the timing without a tracer,
/// and once to be traced.
fn of_scenario(args: &Args) -> anyhow::Result<Run> {
    let mut scenario = Scenario::read(args.what[0].as_ref()).map_err(Error::from)?;
    if !args.only.is_empty() {
        scenario.only(&args.only).map_err(Error::from)?;
    }
    count(&mut scenario.sample, args);
    scenario.sample.callgrind = 0;
    let temporary = tempfile::tempdir()?;
    let folder = args.output.clone();
    let finished = experiment::count(&Experiment {
        scenario,
        guard: guard(),
        folder: folder.unwrap_or_else(|| temporary.path().join("run")),
        program: PROGRAM.to_owned(),
        budget: None,
        cancel: andon_terminal::interrupt::flag()?,
        watch: &|event| {
            if let Event::Counts { name } = event {
                eprintln!("{name}…");
            }
        },
    })?;
    Ok(finished.run)
}

/// Counts the system calls of servers that are already running, which are left as they were.
fn of_urls(args: &Args) -> anyhow::Result<Run> {
    let mut scenario = running::scenario("syscalls")?;
    count(&mut scenario.sample, args);
    let targets = args
        .what
        .iter()
        .map(|url| Ok(from_url(url)?))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let header = Header {
        variants: args.what.iter().map(|url| running::variant(url)).collect(),
        programs: vec![String::new(); args.what.len()],
        ..experiment::header(&scenario, PROGRAM).map_err(Error::from)?
    };
    let saved_run = match &args.output {
        Some(folder) => Some(Folder::create(folder, &header).map_err(Error::from)?),
        None => None,
    };
    let guard = guard();
    let mut passes: Vec<Pass> = Vec::new();
    for (index, (endpoint, path)) in targets.into_iter().enumerate() {
        eprintln!("{}: {}…", args.what[index], running::who(&endpoint));
        let pass = attached(&Running {
            templates: args.request_options.all(&path)?,
            endpoint,
            scenario: &scenario,
            index: index as u32,
            guard: &guard,
        });
        if let Some(saved_run) = &saved_run {
            saved_run.append(Kind::Pass, &pass).map_err(Error::from)?;
        }
        passes.push(pass);
    }
    Ok(Run {
        header,
        blocks: Vec::new(),
        passes,
    })
}

const AFTER: &str = "\
Examples:
  andon-lab syscalls scenarios/5-sendfile/c-nginx-disk.toml
  andon-lab syscalls s.toml --only rw,sendfile -n 200 -o runs/calls
  sudo andon-lab syscalls http://127.0.0.1:80/a.jpg
  andon-lab syscalls --by strace http://127.0.0.1:8080/a.jpg
  andon-lab syscalls http://127.0.0.1:8080/a.jpg http://127.0.0.1:8081/a.jpg

Exit codes: 0 counted, 3 a variant could not be counted or an assertion does not hold, 4 not understood.";
