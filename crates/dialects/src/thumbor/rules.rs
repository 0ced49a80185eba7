//! What a URL asks for, and what that comes to for a source.

mod imagor;
mod round;
mod thumbor;

use std::sync::Arc;

use andon_recipe::{
    Canvas, Chroma, Colour, Crop, Facts, Flip, FormatName, Goal, Kept, Measure, Orientation,
    Output, Profile, Recipe, ResolveError, Rules, Step, Turn,
};

use super::filters::Filter;
use super::path::Parts;
use super::{Flavour, Usual};
use crate::effects::is_lossy;
use crate::geometry::keep_salient;

/// The parts of a URL and its filters.
#[derive(Clone, Debug)]
pub(super) struct ThumborRules {
    flavour: Flavour,
    usual: Usual,
    parts: Arc<Parts>,
    filters: Arc<Vec<Filter>>,
    output: Output,
}

impl ThumborRules {
    pub(super) fn new(
        flavour: Flavour,
        usual: Usual,
        parts: Arc<Parts>,
        filters: Vec<Filter>,
    ) -> Self {
        let mut output = Output {
            profile: Profile::Keep,
            metadata: match flavour {
                Flavour::Thumbor => Kept::None,
                Flavour::Imagor => Kept::All,
            },
            ..Output::default()
        };
        for filter in &filters {
            match filter {
                Filter::Format(name) => {
                    let known = format(flavour, name).and_then(|name| FormatName::new(name).ok());
                    output.format = known.or(output.format);
                }
                Filter::StripMetadata => output.metadata = Kept::None,
                Filter::ToSrgb => output.profile = Profile::Srgb,
                Filter::ToP3 => output.profile = Profile::P3,
                Filter::Frame(number) => output.frame = Some(*number),
                Filter::Lossless => output.lossless = true,
                _ => {}
            }
        }
        Self {
            flavour,
            usual,
            parts,
            filters: Arc::new(filters),
            output,
        }
    }

    fn has(&self, filter: &Filter) -> bool {
        self.filters.contains(filter)
    }

    /// The turns before everything else.
    fn upright(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        steps.extend(self.usual.orient.then_some(Step::Orient));
        steps.extend(self.filters.iter().find_map(|filter| match filter {
            Filter::Orient(quarters) => counter_clockwise(*quarters).map(Step::Turn),
            _ => None,
        }));
        steps
    }

    /// The steps that cut the border off, and no other.
    fn trimmed(&self) -> Option<Recipe> {
        let trim = self.parts.trim?;
        let given = trim.tolerance.unwrap_or_default();
        let tolerance = match self.flavour {
            // A distance in red, green and blue together; three equal differences make it 1.73 times one.
            Flavour::Thumbor => (f64::from(given) / 3.0_f64.sqrt()) as u8,
            Flavour::Imagor => given.clamp(1, 255) as u8,
        };
        let mut steps = self.upright();
        let corner = trim.from_end.then_some(Step::Turn(Turn::R180));
        steps.extend(corner.clone());
        steps.push(Step::Trim(tolerance));
        steps.extend(corner);
        Some(Recipe {
            steps,
            output: Output::default(),
        })
    }

    /// Left, top, right and bottom of what is left without the border.
    fn inner(&self, facts: &Facts, size: (u32, u32)) -> Result<Option<[f64; 4]>, ResolveError> {
        let Some(recipe) = self.trimmed() else {
            return Ok(None);
        };
        let resolved = recipe.resolve(facts)?;
        let cut = resolved.steps.iter().find_map(|step| match step {
            Step::Crop(Crop::At { x, y, w, h }) => Some([*x, *y, *w, *h].map(|px| px.of(0.0))),
            _ => None,
        });
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        let Some([x, y, w, h]) = cut else {
            return Ok(Some([0.0, 0.0, width, height]));
        };
        Ok(Some(
            match self.parts.trim.is_some_and(|trim| trim.from_end) {
                // It was measured upside down.
                true => [width - x - w, height - y - h, width - x, height - y],
                false => [x, y, x + w, y + h],
            },
        ))
    }

    fn written(&self, facts: &Facts) -> Output {
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        let lossy = is_lossy(format);
        let said = self.filters.iter().rev().find_map(|filter| match filter {
            Filter::MaxBytes(bytes) => Some(Goal::Bytes(*bytes)),
            _ => None,
        });
        let quality = self.filters.iter().rev().find_map(|filter| match filter {
            // imagor takes 0 for its default.
            Filter::Quality(0) if self.flavour == Flavour::Imagor => None,
            Filter::Quality(quality) => Some((*quality).clamp(1, 100) as u8),
            _ => None,
        });
        output.lossless &= matches!(format, "webp" | "avif" | "jxl");
        output.goal = (lossy && !output.lossless)
            .then(|| said.unwrap_or(Goal::Quality(quality.unwrap_or(self.usual.quality))));
        output.progressive = self.usual.progressive && format == "jpeg";
        output.chroma = output
            .chroma
            .or((output.progressive).then_some(Chroma::C420));
        output
    }
}

