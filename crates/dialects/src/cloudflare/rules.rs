//! Resolves Cloudflare's options for an image. Cloudflare's service is closed source: sizes follow its documentation
//! and are rounded to the nearest pixel, half away from zero.

mod wish;

use andon_recipe::{
    Colour, Cover, Exact, Facts, Fit, Flatten, Focus, FormatName, Goal, Gravity, Kept, Measure,
    Orient, Orientation, Output, Recipe, ResolveError, Rules, Step, Trim,
};

use super::draw::Drawing;
use super::options::{canonical, point, quality, sides};
use crate::colours;
use crate::effects::{self, is_lossy, number, with};
use crate::geometry::{self, FACES_IF_POSSIBLE, bounds, length, size_after};
use crate::options::Values;

/// The options of a URL, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct CloudflareRules {
    options: Values,
    /// The images that `draw` lays over the result, from the bottom up.
    drawings: Vec<Drawing>,
    output: Output,
}

/// The default quality of results.
const QUALITY: u8 = 85;

impl CloudflareRules {
    pub(super) fn new(options: Values, drawings: Vec<Drawing>) -> Self {
        let format = match options.text("format") {
            Some("auto") => Output::AUTO,
            Some("jpeg" | "jpg" | "baseline-jpeg") => "jpeg",
            Some(format @ ("avif" | "webp" | "png")) => format,
            _ => "",
        };
        let output = Output {
            format: FormatName::new(format).ok(),
            metadata: match options.text("metadata") {
                Some("keep") => Kept::All,
                Some("none") => Kept::None,
                _ => Kept::Copyright,
            },
            progressive: matches!(options.text("format"), Some("jpeg" | "jpg")),
            frame: (options.text("anim") == Some("false")).then_some(1),
            ..Output::default()
        };
        Self {
            options,
            drawings,
            output,
        }
    }

    fn ratio(&self) -> f64 {
        self.options.number("dpr").unwrap_or(1.0)
    }

    fn colour(&self, name: &str) -> Option<Colour> {
        self.options.text(name).and_then(colours::css)
    }

    /// Returns the steps that precede scaling, and the size in px that they leave: turn upright, trim the border, crop,
    /// flip and rotate.
    fn steps_before_scaling(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let mut steps = vec![Step::Orient(Orient)];
        steps.extend(self.border());
        steps.extend(self.part(size_after(&steps, facts)?));
        steps.extend(self.options.text("flip").and_then(geometry::flip));
        let degrees = self
            .options
            .number("rotate")
            .map_or(0, |degrees| degrees as u32);
        steps.extend(geometry::turn(degrees).map(Step::Turn));
        let size = size_after(&steps, facts)?;
        Ok((steps, size))
    }

    fn border(&self) -> Option<Step> {
        (self.options.text("trim") == Some("border")).then_some(Step::Trim(Trim(10)))
    }

    /// Returns the crop that the options `trim` and `trim.…` request, for an image of this size in px.
    fn part(&self, (width, height): (u32, u32)) -> Option<Step> {
        let px = |px: f64| (px * self.ratio()).round() as u32;
        if let Some(sides) = self.options.text("trim").and_then(sides) {
            let [top, right, bottom, left] = sides.map(|side| px(side.into()));
            let rest = |side: u32, one, other| side.saturating_sub(one).saturating_sub(other);
            let (w, h) = (rest(width, left, right), rest(height, top, bottom));
            return Some(Step::crop(left, top, w, h));
        }
        let part = ["trim.left", "trim.top", "trim.width", "trim.height"];
        let part = part.map(|name| self.options.number(name).map(px));
        let [x, y, w, h] = part;
        let (left, top) = (x.unwrap_or(0), y.unwrap_or(0));
        let w = w.unwrap_or_else(|| width.saturating_sub(left));
        let h = h.unwrap_or_else(|| height.saturating_sub(top));
        (part != [None; 4]).then(|| Step::crop(left, top, w, h))
    }

