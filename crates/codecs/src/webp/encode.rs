//! Encodes planes to a WebP.

use andon_pixels::{
    Cost, Encode, Error, Frame, FrameWriter, Grid, Head, Image, Interrupt, Metadata, Model, Plane,
    Result, Timed,
};
use andon_recipe::{Arg, Word};

use super::ffi::{self, Settings, Source};
use super::riff::{Chunks, flags, frame_flags, push_chunk};
use super::{LOSSY, MAX_SIDE};
use crate::animation::{Clock, crop_frame, find_change};
use crate::guard;

/// Encodes the first frame: lossy from YCbCr, lossless from RGB.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    guard::side(super::NAME, frame.width, frame.height, MAX_SIDE.into())?;
    let file = still(frame, how, interrupt)?;
    let Metadata { icc, exif, xmp, .. } = &image.metadata;
    if icc.is_none() && exif.is_none() && xmp.is_none() {
        Ok(file)
    } else {
        with_metadata(&file, frame, &image.metadata)
    }
}

/// Encodes a frame as a file without metadata.
fn still(frame: &Frame, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    guard::check_interrupt(interrupt)?;
    match frame.model {
        LOSSY => lossy(frame, how, interrupt),
        Model::Rgb => lossless(frame, how, interrupt),
        model => Err(Error::Internal(format!("WebP was handed {model:?}"))),
    }
}

/// Writes an animation frame by frame. Of each frame only the changed part is written. It replaces the earlier pixels
/// instead of being blended with them, so that no frame depends on rounding in another.
pub(super) struct Writer<'a> {
    out: Vec<u8>,
    how: Encode,
    metadata: Metadata,
    clock: Clock,
    previous: Option<Frame>,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Writer<'a> {
    /// Creates a writer and writes everything that precedes the first frame.
    pub(super) fn new(head: &Head, how: &Encode, interrupt: &'a dyn Interrupt) -> Result<Self> {
        guard::side(super::NAME, head.width, head.height, MAX_SIDE.into())?;
        let size = (head.width, head.height);
        let alpha = head.traits.alpha;
        let mut out = extended(size, alpha, flags::ANIMATION, &head.metadata);
        // A transparent background, and the number of plays, where 0 means forever in WebP, too.
        let plays = u16::try_from(head.plays).unwrap_or(u16::MAX);
        let mut anim = vec![0; 4];
        anim.extend(plays.to_le_bytes());
        push_chunk(&mut out, b"ANIM", &anim);
        Ok(Self {
            out,
            how: animation_settings(how),
            metadata: head.metadata.clone(),
            clock: Clock::new(1000, MOST_MILLISECONDS),
            previous: None,
            interrupt,
        })
    }
}

/// Maximum duration of a frame in ms, which is stored in three bytes.
const MOST_MILLISECONDS: u32 = 0xff_ffff;

impl FrameWriter for Writer<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        let frame = timed.frame;
        let place = find_change(self.previous.as_ref(), &frame);
        let file = still(&crop_frame(&frame, place)?, &self.how, self.interrupt)?;
        let duration = self.clock.ticks(timed.delay);
        let mut anmf = Vec::with_capacity(file.len() + 16);
        for number in [
            place.x / 2,
            place.y / 2,
            place.width - 1,
            place.height - 1,
            duration,
        ] {
            anmf.extend_from_slice(&number.to_le_bytes()[..3]);
        }
        anmf.push(frame_flags::REPLACE);
        for chunk in Chunks::of_file(&file)?.0 {
            let chunk = chunk?;
            if &chunk.name != b"VP8X" {
                push_chunk(&mut anmf, &chunk.name, chunk.data);
            }
        }
        push_chunk(&mut self.out, b"ANMF", &anmf);
        self.previous = Some(frame);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.out.len() as u64
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>> {
        Ok(finish_file(self.out, &self.metadata))
    }
}

