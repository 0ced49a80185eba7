//! imgproxy's rules: they resolve the options of a URL to a recipe for a source.

mod mark;
mod wish;

use std::collections::BTreeSet;
use std::sync::Arc;

use andon_recipe::{
    Area, Canvas, Chroma, Colour, Effect, Facts, FormatName, Goal, Kept, Measure, Orient,
    Orientation, Output, Profile, Recipe, ResolveError, Rules, Step, StoredTurn, Turn,
};

use super::effects;
use super::formats;
use super::gravity::Gravity;
use super::layout::{Layout, Size};
use super::options::{Extend, Options, Trim};
use super::row::About;
use super::table;
use crate::effects::is_lossy;
use crate::geometry::keep_around;

/// The options of a URL, with the settings of the configuration for all images.
#[derive(Clone, Debug)]
pub(super) struct ImgproxyRules {
    pub(super) options: Options,
    pub(super) common: Arc<CommonSettings>,
    /// Output settings that do not follow from the options of the URL: the format that `Accept` has selected, the
    /// background, and options of the encoder.
    pub(super) output: Output,
}

/// Settings of the configuration for all images.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CommonSettings {
    /// Formats in which sources of the same format are sent. Results of all other sources get the first of these
    /// formats that can represent them.
    pub(super) preferred: Vec<&'static str>,
    /// The watermark, if one is configured.
    pub(super) watermark: Option<Mark>,
}

/// The configured watermark: its file, its size in px if that is configured, and its opacity from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) file: String,
    pub(super) size: Option<(u32, u32)>,
    pub(super) opacity: f64,
}

impl Rules for ImgproxyRules {
    fn text(&self) -> String {
        let mut texts = table::texts(&self.options, &Options::default(), |kind| {
            kind == About::Image || kind == About::Limit
        });
        let selected_format = self.output.format.as_ref().map(FormatName::as_str);
        if selected_format != self.options.format {
            texts.push(format!("as:{}", selected_format.unwrap_or("source")));
        }
        format!("imgproxy({})", texts.join("/"))
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let options = &self.options;
        if self.is_skipped(facts) || self.is_drawing(facts) {
            return Ok(Recipe::original());
        }
        if self.asks_for_drawing() {
            let why = format!("an SVG is made of no {} image", facts.format);
            return Err(ResolveError::new("f:svg", why).of_source());
        }
        let megapixels = f64::from(facts.width) * f64::from(facts.height) / 1e6;
        let most = options.limits.resolution;
        if most > 0.0 && megapixels > most {
            let why = format!("the image has {megapixels:.1} megapixels, more than {most}");
            return Err(ResolveError::new(format_args!("msr:{most}"), why).of_source());
        }
        let mut steps = Vec::new();
        let mut current = facts.clone();
        for options in &options.earlier_pipelines {
            let pipeline = Self {
                options: options.clone(),
                common: self.common.clone(),
                output: self.output.clone(),
            };
            let ((width, height), pipeline_steps) =
                pipeline.steps_of_pipeline(&current, &mut "png")?;
            let alpha = pipeline.expects_alpha(&current);
            current = Facts {
                width: px(width),
                height: px(height),
                orientation: Orientation::default(),
                alpha,
                ..current
            };
            steps.extend(pipeline_steps);
        }
        let mut format = self.format(&current);
        let (_, pipeline_steps) = self.steps_of_pipeline(&current, &mut format)?;
        steps.extend(pipeline_steps);
        let output = Output {
            stored_turn: StoredTurn::Verbatim,
            ..self.output_for(&current, format)
        };
        Recipe::of_stored(steps, output).resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let gravities = |options: &Options| [options.gravity, options.crop_gravity()];
        let gravities = self.options.pipelines().flat_map(gravities);
        let detections: Vec<Step> = gravities.filter_map(Gravity::detection).collect();
        let border = self.trim().map(border).into_iter();
        border
            .chain(Recipe::from(detections).measures(stored))
            .collect()
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }

