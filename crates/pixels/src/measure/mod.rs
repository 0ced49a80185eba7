//! Measurements of a source's pixels that recipes need before sizes and positions can be planned. Each kind of
//! measurement has a file of its own.
//!
//! Images of more than a few megapixels are measured on a reduced decode, where the format has one. When the border of
//! an animation is measured, every frame is examined.

#[cfg_attr(not(feature = "faces"), path = "no_faces.rs")]
mod faces;
mod salient;
mod trim;

use std::fmt;

use andon_recipe::{Area, Measure, Measured, Orientation, Rules, Step};

use crate::codec::{AnimationDecoder, Codec, Decode, Info, Scale, Scales};
use crate::color::Convert;
use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Frame, Model, Traits};
use crate::limits::{Bound, Interrupt, Limits};
use crate::plan;
use crate::sequence::Timed;
use crate::stage::{Context, Stage};

/// Planned measurements of one source, and their cost. `Display` is a line such as `measure jpeg 1/2 | trim:10 from the
/// upper left`.
pub struct Measurement {
    measures: Vec<Measure>,
    source: &'static dyn Codec,
    info: Info,
    scale: Scale,
    /// The decoder of an animation, if the measurement examines all of its frames.
    animation: Option<&'static dyn AnimationDecoder>,
    to_rgb: Convert,
    nanos: u64,
    file: u64,
    /// Bytes allocated in addition to the source file.
    memory: u64,
}

/// An analysis that examines an image frame by frame.
trait Analysis {
    /// Examines a frame, which is in RGB.
    fn look(&mut self, frame: &Frame, interrupt: &dyn Interrupt) -> Result<()>;

    /// Returns the measured areas; `None`, which stands for the whole image, if nothing was found.
    fn areas(&self) -> Option<Vec<Area>>;
}

/// Returns an error for measurements that this build does not support.
pub(crate) fn can_be_looked_for(measures: &[Measure]) -> Result<()> {
    match measures.contains(&Measure::Faces) {
        true => faces::can_be_found(),
        false => Ok(()),
    }
}

fn analysis(measure: Measure, stored: Orientation) -> Box<dyn Analysis> {
    match measure {
        Measure::Trim { tolerance, corner } => Box::new(trim::Trim::new(
            trim::Metric::Greatest,
            tolerance.into(),
            corner,
        )),
        Measure::TrimDistance { tolerance, corner } => {
            Box::new(trim::Trim::new(trim::Metric::Distance, tolerance, corner))
        }
        Measure::TrimColour { tolerance, colour } => Box::new(trim::Trim::keyed(tolerance, colour)),
        Measure::Salient => Box::new(salient::Salient::default()),
        Measure::Faces => Box::new(faces::Faces::upright(stored)),
    }
}

impl Measurement {
    /// Plans the measurements that `rules` need of the image in `bytes`; `None` if they need none, or the header is
    /// enough.
    pub(crate) fn of(formats: &Formats, rules: &dyn Rules, bytes: &[u8]) -> Result<Option<Self>> {
        let measures = rules.measures(Orientation::default());
        if measures.is_empty() {
            return Ok(None);
        }
        let for_faces = measures.contains(&Measure::Faces);
        can_be_looked_for(&measures)?;
        // Only measurements that decide a size need every frame at a large scale; a small first frame is enough for
        // others.
        let needs_detail = measures.iter().any(|it| it.decides_size());
        let (source, info) = formats.header(bytes)?;
        formats.limits.check_source(&info)?;
        if !needs_detail {
            let gain_map = plan::planner::gain_map(source, &info, bytes);
            let measured = Measured::default();
            let facts = plan::planner::facts(source, &info, bytes, gain_map.is_some(), &measured);
            let recipe = rules.resolve(&facts).map_err(Error::of_rules)?;
            if !recipe.steps.iter().any(Step::is_to_be_measured) {
                return Ok(None);
            }
        }
        let moving = source.animation().filter(|_| needs_detail);
        let moving = moving.and_then(|decoder| Some((decoder, decoder.composed(&info)?)));
        let (animation, composed) = moving.unzip();
        let scale = match (animation, needs_detail, for_faces) {
            (Some(_), ..) => {
                formats.limits.check_frames(&info, info.frames)?;
                Scale::FULL
            }
            (None, true, _) => scale(source, &info, MOST_PIXELS),
            (None, false, true) => scale(source, &info, MANY_PIXELS),
            (None, false, false) => scale(source, &info, FEW_PIXELS),
        };
        let traits = composed.unwrap_or_else(|| source.decoded(&info, Scales::both(scale)));
        let mut measurement = Self {
            measures: rules.measures(info.orientation),
            source,
            scale,
            animation,
            to_rgb: Convert {
                to: Traits {
                    model: Model::Rgb,
                    ..traits
                },
                from: traits.space,
            },
            nanos: 0,
            file: bytes.len() as u64,
            memory: 0,
            info,
        };
        measurement.estimate(traits, for_faces);
        within(
            Bound::MEMORY,
            measurement.peak_bytes(),
            formats.limits.memory,
        )?;
        Ok(Some(measurement))
    }

