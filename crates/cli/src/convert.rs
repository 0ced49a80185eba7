//! `andon convert`: one recipe, many files, all cores.

mod outputs;
mod overlays;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use andon_batch::Renderer;
use andon_pixels::{Limits, Never};
use andon_recipe::Recipe;
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};

use self::outputs::Outputs;

/// Convert many images with one recipe
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// What to make of each, as `andon explain` prints it, such as fit:1200x1200,as:webp,q:80
    recipe: Recipe,
    /// The pictures; they are never overwritten
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The folder for the results; made if it is missing. Older results in it are replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The folder of pictures to compose with
    #[arg(long, value_name = "DIR")]
    materials: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  andon convert fit:1200x1200,as:webp,q:80 *.jpg -o small/
  andon convert fit:300x300,as:jpeg,q:85 ~/photos/*.png -o thumbs/

A result is named after its picture, with the extension of its format. as:auto keeps the source format (there is no \
Accept header). An image that fails is reported and \
the others go on; the exit code is then 1.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make the folder {}", args.output.display()))?;
    let overlays = overlays::read(args.materials.as_deref(), args.recipe.materials())?;
    let batch = Batch {
        recipe: &args.recipe,
        renderer: Renderer::new(andon_codecs::ALL, Limits::default(), overlays),
        outputs: Outputs::new(&args.output, &args.inputs),
    };
    let failed = batch.run(&args.inputs);
    match failed {
        0 => Ok(()),
        // It is reported already, and "1 of 1" would tell nothing.
        1 if args.inputs.len() == 1 => bail!("the picture failed"),
        _ => bail!("{failed} of {} pictures failed", args.inputs.len()),
    }
}

struct Batch<'a> {
    recipe: &'a Recipe,
    renderer: Renderer,
    outputs: Outputs,
}

impl Batch<'_> {
    /// Converts every input and says how many failed.
    fn run(&self, inputs: &[PathBuf]) -> usize {
        let progress = progress_bar(inputs.len());
        let failed = AtomicUsize::new(0);
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        andon_batch::each(threads, inputs.len(), |index| {
            let input = &inputs[index];
            if let Err(error) = self.convert(input) {
                progress.suspend(|| eprintln!("{}: {error:#}", input.display()));
                failed.fetch_add(1, Ordering::Relaxed);
            }
            progress.inc(1);
        });
        progress.finish_and_clear();
        failed.into_inner()
    }

    fn convert(&self, input: &Path) -> anyhow::Result<()> {
        let source = std::fs::read(input).context("cannot be read")?;
        let plan = self.renderer.plan(self.recipe, &source)?;
        let output = self.outputs.claim(input, plan.format())?;
        let made = self.renderer.run(&plan, &source, &Never)?;
        for note in &made.notes {
            eprintln!("{}: note: {note}", input.display());
        }
        output.write(made.bytes(&source))
    }
}

/// Drawn on a terminal only.
pub(crate) fn progress_bar(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len}  {per_sec}  {eta} left  {msg}");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