    fn overlays(&self) -> Vec<String> {
        let configured_file = self.common.watermark.as_ref().map(|mark| &mark.file);
        let pipelines = self.options.pipelines().map(|options| &options.watermark);
        let visible_marks = pipelines.filter(|mark| mark.opacity > 0.0 && mark.text.is_none());
        let files: BTreeSet<&String> = visible_marks
            .filter_map(|mark| mark.file.as_ref().or(configured_file))
            .collect();
        files.into_iter().cloned().collect()
    }
}

/// Format name of vector graphics.
pub(super) const SVG: &str = "svg";

/// The shortest side of an AVIF, in px. Results with a shorter side get another format.
const LEAST_AVIF: i64 = 16;

impl ImgproxyRules {
    /// Returns the steps of one pipeline, and the size in px of its result. Replaces `format` if it cannot represent
    /// that size.
    fn steps_of_pipeline(
        &self,
        facts: &Facts,
        format: &mut &str,
    ) -> Result<(Size, Vec<Step>), ResolveError> {
        let options = &self.options;
        let area = self.area_without_border(facts)?;
        let turns = self.orientation(facts.orientation);
        let vector = facts.format == SVG;
        let layout = Layout::new(
            options,
            (area.w, area.h),
            turns,
            vector,
            formats::longest(format),
        );
        let (width, height) = layout.size();
        if *format == "avif" && width.min(height) < LEAST_AVIF {
            *format = if self.expects_alpha(facts) {
                "png"
            } else {
                "jpeg"
            };
        }
        let ground = match (options.background, *format) {
            (Some(Colour { r, g, b, .. }), _) => {
                let a = if *format == "jpeg" {
                    255
                } else {
                    opacity(options.background_alpha)
                };
                Colour { r, g, b, a }
            }
            (None, "jpeg") => self.output.background.colour().unwrap_or(Colour::WHITE),
            (None, _) => Colour::CLEAR,
        };
        let mut steps: Vec<Step> = self.turns().collect();
        let stored = (f64::from(facts.width), f64::from(facts.height));
        let part = [area.x, area.y, area.x + area.w, area.y + area.h].map(f64::from);
        let [left, top, ..] = turns.part(part, stored);
        let (w, h) = turns.size(area.w, area.h);
        steps.push(Step::crop(left as u32, top as u32, w, h));
        steps.extend(self.geometry(&layout));
        let shrinks = layout.scaled_size.0 < layout.crop.2 || layout.scaled_size.1 < layout.crop.3;
        let kept_size = (layout.kept_part.2, layout.kept_part.3);
        steps.extend(effects::steps(&options.effects, kept_size, shrinks));
        for &(size, place) in &layout.grounds {
            steps.push(canvas(size, place, ground));
        }
        if let Some((width, height)) = layout.last {
            steps.push(Step::exact(px(width), px(height)));
        }
        if options.background.is_some() {
            steps.push(canvas((width, height), (0, 0), ground));
        }
        steps.extend(self.mark(&layout));
        Ok(((width, height), steps))
    }

    /// Whether the source is sent unchanged because the URL skips processing for its format and requests no other
    /// format.
    fn is_skipped(&self, facts: &Facts) -> bool {
        let same = self
            .requested_format()
            .is_none_or(|format| format == facts.format);
        same && self.options.skip.contains(&&*facts.format)
    }

    /// Whether the source is an SVG that is sent unchanged because no other format is requested.
    fn is_drawing(&self, facts: &Facts) -> bool {
        facts.format == SVG && self.requested_format().is_none_or(|format| format == SVG)
    }

    fn asks_for_drawing(&self) -> bool {
        self.requested_format() == Some(SVG)
    }

    /// Returns the format that the URL names. For `best`, it is the one that `Accept` has selected.
    fn requested_format(&self) -> Option<&str> {
        match self.options.format {
            Some(Output::AUTO) => self.output.format.as_ref().map(FormatName::as_str),
            named => named,
        }
    }

