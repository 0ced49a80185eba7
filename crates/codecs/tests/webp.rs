//! WebP, through the codec trait: lossless images survive exactly and lossy ones approximately, in their stored planes
//! and at every scale; damaged files are neither accepted nor crash the decoder.

use crate::support;
use crate::support::{
    After, assert_keeps_promises, assert_prefixes_are_refused, assert_refused_for_its_size,
    assert_survives_damage, decode, decode_at, decode_within, encode, metadata, psnr, test_image,
};
use andon_pixels::{
    Bound, Codec, Depth, Encode, Error, Frame, Grid, Image, Limits, Matrix, Metadata, Model, Never,
    Orientation, Plane, Range, Scale, Space, Subsampling, Traits,
};

fn webp() -> &'static dyn Codec {
    support::codec("webp")
}

const LOSSY: Model = Model::YCbCr {
    sub: Subsampling::C420,
    range: Range::Limited,
    matrix: Matrix::Bt601,
};

const SIZES: [(u32, u32); 6] = [(1, 1), (2, 3), (17, 15), (33, 64), (100, 1), (161, 99)];

fn quality(quality: u8) -> Encode {
    Encode {
        quality: Some(quality),
        ..Encode::default()
    }
}

fn lossless() -> Encode {
    Encode {
        lossless: true,
        ..Encode::default()
    }
}

// ---- round trips ----

#[test]
fn lossless_comes_back_to_the_bit() {
    for (width, height) in SIZES {
        for effort in [None, Some(0), Some(5), Some(9)] {
            let how = Encode {
                effort,
                ..lossless()
            };
            let image = test_image(Model::Rgb, Depth::U8, false, width, height);
            let file = encode(webp(), &image, &how);
            let info = webp().probe(&file).expect("our own file");
            assert!(info.lossless);
            assert_eq!(decode(webp(), &file).expect("our own file"), image);
        }
    }
}

#[test]
fn near_lossless_is_smaller_and_off_by_little() {
    let image = test_image(Model::Rgb, Depth::U8, false, 64, 48);
    let near = Encode {
        options: [("near-lossless".to_owned(), "40".to_owned())].into(),
        ..Encode::default()
    };
    assert_eq!(
        webp()
            .encoder()
            .expect("an encoder")
            .accepts(image.frame.traits(), &near)
            .model,
        Model::Rgb
    );
    let [exact, near] = [lossless(), near].map(|how| encode(webp(), &image, &how));
    assert!(
        near.len() < exact.len(),
        "{} and {}",
        near.len(),
        exact.len()
    );
    let info = webp().probe(&near).expect("our own file");
    assert!(info.lossless);
    let [exact, near] = [exact, near].map(|file| {
        let frame = decode(webp(), &file).expect("our own file").frame;
        support::rgba(&frame)
    });
    let off = exact.iter().zip(&near).map(|(a, b)| a.abs_diff(*b)).max();
    assert!((1..=32).contains(&off.expect("pixels")), "{off:?}");
}

#[test]
fn lossless_alpha_comes_back_to_the_bit_where_anything_is_seen() {
    for (width, height) in SIZES {
        let image = test_image(Model::Rgb, Depth::U8, true, width, height);
        let file = encode(webp(), &image, &lossless());
        let info = webp().probe(&file).expect("our own file");
        assert!(info.lossless && info.alpha);
        let back = decode(webp(), &file).expect("our own file");
        assert_keeps_promises(&info, &back);
        let (before, after) = (&image.frame, &back.frame);
        assert_eq!(before.alpha, after.alpha);
        let alpha = before.alpha.as_ref().and_then(Plane::as_u8).expect("8-bit");
        for (a, b) in before.planes.iter().zip(&after.planes) {
            let (a, b) = (a.as_u8().expect("8-bit"), b.as_u8().expect("8-bit"));
            for ((a, b), &opacity) in a.samples().iter().zip(b.samples()).zip(alpha.samples()) {
                assert!(a == b || opacity == 0);
            }
        }
    }
}

