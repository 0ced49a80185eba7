//! `overlay:NAME:X:Y:OPACITY:W:H:MODE:FIT:RECIPE:AROUND`: lays an image from a file on top: scaled, made translucent,
//! repeated, blended, and first processed by a recipe of its own.

use std::borrow::Cow;
use std::fmt;

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::blend::{MODES, Mode};
use super::cover::{covered, dim, hide};
use super::lay::lay;
use super::place::{Place, X, Y};
use super::shadow::fade;
use crate::buffers::Buffer;
use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Grid, Model, Traits};
use crate::resize::{RegionF, Rescale};
use crate::samples::{Planes, Sample, by_depth, bytes};
use crate::stage::{Context, Op, Stage, wrong};

/// Lays another image over an image.
pub(super) struct Overlay;

pub(super) const NAME: Arg = Arg::text("name", "icon.png").help(
    "path or URL of the overlay (docs/overlays.md), or a file in the folder of overlays; colour%3A and 6 or 8 hex digits: one pixel of that colour",
);

const OPACITY: Arg = Arg::number("opacity", 0.0, 100.0)
    .unit("per cent")
    .default("100")
    .help("what the overlay's own opacity is multiplied by");

const WIDTH: Arg = Arg::whole("width", 0, 32_768)
    .unit("px")
    .default("0")
    .help("it is scaled to this width; 0: its own, or as its height says");

const MODE: Arg = Arg::choice("mode", MODES).default("normal").help(
    "tile: repeated over the whole image; mask: keeps the image below where this one is opaque; mask-out: where it is \
     transparent; mask-luminance: as mask, with opacity times luminance; the others: blend modes",
);

const FIT: Arg = Arg::choice("fit", &["exact", "inside", "cover"])
    .default("exact")
    .help("inside: as large as its own shape allows within width and height; cover: so that it fills them, the middle of it");

const RECIPE: Arg = Arg::text("recipe", "turn%3A90%2Cgray").default("").help(
    "steps that it takes before all this, as they stand in a recipe, with %2C for a comma and %3A for a colon; not \
     original, trim and focus:smart",
);

const AROUND: Arg = Arg::colour("around")
    .default("00000000")
    .help("colour where a mask hides the image; only with the modes that are masks");

const WORD: Word = Word {
    name: Effect::OVERLAY,
    args: &[
        NAME,
        X,
        Y,
        OPACITY,
        WIDTH,
        Arg {
            name: "height",
            help: "it is scaled to this height; 0: its own, or as its width says",
            ..WIDTH
        },
        MODE,
        FIT,
        RECIPE,
        AROUND,
    ],
    help: "lays another image over this one, scaled, repeated or blended",
    example: "overlay:icon.png:-10:20:60:64:0:multiply",
};

impl Op for Overlay {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        OverlayStage::parse(&WORD, effect)
    }
}

/// An overlay on an image, with its parsed arguments.
#[derive(Debug)]
pub(super) struct OverlayStage {
    /// The effect as written in the recipe; its first argument is the name of the overlay's file.
    effect: Effect,
    x: Place,
    y: Place,
    /// Factor by which the overlay's own opacity is multiplied, 0 to 1.
    opacity: f32,
    /// Width and height in px to scale the overlay to. If one of them is 0, it follows from the other by the aspect
    /// ratio; if both are 0, the overlay keeps its size.
    size: (u32, u32),
    mode: Mode,
    /// How the overlay is fitted if both width and height are given.
    fit: Fit,
    /// The colour that shows where a mask hides the image.
    around: Colour,
}

/// How an overlay is scaled to a given width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Exact,
    Inside,
    Cover,
}

/// Number of copies above which an overlay is spread less densely: if the overlay is spread or repeated along both axes
/// and the image has room for more whole copies than this, at most [`SPREAD_EACH`] are spread along each axis.
const SPREAD: u64 = 100;

/// Maximum number of copies along each axis of an overlay that is spread and that would otherwise fit more than
/// [`SPREAD`] times.
const SPREAD_EACH: u32 = 6;

