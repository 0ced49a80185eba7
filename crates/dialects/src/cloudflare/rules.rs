//! Resolves the options for an image. The service is closed source: sizes follow its documentation and are rounded to
//! the nearest pixel, half away from zero.

mod wish;

use andon_recipe::{
    Bounds, Canvas, Colour, Facts, Flip, FormatName, Goal, Gravity, Kept, Length, Measure,
    Orientation, Output, Recipe, ResolveError, Rules, Step, Turn,
};

use super::options::Options;
use crate::effects::{Effects, is_lossy, number};
use crate::geometry::{FACES_IF_POSSIBLE, size_after};

/// What the options of a URL ask for, before the image is known.
#[derive(Clone, Debug)]
pub(super) struct CloudflareRules {
    pub(super) options: Options,
    pub(super) output: Output,
}

/// The quality of results whose URL does not set one.
const QUALITY: u8 = 85;

impl CloudflareRules {
    pub(super) fn new(options: Options) -> Self {
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
        Self { options, output }
    }

    fn ratio(&self) -> f64 {
        self.options.number("dpr").unwrap_or(1.0)
    }

    /// Returns the steps that precede scaling, and the size in px that they leave: turn upright, trim the border, crop,
    /// flip and rotate.
    fn before(&self, facts: &Facts) -> Result<(Vec<Step>, (u32, u32)), ResolveError> {
        let options = &self.options;
        let mut steps = vec![Step::Orient];
        steps.extend(self.border());
        let size = size_after(&steps, facts)?;
        let px = |px: f64| (px * self.ratio()).round() as u32;
        if let Some([top, right, bottom, left]) = options.sides() {
            let [top, right, bottom, left] = [top, right, bottom, left].map(|side| px(side.into()));
            let length =
                |side: u32, one: u32, other: u32| side.saturating_sub(one).saturating_sub(other);
            steps.push(Step::crop(
                left,
                top,
                length(size.0, left, right),
                length(size.1, top, bottom),
            ));
        } else if ["trim.width", "trim.height", "trim.left", "trim.top"]
            .iter()
            .any(|key| options.text(key).is_some())
        {
            let at = |key| options.number(key).map(px);
            let (x, y) = (at("trim.left").unwrap_or(0), at("trim.top").unwrap_or(0));
            let w = at("trim.width").unwrap_or_else(|| size.0.saturating_sub(x));
            let h = at("trim.height").unwrap_or_else(|| size.1.saturating_sub(y));
            steps.push(Step::crop(x, y, w, h));
        }
        steps.extend(match options.text("flip") {
            Some("h") => Some(Step::Flip(Flip::Horizontal)),
            Some("v") => Some(Step::Flip(Flip::Vertical)),
            Some(_) => Some(Step::Flip(Flip::Both)),
            None => None,
        });
        steps.extend(match options.text("rotate") {
            Some("90") => Some(Step::Turn(Turn::R90)),
            Some("180") => Some(Step::Turn(Turn::R180)),
            Some("270") => Some(Step::Turn(Turn::R270)),
            _ => None,
        });
        let size = size_after(&steps, facts)?;
        Ok((steps, size))
    }

    fn border(&self) -> Option<Step> {
        (self.options.text("trim") == Some("border")).then_some(Step::Trim(10))
    }

