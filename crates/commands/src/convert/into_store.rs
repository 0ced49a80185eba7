//! `andon convert --into-store`: writes results to the shared store of a server's nodes.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use andon_pixels::Codec;
use andon_server::config::{OriginKind, Store};
use andon_server::{Config, Filled, Filler};
use anyhow::{Context, bail};

use super::buckets::parts;
use super::inputs::Input;
use super::{Args, Job, Spec, cores};
use crate::accept;
use crate::template::{decoded, filled};

pub(super) fn run(
    args: &Args,
    config: Option<&Config>,
    codecs: &'static [&'static dyn Codec],
    spec: &Spec,
    job: &Job,
) -> anyhow::Result<()> {
    let (Some(file), Some(config)) = (&args.config, config) else {
        bail!("name the server's --config");
    };
    let filler = Filler::open(config, codecs).with_context(|| file.display().to_string())?;
    let accepts: Vec<Option<&str>> = match args.accept.is_empty() {
        true => vec![None],
        false => args.accept.iter().map(|it| accept::value(it)).collect(),
    };
    let counts = Counts::default();
    let fill = |input: &Input| {
        let source = source(config, input)?;
        let target = match spec {
            Spec::Url(template) => filled(template, &source),
            Spec::Recipe(recipe) => filler.target(recipe, &source).with_context(|| {
                "no URL of the configuration says this recipe: switch [native] on, or write a URL with {source} in place of the recipe"
            })?,
        };
        let mut reason = None;
        for accept in &accepts {
            match filler.fill(&target, *accept)? {
                Filled::Present => counts.present.fetch_add(1, Ordering::Relaxed),
                Filled::Stored => counts.stored.fetch_add(1, Ordering::Relaxed),
                Filled::Left(why) => {
                    reason = Some(why);
                    counts.left.fetch_add(1, Ordering::Relaxed)
                }
            };
        }
        match reason {
            Some(why) => eprintln!("{}: not stored: {why}", input.name),
            None => job.note(input, &[("target", target.into())])?,
        }
        Ok(())
    };
    job.run(2 * cores(), fill, |_| false, || counts.text())
}

/// Number of results that were stored, that the store already had, and that were not stored.
#[derive(Default)]
struct Counts {
    stored: AtomicUsize,
    present: AtomicUsize,
    left: AtomicUsize,
}

impl Counts {
    fn text(&self) -> String {
        let [stored, present, left] =
            [&self.stored, &self.present, &self.left].map(|it| it.load(Ordering::Relaxed));
        format!("{stored} made and stored, {present} already there, {left} not stored")
    }
}

/// Returns the path under which the server serves an input image, without percent-encoding.
fn source(config: &Config, input: &Input) -> anyhow::Result<String> {
    let below = |prefix: &str, rest: &str| {
        let parts = [prefix, rest].map(|part| part.trim_matches('/'));
        let parts = parts.iter().filter(|part| !part.is_empty());
        parts.map(|part| format!("/{part}")).collect::<String>()
    };
    if let Some((bucket, key)) = parts(&input.name) {
        let source_path = config
            .origin
            .iter()
            .find_map(|origin| match &origin.keeper {
                OriginKind::Bucket(Store::S3, settings, _) if settings.bucket == bucket => {
                    let folder = settings.folder.trim_matches('/');
                    let rest = key.strip_prefix(folder)?;
                    let is_whole = folder.is_empty() || rest.starts_with('/');
                    is_whole.then(|| below(&origin.prefix, rest))
                }
                _ => None,
            });
        return source_path.with_context(|| "no origin of the configuration is this bucket");
    }
    let file = input.file().and_then(|path| path.canonicalize().ok());
    if let Some(file) = file {
        let source_path = config
            .origin
            .iter()
            .find_map(|origin| match &origin.keeper {
                OriginKind::Fs(folder) => {
                    let rest = file.strip_prefix(folder.root.canonicalize().ok()?).ok()?;
                    Some(below(&origin.prefix, rest.to_str()?))
                }
                _ => None,
            });
        if let Some(source_path) = source_path {
            return Ok(source_path);
        }
    }
    let name = &input.name;
    if !Path::new(name).is_absolute() {
        bail!(
            "it is in no folder that the configuration serves; name it as in URLs, such as /trip/a.jpg"
        );
    }
    Ok(decoded(name)?)
}
