//! PNG, through the codec trait: every colour type and depth is read correctly, pixels survive writing and reading, and
//! damaged files are neither accepted nor crash the decoder.

use crate::support;
use std::io::Write;

use crate::support::{
    After, Dice, assert_keeps_promises, assert_prefixes_are_refused, assert_refused_for_its_size,
    assert_survives_damage, decode, decode_at, decode_within, encode, metadata, test_image,
};
use andon_pixels::{
    Alone, Bound, Codec, Decode, Depth, Encode, Error, Frame, Grid, Image, Limits, Metadata, Model,
    Never, Orientation, Plane, Scale, Scales, Space, Traits,
};
use png::{BitDepth, ColorType};

fn png() -> &'static dyn Codec {
    support::codec("png")
}

const SIZES: [(u32, u32); 6] = [(1, 1), (2, 3), (5, 7), (8, 8), (33, 17), (64, 1)];

// ---- round trips ----

#[test]
fn every_model_and_depth_comes_back_to_the_bit() {
    for model in [Model::Gray, Model::Rgb] {
        for depth in [Depth::U8, Depth::U16] {
            for alpha in [false, true] {
                for (width, height) in SIZES {
                    let image = test_image(model, depth, alpha, width, height);
                    for how in every_way() {
                        let file = encode(png(), &image, &how);
                        let info = png().probe(&file).expect("our own file");
                        assert_eq!(info.progressive, how.progressive);
                        let back = decode(png(), &file).expect("our own file");
                        assert_keeps_promises(&info, &back);
                        assert_eq!(back, image, "{model:?} {depth:?} {alpha} {how:?}");
                    }
                }
            }
        }
    }
}

fn every_way() -> Vec<Encode> {
    let with = |level: &str, filter: &str, progressive| Encode {
        options: [("level", level), ("filter", filter)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        progressive,
        ..Encode::default()
    };
    vec![
        settings(None, false),
        settings(None, true),
        settings(Some(0), false),
        settings(Some(9), true),
        with("1", "adaptive", false),
        with("1", "none", true),
        with("3", "up", true),
        with("4", "average", true),
        with("9", "paeth", true),
    ]
}

fn settings(effort: Option<u8>, progressive: bool) -> Encode {
    Encode {
        progressive,
        effort,
        ..Encode::default()
    }
}

#[test]
fn an_interlaced_file_is_one_that_others_read() {
    let image = test_image(Model::Rgb, Depth::U8, true, 33, 17);
    let file = encode(png(), &image, &settings(None, true));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&file))
        .read_info()
        .expect("a header");
    assert!(reader.info().interlaced);
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    reader.next_frame(&mut pixels).expect("pixels");
    let frame = &image.frame;
    for (channel, plane) in frame.planes.iter().chain(&frame.alpha).enumerate() {
        let samples: Vec<u8> = pixels.chunks_exact(4).map(|pixel| pixel[channel]).collect();
        assert_eq!(plane.as_u8().expect("8-bit").samples(), samples);
    }
}

#[test]
fn more_effort_makes_a_drawing_smaller() {
    let image = test_image(Model::Rgb, Depth::U8, false, 200, 200);
    let fast = encode(png(), &image, &settings(None, false));
    let small = encode(png(), &image, &settings(Some(9), false));
    assert!(small.len() < fast.len());
}

#[test]
fn noise_does_not_grow() {
    let mut dice = Dice::new(1);
    let samples = (0..90_000).map(|_| dice.below(256) as u8).collect();
    let plane = Plane::U8(Grid::from_samples(300, 300, samples).unwrap());
    let image = Image::still(Frame::new(Model::Gray, 300, 300, vec![plane], None).unwrap());
    for effort in [None, Some(0), Some(1)] {
        let file = encode(png(), &image, &settings(effort, false));
        assert!(file.len() < 91_500, "{} bytes", file.len());
        assert_eq!(decode(png(), &file).expect("our own file"), image);
    }
}

