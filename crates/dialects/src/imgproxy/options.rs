//! What a URL's options say together: one bag, in which the last writer of a value wins.

use std::collections::BTreeMap;

use andon_recipe::{Colour, Profile};

use super::gravity::Gravity;
use crate::signature::Checksum;

/// The bag.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// Pipelines whose result these options act on, the first one first. Only what they do to the image counts.
    pub(super) before: Vec<Self>,
    pub(super) resizing: Resizing,
    /// In px; 0 follows from the other.
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) min_width: u32,
    pub(super) min_height: u32,
    pub(super) zoom: (f64, f64),
    pub(super) dpr: f64,
    pub(super) enlarge: bool,
    pub(super) extend: Extend,
    pub(super) extend_ratio: Extend,
    pub(super) gravity: Gravity,
    pub(super) crop: Crop,
    pub(super) trim: Option<Trim>,
    /// Top, right, bottom, left, in px.
    pub(super) padding: [u32; 4],
    pub(super) auto_rotate: bool,
    /// Degrees clockwise: 0, 90, 180 or 270.
    pub(super) rotate: u16,
    /// Left to right, top to bottom.
    pub(super) flip: (bool, bool),
    pub(super) background: Option<Colour>,
    /// Of the background, 0 to 1.
    pub(super) background_alpha: f64,
    pub(super) effects: Effects,
    pub(super) watermark: Watermark,
    /// 0: by format.
    pub(super) quality: u8,
    pub(super) format_quality: BTreeMap<&'static str, u8>,
    /// 0: no limit.
    pub(super) max_bytes: u64,
    pub(super) format: Option<&'static str>,
    pub(super) strip_metadata: bool,
    pub(super) keep_copyright: bool,
    pub(super) strip_profile: bool,
    pub(super) progressive: bool,
    pub(super) full_chroma: bool,
    pub(super) lossless: bool,
    pub(super) near_lossless: bool,
    /// The most colours of a PNG; 0: any number.
    pub(super) colours: u16,
    /// Of an AVIF; absent: by quality.
    pub(super) thins_chroma: Option<bool>,
    /// Of an image in another space.
    pub(super) profile: Option<Profile>,
    /// Of an animation, from 1; 0: none was chosen.
    pub(super) page: u32,
    pub(super) still: bool,
    pub(super) skip: Vec<&'static str>,
    pub(super) raw: bool,
    pub(super) filename: Option<String>,
    /// The URL of a source in place of one that cannot be had.
    pub(super) fallback: Option<String>,
    pub(super) attachment: bool,
    /// Seconds since 1970; 0: never.
    pub(super) expires: u64,
    /// The digest that the source must have.
    pub(super) checksum: Option<Checksum>,
    pub(super) limits: Limits,
}

/// How the image meets the box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resizing {
    #[default]
    Fit,
    Fill,
    FillDown,
    Force,
    Auto,
}

impl Resizing {
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("fit", Self::Fit),
        ("fill", Self::Fill),
        ("fill-down", Self::FillDown),
        ("force", Self::Force),
        ("auto", Self::Auto),
    ];
}

/// Bars around the image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extend {
    pub(super) on: bool,
    pub(super) gravity: Gravity,
}

/// A crop before scaling. 0: the whole side; below 1: a share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Crop {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Absent: that of the image.
    pub(super) gravity: Option<Gravity>,
    /// Width by height; 0: as they are.
    pub(super) ratio: f64,
    /// To have that ratio, does the shorter side grow?
    pub(super) grows: bool,
}

/// A border to cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trim {
    /// Levels of 255 that border may differ by.
    pub(super) threshold: f64,
    /// Of the border; absent: the corner's.
    pub(super) colour: Option<Colour>,
    /// Is as much cut off on the left as on the right, and at the top as at the bottom?
    pub(super) equal: (bool, bool),
}

/// What becomes of the pixels of the scaled image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effects {
    /// Sigmas.
    pub(super) blur: f64,
    pub(super) sharpen: f64,
    pub(super) unsharp: Unsharp,
    pub(super) pixelate: u32,
    /// Levels.
    pub(super) brightness: i16,
    /// Factors.
    pub(super) contrast: f64,
    pub(super) saturation: f64,
    /// Intensity 0 to 1, and colour.
    pub(super) monochrome: (f64, Colour),
    /// Intensity 0 to 1, the colours of shadows and lights.
    pub(super) duotone: (f64, Colour, Colour),
    /// Opacity 0 to 1, and colour.
    pub(super) colorize: (f64, Colour),
    pub(super) gradient: Gradient,
    /// Sigma and left, top, width, height in shares.
    pub(super) blurred: Vec<[f64; 5]>,
}

/// An unsharp mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unsharp {
    pub(super) mode: Mask,
    /// How much neighbours count.
    pub(super) weight: f64,
    /// What the difference from them is divided by.
    pub(super) divider: f64,
}

/// Which images go through an unsharp mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    None,
    /// Those that were made smaller.
    Auto,
    Always,
}

impl Mask {
    pub(super) const ALL: [(&'static str, Self); 3] = [
        ("none", Self::None),
        ("auto", Self::Auto),
        ("always", Self::Always),
    ];
}

/// A colour that grows from nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradient {
    /// 0 to 1; 0: none.
    pub(super) opacity: f64,
    pub(super) colour: Colour,
    /// Towards where it grows: degrees clockwise, from below.
    pub(super) angle: f64,
    /// Shares of the way.
    pub(super) start: f64,
    pub(super) stop: f64,
}