    fn sizes(&self, (width, height): (u32, u32)) -> Vec<Step> {
        let side = |key| self.options.number(key).map(|side| side * self.ratio());
        let px = |px: f64| Length::px(px).unwrap_or(Length::Px(Length::MAX_PX));
        let fit = self.options.text("fit").unwrap_or("scale-down");
        let enlarge = ["contain", "cover", "pad", "squeeze"].contains(&fit);
        let (w, h) = match (side("width"), side("height")) {
            (None, None) => return Vec::new(),
            (Some(w), Some(h)) => (w, h),
            (w, h) => {
                let inside = match (w, h) {
                    (Some(w), _) => Bounds::Width(px(w)),
                    (None, h) => Bounds::Height(px(h.unwrap_or(1.0))),
                };
                return vec![Step::Fit { inside, enlarge }];
            }
        };
        let fits = Step::Fit {
            inside: Bounds::Both(px(w), px(h)),
            enlarge,
        };
        let (wide, high) = (f64::from(width), f64::from(height));
        let mut steps: Vec<Step> = self.focus().into_iter().collect();
        let cover = |w: f64, h: f64, enlarge| Step::Cover {
            w: px(w),
            h: px(h),
            gravity: self.gravity(),
            enlarge,
        };
        match fit {
            "cover" => steps.push(cover(w, h, true)),
            // A box that is larger on one side only cuts the other.
            "crop" => steps.push(cover(w.min(wide), h.min(high), false)),
            "aspect-crop" => {
                let share = (wide / w).min(high / h).min(1.0);
                steps.push(cover(w * share, h * share, true));
            }
            "pad" => {
                let side = |px: f64| (px.round() as u32).max(1);
                let ground = Canvas {
                    w: side(w),
                    h: side(h),
                    colour: self.options.colour("background").unwrap_or(Colour::CLEAR),
                    at: None,
                };
                return vec![fits, Step::Canvas(ground)];
            }
            "squeeze" => return vec![Step::Exact { w: px(w), h: px(h) }],
            _ => return vec![fits],
        }
        steps
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
        match self.options.text("gravity") {
            Some("auto") => return Some(Step::Salient),
            Some("face") => return Some(FACES_IF_POSSIBLE),
            _ => {}
        }
        let (x, y) = self.options.point()?;
        Some(Step::Focus {
            x: Length::Percent(x * 100.0),
            y: Length::Percent(y * 100.0),
        })
    }

    fn effects(&self) -> Vec<Step> {
        let options = &self.options;
        let mut effects = Effects::default();
        let mut add = |name: &str, args: &[String]| effects.add(name, args);
        // 0 is ignored, and 1 changes nothing.
        let factor = |key| {
            options
                .number(key)
                .filter(|factor| *factor != 0.0 && *factor != 1.0)
        };
        if let Some(factor) = factor("brightness") {
            add(
                "modulate",
                &[number(factor), "1".to_owned(), "0".to_owned()],
            );
        }
        if let Some(factor) = factor("contrast") {
            add("contrast", &[number(factor)]);
        }
        if let Some(factor) = factor("gamma") {
            add("gamma", &[number(factor)]);
        }
        if let Some(factor) = options.number("saturation").filter(|factor| *factor != 1.0) {
            add("saturation", &[number(factor)]);
        }
        if let Some(amount) = options.number("sharpen").filter(|amount| *amount > 0.0) {
            add("unsharp", &[format!("0x1+{}+0", number(amount))]);
        }
        if let Some(strength) = options.number("blur") {
            add("blur", &[format!("0x{}", number(strength / 2.0))]);
        }
        if let (Some(colour), Some(px)) = (
            options.colour("border.color"),
            options.number("border.width"),
        ) {
            let px = number((px * self.ratio()).round());
            add("border", &[format!("{px}x{px}"), colour.to_string()]);
        }
        effects.0
    }
}

impl Rules for CloudflareRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("cloudflare({};{output})", self.options.canonical())
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let (mut steps, size) = self.before(facts)?;
        steps.extend(self.sizes(size));
        if let Some(ground) = self
            .options
            .colour("background")
            .filter(|ground| ground.a > 0)
        {
            steps.push(Step::Flatten(ground));
        }
        steps.extend(self.effects());
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        match self.options.quality() {
            // So it is said of this format alone.
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
        // Only JPEG keeps metadata there.
        if format != "jpeg" {
            output.metadata = Kept::None;
        }
        output.progressive &= format == "jpeg";
        Recipe { steps, output }.resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut steps = vec![Step::Orient];
        steps.extend(self.border());
        steps.extend(self.focus());
        Recipe::from(steps).measures(stored)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        self.wanted()
    }
}
