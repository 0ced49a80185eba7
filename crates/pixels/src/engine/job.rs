//! One run of a plan for a still image: decode, stages, encode.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use andon_recipe::Effect;

use super::{Decoded, Engine, Timings};
use crate::codec::{AnimationDecoder, Decode, Info, Tags, Text};
use crate::color::profile_of;
use crate::cores::Cores;
use crate::error::{Error, Result};
use crate::frame::{Frame, GainMap, Image, Metadata};
use crate::limits::{Damaged, Interrupt};
use crate::plan::search::Search;
use crate::plan::{Drawing, Frames, GainMapPlan, Part, Pipeline, Plan, Tag};
use crate::profiles;
use crate::space;
use crate::stage::{Context, OverlaySource};

/// One run of a plan, with its environment.
pub(super) struct Job<'a> {
    pub(super) engine: &'a Engine,
    pub(super) overlays: &'a dyn OverlaySource,
    pub(super) interrupt: &'a dyn Interrupt,
    pub(super) cores: &'a dyn Cores,
    /// Whether the source turned out to be damaged and was shown only in part.
    pub(super) damaged: Cell<bool>,
    /// Characters of the text in drawings for which no font has a glyph.
    pub(super) undrawn: RefCell<Vec<char>>,
}

impl Job<'_> {
    /// Records characters of a drawing for which no font has a glyph.
    pub(super) fn lacks(&self, letters: &[char]) {
        let mut undrawn = self.undrawn.borrow_mut();
        for letter in letters {
            if !undrawn.contains(letter) {
                undrawn.push(*letter);
            }
        }
    }

    /// Whether `result` failed because of damage to the source that the limits tolerate. If so, the job is marked as
    /// damaged.
    pub(super) fn forgives<T>(&self, result: &Result<T>) -> bool {
        let is_tolerated = self.engine.formats.limits.damaged == Damaged::Shown;
        let forgiven = is_tolerated && matches!(result, Err(Error::Broken { .. }));
        self.damaged.set(self.damaged.get() || forgiven);
        forgiven
    }

    /// Converts the source to the result without decoding, if that was planned and succeeds.
    pub(super) fn recoded(
        &self,
        pipeline: &Pipeline,
        plan: &Plan,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Option<Vec<u8>>> {
        let Some(recoder) = pipeline.recoder else {
            return Ok(None);
        };
        let start = Instant::now();
        let body = recoder.recode(bytes, plan.info(), plan.format(), &self.how(pipeline))?;
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// Applies the stages of a plan to the decoded source.
    pub(super) fn still(
        &self,
        decoded: Decoded,
        pipeline: &Pipeline,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Image> {
        let load = |effect: &Effect| self.overlay(effect);
        let draw = |text: &Text<'_>| self.whole(&self.engine.formats.drawings()?.text(text)?);
        let context = self.context(&load, &draw);
        timings.decode = decoded.time;
        self.damaged.set(self.damaged.get() || decoded.damaged);

        let start = Instant::now();
        let Image {
            frame,
            mut metadata,
            undrawn,
            ..
        } = decoded.image;
        self.lacks(&undrawn);
        let frame = self.finished(pipeline, frame, &mut metadata, &context)?;
        let gain_map = match &pipeline.gain_map {
            Some(map_plan) => self.gain_map(map_plan, pipeline, bytes, &context)?,
            None => None,
        };
        timings.stages = start.elapsed();
        Ok(Image {
            metadata,
            gain_map,
            ..Image::still(frame)
        })
    }

    /// Decodes the gain map and applies the stages that keep it aligned with its image; `None` if the map is broken,
    /// unsupported or over a limit.
    pub(super) fn gain_map(
        &self,
        map_plan: &GainMapPlan,
        pipeline: &Pipeline,
        bytes: &[u8],
        context: &Context<'_>,
    ) -> Result<Option<Box<GainMap>>> {
        let how = Decode {
            scales: map_plan.scales,
            keep_metadata: false,
            ..self.how(pipeline)
        };
        let stages = |frame| {
            let mut stages = map_plan.stages.iter();
            stages.try_fold(frame, |frame, stage| stage.apply(frame, context))
        };
        match map_plan
            .decoder
            .decode_gain_map(bytes, &how)
            .and_then(stages)
        {
            Ok(frame) => Ok(Some(Box::new(GainMap {
                frame,
                quality: map_plan.quality,
                params: map_plan.params.clone(),
            }))),
            Err(Error::Broken { .. } | Error::Unsupported { .. } | Error::Limit { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn context<'a>(
        &'a self,
        overlays: &'a dyn Fn(&Effect) -> Result<Image>,
        draw: &'a dyn Fn(&Text<'_>) -> Result<Image>,
    ) -> Context<'a> {
        Context {
            overlays,
            draw,
            interrupt: self.interrupt,
            cores: self.cores,
        }
    }

    /// Applies all stages of a plan to a decoded frame, and makes its profile and metadata describe the result.
    pub(super) fn finished(
        &self,
        pipeline: &Pipeline,
        mut frame: Frame,
        metadata: &mut Metadata,
        context: &Context<'_>,
    ) -> Result<Frame> {
        if (frame.width, frame.height) != pipeline.decoded {
            return Err(Error::Internal(format!(
                "{} decoded {}×{} px where {}×{} were planned",
                pipeline.source.name(),
                frame.width,
                frame.height,
                pipeline.decoded.0,
                pipeline.decoded.1
            )));
        }
        for stage in &pipeline.stages {
            context.check()?;
            frame = stage.apply(frame, context)?;
        }
        profiles::settle(metadata, pipeline.kept, pipeline.orientation);
        frame.colour = match pipeline.tag {
            Tag::Own if profiles::describes(&frame) => frame.colour,
            Tag::Own | Tag::None => space::Colour::default(),
            Tag::Space(space) => space.into(),
        };
        let by_profile = matches!(pipeline.encoder.tags(), Tags::Icc | Tags::IccAndCodePoints);
        if by_profile && frame.colour.icc.is_none() {
            frame.colour.icc = profile_of(frame.colour.space);
        }
        metadata.icc = frame.colour.icc.clone();
        Ok(frame)
    }

    pub(super) fn how<'a>(&'a self, pipeline: &Pipeline) -> Decode<'a> {
        Decode {
            scales: pipeline.scales,
            limits: &self.engine.formats.limits,
            interrupt: self.interrupt,
            cores: self.cores,
            keep_metadata: pipeline.reads_metadata(),
        }
    }

    /// Decodes the frame of the source that the stages of a plan begin with, unless `decoded` already holds it.
    pub(super) fn decoded(
        &self,
        decoded: Option<Decoded>,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
    ) -> Result<Decoded> {
        if self.interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        if let Some(decoded) = decoded {
            return Ok(decoded);
        }
        if let Frames::Nth { decoder, .. } | Frames::All { decoder, .. } = pipeline.frames {
            return self.nth(pipeline.frames.count(), decoder, pipeline, info, bytes);
        }
        let start = Instant::now();
        let (source, how) = (pipeline.source, self.how(pipeline));
        let (image, damaged) = match (&pipeline.drawing, &pipeline.part) {
            (
                Some(Drawing {
                    decoder, window, ..
                }),
                _,
            ) => (decoder.draw(bytes, info, &how, window)?, false),
            (None, None) => self.engine.decode_or_salvage(source, bytes, info, &how)?,
            (None, Some(part)) => {
                let Part {
                    decoder,
                    index,
                    area,
                } = part;
                let index = (**index).as_ref();
                let part = decoder.decode_part(bytes, info, &how, index, *area)?;
                (part, false)
            }
        };
        Ok(Decoded {
            image,
            damaged,
            time: start.elapsed(),
        })
    }

    /// Decodes one frame of an animation, which requires composing all frames before it.
    fn nth(
        &self,
        number: u32,
        decoder: &dyn AnimationDecoder,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
    ) -> Result<Decoded> {
        let start = Instant::now();
        let mut reader = decoder.open(bytes, info, &self.how(pipeline))?;
        let mut last = None;
        for _ in 0..number {
            if self.interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            // The reader draws on its canvas in place, rather than on a copy, if no frame of it is still in use.
            drop(last.take());
            last = reader.next()?;
        }
        let Some(timed) = last else {
            return Err(Error::broken(
                info.format,
                "it has fewer frames than it says",
            ));
        };
        Ok(Decoded {
            image: Image::read(timed.frame, reader.metadata(), info.space),
            damaged: false,
            time: start.elapsed(),
        })
    }

    pub(super) fn write(
        &self,
        pipeline: &Pipeline,
        image: &Image,
        timings: &mut Timings,
    ) -> Result<Vec<u8>> {
        if self.interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        let start = Instant::now();
        let encode = |image: &Image, quality| {
            let how = pipeline.encode_at(quality);
            let encoder = pipeline.encoder;
            encoder.encode_shared(image, &how, self.cores, self.interrupt)
        };
        let body = match pipeline.search {
            None => encode(image, None)?,
            Some(Search::Length(length)) => length.run(|quality| encode(image, Some(quality)))?,
            Some(Search::Score(scored)) => self.scored(pipeline, scored, image, encode)?,
        };
        timings.encode = start.elapsed();
        Ok(body)
    }
}