#[test]
fn lossy_planes_come_back_close() {
    for (width, height) in SIZES {
        for alpha in [false, true] {
            let image = smooth(width, height, alpha);
            let file = encode(webp(), &image, &quality(95));
            let info = webp().probe(&file).expect("our own file");
            assert!(!info.lossless);
            assert_eq!(info.model, LOSSY);
            let back = decode(webp(), &file).expect("our own file");
            assert_keeps_promises(&info, &back);
            // Alpha is not changed.
            assert_eq!(back.frame.alpha, image.frame.alpha);
            if !alpha {
                for (before, after) in image.frame.planes.iter().zip(&back.frame.planes) {
                    let psnr = psnr(before, after);
                    assert!(psnr > 36.0, "{psnr} at {width}×{height}");
                }
            }
        }
    }
}

#[test]
fn the_encoder_leaves_the_image_as_it_was() {
    for how in [quality(50), quality(80)] {
        let mut image = smooth(65, 33, true);
        let clear =
            Grid::from_samples(65, 33, (0..65 * 33).map(|n| (n / 700) as u8).collect()).unwrap();
        image.frame.alpha = Some(Plane::U8(clear));
        let before = image.clone();
        encode(webp(), &image, &how);
        assert_eq!(image, before);
    }
}

#[test]
fn quality_and_effort_change_the_size() {
    let image = test_image(LOSSY, Depth::U8, false, 128, 128);
    let size = |how| encode(webp(), &image, &how).len();
    assert!(size(quality(20)) < size(quality(60)));
    assert!(size(quality(60)) < size(quality(99)));
    assert_eq!(size(Encode::default()), size(quality(75)));
    let efforts = [0, 9].map(|effort| {
        size(Encode {
            effort: Some(effort),
            ..quality(75)
        })
    });
    assert!(efforts[1] < efforts[0]);
}

#[test]
fn lossless_files_hold_rgb_and_others_luma_and_chroma() {
    for model in [Model::Gray, Model::Cmyk, Model::Rgb, LOSSY] {
        for alpha in [false, true] {
            let have = Traits {
                model,
                depth: Depth::U16,
                alpha,
                space: Space::UNSPECIFIED,
            };
            let want = |model| Traits {
                model,
                depth: Depth::U8,
                alpha,
                space: Space::UNSPECIFIED,
            };
            assert_eq!(
                webp()
                    .encoder()
                    .expect("an encoder")
                    .accepts(have, &quality(100)),
                want(LOSSY)
            );
            assert_eq!(
                webp()
                    .encoder()
                    .expect("an encoder")
                    .accepts(have, &Encode::default()),
                want(LOSSY)
            );
            assert_eq!(
                webp()
                    .encoder()
                    .expect("an encoder")
                    .accepts(have, &lossless()),
                want(Model::Rgb)
            );
        }
    }
}

#[test]
fn profiles_come_back_beside_every_kind_of_image() {
    for (model, how) in [(LOSSY, quality(75)), (Model::Rgb, lossless())] {
        for alpha in [false, true] {
            let plain = test_image(model, Depth::U8, alpha, 21, 13);
            let expected = decode(webp(), &encode(webp(), &plain, &how)).expect("our own file");
            for kept in [
                metadata(),
                Metadata {
                    icc: None,
                    ..metadata()
                },
                Metadata {
                    exif: None,
                    xmp: None,
                    ..metadata()
                },
            ] {
                let image = Image {
                    metadata: kept.clone(),
                    ..plain.clone()
                };
                let file = encode(webp(), &image, &how);
                let info = webp().probe(&file).expect("our own file");
                assert_eq!(info.metadata, kept.exif.is_some());
                assert_eq!(info.space.profiled, kept.icc.is_some());
                assert_eq!(info.alpha, alpha);
                // Browsers ignore EXIF's orientation in WebP.
                assert_eq!(info.orientation, Orientation::default());
                let back = decode(webp(), &file).expect("our own file");
                assert_eq!(back.metadata, kept);
                assert_eq!(back.frame.colour.icc, kept.icc);
                let frame = back.frame.clone().with_colour(Space::UNSPECIFIED);
                assert_eq!(frame, expected.frame);
            }
        }
    }
}

