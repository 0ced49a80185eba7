//! The rules of ngx_small_light: the combined meaning of the options, and how it is resolved to a recipe for a source.

pub(super) mod layout;
mod quality;
mod text;
mod wish;

use andon_recipe::{
    Canvas, Colour, Effect, Facts, Kept, Length, Orient, Orientation, Output, Profile, Recipe,
    ResolveError, Rules, Shrink, Step, StoredTurn, Turn,
};

use self::layout::Layout;

/// The combined meaning of the options. They are resolved with the arithmetic of ngx_small_light.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SmallLightRules {
    /// When the source's own bytes are sent.
    pub(super) original: Original,
    /// Size in px (width, height) of `jpeghint`: a JPEG is decoded at N/8 of its size, but not below this size, and all
    /// lengths are measured on the smaller image.
    pub(super) hint: Option<(u32, u32)>,
    /// Whether to drop ICC, EXIF and every other profile, without converting colours.
    pub(super) strip: bool,
    /// Whether to turn the image upright by its EXIF orientation.
    pub(super) orient: bool,
    /// A further turn, after the image has been turned upright if `orient` is set.
    pub(super) turn: Option<Turn>,
    /// The part of the image to use, after the image is turned upright and by `turn`. It has an effect only together with
    /// scaling.
    pub(super) region: Region,
    /// The size that the region is scaled to.
    pub(super) size: Size,
    /// A canvas of fixed size to place the image on.
    pub(super) canvas: Option<Ground>,
    /// Whether to convert a CMYK image to sRGB.
    pub(super) srgb: bool,
    /// Effects in the order in which they are applied.
    pub(super) effects: Vec<Effect>,
    /// The quality, as ImageMagick interprets it for each format: 1 to 1000. `None`: not specified.
    pub(super) quality: Option<u16>,
    /// Settings for the output except the quality, such as the format.
    pub(super) output: Output,
    /// Whether quirks of ngx_small_light are imitated: for instance, a result with a side that truncates to 0 px is
    /// refused instead of getting 1 px.
    pub(super) strict: bool,
}

/// When the source's bytes are sent unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Original {
    /// The source's own bytes are never sent.
    #[default]
    Never,
    /// The source's bytes are sent if no size is requested, or the region is smaller than the requested size on both
    /// sides (`pt=ptss`).
    IfSmaller,
    /// The source's bytes are sent if the region is larger than the requested size on at least one side (`pt=ptls`).
    IfLarger,
}

/// A part of the image. An absent `x` or `y` is 0. An absent `w` or `h` is the whole side, and not just what remains
/// after `x` or `y`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Region {
    pub(super) x: Option<Length>,
    pub(super) y: Option<Length>,
    pub(super) w: Option<Length>,
    pub(super) h: Option<Length>,
}

/// The size that a region is scaled to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    /// Width of the box. If only one side is given, the other follows from the aspect ratio.
    pub(super) w: Option<Length>,
    /// Height of the box. If only one side is given, the other follows from the aspect ratio.
    pub(super) h: Option<Length>,
    /// How the region is fitted to the box if both sides are given; without effect otherwise.
    pub(super) fit: Fit,
    /// Whether to scale and crop even if that does not make the image smaller.
    pub(super) enlarge: bool,
}

/// How a region is fitted to a box whose sides are both given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fit {
    /// The region is scaled to the largest size that fits inside the box, and keeps its aspect ratio.
    #[default]
    Inside,
    /// The region is scaled to the smallest size that covers the box, and keeps its aspect ratio. What exceeds the box
    /// is kept, unless a canvas cuts it off.
    Cover,
    /// The region is scaled to exactly the box, whatever its aspect ratio.
    Exact,
}

/// An opaque canvas of fixed size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ground {
    /// Width in px, at least 1.
    pub(super) w: u32,
    /// Height in px, at least 1.
    pub(super) h: u32,
    /// Distance of the image's left edge from that of the canvas, in px or percent of the image's width. If absent, the
    /// distance at which an image of the requested width is centred, even if this image is wider or narrower.
    pub(super) x: Option<Length>,
    /// Distance of the image's top edge from that of the canvas, in px or percent of the image's height. If absent, the
    /// distance at which an image of the requested height is centred, even if this image is taller or shorter.
    pub(super) y: Option<Length>,
    /// The colour of the canvas, opaque.
    pub(super) colour: Colour,
}

