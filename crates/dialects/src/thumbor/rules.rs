//! Resolves the parts and filters of a thumbor or imagor URL to a recipe for a source.

mod imagor;
mod round;
mod thumbor;
mod wish;

use std::sync::Arc;

use andon_recipe::{
    Area, Background, Canvas, Chroma, Colour, Effect, Facts, Flatten, Flip, FormatName, Goal, Kept,
    Measure, Orient, Orientation, Output, Profile, Recipe, ResolveError, Rules, Step, StoredTurn,
    Turn,
};

use super::colours::Ground;
use super::filters::Filter;
use super::flavour::Flavour;
use super::nested::overlay_step;
use super::path::{Parts, Trim};
use crate::effects::is_lossy;
use crate::geometry::keep_salient;

/// The parts and filters of a URL, and how they are resolved to a recipe for a source.
#[derive(Clone, Debug)]
pub(super) struct ThumborRules {
    flavour: Flavour,
    defaults: Defaults,
    parts: Arc<Parts>,
    filters: Arc<Vec<Filter>>,
    output: Output,
    /// Whether the source is only a colour, which fills the requested size.
    plain: bool,
}

/// Settings of the configuration that apply where a URL specifies nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Defaults {
    /// Whether images are turned upright.
    pub(super) orient: bool,
    pub(super) quality: u8,
    pub(super) progressive: bool,
    /// Maximum requested width and height in px, to which larger ones are reduced; 0: no maximum.
    pub(super) most: (u32, u32),
}

impl ThumborRules {
    pub(super) fn new(
        flavour: Flavour,
        defaults: Defaults,
        parts: Arc<Parts>,
        filters: Vec<Filter>,
        plain: bool,
    ) -> Self {
        let mut output = Output {
            profile: Profile::Keep,
            metadata: match flavour {
                Flavour::Thumbor => Kept::None,
                Flavour::Imagor => Kept::Public,
            },
            ..Output::default()
        };
        for filter in &filters {
            match filter {
                Filter::Format(name) => {
                    let engine_format = flavour
                        .format(name)
                        .and_then(|name| FormatName::new(name).ok());
                    output.format = match flavour {
                        // In thumbor, an unknown format cancels an earlier one.
                        Flavour::Thumbor => engine_format,
                        Flavour::Imagor => engine_format.or(output.format),
                    };
                }
                Filter::StripMetadata => output.metadata = Kept::None,
                Filter::ToSrgb => output.profile = Profile::Srgb,
                Filter::ToP3 => output.profile = Profile::P3,
                Filter::Frame(number) => output.frame = Some(*number),
                Filter::MostFrames(most) => output.most_frames = Some(*most),
                Filter::Lossless => output.lossless = true,
                _ => {}
            }
        }
        if plain && output.format.is_none() {
            output.format = FormatName::new("jpeg").ok();
        }
        Self {
            flavour,
            defaults,
            parts,
            filters: Arc::new(filters),
            output,
            plain,
        }
    }

    fn has(&self, filter: &Filter) -> bool {
        self.filters.contains(filter)
    }

    /// Returns the turns that precede all other steps.
    fn upright(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        steps.extend(self.defaults.orient.then_some(Step::Orient(Orient)));
        steps.extend(self.filters.iter().find_map(|filter| match filter {
            Filter::Orient(turn) => turn.map(Step::Turn),
            _ => None,
        }));
        steps
    }

    /// Returns the measurement of the border to trim, for an image that will be turned as `turns` says.
    fn border(&self, turns: Orientation) -> Option<Measure> {
        let trim = self.trim()?;
        let tolerance = trim.tolerance.unwrap_or_default();
        // With `from_end`, the corner is the one opposite the first.
        let (right, bottom) = turns.first_corner();
        let corner = (right != trim.from_end, bottom != trim.from_end);
        Some(match self.flavour {
            Flavour::Thumbor => Measure::TrimDistance {
                tolerance: tolerance.min(510) as u16,
                corner,
            },
            Flavour::Imagor => Measure::Trim {
                tolerance: tolerance.clamp(1, 255) as u8,
                corner,
            },
        })
    }

    /// Whether imagor sends the result as an animation, whose border it does not trim. Always false for thumbor.
    fn moves(&self, facts: &Facts) -> bool {
        self.flavour == Flavour::Imagor
            && facts.frames > 1
            && self.output.frame.is_none()
            && matches!(self.output.format_or(&facts.format), "gif" | "webp")
    }