impl OverlayStage {
    /// Parses an `over` or `overlay` effect; the arguments of `over` are the first ones of `overlay`. Returns `None`
    /// for an overlay of opacity 0, which changes nothing.
    pub(super) fn parse(word: &Word, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [
                name,
                x,
                y,
                opacity,
                width,
                height,
                mode,
                fit,
                recipe,
                around,
            ] = word.read(&effect.args)?;
            let name = name.unwrap_or_default();
            if name.starts_with(Effect::COLOUR) && effect.overlay_colour().is_none() {
                return Err(NAME.wrong(name));
            }
            // A recipe is the ninth argument. A text that looks like a recipe in an earlier place is reported as a
            // wrong mode or fit.
            match (recipe, effect.args.len()) {
                (Some(text), ..=7) => return Err(MODE.wrong(text)),
                (Some(text), 8) => return Err(FIT.wrong(text)),
                (Some(text), 9) if around.is_some() => return Err(FIT.wrong(text)),
                _ => effect.recipe().transpose()?,
            };
            let side = |text: Option<&str>| {
                let px = WIDTH.read_whole(text.unwrap_or("0"))?;
                Ok::<_, ParseError>(u32::try_from(px).unwrap_or(0))
            };
            Ok(Self {
                effect: effect.clone(),
                x: Place::read(&X, x.unwrap_or("0"))?,
                y: Place::read(&Y, y.unwrap_or("0"))?,
                opacity: (OPACITY.read_number(opacity.unwrap_or("100"))? / 100.0) as f32,
                size: (side(width)?, side(height)?),
                mode: Mode::of(mode.unwrap_or_default()),
                fit: match fit {
                    Some("inside") => Fit::Inside,
                    Some("cover") => Fit::Cover,
                    _ => Fit::Exact,
                },
                around: around.map_or(Ok(Colour::CLEAR), str::parse)?,
            })
        };
        let overlay = read().map_err(|error| wrong(effect, &error))?;
        if overlay.around.a > 0 && !matches!(overlay.mode, Mode::Mask { .. }) {
            return Err(Error::Recipe {
                piece: effect.to_string(),
                why: format!(
                    "the colour {} needs one of the modes mask, mask-out and mask-luminance",
                    overlay.around
                ),
            });
        }
        Ok((overlay.opacity > 0.0).then(|| Box::new(overlay) as Box<dyn Stage>))
    }

    /// Returns the size that an overlay of size `icon` is scaled to, in px.
    fn scaled(&self, icon: (u32, u32)) -> (u32, u32) {
        let follows = |side: u32, other: u32, icon: u32| {
            let side = u64::from(side) * u64::from(icon) / u64::from(other.max(1));
            (side as u32).clamp(1, WIDEST)
        };
        match self.size {
            // The size comes from a header that is not checked yet, so it may be 0.
            (0, 0) => (icon.0.max(1), icon.1.max(1)),
            (w, 0) => (w, follows(icon.1, icon.0, w)),
            (0, h) => (follows(icon.0, icon.1, h), h),
            (w, h) if self.fit == Fit::Inside => {
                let ratio = |to: u32, icon: u32| f64::from(to) / f64::from(icon.max(1));
                let by = ratio(w, icon.0).min(ratio(h, icon.1));
                let side = |icon: u32| ((f64::from(icon) * by).round() as u32).max(1);
                (side(icon.0), side(icon.1))
            }
            size => size,
        }
    }

    /// Returns how many copies of the overlay lie across and down an image.
    fn copies(&self, (width, height): (u32, u32), icon: (u32, u32)) -> (u64, u64) {
        let most = self.most((width, height), icon);
        let times = |place: Place, side, icon| place.edges(side, icon, most).len() as u64;
        (times(self.x, width, icon.0), times(self.y, height, icon.1))
    }

    /// Returns how many copies an overlay that is spread may have in each direction.
    fn most(&self, (width, height): (u32, u32), icon: (u32, u32)) -> u32 {
        let room = |side: u32, icon: u32| u64::from(side / icon.max(1));
        let is_repeated =
            !matches!(self.x, Place::Once { .. }) && !matches!(self.y, Place::Once { .. });
        match room(width, icon.0) * room(height, icon.1) > SPREAD {
            true if is_repeated => SPREAD_EACH,
            _ => u32::MAX,
        }
    }

    /// Loads the overlay and scales it to the requested size.
    fn load(&self, context: &Context<'_>) -> Result<Frame> {
        let frame = (context.overlays)(&self.effect)?.frame;
        let icon_size = (frame.width, frame.height);
        let to = self.scaled(icon_size);
        let whole = RegionF {
            x: 0.0,
            y: 0.0,
            w: icon_size.0.into(),
            h: icon_size.1.into(),
        };
        let part = match self.size {
            (w @ 1.., h @ 1..) if self.fit == Fit::Cover => middle(whole, w, h),
            _ => whole,
        };
        match Rescale::new((part, part), icon_size, to, frame.alpha.is_some()) {
            Some(rescale) => rescale.apply(frame, context),
            None => Ok(frame),
        }
    }

    fn lay<T: Sample>(&self, image: &mut Planes<T>, mut icon: Planes<T>) -> Result<()> {
        if self.opacity < 1.0 {
            let full = Grid::filled(icon.width, icon.height, T::MAX);
            fade(icon.alpha.get_or_insert(full), self.opacity);
        }
        let size = (image.width, image.height);
        let most = self.most(size, (icon.width, icon.height));
        let rows = self.y.edges(size.1, icon.height, most);
        let columns = self.x.edges(size.0, icon.width, most);
        if let Mode::Mask { out, .. } = self.mode {
            let places = rows
                .iter()
                .flat_map(|&y| columns.iter().map(move |&x| (x, y)));
            let cover = covered(&icon, size, places);
            hide(image, cover, out, self.around);
            return Ok(());
        }
        if self.covers() {
            let start = |edges: &[i64]| edges.first().copied().unwrap_or_default();
            icon = tiled(&icon, size, (start(&columns), start(&rows)))?;
            self.lay_once(image, Cow::Owned(icon), 0, 0);
            return Ok(());
        }
        let row = |&y: &i64| columns.iter().map(move |&x| (x, y));
        let places: Vec<(i64, i64)> = rows.iter().flat_map(row).collect();
        if let Some((&(x, y), others)) = places.split_last() {
            for &(x, y) in others {
                self.lay_once(image, Cow::Borrowed(&icon), x, y);
            }
            self.lay_once(image, Cow::Owned(icon), x, y);
        }
        Ok(())
    }

    /// Whether copies of the overlay fill the whole image side by side.
    fn covers(&self) -> bool {
        let repeats = matches!((self.x, self.y), (Place::Repeat, Place::Repeat));
        repeats || matches!(self.mode, Mode::Tile)
    }

    fn lay_once<T: Sample>(&self, image: &mut Planes<T>, icon: Cow<'_, Planes<T>>, x: i64, y: i64) {
        match self.mode {
            Mode::Normal | Mode::Tile | Mode::Mask { .. } => lay(image, &icon, x, y),
            Mode::Blend(blend) => {
                let mut icon = icon.into_owned();
                blend.apply(&mut icon, image, (x, y));
                lay(image, &icon, x, y);
            }
        }
    }
}

