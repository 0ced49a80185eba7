#![no_main]
//! Fuzzes the JPEG encoder with any samples as an image of any size and subsampling. Our own decoder and libjpeg-turbo
//! must decode its output alike.

use andon_fuzz::LIMITS;
use andon_pixels::{
    Alone, Decode, Encode, Frame, Grid, Image, Model, Never, Plane, Scales, Subsampling,
};

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
    let model = match kind & 8 {
        0 => Model::ycbcr(Subsampling { h, v }),
        _ => Model::Gray,
    };
    let (width, height) = (u32::from(width % 70) + 1, u32::from(height % 70) + 1);
    // The samples over and over.
    let mut samples = samples.iter().copied().cycle();
    let planes = (0..model.planes()).map(|index| {
        let (width, height) = model.plane_size(index, width, height);
        let all = (0..width * height).map(|_| samples.next().unwrap_or(99));
        Plane::U8(Grid::from_samples(width, height, all.collect()).expect("as many samples"))
    });
    let frame = Frame::new(model, width, height, planes.collect(), None);
    let image = Image::still(frame.expect("planes that fit"));
    let codec = andon_codecs::ALL
        .iter()
        .find(|codec| codec.name() == "jpeg");
    let how = Encode {
        quality: Some(quality % 100 + 1),
        progressive: kind & 16 != 0,
        ..Encode::default()
    };
    let codec = codec.expect("JPEG");
    let encoder = codec.encoder().expect("an encoder");
    let file = encoder.encode(&image, &how, &Never).expect("a file");
    let how = Decode {
        scales: Scales::FULL,
        limits: &LIMITS,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let read = codec
        .probe(&file)
        .and_then(|info| codec.decode(&file, &info, &how));
    let size = read.map(|image| (image.frame.width, image.frame.height));
    assert_eq!(size, Ok((width, height)));
    if let Err(difference) = andon_codecs::compare_jpeg_decoders(&file, &LIMITS) {
        panic!("{difference}");
    }
});
