//! `andon translate`: one URL language in the words of another.

mod behaviour;
mod spellings;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use andon_dialects::{Ask, Dialects, ImageRequest, Source};
use andon_recipe::Facts;
use andon_server::Config;
use anyhow::{Context, bail};

use crate::place;
use crate::print::print;
use behaviour::Behaviour;

/// Say a URL in another dialect, and what the other dialect cannot say
///
/// URLs of the other dialect are read back, and sizes, crops and output are compared for sources of many sizes, or for
/// the one of --size: what is printed says the same, or where it does not.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The URL, or its path and query
    #[arg(value_name = "URL")]
    url: String,
    /// The dialect to say it in, or `all`
    #[arg(long, value_name = "DIALECT")]
    to: String,
    /// The dialect that it is in, where more than one can read it
    #[arg(long, value_name = "DIALECT")]
    from: Option<String>,
    /// The source's size
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// The source's format [default: by its name, or jpeg]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Prefixes, keys and presets of the dialects; by default each has its usual prefix and signs nothing
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  andon translate '/small_light(dw=250,dh=250,q=80)/trip/a.jpg' --to native
  andon translate '/small_light(dw=250,dh=250,da=s,q=80)/trip/a.jpg' --to native --size 1600x900
  andon translate '/r/cover:250x250,as:webp,q:80/trip/a.jpg' --to all

Exit codes: 0 it was said, 1 it was not understood, or nothing in the other dialect says the same.";

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x');
    let sides = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let sides = sides.filter(|(w, h)| *w > 0 && *h > 0);
    sides.ok_or_else(|| "write it like 1600x900".to_owned())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let names: Vec<&str> = andon_dialects::ALL.iter().map(|(name, _)| *name).collect();
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
    let config = match &args.config {
        Some(file) => Some(Config::read(file)?.dialects),
        None => None,
    };
    let open = |name: &str| match &config {
        Some(config) => spellings::alone(name, config),
        None => spellings::usual(name),
    };
    let target = place::target(&args.url);
    let (from, request) = read(&names, args.from.as_deref(), &target, open)?;
    let (Source::Path(path) | Source::Url(path)) = &request.source;
    let by_name = Path::new(path)
        .extension()
        .map(|it| it.to_string_lossy().to_lowercase());
    let format = args.format.clone().or(by_name).unwrap_or_default();
    let format = match format.as_str() {
        "png" | "gif" | "webp" | "avif" | "jxl" => &format,
        _ => "jpeg",
    };
    let wanted =
        [args.size, None].map(|size| Behaviour::of(&request, format, &behaviour::sizes(size)));
    let mut told = format!("reads        {from}: {}\n", request.rules.text());
    let mut resolved = None;
    if let Some((w, h)) = args.size {
        let recipe = request.rules.resolve(&Facts::new(format, w, h));
        let recipe = recipe.with_context(|| format!("a {format} of {w}x{h}"))?;
        resolved = Some(ImageRequest {
            rules: Arc::new(recipe.clone()),
            ..request.clone()
        });
        let _ = writeln!(told, "recipe       {recipe}");
    }
    let mut any = false;
    for name in names
        .iter()
        .filter(|name| args.to == "all" || args.to == **name)
    {
        let said = match open(name) {
            Err(why) => Err(why.to_string()),
            Ok(dialects) => say(name, &dialects, &request, resolved.as_ref(), &wanted),
        };
        match said {
            Ok((url, but)) => {
                any = true;
                let _ = writeln!(told, "{name:<13}{url}");
                for but in but {
                    let _ = writeln!(told, "             but {but}");
                }
            }
            Err(why) => _ = writeln!(told, "{name:<13}no: {why}"),
        }
    }
    print(told.as_bytes())?;
    if !any {
        bail!(
            "{} does not say that; a translation that says nearly the same may be made by hand",
            args.to
        );
    }
    Ok(())
}

/// The request, and which dialect it is in.
fn read(
    names: &[&'static str],
    from: Option<&str>,
    target: &str,
    open: impl Fn(&str) -> anyhow::Result<Dialects>,
) -> anyhow::Result<(&'static str, ImageRequest)> {
    let mut found = Vec::new();
    let mut refused = Vec::new();
    for name in names
        .iter()
        .filter(|name| from.is_none_or(|from| from == **name))
    {
        let Ok(dialects) = open(name) else { continue };
        match dialects.parse(target) {
            Ok(request) if request.ask == Ask::Picture => found.push((*name, request)),
            Ok(_) => {}
            Err(refusal) => refused.push((*name, refusal)),
        }
    }
    if found.len() > 1 {
        // Every path of a picture may be one of imgix's.
        found.retain(|(name, _)| *name != "imgix");
    }
    match found.len() {
        0 if refused.len() == 1 => {
            let (name, refusal) = refused.remove(0);
            Err(refusal).with_context(|| name.to_owned())
        }
        0 => bail!("no dialect reads a picture from {target}"),
        1 => Ok(found.remove(0)),
        _ => {
            let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
            bail!(
                "{} can read this: name one with --from",
                names.join(" and ")
            )
        }
    }
}

/// The URL that comes nearest, and where it does not say the same: for the source's size if it is known, and then for
/// others.
fn say(
    name: &str,
    dialects: &Dialects,
    request: &ImageRequest,
    resolved: Option<&ImageRequest>,
    wanted: &[Behaviour; 2],
) -> Result<(String, Vec<String>), String> {
    if let Some((_, url)) = dialects.write(request).next() {
        return Ok((url, Vec::new()));
    }
    let candidates = spellings::candidates(name, request, wanted);
    if candidates.is_empty() {
        return Err("Andon has no words of this dialect for what others ask for".to_owned());
    }
    let mut best = None;
    let mut refused = None;
    for url in candidates {
        let read = match dialects.parse(&url) {
            Ok(read) if read.ask == Ask::Picture && read.source == request.source => read,
            Ok(_) => continue,
            Err(refusal) => {
                refused = Some(refusal.to_string());
                continue;
            }
        };
        let [near, others] = wanted
            .each_ref()
            .map(|wanted| wanted.distance(&wanted.again(&read)));
        let far = (near, others);
        if best.as_ref().is_none_or(|(_, _, least)| far < *least) {
            best = Some((url, read, far));
        }
    }
    let why = || refused.unwrap_or_else(|| "it does not name this source".to_owned());
    let (url, read, ((differing, _), _)) = best.ok_or_else(why)?;
    let url = dialects.write(&read).next().map_or(url, |(_, url)| url);
    if differing > 0
        && let Some((_, url)) = resolved.and_then(|resolved| dialects.write(resolved).next())
    {
        let only = "for sources of this size only, as that is all it can say".to_owned();
        return Ok((url, vec![only]));
    }
    let [wanted, _] = wanted;
    let but = wanted.differences(&wanted.again(&read));
    match differing == wanted.len() {
        true => Err(format!("the nearest is {url}, but {}", but.join(", "))),
        false => Ok((url, but)),
    }
}
