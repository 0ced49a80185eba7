//! JPEG, through the codec trait: planes survive writing and reading, images decoded at smaller scales are similar to
//! averages of the full decode, and damaged files are neither accepted nor crash the decoder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use andon_pixels::{
    Bound, Codec, Decode, Depth, Encode, Error, Frame, Grid, Image, Info, Interrupt, Limits,
    Matrix, Metadata, Model, Never, Orientation, Plane, Range, Result, Scale, Scales, Space,
    Subsampling, Traits,
};

fn jpeg() -> &'static dyn Codec {
    *andon_codecs::ALL
        .iter()
        .find(|codec| codec.name() == "jpeg")
        .expect("JPEG is listed")
}

// ---- round trips ----

#[test]
fn planes_come_back_at_every_subsampling_and_size() {
    for sub in SUBSAMPLINGS {
        for (width, height) in SIZES {
            for progressive in [false, true] {
                let image = test_image(Model::ycbcr(sub), width, height);
                let how = Encode {
                    quality: Some(97),
                    progressive,
                    ..Encode::default()
                };
                let file = encode(&image, &how);
                let info = probe(&file);
                assert_eq!((info.width, info.height), (width, height));
                assert_eq!(info.model, Model::ycbcr(sub));
                assert_eq!(info.progressive, progressive);
                let back = decode(&file).expect("our own file");
                assert_alike(&back.frame, &image.frame, 38.0);
            }
        }
    }
}

#[test]
fn gray_comes_back() {
    for (width, height) in SIZES {
        let image = test_image(Model::Gray, width, height);
        let file = encode(
            &image,
            &Encode {
                quality: Some(95),
                ..Encode::default()
            },
        );
        assert_eq!(probe(&file).model, Model::Gray);
        assert_alike(
            &decode(&file).expect("our own file").frame,
            &image.frame,
            38.0,
        );
    }
}

#[test]
fn ink_comes_back_and_no_ink_is_zero() {
    for (width, height) in SIZES {
        let image = test_image(Model::Cmyk, width, height);
        let file = encode(
            &image,
            &Encode {
                quality: Some(95),
                ..Encode::default()
            },
        );
        assert_eq!(probe(&file).model, Model::Cmyk);
        assert_alike(
            &decode(&file).expect("our own file").frame,
            &image.frame,
            38.0,
        );
    }
    // Other programs expect Adobe's convention.
    let file = encode(&test_image(Model::Cmyk, 8, 8), &Encode::default());
    let adobe = file
        .windows(5)
        .position(|window| window == b"Adobe")
        .expect("an Adobe marker");
    assert_eq!(file[adobe + 11], 0, "no colour transform");
}

#[test]
fn a_flat_image_comes_back_flat() {
    let (y, cb, cr) = (90, 40, 200);
    for sub in SUBSAMPLINGS {
        let model = Model::ycbcr(sub);
        let planes = [y, cb, cr].into_iter().enumerate().map(|(index, value)| {
            let (width, height) = model.plane_size(index, 37, 23);
            Plane::filled(Depth::U8, width, height, value)
        });
        let image = Image::still(Frame::new(model, 37, 23, planes.collect(), None).unwrap());
        let file = encode(
            &image,
            &Encode {
                quality: Some(95),
                ..Encode::default()
            },
        );
        for scale in SCALES {
            let back = decode_at(&file, scale).expect("our own file");
            for (plane, value) in back.frame.planes.iter().zip([y, cb, cr]) {
                let samples = plane.as_u8().expect("8 bits").samples();
                assert!(
                    samples.iter().all(|&s| s.abs_diff(value as u8) <= 1),
                    "{sub:?} {scale:?}"
                );
            }
        }
    }
}

// ---- scales ----

#[test]
fn a_small_decode_is_the_average_of_the_large_one() {
    for sub in SUBSAMPLINGS {
        for (width, height) in [(64, 48), (131, 97), (33, 70), (15, 9)] {
            for progressive in [false, true] {
                let how = Encode {
                    quality: Some(95),
                    progressive,
                    ..Encode::default()
                };
                let file = encode(&test_image(Model::ycbcr(sub), width, height), &how);
                check_scales(&file, 33.0);
            }
        }
    }
}