#[test]
fn profiles_come_back_and_turn_the_image() {
    for progressive in [false, true] {
        let image = Image {
            metadata: metadata(),
            ..test_image(Model::Gray, Depth::U8, false, 9, 9)
        };
        let file = encode(png(), &image, &settings(None, progressive));
        let info = png().probe(&file).expect("our own file");
        assert!(info.metadata);
        assert_eq!(info.orientation, Orientation::from_exif(6));
        assert_eq!(
            decode(png(), &file).expect("our own file").metadata,
            metadata()
        );
    }
}

#[test]
fn what_png_cannot_hold_becomes_rgb_of_the_same_depth() {
    for depth in [Depth::U8, Depth::U16] {
        for alpha in [false, true] {
            let traits = |model| Traits {
                model,
                depth,
                alpha,
                space: Space::UNSPECIFIED,
            };
            let accepted = |model| {
                png()
                    .encoder()
                    .expect("an encoder")
                    .accepts(traits(model), &Encode::default())
            };
            assert_eq!(accepted(Model::Cmyk), traits(Model::Rgb));
            assert_eq!(accepted(Model::Gray), traits(Model::Gray));
        }
    }
}

// ---- every colour type and depth ----

/// Tests each depth and type with pixels that are packed by the test and unpacked by the codec.
#[test]
fn every_colour_type_is_read_plain_and_interlaced() {
    for (color, bits) in KINDS {
        for transparent in [false, true] {
            for interlaced in [false, true] {
                for (width, height) in SIZES {
                    let sample = Sample::new(color, bits, transparent, width, height);
                    let file = sample.file(interlaced);
                    let info = png().probe(&file).expect("a header");
                    assert_eq!(info.palette, color == ColorType::Indexed);
                    assert_eq!(info.progressive, interlaced);
                    assert!(info.lossless);
                    let image = decode(png(), &file).expect("an image");
                    assert_keeps_promises(&info, &image);
                    assert_eq!(
                        image.frame,
                        sample.expected(),
                        "{color:?} {bits:?} transparent {transparent} interlaced {interlaced} {width}×{height}"
                    );
                }
            }
        }
    }
}

const KINDS: [(ColorType, BitDepth); 15] = [
    (ColorType::Grayscale, BitDepth::One),
    (ColorType::Grayscale, BitDepth::Two),
    (ColorType::Grayscale, BitDepth::Four),
    (ColorType::Grayscale, BitDepth::Eight),
    (ColorType::Grayscale, BitDepth::Sixteen),
    (ColorType::Rgb, BitDepth::Eight),
    (ColorType::Rgb, BitDepth::Sixteen),
    (ColorType::Indexed, BitDepth::One),
    (ColorType::Indexed, BitDepth::Two),
    (ColorType::Indexed, BitDepth::Four),
    (ColorType::Indexed, BitDepth::Eight),
    (ColorType::GrayscaleAlpha, BitDepth::Eight),
    (ColorType::GrayscaleAlpha, BitDepth::Sixteen),
    (ColorType::Rgba, BitDepth::Eight),
    (ColorType::Rgba, BitDepth::Sixteen),
];

/// Stored samples of an image, one number each, and their meaning.
struct Sample {
    color: ColorType,
    bits: BitDepth,
    width: u32,
    height: u32,
    channels: usize,
    stored: Vec<u16>,
    palette: Vec<[u8; 3]>,
    trns: Option<Vec<u8>>,
}

impl Sample {
    fn new(color: ColorType, bits: BitDepth, transparent: bool, width: u32, height: u32) -> Self {
        let mut dice = Dice::new(u64::from(width * 100 + height));
        let values = 1usize << bits as usize;
        let channels = color.samples();
        let count = width as usize * height as usize * channels;
        let stored: Vec<u16> = (0..count).map(|_| dice.below(values) as u16).collect();
        let palette = (0..values.min(256))
            .map(|_| [0; 3].map(|_: u8| dice.below(256) as u8))
            .collect();
        // The first colour is transparent; in a palette, half of the entries have an opacity.
        let trns = match color {
            ColorType::Grayscale | ColorType::Rgb if transparent => Some(
                stored[..channels]
                    .iter()
                    .flat_map(|v| v.to_be_bytes())
                    .collect(),
            ),
            ColorType::Indexed if transparent => {
                Some((0..values / 2).map(|_| dice.below(256) as u8).collect())
            }
            _ => None,
        };
        Self {
            color,
            bits,
            width,
            height,
            channels,
            stored,
            palette,
            trns,
        }
    }

