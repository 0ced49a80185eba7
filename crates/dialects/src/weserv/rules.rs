//! Resolves a query to a recipe for an image. Sizes are those of weserv, to the pixel.

mod wish;

use std::f64::consts::PI;

use andon_recipe::{
    Background, Canvas, Colour, Crop, Effect, Facts, Flatten, Flip, Focus, FormatName, Goal, Kept,
    Length, Measure, Orient, Orientation, Output, Profile, Recipe, ResolveError, Rotate, Rules,
    Step, Trim, Turn,
};

use super::query::Query;
use crate::effects::{self, is_lossy, number, rgb, with};
use crate::geometry::{self, keep_salient};

/// The parameters of a query, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct WeservRules {
    pub(super) query: Query,
    pub(super) output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Inside,
    Outside,
    Cover,
    Fill,
    Contain,
}

/// Maximum side in px that libvips supports. Larger sides are clamped to it.
const MOST_PX: i32 = 10_000_000;

/// The tolerance of `trim` if its value is missing or invalid.
const TOLERANCE: u8 = 10;

/// The default quality.
const QUALITY: u8 = 80;

impl WeservRules {
    pub(super) fn new(query: Query) -> Self {
        let format = match query.text("output") {
            Some("jpg" | "jpeg") => "jpeg",
            Some("tif" | "tiff") => "tiff",
            Some("avif" | "av1") => "avif",
            Some(format @ ("png" | "gif" | "webp")) => format,
            _ => "",
        };
        let output = Output {
            format: FormatName::new(format).ok(),
            profile: Profile::Srgb,
            metadata: Kept::None,
            progressive: query.flag("il"),
            ..Output::default()
        };
        Self { query, output }
    }

    fn fit(&self) -> Fit {
        match self.query.text("fit").unwrap_or_default() {
            "contain" | "letterbox" => Fit::Contain,
            "cover" | "square" | "squaredown" => Fit::Cover,
            "fill" | "absolute" => Fit::Fill,
            "outside" => Fit::Outside,
            old if old.starts_with("crop") => Fit::Cover,
            _ => Fit::Inside,
        }
    }

    /// Returns the rotation in degrees. A rotation that is not a multiple of 90 degrees is applied last.
    fn degrees(&self) -> i32 {
        self.query.int("ro").unwrap_or_default()
    }

    fn quarters(&self) -> Option<Turn> {
        geometry::turn(self.degrees().rem_euclid(360) as u32)
    }

    fn flips(&self) -> Option<Flip> {
        match (self.query.flag("flip"), self.query.flag("flop")) {
            (false, false) => None,
            (true, false) => Some(Flip::Vertical),
            (false, true) => Some(Flip::Horizontal),
            (true, true) => Some(Flip::Both),
        }
    }

    fn trim(&self) -> Option<Step> {
        let tolerance = self.query.whole("trim");
        let tolerance = tolerance.map_or(TOLERANCE, |levels| levels as u8);
        self.query
            .has("trim")
            .then_some(Step::Trim(Trim(tolerance)))
    }

    /// Whether the result is an animation.
    fn moves(&self, facts: &Facts) -> bool {
        let all = self.query.int("n").is_some_and(|n| n != 1 && n >= -1);
        all && facts.frames > 1
    }

    /// Returns the steps that trim the border of the stored image, and the size in px of the rest. Animations keep
    /// their height.
    fn trim_steps(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let whole = (facts.width, facts.height);
        let trim = self.trim().filter(|_| whole.0 >= 3 && whole.1 >= 3);
        let recipe = Recipe::of_stored(Vec::from_iter(trim), Output::default());
        let mut steps = recipe.resolve(facts)?.steps;
        if let (true, Some(Step::Crop(Crop::At { y, h, .. }))) =
            (self.moves(facts), steps.first_mut())
        {
            (*y, *h) = (Length::Px(0.0), Length::Px(whole.1.into()));
        }
        let size = andon_recipe::size_after(&steps, facts);
        Ok((steps, size.unwrap_or(whole)))
    }