    /// Returns the combination of all turns of the stored image: upright first, then those of the options.
    fn orientation(&self, stored: Orientation) -> Orientation {
        let upright = match self.options.auto_rotate {
            true => stored,
            false => Orientation::default(),
        };
        let option_turns =
            self.turns()
                .fold(Orientation::default(), |orientation, step| match step {
                    Step::Turn(turn) => orientation.then(turn),
                    Step::Flip(flip) => orientation.flipped(flip),
                    _ => orientation,
                });
        upright.followed_by(option_turns)
    }

    fn turns(&self) -> impl Iterator<Item = Step> {
        use andon_recipe::Flip::{Both, Horizontal, Vertical};
        let turn = match self.options.rotate {
            90 => Some(Turn::R90),
            180 => Some(Turn::R180),
            270 => Some(Turn::R270),
            _ => None,
        };
        let flip = match self.options.flip {
            (true, true) => Some(Both),
            (true, false) => Some(Horizontal),
            (false, true) => Some(Vertical),
            (false, false) => None,
        };
        let upright = self.options.auto_rotate.then_some(Step::Orient(Orient));
        upright
            .into_iter()
            .chain(turn.map(Step::Turn))
            .chain(flip.map(Step::Flip))
    }

    /// Returns how the border is trimmed. Only the first pipeline trims, because only it sees the source.
    fn trim(&self) -> Option<&Trim> {
        let first = self.options.pipelines().next()?;
        first.trim.as_ref()
    }

    /// Returns the area of the stored image without its border.
    fn area_without_border(&self, facts: &Facts) -> Result<Area, ResolveError> {
        let whole = Area {
            x: 0,
            y: 0,
            w: facts.width,
            h: facts.height,
        };
        let Some(trim) = self
            .trim()
            .filter(|_| self.options.earlier_pipelines.is_empty())
        else {
            return Ok(whole);
        };
        let area = facts.measured.area(border(trim));
        let area = area.ok_or_else(|| ResolveError::new("t", "the border was not measured"))?;
        let (x, w) = even_cuts(trim.equal.0, (area.x, area.w), whole.w);
        let (y, h) = even_cuts(trim.equal.1, (area.y, area.h), whole.h);
        Ok(Area { x, y, w, h })
    }

    /// Whether the result may have transparent pixels.
    fn expects_alpha(&self, facts: &Facts) -> bool {
        let options = &self.options;
        let Extend { on: extend, .. } = options.extend;
        let bars = extend || options.extend_ratio.on || options.padding != [0; 4];
        options.background.is_none() && (facts.alpha || bars)
    }

    /// Returns the name of the result's format.
    fn format<'a>(&'a self, facts: &'a Facts) -> &'a str {
        let selected_format = self.output.format.as_ref().map(FormatName::as_str);
        if let Some(format) = selected_format.or(self.requested_format()) {
            return format;
        }
        let preferred = &self.common.preferred;
        if preferred.contains(&&*facts.format) {
            return &facts.format;
        }
        let (moves, alpha) = (self.moves(facts), self.expects_alpha(facts));
        let fits =
            |format: &&&str| (!moves || formats::moves(format)) && (!alpha || **format != "jpeg");
        let first = preferred.iter().find(fits).or(preferred.first());
        first.copied().unwrap_or("jpeg")
    }

    /// Whether the result may have more than one frame.
    fn moves(&self, facts: &Facts) -> bool {
        facts.frames > 1 && self.options.limits.frames > 1 && !self.options.still
    }

