//! Encoding of planes to AVIF files.

use andon_pixels::{
    Bound, Cost, Depth, Encode, Error, Frame, FrameWriter, Head, Image, Interrupt, Matrix,
    Metadata, Model, Plane, Primaries, Range, Result, Space, Subsampling, Timed, Traits, Transfer,
    color::levels,
};

use super::aom::{Encoder, Planes, Samples, Settings};
use super::dav1d::{Layout, Sequence};
use super::gain_map::CodedMap;
use super::header::depth;
use super::tracks::{BYTES_PER_FRAME, Movie, Sample};
use super::write::Still;
use crate::animation::Clock;
use crate::guard;

/// Returns the traits to which a frame must be converted: AV1 stores gray, or luma with chroma, in 8, 10 or 12 bits.
pub(super) fn accepts(have: Traits, how: &Encode) -> Traits {
    let ycbcr = |sub, range, matrix| Model::YCbCr { sub, range, matrix };
    let model = match have.model {
        Model::Gray => Model::Gray,
        Model::YCbCr { matrix, .. } if how.lossless && matrix == Matrix::Identity => have.model,
        Model::YCbCr { sub, range, matrix } if matrix != Matrix::Identity => {
            let sub = if how.lossless { None } else { how.chroma }.unwrap_or(sub);
            ycbcr(writable(sub), range, matrix)
        }
        _ if how.lossless => ycbcr(Subsampling::NONE, Range::Full, Matrix::Identity),
        _ => {
            let sub = match how.chroma {
                Some(request) => writable(request),
                None if quality(how) >= FINE_CHROMA_FROM => Subsampling::NONE,
                None => Subsampling::C420,
            };
            Model::ycbcr(sub)
        }
    };
    let depth = match (how.depth, have.depth) {
        (Some(request), _) => request.min(Depth::U12),
        (None, have) if how.lossless => have.min(Depth::U12),
        (None, have) => have.min(Depth::U10),
    };
    Traits {
        model,
        depth,
        ..have
    }
}

const DEFAULT_QUALITY: u8 = 75;

/// Quality from which on RGB is encoded without chroma subsampling, as in JPEG.
const FINE_CHROMA_FROM: u8 = 90;

fn quality(how: &Encode) -> u8 {
    how.quality.unwrap_or(DEFAULT_QUALITY).clamp(1, 100)
}

const C422: Subsampling = Subsampling { h: 2, v: 1 };

fn writable(sub: Subsampling) -> Subsampling {
    match sub {
        Subsampling::NONE | C422 => sub,
        _ => Subsampling::C420,
    }
}

/// libaom's quantizer, 0 to 63, by quality, as pairs of a JPEG quality and the quantizer that gives the same visual
/// quality. Measured with SSIMULACRA2: a score of 75 takes JPEG quality 76 to 85, or quantizer 16 to 11, and a score of
/// 60 takes JPEG quality 44 to 58, or quantizer 31 to 30. The pairs at both ends are extrapolated.
const QUANTIZERS: [(u8, u8); 6] = [(1, 63), (25, 46), (51, 31), (80, 13), (90, 8), (100, 2)];

fn quantizer(how: &Encode) -> Option<u8> {
    if how.lossless {
        return None;
    }
    let quality = f64::from(quality(how));
    let next = QUANTIZERS
        .iter()
        .position(|(from, _)| f64::from(*from) >= quality);
    let next = next.unwrap_or(QUANTIZERS.len() - 1).max(1);
    let [(from, coarse), (to, fine)] =
        [QUANTIZERS[next - 1], QUANTIZERS[next]].map(|(q, level)| (f64::from(q), f64::from(level)));
    let share = (quality - from) / (to - from);
    Some((coarse + share * (fine - coarse)).round() as u8)
}

/// libaom's speed by effort, 0 to 9. No speed between 6 and 5 would be worthwhile: at speed 6, libaom's mode for films
/// (AOM_USAGE_GOOD_QUALITY, without CDEF and rectangular blocks) saves 0.7 % of the bytes at an SSIMULACRA2 score of 70
/// and 1.2 % at 75, but takes 1.5 times as long.
const SPEEDS: [u8; 10] = [9, 9, 8, 8, 7, 6, 6, 5, 4, 3];

