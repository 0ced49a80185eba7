//! `andon convert`: converts many files or objects with one recipe, on all cores.

mod buckets;
mod failures;
mod folder;
mod inputs;
mod into_store;
mod job;
mod manifest;
mod names;
mod naming;
mod outputs;
mod overlays;
mod semaphore;
mod target;
mod whole;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use andon_batch::Renderer;
use andon_pixels::{Engine, Format, Limits, Never};
use andon_recipe::{ParseError, Recipe};
use andon_server::Config;
use andon_server::config::Processes;
use anyhow::bail;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use self::buckets::Buckets;
use self::failures::Failures;
use self::inputs::Input;
use self::job::Job;
use self::manifest::Manifest;
use self::naming::Naming;
use self::outputs::Outputs;
use self::semaphore::Semaphore;
use self::target::Target;
use crate::format_of::format_of;
use crate::processes::Codecs;

/// Convert many images with one recipe
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The recipe, in the notation of `andon explain`, such as fit:1200x1200,as:webp,q:80. With --into-store also a URL
    /// path with {source} in it
    #[arg(value_parser = Spec::parse)]
    recipe: Spec,
    /// The images, which are never overwritten: files, folders for all images below them, s3://BUCKET/KEY, or
    /// s3://BUCKET/FOLDER/ for all below it
    #[arg(required_unless_present = "from", value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// A file with names of further images, one per line; - reads standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// A folder that contains the images: results keep the folders of their images below it, including those of images
    /// that are named one by one
    #[arg(long, value_name = "DIR", conflicts_with = "into_store")]
    relative_to: Option<PathBuf>,
    /// Where results go: a folder, or s3://BUCKET/FOLDER; made if it is missing. For one image also a file, such as
    /// small.jpg, whose extension is the format where the recipe names none. Older results are replaced
    #[arg(
        short,
        long,
        value_name = "OUT",
        required_unless_present = "into_store"
    )]
    output: Option<String>,
    /// Template for the names of results, whose extension is added by their format. {name} is the image's name without
    /// its extension, {ext} is that extension. For a.png, {name}-256 gives a-256.webp, and {name}.{ext} gives
    /// a.png.webp
    #[arg(long, value_name = "TEMPLATE", value_parser = Naming::parse, default_value = "{name}", conflicts_with = "into_store")]
    name: Naming,
    /// The folder of overlay images, which recipes name without a leading slash and without a scheme
    #[arg(long, value_name = "DIR")]
    overlays: Option<PathBuf>,
    /// A file that records what is done, a line of JSON for each result; a later run skips what it records, and warns
    /// if recorded results are missing
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Check the results that the manifest lists: if a result is missing or has another length, its image is converted
    /// again
    #[arg(long, requires = "manifest", conflicts_with = "into_store")]
    verify: bool,
    /// A file for the names of the images that this run has not converted, in the format of --from. They have failed,
    /// or are left after Ctrl-C. Images whose results would replace the results of others are not listed
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,
    /// Maximum number of images that are converted at the same time [default: the number of processor cores]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "into_store")]
    threads: Option<NonZeroUsize>,
    /// Formats that isolated worker processes read and write: third-party (those with code of others, such as SVG,
    /// AVIF, WebP and TIFF), all, or none; with --into-store the configuration sets it
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "third-party",
        conflicts_with = "into_store"
    )]
    processes: Processes,
    /// Write results to the store that the nodes of a server share, with the keys that the server uses
    #[arg(long, requires = "config", conflicts_with_all = ["output", "overlays"])]
    into_store: bool,
    /// The server's configuration file. --into-store needs it. Otherwise overlay images are read from its origins (by
    /// path or URL), text is set in its fonts, and its limits apply
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Accept header of the clients that results are for, with --into-store; may be repeated, and each image is then
    /// stored once for each; "" is none
    #[arg(long, value_name = "VALUE", requires = "into_store")]
    accept: Vec<String>,
}

/// Parses a number of threads.
fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let why = "it is a number from 1; leave the option out for one thread per core";
    text.parse().map_err(|_| why.to_owned())
}

/// The transformation of each image: a recipe, or a URL with a placeholder for the source.
#[derive(Clone, Debug)]
enum Spec {
    Recipe(Recipe),
    /// A URL path with the placeholder `{source}`.
    Url(String),
}