#[test]
fn a_side_that_webp_cannot_hold_is_refused() {
    for (model, how) in [(LOSSY, quality(75)), (Model::Rgb, lossless())] {
        let image = test_image(model, Depth::U8, false, 16_384, 1);
        assert_eq!(
            webp()
                .encoder()
                .expect("an encoder")
                .encode(&image, &how, &Never),
            Err(Error::Limit {
                bound: Bound::of_format("webp", "side", "px"),
                value: 16_384,
                limit: 16_383
            })
        );
    }
}

// ---- scales ----

#[test]
fn every_scale_gives_the_size_that_the_header_promises() {
    for (width, height, scales) in [
        (48, 32, 4),
        (40, 16, 3),
        (20, 64, 2),
        (22, 32, 1),
        (33, 17, 1),
    ] {
        for alpha in [false, true] {
            let file = encode(webp(), &smooth(width, height, alpha), &quality(90));
            let info = webp().probe(&file).expect("our own file");
            assert_eq!(webp().scales(&info).len(), scales);
            for &scale in webp().scales(&info) {
                let image = decode_at(webp(), &file, &info, scale, &Limits::default(), &Never)
                    .expect("our own file");
                let frame = &image.frame;
                assert_eq!((frame.width, frame.height), info.scaled(scale));
                assert_eq!(frame.model, LOSSY);
                assert_eq!(frame.alpha.is_some(), alpha);
            }
        }
    }
}

#[test]
fn a_small_decode_is_the_mean_of_the_large_one() {
    let file = encode(webp(), &smooth(128, 64, false), &quality(95));
    let info = webp().probe(&file).expect("our own file");
    let full = decode(webp(), &file).expect("our own file");
    for (scale, side) in [(Scale::HALF, 2), (Scale::QUARTER, 4), (Scale::EIGHTH, 8)] {
        let small = decode_at(webp(), &file, &info, scale, &Limits::default(), &Never)
            .expect("our own file");
        for (small, full) in small.frame.planes.iter().zip(&full.frame.planes) {
            let psnr = psnr(small, &means(full, side));
            assert!(psnr > 40.0, "{psnr} at {scale:?}");
        }
    }
}

#[test]
fn lossless_images_are_decoded_in_full_only() {
    let image = test_image(Model::Rgb, Depth::U8, false, 16, 16);
    let info = webp()
        .probe(&encode(webp(), &image, &lossless()))
        .expect("our own file");
    assert_eq!(webp().scales(&info), [Scale::FULL]);
}

// ---- animations ----

#[test]
fn the_first_frame_lies_on_a_clear_canvas() {
    for (model, how) in [(Model::Rgb, lossless()), (LOSSY, quality(90))] {
        let part = test_image(model, Depth::U8, false, 10, 6);
        let file = animation(20, 16, &[(4, 2, &encode(webp(), &part, &how)); 3]);
        let info = webp().probe(&file).expect("a header");
        assert_eq!((info.width, info.height), (20, 16));
        assert!(info.frames > 1 && info.alpha);
        assert_eq!(webp().scales(&info), [Scale::FULL]);
        let image = decode(webp(), &file).expect("an image");
        assert_keeps_promises(&info, &image);
        let frame = &image.frame;
        let alpha = frame.alpha.as_ref().and_then(Plane::as_u8).expect("8-bit");
        for y in 0..16 {
            for x in 0..20 {
                let inside = (4..14).contains(&x) && (2..8).contains(&y);
                assert_eq!(alpha.row(y)[x], if inside { 255 } else { 0 });
                if inside && model == Model::Rgb {
                    for (whole, part) in frame.planes.iter().zip(&part.frame.planes) {
                        let (whole, part) = (whole.as_u8().expect("8"), part.as_u8().expect("8"));
                        assert_eq!(whole.row(y)[x], part.row(y - 2)[x - 4]);
                    }
                }
            }
        }
    }
}

