//! Encoding of planes to GIF files with one frame or several.

use std::borrow::Cow;

use andon_pixels::{
    Bound, Cost, Encode, Error, Frame, FrameWriter, Grid, Head, Image, Interrupt, Model, Plane,
    Result, Timed,
};

use super::palette::{OPAQUE, RgbaPlanes};
use super::rows::stored_order;
use crate::animation::{Pace, Turn, crop_frame, find_change};
use crate::guard;

/// Encodes the first frame.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    let (width, height) = (side(frame.width)?, side(frame.height)?);
    let indexed = rgba_planes(frame)?.index(interrupt)?;
    guard::check_interrupt(interrupt)?;

    let indices = if how.progressive {
        let rows: Vec<&[u8]> = indexed.indices.chunks_exact(usize::from(width)).collect();
        stored_order(frame.height, true)
            .flat_map(|y| rows[y as usize])
            .copied()
            .collect()
    } else {
        indexed.indices
    };
    let mut out = Vec::new();
    let mut encoder =
        gif::Encoder::new(&mut out, width, height, &indexed.palette).map_err(internal)?;
    encoder
        .write_frame(&gif::Frame {
            width,
            height,
            interlaced: how.progressive,
            transparent: indexed.transparent,
            buffer: Cow::Owned(indices),
            ..gif::Frame::default()
        })
        .map_err(internal)?;
    drop(encoder);
    Ok(out)
}

/// An animation that is written frame by frame.
///
/// Only the rectangle that changes from one frame to the next is written. In it, unchanged pixels are written as
/// transparent, so that the earlier content stays visible. Two frames are buffered. The *held* frame is encoded only
/// when the next one is known: if the next frame is transparent where the held one is not, the screen has to be cleared
/// in between. The *ready* frame precedes the held one. It is encoded, and is written when its duration is known.
pub(super) struct Writer<'a> {
    encoder: gif::Encoder<Vec<u8>>,
    pace: Pace,
    interrupt: &'a dyn Interrupt,
    /// Content of the screen before the frame in `held_frame` is drawn, or `None` if the screen is empty.
    below: Option<Frame>,
    /// The latest frame, which is not encoded until the next one is known.
    held_frame: Option<Frame>,
    /// The frame before the one in `held_frame`, encoded but not written yet, because its duration may still change.
    ready: Option<gif::Frame<'static>>,
    /// Duration of `ready` in hundredths of a second, which the end of the animation may still change. `None` if there
    /// is no such frame.
    ready_duration: Option<u64>,
}

impl<'a> Writer<'a> {
    /// Creates a writer and writes everything that precedes the first frame.
    pub(super) fn new(head: &Head, interrupt: &'a dyn Interrupt) -> Result<Self> {
        let (width, height) = (side(head.width)?, side(head.height)?);
        let mut encoder = gif::Encoder::new(Vec::new(), width, height, &[]).map_err(internal)?;
        // GIF stores the number of repetitions after the first play; without that number, players show the animation
        // once.
        let repeat = match head.plays {
            0 => Some(gif::Repeat::Infinite),
            1 => None,
            plays => Some(gif::Repeat::Finite(
                u16::try_from(plays - 1).unwrap_or(u16::MAX),
            )),
        };
        if let Some(repeat) = repeat {
            encoder.set_repeat(repeat).map_err(internal)?;
        }
        Ok(Self {
            encoder,
            pace: Pace::new(100, SHORTEST),
            interrupt,
            below: None,
            held_frame: None,
            ready: None,
            ready_duration: None,
        })
    }

    /// Encodes the frame in `held_frame` and moves it to `ready`. `next` is the following frame, or `None` at the end.
    fn finish_held(&mut self, next: Option<&Frame>) -> Result<()> {
        let Some(frame) = self.held_frame.take() else {
            return Ok(());
        };
        let clears = next.is_some_and(|next| uncovers(&frame, next));
        // Clearing affects only the rectangle of the frame, so a frame to be cleared is written as a whole.
        let place = find_change(self.below.as_ref().filter(|_| !clears), &frame);
        let part = crop_frame(&frame, place)?;
        let earlier = self.below.as_ref().map(|below| crop_frame(below, place));
        let earlier = earlier.transpose()?;
        let opacity = hide_same(&part, earlier.as_ref())?;
        let mut rgba_planes = rgba_planes(&part)?;
        if let Some(opacity) = &opacity {
            rgba_planes.alpha = Some(opacity);
        }
        let indexed = rgba_planes.index(self.interrupt)?;
        guard::check_interrupt(self.interrupt)?;
        self.ready = Some(gif::Frame {
            dispose: if clears {
                gif::DisposalMethod::Background
            } else {
                gif::DisposalMethod::Keep
            },
            left: side(place.x)?,
            top: side(place.y)?,
            width: side(place.width)?,
            height: side(place.height)?,
            transparent: indexed.transparent,
            palette: Some(indexed.palette),
            buffer: Cow::Owned(indexed.indices),
            ..gif::Frame::default()
        });
        self.below = (!clears).then_some(frame);
        Ok(())
    }