    /// Writes the file: the `png` crate writes the chunks around an unfiltered zlib stream made here.
    fn file(&self, interlaced: bool) -> Vec<u8> {
        let mut info = png::Info::with_size(self.width, self.height);
        info.color_type = self.color;
        info.bit_depth = self.bits;
        info.interlaced = interlaced;
        if self.color == ColorType::Indexed {
            info.palette = Some(self.palette.concat().into());
        }
        info.trns = self.trns.clone().map(Into::into);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        let passes: &[[u32; 4]] = if interlaced { &ADAM7 } else { &[[0, 0, 1, 1]] };
        for &[x, y, dx, dy] in passes {
            if x >= self.width {
                continue;
            }
            for row in (y..self.height).step_by(dy as usize) {
                let columns = (x..self.width).step_by(dx as usize);
                let samples = columns.flat_map(|column| {
                    let at = (row * self.width + column) as usize * self.channels;
                    self.stored[at..at + self.channels].iter().copied()
                });
                zlib.write_all(&[0]).expect("memory");
                zlib.write_all(&pack(samples, self.bits as u32))
                    .expect("memory");
            }
        }
        let stream = zlib.finish().expect("memory");
        let mut file = Vec::new();
        let mut writer = png::Encoder::with_info(&mut file, info)
            .expect("a valid header")
            .write_header()
            .expect("memory");
        // Two chunks, so that the stream does not end where a chunk does.
        for part in stream.chunks(stream.len().div_ceil(2)) {
            writer.write_chunk(png::chunk::IDAT, part).expect("memory");
        }
        writer.finish().expect("memory");
        file
    }

    fn expected(&self) -> Frame {
        let pixels: Vec<[u16; 4]> = self
            .stored
            .chunks_exact(self.channels)
            .map(|pixel| self.meaning(pixel))
            .collect();
        let plane = |channel: usize| {
            let samples = pixels.iter().map(|pixel| pixel[channel]);
            if self.bits == BitDepth::Sixteen {
                Plane::U16(Grid::from_samples(self.width, self.height, samples.collect()).unwrap())
            } else {
                let samples = samples.map(|v| v as u8).collect();
                Plane::U8(Grid::from_samples(self.width, self.height, samples).unwrap())
            }
        };
        let gray = matches!(self.color, ColorType::Grayscale | ColorType::GrayscaleAlpha);
        let model = if gray { Model::Gray } else { Model::Rgb };
        let alpha = self.trns.is_some()
            || matches!(self.color, ColorType::GrayscaleAlpha | ColorType::Rgba);
        Frame::new(
            model,
            self.width,
            self.height,
            (0..model.planes()).map(plane).collect(),
            alpha.then(|| plane(3)),
        )
        .unwrap()
    }

    /// Returns red (or gray), green, blue and alpha, with 8 bits unless the image has 16.
    fn meaning(&self, pixel: &[u16]) -> [u16; 4] {
        let full: u16 = if self.bits == BitDepth::Sixteen {
            65_535
        } else {
            255
        };
        let key: Vec<u16> = self
            .trns
            .iter()
            .flat_map(|bytes| bytes.chunks_exact(2))
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        let opacity = if pixel == key { 0 } else { full };
        match (self.color, pixel) {
            (ColorType::Grayscale, &[v]) => {
                let widened = match self.bits {
                    BitDepth::One => v * 255,
                    BitDepth::Two => v * 85,
                    BitDepth::Four => v * 17,
                    _ => v,
                };
                [widened, 0, 0, opacity]
            }
            (ColorType::Rgb, &[r, g, b]) => [r, g, b, opacity],
            (ColorType::Indexed, &[index]) => {
                let index = usize::from(index);
                let [r, g, b] = self.palette[index].map(u16::from);
                let opacity = self
                    .trns
                    .as_ref()
                    .and_then(|trns| trns.get(index))
                    .map_or(255, |&a| u16::from(a));
                [r, g, b, opacity]
            }
            (ColorType::GrayscaleAlpha, &[v, a]) => [v, 0, 0, a],
            (ColorType::Rgba, &[r, g, b, a]) => [r, g, b, a],
            _ => unreachable!("pixels have as many samples as their type"),
        }
    }
}