#[test]
fn a_first_frame_that_is_the_whole_canvas_is_decoded_as_a_still_one() {
    for alpha in [false, true] {
        let part = smooth(20, 16, alpha);
        let still = encode(webp(), &part, &quality(90));
        let file = animation(20, 16, &[(0, 0, &still), (0, 0, &still)]);
        let info = webp().probe(&file).expect("a header");
        assert_eq!((info.model, info.alpha), (LOSSY, alpha));
        assert!(info.frames > 1);
        assert_eq!(
            decode(webp(), &file).expect("an image").frame,
            decode(webp(), &still).expect("an image").frame
        );
    }
}

// ---- limits ----

#[test]
fn an_image_over_the_limits_is_refused_by_its_header() {
    let file = encode(webp(), &smooth(100, 1, false), &quality(90));
    let limits = Limits {
        side: 99,
        ..Limits::default()
    };
    assert_eq!(
        decode_within(webp(), &file, &limits),
        Err(Error::Limit {
            bound: Bound::SIDE,
            value: 100,
            limit: 99
        })
    );
}

#[test]
fn a_declared_60000_by_60000_canvas_is_refused_by_its_header() {
    let part = encode(webp(), &smooth(2, 2, false), &quality(90));
    let file = animation(60_000, 60_000, &[(0, 0, &part)]);
    let info = webp().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (60_000, 60_000));
    assert_refused_for_its_size(webp(), &file);
}

#[test]
fn a_profile_over_the_limit_is_refused() {
    let image = Image {
        metadata: metadata(),
        ..smooth(8, 8, false)
    };
    let file = encode(webp(), &image, &quality(90));
    let length = image.metadata.icc.map_or(0, |icc| icc.len() as u64);
    let limits = Limits {
        metadata_bytes: length - 1,
        ..Limits::default()
    };
    assert_eq!(
        decode_within(webp(), &file, &limits),
        Err(Error::Limit {
            bound: Bound::METADATA_BYTES,
            value: length,
            limit: length - 1
        })
    );
}

#[test]
fn an_interrupt_stops_decoding_and_encoding() {
    for (model, how) in [(LOSSY, quality(98)), (Model::Rgb, lossless())] {
        let image = test_image(model, Depth::U8, false, 300, 300);
        let file = encode(webp(), &image, &how);
        let info = webp().probe(&file).expect("our own file");
        for looks in [0, 1, 2] {
            let limits = Limits::default();
            let decoded = decode_at(
                webp(),
                &file,
                &info,
                Scale::FULL,
                &limits,
                &After::looks(looks),
            );
            assert_eq!(decoded, Err(Error::Interrupted), "{model:?} {looks}");
            let encoded =
                webp()
                    .encoder()
                    .expect("an encoder")
                    .encode(&image, &how, &After::looks(looks));
            assert_eq!(encoded, Err(Error::Interrupted), "{model:?} {looks}");
        }
    }
}

// ---- damage ----

#[test]
fn every_prefix_is_refused() {
    for file in kinds() {
        assert_prefixes_are_refused(webp(), &file, 0);
    }
}

#[test]
fn damage_brings_nothing_down() {
    for file in kinds() {
        assert_survives_damage(webp(), &file, 700);
    }
}