    /// Returns the requested box in px; 0 for a side that the URL does not limit.
    fn bounds(&self, facts: &Facts) -> (i32, i32) {
        let ratio = self.query.number("dpr");
        let side = |key, whole| {
            let px = self.query.px(key, whole).unwrap_or_default();
            let px = match ratio {
                Some(ratio) => (f64::from(px) * ratio).round() as i32,
                None => px,
            };
            px.clamp(0, MOST_PX)
        };
        (side("w", facts.width), side("h", facts.height))
    }

    /// Returns the size in px that an image is scaled to.
    fn scaled_size(&self, (width, height): (u32, u32), (w, h): (i32, i32)) -> (u32, u32) {
        let (wide, high) = (f64::from(width), f64::from(height));
        let (across, down) = (wide / f64::from(w), high / f64::from(h));
        let fit = self.fit();
        let mut shrink = match (w > 0, h > 0, fit) {
            (false, false, _) => (1.0, 1.0),
            (true, true, Fit::Fill) => (across, down),
            (true, true, Fit::Cover | Fit::Outside) => (across.min(down), across.min(down)),
            (true, true, Fit::Inside | Fit::Contain) => (across.max(down), across.max(down)),
            (true, false, Fit::Fill) => (across, 1.0),
            (false, true, Fit::Fill) => (1.0, down),
            (true, false, _) => (across, across),
            (false, true, _) => (down, down),
        };
        if self.query.flag("we") {
            shrink = (shrink.0.max(1.0), shrink.1.max(1.0));
        }
        // `as` saturates, so that a limit refuses the size.
        let side = |whole: f64, shrink: f64| ((whole / shrink).round_ties_even() as u32).max(1);
        (side(wide, shrink.0), side(high, shrink.1))
    }

    /// Returns the upper left corner in px of a part of the size `inner` within an image of the size `outer`.
    fn place(&self, inner: (u32, u32), outer: (u32, u32)) -> (u32, u32) {
        let room = (
            outer.0.saturating_sub(inner.0),
            outer.1.saturating_sub(inner.1),
        );
        let name = self.query.text("a").unwrap_or_default();
        if name.starts_with("focal") || name.starts_with("crop-") {
            let share = |key| self.query.number(key).unwrap_or(0.5);
            let position = |share: f64, outer: u32, inner: u32, room: u32| {
                // `as` saturates at 0.
                let start = (share * f64::from(outer) - f64::from(inner) / 2.0).round() as u32;
                start.min(room)
            };
            return (
                position(share("fpx"), outer.0, inner.0, room.0),
                position(share("fpy"), outer.1, inner.1, room.1),
            );
        }
        let x = match name {
            "left" | "l" | "top-left" | "bottom-left" => 0,
            "right" | "r" | "top-right" | "bottom-right" => room.0,
            _ => room.0 / 2,
        };
        let y = match name {
            "top" | "t" | "top-left" | "top-right" => 0,
            "bottom" | "b" | "bottom-left" | "bottom-right" => room.1,
            _ => room.1 / 2,
        };
        (x, y)
    }

    /// Returns x, y, width and height in px of the crop by `cx`, `cy`, `cw` and `ch`, for an image of this size.
    fn crop(&self, (width, height): (u32, u32)) -> Option<(u32, u32, u32, u32)> {
        let keys = ["cx", "cy", "cw", "ch"];
        if !keys.iter().any(|key| self.query.has(key)) {
            return None;
        }
        let within = |key, whole: u32, most: u32| {
            let px = u32::try_from(self.query.px(key, whole)?).ok()?;
            (px > 0 && px < most).then_some(px)
        };
        let x = within("cx", width, width).unwrap_or(0);
        let y = within("cy", height, height).unwrap_or(0);
        let w = within("cw", width, width - x).unwrap_or(width - x);
        let h = within("ch", height, height - y).unwrap_or(height - y);
        Some((x, y, w, h))
    }

