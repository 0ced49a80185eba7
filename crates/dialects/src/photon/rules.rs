//! Resolves Photon's arguments to a recipe for an image.

use andon_recipe::{
    Bounds, Canvas, Colour, Cover, Crop, Facts, Fit, FormatName, Goal, Gravity, Kept, Length,
    Measure, Orient, Orientation, Output, Recipe, ResolveError, Rules, Step, Trim, Wish,
};

use super::options::{Arguments, Side, crop, pair, side};
use crate::effects::{self, is_lossy, with};
use crate::geometry::size_after;

/// The arguments of a request, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct PhotonRules {
    arguments: Arguments,
    output: Output,
}

/// How much colours within a border may differ, in levels of 255.
const TOLERANCE: u8 = 10;

impl PhotonRules {
    pub(super) fn new(arguments: Arguments) -> Self {
        let metadata = match arguments.text("strip") {
            Some("all" | "info") => Kept::None,
            _ => Kept::Copyright,
        };
        Self {
            arguments,
            output: Output {
                format: FormatName::new(Output::AUTO).ok(),
                metadata,
                ..Output::default()
            },
        }
    }

    /// Returns the values of `w` and `h`.
    fn sides(&self) -> [Option<&str>; 2] {
        ["w", "h"].map(|name| self.arguments.text(name))
    }

    /// Whether this argument is the first one of `w` and `h` in the URL.
    fn is_first_side(&self, name: &str) -> bool {
        let mut all = self.arguments.all();
        let first = all.find(|(row, _)| ["w", "h"].contains(&row.name()));
        first.is_some_and(|(row, _)| row.name() == name)
    }

    /// Whether the image is cropped to the box of `w` and `h`.
    fn crops_to_box(&self) -> bool {
        matches!(self.arguments.text("crop"), Some("1" | "true"))
    }

    fn border(&self) -> Option<Step> {
        let cuts = matches!(self.arguments.text("ulb"), Some("1" | "true"));
        cuts.then_some(Step::Trim(Trim(TOLERANCE)))
    }

    /// Returns the steps for one argument, for an image of this size in px.
    fn steps_of(&self, name: &str, value: &str, (width, height): (u32, u32)) -> Vec<Step> {
        let zoom = self.arguments.number("zoom").unwrap_or(1.0);
        let px = |px: f64| Length::Px((px * zoom).round().clamp(1.0, Length::MAX_PX));
        let length = |text: &str, whole: u32| match side(text) {
            Some(Side::Px(length)) => Some(px(length)),
            Some(Side::Percent(share)) => Some(px(f64::from(whole) * share / 100.0)),
            None => None,
        };
        let enlarge = false;
        let fit = |inside| vec![Step::Fit(Fit { inside, enlarge })];
        let cover = |w, h| {
            let (gravity, enlarge) = (Gravity::Centre, true);
            vec![Step::Cover(Cover {
                w,
                h,
                gravity,
                enlarge,
            })]
        };
        let box_px = pair(value).map(|(w, h)| (px(w), px(h)));
        match (name, box_px) {
            // Together, `w` and `h` are one step, at the place of the first one.
            ("w" | "h", _) if let [Some(w), Some(h)] = self.sides() => {
                let [w, h] = [length(w, width), length(h, height)];
                match w.zip(h).filter(|_| self.is_first_side(name)) {
                    Some((w, h)) if self.crops_to_box() => cover(w, h),
                    Some((w, h)) => fit(Bounds::Both(w, h)),
                    None => Vec::new(),
                }
            }
            ("w", _) => length(value, width).map_or_else(Vec::new, |w| fit(Bounds::Width(w))),
            ("h", _) => length(value, height).map_or_else(Vec::new, |h| fit(Bounds::Height(h))),
            ("resize", Some((w, h))) => cover(w, h),
            ("fit", Some((w, h))) => fit(Bounds::Both(w, h)),
            ("lb", Some((w, h))) => {
                let whole = |length: Length| length.of(0.0) as u32;
                let mut steps = vec![Step::Fit(Fit {
                    inside: Bounds::Both(w, h),
                    enlarge: true,
                })];
                steps.push(Step::Canvas(Canvas {
                    w: whole(w),
                    h: whole(h),
                    colour: Colour::BLACK,
                    at: None,
                }));
                steps
            }
            ("crop", _) => crop(value).map_or_else(Vec::new, |sides| {
                let [x, y, w, h] = sides.map(|side| match side {
                    Side::Px(px) => Length::Px(px),
                    Side::Percent(share) => Length::Percent(share.min(100.0)),
                });
                vec![Step::Crop(Crop::At { x, y, w, h })]
            }),
            _ => effect(name, value),
        }
    }
}

/// Returns the effect of an argument on colours, or nothing if it has none.
fn effect(name: &str, value: &str) -> Vec<Step> {
    let number = value.parse::<f64>().ok();
    effects::steps([match (name, value) {
        ("filter", "negate") => Some("invert".to_owned()),
        ("filter", "grayscale") => Some("gray".to_owned()),
        ("filter", "sepia") => Some("sepia".to_owned()),
        ("filter", "blurgaussian") => Some("blur:0x1".to_owned()),
        ("brightness", _) => with("brightness:{}", number),
        // PHP's image library computes this factor, from numbers with the opposite sign.
        ("contrast", _) => with("contrast:{}", number.map(|c| ((100.0 + c) / 100.0).powi(2))),
        _ => None,
    }])
}

impl Rules for PhotonRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("photon({};{output})", self.arguments.canonical())
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let mut steps = vec![Step::Orient(Orient)];
        steps.extend(self.border());
        for (row, value) in self.arguments.all() {
            if row.takes.accepts(value) {
                let size = size_after(&steps, facts)?;
                steps.extend(self.steps_of(row.name(), value, size));
            }
        }
        let mut output = self.output.clone();
        let format = output.format_or(&facts.format).to_owned();
        if is_lossy(&format) {
            let default_quality = if format == "jpeg" { 89.0 } else { 80.0 };
            let quality = self.arguments.number("quality").unwrap_or(default_quality);
            output.goal = Some(Goal::Quality(quality.round() as u8));
        }
        Recipe { steps, output }.resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut steps = vec![Step::Orient(Orient)];
        steps.extend(self.border());
        Recipe::from(steps).measures(stored)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<Wish> {
        const LARGE: (u32, u32) = (1 << 19, 1 << 19);
        let mut steps: Vec<Step> = self.border().into_iter().collect();
        let mut beyond = Vec::new();
        for (row, value) in self.arguments.all() {
            let is_share = ["w", "h"].contains(&row.name()) && value.ends_with('%');
            match is_share {
                true => beyond.push(format!("{}={value}", row.name())),
                false => steps.extend(self.steps_of(row.name(), value, LARGE)),
            }
        }
        let mut output = self.output.clone();
        let quality = self.arguments.number("quality");
        output.goal = quality.map(|quality| Goal::Quality(quality.round() as u8));
        Some(Wish {
            beyond,
            ..Wish::of(&Recipe { steps, output })
        })
    }
}