/// Returns the largest centred part of `whole` with the aspect ratio of `w` × `h`.
fn middle(whole: RegionF, w: u32, h: u32) -> RegionF {
    let (w, h) = (f64::from(w), f64::from(h));
    let by = (whole.w / w).min(whole.h / h);
    let (w, h) = (w * by, h * by);
    RegionF {
        x: (whole.w - w) / 2.0,
        y: (whole.h - h) / 2.0,
        w,
        h,
    }
}

/// Longest side, in px, that an overlay is scaled to if only its other side is given.
const WIDEST: u32 = 32_768;

/// Repeats an overlay over an image of this size, so that one copy is at (`x`, `y`). The overlay's planes must not be
/// subsampled.
pub(super) fn tiled<T: Sample>(
    icon: &Planes<T>,
    (width, height): (u32, u32),
    (x, y): (i64, i64),
) -> Result<Planes<T>> {
    let tile = |grid: &Grid<T>| {
        let start = (-x).rem_euclid(grid.width().into()) as usize;
        let mut samples = Buffer::with_capacity(width as usize * height as usize);
        for row in 0..height {
            let row = (i64::from(row) - y).rem_euclid(grid.height().into()) as u32;
            let repeated = grid.row(row).iter().cycle().skip(start);
            samples.extend(repeated.take(width as usize));
        }
        Grid::from_buffer(width, height, samples)
    };
    Ok(Planes {
        model: icon.model,
        depth: icon.depth,
        colour: icon.colour.clone(),
        width,
        height,
        colours: icon.colours.iter().map(tile).collect::<Result<_>>()?,
        alpha: icon.alpha.as_ref().map(tile).transpose()?,
    })
}