#[test]
fn sample_images_of_every_kind_scale_like_their_average() {
    for path in jpegs(&root().join("samples/jpeg")) {
        let file = std::fs::read(&path).expect("a sample");
        match jpeg().probe(&file) {
            Ok(_) => check_scales(&file, 24.0),
            Err(Error::Unsupported { what, .. }) => eprintln!("{}: {what}", path.display()),
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
}

#[test]
fn photos_scale_like_their_average() {
    // One of each kind: 4:2:0, 4:4:4 with an odd width, progressive 4:4:4 with odd sides.
    for name in ["canyon-wren", "high-trestle-trail", "ocean-waves"] {
        let path = root().join(format!("samples/large/{name}.jpg"));
        check_scales(&std::fs::read(path).expect("a photo"), 27.0);
    }
}

#[test]
fn sample_images_of_every_kind_show_the_same_scene() {
    let folder = root().join("samples/jpeg");
    let scene = luma(&std::fs::read(folder.join("444.jpg")).expect("a sample"));
    for name in [
        "420",
        "422",
        "440",
        "411",
        "gray",
        "gray-progressive",
        "progressive-420",
        "progressive-444",
        "restart",
        "rgb",
        "cmyk",
        "ycck",
        "q55",
    ] {
        let file = std::fs::read(folder.join(name).with_extension("jpg")).expect("a sample");
        let near = psnr_of(
            &luma(&file),
            &scene.iter().map(|&s| s.into()).collect::<Vec<_>>(),
        );
        assert!(near > 30.0, "{name}: {near:.1} dB");
    }
}

#[test]
fn rare_ways_of_storing_show_the_same_scene() {
    let fixture = |name: &str| std::fs::read(here(name)).expect("a fixture");
    let scene: Vec<f64> = luma(&fixture("plain.jpg"))
        .into_iter()
        .map(f64::from)
        .collect();
    let (full, c420) = (
        Model::ycbcr(Subsampling::NONE),
        Model::ycbcr(Subsampling::C420),
    );
    for (name, model, psnr) in [
        ("mixed-sampling.jpg", full, 33.0),
        ("thirds.jpg", full, 33.0),
        // In this file, luma is subsampled.
        ("fine-chroma.jpg", full, 20.0),
        ("three-scans.jpg", c420, 33.0),
        ("arithmetic.jpg", c420, 33.0),
        ("gray-2x2.jpg", Model::Gray, 33.0),
    ] {
        let file = fixture(name);
        assert_eq!(probe(&file).model, model, "{name}");
        let near = psnr_of(&luma(&file), &scene);
        assert!(near > psnr, "{name}: {near:.1} dB");
        check_scales(&file, 22.0);
        for length in (0..file.len() - 2).step_by(97) {
            assert!(decode(&file[..length]).is_err(), "{name} cut at {length}");
        }
    }
}

/// Checks that every scale has the expected size and is similar to the box average of the full decode.
fn check_scales(file: &[u8], psnr: f64) {
    let info = probe(file);
    let full = decode(file).expect("a whole image");
    assert_eq!(full.frame.model, info.model);
    for &scale in jpeg().scales(&info) {
        let small = decode_at(file, scale).expect("a whole image");
        let small = &small.frame;
        assert_eq!((small.width, small.height), info.scaled(scale));
        let traits = jpeg().decoded(&info, Scales::both(scale));
        assert_eq!(small.model, traits.model);
        let planes = full.frame.planes.iter().zip(&small.planes);
        for (index, (full, small)) in planes.enumerate() {
            let (full, small) = (
                full.as_u8().expect("8 bits"),
                small.as_u8().expect("8 bits"),
            );
            let average = box_average(full, 8 / u32::from(scale.0), small.width(), small.height());
            let near = psnr_of(small.samples(), &average);
            assert!(
                near > psnr,
                "plane {index} of {info:?} at {scale:?}: {near:.1} dB"
            );
        }
    }
}

/// The expected result: each small sample is the floating-point mean of the large ones under it. Beyond the edges the
/// last sample is repeated, as writers fill their blocks.
fn box_average(full: &Grid<u8>, factor: u32, width: u32, height: u32) -> Vec<f64> {
    let (right, foot) = (full.width() - 1, full.height() - 1);
    let mut means = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let mut sum = 0.0;
            for yy in y * factor..(y + 1) * factor {
                for xx in x * factor..(x + 1) * factor {
                    sum += f64::from(full.row(yy.min(foot))[xx.min(right) as usize]);
                }
            }
            means.push(sum / f64::from(factor * factor));
        }
    }
    means
}