#[test]
fn a_probe_needs_no_more_than_the_beginning() {
    for (model, how) in [(LOSSY, quality(90)), (Model::Rgb, lossless())] {
        let file = encode(webp(), &test_image(model, Depth::U8, false, 200, 200), &how);
        let whole = webp().probe(&file);
        assert!(whole.is_ok());
        assert_eq!(webp().probe(&file[..file.len() / 2]), whole);
    }
}

/// Returns small WebP files: lossy and lossless ones, with and without opacity and metadata, and an animation.
fn kinds() -> Vec<Vec<u8>> {
    let mut kinds = Vec::new();
    for (model, how) in [(LOSSY, quality(75)), (Model::Rgb, lossless())] {
        for alpha in [false, true] {
            let image = test_image(model, Depth::U8, alpha, 23, 18);
            kinds.push(encode(webp(), &image, &how));
            let with = Image {
                metadata: metadata(),
                ..image
            };
            kinds.push(encode(webp(), &with, &how));
        }
    }
    let small = encode(webp(), &smooth(9, 8, true), &quality(75));
    kinds.push(animation(20, 20, &[(2, 4, &small), (0, 0, &small)]));
    kinds
}

// ---- making files ----

/// Creates an image of gradients in the limited range, which lossy compression preserves well.
fn smooth(width: u32, height: u32, alpha: bool) -> Image {
    let plane = |factor: u32, width: u32, height: u32| {
        let samples = (0..height)
            .flat_map(|y| (0..width).map(move |x| (40 + (x * factor + y * 2) / 3 % 180) as u8));
        Plane::U8(Grid::from_samples(width, height, samples.collect()).unwrap())
    };
    let (w, h) = Subsampling::C420.chroma_size(width, height);
    let planes = vec![plane(2, width, height), plane(1, w, h), plane(3, w, h)];
    let alpha = alpha.then(|| plane(1, width, height));
    Image::still(Frame::new(LOSSY, width, height, planes, alpha).unwrap())
}

/// Returns an animation of still WebP files, each with its left and top edge on the canvas in px, which must be even.
fn animation(width: u32, height: u32, frames: &[(u32, u32, &Vec<u8>)]) -> Vec<u8> {
    let u24 = |value: u32| value.to_le_bytes()[..3].to_vec();
    let mut body = b"WEBP".to_vec();
    let flags = vec![0x12, 0, 0, 0];
    push_chunk(
        &mut body,
        b"VP8X",
        &[flags, u24(width - 1), u24(height - 1)].concat(),
    );
    push_chunk(&mut body, b"ANIM", &[0; 6]);
    for &(x, y, still) in frames {
        let info = webp().probe(still).expect("a still image");
        let sides = [x / 2, y / 2, info.width - 1, info.height - 1, 100];
        let mut frame = sides.map(u24).concat();
        frame.push(0);
        // The chunks after the file header, without the extended header.
        let chunks = &still[12..];
        let skip = if chunks.starts_with(b"VP8X") { 18 } else { 0 };
        frame.extend_from_slice(&chunks[skip..]);
        push_chunk(&mut body, b"ANMF", &frame);
    }
    let mut file = b"RIFF".to_vec();
    file.extend((body.len() as u32).to_le_bytes());
    file.extend(body);
    file
}

fn push_chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend(name);
    out.extend((data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    out.resize(out.len() + data.len() % 2, 0);
}

/// Returns the means over `side` × `side` samples.
fn means(plane: &Plane, side: u32) -> Plane {
    let grid = plane.as_u8().expect("8-bit");
    let (width, height) = (grid.width() / side, grid.height() / side);
    let mut means = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let columns = (x * side) as usize..((x + 1) * side) as usize;
            let rows = (y * side..(y + 1) * side).map(|row| &grid.row(row)[columns.clone()]);
            let sum: u32 = rows.flatten().map(|&v| u32::from(v)).sum();
            means.push(((sum + side * side / 2) / (side * side)) as u8);
        }
    }
    Plane::U8(Grid::from_samples(width, height, means).unwrap())
}
