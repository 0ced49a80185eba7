//! The contestants: each turns the bytes of a photo into the bytes of a small image.

use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

use crate::peers;

/// A library under comparison, with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contestant {
    /// Andon, with one thread.
    Andon,
    /// `vips_thumbnail_buffer`, concurrency 1, operation cache off.
    Vips,
    /// ImageMagick with `jpeg:size` twice the target, one thread.
    #[value(name = "magick-1")]
    #[serde(rename = "magick-1")]
    MagickOneThread,
    /// ImageMagick with `jpeg:size` twice the target, with its default number of threads.
    Magick,
    /// GD: full decode, `gdImageCopyResampled`.
    Gd,
}

impl Contestant {
    /// All contestants in the order in which they run. Every second time they run in the reverse order.
    pub(crate) const ALL: &[Self] = &[
        Self::Andon,
        Self::Vips,
        Self::MagickOneThread,
        Self::Magick,
        Self::Gd,
    ];

    /// Returns the contestants in `selection`, always including Andon and libvips. Returns all contestants if
    /// `selection` is empty.
    pub(crate) fn selected(selection: &[Self]) -> Vec<Self> {
        let always = [Self::Andon, Self::Vips];
        Self::ALL
            .iter()
            .copied()
            .filter(|one| selection.is_empty() || selection.contains(one) || always.contains(one))
            .collect()
    }

    /// Returns the contestant's name as it appears in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Andon => "Andon",
            Self::Vips => "libvips",
            Self::MagickOneThread => "ImageMagick, 1 thread",
            Self::Magick => "ImageMagick, default threads",
            Self::Gd => "GD",
        }
    }

    /// Renders one small image.
    pub(crate) fn run(self, job: &Job<'_>) -> Result<Vec<u8>> {
        match self {
            Self::Andon => render(&job.recipe(), job.photo),
            Self::Vips => peers::vips(job.photo, job.side, job.format),
            Self::MagickOneThread => peers::magick(job.photo, job.size, 1, job.format),
            Self::Magick => peers::magick(job.photo, job.size, 0, job.format),
            Self::Gd => peers::gd(job.photo, job.size, job.format),
        }
        .with_context(|| self.name())
    }
}

/// An output format with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// JPEG, q 80, 4:2:0.
    Jpeg,
    /// WebP, lossy, q 80.
    Webp,
}

impl Format {
    pub(crate) const ALL: [Self; 2] = [Self::Jpeg, Self::Webp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "JPEG",
            Self::Webp => "WebP",
        }
    }
}

/// One photo to shrink, the same task for every contestant.
pub(crate) struct Job<'a> {
    /// Bytes of the photo's file.
    pub(crate) photo: &'a [u8],
    /// Requested longest side in px. libvips determines the other side.
    pub(crate) side: u32,
    /// Width and height in px of libvips' result. All other contestants render exactly this size.
    pub(crate) size: (u32, u32),
    /// Format of the result.
    pub(crate) format: Format,
}

impl Job<'_> {
    /// Returns the recipe (the list of image operations) that Andon runs for this job.
    pub(crate) fn recipe(&self) -> String {
        let (width, height) = self.size;
        match self.format {
            Format::Jpeg => {
                format!("exact:{width}x{height},profile:drop,metadata:none,as:jpeg,q:80,chroma:420")
            }
            Format::Webp => {
                format!("exact:{width}x{height},profile:drop,metadata:none,as:webp,q:80")
            }
        }
    }
}

/// Renders an image with Andon by the text of a recipe (a list of image operations). It is an error if the result is
/// the unchanged original.
pub(crate) fn render(recipe: &str, source: &[u8]) -> Result<Vec<u8>> {
    let recipe: Recipe = recipe.parse()?;
    let engine = engine();
    let plan = engine.plan(&recipe, source)?;
    let rendered = engine.run(&plan, Run::of(source))?;
    rendered.body.context("the original was passed through")
}

/// Creates an engine with all codecs and default limits. This takes hardly any time.
pub(crate) fn engine() -> Engine {
    Engine::new(andon_codecs::ALL, Limits::default())
}
