//! The module's rules: what options mean together, before the source is known, and what they come to for
//! a source.

pub(super) mod layout;
mod quality;
mod text;

use andon_recipe::{
    Canvas, Colour, Effect, Facts, Kept, Length, Orientation, Output, Profile, Recipe,
    ResolveError, Rules, Step, StoredTurn, Turn,
};

use self::layout::Layout;

/// What options ask for, by the module's own arithmetic.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SmallLightRules {
    /// When to answer with the source's own bytes.
    pub(super) original: Original,
    /// Decode a JPEG shrunk to N/8, never below this size (width, height in px), and measure every
    /// length on the shrunken image: `jpeghint` to the letter.
    pub(super) hint: Option<(u32, u32)>,
    /// Drop ICC, EXIF and every other profile, without converting.
    pub(super) strip: bool,
    /// Turn the image upright by its EXIF orientation.
    pub(super) orient: bool,
    /// Then turn it by this much.
    pub(super) turn: Option<Turn>,
    /// The part of the (upright, turned) image to use; acts only together with scaling.
    pub(super) region: Region,
    /// The size that part is brought to.
    pub(super) size: Size,
    /// A ground of fixed size to lay the image on.
    pub(super) canvas: Option<Ground>,
    /// Convert a CMYK image to sRGB.
    pub(super) srgb: bool,
    /// Effects in the order in which they act.
    pub(super) effects: Vec<Effect>,
    /// The quality, as ImageMagick understands it for each format: 1 to 1000.
    pub(super) quality: Option<u16>,
    /// How the result is written otherwise.
    pub(super) output: Output,
    /// Refuse a result with a side that truncates to nothing, instead of giving it one pixel.
    pub(super) strict: bool,
}

/// When the source's bytes are the answer, untouched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Original {
    /// Never.
    #[default]
    Never,
    /// When the region is smaller than the asked size on both sides (`pt=ptss`).
    IfSmaller,
    /// When the region is larger than the asked size on one side (`pt=ptls`).
    IfLarger,
}

/// A part of the image. An absent `x` or `y` is 0; an absent `w` or `h` is the whole side (not what
/// remains after `x` or `y`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Region {
    pub(super) x: Option<Length>,
    pub(super) y: Option<Length>,
    pub(super) w: Option<Length>,
    pub(super) h: Option<Length>,
}

/// The size a region is brought to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    /// Width; when only one side is given the other follows by aspect.
    pub(super) w: Option<Length>,
    /// Height.
    pub(super) h: Option<Length>,
    /// What to do when both sides are given; without effect otherwise.
    pub(super) fit: Fit,
    /// Scale and crop even if that does not make the image smaller.
    pub(super) enlarge: bool,
}

/// How a region meets a box whose sides are both given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fit {
    /// As large as fits inside the box, aspect kept.
    #[default]
    Inside,
    /// As small as covers the box, aspect kept; the overhang stays (a canvas cuts it off).
    Cover,
    /// Exactly the box, aspect lost.
    Exact,
}

/// An opaque ground of fixed size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ground {
    /// Width in px, at least 1.
    pub(super) w: u32,
    /// Height in px, at least 1.
    pub(super) h: u32,
    /// Left edge of the image on it; percent of the image's width. Absent: centred by the asked
    /// size.
    pub(super) x: Option<Length>,
    /// Top edge, likewise.
    pub(super) y: Option<Length>,
    /// Its colour, opaque.
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
        let measured = |side: u32| (u64::from(side) * u64::from(eighths)).div_ceil(8) as u32;
        let (width, height) = orientation.size(measured(facts.width), measured(facts.height));
        let layout = self.layout(width, height)?;
        if layout.original {
            return Ok(Recipe::original());
        }
        let mut steps = Vec::new();
        steps.extend(self.orient.then_some(Step::Orient));
        steps.extend(self.turn.map(Step::Turn));
        if eighths < 8 {
            steps.push(Step::Shrink(eighths));
        }
        steps.extend(layout.steps());
        let effects = self.effects.iter();
        steps.extend(effects.map(|effect| Step::Effect(framed(effect, &layout))));
        // A canvas is a new image, but made after conversions.
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
                // As the module does, the place where it was taken included.
                true => Kept::All,
                false => Kept::Public,
            },
            // The module keeps the tag, and viewers turn the image; only some formats carry a tag.
            stored_turn: match self.strict {
                true => StoredTurn::Verbatim,
                false => StoredTurn::Kept,
            },
            ..self.written(facts)
        };
        Recipe { steps, output }.resolve(facts)
    }

    crate::rules::kept_output!();

    fn materials(&self) -> Vec<String> {
        let names = self.effects.iter().filter_map(Effect::material);
        names.map(str::to_owned).collect()
    }
}

impl SmallLightRules {
    /// The scale, in eighths, at which lengths are measured: libjpeg's for the hint (the denominator is
    /// the whole number of times that the hint fits into the stored image, the scale the smallest N/8
    /// that is not below it), and never above 1/1, for only a bug ever made it 2/1. Formats that decode
    /// in full only know no hint.
    fn eighths(&self, facts: &Facts) -> u8 {
        let Some((width, height)) = self.hint.filter(|_| facts.shrinks) else {
            return 8;
        };
        let fits = (facts.width / width.max(1)).min(facts.height / height.max(1));
        // At most 8, a u8.
        8_u32.div_ceil(fits.clamp(1, 8)) as u8
    }
}

impl Layout {
    /// The geometry in whole pixels.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(scaling) = self.scaling {
            let (width, height) = (scaling.width, scaling.height);
            match scaling.from {
                Some((x, y, w, h)) => {
                    steps.push(Step::crop(x, y, w, h));
                    steps.push(Step::exact(width, height));
                }
                // A region wholly outside: transparent, beside the image.
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

/// A border frames the canvas or, without one, the size that was asked for, which may not be the
/// image's: then it says so.
fn framed(effect: &Effect, layout: &Layout) -> Effect {
    let mut effect = effect.clone();
    let (w, h) = match layout.canvas {
        Some(canvas) => (canvas.width, canvas.height),
        None => (layout.asked.0 as u32, layout.asked.1 as u32),
    };
    if effect.name == "border" && (w, h) != (layout.width, layout.height) {
        effect.args.push(format!("{w}x{h}"));
    }
    effect
}