/// The passes: first column and row, distance of columns and rows.
const ADAM7: [[u32; 4]; 7] = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
];

/// Packs samples of this number of bits into bytes, high bits first.
fn pack(samples: impl Iterator<Item = u16>, bits: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut held, mut bits_held) = (0u32, 0);
    for sample in samples {
        held = held << bits | u32::from(sample);
        bits_held += bits;
        while bits_held >= 8 {
            bits_held -= 8;
            out.push((held >> bits_held) as u8);
        }
    }
    if bits_held > 0 {
        out.push((held << (8 - bits_held)) as u8);
    }
    out
}

// ---- headers ----

#[test]
fn an_animation_tells_its_frames_and_gives_its_default_image() {
    let image = test_image(Model::Gray, Depth::U8, false, 4, 4);
    let file = encode(png(), &image, &Encode::default());
    let mut control = vec![0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4];
    control.extend([0; 14]);
    let mut with = file.clone();
    // Each chunk is inserted before the present ones.
    for number in [2, 1, 0] {
        control[3] = number;
        with = with_chunk(&with, b"fcTL", &control);
    }
    // The number that the file states may be wrong.
    let with = with_chunk(&with, b"acTL", &[0, 0, 0, 9, 0, 0, 0, 0]);
    assert_eq!(png().probe(&with).expect("a header").frames, 3);
    assert_eq!(decode(png(), &with).expect("an image"), image);
    // Without an `acTL` chunk it is not an animation.
    let still = with_chunk(&file, b"fcTL", &control);
    assert_eq!(png().probe(&still).expect("a header").frames, 1);
}

#[test]
fn one_frame_beside_a_default_image_is_an_animation() {
    let [default, frame] = [0_u8, 200].map(|gray| {
        let plane = Plane::U8(Grid::filled(4, 4, gray));
        let image = Image::still(Frame::new(Model::Gray, 4, 4, vec![plane], None).unwrap());
        (encode(png(), &image, &Encode::default()), image)
    });
    let mut file = with_chunk(&default.0, b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]);
    let end = file.split_off(file.len() - 12);
    let mut control = vec![0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4];
    control.extend([0; 14]);
    push_chunk(&mut file, b"fcTL", &control);
    let at = frame.0.windows(4).position(|kind| kind == b"IDAT");
    let at = at.expect("pixels");
    let length = u32::from_be_bytes(frame.0[at - 4..at].try_into().expect("four bytes")) as usize;
    let numbered = [&[0, 0, 0, 1][..], &frame.0[at + 4..at + 4 + length]].concat();
    push_chunk(&mut file, b"fdAT", &numbered);
    file.extend(end);
    let info = png().probe(&file).expect("a header");
    assert_eq!((info.frames, info.animation.is_some()), (1, true));
    let limits = Limits::default();
    let how = Decode {
        scales: Scales::FULL,
        limits: &limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let mut frames = png()
        .animation()
        .expect("the capability")
        .open(&file, &info, &how)
        .expect("frames");
    let shown = frames.next().expect("a frame").expect("one").frame;
    assert!(
        shown.planes[0]
            .as_u8()
            .expect("bytes")
            .samples()
            .iter()
            .all(|&gray| gray == 200)
    );
    assert!(frames.next().expect("an end").is_none());
    assert_eq!(decode(png(), &file).expect("an image"), default.1);
}

#[test]
fn exif_after_the_pixels_counts() {
    let image = test_image(Model::Gray, Depth::U8, false, 4, 4);
    let mut file = encode(png(), &image, &Encode::default());
    let end = file.split_off(file.len() - 12);
    push_chunk(&mut file, b"eXIf", &metadata().exif.expect("it has one"));
    file.extend(end);
    let info = png().probe(&file).expect("a header");
    assert_eq!(info.orientation, Orientation::from_exif(6));
    let back = decode(png(), &file).expect("an image");
    assert_eq!(back.metadata.exif, metadata().exif);
}