    /// Crops a scaled image to the box that it covers.
    fn align(&self, steps: &mut Vec<Step>, size: &mut (u32, u32), (w, h): (i32, i32)) {
        let within = |side: i32, whole: u32| match u32::try_from(side) {
            Ok(side) if side > 0 => side.min(whole),
            _ => whole,
        };
        let part = (within(w, size.0), within(h, size.1));
        match self.smart() {
            true => steps.extend(keep_salient(part)),
            false => {
                let (x, y) = self.place(part, *size);
                steps.push(Step::crop(x, y, part.0, part.1));
            }
        }
        *size = part;
    }

    fn smart(&self) -> bool {
        matches!(self.query.text("a"), Some("entropy" | "attention"))
    }

    fn geometry(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let (mut steps, stored) = self.trim_steps(facts)?;
        let turn = self.quarters();
        steps.push(Step::Orient(Orient));
        steps.extend(turn.map(Step::Turn));
        steps.extend(self.flips().map(Step::Flip));
        let orientation = turn.map_or(facts.orientation, |turn| facts.orientation.then(turn));
        let mut size = orientation.size(stored.0, stored.1);
        let bounds = self.bounds(facts);
        let precrop = self.query.flag("precrop");
        let moves = self.moves(facts);
        if precrop {
            self.cut(&mut steps, &mut size, moves);
        }
        // `ro` turns the image after scaling, so that the box is turned back.
        let sideways = matches!(turn, Some(Turn::R90 | Turn::R270));
        let unturned = match !precrop && sideways {
            true => (bounds.1, bounds.0),
            false => bounds,
        };
        size = self.scaled_size(size, unturned);
        steps.push(Step::exact(size.0, size.1));
        let frame = if moves { (bounds.0, 0) } else { bounds };
        if self.fit() == Fit::Cover {
            self.align(&mut steps, &mut size, frame);
        }
        if !precrop {
            self.cut(&mut steps, &mut size, moves);
        }
        if self.fit() == Fit::Contain {
            self.contain(&mut steps, &mut size, frame, facts.alpha);
        }
        if self.degrees() % 90 != 0 {
            let degrees = f64::from(self.degrees().rem_euclid(360));
            size = andon_recipe::rotated_size(size.0, size.1, degrees);
            steps.push(Step::Rotate(Rotate {
                degrees,
                colour: self.query.colour("rbg").unwrap_or(Colour::CLEAR),
            }));
        }
        Ok((steps, size))
    }

    /// Crops the image, if the URL has a crop. An animation (`moves`) is only cropped at the left and right and keeps
    /// its height, because weserv crops the stacked frames as one image.
    fn cut(&self, steps: &mut Vec<Step>, size: &mut (u32, u32), moves: bool) {
        if let Some((x, y, w, h)) = self.crop(*size) {
            let (y, h) = if moves { (0, size.1) } else { (y, h) };
            steps.push(Step::crop(x, y, w, h));
            *size = (w, h);
        }
    }

    /// Places a scaled image on a canvas of the size of the box in px; 0 for a side that the URL does not limit.
    /// `alpha` says whether the image may have transparent pixels.
    fn contain(
        &self,
        steps: &mut Vec<Step>,
        size: &mut (u32, u32),
        bounds: (i32, i32),
        alpha: bool,
    ) {
        let side = |side: i32, image_side: u32| match u32::try_from(side) {
            Ok(side) if side > 0 => side,
            _ => image_side,
        };
        let ground = (side(bounds.0, size.0), side(bounds.1, size.1));
        let (x, y) = self.place(*size, ground);
        let colour = self.query.colour("cbg").unwrap_or(Colour::CLEAR);
        // Transparent parts of the image must not show the colour of the canvas.
        let needs_fill = alpha && colour.a > 0 && ground != *size;
        steps.push(Step::Canvas(Canvas {
            w: ground.0,
            h: ground.1,
            colour: if needs_fill { Colour::CLEAR } else { colour },
            at: Some((place(x), place(y))),
        }));
        let effect = || format!("around:{x}:{y}:{}x{}:{colour}", size.0, size.1);
        steps.extend(effects::steps([needs_fill.then(effect)]));
        *size = ground;
    }

