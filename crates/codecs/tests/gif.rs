//! GIF, through the codec trait: frames are composed on their screens, small palettes survive exactly, photos
//! approximately, and damaged files are neither accepted nor crash the decoder.

use crate::support;
use std::borrow::Cow;

use crate::support::{
    After, Dice, assert_keeps_promises, assert_prefixes_are_refused, assert_refused_for_its_size,
    assert_survives_damage, decode, decode_at, encode, psnr, test_image,
};
use andon_pixels::{
    Bound, BoundOn, Codec, Depth, Encode, Error, Frame, Grid, Image, Limits, Model, Plane, Scale,
    Space, Traits,
};

fn gif() -> &'static dyn Codec {
    support::codec("gif")
}

fn interlaced() -> Encode {
    Encode {
        progressive: true,
        ..Encode::default()
    }
}

// ---- round trips ----

#[test]
fn up_to_256_colours_come_back_to_the_bit() {
    for colours in [1, 2, 3, 16, 17, 255, 256] {
        for (width, height) in [(1, 1), (16, 16), (33, 9), (5, 60)] {
            let image = few_colours(width, height, colours, false);
            for how in [Encode::default(), interlaced()] {
                let file = encode(gif(), &image, &how);
                let info = gif().probe(&file).expect("our own file");
                assert_eq!(info.progressive, how.progressive);
                assert!(info.palette && info.lossless && !info.alpha);
                let back = decode(gif(), &file);
                assert_eq!(
                    back.as_ref(),
                    Ok(&image),
                    "{colours} in {width}×{height} {how:?}"
                );
            }
        }
    }
}

#[test]
fn up_to_255_colours_and_clear_pixels_come_back_to_the_bit() {
    for colours in [1, 100, 255] {
        let image = few_colours(40, 20, colours, true);
        let file = encode(gif(), &image, &Encode::default());
        assert_eq!(decode(gif(), &file).expect("our own file"), image);
    }
}

#[test]
fn clear_pixels_stay_clear_when_a_palette_is_fitted() {
    let mut image = test_image(Model::Rgb, Depth::U8, false, 64, 64);
    let alpha = (0..64 * 64).map(|at| if at % 3 == 0 { 127 } else { 128 });
    image.frame.alpha = Some(Plane::U8(
        Grid::from_samples(64, 64, alpha.collect()).unwrap(),
    ));
    let back = decode(gif(), &encode(gif(), &image, &Encode::default())).expect("our own file");
    let alpha = back.frame.alpha.as_ref().and_then(Plane::as_u8);
    for (at, &a) in alpha.expect("an 8-bit plane").samples().iter().enumerate() {
        assert_eq!(a, if at % 3 == 0 { 0 } else { 255 });
    }
}

#[test]
fn an_opaque_alpha_plane_leaves_no_trace() {
    let mut image = few_colours(8, 8, 256, false);
    image.frame.alpha = Some(Plane::filled(Depth::U8, 8, 8, 255));
    let file = encode(gif(), &image, &Encode::default());
    assert!(!gif().probe(&file).expect("our own file").alpha);
}

#[test]
fn a_wholly_clear_image_can_be_written() {
    let mut image = few_colours(8, 8, 4, false);
    image.frame.alpha = Some(Plane::filled(Depth::U8, 8, 8, 0));
    let back = decode(gif(), &encode(gif(), &image, &Encode::default())).expect("our own file");
    assert_eq!(back.frame.alpha, Some(Plane::filled(Depth::U8, 8, 8, 0)));
}