    /// Estimates the time and memory to examine frames that are decoded with these traits.
    fn estimate(&mut self, traits: Traits, for_faces: bool) {
        let (width, height) = self.info.scaled(self.scale);
        let frame = plan::frame_bytes((width, height), traits);
        let rgb_bytes = plan::frame_bytes((width, height), self.to_rgb.to);
        // An animation needs its canvas, and a copy of the canvas before the current frame.
        let (times, canvas) = match self.animation {
            Some(_) => (u64::from(self.info.frames), 2 * frame),
            None => (1, 0),
        };
        let scales = Scales::both(self.scale);
        let decoding = (self.source).decode_cost(self.file / times, &self.info, scales);
        let converting = self.to_rgb.cost(width, height, traits);
        let pixels = u64::from(width) * u64::from(height);
        let mut nanos = decoding.nanos + converting.nanos + pixels * NANOS_PER_PIXEL;
        let mut analysis_bytes = rgb_bytes.saturating_add(converting.scratch);
        if for_faces {
            let search = faces::cost(width, height);
            nanos += search.nanos;
            analysis_bytes = analysis_bytes.saturating_add(search.scratch);
        }
        self.nanos = nanos.saturating_mul(times);
        self.memory = decoding
            .scratch
            .max(analysis_bytes)
            .saturating_add(frame + canvas);
    }

    /// The name of the source's format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.info.format
    }

    /// Returns the estimated cost of the measurement. Its scratch memory is all memory except for the file.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost {
            nanos: self.nanos,
            scratch: self.memory,
        }
    }

    /// Returns the peak memory in bytes, the source file included.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.file.saturating_add(self.memory)
    }

    /// Performs the measurements on the file that they were planned for.
    pub(crate) fn run(
        &self,
        bytes: &[u8],
        limits: &Limits,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Measured> {
        let stored = self.info.orientation;
        let analyses = self.measures.iter().map(|&it| analysis(it, stored));
        let mut analyses: Vec<_> = analyses.collect();
        let context = Context {
            overlays: &|effect| Err(Error::Internal(format!("{effect} is not measured"))),
            draw: &|_| Err(Error::Internal("texts are not measured".to_owned())),
            interrupt,
            cores,
        };
        let mut look = |frame: Frame| {
            context.check()?;
            let rgb = match frame.model {
                Model::Rgb => frame,
                _ => self.to_rgb.apply(frame, &context)?,
            };
            analyses
                .iter_mut()
                .try_for_each(|analysis| analysis.look(&rgb, interrupt))
        };
        let how = Decode {
            scales: Scales::both(self.scale),
            limits,
            interrupt,
            cores,
            keep_metadata: false,
        };
        if let Some(decoder) = self.animation {
            let mut reader = decoder.open(bytes, &self.info, &how)?;
            while let Some(Timed { frame, .. }) = reader.next()? {
                look(frame)?;
            }
        } else {
            look(self.source.decode(bytes, &self.info, &how)?.frame)?;
        }
        let whole = Area {
            x: 0,
            y: 0,
            w: self.info.width,
            h: self.info.height,
        };
        let areas = analyses.iter().map(|analysis| match analysis.areas() {
            Some(areas) => areas.into_iter().map(|area| self.stored(area)).collect(),
            None => vec![whole],
        });
        Ok(self.measures.iter().copied().zip(areas).collect())
    }

    /// Converts an area of the decoded image to one of the stored image: all px that it was made of.
    fn stored(&self, area: Area) -> Area {
        let eighths = u64::from(self.scale.0);
        let along = |start: u32, length: u32, side: u32| {
            let first = u64::from(start) * 8 / eighths;
            let end = (u64::from(start + length) * 8).div_ceil(eighths);
            // Both lie within the side, so they fit into a u32.
            let (first, end) = (first as u32, end.min(side.into()) as u32);
            (first, end - first)
        };
        let (x, w) = along(area.x, area.w, self.info.width);
        let (y, h) = along(area.y, area.h, self.info.height);
        Area { x, y, w, h }
    }
}

/// Returns the largest scale with at most `most` pixels, or the smallest scale available.
fn scale(source: &dyn Codec, info: &Info, most: u64) -> Scale {
    let scales = source.scales(info);
    let few = |scale: &&Scale| {
        let (width, height) = info.scaled(**scale);
        u64::from(width) * u64::from(height) <= most
    };
    let largest = scales.iter().rev().find(few).or(scales.first());
    largest.copied().unwrap_or(Scale::FULL)
}

/// Maximum number of pixels that are examined for borders, if the format can be decoded at a smaller scale.
const MOST_PIXELS: u64 = 4 << 20;

/// Maximum number of pixels that are decoded to search for faces. The search reduces the image further.
const MANY_PIXELS: u64 = 1 << 20;

/// Maximum number of pixels that are decoded to search for the area that draws the eye. The search reduces the image to
/// a few large cells.
const FEW_PIXELS: u64 = 1 << 18;

/// Nanoseconds to examine a pixel, measured on one core.
const NANOS_PER_PIXEL: u64 = 3;

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "measure {}", self.info.format)?;
        if self.scale != Scale::FULL {
            write!(f, " {}", plan::fraction(self.scale))?;
        }
        if self.animation.is_some() {
            write!(f, " {} frames", self.info.frames)?;
        }
        self.measures
            .iter()
            .try_for_each(|measure| write!(f, " | {measure}"))
    }
}

impl fmt::Debug for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Measurement({self})")
    }
}
