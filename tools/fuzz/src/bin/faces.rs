#![no_main]
//! Fuzzes face detection with any gray image. The first byte is its width, the second its height, and the others are
//! its samples. The samples determine which parts of the image the detector reads next.

use andon_faces::{Gray, find};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [width, height, samples @ ..] = bytes else {
        return;
    };
    let (width, height) = (u32::from(*width), u32::from(*height));
    let Some(samples) = samples.get(..(width * height) as usize) else {
        return;
    };
    let Some(image) = Gray::new(samples, width, height) else {
        panic!("{width} x {height} px is no size");
    };
    let faces = find(image, &|| true);
    assert!(faces.is_some(), "nobody interrupted it");
});