/// Returns the cost of encoding. The time was measured with photos at quality 80 on one core, the memory with noise,
/// which is the worst case.
pub(super) fn cost(width: u32, height: u32, how: &Encode) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let (nanos, scratch) = if is_lossless(how) {
        let (method, _) = LOSSLESS_LEVELS[lossless_level(how)];
        (LOSSLESS_NANOS[usize::from(method)], LOSSLESS_SCRATCH)
    } else {
        let scratch = if ffi::keeps_tokens(width, height) {
            TOKENS_SCRATCH
        } else {
            LOSSY_SCRATCH
        };
        (LOSSY_NANOS[usize::from(method(how))], scratch)
    };
    Cost {
        nanos: pixels * nanos,
        scratch: pixels * scratch + ENCODER_BYTES,
    }
}

/// Time for lossy encoding in ns per pixel, by libwebp's method, 0–6.
const LOSSY_NANOS: [u64; 7] = [15, 22, 32, 85, 85, 100, 170];
/// Time for lossless encoding in ns per pixel, by libwebp's method, 0–5.
const LOSSLESS_NANOS: [u64; 6] = [100, 300, 500, 700, 1200, 3000];
/// Bytes per pixel for lossy encoding if all tokens are stored until the end. Photos need a tenth of this.
const TOKENS_SCRATCH: u64 = 32;
/// Bytes per pixel for lossy encoding: the growing result, and copies of the planes if there is alpha.
const LOSSY_SCRATCH: u64 = 6;
/// Bytes per pixel for lossless encoding: the pixels, their residuals, hash chains and references.
const LOSSLESS_SCRATCH: u64 = 44;
const ENCODER_BYTES: u64 = 2 << 20;

const DEFAULT_QUALITY: u8 = 75;
const DEFAULT_METHOD: u8 = 4;

/// Returns the cost of encoding a frame of an animation.
pub(super) fn moving_cost(width: u32, height: u32, how: &Encode) -> Cost {
    cost(width, height, &animation_settings(how))
}

/// Returns the settings for frames of an animation. Unless an effort is requested, lossy frames use method 2, which
/// takes less than half the time of the default for still images.
fn animation_settings(how: &Encode) -> Encode {
    let usual = (!is_lossless(how)).then_some(MOVING_EFFORT);
    Encode {
        effort: how.effort.or(usual),
        ..how.clone()
    }
}

const MOVING_EFFORT: u8 = 3;

/// Returns libwebp's method, 0–6, for an effort of 0–9.
fn method(how: &Encode) -> u8 {
    how.effort
        .map_or(DEFAULT_METHOD, |effort| effort.min(9) * 2 / 3)
}

/// libwebp's method and quality for lossless encoding, by effort, 0–9. libwebp's own last preset is left out: it takes
/// ten times as long as the one before and saves half a percent.
const LOSSLESS_LEVELS: [(u8, u8); 10] = [
    (0, 0),
    (1, 20),
    (2, 25),
    (3, 30),
    (3, 50),
    (4, 50),
    (4, 75),
    (4, 90),
    (5, 75),
    (5, 90),
];

/// The lossless level if no effort is requested. It is twice as fast as level 2, and its files are 10 % larger.
const DEFAULT_LOSSLESS_LEVEL: u8 = 1;

/// The option that limits the rounding of samples before lossless encoding.
pub(super) const NEAR_LOSSLESS: Word = Word {
    name: "near-lossless",
    args: &[Arg::whole("level", 0, 100).help("100: nothing changes; 60 and more is not seen")],
    help: "codes without loss what was rounded a little to be smaller; q says nothing then",
    example: "with:near-lossless:60",
};

/// Whether an image is encoded losslessly, apart from any rounding of its samples beforehand.
pub(super) fn is_lossless(how: &Encode) -> bool {
    how.lossless || how.option(&NEAR_LOSSLESS).is_some()
}

fn lossless_level(how: &Encode) -> usize {
    usize::from(how.effort.unwrap_or(DEFAULT_LOSSLESS_LEVEL).min(9))
}

