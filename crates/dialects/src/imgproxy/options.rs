//! The options of a URL, collected in one struct in which the last value of each option counts.

use std::collections::BTreeMap;

use andon_recipe::{Colour, Profile};

use super::formats;
use super::gravity::Gravity;
use crate::signature::Checksum;

/// The options of a URL or of one of its pipelines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// The pipelines before this one, the first of them first. Only what their options do to the image counts.
    pub(super) before: Vec<Self>,
    pub(super) resizing: Resizing,
    /// Width in px that is asked for; 0: it follows from the height.
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
    /// Padding in px: top, right, bottom, left.
    pub(super) padding: [u32; 4],
    pub(super) auto_rotate: bool,
    /// Rotation in degrees clockwise: 0, 90, 180 or 270.
    pub(super) rotate: u16,
    /// Whether the image is mirrored: left to right, top to bottom.
    pub(super) flip: (bool, bool),
    pub(super) background: Option<Colour>,
    /// Opacity of the background, 0 to 1.
    pub(super) background_alpha: f64,
    pub(super) effects: Effects,
    pub(super) watermark: Watermark,
    /// Quality, 1 to 100; 0: that of the format.
    pub(super) quality: u8,
    pub(super) format_quality: BTreeMap<&'static str, u8>,
    /// Largest result in bytes; 0: no limit.
    pub(super) max_bytes: u64,
    pub(super) format: Option<&'static str>,
    pub(super) strip_metadata: bool,
    pub(super) keep_copyright: bool,
    pub(super) strip_profile: bool,
    pub(super) progressive_jpeg: bool,
    pub(super) interlaced_png: bool,
    pub(super) full_chroma: bool,
    pub(super) lossless: bool,
    pub(super) near_lossless: bool,
    /// The most colours of a PNG's palette; 0: any number.
    pub(super) colours: u16,
    /// Whether the chroma of an AVIF is subsampled; `None`: the quality decides.
    pub(super) thins_chroma: Option<bool>,
    /// Colour space that the result is converted to; `None`: `strip_profile` decides.
    pub(super) profile: Option<Profile>,
    /// The frame of an animation to show, counted from 1; 0: none was chosen.
    pub(super) page: u32,
    pub(super) still: bool,
    pub(super) skip: Vec<&'static str>,
    pub(super) raw: bool,
    pub(super) filename: Option<String>,
    /// URL of the source to use if the other one cannot be had.
    pub(super) fallback: Option<String>,
    pub(super) attachment: bool,
    /// When the URL expires, in seconds since 1970; 0: never.
    pub(super) expires: u64,
    /// The digest that the source must have.
    pub(super) checksum: Option<Checksum>,
    pub(super) limits: Limits,
}

/// How the image is fitted into the width and height that are asked for.
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

/// Whether bars are added around the image, and where the image then lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extend {
    pub(super) on: bool,
    pub(super) gravity: Gravity,
}

/// A crop that precedes scaling. Width and height are in px; 0: the whole side; below 1: a share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Crop {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Gravity of the crop; `None`: that of the image.
    pub(super) gravity: Option<Gravity>,
    /// Aspect ratio of the crop, width by height; 0: as its sides say.
    pub(super) ratio: f64,
    /// Whether the shorter side grows to reach the aspect ratio; else the longer one shrinks.
    pub(super) grows: bool,
}

/// A border that is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trim {
    /// How far pixels may differ from the border's colour and still be border, in levels of 255.
    pub(super) threshold: f64,
    /// Colour of the border; `None`: that of the upper left corner.
    pub(super) colour: Option<Colour>,
    /// Whether equally much is cut off on the left and right, and at the top and bottom.
    pub(super) equal: (bool, bool),
}

