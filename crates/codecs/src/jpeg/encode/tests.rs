//! Tests that libjpeg-turbo and the native decoder decode every written file to identical images.

use andon_pixels::{Alone, Decode, Image, Limits, Never, Scales, Task};
use proptest::prelude::*;

use super::*;
use crate::jpeg::SCALES;
use crate::jpeg::decode::compare::{Verdict, compare};

/// Encodes an image of these planes, and checks that both decoders read the file without a warning and agree.
fn hold(planes: Vec<Plane>, sub: Subsampling, how: &Encode) -> Vec<u8> {
    let (width, height) = (planes[0].width(), planes[0].height());
    let model = match planes.len() {
        1 => Model::Gray,
        _ => Model::ycbcr(sub),
    };
    let image = Image::still(Frame::new(model, width, height, planes, None).unwrap());
    let file = encode(&image, how, &Alone, &Never).expect("a file");
    let verdicts = compare(&file, &SCALES, &Limits::default()).expect("one image");
    assert_eq!(verdicts, [Verdict::Both; 4]);
    file
}

/// Decodes a file at full size.
fn decoded(file: &[u8]) -> Vec<Plane> {
    let header = andon_jpeg::Header::read(file).expect("a header");
    let how = Decode {
        scales: Scales::FULL,
        limits: &Limits::default(),
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let image = crate::jpeg::decode::decode(file, &header, &how).expect("an image");
    image.frame.planes
}

fn quality(quality: u8) -> Encode {
    Encode {
        quality: Some(quality),
        ..Encode::default()
    }
}

/// Returns planes with a gradient and noise, whose amplitude is `rough`.
fn planes(model: Model, width: u32, height: u32, rough: u8, seed: u64) -> Vec<Plane> {
    let mut state = seed | 1;
    let mut plane = |index: usize| {
        let (width, height) = model.plane_size(index, width, height);
        let samples = (0..width * height).map(|at| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let noise = (state >> 33) as u32 % (u32::from(rough) + 1);
            (at % width + at / width + noise) as u8
        });
        Plane::U8(Grid::from_samples(width, height, samples.collect()).unwrap())
    };
    (0..model.planes()).map(&mut plane).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn images_of_any_size_sampling_and_quality_are_read_alike_by_both_decoders(
        (width, height) in (1u32..70, 1u32..70),
        (h, v) in prop::sample::select(vec![(1u8, 1u8), (2, 1), (2, 2), (1, 2), (4, 1), (1, 4), (4, 2), (2, 4)]),
        gray in any::<bool>(),
        steps in 1u8..=100,
        rough in any::<u8>(),
        seed in any::<u64>(),
    ) {
        let sub = Subsampling { h, v };
        let model = if gray { Model::Gray } else { Model::ycbcr(sub) };
        hold(planes(model, width, height, rough, seed), sub, &quality(steps));
    }
}

/// An unlimited number of idle cores: each task gets its own thread.
struct Plenty;

impl Cores for Plenty {
    fn lend(&self, task: Task) -> Option<Task> {
        std::thread::spawn(task);
        None
    }

    fn lends_soon(&self) -> bool {
        true
    }
}

#[test]
fn idle_cores_change_no_byte() {
    for (model, (width, height), rough) in [
        (Model::Gray, (1001, 700), 40),
        (Model::ycbcr(Subsampling::NONE), (640, 423), 255),
        (Model::ycbcr(Subsampling::C420), (1101, 703), 9),
        (Model::ycbcr(Subsampling { h: 1, v: 2 }), (500, 1001), 90),
        // Bands of one row of MCUs, and fewer rows than bands.
        (Model::ycbcr(Subsampling { h: 4, v: 2 }), (40_001, 17), 3),
        (Model::ycbcr(Subsampling::C420), (60_000, 3), 3),
    ] {
        let planes = planes(model, width, height, rough, 3);
        let image = Image::still(Frame::new(model, width, height, planes, None).unwrap());
        let alone = encode(&image, &quality(80), &Alone, &Never);
        assert!(encode(&image, &quality(80), &Plenty, &Never) == alone);
    }
}

/// Tests the images that need the most bits: every symbol, codes of 16 bits, bytes of all ones.
#[test]
fn the_strongest_waves_there_are_and_noise_at_full_quality_are_read_alike() {
    for seed in 0..4 {
        let mut noise = planes(Model::ycbcr(Subsampling::C420), 200, 120, 255, seed);
        if let Plane::U8(grid) = &mut noise[0] {
            for (at, sample) in grid.samples_mut().iter_mut().enumerate() {
                // One half of the image alternates between black and white; the other half is noise of the two.
                let white = if at % 200 < 100 {
                    (at ^ (at / 200)) & 1 == 1
                } else {
                    *sample > 127
                };
                *sample = 255 * u8::from(white);
            }
        }
        hold(noise, Subsampling::C420, &quality(100));
    }
}

#[test]
fn an_image_at_full_quality_differs_by_rounding_alone() {
    let planes = planes(Model::Gray, 61, 47, 90, 5);
    let file = hold(planes.clone(), Subsampling::NONE, &quality(100));
    let read = decoded(&file);
    let pairs = [&planes[0], &read[0]].map(|plane| plane.as_u8().expect("8 bits").samples());
    for (a, b) in pairs[0].iter().zip(pairs[1]) {
        assert!(a.abs_diff(*b) <= 3, "{a} became {b}");
    }
}

#[test]
fn a_progressive_file_has_the_same_pixels_in_fewer_bytes() {
    let progressive = Encode {
        progressive: true,
        ..quality(80)
    };
    for (model, size, rough) in [
        (Model::Gray, (1001, 700), 40),
        (Model::ycbcr(Subsampling::C420), (1101, 703), 9),
        (Model::ycbcr(Subsampling { h: 1, v: 2 }), (500, 1001), 20),
        (Model::ycbcr(Subsampling::NONE), (1, 1), 3),
    ] {
        let sub = match model {
            Model::YCbCr { sub, .. } => sub,
            _ => Subsampling::NONE,
        };
        let planes = planes(model, size.0, size.1, rough, 7);
        let files = [quality(80), progressive.clone()].map(|how| hold(planes.clone(), sub, &how));
        let [one, several] = files.each_ref().map(|file| decoded(file));
        assert!(one == several, "{size:?}");
    }
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/photos/otter.jpg"
    );
    let photo = decoded(&std::fs::read(path).expect("a sample"));
    let [one, several] =
        [quality(80), progressive].map(|how| hold(photo.clone(), Subsampling::C420, &how).len());
    assert!(several < one, "{several} and {one} bytes");
}
