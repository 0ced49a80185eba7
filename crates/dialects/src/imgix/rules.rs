//! Resolves parameters for an image. The service is closed source: sizes follow its documentation.

mod wish;

use andon_recipe::{
    Bounds, Canvas, Chroma, Colour, Crop, Facts, Flip, FormatName, Goal, Gravity, Kept, Length,
    Measure, Orientation, Output, Pad, Profile, Recipe, ResolveError, Rules, Step, StoredTurn,
};

use super::overlays;
use super::query::{self, Query};
use crate::effects::{Effects, is_lossy, number, rgb};
use crate::geometry::{FACES_IF_POSSIBLE, size_after};

/// What a query asks for, before the image is known.
#[derive(Clone, Debug)]
pub(super) struct ImgixRules {
    pub(super) query: Query,
    /// Names of the image files that are laid over the image.
    files: Vec<String>,
    pub(super) output: Output,
}

/// The quality of results whose URL does not set one.
const QUALITY: u8 = 75;

/// The longest side that a URL can ask for, in px.
const MOST: f64 = 8192.0;

impl ImgixRules {
    pub(super) fn new(query: Query) -> Self {
        let format = match query.text("fm") {
            Some("jpg" | "pjpg") => "jpeg",
            Some("png8" | "png32") => "png",
            Some(format @ ("png" | "gif" | "webp" | "avif" | "jxl")) => format,
            _ if query.lists("auto", "format") => Output::AUTO,
            _ => "",
        };
        let page = ["page", "frame"]
            .iter()
            .find_map(|key| query.number(key, 1.0, 1e6));
        let output = Output {
            format: FormatName::new(format).ok(),
            profile: match query.lists("cs", "srgb") || query.lists("cs", "tinysrgb") {
                true => Profile::Srgb,
                false => Profile::default(),
            },
            metadata: if query.lists("cs", "strip") {
                Kept::None
            } else {
                Kept::default()
            },
            lossless: query.flag("lossless") == Some(true)
                && ["webp", "avif", "jxl"].contains(&format),
            progressive: query.text("fm") == Some("pjpg")
                && query.flag("jpg-progressive") != Some(false),
            chroma: match query.text("chromasub") {
                Some("444") => Some(Chroma::C444),
                Some("422") => Some(Chroma::C422),
                Some("420") => Some(Chroma::C420),
                _ => None,
            },
            frame: page.map(|page| page as u32),
            ..Output::default()
        };
        Self {
            files: overlays::files(&query),
            query,
            output,
        }
    }

    /// Returns the length of a side in px. A parameter of at most 1 is a share of the `whole` side.
    fn side(&self, key: &str, whole: u32) -> Option<f64> {
        let number = self
            .query
            .number(key, 0.0, MOST)
            .filter(|number| *number > 0.0)?;
        Some(if number <= 1.0 {
            number * f64::from(whole)
        } else {
            number
        })
    }

    fn ratio(&self) -> f64 {
        self.query
            .number("dpr", 0.0, 5.0)
            .filter(|ratio| *ratio > 0.0)
            .unwrap_or(1.0)
    }

    fn ground(&self) -> Colour {
        let solid = self
            .query
            .colour("fill-color")
            .filter(|_| self.query.text("fill") == Some("solid"));
        solid
            .or_else(|| self.query.colour("bg"))
            .unwrap_or(Colour::WHITE)
    }

    /// Returns the steps that turn and mirror the whole image.
    fn turns(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        match self
            .query
            .number("orient", 1.0, 270.0)
            .map(|number| number as u16)
        {
            Some(number @ 1..=8) => steps.extend(Orientation::from_exif(number).steps()),
            Some(degrees @ (90 | 180 | 270)) => {
                let quarters = (degrees / 90) as u8;
                steps.extend(
                    Orientation {
                        mirror: false,
                        quarters,
                    }
                    .steps(),
                );
            }
            _ => steps.push(Step::Orient),
        }
        let flip = match self.query.text("flip") {
            Some("h") => Some(Flip::Horizontal),
            Some("v") => Some(Flip::Vertical),
            Some("hv" | "vh") => Some(Flip::Both),
            _ => None,
        };
        steps.extend(flip.map(Step::Flip));
        steps
    }

    fn trim(&self) -> Option<Step> {
        let tolerance = self
            .query
            .number("trim-tol", 0.0, 255.0)
            .map_or(10, |levels| levels as u8);
        let trims = matches!(self.query.text("trim"), Some("auto" | "color" | "alpha"));
        // It comes before everything that changes the geometry.
        (trims && self.query.text("rect").is_none()).then_some(Step::Trim(tolerance))
    }