/// Encoding time in ns per px by speed: means over eight photos of 8 bits in 4:2:0 at 400 px and quality 60 on a Zen 5,
/// with a release build of libaom. At 1200 px they were three quarters of that, and the most detailed photo took twice
/// the mean. The values for speeds 3 and 4 are extrapolated.
const NANOS: [u64; 10] = [0, 0, 0, 9000, 4000, 1750, 430, 250, 190, 45];

/// Maximum time in ns for encoding a frame, as estimated from mean times. libaom cannot be interrupted within a frame,
/// so frames that would take longer are encoded at a higher speed.
const MOST_NANOS: u64 = 4_000_000_000;

/// Speeds if no `effort` is requested, as pairs of the largest area in px and the speed. Larger images get the fastest
/// speed, 9.
const USUAL: [(u64, u8); 2] = [(1_200_000, 6), (2_500_000, 8)];

/// Returns libaom's speed for an image of this number of pixels: that of the requested effort or, without one, the
/// default for the size. It is higher if encoding would otherwise take longer than `MOST_NANOS`.
fn speed(pixels: u64, how: &Encode) -> u8 {
    let preferred_speed = match how.effort {
        Some(effort) => SPEEDS[usize::from(effort.min(9))],
        None => {
            let fits = USUAL.iter().find(|(most, _)| pixels <= *most);
            fits.map_or(9, |(_, speed)| *speed)
        }
    };
    let in_time = |speed: &u8| pixels * NANOS[usize::from(*speed)] <= MOST_NANOS;
    (preferred_speed..9).find(in_time).unwrap_or(9)
}

/// Returns the encoding time in tenths of the time at quality 90 or below: 10 up to quality 90, rising to 20 at quality
/// 100, and 40 for lossless.
fn fineness(how: &Encode) -> u64 {
    match how.lossless {
        true => 40,
        false => 10 + u64::from(quality(how).saturating_sub(90)),
    }
}

/// Returns the cost of encoding a still image. The time was measured. The memory is the maximum that libaom allocated
/// for photos and noise, because our allocation counters do not include libaom's.
pub(super) fn cost(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let parts = if traits.alpha { 3 } else { 2 };
    let wide = traits.depth.bytes() as u64;
    let nanos = pixels * NANOS[usize::from(speed(pixels, how))] * parts / 2;
    Cost {
        nanos: nanos * fineness(how) / 10,
        scratch: pixels * (SCRATCH + SCRATCH_PER_BYTE * wide) + ENCODER_BYTES,
    }
}

/// Scratch memory of the encoder in bytes per pixel, in addition to `SCRATCH_PER_BYTE`.
const SCRATCH: u64 = 40;
/// Scratch memory of the encoder in bytes per pixel for 8-bit samples, in addition to `SCRATCH`. Samples of more than 8
/// bits take twice as much.
const SCRATCH_PER_BYTE: u64 = 12;
const ENCODER_BYTES: u64 = 16 << 20;

/// Longest side in px: AV1 stores sides in 16 bits.
const MAX_SIDE: u64 = 65_536;

/// Checks that an image is not too large for AV1, nor for encoding within `MOST_NANOS` at the highest speed.
///
/// # Errors
/// `Limit` if it is too large.
fn check(width: u32, height: u32) -> Result<()> {
    guard::side(super::NAME, width, height, MAX_SIDE)?;
    let most = MOST_NANOS / NANOS[9];
    guard::at_most(
        Bound::of_format(super::NAME, "pixels", "pixels"),
        u64::from(width) * u64::from(height),
        most,
    )
}

/// Encodes the first frame as a still image.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    guard::check_interrupt(interrupt)?;
    let mut settings = settings(frame, how)?;
    let colour = bitstream(frame, &settings)?;
    guard::check_interrupt(interrupt)?;
    let (points, full_range) = (settings.points, settings.full_range);
    let alpha = match &frame.alpha {
        Some(plane) => {
            settings = opacity(settings);
            Some(encode_once(&settings, std::slice::from_ref(plane), 1)?)
        }
        None => None,
    };
    let gain_map = match &image.gain_map {
        Some(map) => CodedMap::of(map, interrupt)?,
        None => None,
    };
    let sequence = sequence(&colour)?;
    let still = Still {
        width: frame.width,
        height: frame.height,
        sequence,
        colour: &colour,
        alpha: match &alpha {
            Some(alpha) => Some((alpha, self::sequence(alpha)?)),
            None => None,
        },
        points,
        full_range,
        metadata: &image.metadata,
        gain_map: gain_map.as_ref(),
    };
    Ok(still.file())
}