    /// Writes the frame in `ready`, if there is one, with a duration in hundredths of a second. `None` means
    /// [`SHORTEST`].
    fn write_ready(&mut self, hundredths: Option<u64>) -> Result<()> {
        let Some(mut frame) = self.ready.take() else {
            return Ok(());
        };
        frame.delay = u16::try_from(hundredths.unwrap_or(SHORTEST)).unwrap_or(u16::MAX);
        self.encoder.write_frame(&frame).map_err(internal)
    }
}

impl FrameWriter for Writer<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        let Turn::Shown { previous } = self.pace.turn(timed.delay) else {
            return Ok(());
        };
        let ready_duration = self.ready_duration.take();
        self.write_ready(ready_duration)?;
        self.finish_held(Some(&timed.frame))?;
        self.ready_duration = previous;
        self.held_frame = Some(timed.frame);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.encoder.get_ref().len() as u64
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        let end = self.pace.end();
        // If there is no time for the last frame, the frame before it is shown until the end.
        self.write_ready(end.previous)?;
        if end.last.is_some() {
            self.finish_held(None)?;
            self.write_ready(end.last)?;
        }
        self.encoder.into_inner().map_err(internal)
    }
}

/// Minimum delay in hundredths of a second. Browsers replace shorter delays with 10.
const SHORTEST: u64 = 2;

/// Returns whether `next` is transparent at any pixel where `frame` is not.
fn uncovers(frame: &Frame, next: &Frame) -> bool {
    let Some(Plane::U8(next)) = &next.alpha else {
        return false;
    };
    match &frame.alpha {
        Some(Plane::U8(alpha)) => {
            let pairs = alpha.samples().iter().zip(next.samples());
            pairs
                .into_iter()
                .any(|(&current, &next)| current >= OPAQUE && next < OPAQUE)
        }
        _ => next.samples().iter().any(|&next| next < OPAQUE),
    }
}

/// Returns the opacity of a frame with every pixel made transparent that equals the one in `below`, or `None` if there
/// is no such pixel.
fn hide_same(frame: &Frame, below: Option<&Frame>) -> Result<Option<Grid<u8>>> {
    let Some(below) = below else {
        return Ok(None);
    };
    let (current, previous) = (rgba_planes(frame)?, rgba_planes(below)?);
    let mut alpha = match current.alpha {
        Some(alpha) => alpha.clone(),
        None => Grid::filled(frame.width, frame.height, u8::MAX),
    };
    let mut any = false;
    for (at, alpha) in alpha.samples_mut().iter_mut().enumerate() {
        let planes = current
            .rgb
            .iter()
            .zip(&previous.rgb)
            .chain(current.alpha.iter().zip(&previous.alpha));
        let mut pairs = planes.into_iter();
        if pairs.all(|(current, previous)| current.samples()[at] == previous.samples()[at]) {
            *alpha = 0;
            any = true;
        }
    }
    Ok(any.then_some(alpha))
}

/// Returns the cost of encoding, measured with photos on one core. The palette is fitted to a sample of limited size.
pub(super) fn cost(width: u32, height: u32) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    Cost {
        nanos: pixels.min(COLOURS) * NANOS_PER_COLOUR + pixels * NANOS_PER_PIXEL,
        // Indices, their reordered copy, and the LZW stream in addition to the result.
        scratch: pixels * 4 + TABLE_BYTES,
    }
}

/// Maximum number of distinct colours that are counted when a palette is fitted, with five bits for each channel.
const COLOURS: u64 = 1 << 15;
const NANOS_PER_COLOUR: u64 = 200;
const NANOS_PER_PIXEL: u64 = 65;
const TABLE_BYTES: u64 = 2 << 20;

fn side(length: u32) -> Result<u16> {
    guard::at_most(
        Bound::of_format(super::NAME, "side", "px"),
        u64::from(length),
        u64::from(u16::MAX),
    )?;
    Ok(length as u16)
}

fn rgba_planes(frame: &Frame) -> Result<RgbaPlanes<'_>> {
    let wrong = || Error::Internal(format!("GIF was handed {:?}", frame.model));
    let planes: Option<Vec<&Grid<u8>>> = frame.planes.iter().map(Plane::as_u8).collect();
    let rgb = planes
        .filter(|_| frame.model == Model::Rgb)
        .and_then(|planes| planes.try_into().ok())
        .ok_or_else(wrong)?;
    let alpha = frame
        .alpha
        .as_ref()
        .map(|plane| plane.as_u8().ok_or_else(wrong))
        .transpose()?;
    Ok(RgbaPlanes { rgb, alpha })
}

/// Converts an error of the encoder. Writing to memory fails only if the encoder was used incorrectly.
fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("GIF encoder: {error}"))
}