    fn sizes(&self, (width, height): (u32, u32)) -> Vec<Step> {
        let side = |name| Some(self.options.number(name)? * self.ratio());
        let (w, h) = (side("width"), side("height"));
        let fit = self.options.text("fit").unwrap_or("scale-down");
        let enlarge = ["contain", "cover", "pad", "squeeze"].contains(&fit);
        let Some(inside) = bounds(w, h) else {
            return Vec::new();
        };
        let fits = Step::Fit(Fit { inside, enlarge });
        let (Some(w), Some(h)) = (w, h) else {
            return vec![fits];
        };
        let (wide, high) = (f64::from(width), f64::from(height));
        let cover = |w: f64, h: f64, enlarge| {
            let cover = Step::Cover(Cover {
                w: length(w),
                h: length(h),
                gravity: self.gravity(),
                enlarge,
            });
            self.focus().into_iter().chain([cover]).collect()
        };
        match fit {
            "cover" => cover(w, h, true),
            // A box that exceeds the image on one side only limits the other side.
            "crop" => cover(w.min(wide), h.min(high), false),
            "aspect-crop" => {
                let share = (wide / w).min(high / h).min(1.0);
                cover(w * share, h * share, true)
            }
            "pad" => {
                let colour = self.colour("background").unwrap_or(Colour::CLEAR);
                vec![fits, geometry::ground(w, h, colour)]
            }
            "squeeze" => vec![Step::Exact(Exact {
                w: length(w),
                h: length(h),
            })],
            _ => vec![fits],
        }
    }

    fn gravity(&self) -> Gravity {
        match self.options.text("gravity") {
            Some("left") => Gravity::West,
            Some("right") => Gravity::East,
            Some("top") => Gravity::North,
            Some("bottom") => Gravity::South,
            _ => Gravity::Centre,
        }
    }

    fn focus(&self) -> Option<Step> {
        match self.options.text("gravity")? {
            "auto" => Some(Step::Focus(Focus::Salient)),
            "face" => Some(FACES_IF_POSSIBLE),
            text => point(text).map(|(x, y)| geometry::focus(x, y)),
        }
    }

    fn effects(&self) -> Vec<Step> {
        // A factor of 1 changes nothing, and for most options 0 is ignored.
        let factor = |name| self.options.number(name).filter(|factor| *factor != 1.0);
        let above = |name| factor(name).filter(|factor| *factor != 0.0);
        let number_of = |name| self.options.number(name);
        let border = number_of("border.width").zip(self.colour("border.color"));
        effects::steps([
            with("modulate:{}:1:0", above("brightness")),
            with("contrast:{}", above("contrast")),
            with("gamma:{}", above("gamma")),
            with("saturation:{}", factor("saturation")),
            with(
                "unsharp:0x1+{}+0",
                number_of("sharpen").filter(|it| *it > 0.0),
            ),
            with("blur:0x{}", number_of("blur").map(|radius| radius / 2.0)),
            border.map(|(px, colour)| {
                let px = number((px * self.ratio()).round());
                format!("border:{px}x{px}:{colour}")
            }),
        ])
    }
}

impl Rules for CloudflareRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("cloudflare({};{output})", canonical(&self.options))
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let (mut steps, size) = self.steps_before_scaling(facts)?;
        steps.extend(self.sizes(size));
        let ground = self.colour("background").filter(|ground| ground.a > 0);
        steps.extend(ground.map(|colour| Step::Flatten(Flatten(colour))));
        steps.extend(self.effects());
        steps.extend(self.drawings.iter().filter_map(Drawing::step));
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        match self.options.text("quality").and_then(quality) {
            // At 100, WebP becomes lossless; in other formats, 100 is a quality like any other.
            Some(100) if format == "webp" => output.lossless = true,
            Some(_) if format == "png" => {
                output
                    .options
                    .insert("colours".to_owned(), "256".to_owned());
            }
            quality if is_lossy(format) => {
                output.goal = Some(Goal::Quality(quality.unwrap_or(QUALITY)));
            }
            _ => {}
        }
        // Cloudflare keeps metadata in JPEG only.
        if format != "jpeg" {
            output.metadata = Kept::None;
        }
        output.progressive &= format == "jpeg";
        Recipe { steps, output }.resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut steps = vec![Step::Orient(Orient)];
        steps.extend(self.border());
        steps.extend(self.focus());
        Recipe::from(steps).measures(stored)
    }

    fn overlays(&self) -> Vec<String> {
        let drawings = self.drawings.iter();
        drawings.filter_map(Drawing::overlay_name).collect()
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        self.to_wish()
    }
}