    /// Returns the steps that precede scaling, and the size in px that they leave: turn upright, flip, trim the border,
    /// crop and rotate.
    fn before(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let mut steps = self.turns();
        steps.extend(self.trim());
        let size = size_after(&steps, facts)?;
        if let Some(part) = self.query.text("rect").and_then(|text| rect(text, size)) {
            steps.push(part);
        }
        if let Some(degrees) = self
            .query
            .number("rot", 0.0, 359.0)
            .filter(|degrees| *degrees > 0.0)
        {
            steps.push(Step::Rotate {
                degrees,
                colour: self.query.colour("bg").unwrap_or(Colour::CLEAR),
            });
        }
        let size = size_after(&steps, facts)?;
        Ok((steps, size))
    }

    /// Returns width and height of the box in px for an image of this size. `None`: the side is open.
    fn bounds(&self, (width, height): (u32, u32)) -> (Option<f64>, Option<f64>) {
        let fit = self.query.text("fit").unwrap_or_default();
        let mut bounds = (self.side("w", width), self.side("h", height));
        let aspect = self.query.text("ar").and_then(|text| {
            let (w, h) = text.split_once(':')?;
            let (w, h) = (w.parse::<f64>().ok()?, h.parse::<f64>().ok()?);
            Some(w / h).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        });
        if let Some(ratio) = aspect.filter(|_| ["crop", "fill", "fillmax", "min"].contains(&fit)) {
            let (wide, high) = (f64::from(width), f64::from(height));
            bounds = match bounds {
                (Some(w), None) => (Some(w), Some(w / ratio)),
                (None, Some(h)) => (Some(h * ratio), Some(h)),
                (None, None) if wide / ratio <= high => (Some(wide), Some(wide / ratio)),
                (None, None) => (Some(high * ratio), Some(high)),
                both => both,
            };
        }
        if fit == "crop" {
            let within = |side: Option<f64>, least: &str, most: &str, whole: u32| {
                let (least, most) = (self.side(least, whole), self.side(most, whole));
                let side = side.or_else(|| least.or(most).map(|_| whole.into()))?;
                let side = most.map_or(side, |most| side.min(most));
                Some(least.map_or(side, |least| side.max(least)))
            };
            bounds = (
                within(bounds.0, "min-w", "max-w", width),
                within(bounds.1, "min-h", "max-h", height),
            );
        }
        let given = self.query.text("w").is_some() || self.query.text("h").is_some();
        let ratio = if given { self.ratio() } else { 1.0 };
        let scaled = |side: Option<f64>| side.map(|side| (side * ratio).clamp(1.0, MOST));
        (scaled(bounds.0), scaled(bounds.1))
    }

    fn sizes(&self, size: (u32, u32)) -> Vec<Step> {
        let px = |px: f64| Length::px(px).unwrap_or(Length::Px(Length::MAX_PX));
        let fit = self.query.text("fit").unwrap_or("clip");
        let (w, h) = match self.bounds(size) {
            (None, None) => return Vec::new(),
            (Some(w), Some(h)) => (w, h),
            (w, h) => {
                let inside = match (w, h) {
                    (Some(w), _) => Bounds::Width(px(w)),
                    (None, h) => Bounds::Height(px(h.unwrap_or(1.0))),
                };
                let enlarge = !["max", "fillmax", "min"].contains(&fit);
                return vec![Step::Fit { inside, enlarge }];
            }
        };
        let both = Bounds::Both(px(w), px(h));
        let fits = |enlarge| Step::Fit {
            inside: both,
            enlarge,
        };
        let ground = || {
            let side = |px: f64| (px.round() as u32).max(1);
            Step::Canvas(Canvas {
                w: side(w),
                h: side(h),
                colour: self.ground(),
                at: None,
            })
        };
        let cover = |w, h| Step::Cover {
            w: px(w),
            h: px(h),
            gravity: self.gravity(),
            enlarge: true,
        };
        let mut steps = self.focus().into_iter().collect::<Vec<_>>();
        match fit {
            "crop" | "facearea" => match self.zoom() {
                Some(zoom) => {
                    // Of the whole, a part in the shape of the box.
                    let scale = (w / f64::from(size.0)).max(h / f64::from(size.1)) * zoom;
                    let side = |px: f64| (px / scale).round().max(1.0);
                    let part = Crop::Towards {
                        w: px(side(w)),
                        h: px(side(h)),
                        gravity: Gravity::Centre,
                    };
                    steps.extend([Step::Crop(part), Step::Exact { w: px(w), h: px(h) }]);
                }
                None => steps.push(cover(w, h)),
            },
            "max" => return vec![fits(false)],
            "fill" | "clamp" => return vec![fits(true), ground()],
            "fillmax" => return vec![fits(false), ground()],
            "scale" => return vec![Step::Exact { w: px(w), h: px(h) }],
            "min" => {
                // The box, made smaller where the image is.
                let share = (f64::from(size.0) / w).min(f64::from(size.1) / h).min(1.0);
                steps.push(cover(w * share, h * share));
            }
            _ => return vec![fits(true)],
        }
        steps
    }

