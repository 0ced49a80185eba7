//! RAW files with the structure of cameras' files, created here around sample JPEGs: the largest preview is decoded.

use std::path::Path;

use crate::support::{assert_keeps_promises, assert_survives_damage, codec, decode};
use andon_codecs::ALL;
use andon_pixels::{Codec, Engine, Error, Limits, Orientation, Run};
use andon_recipe::Recipe;

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg");
    std::fs::read(samples.join(name)).expect("a sample")
}

/// A TIFF under construction: directories follow the data to which they point.
struct Container {
    big_endian: bool,
    bytes: Vec<u8>,
}

impl Container {
    fn new(big_endian: bool, head: usize) -> Self {
        let mut bytes = if big_endian { *b"MM\0*" } else { *b"II*\0" }.to_vec();
        bytes.resize(head, 0);
        Self { big_endian, bytes }
    }

    fn number(&self, value: u32, bytes: usize) -> Vec<u8> {
        match self.big_endian {
            true => value.to_be_bytes()[4 - bytes..].to_vec(),
            false => value.to_le_bytes()[..bytes].to_vec(),
        }
    }

    /// Appends `data`, and returns its offset and its length.
    fn put(&mut self, data: &[u8]) -> [u32; 2] {
        let at = self.bytes.len() as u32;
        self.bytes.extend(data);
        [at, data.len() as u32]
    }

    /// Appends a directory of 32-bit numbers.
    fn directory(&mut self, entries: &[(u16, u32)], next: u32) -> u32 {
        let mut directory = self.number(entries.len() as u32, 2);
        for (tag, value) in entries {
            directory.extend(self.number(u32::from(*tag), 2));
            directory.extend(self.number(4, 2));
            directory.extend(self.number(1, 4));
            directory.extend(self.number(*value, 4));
        }
        directory.extend(self.number(next, 4));
        self.put(&directory)[0]
    }

    fn finish(mut self, first: u32) -> Vec<u8> {
        let first = self.number(first, 4);
        self.bytes[4..8].copy_from_slice(&first);
        self.bytes
    }
}

/// Stand-in for sensor data, which is not decoded.
const SENSOR: [u8; 64] = [0x5a; 64];
const SMALL: &str = "17x33.jpg";
const LARGE: &str = "399x299.jpg";

/// Canon: the preview is the strip of the first directory, the thumbnail is in the second.
fn cr2() -> Vec<u8> {
    let mut file = Container::new(false, 16);
    file.bytes[8..12].copy_from_slice(b"CR\x02\0");
    let [sensor, length] = file.put(&SENSOR);
    let raw = file.directory(&[(259, 6), (273, sensor), (279, length)], 0);
    let [small, length] = file.put(&sample(SMALL));
    let thumbnail = file.directory(&[(513, small), (514, length)], raw);
    let [large, length] = file.put(&sample(LARGE));
    let preview = [(259, 6), (273, large), (274, 8), (279, length)];
    let first = file.directory(&preview, thumbnail);
    file.finish(first)
}

/// Nikon, Sony and DNG: separate directories for the preview and the sensor data.
fn pages(big_endian: bool, preview_as_strip: bool) -> Vec<u8> {
    let mut file = Container::new(big_endian, 8);
    let [sensor, length] = file.put(&SENSOR);
    let raw = [(259, 1), (262, 32_803), (273, sensor), (279, length)];
    let raw = file.directory(&raw, 0);
    let [large, length] = file.put(&sample(LARGE));
    let preview = match preview_as_strip {
        true => file.directory(&[(259, 7), (262, 6), (273, large), (279, length)], 0),
        false => file.directory(&[(513, large), (514, length)], 0),
    };
    let children = [raw, preview].map(|at| file.number(at, 4)).concat();
    let [children, _] = file.put(&children);
    let [small, length] = file.put(&sample(SMALL));
    let entries = [(274, 8), (330, children), (513, small), (514, length)];
    let first = file.directory(&entries, 0);
    // Two subdirectories.
    let count = first as usize + 2 + 12 + 4;
    let two = file.number(2, 4);
    file.bytes[count..count + 4].copy_from_slice(&two);
    file.finish(first)
}