#[test]
fn a_probe_needs_no_more_than_the_beginning() {
    let image = test_image(Model::Rgb, Depth::U8, false, 200, 200);
    let file = encode(png(), &image, &Encode::default());
    let whole = png().probe(&file).expect("a header");
    assert_eq!(png().probe(&file[..file.len() / 2]), Ok(whole));
}

// ---- limits ----

#[test]
fn a_declared_60000_by_60000_is_refused_by_its_header() {
    let file = declared(60_000, 60_000);
    let info = png().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (60_000, 60_000));
    assert_refused_for_its_size(png(), &file);
}

#[test]
fn a_side_of_two_thousand_million_is_refused_even_without_limits_on_it() {
    let limits = Limits {
        side: u32::MAX,
        ..Limits::default()
    };
    let result = decode_within(png(), &declared(i32::MAX as u32, 1), &limits);
    assert!(matches!(
        result,
        Err(Error::Limit {
            bound: Bound::PIXELS,
            ..
        })
    ));
    for (width, height) in [(0, 1), (1, 0), (u32::MAX, 1)] {
        let result = png().probe(&declared(width, height));
        assert!(matches!(result, Err(Error::Broken { .. })));
    }
}

#[test]
fn a_profile_bomb_stops_at_the_limit() {
    let file = with_profile(&vec![0; 64 << 20]);
    assert!(file.len() < 1 << 20);
    assert!(png().probe(&file).is_ok());
    assert_eq!(
        decode(png(), &file),
        Err(Error::Limit {
            bound: Bound::METADATA_BYTES,
            value: (4 << 20) + 1,
            limit: 4 << 20
        })
    );
}

#[test]
fn a_profile_of_just_the_limit_is_kept() {
    let limits = Limits {
        metadata_bytes: 1000,
        ..Limits::default()
    };
    let image = decode_within(png(), &with_profile(&[7; 1000]), &limits).expect("an image");
    assert_eq!(image.metadata.icc, Some(vec![7; 1000].into()));
    assert!(decode_within(png(), &with_profile(&[7; 1001]), &limits).is_err());
}

#[test]
fn a_profile_that_does_not_inflate_is_dropped() {
    let file = with_chunk(&tiny(), b"iCCP", b"name\0\0rubbish");
    let image = decode(png(), &file).expect("an image");
    assert_eq!(image.metadata, Metadata::default());
}

#[test]
fn a_text_bomb_is_not_inflated_at_all() {
    let mut data = b"Comment\0\0".to_vec();
    data.extend(deflate(&vec![b'a'; 64 << 20]));
    let file = with_chunk(&tiny(), b"zTXt", &data);
    assert!(decode(png(), &file).is_ok());
    assert!(png().probe(&file).expect("a header").metadata);
}

#[test]
fn pixels_after_the_last_row_are_not_inflated() {
    // 64 MiB of zeros after an image of one row: reading each such file to its end would take seconds.
    let mut file = declared(4, 1);
    file.truncate(8 + 25);
    push_chunk(&mut file, b"IDAT", &deflate(&vec![0; 64 << 20]));
    push_chunk(&mut file, b"IEND", &[]);
    let image = decode(png(), &file).expect("an image");
    assert_eq!((image.frame.width, image.frame.height), (4, 1));
}

#[test]
fn an_interrupt_stops_decoding_and_encoding() {
    let image = test_image(Model::Rgb, Depth::U8, false, 100, 100);
    for progressive in [false, true] {
        let how = settings(None, progressive);
        let file = encode(png(), &image, &how);
        let info = png().probe(&file).expect("our own file");
        for looks in [0, 1, 3] {
            let decoded = decode_at(
                png(),
                &file,
                &info,
                Scale::FULL,
                &Limits::default(),
                &After::looks(looks),
            );
            assert_eq!(decoded, Err(Error::Interrupted));
            assert_eq!(
                png()
                    .encoder()
                    .expect("an encoder")
                    .encode(&image, &how, &After::looks(looks)),
                Err(Error::Interrupted)
            );
        }
    }
}

