//! Random images and recipes.

use andon_pixels::frame::{Depth, Frame, Model, Subsampling};
use andon_pixels::{Error, Orientation, OverlaySource, Result};
use andon_pixels::{Matrix, Range};
use proptest::prelude::*;
use proptest::sample::select;

use crate::fake;
use crate::image::{self, Image};

/// An image to be stored in a fake file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    format: &'static str,
    model: Model,
    depth: Depth,
    alpha: bool,
    palette: bool,
    width: u32,
    height: u32,
    exif: u16,
    quality: u8,
    phase: f64,
}

impl Source {
    /// Creates a source without any special properties.
    pub(crate) fn plain(format: &'static str, model: &str) -> Self {
        Self {
            format,
            model: match model {
                "rgb" => Model::Rgb,
                _ => Model::ycbcr(Subsampling::C420),
            },
            depth: Depth::U8,
            alpha: false,
            palette: false,
            width: 120,
            height: 90,
            exif: 1,
            quality: 90,
            phase: 0.0,
        }
    }

    pub(crate) fn line(&self) -> String {
        let bytes = self.file();
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        let palette = if self.palette { " palette" } else { "" };
        let words = format!("q{} turned:{}{palette}", self.quality, self.exif);
        fake::file(self.format, &self.frame(), &words)
    }

    /// Returns the image that the stored frame shows, with its subsampled chroma.
    pub(crate) fn image(&self) -> Image {
        Image::of(&self.frame())
    }

    pub(crate) fn orientation(&self) -> Orientation {
        Orientation::from_exif(self.exif)
    }

    /// Whether the image may be transparent.
    pub(crate) fn alpha(&self) -> bool {
        self.alpha
    }

    /// Whether the image has a palette, so that it is resampled with the softer kernel.
    pub(crate) fn palette(&self) -> bool {
        self.palette
    }

    fn frame(&self) -> Frame {
        let image = pattern(
            self.width as usize,
            self.height as usize,
            self.phase,
            self.alpha,
        );
        image::frame(&image, self.model, self.depth, self.alpha)
    }
}

/// Creates waves: short enough in luma to reveal a shift of half a pixel, long enough in colour to survive subsampling.
/// Opacity is a soft disc.
fn pattern(width: usize, height: usize, phase: f64, alpha: bool) -> Image {
    Image::new(width, height, |x, y| {
        let (x, y) = (x as f64, y as f64);
        let luma = 128.0 + 45.0 * (x / 3.5 + phase).sin() * (y / 4.5 + phase).cos();
        let red = 30.0 * (x / 17.0 + phase).sin();
        let blue = 30.0 * (y / 19.0 - phase).cos();
        let opacity = if alpha {
            let (dx, dy) = (x / width as f64 - 0.5, y / height as f64 - 0.5);
            (1.6 - 3.0 * dx.hypot(dy)).clamp(0.0, 1.0)
        } else {
            1.0
        };
        [
            luma + red,
            luma - 0.5 * red - 0.2 * blue,
            luma + blue,
            opacity,
        ]
    })
}

/// A format, and the model, depth and alpha of a file.
type Kind = (&'static str, Model, Depth, bool);

/// Generates the kinds of files of JPEG, PNG and WebP.
fn common() -> impl Strategy<Value = Kind> {
    let ycbcr = |h, v| Model::ycbcr(Subsampling { h, v });
    let jpegs = select(vec![
        Model::Gray,
        ycbcr(1, 1),
        ycbcr(2, 1),
        ycbcr(1, 2),
        ycbcr(4, 1),
        ycbcr(2, 2),
        ycbcr(2, 2),
        Model::Cmyk,
    ]);
    let pngs = (
        select(vec![Model::Gray, Model::Rgb]),
        select(vec![Depth::U8, Depth::U16]),
        any::<bool>(),
    );
    prop_oneof![
        7 => jpegs.prop_map(|model| ("jpeg", model, Depth::U8, false)),
        4 => pngs.prop_map(|(model, depth, alpha)| ("png", model, depth, alpha)),
        2 => any::<bool>().prop_map(|alpha| ("webp", LIMITED, Depth::U8, alpha)),
    ]
}

/// Returns every matrix, range, depth and subsampling of luma and chroma, with and without alpha.
fn ycbcr_kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for matrix in Matrix::ALL {
        for (h, v) in [(1, 1), (2, 1), (2, 2), (1, 2), (4, 1)] {
            // Green, blue and red are never subsampled.
            if matrix == Matrix::Identity && (h, v) != (1, 1) {
                continue;
            }
            for range in Range::ALL {
                for depth in Depth::ALL {
                    let sub = Subsampling { h, v };
                    let model = Model::YCbCr { sub, range, matrix };
                    kinds.extend([false, true].map(|alpha| ("avif", model, depth, alpha)));
                }
            }
        }
    }
    kinds
}