fn lossy(frame: &Frame, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let [y, u, v] = three(frame)?;
    let source = Source {
        y,
        u,
        v,
        alpha: alpha(frame)?,
    };
    let settings = Settings {
        quality: f32::from(how.quality.unwrap_or(DEFAULT_QUALITY)),
        method: method(how),
        near_lossless: 100,
    };
    ffi::encode_planes(&source, settings, interrupt)
}

fn lossless(frame: &Frame, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let [r, g, b] = three(frame)?.map(Grid::samples);
    let colours = r.iter().zip(g).zip(b);
    let pack = |((&r, &g), &b), a| u32::from_be_bytes([a, r, g, b]);
    let pixels = match alpha(frame)? {
        Some(alpha) => colours
            .zip(alpha.samples())
            .map(|(colour, &a)| pack(colour, a))
            .collect(),
        None => colours.map(|colour| pack(colour, 255)).collect(),
    };
    let (method, quality) = LOSSLESS_LEVELS[lossless_level(how)];
    let near_lossless = how
        .option(&NEAR_LOSSLESS)
        .and_then(|near_lossless| near_lossless.parse().ok());
    let settings = Settings {
        quality: f32::from(quality),
        method,
        near_lossless: near_lossless.unwrap_or(100),
    };
    ffi::encode_lossless(frame.width, frame.height, pixels, settings, interrupt)
}

fn three(frame: &Frame) -> Result<[&Grid<u8>; 3]> {
    let planes: Option<Vec<_>> = frame.planes.iter().map(Plane::as_u8).collect();
    planes
        .and_then(|planes| planes.try_into().ok())
        .ok_or_else(not_u8)
}

fn alpha(frame: &Frame) -> Result<Option<&Grid<u8>>> {
    frame
        .alpha
        .as_ref()
        .map(|plane| plane.as_u8().ok_or_else(not_u8))
        .transpose()
}

fn not_u8() -> Error {
    Error::Internal("WebP was handed planes that are not 8-bit".to_owned())
}

/// Wraps an encoded image in the extended container, with its metadata in the order that the format prescribes.
fn with_metadata(file: &[u8], frame: &Frame, metadata: &Metadata) -> Result<Vec<u8>> {
    let size = (frame.width, frame.height);
    let mut out = extended(size, frame.alpha.is_some(), 0, metadata);
    for chunk in Chunks::of_file(file)?.0 {
        let chunk = chunk?;
        if &chunk.name != b"VP8X" {
            push_chunk(&mut out, &chunk.name, chunk.data);
        }
    }
    Ok(finish_file(out, metadata))
}

/// Returns the beginning of an extended container, up to and including its ICC profile. `more` has feature flags in
/// addition to those for opacity and metadata.
fn extended((width, height): (u32, u32), alpha: bool, more: u8, metadata: &Metadata) -> Vec<u8> {
    let mut out = b"RIFF\0\0\0\0WEBP".to_vec();
    let mut features = more;
    for (flag, there) in [
        (flags::ICC, metadata.icc.is_some()),
        (flags::ALPHA, alpha),
        (flags::EXIF, metadata.exif.is_some()),
        (flags::XMP, metadata.xmp.is_some()),
    ] {
        features |= if there { flag } else { 0 };
    }
    let mut vp8x = vec![features, 0, 0, 0];
    for side in [width, height] {
        vp8x.extend_from_slice(&(side - 1).to_le_bytes()[..3]);
    }
    push_chunk(&mut out, b"VP8X", &vp8x);
    if let Some(icc) = &metadata.icc {
        push_chunk(&mut out, b"ICCP", icc);
    }
    out
}

/// Appends the metadata that follows the pixels and fills in the container's length.
fn finish_file(mut out: Vec<u8>, metadata: &Metadata) -> Vec<u8> {
    for (name, block) in [(b"EXIF", &metadata.exif), (b"XMP ", &metadata.xmp)] {
        if let Some(block) = block {
            push_chunk(&mut out, name, block);
        }
    }
    let size = (out.len() - 8) as u32;
    out[4..8].copy_from_slice(&size.to_le_bytes());
    out
}