#[test]
fn smooth_slopes_come_back_close_on_average() {
    let (width, height) = (256, 256);
    let slope = |of: fn(u32, u32) -> u32| {
        let samples = (0..height).flat_map(|y| (0..width).map(move |x| of(x, y) as u8));
        Plane::U8(Grid::from_samples(width, height, samples.collect()).unwrap())
    };
    let planes = vec![slope(|x, _| x), slope(|_, y| y), slope(|x, y| (x + y) / 2)];
    let image = Image::still(Frame::new(Model::Rgb, width, height, planes, None).unwrap());
    let back = decode(gif(), &encode(gif(), &image, &Encode::default())).expect("our own file");
    for (before, after) in image.frame.planes.iter().zip(&back.frame.planes) {
        assert!(psnr(before, after) > 26.0, "{}", psnr(before, after));
        // Error diffusion preserves the mean of an area, not single pixels.
        let (before, after) = (shrunk(before), shrunk(after));
        assert!(psnr(&before, &after) > 38.0, "{}", psnr(&before, &after));
    }
}

#[test]
fn everything_becomes_8_bit_rgb() {
    for model in [Model::Gray, Model::Cmyk, Model::Rgb] {
        for alpha in [false, true] {
            let have = Traits {
                model,
                depth: Depth::U16,
                alpha,
                space: Space::UNSPECIFIED,
            };
            let want = Traits {
                model: Model::Rgb,
                depth: Depth::U8,
                alpha,
                space: Space::UNSPECIFIED,
            };
            assert_eq!(
                gif()
                    .encoder()
                    .expect("an encoder")
                    .accepts(have, &Encode::default()),
                want
            );
        }
    }
}

#[test]
fn a_side_that_gif_cannot_hold_is_refused() {
    let image = few_colours(65_536, 1, 2, false);
    assert!(matches!(
        gif().encoder().expect("an encoder").encode(
            &image,
            &Encode::default(),
            &andon_pixels::Never
        ),
        Err(Error::Limit {
            bound: Bound {
                name: "side",
                on: BoundOn::Format("gif"),
                ..
            },
            value: 65_536,
            limit: 65_535
        })
    ));
}

// ---- composing ----

#[test]
fn a_frame_smaller_than_its_screen_lies_on_clear_ground() {
    let file = write(6, 5, &[part(2, 1, 3, 2, None)]);
    let info = gif().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (6, 5));
    assert!(info.alpha);
    let image = decode(gif(), &file).expect("an image");
    assert_keeps_promises(&info, &image);
    let frame = &image.frame;
    let alpha = frame.alpha.as_ref().and_then(Plane::as_u8).expect("8-bit");
    let red = frame.planes[0].as_u8().expect("8-bit");
    for y in 0..5 {
        for x in 0..6 {
            let inside = (2..5).contains(&x) && (1..3).contains(&y);
            assert_eq!(alpha.row(y)[x as usize], if inside { 255 } else { 0 });
            let index = if inside { (y - 1) * 3 + (x - 2) } else { 0 };
            assert_eq!(
                red.row(y)[x as usize],
                if inside { index as u8 * 10 } else { 0 }
            );
        }
    }
}

#[test]
fn a_frame_that_leaves_its_screen_is_cut_to_it() {
    let file = write(4, 4, &[part(2, 3, 4, 4, None)]);
    let image = decode(gif(), &file).expect("an image");
    assert_eq!((image.frame.width, image.frame.height), (4, 4));
    let red = image.frame.planes[0].as_u8().expect("8-bit");
    assert_eq!(red.row(3), [0, 0, 0, 10]);
    assert_eq!(red.row(2), [0; 4]);
}

#[test]
fn a_screen_is_as_large_as_a_first_frame_that_is_larger_and_cuts_later_ones() {
    let file = write(4, 4, &[part(0, 1, 9, 2, None), part(0, 0, 20, 20, None)]);
    let info = gif().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (9, 4));
    let image = decode(gif(), &file).expect("an image");
    assert_keeps_promises(&info, &image);
    let red = image.frame.planes[0].as_u8().expect("8-bit");
    assert_eq!(red.row(1), [0, 10, 20, 30, 40, 50, 60, 70, 80]);
}

