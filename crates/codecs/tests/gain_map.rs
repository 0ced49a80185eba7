//! Gain maps of HDR photos: they are transformed with their image, and their parameters stay identical.

use std::path::Path;

use andon_codecs::ALL;
use andon_pixels::{
    Alone, Decode, Engine, Frame, GainHeader, Limits, Model, Never, Plane, Rendered, Result, Run,
    Scales,
};
use andon_recipe::Recipe;
use serde_json::Value;

use crate::support::codec;

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/hdr");
    std::fs::read(folder.join(name)).expect("a sample")
}

fn render(file: &[u8], recipe: &str) -> Result<Rendered> {
    let engine = Engine::new(ALL, Limits::default());
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = engine.plan(&recipe, file)?;
    engine.run(&plan, Run::of(file))
}

/// Reads the header and the pixels of a file's gain map.
fn read(file: &[u8]) -> Option<(GainHeader, Frame)> {
    let codec = ALL.iter().find(|codec| codec.sniff(file))?;
    let decoder = codec.gain_maps()?;
    let header = decoder.gain_map(file, &codec.probe(file).ok()?)?;
    let how = Decode {
        scales: Scales::FULL,
        limits: &Limits::default(),
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let frame = decoder.decode_gain_map(file, &how).expect("a whole map");
    Some((header, frame))
}

fn made(name: &str, recipe: &str) -> (Vec<u8>, GainHeader, Frame) {
    let file = sample(name);
    let made = render(&file, recipe).unwrap_or_else(|error| panic!("{name} {recipe}: {error}"));
    assert_eq!(made.notes, [""; 0], "{name} {recipe}");
    let body = made.bytes(&file).to_vec();
    let (header, frame) = read(&body).unwrap_or_else(|| panic!("{name} {recipe}: no map"));
    (body, header, frame)
}

/// Returns a sample of the first plane, at these fractions of width and height.
fn at(frame: &Frame, x: f64, y: f64) -> u8 {
    let Plane::U8(grid) = &frame.planes[0] else {
        panic!("maps of JPEGs have 8 bits")
    };
    let row = (y * f64::from(grid.height())) as u32;
    grid.row(row)[(x * f64::from(grid.width())) as usize]
}

#[test]
fn a_gain_map_goes_where_its_image_goes() {
    // The chart's map has no gain on the left, and four steps of 60, 120, 180 and 240 on the right.
    for (recipe, size, places) in [
        (
            "fit:160x120",
            (40, 30),
            [((0.2, 0.5), 0), ((0.56, 0.5), 60), ((0.94, 0.5), 240)],
        ),
        (
            "flip:h",
            (80, 60),
            [((0.8, 0.5), 0), ((0.44, 0.5), 60), ((0.06, 0.5), 240)],
        ),
        (
            "turn:90",
            (60, 80),
            [((0.5, 0.2), 0), ((0.5, 0.56), 60), ((0.5, 0.94), 240)],
        ),
        (
            "crop:160:0:160x240,fit:100x90",
            (15, 23),
            [((0.1, 0.5), 60), ((0.4, 0.5), 120), ((0.9, 0.5), 240)],
        ),
        (
            "crop:161:3:150x201,turn:270,sharpen:0x1",
            (50, 38),
            [((0.5, 0.94), 60), ((0.5, 0.6), 120), ((0.5, 0.05), 240)],
        ),
        (
            "exact:100x300,flip:v,exact:50x100",
            (13, 25),
            [((0.2, 0.5), 0), ((0.56, 0.5), 60), ((0.94, 0.5), 240)],
        ),
    ] {
        let (_, header, frame) = made("gray.jpg", recipe);
        assert_eq!((frame.width, frame.height), size, "{recipe}");
        for ((x, y), expected) in places {
            let value = at(&frame, x, y);
            assert!(value.abs_diff(expected) <= 6, "{recipe} {x} {y}: {value}");
        }
        let (before, _) = read(&sample("gray.jpg")).expect("its map");
        assert_eq!(header.params, before.params, "{recipe}");
    }
}

#[test]
fn a_gain_map_is_turned_upright_with_its_image() {
    let (_, _, frame) = made("turned.jpg", "orient,fit:120x160");
    assert_eq!((frame.width, frame.height), (30, 40));
    let steps = [0.2, 0.56, 0.94].map(|y| at(&frame, 0.5, y));
    assert!(steps[0] < 6 && steps[1].abs_diff(60) <= 6 && steps[2].abs_diff(240) <= 6);
}

#[test]
fn both_ways_of_saying_how_a_map_acts_stand_in_the_result() {
    let (body, header, frame) = made("colour.jpg", "fit:200x200,q:60");
    assert_eq!(
        (frame.width, frame.height, frame.planes.len()),
        (100, 75, 3)
    );
    let (before, _) = read(&sample("colour.jpg")).expect("its map");
    assert_eq!(header.params.iso, before.params.iso);
    let text = String::from_utf8_lossy(&body);
    assert!(
        text.contains("<rdf:li>-0.256907</rdf:li>"),
        "XMP was made of ISO"
    );
    let (body, header, _) = made("gray.jpg", "fit:200x200,q:60");
    assert!(header.params.iso.is_some(), "ISO was made of XMP");
    let text = String::from_utf8_lossy(&body);
    assert!(
        text.contains("hdrgm:HDRCapacityMax=\"2.250\""),
        "to the letter"
    );
    assert!(text.contains("'x-default'>CC0<"), "whose image it is");
}

#[test]
fn the_index_of_the_result_leads_to_its_map() {
    for name in ["gray.jpg", "colour.jpg", "turned.jpg"] {
        for recipe in [
            "fit:100x100",
            "metadata:all,q:50",
            "metadata:none,progressive",
        ] {
            let (body, header, _) = made(name, recipe);
            let place = |what: &[u8]| body.windows(what.len()).position(|window| window == what);
            let index = place(b"MPF\0").expect("an index") + 4;
            let number = |at: usize| {
                u32::from_be_bytes(body[index + at..][..4].try_into().expect("four")) as usize
            };
            // Both entries: the size, and the offset from the index.
            let (first, second, offset) = (number(54), number(70), number(74));
            assert_eq!(index + offset, first, "{name} {recipe}");
            assert_eq!(first + second, body.len(), "{name} {recipe}");
            assert_eq!(header.bytes, second as u64);
            assert_eq!(body[first..first + 3], [0xff, 0xd8, 0xff]);
            assert_eq!(body[first - 2..first], [0xff, 0xd9], "{name} {recipe}");
            let text = String::from_utf8_lossy(&body);
            let length = format!("Item:Length=\"{second}\"");
            assert_eq!(text.matches("Item:Length").count(), 1, "{name} {recipe}");
            assert!(text.contains(&length), "{name} {recipe}");
            let extent = Engine::new(ALL, Limits::default()).extent(&Alone, &body, &Never);
            assert_eq!(extent, Ok(body.len()), "{name} {recipe}");
        }
    }
}

#[test]
fn a_gain_map_goes_into_other_formats_and_comes_back() {
    for (name, format) in [
        ("gray.jpg", "jxl"),
        ("colour.jpg", "jxl"),
        ("gray.jpg", "avif"),
        ("colour.jpg", "avif"),
    ] {
        let (there, header, frame) = made(name, &format!("fit:160x160,as:{format}"));
        let (before, _) = read(&sample(name)).expect("its map");
        assert_eq!(header.params.iso, before.params.iso, "{name} {format}");
        let gray = before.info.model == Model::Gray;
        assert_eq!(frame.model == Model::Gray, gray, "{name} {format}");
        let back = render(&there, "fit:80x80,as:jpeg,flip:h").expect("an image");
        let (after, frame) = read(back.bytes(&there)).expect("its map");
        assert_eq!(after.params.iso, before.params.iso, "{name} {format}");
        let ratio = if gray { 4 } else { 2 };
        assert_eq!(
            (frame.width, frame.height),
            (80 / ratio, 60 / ratio),
            "{format}"
        );
        for (x, expected) in [(0.8, 0), (0.44, 60), (0.06, 240)] {
            // Luma of a map that had three channels.
            let luma = if gray || expected == 0 {
                expected
            } else {
                expected - 16
            };
            let value = at(&frame, x, 0.5);
            assert!(value.abs_diff(luma) <= 8, "{name} {format} {x}: {value}");
        }
    }
}

#[test]
fn what_leaves_a_map_out_says_so() {
    for (recipe, why) in [
        ("as:webp", "webp does not hold it"),
        ("blur:0x3", "`blur:0x3` changes"),
        ("border:5x5:ff0000", "changes what it is about"),
        ("canvas:400x400:ffffff", "changes what it is about"),
    ] {
        let file = sample("gray.jpg");
        let made = render(&file, recipe).expect(recipe);
        assert!(
            made.notes.join("").contains(why),
            "{recipe}: {:?}",
            made.notes
        );
        assert!(read(made.bytes(&file)).is_none(), "{recipe}");
    }
    let file = sample("colour.jpg");
    let moved = render(&file, "profile:srgb").expect("an image");
    assert!(moved.notes.join("").contains("another space"));
    // There is no warning if the request asked for this.
    let dropped = render(&file, "gainmap:drop").expect("an image");
    assert_eq!(dropped.notes, [""; 0]);
    assert!(read(dropped.bytes(&file)).is_none());
}

#[test]
fn the_plan_counts_the_map() {
    let engine = Engine::new(ALL, Limits::default());
    let plan = |recipe: &str| {
        let recipe: Recipe = recipe.parse().expect("a recipe");
        engine.plan(&recipe, &sample("colour.jpg")).expect("a plan")
    };
    let (with, without) = (plan("fit:200x200"), plan("fit:200x200,gainmap:drop"));
    assert!(
        with.to_string()
            .contains(" | gain map 100x75 | encode jpeg"),
        "{with}"
    );
    assert!(with.cost().nanos > without.cost().nanos);
    let held = |plan: &andon_pixels::Plan| plan.steps().last().map_or(0, |step| step.holds);
    assert!(held(&with) >= held(&without) + 2 * 3 * 100 * 75, "{with:?}");
}

#[test]
fn a_broken_map_never_breaks_the_image() {
    let file = sample("gray.jpg");
    let whole = read(&file).expect("its map").0.bytes as usize;
    let image = file.len() - whole;
    let plain = render(&file, "fit:64x64,gainmap:drop").expect("an image");
    let plain = codec("jpeg").probe(plain.bytes(&file)).expect("a header");
    let check = |file: &[u8], what: &str| {
        let made = render(file, "fit:64x64").unwrap_or_else(|error| panic!("{what}: {error}"));
        let info = codec("jpeg").probe(made.bytes(file)).expect(what);
        assert_eq!(
            (info.width, info.height),
            (plain.width, plain.height),
            "{what}"
        );
        if read(made.bytes(file)).is_none() && read_header(file) {
            assert!(
                made.notes.join("").contains("broken"),
                "{what}: {:?}",
                made.notes
            );
        }
    };
    for length in (image..file.len()).step_by(7) {
        check(&file[..length], &format!("{length} bytes"));
    }
    let index = file
        .windows(4)
        .position(|window| window == b"MPF\0")
        .expect("an index")
        + 4;
    for at in [4, 8, 10, 34, 38, 54, 58, 66, 70, 74] {
        for value in [0, 1, 7, 600, 0x7fff_ffff, u32::MAX, file.len() as u32] {
            let mut hostile = file.clone();
            hostile[index + at..][..4].copy_from_slice(&value.to_le_bytes());
            check(&hostile, &format!("{value} at {at}"));
        }
    }
}

/// Whether the header of a JPEG declares a gain map.
fn read_header(file: &[u8]) -> bool {
    let codec = codec("jpeg");
    let info = codec.probe(file);
    info.is_ok_and(|info| {
        codec
            .gain_maps()
            .expect("the capability")
            .gain_map(file, &info)
            .is_some()
    })
}

#[test]
fn maps_of_the_conformance_set_keep_ratio_channels_and_parameters() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let Ok(rows) = std::fs::read_to_string(shared.join("manifest.jsonl")) else {
        eprintln!("skipped: there is no ../shared/conformance beside the repository");
        return;
    };
    let mut seen = 0;
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).expect("a row");
        let path = row["path"].as_str().expect("a path");
        if row["expected"]["gainmap"].is_null() {
            continue;
        }
        let known = std::fs::read_to_string(shared.join(format!("{path}.gainmap.json")));
        let known: Value = serde_json::from_str(&known.expect("what is known")).expect("JSON");
        let file = std::fs::read(shared.join(path)).expect("a file");
        if row["format"] == "avif" {
            seen += usize::from(carried_by_avif(path, &known, &file));
            continue;
        }
        let map = &known["images"][0];
        let acts = |word: &str| map[word].as_object().filter(|said| said.len() > 1);
        let says = acts("xmp_hdrgm").or(acts("xmp_apple"));
        let Some((before, _)) = read(&file) else {
            assert!(says.is_none(), "{path}: its map was not found");
            continue;
        };
        seen += 1;
        let made = render(&file, "fit:150x150").expect(path);
        assert_eq!(made.notes, [""; 0], "{path}");
        let (after, frame) = read(made.bytes(&file)).expect(path);
        assert_eq!(after.params, before.params, "{path}");
        assert_eq!(
            Some(frame.planes.len() as u64),
            map["components"].as_u64(),
            "{path}"
        );
        let ratio = |map: &Value, whole: &Value| {
            map.as_f64().expect("a width") / whole.as_f64().expect("a width")
        };
        let ratio = ratio(&map["width"], &row["width"]);
        let expected = (f64::from(made.width) * ratio).round();
        assert!((f64::from(frame.width) - expected).abs() <= 1.0, "{path}");
        let packet = after.params.xmp.as_deref().unwrap_or_default();
        let packet = String::from_utf8_lossy(packet);
        for (name, value) in says.into_iter().flatten() {
            let values = value.as_array().cloned().unwrap_or(vec![value.clone()]);
            for value in values {
                let value = value.as_str().expect("a text");
                assert!(packet.contains(value), "{path}: {name} {value}");
            }
        }
    }
    assert!(seen >= 9, "{seen} maps");
}