    /// Returns the effects in their order, without those that have no effect.
    fn effects(&self) -> Vec<Step> {
        let query = &self.query;
        let level = |key| query.whole(key).filter(|level| *level != 0).map(f64::from);
        // A key with a missing or invalid value stands for a default.
        let default = |key, default| query.has(key).then(|| query.number(key).unwrap_or(default));
        let tone = |key, default: &str| query.colour(key).map_or(default.to_owned(), rgb);
        let filter = match query.text("filt").unwrap_or_default() {
            "greyscale" => Some("gray:light".to_owned()),
            "sepia" => Some("sepia".to_owned()),
            "negate" => Some("invert".to_owned()),
            "duotone" => {
                let (start, stop) = (tone("start", "c83658"), tone("stop", "d8e74f"));
                Some(format!("duotone:{start}:{stop}"))
            }
            _ => None,
        };
        let tint = query.colour("tint").filter(|colour| colour.a > 0);
        effects::steps([
            with("brightness:{}", level("bri").map(|level| level * 2.55)),
            self.modulation(),
            with("contrast:{}", level("con").map(|level| slope(level * 0.3))),
            with("gamma:{}", default("gam", 2.2).map(f64::recip)),
            self.sharpening(),
            filter,
            with("blur:0x{}", default("blur", MILD)),
            tint.map(|colour| format!("tint:{}", rgb(colour))),
        ])
    }

    fn modulation(&self) -> Option<String> {
        let factor = |key| number(self.query.number(key).unwrap_or(1.0));
        let hue = self.query.int("hue").unwrap_or_default().rem_euclid(360);
        let text = format!("modulate:{}:{}:{hue}", factor("mod"), factor("sat"));
        (text != "modulate:1:1:0").then_some(text)
    }

    fn sharpening(&self) -> Option<String> {
        let of = |key, default| number(self.query.number(key).unwrap_or(default));
        let (flat, jagged) = (of("sharpf", 1.0), of("sharpj", 2.0));
        let effect = with(
            &format!("sharpen-l:{{}}:{flat}:{jagged}"),
            self.query.number("sharp"),
        );
        let mild = || with("sharpen-l:{}", Some(MILD));
        self.query.has("sharp").then(|| effect.or_else(mild))?
    }

    /// Returns the steps that mask an image of this size in px with a shape; `None` if no shape is requested.
    fn mask(&self, size: (u32, u32)) -> Option<Vec<Step>> {
        let shape = self.query.text("mask")?;
        if !Effect::MASKS.contains(&shape) {
            return None;
        }
        let colour_argument = self.query.colour("mbg").filter(|colour| colour.a > 0);
        let colour_argument = colour_argument.map_or(String::new(), |colour| format!(":{colour}"));
        let mut steps = effects::steps([Some(format!("mask:{shape}{colour_argument}"))]);
        if self.query.flag("mtrim") {
            let part = mask_size(shape, size);
            let middle = |side: u32, part: u32| (side - part).div_ceil(2);
            let (x, y) = (middle(size.0, part.0), middle(size.1, part.1));
            steps.push(Step::crop(x, y, part.0, part.1));
        }
        Some(steps)
    }

    /// Returns the output settings. `alpha` says whether the result may have transparent pixels.
    fn output_for(&self, facts: &Facts, alpha: bool) -> Output {
        let query = &self.query;
        let mut output = self.output.clone();
        if output.format.is_none() && alpha && facts.format == "jpeg" {
            output.format = FormatName::new("png").ok();
        }
        let format = output.format.as_ref();
        let format = format.map_or(&*facts.format, FormatName::as_str);
        if format == "jpeg" && alpha {
            output.background = Background::Colour(Colour {
                a: 255,
                ..Colour::CLEAR
            });
        }
        match format {
            "webp" if query.flag("ll") => output.lossless = true,
            format if is_lossy(format) => {
                let quality = query.whole("q").map_or(QUALITY, |quality| quality as u8);
                output.goal = Some(Goal::Quality(quality));
            }
            "png" => {
                let level = query.whole("l").map(|level| level.to_string());
                let filter = query.has("af").then(|| match query.flag("af") {
                    true => "adaptive".to_owned(),
                    false => "none".to_owned(),
                });
                let options = [("level", level), ("filter", filter)].into_iter();
                let options = options.filter_map(|(name, text)| Some((name.to_owned(), text?)));
                output.options.extend(options);
            }
            _ => {}
        }
        output.progressive &= ["jpeg", "png"].contains(&format);
        // Unless all pages of an animation are requested, one page is sent.
        if ["gif", "webp"].contains(&&*facts.format) && !self.moves(facts) {
            output.frame = Some(query.whole("page").unwrap_or_default() as u32 + 1);
        }
        output
    }
}