#[test]
fn an_empty_screen_takes_its_size_from_the_frame() {
    let file = write(0, 0, &[part(2, 1, 3, 2, None)]);
    let info = gif().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (5, 3));
    assert_keeps_promises(&info, &decode(gif(), &file).expect("an image"));
}

#[test]
fn the_first_frame_of_an_animation_is_the_image() {
    let file = write(3, 2, &[part(0, 0, 3, 2, Some(1)), part(1, 1, 1, 1, None)]);
    let info = gif().probe(&file).expect("a header");
    assert_eq!(info.frames, 2);
    let image = decode(gif(), &file).expect("an image");
    let alpha = image.frame.alpha.as_ref().and_then(Plane::as_u8);
    assert_eq!(
        alpha.expect("8-bit").samples(),
        [255, 0, 255, 255, 255, 255]
    );
}

#[test]
fn a_transparent_index_is_that_of_its_own_frame() {
    let file = write(3, 2, &[part(0, 0, 3, 2, None), part(0, 0, 3, 2, Some(1))]);
    assert!(!gif().probe(&file).expect("a header").alpha);
    assert!(
        decode(gif(), &file)
            .expect("an image")
            .frame
            .alpha
            .is_none()
    );
}

#[test]
fn a_comment_is_metadata_and_a_loop_is_not() {
    let mut looped = Vec::new();
    let mut encoder = gif::Encoder::new(&mut looped, 3, 2, &[]).expect("memory");
    encoder.set_repeat(gif::Repeat::Infinite).expect("memory");
    encoder
        .write_frame(&part(0, 0, 3, 2, None))
        .expect("memory");
    drop(encoder);
    assert!(!gif().probe(&looped).expect("a header").metadata);

    let mut commented = looped.clone();
    let trailer = commented.len() - 1;
    commented.splice(trailer..trailer, [0x21, 0xfe, 2, b'h', b'i', 0]);
    assert!(gif().probe(&commented).expect("a header").metadata);
}

// ---- limits ----

#[test]
fn a_declared_60000_by_60000_is_refused_by_its_header() {
    let screen = declared(60_000, 60_000, 1, 1);
    let frame = declared(1, 1, 60_000, 60_000);
    for file in [screen, frame] {
        assert_refused_for_its_size(gif(), &file);
    }
}

#[test]
fn an_interrupt_stops_decoding_and_encoding() {
    let image = test_image(Model::Rgb, Depth::U8, false, 300, 300);
    let file = encode(gif(), &image, &Encode::default());
    let info = gif().probe(&file).expect("our own file");
    for looks in [0, 1, 2] {
        let limits = Limits::default();
        let decoded = decode_at(
            gif(),
            &file,
            &info,
            Scale::FULL,
            &limits,
            &After::looks(looks),
        );
        assert_eq!(decoded, Err(Error::Interrupted));
        let encoded = gif().encoder().expect("an encoder").encode(
            &image,
            &Encode::default(),
            &After::looks(looks),
        );
        assert_eq!(encoded, Err(Error::Interrupted));
    }
}

// ---- damage ----

#[test]
fn every_prefix_but_for_the_trailer_is_refused() {
    for how in [Encode::default(), interlaced()] {
        let file = encode(gif(), &few_colours(9, 7, 30, true), &how);
        assert_prefixes_are_refused(gif(), &file, 1);
    }
    // An animation may end between frames, but not inside one.
    let file = write(3, 2, &[part(0, 0, 3, 2, Some(1)), part(1, 1, 1, 1, None)]);
    let second = file.len() - 1;
    for end in 0..second {
        if decode(gif(), &file[..end]).is_ok() {
            assert!(file[..end].ends_with(&[0]), "cut inside a block at {end}");
        }
    }
}

