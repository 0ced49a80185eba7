#![no_main]
//! Fuzzes the JPEG encoder with any samples as an image of any size and subsampling. Andon's decoder and libjpeg-turbo
//! must decode its output alike.

use andon_fuzz::LIMITS;
use andon_jpeg::{Image, Plane, Subsampling};
use andon_pixels::{Encode, Frame, Grid, Model, Never};

const SUBSAMPLINGS: [(u8, u8); 8] = [
    (1, 1),
    (2, 1),
    (2, 2),
    (1, 2),
    (4, 1),
    (1, 4),
    (4, 2),
    (2, 4),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [width, height, quality, kind, samples @ ..] = bytes else {
        return;
    };
    let (h, v) = SUBSAMPLINGS[usize::from(kind % 8)];
    let sub = Subsampling { h, v };
    let (width, height) = (u32::from(width % 70) + 1, u32::from(height % 70) + 1);
    let chroma = sub.chroma_size(width, height);
    let sizes = match kind & 8 {
        0 => vec![(width, height), chroma, chroma],
        _ => vec![(width, height)],
    };
    // The input's samples, repeated.
    let mut samples = samples.iter().copied().cycle();
    let planes = sizes.into_iter().map(|(width, height)| Plane {
        width,
        height,
        samples: (0..width * height)
            .map(|_| samples.next().unwrap_or(99))
            .collect(),
    });
    let image = Image {
        planes: planes.collect(),
        sub,
    };
    let quality = quality % 100 + 1;
    let file = match kind & 16 {
        0 => andon_jpeg::encode(image, quality).expect("a file"),
        _ => progressive(image, quality),
    };
    let read = andon_jpeg::decode(&file).expect("an image");
    assert_eq!(
        (read.planes[0].width, read.planes[0].height),
        (width, height)
    );
    if let Err(difference) = andon_codecs::compare_jpeg_decoders(&file, &LIMITS) {
        panic!("{difference}");
    }
});

/// Encodes an image as a progressive JPEG.
fn progressive(image: Image, quality: u8) -> Vec<u8> {
    let (width, height) = (image.planes[0].width, image.planes[0].height);
    let model = match image.planes.len() {
        1 => Model::Gray,
        _ => Model::ycbcr(andon_pixels::Subsampling {
            h: image.sub.h,
            v: image.sub.v,
        }),
    };
    let planes = image.planes.into_iter().map(|plane| {
        let grid = Grid::from_samples(plane.width, plane.height, plane.samples);
        andon_pixels::Plane::U8(grid.expect("as many samples"))
    });
    let frame = Frame::new(model, width, height, planes.collect(), None);
    let image = andon_pixels::Image::still(frame.expect("planes that fit"));
    let options = Encode {
        quality: Some(quality),
        progressive: true,
        ..Encode::default()
    };
    let codec = andon_codecs::ALL
        .iter()
        .find(|codec| codec.name() == "jpeg");
    let encoder = codec.and_then(|codec| codec.encoder()).expect("JPEG");
    encoder.encode(&image, &options, &Never).expect("a file")
}
