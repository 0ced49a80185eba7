//! Files of less common formats, as Pillow reads them: BMP, ICO and TIFF.

use std::process::Command;

use crate::support::{codec, decode, rgba, test_image};
use andon_pixels::{Depth, Encode, Model, Never};

/// Reads a file with Pillow, and returns its mode and size, and its samples of 8 bits in RGBA.
fn pillow(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("file.{name}"));
    std::fs::write(&path, bytes).expect("a file");
    let script = "import sys; from PIL import Image; image = Image.open(sys.argv[1]); image.load(); \
        sys.stdout.buffer.write(image.mode.encode().ljust(8) + image.convert('RGBA').tobytes())";
    let output = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .arg(&path)
        .output()
        .expect("python3 with Pillow");
    let fault = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {fault}");
    let (mode, samples) = output.stdout.split_at(8);
    let mode = String::from_utf8_lossy(mode).trim().to_owned();
    let mut samples = samples.to_vec();
    // The colour of transparent pixels does not matter.
    for pixel in samples.chunks_mut(4).filter(|pixel| pixel[3] == 0) {
        pixel.fill(0);
    }
    (mode, samples)
}

#[test]
fn others_and_we_read_the_same_pixels_that_were_written() {
    for (name, model, alpha, mode) in [
        ("bmp", Model::Rgb, false, "RGB"),
        ("bmp", Model::Rgb, true, "RGBA"),
        ("tiff", Model::Rgb, false, "RGB"),
        ("tiff", Model::Rgb, true, "RGBA"),
        ("tiff", Model::Gray, false, "L"),
        ("tiff", Model::Gray, true, "LA"),
        ("ico", Model::Rgb, true, "RGBA"),
        ("ico", Model::Rgb, false, "RGB"),
    ] {
        // An odd width, whose rows are padded, and several strips.
        let image = test_image(model, Depth::U8, alpha, 67, 145);
        let format = codec(name);
        let file = format
            .encoder()
            .expect("an encoder")
            .encode(&image, &Encode::default(), &Never)
            .expect("a file");
        let want = rgba(&image.frame);
        let (read, theirs) = pillow(name, &file);
        assert_eq!(read, mode, "{name} {model:?}");
        assert!(
            theirs == want,
            "{name} {model:?} {alpha}: Pillow reads other pixels"
        );
        let ours = decode(format, &file).expect("it is read");
        assert!(
            rgba(&ours.frame) == want,
            "{name} {model:?} {alpha}: we read other pixels"
        );
        let info = format.probe(&file).expect("a header");
        assert_eq!(
            (info.width, info.height, info.alpha),
            (67, 145, alpha),
            "{name}"
        );
    }
}

#[test]
fn sixteen_bits_of_a_tiff_come_back() {
    for (model, alpha) in [
        (Model::Rgb, false),
        (Model::Rgb, true),
        (Model::Gray, false),
    ] {
        let image = test_image(model, Depth::U16, alpha, 31, 17);
        let format = codec("tiff");
        let file = format
            .encoder()
            .expect("an encoder")
            .encode(&image, &Encode::default(), &Never)
            .expect("a file");
        let again = decode(format, &file).expect("it is read");
        assert_eq!(again.frame.planes, image.frame.planes, "{model:?}");
        assert_eq!(again.frame.alpha, image.frame.alpha, "{model:?}");
    }
}

#[test]
fn an_icon_with_a_side_that_its_directory_cannot_say_is_refused() {
    let write = |side| {
        let image = test_image(Model::Rgb, Depth::U8, false, side, 8);
        codec("ico")
            .encoder()
            .expect("an encoder")
            .encode(&image, &Encode::default(), &Never)
    };
    assert!(write(256).is_ok());
    let error = write(257).expect_err("too wide");
    assert!(error.to_string().contains("256"), "{error}");
}