impl Stage for OverlayStage {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let icon = self.load(context)?;
        let (model, after) = (
            self.mode.model(frame.model),
            self.mode.model_after(frame.model),
        );
        by_depth!(frame, image => {
            let mut image = remodelled(image, model, None, context.interrupt)?;
            // The overlay may lie at any px, so it is not subsampled.
            let is_luminous = matches!(self.mode, Mode::Mask { luminous: true, .. });
            let of_icon = if is_luminous { Model::Gray } else { model.unthinned() };
            let mut icon = remodelled(Planes::of(icon), of_icon, None, context.interrupt)?;
            if is_luminous {
                dim(&mut icon)?;
            }
            self.lay(&mut image, icon)?;
            remodelled(image, after, None, context.interrupt)?.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.mode.model_after(traits.model),
            alpha: traits.alpha
                || (matches!(self.mode, Mode::Mask { .. }) && self.around.a < u8::MAX),
            ..traits
        }
    }

    /// Always true, because the colours of an overlay are unknown before its file is read.
    fn adds_colour(&self) -> bool {
        true
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        // The overlay's size is unknown before its file is read, so assume an icon.
        let icon = match (self.size, self.effect.overlay_colour()) {
            ((0, 0), None) => (width.min(ICON), height.min(ICON)),
            ((0, 0), Some(_)) => (1, 1),
            ((w, 0), _) => (w, w),
            ((0, h), _) => (h, h),
            (size, _) => size,
        };
        self.cost_of_laying(icon, width, height, traits)
    }

    fn lays(&self) -> Option<&Effect> {
        Some(&self.effect)
    }

    fn cost_of_laying(
        &self,
        icon_size: (u32, u32),
        width: u32,
        height: u32,
        traits: Traits,
    ) -> Cost {
        let area = |(w, h): (u32, u32)| u64::from(w) * u64::from(h);
        let all = area((width, height));
        let size = self.scaled(icon_size);
        let icon = area(size);
        let (across, down) = self.copies((width, height), size);
        let copies = match self.covers() {
            true => 1,
            false => across * down,
        };
        let masks = matches!(self.mode, Mode::Mask { .. });
        let laid_px = match masks || self.covers() {
            // The colour around a mask is composited over the whole image, too.
            true if self.around.a > 0 => 2 * all,
            true => all,
            false => all.min(icon.saturating_mul(copies)),
        };
        // Each row of each copy is composited separately, as far as it lies on the image.
        let rows = copies * u64::from(size.1.min(height));
        let blends = matches!(self.mode, Mode::Blend(_));
        let converts = blends && traits.model != Model::Rgb;
        let converted_px = if converts { 3 * all } else { 0 };
        let resampled = match size == icon_size {
            true => 0,
            false => area(icon_size)
                .saturating_mul(NANOS_READ)
                .saturating_add(u64::from(size.1) * NANOS_PER_SCALED_ROW),
        };
        let blended_px = icon.saturating_mul(match blends {
            // Each copy is blended separately, because each lies on other colours.
            true => copies.max(1),
            false => 1,
        });
        Cost {
            nanos: blended_px
                .max(laid_px)
                .saturating_mul(NANOS_PER_PIXEL)
                .saturating_add(rows.saturating_mul(NANOS_PER_ROW))
                .saturating_add(resampled)
                .saturating_add(2 * converted_px),
            scratch: icon
                .saturating_mul(8)
                .saturating_add(
                    laid_px * 4 * bytes(traits.depth) + converted_px * bytes(traits.depth),
                )
                .saturating_add(16 * copies),
        }
    }
}

/// Assumed side, in px, of an overlay whose size is not known yet: that of a large icon.
const ICON: u32 = 256;

/// Nanoseconds per px to scale, convert and blend an overlay, measured on one core.
const NANOS_PER_PIXEL: u64 = 20;

/// Nanoseconds per row of an overlay, for all planes together, in addition to those for its pixels.
const NANOS_PER_ROW: u64 = 100;

/// Time in ns per px for reading an overlay that is scaled.
const NANOS_READ: u64 = 2;
/// Time in ns per row of the result of scaling an overlay.
const NANOS_PER_SCALED_ROW: u64 = 1_200;

impl fmt::Display for OverlayStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
