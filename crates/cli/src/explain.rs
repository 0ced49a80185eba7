//! `andon explain`: how an answer comes about, without making it.

use andon_server::Resolver;

use crate::place::{self, Place};

/// Tell what a URL path asks for and how it would be done: recipe, plan, cost, memory, cache key
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
  andon explain '/resize/w/150/h/150/a.jpg' --config andon.toml";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (resolver, engine) = args.place.open()?;
    let target = place::target(&args.target);
    let wish = resolver.wish(&target)?;
    println!("target  {target}");
    println!("file    /{}", wish.source);
    for note in &wish.notes {
        println!("note    {note}");
    }
    if !wish.transformed {
        return explain_file(&resolver, &wish);
    }
    // Printed before the file is touched: a wish is worth explaining even if its file is missing.
    let explained = resolver.open(&wish).and_then(|found| {
        let read = found.read()?;
        Ok((found, engine.plan(&wish.recipe, &read.source)?))
    });
    match explained {
        Ok((found, plan)) => {
            println!("etag    {}", found.validators.etag);
            print!("{}", plan.explain(&wish.recipe));
            Ok(())
        }
        Err(error) => {
            println!("recipe  {}", wish.recipe);
            Err(anyhow::anyhow!(
                "{error} (status {})",
                error.status().as_u16()
            ))
        }
    }
}

fn explain_file(resolver: &Resolver, wish: &andon_dialects::Wish) -> anyhow::Result<()> {
    let found = resolver
        .open(wish)
        .map_err(|error| anyhow::anyhow!("{error} (status {})", error.status().as_u16()))?;
    println!("etag    {}", found.validators.etag);
    println!(
        "plan    the file /{} as it is, {} bytes",
        found.path,
        found.size()
    );
    Ok(())
}