/// Whether a file has a gain map, after checking that a smaller AVIF made from the file has a gain map with the same
/// parameters.
fn carried_by_avif(path: &str, known: &Value, file: &[u8]) -> bool {
    let Some((before, _)) = read(file) else {
        let acts = &known["tmap"]["channels"];
        let zero = acts[0]["gain_map_gamma"][0] == 0;
        let sound = acts.is_array() && !zero && !path.contains("wrongaltr");
        assert!(!sound, "{path}: its map was not found");
        return false;
    };
    let made = render(file, "fit:100x100,as:avif").expect(path);
    assert_eq!(made.notes, [""; 0], "{path}");
    let (after, frame) = read(made.bytes(file)).expect(path);
    assert_eq!(after.params.iso, before.params.iso, "{path}");
    let iso = after.params.iso.expect("it is there");
    assert_eq!(
        iso.len() as u64,
        known["tmap"]["bytes"].as_u64().expect("a length"),
        "{path}"
    );
    let width = known["gain_map_size"][0].as_f64().expect("a width");
    let whole = f64::from(
        Engine::new(ALL, Limits::default())
            .probe(file)
            .expect(path)
            .width,
    );
    let expected = (f64::from(made.width) * width / whole).round();
    assert!((f64::from(frame.width) - expected).abs() <= 1.0, "{path}");
    true
}
