//! `andon-lab check`: tests whether a scenario works at all, with one round of requests per variant and no timing.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use andon_lab::experiment::{Error, Event, Experiment, run as experiment};
use andon_lab::scenario::{
    Above, BlockOrder, Discard, Pairs, Scenario, Seconds, Share, WarmupRule,
};

use super::judged_run::JudgedRun;
use super::{INVALID, PROGRAM, guard};
use andon_terminal::print;

/// Start every variant once, request each URL, and check responses and assertions; measure nothing
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The scenario
    scenario: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut scenario = Scenario::read(&args.scenario).map_err(Error::from)?;
    let variants = andon_lab::variant::expand(&scenario).map_err(Error::from)?;
    let urls = variants
        .iter()
        .map(|variant| scenario.urls(variant).map_or(1, |urls| urls.len()));
    let urls = urls.max().unwrap_or(1) as u64;
    scenario.design.order = BlockOrder::Sequential;
    scenario.design.aa = false;
    scenario.design.pairs = Pairs {
        min: 1,
        max: 1,
        ..Pairs::default()
    };
    scenario.design.warmup = WarmupRule {
        min: Seconds(0.0),
        max: Seconds(0.0),
    };
    // Nothing is timed, so a disturbed block need not be discarded.
    let never = Above(Share(1e6));
    scenario.design.discard = Discard {
        steal: never,
        foreign_cpu: never,
        probe: never,
    };
    scenario.load.requests = urls.max(u64::from(scenario.load.connections) * 2);
    scenario.load.loops = 0;
    // The callgrind pass is slow, and no assertion depends on it.
    scenario.sample.callgrind = 0;
    scenario.load.ramp = Seconds(0.0);
    let folder = tempfile::tempdir()?;
    let finished = experiment(&Experiment {
        scenario,
        guard: guard(),
        folder: folder.path().join("check"),
        program: PROGRAM.to_owned(),
        budget: None,
        cancel: Arc::new(AtomicBool::new(false)),
        watch: &|event| {
            if let Event::Begins { name, .. } = event {
                eprintln!("{name}…");
            }
        },
    })?;
    let judged_run = JudgedRun::ended(&finished.folder)?;
    let mut good = true;
    let mut text = String::new();
    for block in &judged_run.run.blocks {
        let name = &judged_run.run.header.variants[block.variant as usize].name;
        let failures = block.load.failures;
        let fine = block.failure.is_none() && failures.all() == 0;
        good &= fine;
        let state = if fine { "ok" } else { "FAILED" };
        text += &format!("{state:7} {name}: {} replies", block.load.completed);
        if failures.all() > 0 {
            text += &format!(", failed: {failures}");
        }
        text += &block
            .failure
            .as_ref()
            .map_or_else(String::new, |why| format!(", {why}"));
        text.push('\n');
        // Assertions that cannot be read during a block are read in the variant's counting pass.
        let of_passes = judged_run.run.passes.iter();
        let of_passes = of_passes
            .filter(|pass| pass.variant == block.variant)
            .flat_map(|pass| &pass.assertions);
        let of_block = block.assertions.iter().filter(|it| it.holds.is_some());
        for reading in of_block.chain(of_passes) {
            let word = match reading.holds {
                Some(true) => "holds",
                Some(false) => "DOES NOT HOLD",
                None => "could not be read",
            };
            text += &format!(
                "          assertion {}: {word} (saw {})\n",
                reading.assertion, reading.seen
            );
            good &= reading.holds != Some(false);
        }
    }
    for work in &judged_run.judgement.work {
        let name = &judged_run.run.header.variants[work.variant as usize].name;
        let word = if work.same { "ok" } else { "DIFFERS" };
        text += &format!("{word:7} {name} {}: {}\n", work.url, work.detail);
        good &= work.same;
    }
    print(text.as_bytes())?;
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INVALID)
    })
}

const AFTER: &str = "\
Examples:
  andon-lab check lab/scenarios/5-sendfile/c-nginx-disk.toml
  andon-lab check s.toml && andon-lab run s.toml

Exit codes: 0 it works, 3 a reply, an assertion or a comparison is not as it must be, 4 not understood,
5 a server did not start.";