    fn output_for(&self, facts: &Facts, format: &str) -> Output {
        let options = &self.options;
        let lossless = options.lossless && format == "webp";
        let mut settings = self.output.options.clone();
        let is_near_lossless = options.near_lossless && format == "webp";
        settings.extend(is_near_lossless.then(|| ("near-lossless".to_owned(), NEAR.to_string())));
        let has_palette = options.colours > 0 && format == "png";
        settings.extend(has_palette.then(|| ("colours".to_owned(), options.colours.to_string())));
        let by_format = options.format_quality.get(format).copied().unwrap_or(0);
        let quality = [options.quality, by_format, 80]
            .into_iter()
            .find(|quality| *quality > 0);
        let goal = match options.max_bytes {
            _ if !is_lossy(format) || lossless || is_near_lossless => None,
            0 => quality.map(Goal::Quality),
            bytes => Some(Goal::BytesOrShortest(bytes)),
        };
        let chroma = match (format, options.thins_chroma) {
            ("jpeg", _) => options.full_chroma.then_some(Chroma::C444),
            ("avif", Some(true)) => Some(Chroma::C420),
            ("avif", Some(false)) => Some(Chroma::C444),
            _ => None,
        };
        let moves = self.moves(facts) && formats::moves(format);
        let frame = (!moves).then(|| options.page.max(1));
        Output {
            format: FormatName::new(format).ok(),
            goal,
            lossless,
            frame,
            profile: options.profile.unwrap_or(match options.strip_profile {
                true => Profile::Srgb,
                false => Profile::Keep,
            }),
            options: settings,
            metadata: match (options.strip_metadata, options.keep_copyright) {
                (true, true) => Kept::Copyright,
                (true, false) => Kept::None,
                (false, _) => Kept::All,
            },
            progressive: match format {
                "jpeg" => options.progressive_jpeg,
                "png" => options.interlaced_png,
                _ => false,
            },
            chroma,
            ..self.output.clone()
        }
    }

    /// Returns the steps that crop and scale, which precede the effects.
    fn geometry(&self, layout: &Layout) -> Vec<Step> {
        let options = &self.options;
        let keep = |gravity: Gravity, (x, y, w, h): (i64, i64, i64, i64)| match gravity.detection()
        {
            Some(sought) => keep_around(sought, (px(w), px(h))).to_vec(),
            None => vec![Step::crop(px(x), px(y), px(w), px(h))],
        };
        let mut steps = keep(options.crop_gravity(), layout.crop);
        steps.push(Step::exact(
            px(layout.scaled_size.0),
            px(layout.scaled_size.1),
        ));
        steps.extend(keep(options.gravity, layout.kept_part));
        steps
    }
}

/// Returns the measurement that finds the border to trim.
fn border(trim: &Trim) -> Measure {
    // The threshold in whole levels; `as` saturates.
    let tolerance = trim.threshold as u8;
    match trim.colour {
        Some(Colour { r, g, b, .. }) => Measure::TrimColour {
            tolerance,
            colour: [r, g, b],
        },
        None => Measure::Trim {
            tolerance,
            corner: (false, false),
        },
    }
}

/// Returns start and length of the part of a side that is kept. With `equal`, the smaller of the two cuts is made at
/// both ends.
fn even_cuts(equal: bool, (start, length): (u32, u32), whole: u32) -> (u32, u32) {
    let margin = start.min(whole - start - length);
    match equal {
        true => (margin, whole - 2 * margin),
        false => (start, length),
    }
}

/// The default level of libwebp's near-lossless compression, where 100 changes nothing.
const NEAR: u8 = 60;

fn effect(name: &str, args: Vec<String>) -> Option<Step> {
    Effect::new(name, args).ok().map(Step::Effect)
}

fn canvas((w, h): (i64, i64), (x, y): (i64, i64), colour: Colour) -> Step {
    let place = |at: i64| i32::try_from(at).unwrap_or(i32::MAX);
    Step::Canvas(Canvas {
        w: px(w),
        h: px(h),
        colour,
        at: Some((place(x), place(y))),
    })
}

fn opacity(share: f64) -> u8 {
    (share * 255.0).round() as u8
}

/// Converts the length of a side, in px. A length that no image has saturates, so that a limit refuses it.
fn px(side: i64) -> u32 {
    u32::try_from(side).unwrap_or(u32::MAX)
}