impl Rules for SmallLightRules {
    fn text(&self) -> String {
        self.to_string()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let upright = match self.orient {
            true => facts.orientation,
            false => Orientation::default(),
        };
        let orientation = self.turn.map_or(upright, |turn| upright.then(turn));
        let eighths = self.eighths(facts);
        let in_eighths = |side: u32| (u64::from(side) * u64::from(eighths)).div_ceil(8) as u32;
        let (width, height) = orientation.size(in_eighths(facts.width), in_eighths(facts.height));
        let layout = self.layout(width, height)?;
        if layout.original {
            return Ok(Recipe::original());
        }
        let mut steps = Vec::new();
        steps.extend(self.orient.then_some(Step::Orient(Orient)));
        steps.extend(self.turn.map(Step::Turn));
        if eighths < 8 {
            steps.push(Step::Shrink(Shrink(eighths)));
        }
        steps.extend(layout.steps());
        let effects = self.effects.iter();
        steps.extend(effects.map(|effect| Step::Effect(with_frame(effect, &layout))));
        // A canvas is a new image without metadata. It is made after colours are converted.
        let bare = self.strip || self.canvas.is_some();
        let output = Output {
            profile: match facts.cmyk && self.srgb {
                true if self.strip => Profile::Ignore,
                true => Profile::Srgb,
                false if bare => Profile::Drop,
                false => Profile::Keep,
            },
            metadata: match self.strict {
                _ if bare => Kept::None,
                // Like the module, this keeps all metadata, even the position of the camera.
                true => Kept::All,
                false => Kept::Public,
            },
            // The module keeps the orientation tag, by which viewers turn the image. Only some formats have such a tag.
            stored_turn: match self.strict {
                true => StoredTurn::Verbatim,
                false => StoredTurn::Kept,
            },
            ..self.output_for(facts)
        };
        Recipe { steps, output }.resolve(facts)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }

    fn overlays(&self) -> Vec<String> {
        let names = self.effects.iter().filter_map(Effect::overlay_name);
        names.map(str::to_owned).collect()
    }
}

impl SmallLightRules {
    /// Returns the scale, in eighths, at which the image is decoded and lengths are measured. With the size of
    /// `jpeghint`, it is the scale that libjpeg chooses: the smallest N/8 that is not below 1/D, where D is the whole
    /// number of times that this size fits into the stored image. It is at most 8/8; in ngx_small_light, only a bug has
    /// ever made it 2/1. Formats that are always decoded in full ignore `jpeghint`.
    fn eighths(&self, facts: &Facts) -> u8 {
        let Some((width, height)) = self.hint.filter(|_| facts.shrinks) else {
            return 8;
        };
        let fits = (facts.width / width.max(1)).min(facts.height / height.max(1));
        // The result is at most 8, and so fits into a u8.
        8_u32.div_ceil(fits.clamp(1, 8)) as u8
    }
}

impl Layout {
    /// Returns scaling, cropping and canvas as steps in whole pixels.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(scaling) = self.scaling {
            let (width, height) = (scaling.width, scaling.height);
            match scaling.from {
                Some((x, y, w, h)) => {
                    steps.push(Step::crop(x, y, w, h));
                    steps.push(Step::exact(width, height));
                }
                // The region is wholly outside of the image. A canvas with the image beyond its edge is blank.
                None => steps.push(canvas((width, height), (u32::MAX.into(), 0), Colour::CLEAR)),
            }
        }
        if let Some(ground) = self.canvas {
            let place = (ground.x, ground.y);
            steps.push(canvas((ground.width, ground.height), place, ground.colour));
        }
        steps
    }
}

fn canvas((w, h): (u32, u32), (x, y): (i64, i64), colour: Colour) -> Step {
    let most = Length::MAX_PX as i64;
    let place = |at: i64| at.clamp(-most, most) as i32;
    Step::Canvas(Canvas {
        w,
        h,
        colour,
        at: Some((place(x), place(y))),
    })
}

/// Adds the size of the frame to a border if it differs from the size of the image, and returns other effects
/// unchanged. A border frames the canvas or, without one, the requested size.
fn with_frame(effect: &Effect, layout: &Layout) -> Effect {
    let mut effect = effect.clone();
    let (w, h) = match layout.canvas {
        Some(canvas) => (canvas.width, canvas.height),
        None => (
            layout.requested_size.0 as u32,
            layout.requested_size.1 as u32,
        ),
    };
    if effect.name == "border" && (w, h) != (layout.width, layout.height) {
        effect.args.push(format!("{w}x{h}"));
    }
    effect
}
