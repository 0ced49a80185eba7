//! The options of an imgproxy URL, collected in one struct. The last value of each option counts.

use std::collections::BTreeMap;

use andon_recipe::{Colour, Profile};

use super::formats;
use super::gravity::Gravity;
use crate::signature::Checksum;

/// The options of an imgproxy URL or of one of its pipelines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// The pipelines before this one, in their order. Only their effect on the image counts.
    pub(super) earlier_pipelines: Vec<Self>,
    pub(super) resizing: Resizing,
    /// Requested width in px; 0: it follows from the height.
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
    /// Quality, 1 to 100; 0: the default of the format.
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
    /// Maximum number of colours of a PNG's palette; 0: the PNG has no palette.
    pub(super) colours: u16,
    /// Whether the chroma of an AVIF is subsampled; `None`: the quality decides.
    pub(super) thins_chroma: Option<bool>,
    /// Colour space that the result is converted to; `None`: `strip_profile` decides about the source's profile.
    pub(super) profile: Option<Profile>,
    /// The frame of an animation to send, counted from 1; 0: not specified.
    pub(super) page: u32,
    pub(super) still: bool,
    pub(super) skip: Vec<&'static str>,
    pub(super) raw: bool,
    pub(super) filename: Option<String>,
    /// URL of the source to use if the first one is not available.
    pub(super) fallback: Option<String>,
    pub(super) attachment: bool,
    /// When the URL expires, in seconds since 1970; 0: never.
    pub(super) expires: u64,
    /// The digest that the source must have.
    pub(super) checksum: Option<Checksum>,
    pub(super) limits: Limits,
}

/// How the image is fitted to the requested width and height.
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

/// Whether bars are added around the image, and where the image lies between them.
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
    /// Gravity of the crop; `None`: that of [`Options::gravity`].
    pub(super) gravity: Option<Gravity>,
    /// Aspect ratio of the crop, width divided by height; 0: it follows from the sides.
    pub(super) ratio: f64,
    /// Whether the shorter side grows to reach the aspect ratio; else the longer one shrinks.
    pub(super) grows: bool,
}

/// How a border of one colour is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trim {
    /// How far pixels of the border may differ from its colour, in levels of 255.
    pub(super) threshold: f64,
    /// Colour of the border; `None`: that of the upper left pixel.
    pub(super) colour: Option<Colour>,
    /// Whether the same amount is cut off on the left and right, and at the top and bottom.
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
    /// Intensity, 0 to 1, and the colour of a monochrome image.
    pub(super) monochrome: (f64, Colour),
    /// Intensity, 0 to 1, and the colours that replace dark and light tones.
    pub(super) duotone: (f64, Colour, Colour),
    /// Opacity, 0 to 1, and colour of a layer over the image.
    pub(super) colorize: (f64, Colour),
    pub(super) gradient: Gradient,
    /// Areas to blur: sigma, then left, top, width and height as shares of the image's sides.
    pub(super) blurred_areas: Vec<[f64; 5]>,
}

/// Settings of the unsharp mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unsharp {
    pub(super) mode: Mask,
    /// The weight of a pixel's neighbours.
    pub(super) weight: f64,
    /// The divisor of the difference between a pixel and its neighbours.
    pub(super) divider: f64,
}

/// Which images the unsharp mask is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    None,
    /// Images that were scaled down.
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

/// A colour gradient over the image, from transparent to its full opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradient {
    /// Opacity at the end of the gradient, 0 to 1; 0: no gradient.
    pub(super) opacity: f64,
    pub(super) colour: Colour,
    /// Direction in which the opacity grows: degrees clockwise, where 0 is down.
    pub(super) angle: f64,
    /// Where the gradient begins, as a share of its length.
    pub(super) start: f64,
    pub(super) stop: f64,
}

/// The watermark options of a URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watermark {
    /// Opacity, 0 to 1; 0: no watermark.
    pub(super) opacity: f64,
    /// Whether the watermark is repeated all over the result.
    pub(super) tiled: bool,
    pub(super) gravity: Gravity,
    /// Size as a share of the result's size; 0: `size` counts, or the watermark keeps its own size.
    pub(super) scale: f64,
    /// Width and height in px into which the watermark is fitted. 0: the side follows from the other one.
    pub(super) size: (u32, u32),
    /// Clockwise turn in degrees.
    pub(super) angle: f64,
    /// Standard deviation in px of the blur of the watermark's shadow; 0: it has none.
    pub(super) shadow: f64,
    /// URL of an image that replaces the configured watermark, as written.
    pub(super) url: Option<String>,
    /// A text that is drawn in place of a watermark image, as written.
    pub(super) text: Option<String>,
    /// Name of the overlay image that `url` resolves to; `None` before that is done.
    pub(super) file: Option<String>,
}

/// Limits that a URL or the configuration sets. 0: only the server's own limit applies, except for `frames`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Largest source, in megapixels.
    pub(super) resolution: f64,
    /// Largest source file, in bytes.
    pub(super) bytes: u64,
    /// Number that decides whether animations stay animated: with 0 or 1 only a single frame is sent, with more all
    /// frames are.
    pub(super) frames: u32,
    /// The longest side of the result, in px.
    pub(super) side: u32,
}

impl Options {
    /// Starts a further pipeline, which is applied to the result of these options. It does not change the image yet,
    /// and keeps the options for encoding and sending the result.
    pub(super) fn next_pipeline(mut self) -> Self {
        let mut earlier_pipelines = std::mem::take(&mut self.earlier_pipelines);
        // Only the first pipeline sees the source, whose border is trimmed.
        self.trim = self.trim.filter(|_| earlier_pipelines.is_empty());
        earlier_pipelines.push(self.clone());
        let defaults = Self::default();
        Self {
            earlier_pipelines,
            resizing: defaults.resizing,
            width: defaults.width,
            height: defaults.height,
            min_width: defaults.min_width,
            min_height: defaults.min_height,
            zoom: defaults.zoom,
            dpr: defaults.dpr,
            enlarge: defaults.enlarge,
            extend: defaults.extend,
            extend_ratio: defaults.extend_ratio,
            gravity: defaults.gravity,
            crop: defaults.crop,
            trim: defaults.trim,
            padding: defaults.padding,
            // The first pipeline has turned the image upright already, unless that is switched off.
            auto_rotate: false,
            rotate: defaults.rotate,
            flip: defaults.flip,
            background: defaults.background,
            background_alpha: defaults.background_alpha,
            effects: defaults.effects,
            watermark: defaults.watermark,
            ..self
        }
    }

    /// Returns all pipelines in their order, ending with this one.
    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Self> {
        self.earlier_pipelines.iter().chain([self])
    }

    /// Returns the maximum size of the source in bytes, if the URL sets one.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        Some(self.limits.bytes).filter(|bytes| *bytes > 0)
    }

    /// Returns the gravity of the crop before scaling: its own or, if it has none, [`Options::gravity`].
    pub(super) fn crop_gravity(&self) -> Gravity {
        self.crop.gravity.unwrap_or(self.gravity)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            earlier_pipelines: Vec::new(),
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

/// Default colour of monochrome images.
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
            blurred_areas: Vec::new(),
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