pub(super) fn sequence(obus: &[u8]) -> Result<Sequence> {
    let none = || Error::Internal("libaom wrote no sequence header".to_owned());
    Sequence::read(obus).ok_or_else(none)
}

/// An animation that is written frame by frame, with one encoder for colours and one for opacity.
pub(super) struct Writer<'a> {
    how: Encode,
    metadata: Metadata,
    size: (u32, u32),
    /// The encoders, opened with the first frame.
    streams: Option<Streams>,
    clock: Clock,
    movie: Movie,
    /// The coded images. The first one is followed by the Exif and XMP of the animation.
    data: Vec<u8>,
    interrupt: &'a dyn Interrupt,
}

/// The encoders, each with its settings.
struct Streams {
    colour: (Settings, Encoder),
    alpha: Option<(Settings, Encoder)>,
}

impl<'a> Writer<'a> {
    /// Creates a writer without frames.
    pub(super) fn new(head: &Head, how: &Encode, interrupt: &'a dyn Interrupt) -> Result<Self> {
        check(head.width, head.height)?;
        Ok(Self {
            how: how.clone(),
            metadata: head.metadata.clone(),
            size: (head.width, head.height),
            streams: None,
            clock: Clock::new(1000, u32::MAX),
            movie: Movie::new(head.plays),
            data: Vec::new(),
            interrupt,
        })
    }

    fn still<'b>(&'b self, streams: &Streams) -> Result<Still<'b>> {
        let bytes = |samples: &[Sample]| {
            let first = samples.first();
            first.and_then(|sample| self.data.get(sample.at..sample.at + sample.length))
        };
        let colour = bytes(&self.movie.colour).ok_or_else(no_frames)?;
        let alpha = bytes(&self.movie.alpha);
        let settings = streams.colour.0;
        Ok(Still {
            width: self.size.0,
            height: self.size.1,
            sequence: sequence(colour)?,
            colour,
            alpha: match alpha {
                Some(alpha) => Some((alpha, sequence(alpha)?)),
                None => None,
            },
            points: settings.points,
            full_range: settings.full_range,
            metadata: &self.metadata,
            gain_map: None,
        })
    }
}

fn no_frames() -> Error {
    Error::Internal("an animation without frames".to_owned())
}

/// Opens the encoders for frames with the traits of `frame`.
fn streams(frame: &Frame, how: &Encode) -> Result<Streams> {
    let colour = Settings {
        still: false,
        speed: moving_speed(how),
        ..settings(frame, how)?
    };
    let open = |settings: Settings| Encoder::open(settings).map(|encoder| (settings, encoder));
    Ok(Streams {
        colour: open(colour)?,
        alpha: match &frame.alpha {
            Some(_) => Some(open(opacity(colour))?),
            None => None,
        },
    })
}

/// Encodes the next image of a stream and appends it to `data`.
fn append(
    (settings, encoder): &mut (Settings, Encoder),
    planes: &[Plane],
    chroma_from: usize,
    number: usize,
    data: &mut Vec<u8>,
) -> Result<Sample> {
    let coded = Coded::of(planes, settings, chroma_from);
    // The durations are stored in the container, so the stream counts frames.
    let number = number as u64;
    let packet = encoder.encode(&coded.planes(planes), (number, number + 1))?;
    let packet = packet.ok_or_else(|| Error::Internal("libaom kept a frame back".to_owned()))?;
    guard::at_most(
        Bound::of_format(super::NAME, "bytes", "bytes"),
        (data.len() + packet.data.len()) as u64,
        MOST_BYTES,
    )?;
    let at = data.len();
    data.extend_from_slice(&packet.data);
    Ok(Sample {
        at,
        length: packet.data.len(),
        key: packet.key,
    })
}

/// Maximum number of bytes of coded data. Offsets in the file have four bytes, and the boxes before the data take up
/// some of their range.
const MOST_BYTES: u64 = (1 << 32) - (1 << 28);