impl Spec {
    fn parse(text: &str) -> Result<Self, String> {
        use crate::template::SOURCE;
        match text.starts_with('/') || text.contains(SOURCE) {
            true if !text.contains(SOURCE) => {
                Err(misplaced(text).unwrap_or_else(|| format!("it has no {SOURCE} in it")))
            }
            true => Ok(Self::Url(text.to_owned())),
            false => Self::recipe(text).map_err(|why| misplaced(text).unwrap_or(why)),
        }
    }

    fn recipe(text: &str) -> Result<Self, String> {
        let recipe: Recipe = text
            .parse()
            .map_err(|error: ParseError| error.to_string())?;
        // Checked here so that the error is not repeated for each image.
        Engine::new(andon_codecs::ALL, Limits::default())
            .check(&recipe)
            .map_err(|error| error.to_string())?;
        Ok(Self::Recipe(recipe))
    }

    fn text(&self) -> String {
        match self {
            Self::Recipe(recipe) => recipe.to_string(),
            Self::Url(url) => url.clone(),
        }
    }
}

/// Returns an error message if the argument for the recipe is an existing file or folder.
fn misplaced(text: &str) -> Option<String> {
    let what = match std::fs::metadata(text).ok()?.is_dir() {
        true => "folder",
        false => "file",
    };
    let example = "andon convert fit:1200x1200,as:webp";
    Some(format!(
        "this is a {what}: the recipe comes first, as in `{example} {text} -o small/`"
    ))
}

const AFTER: &str = "\
Examples:
  andon convert fit:1200x1200,as:webp,q:80 *.jpg -o small/
  andon convert fit:300x300,as:jpeg,q:85 ~/photos -o thumbs/
  andon convert cover:300x300 photo.png -o square.jpg
  andon convert fit:800x800,as:avif s3://photos/2026/ -o s3://results/800 --manifest 800.jsonl
  andon convert fit:250x250,as:webp --into-store --config andon.toml /trip/a.jpg /trip/b.jpg
  andon convert cover:256x256,as:webp ~/photos -o squares/ --failures failed.txt
  andon convert '/small_light(dw=250){source}' --into-store --config andon.toml --from list.txt

A result is named after its image, with the extension of its format; below a folder it keeps the folders that its image \
is in. Of a folder all images are taken, in its folders too; other files, hidden ones and the folder of the results are \
left out. as:auto keeps the source format (there is no Accept header). An image that fails is reported and the \
others go on; the exit code is then 1, and with --manifest the next run tries those that failed again, and with \
--failures they are listed, without those whose results would replace others. Ctrl-C ends a run when the images that are begun are done. An image \
whose file or object has changed since is made again.

Buckets take the variables of Amazon's tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, \
AWS_REGION, AWS_ENDPOINT_URL.

With --into-store images are named as in URLs, by files below a folder that the configuration serves, or by objects of \
a bucket that it serves. Results that the store has are left alone; which ones are worth a place there is the \
configuration's to say (store.min_cost, store.min_life).";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.config.as_deref().map(Config::read).transpose()?;
    let sandbox = config.as_ref().map(|config| &config.sandbox);
    let sandbox = sandbox.filter(|_| args.into_store);
    let fonts = config.as_ref().map(|config| &config.fonts);
    let cores = args.threads.map_or_else(cores, NonZeroUsize::get);
    let limits = config
        .as_ref()
        .map_or_else(Limits::default, |config| config.limits.pixels());
    let codecs = Codecs::prepare(
        sandbox.map_or(args.processes, |sandbox| sandbox.processes),
        cores,
        &limits,
        andon_isolation::AT_REST,
        sandbox.map_or(SUSPECT, |sandbox| sandbox.suspect.0),
        fonts,
    )?;
    let codecs = codecs.start();
    let target = args.output.as_deref().map(Target::of).transpose()?;
    let work = match (&args.recipe, target) {
        (_, None) => None,
        (Spec::Url(_), Some(_)) => {
            bail!("URLs with {} go with --into-store", crate::template::SOURCE)
        }
        (Spec::Recipe(recipe), Some(target)) => {
            let recipe = target.completed(recipe.clone())?;
            let overlays =
                overlays::read(args.overlays.as_deref(), config.as_ref(), recipe.overlays())?;
            let renderer = Renderer::new(codecs, limits, overlays);
            renderer.check(&recipe)?;
            Some((recipe, renderer, target))
        }
    };
    let buckets = Buckets::default();
    let results = work
        .as_ref()
        .map(|(_, _, target)| Path::new(&target.folder));
    let images = images(args, &buckets, results)?;
    if let Some((_, _, target)) = &work {
        target.holds(images.len())?;
    }
    let job = job(args, images, results)?;
    let Some((recipe, renderer, target)) = work else {
        return into_store::run(args, config.as_ref(), codecs, &args.recipe, &job);
    };
    let threads = threads(&job, &target.folder, cores);
    let format = format_of_all(&recipe);
    let batch = Batch {
        recipe,
        renderer,
        outputs: Outputs::new(target, &args.name, &buckets, &job, format)?,
        format,
        semaphore: Semaphore::new(cores),
        totals: Written::default(),
    };
    let convert = |input: &Input| batch.convert(input, &job);
    let is_taken = |input: &Input| batch.is_taken(input);
    job.run(threads, convert, is_taken, || batch.totals.text())
}