/// Effects on the pixels of the scaled image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effects {
    /// Sigma of the blur, in px; 0: none.
    pub(super) blur: f64,
    pub(super) sharpen: f64,
    pub(super) unsharp: Unsharp,
    pub(super) pixelate: u32,
    /// Levels of 255 that are added to each channel.
    pub(super) brightness: i16,
    /// Factor of the contrast; 1: unchanged.
    pub(super) contrast: f64,
    pub(super) saturation: f64,
    /// Intensity, 0 to 1, and the colour.
    pub(super) monochrome: (f64, Colour),
    /// Intensity, 0 to 1, and the colours of shadows and of lights.
    pub(super) duotone: (f64, Colour, Colour),
    /// Opacity, 0 to 1, and the colour.
    pub(super) colorize: (f64, Colour),
    pub(super) gradient: Gradient,
    /// Areas to blur: sigma, then left, top, width and height as shares of the image's sides.
    pub(super) blurred: Vec<[f64; 5]>,
}

/// An unsharp mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unsharp {
    pub(super) mode: Mask,
    /// How much a pixel's neighbours count.
    pub(super) weight: f64,
    /// What the difference from the neighbours is divided by.
    pub(super) divider: f64,
}

/// Which images are sharpened by the unsharp mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    None,
    /// Those that were scaled down.
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

/// A colour over the image that grows from transparent to its full opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradient {
    /// Opacity at the end of the gradient, 0 to 1; 0: no gradient.
    pub(super) opacity: f64,
    pub(super) colour: Colour,
    /// Direction in which the opacity grows: degrees clockwise, where 0 is down.
    pub(super) angle: f64,
    /// Where the gradient begins, as a share of its way.
    pub(super) start: f64,
    pub(super) stop: f64,
}

/// The watermark, as a URL asks for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watermark {
    /// Opacity, 0 to 1; 0: no watermark.
    pub(super) opacity: f64,
    /// Whether the watermark is repeated all over the result.
    pub(super) tiled: bool,
    pub(super) gravity: Gravity,
    /// Size as a share of the result's; 0: the watermark's own size, or `size`.
    pub(super) scale: f64,
    /// Width and height in px into which the watermark is fitted. 0: as the other one says.
    pub(super) size: (u32, u32),
    /// Clockwise turn in degrees.
    pub(super) angle: f64,
    /// Standard deviation in px of the blur of the watermark's shadow; 0: it has none.
    pub(super) shadow: f64,
    /// URL of an image that is the watermark in place of the configured one, as it was written.
    pub(super) url: Option<String>,
    /// The text that is the watermark in place of an image, as it was written.
    pub(super) text: Option<String>,
    /// Name of the overlay image that `url` stands for, once that is known.
    pub(super) file: Option<String>,
}

/// Limits that a URL sets. 0: the server's own limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Largest source, in megapixels.
    pub(super) resolution: f64,
    /// Largest source file, in bytes.
    pub(super) bytes: u64,
    /// Whether animations move: with 0 or 1 only a single frame is shown, with more all frames are.
    pub(super) frames: u32,
    /// The longest side of the result, in px.
    pub(super) side: u32,
}

impl Options {
    /// Begins a further pipeline, which works on the result of these options. It does nothing to the image yet, and keeps
    /// the options for writing and sending the result.
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

    /// Returns all pipelines in their order, this one last.
    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Self> {
        self.before.iter().chain([self])
    }

    /// Returns how many bytes the source may have, if the URL says so.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        Some(self.limits.bytes).filter(|bytes| *bytes > 0)
    }

    /// Returns the gravity of the crop before scaling: its own or, if it has none, that of the image.
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
            format_quality: formats::qualities().collect(),
            max_bytes: 0,
            format: None,
            strip_metadata: true,
            keep_copyright: true,
            strip_profile: true,
            progressive_jpeg: false,
            interlaced_png: false,
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

/// Colour of a monochrome image, if none is named.
const GRAY: Colour = Colour {
    r: 0xb3,
    g: 0xb3,
    b: 0xb3,
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
            duotone: (0.0, Colour::BLACK, Colour::WHITE),
            colorize: (0.0, Colour::BLACK),
            gradient: Gradient {
                opacity: 0.0,
                colour: Colour::BLACK,
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
            size: (0, 0),
            angle: 0.0,
            shadow: 0.0,
            url: None,
            text: None,
            file: None,
        }
    }
}