/// Fujifilm: a special header, with the JPEG in the form that the camera writes on its own.
fn raf() -> Vec<u8> {
    let mut file = b"FUJIFILMCCD-RAW 0201".to_vec();
    let jpeg = sample("orientation-8.jpg");
    file.resize(148, 0);
    let end = 148 + jpeg.len() as u32;
    for (at, value) in [(84, 148), (88, jpeg.len() as u32), (92, end), (96, 64)] {
        file[at..at + 4].copy_from_slice(&u32::to_be_bytes(value));
    }
    file.extend(jpeg);
    file.extend(SENSOR);
    file
}

/// Returns a RAW file for each file extension, such as `cr2`, with the name of the sample JPEG that should be decoded
/// from it.
fn kinds() -> [(&'static str, Vec<u8>, &'static str); 5] {
    [
        ("cr2", cr2(), LARGE),
        ("nef", pages(true, false), LARGE),
        ("arw", pages(false, false), LARGE),
        ("dng", pages(false, true), LARGE),
        ("raf", raf(), "orientation-8.jpg"),
    ]
}

fn raw() -> &'static dyn Codec {
    codec("raw")
}

#[test]
fn the_largest_preview_is_the_image_turned_as_the_camera_was_held() {
    for (kind, file, jpeg) in kinds() {
        let jpeg = sample(jpeg);
        let engine = Engine::new(ALL, Limits::default());
        let info = engine.probe(&file).expect(kind);
        assert_eq!(
            (info.format, raw().format().aliases.contains(&kind)),
            ("raw", true)
        );
        assert_eq!(info.orientation, Orientation::from_exif(8), "{kind}");
        let image = decode(raw(), &file).expect(kind);
        assert_keeps_promises(&info, &image);
        let alone = decode(codec("jpeg"), &jpeg).expect("a sample");
        assert_eq!(image.frame, alone.frame, "{kind}");
    }
}

#[test]
fn a_raw_file_becomes_a_jpeg_where_nothing_else_is_asked_for() {
    let engine = Engine::new(ALL, Limits::default());
    for (kind, file, _) in kinds() {
        let recipe: Recipe = "orient,fit:40x40".parse().expect("a recipe");
        let plan = engine.plan(&recipe, &file).expect(kind);
        let result = engine.run(&plan, Run::of(&file)).expect(kind);
        let small = engine.probe(result.bytes(&file)).expect(kind);
        let stored = engine.probe(&file).expect(kind);
        let turned = (small.width > small.height) == (stored.height > stored.width);
        assert_eq!((small.format, turned), ("jpeg", true), "{kind}");
    }
}

#[test]
fn a_copy_ends_with_the_last_thing_that_the_file_points_to() {
    let engine = Engine::new(ALL, Limits::default());
    for (kind, file, _) in kinds() {
        let extent =
            |bytes: &[u8]| engine.extent(&andon_pixels::Alone, bytes, &andon_pixels::Never);
        let longer = [&file[..], b"<script>"].concat();
        assert_eq!(extent(&longer), Ok(file.len()), "{kind}");
        assert!(extent(&file[..file.len() - 1]).is_err(), "{kind}");
    }
}

#[test]
fn a_tiff_is_none_and_a_raw_file_without_a_preview_says_so() {
    let mut file = Container::new(false, 8);
    let [sensor, length] = file.put(&SENSOR);
    let raw_page = [(259, 1), (262, 32_803), (273, sensor), (279, length)];
    let first = file.directory(&raw_page, 0);
    let file = file.finish(first);
    assert!(raw().sniff(&file));
    let refused = raw().probe(&file).unwrap_err();
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    let tiff = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/tiff");
    for entry in std::fs::read_dir(tiff).expect("samples").flatten() {
        let bytes = std::fs::read(entry.path()).expect("a sample");
        assert!(!raw().sniff(&bytes), "{}", entry.path().display());
    }
}

#[test]
fn damage_does_no_harm() {
    for (_, file, _) in kinds() {
        assert_survives_damage(raw(), &file, 200);
    }
}

#[test]
fn directories_that_point_to_each_other_end() {
    let mut file = Container::new(false, 8);
    let at = file.bytes.len() as u32;
    file.directory(&[(330, at), (262, 32_803)], at);
    let file = file.finish(at);
    assert!(raw().probe(&file).is_err());
}
