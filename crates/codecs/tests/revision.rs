//! `Format::revision` counts the changes of a codec's results. The test compares hashes of every sample file's samples,
//! and of files written with each of the options.
//!
//! Recorded on x86-64. The C libraries may round differently on other families of processors; no result of this test
//! depends on the instruction set within one.
#![cfg(target_arch = "x86_64")]

#[path = "../../pixels/tests/blessed/mod.rs"]
mod blessed;
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use andon_codecs::{ALL, BEHIND_FEATURES};
use andon_kernels::cpu::{Level, limited_to};
use andon_pixels::{
    Codec, Depth, Encode, Encoder, Image, Limits, Model, Never, Plane, Range, Space, Subsampling,
    Traits,
};

use support::{decode_at, encode, test_image};

#[test]
fn changed_samples_and_files_have_a_new_revision() {
    for codec in usual() {
        let name = codec.name();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/revision/{name}.txt"));
        let rows = results(codec);
        assert!(!rows.is_empty(), "{name} has no results");
        let plain = limited_to(Level::Baseline, || results(codec));
        assert!(plain == rows, "{name} depends on the instruction set");
        let place = format!("`revision` of the {name} codec");
        blessed::compare(&file, codec.format().revision, &place, &rows);
    }
}

#[test]
fn most_formats_have_samples() {
    let read: usize = usual().map(|codec| read(codec).len()).sum();
    assert!(read > 50, "only {read} samples were read");
}

/// Iterates over the codecs of default builds.
fn usual() -> impl Iterator<Item = &'static dyn Codec> {
    let is_usual = |codec: &&dyn Codec| !BEHIND_FEATURES.contains(&codec.name());
    ALL.iter().copied().filter(is_usual)
}

fn results(codec: &dyn Codec) -> BTreeMap<String, u64> {
    let mut rows = read(codec);
    rows.extend(written(codec));
    rows
}

/// Returns hashes of the format's sample files at every scale.
fn read(codec: &dyn Codec) -> BTreeMap<String, u64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(codec.name());
    let mut rows = BTreeMap::new();
    // For formats without a folder of samples, only writing is tested.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let bytes = std::fs::read(entry.path()).expect("a sample");
        let info = codec.probe(&bytes).expect("a header");
        if !is_exact(codec, info.lossless) {
            continue;
        }
        for scale in codec.scales(&info) {
            let image = decode_at(codec, &bytes, &info, *scale, &Limits::default(), &Never);
            let image = image.expect("a sound file");
            let name = entry.file_name().to_string_lossy().into_owned();
            rows.insert(format!("read {name} at {}/8", scale.0), hash(&image));
        }
    }
    rows
}

/// Whether the result is the same with every instruction set. JPEG XL's transforms are floating-point, so the last bit
/// of lossy results depends on it.
fn is_exact(codec: &dyn Codec, lossless: bool) -> bool {
    lossless || codec.name() != "jxl"
}

/// Returns hashes of an image of every model, written with every option.
fn written(codec: &dyn Codec) -> BTreeMap<String, u64> {
    let mut rows = BTreeMap::new();
    for (model, depth, alpha) in IMAGES {
        for (option, how) in ways(codec) {
            let have = Traits {
                model: *model,
                depth: *depth,
                alpha: *alpha,
                space: Space::UNSPECIFIED,
            };
            // Frames in other models would be converted before the codec gets them.
            let exact = is_exact(codec, how.lossless);
            let accepts = |encoder: &dyn Encoder| encoder.accepts(have, &how) == have;
            if exact && codec.encoder().is_some_and(accepts) {
                let file = encode(codec, &test_image(*model, *depth, *alpha, 67, 45), &how);
                let name = format!("write {} | {option}", andon_pixels::color::name(have));
                rows.insert(name, blessed::hash(&file));
            }
        }
    }
    rows
}

const IMAGES: &[(Model, Depth, bool)] = &[
    (Model::Gray, Depth::U8, false),
    (Model::Gray, Depth::U16, true),
    (Model::Rgb, Depth::U8, false),
    (Model::Rgb, Depth::U8, true),
    (Model::Rgb, Depth::U16, false),
    (Model::Cmyk, Depth::U8, false),
    (ycbcr(Subsampling::NONE, Range::Full), Depth::U8, false),
    (ycbcr(Subsampling::C420, Range::Full), Depth::U8, false),
    (ycbcr(Subsampling::C420, Range::Limited), Depth::U8, false),
    (ycbcr(Subsampling::C420, Range::Limited), Depth::U8, true),
];

const fn ycbcr(sub: Subsampling, range: Range) -> Model {
    Model::YCbCr {
        sub,
        range,
        matrix: andon_pixels::Matrix::Bt601,
    }
}

/// Returns all options that some format has; only those of this codec are used.
fn ways(codec: &dyn Codec) -> Vec<(&'static str, Encode)> {
    let plain = Encode::default;
    let quality = |quality| Encode {
        quality: Some(quality),
        ..plain()
    };
    let own = |options: &[(&str, &str)]| Encode {
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..plain()
    };
    let ways = [
        ("q 30", quality(30)),
        ("q 85", quality(85)),
        ("q 100", quality(100)),
        (
            "lossless",
            Encode {
                lossless: true,
                ..plain()
            },
        ),
        (
            "progressive",
            Encode {
                progressive: true,
                ..plain()
            },
        ),
        (
            "effort 6",
            Encode {
                effort: Some(6),
                ..plain()
            },
        ),
        (
            "level 3, filter none",
            own(&[("level", "3"), ("filter", "none")]),
        ),
        (
            "level 8, filter adaptive",
            own(&[("level", "8"), ("filter", "adaptive")]),
        ),
        ("colours 16", own(&[("colours", "16")])),
        ("near-lossless 40", own(&[("near-lossless", "40")])),
    ];
    let taken = |option: &str| {
        let name = option.split([' ', ',']).next();
        let options = codec
            .encoder()
            .map_or(&[][..], |encoder| encoder.options())
            .iter();
        options.map(|word| word.name).any(|word| Some(word) == name)
    };
    let ways = ways.into_iter().filter(|(option, _)| taken(option));
    [("default", plain())].into_iter().chain(ways).collect()
}

fn hash(image: &Image) -> u64 {
    let mut bytes = Vec::new();
    let frame = &image.frame;
    bytes.extend(frame.width.to_le_bytes());
    for plane in frame.planes.iter().chain(&frame.alpha) {
        match plane {
            Plane::U8(grid) => bytes.extend(grid.samples()),
            Plane::U16(grid) => bytes.extend(
                grid.samples()
                    .iter()
                    .flat_map(|sample| sample.to_le_bytes()),
            ),
        }
    }
    blessed::hash(&bytes)
}