    /// Returns how the border is trimmed, if the URL asks for that. imagor also has a filter that trims the part of the
    /// border that is left after the steps before it.
    fn trim(&self) -> Option<Trim> {
        self.parts.trim.or_else(|| {
            self.filters.iter().find_map(|filter| match filter {
                Filter::Trim(trim) => Some(*trim),
                _ => None,
            })
        })
    }

    /// Returns how an image with this stored orientation is turned before it is cropped.
    fn orientation(&self, stored: Orientation) -> Orientation {
        let turn = |turns: Orientation, step: &Step| match step {
            Step::Orient(Orient) => turns.followed_by(stored),
            Step::Turn(turn) => turns.then(*turn),
            _ => turns,
        };
        self.upright().iter().fold(Orientation::default(), turn)
    }

    /// Returns left, top, right and bottom edge of the image without its border, in px; `None` if it is not trimmed.
    fn inner(&self, facts: &Facts, turns: Orientation) -> Result<Option<[f64; 4]>, ResolveError> {
        let Some(border) = self.border(turns) else {
            return Ok(None);
        };
        let Some(Area { x, y, w, h }) = facts.measured.area(border) else {
            return Err(ResolveError::new("trim", "the border was not measured"));
        };
        let stored = (f64::from(facts.width), f64::from(facts.height));
        let part = [x, y, x + w, y + h].map(f64::from);
        Ok(Some(turns.part(part, stored)))
    }

    fn output_for(&self, facts: &Facts) -> Output {
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        let lossy = is_lossy(format);
        // A page that does not exist stands for the last one.
        output.frame = output.frame.map(|page| page.min(facts.frames.max(1)));
        let size_goal = self.filters.iter().rev().find_map(|filter| match filter {
            Filter::MaxBytes(bytes) => Some(Goal::BytesOrShortest(*bytes)),
            _ => None,
        });
        let quality = self.filters.iter().rev().find_map(|filter| match filter {
            // In imagor, a quality of 0 stands for the default.
            Filter::Quality(0) if self.flavour == Flavour::Imagor => None,
            Filter::Quality(quality) => Some((*quality).clamp(1, 100) as u8),
            _ => None,
        });
        output.lossless &= matches!(format, "webp" | "avif" | "jxl");
        output.goal = (lossy && !output.lossless)
            .then(|| size_goal.unwrap_or(Goal::Quality(quality.unwrap_or(self.defaults.quality))));
        if format == "png" {
            self.set_png_options(&mut output);
        }
        output.progressive = self.defaults.progressive && format == "jpeg";
        output.chroma = output
            .chroma
            .or((output.progressive).then_some(Chroma::C420));
        output
    }
}

impl ThumborRules {
    /// Adds the PNG settings that filters request to the output.
    fn set_png_options(&self, output: &mut Output) {
        let mut colours: Option<u16> = None;
        for filter in self.filters.iter() {
            match filter {
                Filter::Depth(bits) => output.depth = Some(*bits),
                Filter::Colours(most) => {
                    colours = Some(colours.map_or(*most, |fewest| fewest.min(*most)));
                }
                Filter::Level(level) => {
                    let level = level.to_string();
                    output.options.insert("level".to_owned(), level);
                }
                _ => {}
            }
        }
        if let Some(most) = colours {
            // A palette has indexes of eight bits at most, so that no other depth applies.
            output.depth = None;
            let most = most.to_string();
            output.options.insert("colours".to_owned(), most);
        }
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
        let turns = self.orientation(facts.orientation);
        let (width, height) = turns.size(facts.width, facts.height);
        let mut image = Image {
            width,
            height,
            requested_size: (0, 0),
            content: None,
            alpha: facts.alpha,
            moves: self.moves(facts),
            steps: self.upright(),
        };
        let mut inner = match image.moves {
            true => None,
            false => self.inner(facts, turns)?,
        };
        if self.parts.trim.is_none() {
            image.content = inner.take();
        }
        match self.flavour {
            Flavour::Thumbor => self.lay_out_thumbor(&mut image, inner),
            Flavour::Imagor if self.plain => self.lay_out_plain(&mut image),
            Flavour::Imagor => self.lay_out_imagor(&mut image, inner),
        }
        if let Some(flip) = self.parts.mirroring() {
            image.flip(flip);
        }
        for filter in self.filters.iter() {
            self.filter(&mut image, filter);
        }
        let mut output = Output {
            stored_turn: StoredTurn::Verbatim,
            ..self.output_for(facts)
        };
        let may_be_clear = facts.alpha || image.steps.iter().any(may_clear);
        if may_be_clear && output.format_or(&facts.format) == "jpeg" {
            output.background = Background::Colour(Colour::BLACK);
        }
        Recipe::of_stored(image.steps, output).resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let border = self.border(self.orientation(stored));
        let salient = self.parts.smart.then_some(Measure::Salient);
        border.into_iter().chain(salient).collect()
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }

    fn overlays(&self) -> Vec<String> {
        self.filters.iter().flat_map(Filter::files).collect()
    }
}

impl ThumborRules {
    /// Adds the steps of one filter to `image`. Filters are passed in the order of the URL.
    fn filter(&self, image: &mut Image, filter: &Filter) {
        let size = (image.width, image.height);
        match filter {
            Filter::Effect(effect) => image.steps.push(Step::Effect(effect.clone())),
            Filter::Overlay(overlay, nested) => {
                image
                    .steps
                    .extend(overlay_step(overlay, nested.as_deref(), size));
            }
            Filter::Text(text) => image.steps.extend(text.step(size)),
            Filter::Pixelate(side) => image.pixelate(*side),
            Filter::Ground(Ground::Colour(colour)) => {
                image.steps.push(Step::Flatten(Flatten(*colour)))
            }
            Filter::Ground(ground) => {
                let effect = ground.effect((0, 0), size);
                image.steps.extend(effect.map(Step::Effect));
            }
            Filter::Rotate(Some(turn)) => {
                image.turn(*turn);
                if *turn != Turn::R180 && self.flavour == Flavour::Imagor {
                    image.requested_size = (image.requested_size.1, image.requested_size.0);
                }
            }
            Filter::Fill(ground) => match self.flavour {
                // Python rounds a quotient down, and Go towards 0.
                Flavour::Thumbor => {
                    image.fill(image.requested_size, [0; 4], *ground, |room| {
                        room.div_euclid(2)
                    });
                }
                Flavour::Imagor => {
                    let padding = self.parts.padding.unwrap_or_default();
                    image.fill(image.requested_size, padding, *ground, |room| room / 2);
                }
            },
            Filter::Trim(_) => image.trim(),
            Filter::Padding(ground, padding) => {
                image.fill((0, 0), *padding, *ground, |room| room / 2)
            }
            Filter::Proportion(factor) => match self.flavour {
                Flavour::Thumbor => image.proportion_thumbor(*factor),
                Flavour::Imagor => image.proportion_imagor(*factor),
            },
            Filter::Upscale if self.flavour == Flavour::Thumbor => image.upscale(),
            Filter::Crop(area) => {
                let [left, top, w, h] = *area;
                image.crop_imagor([left, top, left + w, top + h], *area);
            }
            _ => {}
        }
    }
}

/// The image after the steps so far: its size, and what later steps depend on.
struct Image {
    width: u32,
    height: u32,
    /// The requested size in px, which is also the size of the background of `fill`; 0: the image's own side.
    requested_size: (u32, u32),
    /// Left, top, right and bottom edge in px of the image without its border; `None` if nothing is to be trimmed, or
    /// if it has been.
    content: Option<[f64; 4]>,
    /// Whether the source may have transparent pixels.
    alpha: bool,
    /// Whether imagor sends the image as an animation.
    moves: bool,
    steps: Vec<Step>,
}

impl Image {
    fn size(&self) -> (f64, f64) {
        (self.width.into(), self.height.into())
    }