// ---- headers ----

#[test]
fn standard_tables_may_be_left_out_and_a_sequential_band_may_be_odd() {
    let file = std::fs::read(here("plain.jpg")).expect("a sample");
    let mut bare = file.clone();
    while let Some(at) = bare.windows(2).position(|pair| pair == [0xff, 0xc4]) {
        let length = usize::from(u16::from_be_bytes([bare[at + 2], bare[at + 3]]));
        bare.drain(at..at + 2 + length);
    }
    assert!(bare.len() < file.len());
    let mut odd = file.clone();
    let scan = odd.windows(2).position(|pair| pair == [0xff, 0xda]);
    // Three components: the end of the band is the last but one byte of the scan header.
    odd[scan.expect("a scan") + 12] = 0;
    for scale in [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL] {
        let whole = decode_at(&file, scale).expect("decodes");
        for variant in [&bare, &odd] {
            let read = decode_at(variant, scale).expect("decodes");
            // Files without tables are decoded by libjpeg, whose 1/2 and 1/4 are softer than ours.
            assert_alike(&read.frame, &whole.frame, 28.0);
        }
    }
}

#[test]
fn the_quality_is_told_exactly() {
    for model in [Model::Gray, Model::ycbcr(Subsampling::C420), Model::Cmyk] {
        let image = test_image(model, 16, 16);
        for quality in 1..=100 {
            let file = encode(
                &image,
                &Encode {
                    quality: Some(quality),
                    ..Encode::default()
                },
            );
            assert_eq!(probe(&file).quality, Some(quality), "{model:?}");
        }
    }
}

/// Compares the luma of our files with Pillow's decoder. The encoder's own tests compare the native decoder with
/// libjpeg-turbo.
#[test]
fn pillow_reads_the_same_luma_out_of_our_files() {
    const READ: &str = "import sys\n\
        from PIL import Image\n\
        for path in sys.argv[1:]:\n    \
            image = Image.open(path)\n    \
            if image.mode != 'L': image.draft('YCbCr', None)\n    \
            open(path + '.luma', 'wb').write(image.split()[0].tobytes())\n";
    let folder = tempfile::tempdir().expect("a folder");
    let models = SUBSAMPLINGS.map(Model::ycbcr);
    let mut paths = Vec::new();
    for (n, &model) in models.iter().chain([&Model::Gray]).enumerate() {
        for quality in [5, 60, 100] {
            let how = Encode {
                quality: Some(quality),
                ..Encode::default()
            };
            let path = folder.path().join(format!("{n}-{quality}.jpg"));
            std::fs::write(&path, encode(&test_image(model, 101, 75), &how)).expect("a file");
            paths.push(path);
        }
    }
    let read = Command::new("/usr/bin/python3")
        .args(["-W", "error", "-c", READ])
        .args(&paths)
        .status();
    assert!(read.expect("python3 with Pillow").success());
    for path in paths {
        let ours = luma(&std::fs::read(&path).expect("a file"));
        let theirs = std::fs::read(path.with_extension("jpg.luma")).expect("samples");
        assert!(ours == theirs, "{}", path.display());
    }
}

#[test]
fn the_quality_is_92_where_none_is_said() {
    let image = test_image(Model::Gray, 16, 16);
    assert_eq!(probe(&encode(&image, &Encode::default())).quality, Some(92));
}

