//! One run of a plan for an animation, frame by frame.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use andon_recipe::Effect;

use super::Timings;
use super::job::Job;
use crate::codec::{AnimationDecoder, AnimationEncoder, Info, Text};
use crate::error::{Error, Result};
use crate::formats::within;
use crate::frame::Image;
use crate::limits::Bound;
use crate::plan::Pipeline;
use crate::sequence::{FrameReader, Head, Timed};

impl Job<'_> {
    /// Takes the frames of an animation one by one from the source through the stages to the result: only one frame is
    /// in flight at a time.
    pub(super) fn animation(
        &self,
        (decoder, encoder): (&dyn AnimationDecoder, &dyn AnimationEncoder),
        count: u32,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Vec<u8>> {
        // Overlay images, decoded once for all frames.
        let overlays = RefCell::new(BTreeMap::new());
        let load = |effect: &Effect| self.cached_overlay(effect, &overlays);
        let draw = |text: &Text<'_>| self.whole(&self.engine.formats.drawings()?.text(text)?);
        let context = self.context(&load, &draw);
        context.check()?;
        let mut clock = Instant::now();
        let mut lap = |time: &mut Duration| {
            let now = Instant::now();
            *time += now - clock;
            clock = now;
        };
        let mut frames = Frames {
            reader: decoder.open(bytes, info, &self.how(pipeline))?,
            remaining_frames: count,
            whole: count == info.frames,
        };
        let read = frames.reader.metadata();
        let mut writer = None;
        while let Some(Timed { frame, delay }) = frames.next(self, writer.is_some())? {
            lap(&mut timings.decode);
            context.check()?;
            let Image {
                frame,
                mut metadata,
                ..
            } = Image::read(frame, read.clone(), info.space);
            let frame = self.finished(pipeline, frame, &mut metadata, &context)?;
            lap(&mut timings.stages);
            let mut open = match writer {
                Some(writer) => writer,
                None => {
                    let head = Head {
                        width: frame.width,
                        height: frame.height,
                        traits: frame.traits(),
                        plays: info.animation.map_or(1, |animation| animation.plays),
                        metadata,
                    };
                    encoder.writer(&head, &pipeline.encode, self.interrupt)?
                }
            };
            open.push(Timed { frame, delay })?;
            let written = open.written();
            within(Bound::ANIMATION_BYTES, written, pipeline.result_bytes)?;
            writer = Some(open);
            lap(&mut timings.encode);
        }
        let writer = writer.ok_or_else(|| Error::broken(info.format, "it holds no frames"))?;
        let body = writer.finish()?;
        lap(&mut timings.encode);
        Ok(body)
    }

    /// Returns the overlay image of an effect, which is loaded on the first call only.
    fn cached_overlay(
        &self,
        effect: &Effect,
        overlays: &RefCell<BTreeMap<String, Image>>,
    ) -> Result<Image> {
        let name = effect.to_string();
        if let Some(image) = overlays.borrow().get(&name) {
            return Ok(image.clone());
        }
        let image = self.overlay(effect)?;
        overlays.borrow_mut().insert(name, image.clone());
        Ok(image)
    }
}

/// The frames of an animation that are shown.
struct Frames<'a> {
    reader: Box<dyn FrameReader + 'a>,
    /// The number of frames that are still to be shown.
    remaining_frames: u32,
    /// Whether all frames are shown. If so, the file is read to its end, because an error there means that it is
    /// damaged.
    whole: bool,
}

impl Frames<'_> {
    /// Reads the next frame; `None` after the last. If `has_written` is set because frames were written already, and
    /// the limits allow it, damage ends the animation instead of failing it.
    fn next(&mut self, job: &Job<'_>, has_written: bool) -> Result<Option<Timed>> {
        if !self.whole && self.remaining_frames == 0 {
            return Ok(None);
        }
        let next = self.reader.next();
        if has_written && job.forgives(&next) {
            return Ok(None);
        }
        let next = next?;
        if next.is_some() {
            self.remaining_frames = self.remaining_frames.checked_sub(1).ok_or_else(|| {
                Error::Internal("there are more frames than were counted".to_owned())
            })?;
        }
        Ok(next)
    }
}