impl FrameWriter for Writer<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        guard::check_interrupt(self.interrupt)?;
        let frame = timed.frame;
        let number = self.movie.durations.len();
        let mut streams = match self.streams.take() {
            Some(streams) => streams,
            None => streams(&frame, &self.how)?,
        };
        let (colour, data) = (&mut streams.colour, &mut self.data);
        let sample = append(
            colour,
            &frame.planes,
            chroma_from(frame.model),
            number,
            data,
        )?;
        self.movie.colour.push(sample);
        if let (Some(stream), Some(alpha)) = (&mut streams.alpha, &frame.alpha) {
            guard::check_interrupt(self.interrupt)?;
            let planes = std::slice::from_ref(alpha);
            self.movie
                .alpha
                .push(append(stream, planes, 1, number, data)?);
        }
        self.movie.durations.push(self.clock.ticks(timed.delay));
        if number == 0 {
            let still = self.still(&streams)?;
            let metadata_items = [still.exif(), self.metadata.xmp.clone()];
            self.data
                .extend(metadata_items.into_iter().flatten().flatten());
        }
        self.streams = Some(streams);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.data.len() as u64 + self.movie.durations.len() as u64 * BYTES_PER_FRAME
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        let streams = self.streams.take().ok_or_else(no_frames)?;
        let still = self.still(&streams)?;
        let head = still.sequence_head(&self.movie, self.data.len());
        let mut file = self.data;
        file.splice(0..0, head);
        Ok(file)
    }
}

/// libaom's speed for frames that refer to each other, by effort, 0 to 9. At speed 8 and above, objects may stay
/// visible after they have moved away, and encoding takes no less time at 8 than at 7.
const MOVING_SPEEDS: [u8; 10] = [7, 7, 7, 7, 7, 7, 7, 7, 6, 5];

/// Encoding time in ns per px by speed, from speed 5 on. Measured like [`NANOS`], with animations of 12 frames that pan
/// over three photos, at quality 70, and at 400 and 1200 px.
const MOVING_NANOS: [u64; 3] = [155, 105, 60];

fn moving_speed(how: &Encode) -> u8 {
    MOVING_SPEEDS[usize::from(how.effort.unwrap_or(0).min(9))]
}

/// Returns the cost of one frame of an animation. The memory is that of the encoders, which does not grow with the
/// number of frames.
pub(super) fn moving_cost(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let parts = if traits.alpha { 3 } else { 2 };
    let wide = traits.depth.bytes() as u64;
    let nanos = MOVING_NANOS[usize::from(moving_speed(how) - 5)];
    Cost {
        nanos: pixels * nanos * parts / 2 * fineness(how) / 10,
        scratch: (pixels * MOVING_SCRATCH_PER_BYTE * wide + ENCODER_BYTES) * parts / 2,
    }
}

/// Scratch memory of the encoder in bytes per pixel for 8-bit samples; samples of more than 8 bits take twice as much.
/// For 8-bit 4:2:0, 75 were measured.
const MOVING_SCRATCH_PER_BYTE: u64 = 96;

/// Returns the encoder settings for the colours of a frame.
pub(super) fn settings(frame: &Frame, how: &Encode) -> Result<Settings> {
    let unfit = || Error::Internal(format!("AVIF was handed {:?}", frame.model));
    let (layout, range, matrix) = match frame.model {
        Model::Gray => (Layout::Gray, Range::Full, Matrix::Bt601),
        Model::YCbCr { sub, range, matrix } => match sub {
            Subsampling::NONE => (Layout::C444, range, matrix),
            C422 => (Layout::C422, range, matrix),
            Subsampling::C420 => (Layout::C420, range, matrix),
            _ => return Err(unfit()),
        },
        _ => return Err(unfit()),
    };
    let [primaries, transfer] = points(frame.colour.space);
    Ok(Settings {
        width: frame.width,
        height: frame.height,
        layout,
        bits: frame.depth().bits(),
        full_range: range == Range::Full,
        points: [primaries, transfer, matrix.code()],
        still: true,
        speed: speed(u64::from(frame.width) * u64::from(frame.height), how),
        quantizer: quantizer(how),
        opacity: false,
    })
}

