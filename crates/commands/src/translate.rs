//! `andon translate`: translates a URL from one URL language to another.

use std::fmt::Write;
use std::path::PathBuf;

use andon_dialects::translate::{Known, THIS_SIZE_ONLY, Translator, Unread};
use andon_server::config::Overrides;
use anyhow::{Context, anyhow, bail};

use crate::place;
use andon_terminal::print;

/// Translate a URL to another dialect, and report what that dialect cannot express
///
/// The translated URL is parsed again, and the results of both are compared for sources of many sizes, or of --size:
/// upright, rotated, transparent and animated ones. The printed URL is equivalent, or its differences are listed.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The URL, or its path and query
    #[arg(value_name = "URL")]
    url: String,
    /// The dialect to translate to, or `all`
    #[arg(long, value_name = "DIALECT")]
    to: String,
    /// The dialect of the URL, if more than one can parse it
    #[arg(long, value_name = "DIALECT")]
    from: Option<String>,
    /// The source's size
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// The source's format [default: by its name, or jpeg]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// A configuration with prefixes, keys and presets of the dialects; by default each has its usual prefix and signs
    /// nothing
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  andon translate '/small_light(dw=250,dh=250,q=80)/trip/a.jpg' --to native
  andon translate '/small_light(dw=250,dh=250,da=s,q=80)/trip/a.jpg' --to native --size 1600x900
  andon translate '/r/cover:250x250,as:webp,q:80/trip/a.jpg' --to all

Exit codes: 0 it was said, 1 it was not understood, or nothing in the other dialect says the same. What is nearest is printed \
all the same, with what differs.";

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x');
    let sides = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let sides = sides.filter(|(w, h)| *w > 0 && *h > 0);
    sides.ok_or_else(|| "write it like 1600x900".to_owned())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let translator = match &args.config {
        Some(file) => Translator::of(&Overrides::of_process().read(Some(file))?.dialects),
        None => Translator::usual(),
    };
    let names: Vec<&str> = translator.names().collect();
    for name in [&args.to]
        .into_iter()
        .filter(|to| *to != "all")
        .chain(&args.from)
    {
        if !names.contains(&name.as_str()) {
            bail!(
                "there is no dialect `{name}`: there are {}",
                names.join(", ")
            );
        }
    }
    let target = place::target(&args.url);
    let result = translator.read(args.from.as_deref(), &target);
    let (from, request) = result.map_err(|why| match why {
        Unread::Ambiguous(_) => anyhow!("{why} with --from"),
        why => why.into(),
    })?;
    let facts = Known {
        size: args.size,
        format: args.format.as_deref(),
        facts: None,
    };
    let translation = translator.translation(&request, &facts);
    let mut report = format!("reads        {from}: {}\n", request.rules.text());
    let recipe = translation.resolved().with_context(|| {
        let (w, h) = args.size.unwrap_or_default();
        format!("a {} of {w}x{h}", translation.format())
    })?;
    if let Some(recipe) = recipe {
        let _ = writeln!(report, "recipe       {recipe}");
    }
    let (mut any, mut exact) = (false, false);
    for name in names
        .iter()
        .filter(|name| args.to == "all" || args.to == **name)
    {
        match translation.say_in(name) {
            Ok(output) => {
                any = true;
                exact |= output.but.iter().all(|but| but == THIS_SIZE_ONLY);
                let _ = writeln!(report, "{name:<13}{}", output.url);
                for but in output.but {
                    let _ = writeln!(report, "             but {but}");
                }
            }
            Err(why) => _ = writeln!(report, "{name:<13}no: {why}"),
        }
    }
    print(report.as_bytes())?;
    if !any {
        bail!(
            "{} does not say that; a translation that says nearly the same may be made by hand",
            args.to
        );
    }
    if !exact {
        bail!("{} does not say the same: see `but`", args.to);
    }
    Ok(())
}