impl Rules for ThumborRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("{}{} {output}", self.flavour.word(), self.parts)
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        if self.has(&Filter::Raw) {
            return Ok(Recipe::original());
        }
        let turned =
            self.upright()
                .iter()
                .fold(Orientation::default(), |turned, step| match step {
                    Step::Orient => turned.followed_by(facts.orientation),
                    Step::Turn(turn) => turned.then(*turn),
                    _ => turned,
                });
        let (width, height) = turned.size(facts.width, facts.height);
        let mut picture = Picture {
            width,
            height,
            target: (0, 0),
            asked: (0, 0),
            steps: self.upright(),
        };
        let inner = self.inner(facts, (width, height))?;
        match self.flavour {
            Flavour::Thumbor => self.lay_out_thumbor(&mut picture, inner),
            Flavour::Imagor => self.lay_out_imagor(&mut picture, inner),
        }
        let flip = match self.parts.flip {
            (false, false) => None,
            (true, false) => Some(Flip::Horizontal),
            (false, true) => Some(Flip::Vertical),
            (true, true) => Some(Flip::Both),
        };
        picture.steps.extend(flip.map(Step::Flip));
        for filter in self.filters.iter() {
            self.filter(&mut picture, filter);
        }
        Recipe {
            steps: picture.steps,
            output: self.written(facts),
        }
        .resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let mut recipe = self.trimmed().unwrap_or_default();
        recipe
            .steps
            .extend(self.parts.smart.then_some(Step::Salient));
        recipe.measures(stored)
    }

    crate::rules::kept_output!();
}

impl ThumborRules {
    /// What a filter does in its place.
    fn filter(&self, picture: &mut Picture, filter: &Filter) {
        match filter {
            Filter::Effect(effect) => picture.steps.push(Step::Effect(effect.clone())),
            Filter::Ground(colour) => picture.steps.push(Step::Flatten(*colour)),
            Filter::Rotate(quarters) => {
                if let Some(turn) = counter_clockwise(*quarters) {
                    picture.turn(turn);
                    if turn != Turn::R180 && self.flavour == Flavour::Imagor {
                        picture.asked = (picture.asked.1, picture.asked.0);
                    }
                }
            }
            Filter::Fill(colour) => match self.flavour {
                Flavour::Thumbor => picture.fill(picture.asked, [0; 4], *colour),
                Flavour::Imagor => {
                    let padding = self.parts.padding.unwrap_or_default();
                    picture.fill(picture.asked, padding, *colour);
                }
            },
            Filter::Padding(colour, padding) => picture.fill((0, 0), *padding, *colour),
            Filter::Proportion(factor) => match self.flavour {
                Flavour::Thumbor => picture.proportion_thumbor(*factor),
                Flavour::Imagor => picture.proportion_imagor(*factor),
            },
            Filter::Upscale if self.flavour == Flavour::Thumbor => picture.upscale(),
            Filter::Crop(area) => {
                let [left, top, w, h] = *area;
                picture.crop_imagor([left, top, left + w, top + h], *area);
            }
            _ => {}
        }
    }
}

/// The picture as the steps so far leave it.
struct Picture {
    width: u32,
    height: u32,
    /// The size that was asked for, in whole px.
    target: (u32, u32),
    /// The ground that `fill` lays it on; 0: as long as the picture.
    asked: (u32, u32),
    steps: Vec<Step>,
}

impl Picture {
    fn size(&self) -> (f64, f64) {
        (self.width.into(), self.height.into())
    }

    /// Keeps what lies between these edges, if that is anything.
    fn cut(&mut self, [left, top, right, bottom]: [f64; 4]) {
        // `as` truncates and saturates.
        let (left, top) = ((left as u32).min(self.width), (top as u32).min(self.height));
        let (right, bottom) = (
            (right as u32).min(self.width),
            (bottom as u32).min(self.height),
        );
        if left < right && top < bottom {
            self.steps
                .push(Step::crop(left, top, right - left, bottom - top));
            (self.width, self.height) = (right - left, bottom - top);
        }
    }

    /// Keeps a part around what draws the eye.
    fn cut_salient(&mut self, (w, h): (u32, u32)) {
        self.steps.extend(keep_salient((w, h)));
        (self.width, self.height) = (w, h);
    }

    fn scale(&mut self, width: f64, height: f64) {
        let (width, height) = ((width as u32).max(1), (height as u32).max(1));
        self.steps.push(Step::exact(width, height));
        (self.width, self.height) = (width, height);
    }

    fn turn(&mut self, turn: Turn) {
        self.steps.push(Step::Turn(turn));
        if turn != Turn::R180 {
            (self.width, self.height) = (self.height, self.width);
        }
    }

    /// Lays it on the middle of a ground, with margins around that.
    fn fill(&mut self, ground: (u32, u32), [left, top, right, bottom]: [u32; 4], colour: Colour) {
        let or = |side: u32, own: u32| if side == 0 { own } else { side };
        let (w, h) = (or(ground.0, self.width), or(ground.1, self.height));
        // Halves are cut towards 0, as both programs divide.
        let middle = |ground: u32, side: u32| (i64::from(ground) - i64::from(side)) / 2;
        let place = |at: i64| at.clamp(-1_000_000, 1_000_000) as i32;
        let at = (
            place(middle(w, self.width) + i64::from(left)),
            place(middle(h, self.height) + i64::from(top)),
        );
        let (w, h) = (
            w.saturating_add(left).saturating_add(right),
            h.saturating_add(top).saturating_add(bottom),
        );
        self.steps.push(Step::Canvas(Canvas {
            w,
            h,
            colour,
            at: Some(at),
        }));
        (self.width, self.height) = (w, h);
    }
}

fn counter_clockwise(quarters: u8) -> Option<Turn> {
    match quarters {
        1 => Some(Turn::R270),
        2 => Some(Turn::R180),
        3 => Some(Turn::R90),
        _ => None,
    }
}

/// The engine's name of a format that either flavour knows and the engine writes.
fn format(flavour: Flavour, name: &str) -> Option<&'static str> {
    match name {
        "jpeg" | "jpg" => Some("jpeg"),
        "png" => Some("png"),
        "gif" => Some("gif"),
        "webp" => Some("webp"),
        "avif" => Some("avif"),
        "jxl" if flavour == Flavour::Imagor => Some("jxl"),
        _ => None,
    }
}