    /// Returns the direction that `crop` names. Directions take precedence over faces and salient parts.
    fn gravity(&self) -> Gravity {
        let says = |word| self.query.lists("crop", word);
        match (says("top"), says("bottom"), says("left"), says("right")) {
            (true, _, true, _) => Gravity::NorthWest,
            (true, _, _, true) => Gravity::NorthEast,
            (true, ..) => Gravity::North,
            (_, true, true, _) => Gravity::SouthWest,
            (_, true, _, true) => Gravity::SouthEast,
            (_, true, ..) => Gravity::South,
            (_, _, true, _) => Gravity::West,
            (_, _, _, true) => Gravity::East,
            _ => Gravity::Centre,
        }
    }

    /// Returns the factor by which to zoom in on the focal point, if it is more than 1.
    fn zoom(&self) -> Option<f64> {
        let zoom = self.query.number("fp-z", 1.0, 100.0);
        zoom.filter(|zoom| *zoom > 1.0 && self.query.lists("crop", "focalpoint"))
    }

    fn focus(&self) -> Option<Step> {
        let share = |key| self.query.number(key, 0.0, 1.0).unwrap_or(0.5) * 100.0;
        let says = |word: &&str| self.query.lists("crop", word);
        if says(&"focalpoint") {
            return Some(Step::Focus {
                x: Length::Percent(share("fp-x")),
                y: Length::Percent(share("fp-y")),
            });
        }
        if self.query.text("fit") == Some("facearea") || says(&"faces") {
            return Some(FACES_IF_POSSIBLE);
        }
        let smart = ["entropy", "edges"].iter().any(says);
        smart.then_some(Step::Salient)
    }

    fn effects(&self) -> Vec<Step> {
        let query = &self.query;
        let mut effects = Effects::default();
        let mut add = |name: &str, args: &[String]| effects.add(name, args);
        let part = |key| {
            query
                .number(key, -100.0, 100.0)
                .filter(|part| *part != 0.0)
                .map(|part| part / 100.0)
        };
        if let Some(part) = part("bri") {
            add("brightness", &[number(part * 255.0)]);
        }
        if let Some(part) = part("con") {
            add("contrast", &[number(1.0 + part)]);
        }
        if let Some(part) = part("exp") {
            add(
                "modulate",
                &[number(part.exp2()), "1".to_owned(), "0".to_owned()],
            );
        }
        if let Some(part) = part("gam") {
            add("gamma", &[number(part.exp2())]);
        }
        if let Some(part) = part("sat") {
            add("saturation", &[number(1.0 + part)]);
        }
        if let Some(part) = part("vib") {
            add("saturation", &[number(1.0 + part / 2.0)]);
        }
        if let Some(degrees) = query
            .number("hue", 0.0, 359.0)
            .filter(|degrees| *degrees > 0.0)
        {
            add("hue", &[number(degrees)]);
        }
        if query.flag("invert") == Some(true) {
            add("invert", &[]);
        }
        if let Some(part) = query.number("sepia", 1.0, 100.0) {
            add("sepia", &[number(part)]);
        }
        if let Some(colour) = query.colour("monochrome") {
            add("gray", &[]);
            add("tint", &[rgb(colour)]);
        }
        if let Some((dark, light)) = query.text("duotone").and_then(|text| text.split_once(','))
            && let (Some(dark), Some(light)) = (query::colour(dark), query::colour(light))
        {
            add("duotone", &[rgb(dark), rgb(light)]);
        }
        if let Some(amount) = query.number("sharp", 1.0, 100.0) {
            add("unsharp", &[format!("0x1+{}+0", number(amount / 20.0))]);
        }
        if let Some(amount) = query.number("usm", 1.0, 100.0) {
            let radius = query.number("usmrad", 0.1, 500.0).unwrap_or(2.5);
            add(
                "unsharp",
                &[format!("0x{}+{}+0", number(radius), number(amount / 100.0))],
            );
        }
        if let Some(strength) = query.number("blur", 1.0, 2000.0) {
            add("blur", &[format!("0x{}", number(strength / 20.0))]);
        }
        if let Some(px) = query.number("px", 1.0, 100.0) {
            add("pixelate", &[number(px.round())]);
        }
        let radius = |key| {
            query
                .number(key, 1.0, MOST)
                .map(|px| number((px * self.ratio()).round()))
        };
        let rounded = query
            .lists("mask", "corners")
            .then(|| radius("corner-radius"))
            .flatten();
        let ground = query.colour("mask-bg").map(|colour| colour.to_string());
        let outer = radius("border-radius").filter(|_| rounded.is_none());
        match (rounded, &outer) {
            (Some(px), _) => {
                let args = ground.map_or(vec![px.clone()], |ground| vec![px.clone(), px, ground]);
                add("round", &args);
            }
            (None, None) if query.text("mask") == Some("ellipse") => {
                let args = ["ellipse".to_owned()].into_iter().chain(ground);
                add("mask", &args.collect::<Vec<_>>());
            }
            (None, _) => {}
        }
        if let Some((px, colour)) = query.text("border").and_then(|text| text.split_once(','))
            && let (Ok(px), Some(colour)) = (px.parse::<f64>(), query::colour(colour))
        {
            let px = number((px * self.ratio()).clamp(0.0, MOST).round());
            add("border", &[format!("{px}x{px}"), colour.to_string()]);
        }
        // It rounds the border, if there is one.
        if let Some(px) = outer {
            add("round", &[px]);
        }
        effects.0
    }

