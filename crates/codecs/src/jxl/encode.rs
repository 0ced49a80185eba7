//! Encodes planes to a JPEG XL.

use andon_pixels::{
    Cost, Depth, Encode, Error, Frame, FrameWriter, Head, Image, Interrupt, Metadata, Model, Plane,
    Result, Timed, Traits,
};

use super::ffi::{self, Encoder, Samples};
use super::{NAME, gain_map};
use crate::animation::{Clock, Place, crop_frame, find_change};
use crate::guard;

/// Writes the first frame.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    guard::check_interrupt(interrupt)?;
    let pixels = Pixels::of(frame)?;
    let mut head = head(
        (frame.width, frame.height),
        frame.traits(),
        &image.metadata,
        how,
    );
    let mut budget = memory(frame.width, frame.height, frame.traits(), how);
    if let Some(map) = &image.gain_map
        && let Some(data) = gain_map::write(map, interrupt)?
    {
        // The encoder makes a copy, which counts against its memory limit.
        budget += data.len() as u64;
        head.boxes.push((c"jhgm", data));
    }
    let still = |head: &ffi::Head<'_>| {
        let mut encoder = Encoder::new(budget, head.effort, interrupt)?;
        encoder.begin(head)?;
        encoder.frame(pixels.samples(), whole(frame), 0)?;
        encoder.close();
        encoder.process()?;
        Ok(encoder.take())
    };
    match still(&head) {
        // libjxl can convert only from simple profiles.
        Err(Error::Internal(_)) if head.icc.is_some() && !head.raw => {
            head.raw = true;
            still(&head)
        }
        result => result,
    }
}

fn whole(frame: &Frame) -> Place {
    Place {
        x: 0,
        y: 0,
        width: frame.width,
        height: frame.height,
    }
}

fn head<'a>(
    (width, height): (u32, u32),
    traits: Traits,
    metadata: &'a Metadata,
    how: &Encode,
) -> ffi::Head<'a> {
    // The first four bytes are the offset of the block from the end of this number.
    let exif = metadata.exif.as_ref();
    let exif = exif.map(|exif| (c"Exif", [&[0; 4], &exif[..]].concat()));
    let xmp = metadata.xmp.as_ref().map(|xmp| (c"xml ", xmp.clone()));
    ffi::Head {
        width,
        height,
        colours: traits.model.planes() as u32,
        alpha: traits.alpha,
        bits: u32::from(traits.depth.bits()),
        space: traits.space,
        icc: metadata.icc.as_deref(),
        boxes: exif.into_iter().chain(xmp).collect(),
        plays: None,
        distance: distance(how),
        effort: EFFORTS[level(how)],
        raw: false,
    }
}

/// libjxl's effort for each effort level of an encode request, 0 to 9. Efforts above 7 take many times as long and save
/// only 1 or 2 %.
const EFFORTS: [u8; 10] = [1, 1, 2, 3, 4, 4, 5, 5, 6, 7];
/// Effort level if none is requested: files are a quarter smaller than JPEGs, and encoding takes about as long as with
/// WebP's fast methods.
const DEFAULT_LEVEL: u8 = 3;
/// libjxl's effort if no effort level is requested.
pub(super) const DEFAULT_EFFORT: u8 = EFFORTS[DEFAULT_LEVEL as usize];

fn level(how: &Encode) -> usize {
    usize::from(how.effort.unwrap_or(DEFAULT_LEVEL).min(9))
}

/// Butteraugli distances by quality, chosen so that an image has the visual quality of a JPEG with the same quality
/// number. Measured with SSIMULACRA2 on photos: a score of 75 takes JPEG quality 80, or distance 2.3, and a score of 60
/// takes JPEG quality 51, or distance 4.9.
const DISTANCES: [(u8, f32); 8] = [
    (1, 20.0),
    (10, 14.0),
    (30, 8.0),
    (51, 4.9),
    (80, 2.3),
    (90, 1.2),
    (95, 0.7),
    (100, 0.1),
];
const DEFAULT_QUALITY: u8 = 80;

