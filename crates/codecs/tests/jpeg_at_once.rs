//! Decoding of several scales of one JPEG at once: the results equal those of separate decodes.

use std::path::{Path, PathBuf};

use andon_pixels::buffers::Buffer;
use andon_pixels::{Alone, Codec, Decode, Error, Image, Limits, Never, Result, Scale, Scales};

use crate::support::{Dice, codec, jpegs, samples};

/// Scales that are decoded at once, as plans request them: equal ones for luma and chroma, or a smaller one for chroma.
/// One of them occurs twice.
const TOGETHER: [Scales; 5] = [
    Scales::both(Scale::EIGHTH),
    Scales::both(Scale::HALF),
    Scales {
        luma: Scale::HALF,
        chroma: Scale::QUARTER,
    },
    Scales::both(Scale::QUARTER),
    Scales::both(Scale::HALF),
];

#[test]
fn each_scale_is_what_it_would_have_been_alone() {
    let mut checked = 0;
    for path in files() {
        let file = std::fs::read(&path).expect("a sample");
        match at_once(&file) {
            Ok(Some(images)) => {
                checked += 1;
                for (scales, image) in TOGETHER.iter().zip(&images) {
                    let alone = alone(&file, *scales);
                    assert!(alone.as_ref() == Ok(image), "{} {scales:?}", path.display());
                }
            }
            // Decoded by libjpeg-turbo, which makes one scale at a time.
            Ok(None) => {}
            Err(Error::Unsupported { .. }) => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    assert!(checked > 10, "{checked} files");
}

#[test]
fn damage_never_passes_for_another_image() {
    let folder = samples("jpeg");
    for name in ["420.jpg", "progressive-420.jpg"] {
        let file = std::fs::read(folder.join(name)).expect("a sample");
        let mut dice = Dice::new(7);
        for _ in 0..300 {
            let mut damaged = file.clone();
            for _ in 0..3 {
                damaged[dice.below(file.len())] ^= 1 << dice.below(8);
            }
            let Ok(Some(images)) = at_once(&damaged) else {
                continue;
            };
            for (scales, image) in TOGETHER.iter().zip(&images) {
                assert!(alone(&damaged, *scales).as_ref() == Ok(image), "{name}");
            }
        }
    }
}

#[test]
fn what_free_buffers_held_is_seen_in_no_image() {
    let file = std::fs::read(samples("large").join("canyon-wren.jpg")).expect("a sample");
    let scales = [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL].map(Scales::both);
    // The last two files are cut off.
    for length in [file.len(), file.len() / 2, file.len() / 5] {
        for scales in scales {
            let decode = || alone(&file[..length], scales);
            let Ok(Image { frame, .. }) = decode() else {
                continue;
            };
            let [first, second] = [0x55_u8, 0xaa].map(|mark| {
                for plane in &frame.planes {
                    let samples = plane.width() as usize * plane.height() as usize;
                    drop(Buffer::from(vec![mark; samples]));
                }
                decode()
            });
            assert!(first == second, "{length} bytes, {scales:?}");
        }
    }
}

#[test]
fn files_with_restart_markers_are_decoded_at_once_as_alone_damaged_ones_too() {
    let together = [Scales::both(Scale::QUARTER), Scales::both(Scale::EIGHTH)];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg");
    let (mut whole, mut broken) = (0, 0);
    for path in [
        samples("jpeg").join("restart.jpg"),
        fixtures.join("restart-5.jpg"),
        fixtures.join("restart-29.jpg"),
        fixtures.join("restart-row.jpg"),
        fixtures.join("gray-2x2.jpg"),
    ] {
        let file = std::fs::read(&path).expect("a file with restart markers");
        let mut dice = Dice::new(11);
        for round in 0..400 {
            let mut damaged = file.clone();
            // Most of the damage is in the entropy-coded data; the first file is undamaged.
            for _ in 0..round % 4 {
                damaged[dice.below(file.len())] ^= 1 << dice.below(8);
            }
            if round % 7 == 6 {
                damaged.truncate(dice.below(file.len()));
            }
            let small = alone(&damaged, together[1]);
            match scales_at_once(&damaged, &together) {
                // Decoded by libjpeg-turbo.
                Ok(None) => {}
                Ok(Some(images)) => {
                    whole += 1;
                    assert!(small.as_ref() == Ok(&images[1]), "{}", path.display());
                }
                Err(error) => {
                    broken += 1;
                    assert_eq!(small.err(), Some(error), "{}", path.display());
                }
            }
        }
    }
    assert!(
        whole > 400 && broken > 400,
        "{whole} whole, {broken} broken"
    );
}

#[test]
fn memory_is_counted_for_all_of_them() {
    let file = std::fs::read(samples("jpeg").join("420.jpg")).expect("a sample");
    let largest = |scales: &[Scales], memory| {
        let limits = Limits {
            memory,
            ..Limits::default()
        };
        let info = jpeg().probe(&file).expect("a header");
        jpeg()
            .many_scales()
            .expect("the capability")
            .decode_at_once(&file, &info, &how(&limits), scales)
    };
    let least = |scales: &[Scales]| {
        (0..)
            .map(|step| step << 10)
            .find(|&memory| largest(scales, memory).is_ok())
    };
    assert!(least(&TOGETHER) > least(&TOGETHER[1..2]));
}

fn at_once(file: &[u8]) -> Result<Option<Vec<Image>>> {
    scales_at_once(file, &TOGETHER)
}

fn scales_at_once(file: &[u8], scales: &[Scales]) -> Result<Option<Vec<Image>>> {
    let info = jpeg().probe(file)?;
    jpeg()
        .many_scales()
        .expect("the capability")
        .decode_at_once(file, &info, &how(&Limits::default()), scales)
}

fn alone(file: &[u8], scales: Scales) -> Result<Image> {
    let info = jpeg().probe(file)?;
    let limits = Limits::default();
    let how = Decode {
        scales,
        ..how(&limits)
    };
    jpeg().decode(file, &info, &how)
}

fn how(limits: &Limits) -> Decode<'_> {
    Decode {
        scales: Scales::FULL,
        limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: true,
    }
}

fn jpeg() -> &'static dyn Codec {
    codec("jpeg")
}

/// Returns the paths of the sample JPEGs, and of a few large photos.
fn files() -> Vec<PathBuf> {
    let mut files = jpegs(&samples("jpeg"));
    files.extend(
        ["blue-periwinkle", "canyon-wren"]
            .map(|name| samples("large").join(name).with_extension("jpg")),
    );
    files
}