/// Returns all images that the arguments name.
fn images(args: &Args, buckets: &Buckets, results: Option<&Path>) -> anyhow::Result<Vec<Input>> {
    let mut names = args.inputs.clone();
    if let Some(from) = &args.from {
        let list = names::read_list(from)?;
        if list.is_empty() {
            eprintln!("note: --from {} names no image", from.display());
        }
        names.extend(list);
    }
    let mut images = inputs::all(&names, buckets, results)?;
    if let Some(folder) = &args.relative_to {
        (images.iter_mut()).try_for_each(|image| image.keep_folders_below(folder))?;
    }
    Ok(images)
}

/// Returns the job for these images, without those that earlier runs have converted. `results` is the folder of
/// results.
fn job(args: &Args, mut images: Vec<Input>, results: Option<&Path>) -> anyhow::Result<Job> {
    if args.verify
        && args
            .output
            .as_ref()
            .is_some_and(|it| it.starts_with(buckets::SCHEME))
    {
        bail!("--verify looks for files: results in buckets are not looked up");
    }
    let into = match (&args.output, &args.config) {
        (Some(output), _) => args.name.place_in(output),
        (None, Some(config)) => format!("the store of {}", config.display()),
        (None, None) => bail!("name a folder with --output"),
    };
    let manifest = args.manifest.as_deref();
    let failures = args.failures.as_deref();
    for (option, file) in [("--manifest", manifest), ("--failures", failures)] {
        if let Some(file) = file {
            target::make_folder_of(option, file, results)?;
        }
    }
    let failures = failures.map(|path| Failures::new(path, &images, manifest));
    let failures = failures.transpose()?;
    let manifest = manifest.map(|path| Manifest::open(path, &args.recipe.text(), &into));
    let manifest = manifest.transpose()?;
    if let (Some(manifest), Some(output)) = (&manifest, &args.output) {
        images.retain(|image| !image.is_found || !manifest.is_result_in(image, output));
    }
    if manifest.is_some() {
        manifest::note_bytes(&images);
    }
    let is_done = |input: &Input| (manifest.as_ref()).is_some_and(|it| it.has(input, args.verify));
    let (done, inputs): (Vec<Input>, Vec<Input>) = images.into_iter().partition(is_done);
    Ok(Job {
        inputs,
        done,
        manifest,
        failures,
    })
}

/// Returns the format of all results, if the recipe determines it.
fn format_of_all(recipe: &Recipe) -> Option<&'static str> {
    if recipe.output.moving.is_some() {
        return None;
    }
    let format_name = recipe.output.format.as_ref()?.as_str();
    let named =
        |format: &Format| format.name == format_name || format.aliases.contains(&format_name);
    let codec = andon_codecs::ALL.iter().find(|it| named(&it.format()))?;
    Some(codec.name())
}

struct Batch<'a> {
    recipe: Recipe,
    renderer: Renderer,
    outputs: Outputs<'a>,
    /// The format of all results, if the recipe determines it.
    format: Option<&'static str>,
    /// Limits the number of threads that work on pixels at the same time.
    semaphore: Semaphore,
    totals: Written,
}