#[test]
fn damage_brings_nothing_down() {
    for how in [Encode::default(), interlaced()] {
        for (width, colours) in [(9, 3), (30, 250)] {
            let file = encode(gif(), &few_colours(width, 20, colours, true), &how);
            assert_survives_damage(gif(), &file, 1500);
        }
    }
    let file = write(9, 9, &[part(2, 1, 6, 4, Some(1)), part(1, 1, 1, 1, None)]);
    assert_survives_damage(gif(), &file, 1500);
}

// ---- making files ----

/// Creates an image of random pixels with this number of colours. If `clear`, about a quarter of the pixels are
/// transparent, otherwise each colour is used at least once if there are enough pixels.
fn few_colours(width: u32, height: u32, colours: usize, clear: bool) -> Image {
    let mut dice = Dice::new(colours as u64);
    let count = width as usize * height as usize;
    let opaque: Vec<bool> = (0..count).map(|_| !clear || dice.below(4) > 0).collect();
    let picks: Vec<usize> = (0..count)
        .map(|at| {
            if at < colours {
                at
            } else {
                dice.below(colours)
            }
        })
        .collect();
    let plane = |factor: usize| {
        let samples = picks
            .iter()
            .zip(&opaque)
            .map(|(&pick, &opaque)| if opaque { (pick * factor) as u8 } else { 0 });
        Plane::U8(Grid::from_samples(width, height, samples.collect()).unwrap())
    };
    let alpha = clear.then(|| {
        let samples = opaque.iter().map(|&opaque| if opaque { 255 } else { 0 });
        Plane::U8(Grid::from_samples(width, height, samples.collect()).unwrap())
    });
    let planes = vec![plane(1), plane(91), plane(37)];
    Image::still(Frame::new(Model::Rgb, width, height, planes, alpha).unwrap())
}

/// Creates a frame whose pixels have the indices 0, 1, 2…; colour N is (10 N, 0, 0).
fn part(
    left: u16,
    top: u16,
    width: u16,
    height: u16,
    transparent: Option<u8>,
) -> gif::Frame<'static> {
    let indices = (0..width * height).map(|at| (at % 25) as u8).collect();
    let palette = (0..25u8).flat_map(|index| [index * 10, 0, 0]).collect();
    gif::Frame {
        left,
        top,
        width,
        height,
        transparent,
        palette: Some(palette),
        buffer: Cow::Owned(indices),
        ..gif::Frame::default()
    }
}

fn write(width: u16, height: u16, frames: &[gif::Frame<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, width, height, &[]).expect("memory");
    for frame in frames {
        encoder.write_frame(frame).expect("memory");
    }
    drop(encoder);
    file
}

/// Creates a file whose screen and frame declare these sizes.
fn declared(screen_width: u16, screen_height: u16, width: u16, height: u16) -> Vec<u8> {
    let mut file = write(1, 1, &[part(0, 0, 1, 1, None)]);
    file[6..8].copy_from_slice(&screen_width.to_le_bytes());
    file[8..10].copy_from_slice(&screen_height.to_le_bytes());
    let frame = file
        .windows(10)
        .position(|window| window.starts_with(&[0x2c, 0, 0, 0, 0, 1, 0, 1, 0]))
        .expect("a frame");
    file[frame + 5..frame + 7].copy_from_slice(&width.to_le_bytes());
    file[frame + 7..frame + 9].copy_from_slice(&height.to_le_bytes());
    file
}

/// Returns the means over 8 × 8 pixels.
fn shrunk(plane: &Plane) -> Plane {
    let grid = plane.as_u8().expect("8-bit");
    let (width, height) = (grid.width() / 8, grid.height() / 8);
    let mut means = Vec::new();
    for y in 0..height {
        for x in 0..width as usize {
            let rows = (y * 8..y * 8 + 8).map(|row| &grid.row(row)[x * 8..x * 8 + 8]);
            let sum: u32 = rows.flatten().map(|&v| u32::from(v)).sum();
            means.push((sum / 64) as u8);
        }
    }
    Plane::U8(Grid::from_samples(width, height, means).unwrap())
}