fn distance(how: &Encode) -> f32 {
    if how.lossless {
        return 0.0;
    }
    let quality = how.quality.unwrap_or(DEFAULT_QUALITY).clamp(1, 100);
    for pair in DISTANCES.windows(2) {
        let [(low, low_distance), (high, high_distance)] = [pair[0], pair[1]];
        if quality <= high {
            let part = f32::from(quality - low) / f32::from(high - low);
            return low_distance + part * (high_distance - low_distance);
        }
    }
    DISTANCES[DISTANCES.len() - 1].1
}

/// Interleaved samples in the layout of libjxl.
enum Pixels {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

impl Pixels {
    fn of(frame: &Frame) -> Result<Self> {
        if !matches!(frame.model, Model::Gray | Model::Rgb) {
            return Err(Error::Internal(format!(
                "{NAME} was handed {:?}",
                frame.model
            )));
        }
        let planes: Vec<&Plane> = frame.planes.iter().chain(&frame.alpha).collect();
        let pixels = frame.width as usize * frame.height as usize;
        Ok(match frame.depth() {
            Depth::U8 => Self::U8(interleaved(pixels, &planes, |plane| match plane {
                Plane::U8(grid) => Some(grid.samples()),
                Plane::U16(_) => None,
            })?),
            _ => Self::U16(interleaved(pixels, &planes, |plane| match plane {
                Plane::U16(grid) => Some(grid.samples()),
                Plane::U8(_) => None,
            })?),
        })
    }

    fn samples(&self) -> Samples<'_> {
        match self {
            Self::U8(samples) => Samples::U8(samples),
            Self::U16(samples) => Samples::U16(samples),
        }
    }
}

fn interleaved<'a, S: Copy + Default + 'a>(
    pixels: usize,
    planes: &[&'a Plane],
    samples: impl Fn(&'a Plane) -> Option<&'a [S]>,
) -> Result<Vec<S>> {
    let channels = planes.len();
    let mut out = vec![S::default(); pixels * channels];
    for (channel, plane) in planes.iter().enumerate() {
        let plane = samples(plane)
            .ok_or_else(|| Error::Internal(format!("{NAME} was handed planes of two depths")))?;
        let places = out.iter_mut().skip(channel).step_by(channels);
        for (out, sample) in places.zip(plane) {
            *out = *sample;
        }
    }
    Ok(out)
}

/// Writes an animation frame by frame. Of each frame only the changed part is written, which replaces the earlier
/// content there.
pub(super) struct Writer<'a> {
    encoder: Encoder<'a>,
    clock: Clock,
    previous: Option<Frame>,
    /// Place, and duration in ticks, of the latest frame. The frame is encoded only when the next one arrives or the
    /// animation ends, because libjxl has to know which frame is the final one.
    last_frame: Option<(Place, u32)>,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Writer<'a> {
    /// Creates a writer, and writes everything that precedes the first frame.
    pub(super) fn new(head: &Head, how: &Encode, interrupt: &'a dyn Interrupt) -> Result<Self> {
        let size = (head.width, head.height);
        let mut file = self::head(size, head.traits, &head.metadata, how);
        file.plays = Some(head.plays);
        let budget = memory(head.width, head.height, head.traits, how);
        let mut encoder = Encoder::new(budget, file.effort, interrupt)?;
        encoder.begin(&file)?;
        Ok(Self {
            encoder,
            clock: Clock::new(ffi::TICKS, u32::MAX),
            previous: None,
            last_frame: None,
            interrupt,
        })
    }

    fn add_last_frame(&mut self) -> Result<()> {
        let (Some(frame), Some((place, ticks))) = (&self.previous, self.last_frame.take()) else {
            return Ok(());
        };
        let pixels = Pixels::of(&crop_frame(frame, place)?)?;
        self.encoder.frame(pixels.samples(), place, ticks)
    }
}

impl FrameWriter for Writer<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        guard::check_interrupt(self.interrupt)?;
        self.add_last_frame()?;
        self.encoder.process()?;
        let place = find_change(self.previous.as_ref(), &timed.frame);
        self.last_frame = Some((place, self.clock.ticks(timed.delay)));
        self.previous = Some(timed.frame);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.encoder.written() as u64
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        self.add_last_frame()?;
        self.encoder.close();
        self.encoder.process()?;
        Ok(self.encoder.take())
    }
}

