//! Helpers for the tests of every format: test images, short calls of the trait, and attacks on decoders.

// Each test program uses only a part of this module.
#![allow(dead_code)]

pub(crate) mod hostile;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use andon_pixels::color::Convert;
use andon_pixels::{
    Alone, Bound, Codec, Context, Decode, Depth, Encode, Error, Frame, Grid, Image, Info,
    Interrupt, Limits, Metadata, Model, Never, Plane, Result, Scale, Scales, Stage, Traits,
    profile_of_gamma,
};

/// Returns the codec with this name.
pub(crate) fn codec(name: &str) -> &'static dyn Codec {
    *andon_codecs::ALL
        .iter()
        .find(|codec| codec.name() == name)
        .expect("it is listed")
}

/// Returns the path of a folder of sample files, given its path below the folder of all samples.
pub(crate) fn samples(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(folder)
}

/// Returns the JPEGs of a folder, sorted by name.
pub(crate) fn jpegs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "jpg"))
        .collect();
    paths.sort();
    paths
}

/// A small deterministic random number generator, so that failing tests can be reproduced.
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates a generator from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// Creates a plane of gradients with some noise; planes differ by `index`.
pub(crate) fn plane(depth: Depth, width: u32, height: u32, index: usize) -> Plane {
    let mut dice = Dice::new(index as u64 + 7);
    let mut value = |most: usize| {
        let mut samples = Vec::new();
        for y in 0..height as usize {
            for x in 0..width as usize {
                let slope = (x * (index + 2) + y * (5 - index)) * most / 300;
                samples.push((slope + dice.below(most / 16)) % (most + 1));
            }
        }
        samples
    };
    match depth {
        Depth::U8 => {
            let samples = value(255).into_iter().map(|v| v as u8).collect();
            Plane::U8(Grid::from_samples(width, height, samples).unwrap())
        }
        _ => {
            let samples = value(65_535).into_iter().map(|v| v as u16).collect();
            Plane::U16(Grid::from_samples(width, height, samples).unwrap())
        }
    }
}

/// Creates a test image of a model whose planes are all of full size.
pub(crate) fn test_image(
    model: Model,
    depth: Depth,
    alpha: bool,
    width: u32,
    height: u32,
) -> Image {
    let planes = (0..model.planes())
        .map(|index| {
            let (w, h) = model.plane_size(index, width, height);
            plane(depth, w, h, index)
        })
        .collect();
    let alpha = alpha.then(|| plane(depth, width, height, 3));
    Image::still(Frame::new(model, width, height, planes, alpha).unwrap())
}

/// Returns metadata that survives a round trip. The TIFF block states an orientation of a quarter turn.
pub(crate) fn metadata() -> Metadata {
    let mut exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    exif.push(7);
    let linear = profile_of_gamma(Some(1.0), None, Model::Rgb).expect("a profile");
    let mut icc = linear.to_vec();
    // An odd length.
    icc.resize(icc.len() | 1, 0);
    Metadata {
        icc: Some(icc.into()),
        exif: Some(exif),
        xmp: Some(b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".to_vec()),
        ..Metadata::default()
    }
}

/// Decodes a file at full size with default limits, including metadata.
pub(crate) fn decode(codec: &dyn Codec, file: &[u8]) -> Result<Image> {
    decode_within(codec, file, &Limits::default())
}

/// Decodes like [`decode`], with these limits.
pub(crate) fn decode_within(codec: &dyn Codec, file: &[u8], limits: &Limits) -> Result<Image> {
    let info = codec.probe(file)?;
    decode_at(codec, file, &info, Scale::FULL, limits, &Never)
}

/// Decodes like [`decode`], with all parameters.
pub(crate) fn decode_at(
    codec: &dyn Codec,
    file: &[u8],
    info: &Info,
    scale: Scale,
    limits: &Limits,
    interrupt: &dyn Interrupt,
) -> Result<Image> {
    let how = Decode {
        scales: Scales::both(scale),
        limits,
        interrupt,
        cores: &Alone,
        keep_metadata: true,
    };
    codec.decode(file, info, &how)
}

/// Encodes without an interrupt.
pub(crate) fn encode(codec: &dyn Codec, image: &Image, how: &Encode) -> Vec<u8> {
    codec
        .encoder()
        .expect("an encoder")
        .encode(image, how, &Never)
        .expect("an image as the codec accepts it")
}

/// Checks that an image agrees with the probed header.
pub(crate) fn assert_keeps_promises(info: &Info, image: &Image) {
    let frame = &image.frame;
    assert_eq!((frame.width, frame.height), (info.width, info.height));
    assert_eq!(frame.model, info.model);
    assert_eq!(frame.depth(), info.depth);
    assert_eq!(frame.alpha.is_some(), info.alpha);
}

/// Returns the peak signal-to-noise ratio of two 8-bit planes, in dB.
pub(crate) fn psnr(a: &Plane, b: &Plane) -> f64 {
    let (a, b) = (a.as_u8().expect("8-bit"), b.as_u8().expect("8-bit"));
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let squares: f64 = a
        .samples()
        .iter()
        .zip(b.samples())
        .map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2))
        .sum();
    let mean = squares / a.samples().len() as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-9)).log10()
}