/// Returns one image of each kind of `ycbcr_kinds`.
pub(crate) fn every_ycbcr() -> impl Iterator<Item = Source> {
    ycbcr_kinds()
        .into_iter()
        .map(|(format, model, depth, alpha)| Source {
            model,
            depth,
            alpha,
            ..Source::plain(format, "")
        })
}

/// Generates images of every model, in formats that support it, with odd sides and every orientation.
pub(crate) fn source() -> impl Strategy<Value = Source> {
    of(prop_oneof![common(), select(ycbcr_kinds())])
}

fn of(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Source> {
    (
        kind,
        (17..150_u32, 17..150_u32),
        1..=8_u16,
        select(vec![80_u8, 95]),
        any::<bool>(),
        0.0..6.0,
    )
        .prop_map(
            |((format, model, depth, alpha), (width, height), exif, quality, palette, phase)| {
                Source {
                    format,
                    model,
                    depth,
                    alpha,
                    palette: palette && format == "png" && depth == Depth::U8,
                    width,
                    height,
                    exif,
                    quality,
                    phase,
                }
            },
        )
}

const LIMITED: Model = Model::YCbCr {
    sub: Subsampling::C420,
    range: Range::Limited,
    matrix: Matrix::Bt601,
};

/// Generates recipes as text, so that a failing one can be read and tried again: geometry in any order, with effects in
/// between.
pub(crate) fn recipe() -> impl Strategy<Value = String> {
    let upright = select(vec!["", "orient", "metadata:none,orient"]);
    let steps = prop::collection::vec(step(), 0..=4);
    let output = select(vec![
        "",
        "as:jpeg,q:85",
        "as:jpeg,q:95",
        "as:jpeg,q:95,background:20c040",
        "as:png",
        "as:webp,q:80",
        "as:webp,lossless",
        "as:avif,q:80",
        "as:avif,q:80,depth:10",
        "as:avif,q:80,depth:8,chroma:420",
    ]);
    (upright, steps, output).prop_map(|(upright, steps, output)| {
        let steps = steps.join(",");
        let pieces = [upright, &steps, output];
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        let text = pieces.collect::<Vec<_>>().join(",");
        if text.is_empty() {
            "same".to_owned()
        } else {
            text
        }
    })
}

fn step() -> impl Strategy<Value = String> {
    let side = || 8..90_u32;
    let gravity = select(vec!["", ":north", ":southeast", ":west"]);
    let grounds = || select(vec!["4080c0", "f0e0d0", "c0406080", "00000000"]);
    prop_oneof![
        3 => (0..50_u32, 0..50_u32, 40..100_u32, 40..100_u32)
            .prop_map(|(x, y, w, h)| format!("crop:{x}%:{y}%:{w}%x{h}%")),
        1 => (side(), side(), gravity.clone()).prop_map(|(w, h, at)| format!("crop:{w}x{h}{at}")),
        3 => (side(), side()).prop_map(|(w, h)| format!("fit:{w}x{h}")),
        1 => side().prop_map(|w| format!("fit:{w}x:enlarge")),
        2 => (side(), side(), gravity).prop_map(|(w, h, at)| format!("cover:{w}x{h}{at}")),
        2 => (8..160_u32, 8..160_u32).prop_map(|(w, h)| format!("exact:{w}x{h}")),
        2 => select(vec!["turn:90", "turn:180", "turn:270"]).prop_map(str::to_owned),
        2 => select(vec!["flip:h", "flip:v", "flip:hv"]).prop_map(str::to_owned),
        1 => (side(), side(), grounds()).prop_map(|(w, h, c)| format!("canvas:{w}x{h}:{c}")),
        1 => (side(), side(), -20..30_i32, -20..30_i32, grounds())
            .prop_map(|(w, h, x, y, c)| format!("canvas:{w}x{h}:{c}:{x}:{y}")),
        1 => (0..9_u32, 0..9_u32, 0..9_u32, 0..9_u32, grounds())
            .prop_map(|(t, r, b, l, c)| format!("pad:{t}:{r}:{b}:{l}:{c}")),
        1 => Just("flatten:4080c0".to_owned()),
        1 => (-180..180_i32, grounds()).prop_map(|(d, c)| format!("rotate:{d}:{c}")),
        2 => select(crate::effects::SAMPLES.to_vec()).prop_map(str::to_owned),
    ]
}

/// A set of one overlay: a small image with soft edges, called `icon`.
pub(crate) struct Icons;

impl Icons {
    /// Returns the image in the icon file.
    pub(crate) fn icon() -> Image {
        pattern(24, 18, 1.0, true)
    }
}

impl OverlaySource for Icons {
    fn load(&self, name: &str) -> Result<Vec<u8>> {
        if name == "icon" {
            let frame = image::frame(&Self::icon(), Model::Rgb, Depth::U8, true);
            Ok(fake::file("png", &frame, ""))
        } else {
            Err(Error::Recipe {
                piece: name.to_owned(),
                why: "there is only `icon`".to_owned(),
            })
        }
    }
}
