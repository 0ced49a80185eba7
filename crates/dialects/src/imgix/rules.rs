//! Resolves imgix's parameters to a recipe for an image. imgix is closed source: sizes follow its documentation.

mod wish;

use andon_recipe::{
    Chroma, Colour, Cover, Crop, Exact, Facts, Fit, Flatten, Focus, FormatName, Goal, Gravity,
    Kept, Measure, Orient, Orientation, Output, Pad, Profile, Recipe, ResolveError, Rotate, Rules,
    Step, StoredTurn, Trim,
};

use super::options::MOST;
use super::overlays;
use super::query::{canonical, colour, flag, share_or_px};
use crate::effects::{self, is_lossy, number, rgb, with};
use crate::geometry::{self, FACES_IF_POSSIBLE, length, size_after};
use crate::options::Values;

/// The parameters of a query, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct ImgixRules {
    query: Values,
    /// Names of the overlay and mask images.
    files: Vec<String>,
    output: Output,
}

/// The default quality of results.
const QUALITY: u8 = 75;

impl ImgixRules {
    pub(super) fn new(query: Values) -> Self {
        let format = match query.text("fm") {
            Some("jpg" | "pjpg") => "jpeg",
            Some("png8" | "png32") => "png",
            Some(format @ ("png" | "gif" | "webp" | "avif" | "jxl")) => format,
            _ if query.lists("auto", "format") => Output::AUTO,
            _ => "",
        };
        let switch = |name| query.text(name).and_then(flag);
        let page = query.number("page").or_else(|| query.number("frame"));
        let output = Output {
            format: FormatName::new(format).ok(),
            profile: match query.lists("cs", "srgb") || query.lists("cs", "tinysrgb") {
                true => Profile::Srgb,
                false => Profile::default(),
            },
            metadata: match query.lists("cs", "strip") {
                true => Kept::None,
                false => Kept::default(),
            },
            lossless: switch("lossless") == Some(true) && ["webp", "avif", "jxl"].contains(&format),
            progressive: query.text("fm") == Some("pjpg")
                && switch("jpg-progressive") != Some(false),
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

    /// Returns the length in px that the parameter `name` gives for a side. The parameter may be a fraction of `whole`,
    /// the length of the image's own side.
    fn side(&self, name: &str, whole: u32) -> Option<f64> {
        let side = self.query.number(name).filter(|side| *side > 0.0)?;
        Some(share_or_px(side, whole))
    }

    fn ratio(&self) -> f64 {
        let ratio = self.query.number("dpr").filter(|ratio| *ratio > 0.0);
        ratio.unwrap_or(1.0)
    }

    fn colour(&self, name: &str) -> Option<Colour> {
        self.query.text(name).and_then(colour)
    }

    fn ground(&self) -> Colour {
        let solid = self.query.text("fill") == Some("solid");
        let solid = solid.then(|| self.colour("fill-color")).flatten();
        solid.or_else(|| self.colour("bg")).unwrap_or(Colour::WHITE)
    }

    /// Returns the steps that turn and mirror the whole image.
    fn turns(&self) -> Vec<Step> {
        let orient = self.query.number("orient").unwrap_or_default() as u16;
        let turn_step = geometry::turn(orient.into()).map(Step::Turn);
        let mut steps = match (orient, turn_step) {
            (1..=8, _) => Orientation::from_exif(orient).steps().collect(),
            (_, Some(turn)) => vec![turn],
            _ => vec![Step::Orient(Orient)],
        };
        steps.extend(self.query.text("flip").and_then(geometry::flip));
        steps
    }

    fn trim(&self) -> Option<Step> {
        let tolerance = self
            .query
            .number("trim-tol")
            .map_or(10, |levels| levels as u8);
        // The border is trimmed before any other change of geometry, and `rect` takes precedence over it.
        let trims = self.query.is_valid("trim") && !self.query.has("rect");
        trims.then_some(Step::Trim(Trim(tolerance)))
    }

    /// Returns the steps that precede scaling, and the size in px that they leave: turn upright, flip, trim the border,
    /// crop and rotate.
    fn steps_before_scaling(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let mut steps = self.turns();
        steps.extend(self.trim());
        let size = size_after(&steps, facts)?;
        steps.extend(self.query.text("rect").and_then(|text| rect(text, size)));
        let degrees = self.query.number("rot").filter(|degrees| *degrees > 0.0);
        steps.extend(degrees.map(|degrees| {
            Step::Rotate(Rotate {
                degrees,
                colour: self.colour("bg").unwrap_or(Colour::CLEAR),
            })
        }));
        let size = size_after(&steps, facts)?;
        Ok((steps, size))
    }

    /// Returns the aspect ratio of the box, width divided by height; `None` if `ar` is absent, or has no effect with
    /// this `fit`.
    fn aspect(&self, fit: &str) -> Option<f64> {
        let (w, h) = self.query.text("ar")?.split_once(':')?;
        let ratio = w.parse::<f64>().ok()? / h.parse::<f64>().ok()?;
        let sound = ratio.is_finite() && ratio > 0.0;
        (sound && ["crop", "fill", "fillmax", "min"].contains(&fit)).then_some(ratio)
    }

    /// Returns width and height of the box in px, for an image of this size; `None` for a side that the URL does not
    /// limit.
    fn bounds(&self, (width, height): (u32, u32)) -> (Option<f64>, Option<f64>) {
        let fit = self.query.text("fit").unwrap_or_default();
        let mut bounds = (self.side("w", width), self.side("h", height));
        if let Some(ratio) = self.aspect(fit) {
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
        let has_size = self.query.has("w") || self.query.has("h");
        let ratio = if has_size { self.ratio() } else { 1.0 };
        let in_device_px = |side: Option<f64>| side.map(|side| (side * ratio).clamp(1.0, MOST));
        (in_device_px(bounds.0), in_device_px(bounds.1))
    }

    fn sizes(&self, size: (u32, u32)) -> Vec<Step> {
        let fit = self.query.text("fit").unwrap_or("clip");
        let (w, h) = self.bounds(size);
        let Some(inside) = geometry::bounds(w, h) else {
            return Vec::new();
        };
        let enlarge = !["max", "fillmax", "min"].contains(&fit);
        let fits = Step::Fit(Fit { inside, enlarge });
        let (Some(w), Some(h)) = (w, h) else {
            return vec![fits];
        };
        match fit {
            "crop" | "facearea" => match self.zoom() {
                Some(zoom) => self.zoomed(size, (w, h), zoom),
                None => self.cover(w, h),
            },
            "fill" | "clamp" | "fillmax" => vec![fits, geometry::ground(w, h, self.ground())],
            "scale" => vec![exact(w, h)],
            "min" => {
                // Where the image is smaller than the box, the box shrinks in its aspect ratio.
                let share = (f64::from(size.0) / w).min(f64::from(size.1) / h).min(1.0);
                self.cover(w * share, h * share)
            }
            _ => vec![fits],
        }
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

    /// Returns the factor by which to zoom in on the focal point; `None` if it is not more than 1.
    fn zoom(&self) -> Option<f64> {
        let zoom = self.query.number("fp-z");
        zoom.filter(|zoom| *zoom > 1.0 && self.query.lists("crop", "focalpoint"))
    }

    fn focus(&self) -> Option<Step> {
        let share = |name| self.query.number(name).unwrap_or(0.5);
        let says = |word: &&str| self.query.lists("crop", word);
        if says(&"focalpoint") {
            return Some(geometry::focus(share("fp-x"), share("fp-y")));
        }
        if self.query.text("fit") == Some("facearea") || says(&"faces") {
            return Some(FACES_IF_POSSIBLE);
        }
        let smart = ["entropy", "edges"].iter().any(says);
        smart.then_some(Step::Focus(Focus::Salient))
    }

    /// Returns the steps that fill a box of this size in px, and cut off what exceeds it.
    fn cover(&self, w: f64, h: f64) -> Vec<Step> {
        let cover = Step::Cover(Cover {
            w: length(w),
            h: length(h),
            gravity: self.gravity(),
            enlarge: true,
        });
        self.focus().into_iter().chain([cover]).collect()
    }

    /// Returns the steps that fill a box in px with a part of an image of this size. The part has the shape of the box.
    /// It is smaller by the factor `zoom` than the largest such part.
    fn zoomed(&self, size: (u32, u32), (w, h): (f64, f64), zoom: f64) -> Vec<Step> {
        let scale = (w / f64::from(size.0)).max(h / f64::from(size.1)) * zoom;
        let side = |px: f64| length((px / scale).round().max(1.0));
        let part = Step::Crop(Crop::Towards {
            w: side(w),
            h: side(h),
            gravity: Gravity::Centre,
        });
        self.focus()
            .into_iter()
            .chain([part, exact(w, h)])
            .collect()
    }

    /// Returns the effects that change colours.
    fn tones(&self) -> Vec<Step> {
        let query = &self.query;
        let part = |name| {
            query
                .number(name)
                .filter(|part| *part != 0.0)
                .map(|part| part / 100.0)
        };
        let inverts = query.text("invert").and_then(flag) == Some(true);
        let monochrome = self.colour("monochrome");
        let duotone = query.text("duotone").and_then(|text| text.split_once(','));
        let duotone = duotone.and_then(|(dark, light)| colour(dark).zip(colour(light)));
        effects::steps([
            with("brightness:{}", part("bri").map(|part| part * 255.0)),
            with("contrast:{}", part("con").map(|part| 1.0 + part)),
            with("modulate:{}:1:0", part("exp").map(f64::exp2)),
            with("gamma:{}", part("gam").map(f64::exp2)),
            with("saturation:{}", part("sat").map(|part| 1.0 + part)),
            with("saturation:{}", part("vib").map(|part| 1.0 + part / 2.0)),
            with(
                "hue:{}",
                query.number("hue").filter(|degrees| *degrees > 0.0),
            ),
            inverts.then(|| "invert".to_owned()),
            with("sepia:{}", query.number("sepia")),
            monochrome.map(|_| "gray".to_owned()),
            monochrome.map(|colour| format!("tint:{}", rgb(colour))),
            duotone.map(|(dark, light)| format!("duotone:{}:{}", rgb(dark), rgb(light))),
        ])
    }

    /// Returns the effects that sharpen, blur and pixelate.
    fn details(&self) -> Vec<Step> {
        let query = &self.query;
        let strength = |name, whole: f64| query.number(name).map(|number| number / whole);
        let radius = query.number("usmrad").unwrap_or(2.5);
        effects::steps([
            with("unsharp:0x1+{}+0", strength("sharp", 20.0)),
            with(
                &format!("unsharp:0x{}+{{}}+0", number(radius)),
                strength("usm", 100.0),
            ),
            with("blur:0x{}", strength("blur", 20.0)),
            with("pixelate:{}", query.number("px").map(f64::round)),
        ])
    }

    /// Returns the effects on the edges of an image of this size in px: a mask, a border and round corners. Without a
    /// size, a mask image is left out.
    fn edges(&self, size: Option<(u32, u32)>) -> Vec<Step> {
        let query = &self.query;
        let px = |px: f64| number((px * self.ratio()).clamp(0.0, MOST).round());
        let radius = |name| {
            query
                .number(name)
                .map(|px| number((px * self.ratio()).round()))
        };
        let corners = query.lists("mask", "corners");
        let corner_radius = corners.then(|| radius("corner-radius")).flatten();
        let border_radius = radius("border-radius").filter(|_| corner_radius.is_none());
        let ground = self.colour("mask-bg");
        let colour_after =
            |before: &str| ground.map_or(String::new(), |it| format!("{before}{it}"));
        let is_ellipse = query.text("mask") == Some("ellipse") && border_radius.is_none();
        let border = query.text("border").and_then(|text| text.split_once(','));
        let border = border.and_then(|(px, ink)| px.parse::<f64>().ok().zip(colour(ink)));
        let image = size.and_then(|size| overlays::mask(query, size, ground));
        let edges = effects::steps([
            corner_radius.map(|px| format!("round:{px}{}", colour_after(&format!(":{px}:")))),
            is_ellipse.then(|| format!("mask:ellipse{}", colour_after(":"))),
            border.map(|(width, ink)| format!("border:{0}x{0}:{ink}", px(width))),
            // Corners are rounded after the border is drawn, which they then cut.
            border_radius.map(|px| format!("round:{px}")),
        ]);
        image.into_iter().chain(edges).collect()
    }

    fn margins(&self) -> Option<Step> {
        let side = |key| {
            let px = self.query.number(key).or_else(|| self.query.number("pad"));
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

fn exact(w: f64, h: f64) -> Step {
    Step::Exact(Exact {
        w: length(w),
        h: length(h),
    })
}

/// Parses `rect`, the part `x,y,w,h` of an image of this size. Values are px, shares of a side up to 1 or, for x and y,
/// words.
fn rect(text: &str, (width, height): (u32, u32)) -> Option<Step> {
    let parts: Vec<&str> = text.split(',').collect();
    let [x, y, w, h] = parts[..] else {
        return None;
    };
    let px = |text: &str, whole: u32| {
        let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0)?;
        Some(share_or_px(number, whole).round() as u32)
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
    let is_inside = w > 0 && h > 0 && x < width && y < height;
    is_inside.then(|| Step::crop(x, y, w, h))
}

impl Rules for ImgixRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("imgix({};{output})", canonical(&self.query))
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let (mut steps, size) = self.steps_before_scaling(facts)?;
        steps.extend(self.sizes(size));
        steps.extend(self.tones());
        steps.extend(self.details());
        let size = size_after(&steps, facts)?;
        steps.extend(self.edges(Some(size)));
        let size = size_after(&steps, facts)?;
        steps.extend(overlays::steps(&self.query, size, self.ratio()));
        let ground = self.colour("bg").filter(|ground| ground.a == u8::MAX);
        steps.extend(ground.map(|colour| Step::Flatten(Flatten(colour))));
        steps.extend(self.margins());
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        if is_lossy(format) && !output.lossless {
            let quality = self.query.number("q");
            let quality = quality.map_or(QUALITY, |quality| quality.max(1.0) as u8);
            output.goal = Some(Goal::Quality(quality));
        }
        if !["jpeg", "avif"].contains(&format) {
            output.chroma = None;
        }
        output.progressive &= format == "jpeg";
        // A page that does not exist stands for the last one.
        output.frame = output.frame.map(|page| page.min(facts.frames.max(1)));
        // `orient` replaces the orientation that the image states.
        output.stored_turn = StoredTurn::Verbatim;
        Recipe::of_stored(steps, output).resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut steps = self.turns();
        steps.extend(self.trim());
        steps.extend(self.focus());
        Recipe::of_stored(steps, Output::default()).measures(stored)
    }

    fn overlays(&self) -> Vec<String> {
        self.files.clone()
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }
}