#[test]
fn profiles_travel_along_only_when_kept() {
    let mut image = test_image(Model::ycbcr(Subsampling::C420), 40, 30);
    assert!(!probe(&encode(&image, &Encode::default())).metadata);
    image.metadata = Metadata {
        // Longer than one segment.
        icc: Some((0..150_000u32).map(|i| (i % 251) as u8).collect()),
        exif: Some(exif(6)),
        iptc: Some(b"\x1c\x02\x74\0\x03(c)".to_vec()),
        xmp: Some(b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".to_vec()),
    };
    let file = encode(&image, &Encode::default());
    let info = probe(&file);
    assert!(info.metadata);
    assert_eq!(info.orientation, Orientation::from_exif(6));

    let limits = Limits::default();
    let mut how = ask(Scale::FULL, &limits, &Never);
    how.keep_metadata = true;
    let kept = jpeg().decode(&file, &info, &how).expect("our own file");
    assert_eq!(kept.metadata, image.metadata);
    how.keep_metadata = false;
    let bare = jpeg().decode(&file, &info, &how).expect("our own file");
    assert_eq!(bare.metadata, Metadata::default());

    let tight = Limits {
        metadata_bytes: 1000,
        ..Limits::default()
    };
    let mut how = ask(Scale::FULL, &tight, &Never);
    how.keep_metadata = true;
    let refused = jpeg().decode(&file, &info, &how);
    assert!(matches!(
        refused,
        Err(Error::Limit {
            bound: Bound::METADATA_BYTES,
            ..
        })
    ));
}

#[test]
fn an_exif_block_that_fits_no_segment_is_left_out_but_for_its_orientation() {
    let mut image = test_image(Model::Gray, 8, 8);
    for (orientation, length, kept) in [
        (1, 65_527, Some(65_527)),
        (1, 65_528, None),
        (3, 65_527, Some(65_527)),
        (3, 65_528, Some(26)),
    ] {
        let mut block = exif(orientation);
        block.resize(length, 0);
        image.metadata.exif = Some(block);
        let file = encode(&image, &Encode::default());
        let info = probe(&file);
        assert_eq!(info.orientation, Orientation::from_exif(orientation));
        let limits = Limits::default();
        let mut how = ask(Scale::FULL, &limits, &Never);
        how.keep_metadata = true;
        let back = jpeg().decode(&file, &info, &how).expect("our own file");
        assert_eq!(back.metadata.exif.map(|block| block.len()), kept);
    }
}

#[test]
fn every_orientation_is_told() {
    let mut image = test_image(Model::Gray, 8, 8);
    for value in 0..=9 {
        image.metadata.exif = Some(exif(value));
        let info = probe(&encode(&image, &Encode::default()));
        assert_eq!(info.orientation, Orientation::from_exif(value));
    }
}

#[test]
fn stray_bytes_between_segments_are_passed_over() {
    let file = encode(&test_image(Model::Gray, 16, 16), &Encode::default());
    let mut stray = file[..2].to_vec();
    stray.extend([1, 2, 3, 0xff, 0, 0xff, 0xff]);
    stray.extend(&file[2..]);
    assert_eq!(decode(&stray), decode(&file));
    let mut tail = file.clone();
    tail.extend([0; 100]);
    assert_eq!(decode(&tail), decode(&file));
}

#[test]
fn what_no_browser_reads_is_refused_by_name() {
    let file = encode(&test_image(Model::Gray, 16, 16), &Encode::default());
    let frame = file
        .windows(2)
        .position(|pair| pair == [0xff, 0xc0])
        .expect("a frame");
    let refusal = |at: usize, value: u8| {
        let mut changed = file.clone();
        changed[frame + at] = value;
        jpeg()
            .probe(&changed)
            .expect_err("not supported")
            .to_string()
    };
    assert!(refusal(1, 0xc3).contains("lossless"));
    assert!(refusal(1, 0xc5).contains("hierarchical"));
    assert!(refusal(4, 12).contains("12 bits"));
}

// ---- damage, limits, interrupts ----

#[test]
fn no_prefix_of_a_file_passes_for_the_whole_that_lacks_more_than_its_end_marker() {
    for progressive in [false, true] {
        let how = Encode {
            progressive,
            ..Encode::default()
        };
        let file = encode(&test_image(Model::ycbcr(Subsampling::C420), 40, 30), &how);
        let info = probe(&file);
        let limits = Limits::default();
        for length in 0..file.len() - 2 {
            let cut = &file[..length];
            let decoded = jpeg().decode(cut, &info, &ask(Scale::FULL, &limits, &Never));
            assert!(
                matches!(decoded, Err(Error::Broken { .. })),
                "{length} of {}",
                file.len()
            );
            if let Err(error) = jpeg().probe(cut) {
                assert!(matches!(error, Error::Broken { .. }));
            }
        }
    }
}

#[test]
fn broken_samples_are_refused() {
    for path in jpegs(&root().join("samples/broken")) {
        let file = std::fs::read(&path).expect("a sample");
        let decoded = decode(&file).map(|image| image.frame.width);
        let refused = matches!(decoded, Err(Error::Broken { .. } | Error::Limit { .. }));
        assert!(refused, "{}: {decoded:?}", path.display());
    }
}

#[test]
fn flipped_bits_are_an_error_or_an_image() {
    let mut random = Random(7);
    for model in [Model::Gray, Model::ycbcr(Subsampling::C420), Model::Cmyk] {
        for progressive in [false, true] {
            let how = Encode {
                progressive,
                ..Encode::default()
            };
            let file = encode(&test_image(model, 45, 37), &how);
            for round in 0..1500 {
                let mut damaged = file.clone();
                for _ in 0..1 + random.below(3) {
                    // In half of the rounds, only the header is damaged, where the structure is.
                    let reach = if round % 2 == 0 {
                        file.len().min(700)
                    } else {
                        file.len()
                    };
                    damaged[random.below(reach)] ^= 1 << random.below(8);
                }
                for scale in [Scale::FULL, Scale::EIGHTH, Scale::HALF] {
                    let _ = decode_within(&damaged, scale, &small_limits());
                }
            }
        }
    }
}

#[test]
fn random_segments_are_an_error_or_an_image() {
    let mut random = Random(11);
    let file = encode(
        &test_image(Model::ycbcr(Subsampling::C420), 45, 37),
        &Encode::default(),
    );
    for _ in 0..2000 {
        let mut damaged = file.clone();
        let start = random.below(file.len());
        let end = (start + random.below(40)).min(file.len());
        match random.below(3) {
            0 => drop(damaged.drain(start..end)),
            1 => damaged[start..end]
                .iter_mut()
                .for_each(|byte| *byte = random.below(256) as u8),
            _ => {
                let again = damaged[start..end].to_vec();
                damaged.splice(start..start, again);
            }
        }
        let _ = decode_within(&damaged, Scale::QUARTER, &small_limits());
    }
}

#[test]
fn a_header_that_has_changed_since_the_probe_is_no_danger() {
    let small = encode(&test_image(Model::Gray, 8, 8), &Encode::default());
    let large = encode(
        &test_image(Model::ycbcr(Subsampling::C420), 80, 80),
        &Encode::default(),
    );
    let limits = Limits::default();
    let decoded = jpeg().decode(&large, &probe(&small), &ask(Scale::FULL, &limits, &Never));
    assert_eq!(decoded.map(|image| image.frame.width), Ok(80));
}

#[test]
fn limits_are_kept() {
    let how = Encode {
        progressive: true,
        ..Encode::default()
    };
    let file = encode(&test_image(Model::ycbcr(Subsampling::NONE), 300, 200), &how);
    let refused = |limits: Limits| match decode_within(&file, Scale::FULL, &limits) {
        Err(Error::Limit { bound, .. }) => bound.name,
        other => panic!("{:?}", other.map(|_| "an image")),
    };
    let limits = Limits::default();
    assert_eq!(
        refused(Limits {
            side: 299,
            ..limits
        }),
        "side"
    );
    assert_eq!(
        refused(Limits {
            pixels: 59_999,
            ..limits
        }),
        "pixels"
    );
    assert_eq!(refused(Limits { scans: 3, ..limits }), "scans");
    assert_eq!(
        refused(Limits {
            memory: 200_000,
            ..limits
        }),
        "memory"
    );
    assert!(
        decode_within(
            &file,
            Scale::FULL,
            &Limits {
                scans: 10,
                ..limits
            }
        )
        .is_ok()
    );
}

#[test]
fn scans_are_counted_at_every_scale_and_in_sequential_files_too() {
    let limits = Limits::default();
    let segment = |marker: u8, body: &[u8]| {
        let length = (body.len() as u16 + 2).to_be_bytes();
        [&[0xff, marker], &length[..], body].concat()
    };
    let every = [Scale::EIGHTH, Scale::HALF, Scale::FULL];
    // libjpeg rejects scans that refine nothing before it has counted them.
    for (frame, band, scales) in [
        (0xc0, [0, 63, 0], &every[..]),
        (0xc2, [0, 0, 0], &every[..2]),
    ] {
        // Three components, and scans of the first one only, so the image never becomes complete.
        let components = [1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0];
        let mut file = [
            vec![0xff, 0xd8],
            segment(0xdb, &[&[0][..], &[1; 64]].concat()),
            segment(frame, &[&[8, 0, 64, 0, 64, 3][..], &components].concat()),
        ]
        .concat();
        // One code of one bit: zero difference, end of block.
        for class in [0x00, 0x10] {
            let mut codes = [0; 18];
            (codes[0], codes[1]) = (class, 1);
            file.extend(segment(0xc4, &codes));
        }
        for _ in 0..5000 {
            file.extend(segment(0xda, &[&[1, 1, 0][..], &band].concat()));
            file.extend([0; 16]);
        }
        file.extend([0xff, 0xd9]);
        for &scale in scales {
            let refused = decode_within(&file, scale, &limits);
            let counted = matches!(
                refused,
                Err(Error::Limit {
                    bound: Bound::SCANS,
                    value: 101,
                    ..
                })
            );
            assert!(counted, "{scale:?}: {:?}", refused.map(|_| "an image"));
        }
    }
}

#[test]
fn a_side_that_the_format_cannot_hold_is_refused() {
    let image = Image::still(
        Frame::new(
            Model::Gray,
            65_501,
            1,
            vec![Plane::filled(Depth::U8, 65_501, 1, 9)],
            None,
        )
        .unwrap(),
    );
    let refused = jpeg()
        .encoder()
        .expect("an encoder")
        .encode(&image, &Encode::default(), &Never);
    assert!(matches!(
        refused,
        Err(Error::Limit {
            bound: Bound::SIDE,
            limit: 65_500,
            ..
        })
    ));
}

#[test]
fn work_is_dropped_in_the_middle_when_nobody_waits() {
    for progressive in [false, true] {
        let how = Encode {
            progressive,
            ..Encode::default()
        };
        let image = test_image(Model::ycbcr(Subsampling::C420), 200, 400);
        let file = encode(&image, &how);
        let info = probe(&file);
        let limits = Limits::default();

        let patient = After::asks(u32::MAX);
        jpeg()
            .decode(&file, &info, &ask(Scale::FULL, &limits, &patient))
            .expect("an image");
        jpeg()
            .encoder()
            .expect("an encoder")
            .encode(&image, &how, &patient)
            .expect("a file");
        assert!(
            patient.asked.load(Ordering::Relaxed) > 50,
            "asked once per band of 16 rows"
        );

        let decoded = jpeg().decode(&file, &info, &ask(Scale::FULL, &limits, &After::asks(10)));
        assert_eq!(decoded, Err(Error::Interrupted));
        let encoded = jpeg()
            .encoder()
            .expect("an encoder")
            .encode(&image, &how, &After::asks(30));
        assert_eq!(encoded, Err(Error::Interrupted));
    }
}

// ---- accepted frames ----

#[test]
fn frames_are_brought_into_what_jpeg_holds() {
    let accepts = |model, how: &Encode| {
        let have = Traits {
            model,
            depth: Depth::U16,
            alpha: true,
            space: Space::UNSPECIFIED,
        };
        let want = jpeg().encoder().expect("an encoder").accepts(have, how);
        assert_eq!((want.depth, want.alpha), (Depth::U8, false));
        want.model
    };
    let at = |quality| Encode {
        quality: Some(quality),
        ..Encode::default()
    };
    let limited = Model::YCbCr {
        sub: Subsampling::C420,
        range: Range::Limited,
        matrix: Matrix::Bt601,
    };
    assert_eq!(accepts(Model::Gray, &at(50)), Model::Gray);
    assert_eq!(accepts(Model::Cmyk, &at(50)), Model::Cmyk);
    assert_eq!(
        accepts(Model::Rgb, &at(89)),
        Model::ycbcr(Subsampling::C420)
    );
    assert_eq!(accepts(limited, &at(90)), Model::ycbcr(Subsampling::NONE));
    for chroma in SUBSAMPLINGS {
        let how = Encode {
            chroma: Some(chroma),
            ..at(50)
        };
        assert_eq!(accepts(Model::Rgb, &how), Model::ycbcr(chroma));
    }
    let coarse = Encode {
        chroma: Some(Subsampling { h: 4, v: 4 }),
        ..at(50)
    };
    assert_eq!(
        accepts(Model::Rgb, &coarse),
        Model::ycbcr(Subsampling::C420)
    );
}

#[test]
fn a_frame_that_was_not_brought_into_shape_is_our_fault() {
    let refused = jpeg().encoder().expect("an encoder").encode(
        &test_image(Model::Rgb, 8, 8),
        &Encode::default(),
        &Never,
    );
    assert!(matches!(refused, Err(Error::Internal(_))));
}

// ---- helpers ----

const SUBSAMPLINGS: [Subsampling; 5] = [
    Subsampling::NONE,
    Subsampling { h: 2, v: 1 },
    Subsampling::C420,
    Subsampling { h: 1, v: 2 },
    Subsampling { h: 4, v: 1 },
];
const SIZES: [(u32, u32); 8] = [
    (1, 1),
    (2, 3),
    (7, 9),
    (8, 8),
    (16, 17),
    (33, 31),
    (64, 64),
    (101, 75),
];
const SCALES: [Scale; 4] = [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL];

/// Creates an image of smooth waves and a little noise: compressible like a photo, and different in every plane.
fn test_image(model: Model, width: u32, height: u32) -> Image {
    let mut random = Random(u64::from(width) << 20 | u64::from(height));
    let planes = (0..model.planes()).map(|index| {
        let (w, h) = model.plane_size(index, width, height);
        // In units of the full size, so that subsampled planes show the same scene.
        let (dx, dy) = (
            f64::from(width) / f64::from(w),
            f64::from(height) / f64::from(h),
        );
        let phase = index as f64 * 1.3;
        let mut samples = Vec::new();
        for y in 0..h {
            for x in 0..w {
                let (x, y) = (f64::from(x) * dx, f64::from(y) * dy);
                let wave = (x / 17.0 + phase).sin() * 50.0 + (y / 23.0 - phase).cos() * 40.0;
                let noise = random.below(5) as f64 - 2.0;
                samples.push((120.0 + wave + noise).clamp(0.0, 255.0) as u8);
            }
        }
        Plane::U8(Grid::from_samples(w, h, samples).unwrap())
    });
    Image::still(Frame::new(model, width, height, planes.collect(), None).unwrap())
}

fn encode(image: &Image, how: &Encode) -> Vec<u8> {
    jpeg()
        .encoder()
        .expect("an encoder")
        .encode(image, how, &Never)
        .expect("a frame that JPEG holds")
}

fn probe(file: &[u8]) -> Info {
    jpeg().probe(file).expect("a whole header")
}

fn decode(file: &[u8]) -> Result<Image> {
    decode_at(file, Scale::FULL)
}

fn decode_at(file: &[u8], scale: Scale) -> Result<Image> {
    decode_within(file, scale, &Limits::default())
}

fn decode_within(file: &[u8], scale: Scale, limits: &Limits) -> Result<Image> {
    let info = jpeg().probe(file)?;
    jpeg().decode(file, &info, &ask(scale, limits, &Never))
}

fn ask<'a>(scale: Scale, limits: &'a Limits, interrupt: &'a dyn Interrupt) -> Decode<'a> {
    Decode {
        scales: Scales::both(scale),
        limits,
        interrupt,
        cores: &andon_pixels::Alone,
        keep_metadata: false,
    }
}

/// Limits that prevent damaged files from making a test slow.
fn small_limits() -> Limits {
    Limits {
        pixels: 1_000_000,
        memory: 16 << 20,
        ..Limits::default()
    }
}

fn assert_alike(have: &Frame, want: &Frame, psnr: f64) {
    assert_eq!(
        (have.model, have.width, have.height),
        (want.model, want.width, want.height)
    );
    for (index, (have, want)) in have.planes.iter().zip(&want.planes).enumerate() {
        let (have, want) = (have.as_u8().expect("8 bits"), want.as_u8().expect("8 bits"));
        let want_samples: Vec<f64> = want.samples().iter().map(|&s| s.into()).collect();
        let near = psnr_of(have.samples(), &want_samples);
        let (width, height) = (want.width(), want.height());
        assert!(near > psnr, "plane {index}, {width}×{height}: {near:.1} dB");
    }
}

fn psnr_of(have: &[u8], want: &[f64]) -> f64 {
    assert_eq!(have.len(), want.len());
    let square = |(&have, want): (&u8, &f64)| (f64::from(have) - want).powi(2);
    let error = have.iter().zip(want).map(square).sum::<f64>() / have.len() as f64;
    10.0 * (255.0 * 255.0 / error.max(1e-9)).log10()
}

/// Returns full-size luma, whatever the model.
fn luma(file: &[u8]) -> Vec<u8> {
    let image = decode(file).expect("a whole image");
    let frame = &image.frame;
    let planes: Vec<&[u8]> = frame
        .planes
        .iter()
        .map(|plane| plane.as_u8().expect("8 bits").samples())
        .collect();
    let weigh = |rgb: [f64; 3]| (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]).round() as u8;
    match frame.model {
        Model::Gray | Model::YCbCr { .. } => planes[0].to_vec(),
        Model::Rgb => {
            let pixels = 0..planes[0].len();
            pixels
                .map(|at| weigh([0, 1, 2].map(|p| planes[p][at].into())))
                .collect()
        }
        Model::Cmyk => {
            let light = |ink: u8| f64::from(255 - ink) / 255.0;
            let mix = |at: usize, p: usize| 255.0 * light(planes[p][at]) * light(planes[3][at]);
            let pixels = 0..planes[0].len();
            pixels
                .map(|at| weigh([0, 1, 2].map(|p| mix(at, p))))
                .collect()
        }
    }
}

/// Returns a little-endian TIFF block that contains only an orientation.
fn exif(orientation: u16) -> Vec<u8> {
    let mut block = b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    block.extend(orientation.to_le_bytes());
    block.extend([0; 6]);
    block
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/jpeg")
        .join(name)
}

fn jpegs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ext| ext == "jpg"))
        .collect();
    paths.sort();
    paths
}

/// An interrupt that fires after a number of checks.
struct After {
    asks: u32,
    asked: AtomicU32,
}

impl After {
    fn asks(asks: u32) -> Self {
        Self {
            asks,
            asked: AtomicU32::new(0),
        }
    }
}

impl Interrupt for After {
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.asks
    }
}

/// The xorshift64 generator, so that the damage is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}