// ---- damage ----

#[test]
fn every_prefix_is_refused_that_lacks_pixels() {
    for (color, bits) in KINDS {
        let sample = Sample::new(color, bits, true, 5, 4);
        assert_prefixes_are_refused(png(), &sample.file(color == ColorType::Rgb), 12);
    }
    let image = Image {
        metadata: metadata(),
        ..test_image(Model::Rgb, Depth::U8, true, 9, 9)
    };
    // The last chunk of pixels contains only the end of their stream, and metadata follows.
    let file = encode(png(), &image, &Encode::default());
    let behind = file.windows(4).rev().position(|kind| kind == b"IDAT");
    let start = file.len() - 4 - behind.expect("pixels") - 4;
    assert_prefixes_are_refused(png(), &file, file.len() - start);
}

#[test]
fn damage_brings_nothing_down() {
    for (color, bits) in KINDS {
        for interlaced in [false, true] {
            let file = Sample::new(color, bits, true, 11, 9).file(interlaced);
            assert_survives_damage(png(), &file, 300);
        }
    }
}

/// Checksums keep most damage from the inflater, so the test corrects them.
#[test]
fn damage_behind_right_checksums_brings_nothing_down() {
    let mut dice = Dice::new(3);
    let limits = Limits {
        pixels: 1_000_000,
        ..Limits::default()
    };
    for (color, bits) in KINDS {
        for interlaced in [false, true] {
            let file = Sample::new(color, bits, true, 11, 9).file(interlaced);
            for _ in 0..300 {
                let mut damaged = file.clone();
                let at = 8 + dice.below(damaged.len() - 8);
                damaged[at] ^= 1 << dice.below(8);
                mend_checksums(&mut damaged);
                let Ok(info) = png().probe(&damaged) else {
                    continue;
                };
                match decode_at(png(), &damaged, &info, Scale::FULL, &limits, &Never) {
                    Ok(image) => assert_keeps_promises(&info, &image),
                    Err(Error::Internal(why)) => panic!("{color:?} {bits:?}: {why}"),
                    Err(_) => {}
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_the_pixels_is_noticed() {
    let image = test_image(Model::Rgb, Depth::U8, false, 20, 20);
    let file = encode(png(), &image, &Encode::default());
    let pixels = find(&file, b"IDAT") + 4;
    for at in pixels..file.len() - 12 {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        assert!(matches!(decode(png(), &damaged), Err(Error::Broken { .. })));
    }
}

// ---- helpers ----

fn tiny() -> Vec<u8> {
    let image = test_image(Model::Gray, Depth::U8, false, 2, 2);
    encode(png(), &image, &Encode::default())
}

fn declared(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = width.to_be_bytes().to_vec();
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    push_chunk(&mut file, b"IHDR", &header);
    push_chunk(&mut file, b"IDAT", &deflate(&[0; 100]));
    push_chunk(&mut file, b"IEND", &[]);
    file
}

fn with_profile(profile: &[u8]) -> Vec<u8> {
    let mut data = b"profile\0\0".to_vec();
    data.extend(deflate(profile));
    with_chunk(&tiny(), b"iCCP", &data)
}

/// Returns a file with one more chunk after its header.
fn with_chunk(file: &[u8], kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let (header, rest) = file.split_at(8 + 25);
    let mut out = header.to_vec();
    push_chunk(&mut out, kind, data);
    out.extend_from_slice(rest);
    out
}

fn push_chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend_from_slice(data);
    out.extend(crc32fast::hash(&out[start..]).to_be_bytes());
}

fn mend_checksums(file: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
        let end = at + 8 + length;
        if end + 4 > file.len() {
            break;
        }
        let sum = crc32fast::hash(&file[at + 4..end]);
        file[end..end + 4].copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(bytes).expect("memory");
    zlib.finish().expect("memory")
}

fn find(file: &[u8], what: &[u8]) -> usize {
    file.windows(what.len())
        .position(|window| window == what)
        .expect("it is there")
}