/// Returns the encoder settings for the opacity plane, derived from those for the colours. Opacity has one plane and is
/// quantized more finely, since its errors show at edges.
pub(super) fn opacity(colours: Settings) -> Settings {
    Settings {
        layout: Layout::Gray,
        full_range: true,
        points: [2; 3],
        quantizer: colours.quantizer.map(|coarse| coarse / 2),
        opacity: true,
        ..colours
    }
}

/// Returns the code points of primaries and transfer. Colours without a tag are sRGB. Those with an ICC profile get 2:
/// unspecified.
fn points(space: Space) -> [u8; 2] {
    match space {
        Space { profiled: true, .. } => [2, 2],
        _ if space.is_srgb() => [Primaries::Bt709.code(), Transfer::Srgb.code()],
        _ => [space.primaries.code(), space.transfer.code()],
    }
}

/// Returns the index of the first chroma plane, or 3 if there is none.
pub(super) fn chroma_from(model: Model) -> usize {
    match model {
        Model::YCbCr { matrix, .. } if matrix != Matrix::Identity => 1,
        _ => 3,
    }
}

/// Encodes the colours of a frame as a complete bitstream.
pub(super) fn bitstream(frame: &Frame, settings: &Settings) -> Result<Vec<u8>> {
    check(frame.width, frame.height)?;
    encode_once(settings, &frame.planes, chroma_from(frame.model))
}

fn encode_once(settings: &Settings, planes: &[Plane], chroma_from: usize) -> Result<Vec<u8>> {
    let coded = Coded::of(planes, settings, chroma_from);
    let mut encoder = Encoder::open(*settings)?;
    let mut data = Vec::new();
    for packet in [
        encoder.encode(&coded.planes(planes), (0, 1))?,
        encoder.finish()?,
    ] {
        data.extend(packet.into_iter().flat_map(|packet| packet.data));
    }
    Ok(data)
}

/// Code values of the planes whose samples are wider than 8 bits.
pub(super) struct Coded(Vec<Vec<u16>>);

impl Coded {
    /// Converts the planes whose samples are wider than 8 bits from the 16-bit scale of frames to code values.
    pub(super) fn of(planes: &[Plane], settings: &Settings, chroma_from: usize) -> Self {
        let range = if settings.full_range {
            Range::Full
        } else {
            Range::Limited
        };
        let depth = depth(settings.bits);
        let mut codes = Vec::new();
        for (index, plane) in planes.iter().enumerate() {
            if let Plane::U16(grid) = plane {
                let chroma = index >= chroma_from;
                let table: Vec<u16> = (0..=u16::MAX)
                    .map(|sample| levels::to_code(sample, depth, range, chroma))
                    .collect();
                let samples = grid.samples().iter();
                codes.push(samples.map(|sample| table[usize::from(*sample)]).collect());
            }
        }
        Self(codes)
    }

    pub(super) fn planes<'a>(&'a self, planes: &'a [Plane]) -> Planes<'a> {
        let mut wide = self.0.iter();
        let samples = planes.iter().filter_map(|plane| match plane {
            Plane::U8(grid) => Some(Samples::U8(grid.samples())),
            Plane::U16(_) => wide.next().map(|codes| Samples::U16(codes)),
        });
        samples.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quality_has_a_quantizer_and_none_is_coarser_than_the_one_below() {
        let of = |quality| {
            let how = Encode {
                quality: Some(quality),
                ..Encode::default()
            };
            quantizer(&how).expect("it is lossy")
        };
        for quality in 1..100 {
            assert!(of(quality + 1) <= of(quality), "{quality}");
        }
        assert_eq!([1, 51, 80, 100].map(of), [63, 31, 13, 2]);
    }

    #[test]
    fn no_effort_takes_longer_than_there_is_time() {
        for megapixels in [1, 4, 16, 60] {
            for effort in 0..=9 {
                let how = Encode {
                    effort: Some(effort),
                    ..Encode::default()
                };
                let traits = Traits::new(Model::ycbcr(Subsampling::C420), Depth::U8);
                let cost = cost(1000, megapixels * 1000, traits, &how);
                assert!(cost.nanos <= MOST_NANOS, "{megapixels} {effort}");
            }
        }
        assert!(matches!(
            check(10_000, 10_000),
            Err(Error::Limit {
                bound: Bound { name: "pixels", .. },
                ..
            })
        ));
    }
}
