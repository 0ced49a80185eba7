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
    let mut told = String::new();
    let outcome = tell(args, &mut told);
    // Printed even if there was an error, because the output up to then helps to find its cause.
    print(told.as_bytes())?;
    outcome
}

fn tell(args: &Args, told: &mut String) -> anyhow::Result<()> {
    let config = args.place.config()?;
    let (resolver, engine, background) = Place::of(&config)?;
    let target = place::target(&args.target);
    let permitted = resolver.parse(&target);
    let (mut request, closed) = match permitted {
        Ok(request) => (request, None),
        Err(error) => (resolver.read(&target)?, Some(error)),
    };
    negotiation::settle_without_accept(&mut request, &background);
    writeln!(told, "target  {target}")?;
    if let Some(rewritten) = resolver.rewritten(&target) {
        writeln!(told, "rewrite {rewritten}")?;
    }
    writeln!(told, "file    /{}", request.source.place())?;
    if let Some(error) = closed {
        writeln!(told, "access  {}", with_status(error))?;
    }
    for note in &request.notes {
        writeln!(told, "note    {note}")?;
    }
    if !request.is_file() {
        writeln!(told, "asks    {}", request.rules.text())?;
    } else {
        let found = resolver.open(&request).map_err(|error| {
            let hint = resolver.hint(&target).map(|hint| format!("\n{hint}"));
            let error = with_status(error);
            anyhow::anyhow!("{error}{}", hint.unwrap_or_default())
        })?;
        writeln!(told, "etag    {}", found.validators("").etag)?;
        writeln!(
            told,
            "plan    the file /{} as it is, {} bytes",
            found.path,
            found.size()
        )?;
        return Ok(());
    }
    // A request can be explained even if its file is missing.
    let planned = resolver.open(&request).and_then(|found| {
        let read = found.read()?;
        let (rules, source) = (&*request.rules, &read.source);
        let measuring = engine.measurement(rules, source)?.map(|it| it.cost());
        let plan = engine.plan_with(rules, source, &read.materials, None, None)?;
        let facts = engine.facts(source)?;
        let validators = resolver
            .validators(&request, &facts, &found)
            .map_err(andon_pixels::Error::of_rules)?;
        let tiers =
            andon_server::tiers(&config, andon_codecs::ALL, &request, &facts, &found, &plan);
        let sizes = geometry::explain(rules, &facts);
        let cpu = CpuTime::from(measuring.unwrap_or_default()) + plan.cpu();
        let over = engine.limits().check_cpu(cpu, source.len() as u64).err();
        Ok((validators, measuring, plan, over, sizes, tiers))
    });
    match planned {
        Ok((validators, measuring, plan, over, sizes, tiers)) => {
            if let Some(over) = over {
                writeln!(told, "refused {}", with_status(over.into()))?;
            }
            writeln!(told, "etag    {}", validators.etag)?;
            for (tier, words) in tiers {
                writeln!(told, "{tier:<7} {words}")?;
            }
            let resolved = ImageRequest {
                rules: Arc::new(plan.recipe().clone()),
                ..request.clone()
            };
            let written = resolver
                .written(&request)
                .chain(resolver.written(&resolved));
            for (_, same) in written.filter(|(_, same)| *same != target) {
                writeln!(told, "same    {same}")?;
            }
            for line in sizes {
                writeln!(told, "{line}")?;
            }
            write!(told, "{}", plan.explain(measuring))?;
            Ok(())
        }
        Err(error) => Err(with_status(error)),
    }
}

fn with_status(error: andon_server::Error) -> anyhow::Error {
    anyhow::anyhow!("{error} (status {})", error.status().as_u16())
}