/// The image of the configuration, laid on the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Watermark {
    /// 0 to 1; 0: none.
    pub(super) opacity: f64,
    /// Repeated all over?
    pub(super) tiled: bool,
    pub(super) gravity: Gravity,
    /// Of the result; 0: its own size.
    pub(super) scale: f64,
}

/// What may not be exceeded; 0: what the server allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Megapixels of the source.
    pub(super) resolution: f64,
    /// Bytes of the source.
    pub(super) bytes: u64,
    /// Frames that animations may show; 0 and 1: the first alone.
    pub(super) frames: u32,
    /// The longest side of the result, in px.
    pub(super) side: u32,
}

impl Options {
    /// A further pipeline on the result of these: nothing is done to the image yet, which is written and answered as
    /// was said.
    pub(super) fn chained(mut self) -> Self {
        let mut before = std::mem::take(&mut self.before);
        // A border is the source's.
        self.trim = self.trim.filter(|_| before.is_empty());
        before.push(self.clone());
        let plain = Self::default();
        Self {
            before,
            resizing: plain.resizing,
            width: plain.width,
            height: plain.height,
            min_width: plain.min_width,
            min_height: plain.min_height,
            zoom: plain.zoom,
            dpr: plain.dpr,
            enlarge: plain.enlarge,
            extend: plain.extend,
            extend_ratio: plain.extend_ratio,
            gravity: plain.gravity,
            crop: plain.crop,
            trim: plain.trim,
            padding: plain.padding,
            // The first one did that, if it was to be done.
            auto_rotate: false,
            rotate: plain.rotate,
            flip: plain.flip,
            background: plain.background,
            background_alpha: plain.background_alpha,
            effects: plain.effects,
            watermark: plain.watermark,
            ..self
        }
    }

    /// All pipelines, the first one first.
    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Self> {
        self.before.iter().chain([self])
    }

    /// How many bytes the source may have.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        Some(self.limits.bytes).filter(|bytes| *bytes > 0)
    }

    /// What the crop before scaling keeps: as the image, unless it says so.
    pub(super) fn crop_gravity(&self) -> Gravity {
        self.crop.gravity.unwrap_or(self.gravity)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            resizing: Resizing::Fit,
            width: 0,
            height: 0,
            min_width: 0,
            min_height: 0,
            zoom: (1.0, 1.0),
            dpr: 1.0,
            enlarge: false,
            extend: Extend::default(),
            extend_ratio: Extend::default(),
            gravity: Gravity::default(),
            crop: Crop::default(),
            trim: None,
            padding: [0; 4],
            auto_rotate: true,
            rotate: 0,
            flip: (false, false),
            background: None,
            background_alpha: 1.0,
            effects: Effects::default(),
            watermark: Watermark::default(),
            quality: 0,
            format_quality: [("jpeg", 80), ("webp", 79), ("avif", 63), ("jxl", 77)].into(),
            max_bytes: 0,
            format: None,
            strip_metadata: true,
            keep_copyright: true,
            strip_profile: true,
            progressive: false,
            full_chroma: false,
            lossless: false,
            near_lossless: false,
            colours: 0,
            thins_chroma: None,
            profile: None,
            page: 0,
            still: false,
            skip: Vec::new(),
            raw: false,
            filename: None,
            fallback: None,
            attachment: false,
            expires: 0,
            checksum: None,
            limits: Limits {
                resolution: 0.0,
                bytes: 0,
                frames: 1,
                side: 0,
            },
        }
    }
}

/// The gray of a monochrome image whose colour is not named.
const GRAY: Colour = Colour {
    r: 0xb3,
    g: 0xb3,
    b: 0xb3,
    a: 255,
};

const BLACK: Colour = Colour {
    r: 0,
    g: 0,
    b: 0,
    a: 255,
};

impl Default for Effects {
    fn default() -> Self {
        Self {
            blur: 0.0,
            sharpen: 0.0,
            unsharp: Unsharp {
                mode: Mask::None,
                weight: 1.0,
                divider: 24.0,
            },
            pixelate: 0,
            brightness: 0,
            contrast: 1.0,
            saturation: 1.0,
            monochrome: (0.0, GRAY),
            duotone: (0.0, BLACK, Colour::WHITE),
            colorize: (0.0, BLACK),
            gradient: Gradient {
                opacity: 0.0,
                colour: BLACK,
                angle: 0.0,
                start: 0.0,
                stop: 1.0,
            },
            blurred: Vec::new(),
        }
    }
}

impl Default for Watermark {
    fn default() -> Self {
        Self {
            opacity: 0.0,
            tiled: false,
            gravity: Gravity::default(),
            scale: 0.0,
        }
    }
}

/// The formats that URLs may name, and what they are called here.
pub(super) const FORMATS: &[(&str, &str)] = &[
    ("jpeg", "jpeg"),
    ("jpg", "jpeg"),
    ("png", "png"),
    ("webp", "webp"),
    ("avif", "avif"),
    ("jxl", "jxl"),
    ("gif", "gif"),
    ("tiff", "tiff"),
    ("tif", "tiff"),
    ("bmp", "bmp"),
    ("ico", "ico"),
    ("heic", "heic"),
    ("svg", "svg"),
    ("best", "auto"),
];

/// The format that a URL calls by this name.
pub(super) fn format(name: &str) -> Result<&'static str, String> {
    let known = FORMATS.iter().find(|(url, _)| *url == name);
    known
        .map(|(_, format)| *format)
        .ok_or_else(|| format!("`{name}` is no format"))
}
