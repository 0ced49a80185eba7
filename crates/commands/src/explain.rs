//! `andon explain`: shows how the server would answer a URL, without doing so.

use std::fmt::Write;
use std::sync::Arc;

use andon_dialects::ImageRequest;
use andon_pixels::CpuTime;
use andon_server::{geometry, negotiation};

use crate::place::{self, Place};
use andon_terminal::print;

/// Show how a URL would be processed, with estimated cost and memory
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The path as it would stand in the URL
    #[arg(value_name = "URL-PATH")]
    target: String,
    #[command(flatten)]
    place: Place,
}

const AFTER: &str = "\
Examples:
  andon explain '/small_light(dw=250,dh=250,da=l,q=95,jpeghint=y)/trip/a.jpg' --root ~/photos
  andon explain '/resize/w/150/h/150/a.jpg' --config andon.toml

key is what the result is kept under; memory, disk and store are the tiers of the cache in which a server looks for it, \
in that order. Of a [store] that nodes share it is said whether the result is worth a place there (store.min_cost, \
store.min_life).";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut report = String::new();
    let outcome = tell(args, &mut report);
    // Printed even if there was an error, because the output up to then helps to find its cause.
    print(report.as_bytes())?;
    outcome
}

fn tell(args: &Args, report: &mut String) -> anyhow::Result<()> {
    let config = args.place.config()?;
    let (resolver, engine, background) = Place::of(&config)?;
    let target = place::target(&args.target);
    let permitted = resolver.parse(&target);
    let (mut request, closed) = match permitted {
        Ok(request) => (request, None),
        Err(error) => (resolver.read(&target)?, Some(error)),
    };
    negotiation::settle_without_accept(&mut request, &background);
    writeln!(report, "target  {target}")?;
    if let Some(new_target) = resolver.rewritten(&target) {
        writeln!(report, "rewrite {new_target}")?;
    }
    writeln!(report, "file    /{}", request.source.place())?;
    if let Some(error) = closed {
        writeln!(report, "access  {}", with_status(error))?;
    }
    for note in &request.notes {
        writeln!(report, "note    {note}")?;
    }
    if !request.is_file() {
        writeln!(report, "asks    {}", request.rules.text())?;
    } else {
        let file = resolver.open(&request).map_err(|error| {
            let hint = resolver.hint(&target).map(|hint| format!("\n{hint}"));
            let error = with_status(error);
            anyhow::anyhow!("{error}{}", hint.unwrap_or_default())
        })?;
        writeln!(report, "etag    {}", file.validators("").etag)?;
        writeln!(
            report,
            "plan    the file /{} as it is, {} bytes",
            file.path,
            file.size()
        )?;
        return Ok(());
    }
    // A request can be explained even if its file is missing.
    let result = resolver.open(&request).and_then(|file| {
        let contents = file.read()?;
        let (rules, source) = (&*request.rules, &contents.source);
        let measuring = engine.measurement(rules, source)?.map(|it| it.cost());
        let plan = engine.plan_with(rules, source, &contents.overlays, None, None)?;
        let facts = engine.facts(source)?;
        let validators = resolver
            .validators(&request, &facts, &file)
            .map_err(andon_pixels::Error::of_rules)?;
        let tiers = andon_server::tiers(&config, andon_codecs::ALL, &request, &facts, &file, &plan);
        let sizes = geometry::explain(rules, &facts);
        let cpu = CpuTime::from(measuring.unwrap_or_default()) + plan.cpu();
        let excess = engine.limits().check_cpu(cpu, source.len() as u64).err();
        Ok((validators, measuring, plan, excess, sizes, tiers))
    });
    match result {
        Ok((validators, measuring, plan, excess, sizes, tiers)) => {
            if let Some(excess) = excess {
                writeln!(report, "refused {}", with_status(excess.into()))?;
            }
            writeln!(report, "etag    {}", validators.etag)?;
            for (tier, words) in tiers {
                writeln!(report, "{tier:<7} {words}")?;
            }
            let resolved_request = ImageRequest {
                rules: Arc::new(plan.recipe().clone()),
                ..request.clone()
            };
            let urls = resolver
                .written(&request)
                .chain(resolver.written(&resolved_request));
            for (_, same) in urls.filter(|(_, same)| *same != target) {
                writeln!(report, "same    {same}")?;
            }
            for line in sizes {
                writeln!(report, "{line}")?;
            }
            write!(report, "{}", plan.explain(measuring))?;
            Ok(())
        }
        Err(error) => Err(with_status(error)),
    }
}

fn with_status(error: andon_server::Error) -> anyhow::Error {
    anyhow::anyhow!("{error} (status {})", error.status().as_u16())
}