/// The sigma that corresponds to the 3×3 matrix with which weserv sharpens or blurs if the URL sets no strength.
const MILD: f64 = 0.8;

/// Returns the gray of a background as weserv computes it: a weighted mean of the encoded channel values.
fn gray(Colour { r, g, b, a }: Colour) -> Colour {
    let level = 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
    let level = level.round() as u8;
    Colour {
        r: level,
        g: level,
        b: level,
        a,
    }
}

/// Returns the slope at the middle of weserv's contrast curve: a logistic function of this steepness or, if that is
/// negative, its inverse.
fn slope(steepness: f64) -> f64 {
    let beta = steepness.abs();
    let logistic = beta / 4.0 / (beta / 4.0).tanh();
    if steepness > 0.0 {
        logistic
    } else {
        1.0 / logistic
    }
}

/// Returns width and height in px of the largest mask of this shape within an image of this size. As in weserv, sides
/// are rounded twice: those of the shape in the largest circle that fits into the image, and those after it is enlarged
/// to fit the image.
fn mask_size(shape: &str, (width, height): (u32, u32)) -> (u32, u32) {
    let radius = f64::from(width.min(height)) / 2.0;
    // The size of the shape in a circle of radius 1.
    let (w, h) = match shape {
        "ellipse" => return (width, height),
        "triangle" | "triangle-180" => (3_f64.sqrt(), 1.5),
        "pentagon" | "pentagon-180" | "star" => (2.0 * (0.4 * PI).sin(), 1.0 + (0.2 * PI).cos()),
        "hexagon" => (3_f64.sqrt(), 2.0),
        // The service draws this curve of sines sixteen times as large.
        "heart" => (32.0, 28.922),
        _ => (2.0, 2.0),
    };
    let (w, h) = ((w * radius).round().max(1.0), (h * radius).round().max(1.0));
    let scale = (f64::from(width) / w).min(f64::from(height) / h);
    let side = |side: f64, most: u32| ((side * scale).round() as u32).clamp(1, most);
    (side(w, width), side(h, height))
}

fn place(px: u32) -> i32 {
    px.min(Length::MAX_PX as u32) as i32
}

impl Rules for WeservRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!(
            "weserv({};{output})",
            self.query.values().canonical("&", str::to_owned)
        )
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let (mut steps, size) = self.geometry(facts)?;
        let shows = |step: &Step| match step {
            Step::Canvas(canvas) => canvas.colour.a < u8::MAX,
            Step::Rotate(Rotate { colour, .. }) => colour.a < u8::MAX,
            _ => false,
        };
        let mut alpha = facts.alpha || steps.iter().any(shows);
        steps.extend(self.effects());
        if let Some(ground) = self.query.colour("bg").filter(|ground| ground.a > 0) {
            // A gray image has a single band, so that its background becomes gray, too.
            let is_gray = self.query.text("filt") == Some("greyscale");
            steps.push(Step::Flatten(Flatten(if is_gray {
                gray(ground)
            } else {
                ground
            })));
            alpha &= ground.a < u8::MAX;
        }
        if let Some(mask) = self.mask(size) {
            let colour_outside = self.query.colour("mbg").unwrap_or(Colour::CLEAR);
            alpha |= colour_outside.a < u8::MAX;
            steps.extend(mask);
        }
        let output = self.output_for(facts, alpha);
        Recipe { steps, output }.resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let smart = self.smart().then_some(Step::Focus(Focus::Salient));
        let steps = Vec::from_iter(self.trim().into_iter().chain(smart));
        Recipe::of_stored(steps, Output::default()).measures(stored)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }
}