/// Number of results, and the total bytes of their sources and of the results.
#[derive(Default)]
struct Written {
    results: AtomicUsize,
    from: AtomicUsize,
    to: AtomicUsize,
}

impl Written {
    fn add(&self, from: usize, to: usize) {
        self.results.fetch_add(1, Ordering::Relaxed);
        self.from.fetch_add(from, Ordering::Relaxed);
        self.to.fetch_add(to, Ordering::Relaxed);
    }

    fn text(&self) -> String {
        let [results, from, to] =
            [&self.results, &self.from, &self.to].map(|count| count.load(Ordering::Relaxed));
        match results {
            0 => String::new(),
            _ => format!("{results} written, {} → {}", size(from), size(to)),
        }
    }
}

/// Formats a number of bytes with the largest fitting unit, such as `3.1 MB`.
fn size(bytes: usize) -> String {
    let mut amount = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        // 999.95 would round to 1000.0.
        if amount < 999.95 {
            break;
        }
        (amount, unit) = (amount / 1000.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{amount:.1} {unit}"),
    }
}

impl Batch<'_> {
    fn convert(&self, input: &Input, job: &Job) -> anyhow::Result<()> {
        let preparation = input.read().and_then(|source| {
            let plan = self.renderer.plan(&self.recipe, &source)?;
            Ok((source, plan))
        });
        let (source, plan) = preparation.inspect_err(|_| self.outputs.release(input))?;
        let output = self.outputs.claim(input, plan.format())?;
        let result = (self.semaphore).run(|| self.renderer.run(&plan, &source, &Never));
        let result = result.inspect_err(|_| output.release(input))?;
        for note in &result.notes {
            eprintln!("{}: note: {note}", input.name);
        }
        let bytes = result.bytes(&source);
        output.write(bytes)?;
        let (name, length) = (output.name(), bytes.len());
        self.totals.add(source.len(), length);
        job.note(input, &[("output", name.into()), ("bytes", length.into())])
    }

    /// Whether the result of an image would replace an input of the job, or the result of another image.
    fn is_taken(&self, input: &Input) -> bool {
        let is_taken = |format: &str| self.outputs.is_taken(input, format);
        if let Some(format) = self.format {
            return is_taken(format);
        }
        if !andon_codecs::ALL.iter().any(|it| is_taken(it.name())) {
            return false;
        }
        let source = input.read();
        let plan = source.and_then(|source| Ok(self.renderer.plan(&self.recipe, &source)?));
        match plan {
            Ok(plan) => is_taken(plan.format()),
            // In the next run the image may be readable, so its result's format is guessed from its name.
            Err(_) => match format_of(&input.name) {
                Ok(Some(format)) if self.keeps_formats() => is_taken(format),
                _ => true,
            },
        }
    }

    /// Whether each result has the format of its source.
    fn keeps_formats(&self) -> bool {
        let output = &self.recipe.output;
        (output.format.is_none() || output.is_open()) && output.moving.is_none()
    }
}

/// How long an image is refused after it has crashed two worker processes: longer than any run.
const SUSPECT: Duration = Duration::from_secs(24 * 3600);

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns the number of threads: one for each of `cores`, or several per core if the job reads or writes buckets. Even
/// then, only one thread per core works on pixels at a time.
fn threads(job: &Job, output: &str, cores: usize) -> usize {
    let is_remote = |name: &str| name.starts_with(buckets::SCHEME);
    let waits = is_remote(output) || job.inputs.iter().any(|input| is_remote(&input.name));
    match waits {
        true => (cores * THREADS_PER_CORE).min(MOST_THREADS),
        false => cores,
    }
}

/// Returns a progress bar, which is visible only on a terminal.
pub(crate) fn progress_bar(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len}  {rate}  {eta} left  {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
        let _ = write!(text, "{:.1}/s", state.per_sec());
    };
    ProgressBar::new(length as u64).with_style(style.with_key("rate", rate))
}

const THREADS_PER_CORE: usize = 4;

/// Maximum number of threads. Each may have an image in memory.
const MOST_THREADS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_how_much_was_written() {
        let written = Written::default();
        assert_eq!(written.text(), "");
        written.add(3_000_000, 900_000);
        written.add(100_000, 50);
        assert_eq!(written.text(), "2 written, 3.1 MB → 900.0 kB");
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_999, "1.0 MB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