    fn margins(&self) -> Option<Step> {
        let side = |key| {
            let px = self
                .query
                .number(key, 0.0, MOST)
                .or_else(|| self.query.number("pad", 0.0, MOST));
            (px.unwrap_or_default() * self.ratio()).round() as u32
        };
        let pad = Pad {
            top: side("pad-top"),
            right: side("pad-right"),
            bottom: side("pad-bottom"),
            left: side("pad-left"),
            colour: self.ground(),
        };
        let shows = [pad.top, pad.right, pad.bottom, pad.left]
            .iter()
            .any(|px| *px > 0);
        shows.then_some(Step::Pad(pad))
    }
}

/// Reads `rect`, the part `x,y,w,h` of an image of this size. Values are px, shares of a side up to 1 or, for x and y,
/// words.
fn rect(text: &str, (width, height): (u32, u32)) -> Option<Step> {
    let parts: Vec<&str> = text.split(',').collect();
    let [x, y, w, h] = parts[..] else {
        return None;
    };
    let px = |text: &str, whole: u32| {
        let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0)?;
        Some(
            if number <= 1.0 {
                number * f64::from(whole)
            } else {
                number
            }
            .round() as u32,
        )
    };
    let start = |text: &str, whole: u32, length: u32, words: [&str; 3]| {
        let room = whole.saturating_sub(length);
        match words.iter().position(|word| *word == text) {
            Some(halves) => Some((u64::from(room) * halves as u64 / 2) as u32),
            None => px(text, whole),
        }
    };
    let (w, h) = (px(w, width)?, px(h, height)?);
    let x = start(x, width, w, ["left", "center", "right"])?;
    let y = start(y, height, h, ["top", "middle", "bottom"])?;
    let inside = w > 0 && h > 0 && x < width && y < height;
    inside.then(|| Step::crop(x, y, w, h))
}

impl Rules for ImgixRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("imgix({};{output})", self.query.canonical())
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let (mut steps, size) = self.before(facts)?;
        steps.extend(self.sizes(size));
        steps.extend(self.effects());
        let size = size_after(&steps, facts)?;
        steps.extend(overlays::steps(&self.query, size, self.ratio()));
        if let Some(ground) = self.query.colour("bg").filter(|ground| ground.a == u8::MAX) {
            steps.push(Step::Flatten(ground));
        }
        steps.extend(self.margins());
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        if is_lossy(format) && !output.lossless {
            let quality = self.query.number("q", 0.0, 100.0);
            let quality = quality.map_or(QUALITY, |quality| quality.max(1.0) as u8);
            output.goal = Some(Goal::Quality(quality));
        }
        if !["jpeg", "avif"].contains(&format) {
            output.chroma = None;
        }
        output.progressive &= format == "jpeg";
        // The last page stands for those that there are not.
        output.frame = output.frame.map(|page| page.min(facts.frames.max(1)));
        // `orient` takes the place of what the image says.
        output.stored_turn = StoredTurn::Verbatim;
        Recipe::of_stored(steps, output).resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut steps = self.turns();
        steps.extend(self.trim());
        steps.extend(self.focus());
        Recipe::of_stored(steps, Output::default()).measures(stored)
    }

    fn materials(&self) -> Vec<String> {
        self.files.clone()
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.wanted())
    }
}
