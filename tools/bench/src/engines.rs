//! The contestants: bytes of a photograph in, bytes of a small image out.

use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

use crate::peers;

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contestant {
    /// Ourselves, one thread.
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
    /// In the order in which they run; the way back is the reverse.
    pub(crate) const ALL: &[Self] = &[
        Self::Andon,
        Self::Vips,
        Self::MagickOneThread,
        Self::Magick,
        Self::Gd,
    ];

    /// Those asked for, Andon and libvips in any case; all when none was.
    pub(crate) fn chosen(asked: &[Self]) -> Vec<Self> {
        let always = [Self::Andon, Self::Vips];
        Self::ALL
            .iter()
            .copied()
            .filter(|one| asked.is_empty() || asked.contains(one) || always.contains(one))
            .collect()
    }

    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Andon => "Andon",
            Self::Vips => "libvips",
            Self::MagickOneThread => "ImageMagick, 1 thread",
            Self::Magick => "ImageMagick, default threads",
            Self::Gd => "GD",
        }
    }

    /// Makes one small image.
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

/// What is written.
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

/// One piece of work, the same for everyone.
pub(crate) struct Job<'a> {
    /// The photograph's bytes.
    pub(crate) photo: &'a [u8],
    /// The longest side asked for (libvips decides the other).
    pub(crate) side: u32,
    /// The size that libvips gives: everyone else makes exactly this.
    pub(crate) size: (u32, u32),
    /// What is written.
    pub(crate) format: Format,
}

impl Job<'_> {
    /// The recipe that Andon runs.
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

/// What Andon makes of an image by a recipe's text.
pub(crate) fn render(recipe: &str, source: &[u8]) -> Result<Vec<u8>> {
    let recipe: Recipe = recipe.parse()?;
    let engine = engine();
    let plan = engine.plan(&recipe, source)?;
    let rendered = engine.run(&plan, Run::of(source))?;
    rendered.body.context("the original was passed through")
}

/// The engine with everything it ships with; making one costs nothing.
pub(crate) fn engine() -> Engine {
    Engine::new(andon_codecs::ALL, Limits::default())
}