/// Checks that an image which declares 60 000 by 60 000 pixels is rejected for its side and, if that is allowed, for
/// its pixels.
pub(crate) fn assert_refused_for_its_size(codec: &dyn Codec, file: &[u8]) {
    assert!(matches!(
        decode(codec, file),
        Err(Error::Limit {
            bound: Bound::SIDE,
            value: 60_000,
            ..
        })
    ));
    let limits = Limits {
        side: u32::MAX,
        ..Limits::default()
    };
    assert!(matches!(
        decode_within(codec, file, &limits),
        Err(Error::Limit {
            bound: Bound::PIXELS,
            value: 3_600_000_000,
            ..
        })
    ));
}

/// Checks that no prefix of a file crashes the decoder, and that those which lack more than `forgiven` bytes are
/// rejected.
pub(crate) fn assert_prefixes_are_refused(codec: &dyn Codec, file: &[u8], forgiven: usize) {
    for end in 0..file.len() {
        let result = decode(codec, &file[..end]);
        if let Ok(image) = &result {
            assert!(
                end + forgiven >= file.len(),
                "{end} of {} bytes pass for an image of {}×{}",
                file.len(),
                image.frame.width,
                image.frame.height
            );
        }
        if let Err(Error::Internal(why)) = result {
            panic!("{end} of {} bytes: {why}", file.len());
        }
    }
}

/// Checks that thousands of damaged files do not crash the decoder, and that each decoded image agrees with its damaged
/// header.
pub(crate) fn assert_survives_damage(codec: &dyn Codec, file: &[u8], times: usize) {
    let mut dice = Dice::new(file.len() as u64);
    let limits = Limits {
        pixels: 1_000_000,
        ..Limits::default()
    };
    for _ in 0..times {
        let mut damaged = file.to_vec();
        for _ in 0..=dice.below(3) {
            let at = dice.below(damaged.len());
            damaged[at] ^= 1 << dice.below(8);
        }
        let Ok(info) = codec.probe(&damaged) else {
            continue;
        };
        match decode_at(codec, &damaged, &info, Scale::FULL, &limits, &Never) {
            Ok(image) => assert_keeps_promises(&info, &image),
            Err(Error::Internal(why)) => panic!("a damaged file is not our fault: {why}"),
            Err(_) => {}
        }
    }
}

/// An interrupt that fires after a number of checks.
pub(crate) struct After(AtomicU32);

impl After {
    /// Creates an interrupt that fires after `looks` checks.
    pub(crate) fn looks(looks: u32) -> Self {
        Self(AtomicU32::new(looks))
    }
}

impl Interrupt for After {
    fn interrupted(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_err()
    }
}

/// Converts a frame of any model to RGBA rows, with transparent pixels set to 0.
pub(crate) fn rgba(frame: &Frame) -> Vec<u8> {
    let space = frame.colour.space;
    let to = Traits {
        alpha: frame.alpha.is_some(),
        space,
        ..Traits::new(Model::Rgb, Depth::U8)
    };
    let context = Context {
        overlays: &|_| Err(Error::Internal("there are no overlays".to_owned())),
        draw: &|_| Err(Error::Internal("there are no overlays".to_owned())),
        interrupt: &Never,
        cores: &Alone,
    };
    let frame = Convert { to, from: space }.apply(frame.clone(), &context);
    let frame = frame.expect("red, green and blue");
    let plane = |plane: &Plane| plane.as_u8().expect("8 bits").samples().to_vec();
    let planes: Vec<Vec<u8>> = frame.planes.iter().map(plane).collect();
    let alpha = frame.alpha.as_ref().map(plane);
    let mut out = Vec::new();
    for at in 0..planes[0].len() {
        let alpha = alpha.as_ref().map_or(255, |alpha| alpha[at]);
        let seen = |value: u8| if alpha == 0 { 0 } else { value };
        out.extend([
            seen(planes[0][at]),
            seen(planes[1][at]),
            seen(planes[2][at]),
            alpha,
        ]);
    }
    out
}