/// Estimates the cost of encoding. The time was measured with photos on one core. The memory is libjxl's limit plus the
/// interleaved samples.
pub(super) fn cost(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let nanos = match how.lossless {
        true => LOSSLESS_NANOS[level(how)],
        false => LOSSY_NANOS[level(how)],
    };
    Cost {
        nanos: ENCODER_NANOS + pixels * nanos,
        scratch: memory(width, height, traits, how)
            + pixels * channels(traits) * (traits.depth.bytes() as u64 + 1),
    }
}

fn channels(traits: Traits) -> u64 {
    traits.model.planes() as u64 + u64::from(traits.alpha)
}

/// Returns the limit in bytes on the memory that libjxl may allocate.
fn memory(width: u32, height: u32, traits: Traits, how: &Encode) -> u64 {
    let pixels = u64::from(width) * u64::from(height);
    let sample = match how.lossless {
        true => LOSSLESS_BYTES,
        false => LOSSY_BYTES,
    };
    pixels * channels(traits).max(3) * sample + ENCODER_BYTES
}

/// Time to encode a pixel lossily, in ns, by effort level from 0 to 9.
const LOSSY_NANOS: [u64; 10] = [30, 30, 30, 40, 45, 45, 180, 180, 250, 330];
/// Time to encode a pixel losslessly, in ns, by effort level from 0 to 9.
const LOSSLESS_NANOS: [u64; 10] = [20, 20, 100, 150, 220, 220, 350, 350, 500, 800];
/// Fixed time for starting an encoder, in ns.
const ENCODER_NANOS: u64 = 4_000_000;
/// Memory that libjxl may take per sample of a lossy image, in bytes.
const LOSSY_BYTES: u64 = 24;
/// Memory that libjxl may take per sample of a lossless image, in bytes.
const LOSSLESS_BYTES: u64 = 40;
const ENCODER_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use andon_pixels::{Grid, Never};

    use super::*;

    /// Returns a frame of noise, which is the worst case.
    fn noise(width: u32, height: u32, depth: Depth, planes: usize) -> Frame {
        let mut state = 1_u32;
        let mut dice = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let pixels = width as usize * height as usize;
        let plane = |_| match depth {
            Depth::U8 => {
                let samples = (0..pixels).map(|_| dice() as u8).collect();
                Plane::U8(Grid::from_samples(width, height, samples).unwrap())
            }
            _ => {
                let samples = (0..pixels).map(|_| dice() as u16).collect();
                Plane::U16(Grid::from_samples(width, height, samples).unwrap())
            }
        };
        let mut planes: Vec<Plane> = (0..planes).map(plane).collect();
        let alpha = (planes.len() == 4).then(|| planes.remove(3));
        Frame::new(Model::Rgb, width, height, planes, alpha).unwrap()
    }

    #[test]
    fn libjxl_takes_no_more_memory_than_was_planned() {
        for (depth, planes) in [(Depth::U8, 3), (Depth::U16, 4)] {
            let frame = noise(1100, 900, depth, planes);
            for (lossless, effort) in [(false, 0), (false, 3), (false, 9), (true, 0), (true, 3)] {
                let how = Encode {
                    lossless,
                    effort: Some(effort),
                    quality: Some(90).filter(|_| !lossless),
                    ..Encode::default()
                };
                let traits = frame.traits();
                let size = (frame.width, frame.height);
                let planned = memory(size.0, size.1, traits, &how);
                let mut encoder = Encoder::new(u64::MAX, EFFORTS[usize::from(effort)], &Never)
                    .expect("an encoder");
                let metadata = Metadata::default();
                encoder
                    .begin(&head(size, traits, &metadata, &how))
                    .expect("a head");
                let pixels = Pixels::of(&frame).expect("pixels");
                encoder
                    .frame(pixels.samples(), whole(&frame), 0)
                    .expect("a frame");
                encoder.close();
                encoder.process().expect("a file");
                let taken = encoder.peak();
                println!("{depth:?} {planes} {lossless} {effort}: {taken} of {planned}");
                assert!(
                    taken <= planned,
                    "{depth:?} {lossless} {effort}: {taken} of {planned}"
                );
            }
        }
    }

    #[test]
    fn more_quality_is_less_distance() {
        let distances: Vec<f32> = (1..=100)
            .map(|quality| {
                distance(&Encode {
                    quality: Some(quality),
                    ..Encode::default()
                })
            })
            .collect();
        assert!(distances.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!((distances[0], distances[79]), (20.0, 2.3));
    }
}