    /// Crops to these edges, which are in px and truncated, unless nothing would be left.
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
            self.move_content((1.0, 1.0), (-f64::from(left), -f64::from(top)));
        }
    }

    /// Crops to a part of this size around the most salient place.
    fn cut_salient(&mut self, (w, h): (u32, u32)) {
        self.steps.extend(keep_salient((w, h)));
        (self.width, self.height) = (w, h);
        // The place of the crop is not known, and so neither that of the border.
        self.content = None;
    }

    /// Scales the edges of [`Self::content`] by the factors `by`, and moves them by `to` px.
    fn move_content(&mut self, by: (f64, f64), to: (f64, f64)) {
        self.content = self.content.map(|[left, top, right, bottom]| {
            let across = |x: f64| (x * by.0 + to.0).clamp(0.0, self.width.into());
            let down = |y: f64| (y * by.1 + to.1).clamp(0.0, self.height.into());
            [across(left), down(top), across(right), down(bottom)]
        });
    }

    /// Pixelates the image into squares of `side` px. First, each side of the image is enlarged or cropped to the
    /// nearest multiple of `side`, so that all squares are whole.
    fn pixelate(&mut self, side: u32) {
        if side <= 1 {
            return;
        }
        let (width, height) = (self.width, self.height);
        let whole = |length: u32| {
            let squares = (f64::from(length) / f64::from(side)).round().max(1.0) as u32;
            squares.saturating_mul(side)
        };
        let (w, h) = (whole(width), whole(height));
        if w > width || h > height {
            self.scale(w.max(width).into(), h.max(height).into());
        }
        let squares = Effect::new("pixelate", vec![side.to_string()]).ok();
        self.steps.extend(squares.map(Step::Effect));
        self.cut([0.0, 0.0, w.into(), h.into()]);
    }

    /// Cuts off what is left of the border after the steps so far.
    fn trim(&mut self) {
        if let Some([left, top, right, bottom]) = self.content.take() {
            self.cut([left.floor(), top.floor(), right.ceil(), bottom.ceil()]);
        }
    }

    fn flip(&mut self, flip: Flip) {
        self.steps.push(Step::Flip(flip));
        let (width, height) = self.size();
        self.content = self.content.map(|[left, top, right, bottom]| {
            let (across, down) = (flip != Flip::Vertical, flip != Flip::Horizontal);
            let (left, right) = if across {
                (width - right, width - left)
            } else {
                (left, right)
            };
            let (top, bottom) = if down {
                (height - bottom, height - top)
            } else {
                (top, bottom)
            };
            [left, top, right, bottom]
        });
    }

    fn scale(&mut self, width: f64, height: f64) {
        let (width, height) = ((width as u32).max(1), (height as u32).max(1));
        self.steps.push(Step::exact(width, height));
        let (across, down) = self.size();
        (self.width, self.height) = (width, height);
        self.move_content(
            (f64::from(width) / across, f64::from(height) / down),
            (0.0, 0.0),
        );
    }

    fn turn(&mut self, turn: Turn) {
        self.steps.push(Step::Turn(turn));
        let (orientation, size) = (Orientation::default().then(turn), self.size());
        self.content = self.content.map(|content| orientation.part(content, size));
        (self.width, self.height) = orientation.size(self.width, self.height);
    }

    /// Places the image in the middle of a background of the size `ground` in px (0: the image's own side), and adds
    /// margins in px to the background. `half` divides by 2, rounding as the program does.
    fn fill(
        &mut self,
        ground: (u32, u32),
        [left, top, right, bottom]: [u32; 4],
        mut background: Ground,
        half: fn(i64) -> i64,
    ) {
        if self.moves && background == Ground::Blurred {
            // imagor has no blurred background for animations, and takes the unknown colour for black.
            background = Ground::Colour(Colour::BLACK);
        }
        let or = |side: u32, image_side: u32| if side == 0 { image_side } else { side };
        let (w, h) = (or(ground.0, self.width), or(ground.1, self.height));
        let middle = |ground: u32, side: u32| half(i64::from(ground) - i64::from(side));
        let place = |at: i64| at.clamp(-1_000_000, 1_000_000) as i32;
        let at = (
            place(middle(w, self.width) + i64::from(left)),
            place(middle(h, self.height) + i64::from(top)),
        );
        let (w, h) = (
            w.saturating_add(left).saturating_add(right),
            h.saturating_add(top).saturating_add(bottom),
        );
        let is_opaque = !self.alpha && self.steps.iter().all(keeps_opaque);
        self.steps.push(Step::Canvas(Canvas {
            w,
            h,
            colour: background.canvas(),
            at: Some(at),
        }));
        if let Some(effect) = background.effect(at, (self.width, self.height)) {
            self.steps.push(Step::Effect(effect));
            // Flattening declares that the result is opaque, as the blurred background of an opaque image is.
            let shows = is_opaque && background == Ground::Blurred;
            self.steps
                .extend(shows.then_some(Step::Flatten(Flatten(Colour::WHITE))));
        }
        (self.width, self.height) = (w, h);
        self.move_content((1.0, 1.0), (at.0.into(), at.1.into()));
    }
}

/// Whether a step may make an opaque image transparent.
fn may_clear(step: &Step) -> bool {
    match step {
        Step::Canvas(canvas) => canvas.colour.a < u8::MAX,
        Step::Effect(effect) => effect.name == "round" && effect.args.len() < 3,
        _ => false,
    }
}

/// Whether an opaque image certainly stays opaque in a step.
fn keeps_opaque(step: &Step) -> bool {
    !matches!(step, Step::Canvas(_) | Step::Effect(_))
}
