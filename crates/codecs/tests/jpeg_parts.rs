//! Parts of JPEGs that are decoded with an index (of where in the file decoding can start) equal the same area of the
//! full decode.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{Dice, codec, jpegs, samples};
use andon_pixels::{
    Alone, Codec, Decode, Frame, Image, Info, Limits, Never, Result, Scale, Scales,
};
use andon_pixels::{Engine, Index, NoOverlays, Run};
use andon_recipe::{Area, Measured, Recipe};

/// A JPEG, its header, and an index of where in the file decoding can start.
struct Indexed {
    name: String,
    bytes: Vec<u8>,
    info: Info,
    index: Vec<u8>,
}

fn jpeg() -> &'static dyn Codec {
    codec("jpeg")
}

fn how(scales: Scales, limits: &Limits) -> Decode<'_> {
    Decode {
        scales,
        limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    }
}

fn index(bytes: &[u8]) -> Option<Vec<u8>> {
    let info = jpeg().probe(bytes).ok()?;
    let limits = Limits::default();
    let index =
        jpeg()
            .parts()
            .expect("the capability")
            .index(bytes, &info, &how(Scales::FULL, &limits));
    index.expect("nothing over a limit")
}

/// Returns those sample JPEGs and fixtures for which an index of where decoding can start can be made.
fn indexed() -> Vec<Indexed> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg");
    let files = [samples("jpeg"), fixtures];
    let files = files.iter().flat_map(|folder| jpegs(folder));
    let indexed = |path: PathBuf| {
        let bytes = std::fs::read(&path).expect("a file");
        Some(Indexed {
            name: path.display().to_string(),
            index: index(&bytes)?,
            info: jpeg().probe(&bytes).expect("a header"),
            bytes,
        })
    };
    files.filter_map(indexed).collect()
}

impl Indexed {
    fn part(&self, scales: Scales, part: Area) -> Result<Image> {
        let limits = Limits::default();
        let how = how(scales, &limits);
        jpeg().parts().expect("the capability").decode_part(
            &self.bytes,
            &self.info,
            &how,
            &self.index,
            part,
        )
    }

    fn whole(&self, scales: Scales) -> Frame {
        let limits = Limits::default();
        let image = jpeg().decode(&self.bytes, &self.info, &how(scales, &limits));
        image.expect("an image").frame
    }

    /// Returns the area that has to be decoded to show the given area of the image, both in px, after checking that it
    /// contains the given area.
    fn around(&self, x: u32, y: u32, w: u32, h: u32) -> Area {
        let wanted = Area { x, y, w, h };
        let part = jpeg().parts().expect("the capability").part(
            &self.bytes,
            &self.info,
            &self.index,
            wanted,
        );
        let part = part.expect("a part");
        assert!(part.x <= x && part.y <= y, "{}: {part:?}", self.name);
        let (right, bottom) = (part.x + part.w, part.y + part.h);
        assert!(right >= x + w && bottom >= y + h, "{}: {part:?}", self.name);
        part
    }
}

/// Whether `part`, at these scales, equals the area of `whole` at `place`.
fn lies_in(whole: &Frame, part: &Frame, place: Area, scales: Scales) -> bool {
    let (x, y) = (scales.luma.of(place.x), scales.luma.of(place.y));
    let planes = whole.planes.iter().zip(&part.planes).enumerate();
    let mut same = planes.map(|(index, (whole_plane, part))| {
        let (across, down) = whole.model.plane_size(index, x, y);
        let (all, part) = (whole_plane.as_u8(), part.as_u8());
        let (all, part) = (all.expect("8 bits"), part.expect("8 bits"));
        (0..part.height()).all(|row| {
            let line = &all.row(down + row)[across as usize..];
            line.get(..part.width() as usize) == Some(part.row(row))
        })
    });
    same.all(|same| same) && whole.model == part.model
}

const AT: [Scales; 5] = [
    Scales::FULL,
    Scales::both(Scale::HALF),
    Scales {
        luma: Scale::HALF,
        chroma: Scale::QUARTER,
    },
    Scales::both(Scale::QUARTER),
    Scales::both(Scale::EIGHTH),
];

#[test]
fn every_part_is_what_the_full_decode_has_there() {
    let files = indexed();
    let mut dice = Dice::new(3);
    for file in &files {
        let (width, height) = (file.info.width, file.info.height);
        for scales in AT {
            let whole = file.whole(scales);
            let mut along = |side: u32| {
                let first = dice.below(side as usize) as u32;
                (first, dice.below((side - first) as usize) as u32 + 1)
            };
            let mut wanted = vec![(0, 0, width, height), (width - 1, height - 1, 1, 1)];
            for _ in 0..6 {
                let ((x, w), (y, h)) = (along(width), along(height));
                wanted.push((x, y, w, h));
            }
            for (x, y, w, h) in wanted {
                let place = file.around(x, y, w, h);
                let part = file.part(scales, place).expect("a part").frame;
                let what = format!("{} {scales:?} {place:?}", file.name);
                assert_eq!(
                    (part.width, part.height),
                    (scales.luma.of(place.w), scales.luma.of(place.h)),
                    "{what}"
                );
                assert!(lies_in(&whole, &part, place, scales), "{what}");
            }
        }
    }
    let has = |name: &str| files.iter().any(|file| file.name.ends_with(name));
    for name in [
        "/420.jpg",
        "/422.jpg",
        "/440.jpg",
        "/444.jpg",
        "/gray.jpg",
        "/restart.jpg",
        "/restart-5.jpg",
        "/restart-row.jpg",
        "/33x17.jpg",
    ] {
        assert!(has(name), "{name} has no index");
    }
    for name in [
        "/progressive-420.jpg",
        "/gray-progressive.jpg",
        "/cmyk.jpg",
        "/rgb.jpg",
    ] {
        assert!(!has(name), "{name} has an index");
    }
}

#[test]
fn parts_begin_near_what_is_wanted() {
    let file = indexed()
        .into_iter()
        .find(|file| file.name.ends_with("/420.jpg"));
    let file = file.expect("a sample");
    let part = file.around(file.info.width - 1, file.info.height - 1, 1, 1);
    assert!(part.w <= 16 && part.h <= 16, "{part:?}");
}

#[test]
fn a_damaged_file_has_no_index_or_that_of_the_image_it_decodes_to() {
    let mut dice = Dice::new(11);
    let (mut sound, mut refused) = (0, 0);
    for name in ["420.jpg", "restart.jpg", "gray.jpg"] {
        let file = std::fs::read(samples("jpeg").join(name)).expect("a sample");
        for round in 0..300 {
            let mut bytes = file.clone();
            for _ in 0..3 {
                let at = file.len() / 8 + dice.below(file.len() * 7 / 8);
                bytes[at] ^= 1 << dice.below(8);
            }
            if round % 10 == 0 {
                bytes.truncate(file.len() - 1 - dice.below(file.len() / 2));
            }
            let Ok(info) = jpeg().probe(&bytes) else {
                continue;
            };
            let limits = Limits::default();
            let how = how(Scales::FULL, &limits);
            let whole = jpeg().decode(&bytes, &info, &how);
            let Ok(Some(index)) = jpeg()
                .parts()
                .expect("the capability")
                .index(&bytes, &info, &how)
            else {
                refused += 1;
                continue;
            };
            let whole = whole.expect("what has an index decodes").frame;
            let damaged = Indexed {
                name: name.to_owned(),
                bytes,
                info,
                index,
            };
            let place = damaged.around(damaged.info.width / 2, damaged.info.height / 2, 9, 9);
            let part = damaged.part(Scales::FULL, place).expect("a part");
            assert!(
                lies_in(&whole, &part.frame, place, Scales::FULL),
                "{name} {round}"
            );
            sound += 1;
        }
    }
    assert!(sound > 50 && refused > 50, "{sound}, {refused}");
}

#[test]
fn a_cut_file_has_no_index() {
    let file = std::fs::read(samples("jpeg").join("420.jpg")).expect("a sample");
    for length in [file.len() - 12, file.len() / 2] {
        assert_eq!(index(&file[..length]), None, "{length} bytes");
    }
}

#[test]
fn an_index_of_another_file_is_refused_and_a_damaged_one_breaks_nothing() {
    let files = indexed();
    let named = |name: &str| files.iter().find(|file| file.name.ends_with(name));
    let (one, other) = (named("/420.jpg"), named("/444.jpg"));
    let (one, other) = (one.expect("a sample"), other.expect("a sample"));
    let everything = Area {
        x: 0,
        y: 0,
        w: one.info.width,
        h: one.info.height,
    };
    let part = |index: &[u8]| {
        jpeg()
            .parts()
            .expect("the capability")
            .part(&one.bytes, &one.info, index, everything)
    };
    assert_eq!(part(&other.index), None);
    assert_eq!(part(&one.index[..one.index.len() - 1]), None);
    assert_eq!(part(&[]), None);
    let mut dice = Dice::new(5);
    for _ in 0..300 {
        let mut index = one.index.clone();
        for _ in 0..4 {
            index[dice.below(one.index.len())] ^= 1 << dice.below(8);
        }
        if let Some(place) = part(&index) {
            let limits = Limits::default();
            let how = how(Scales::FULL, &limits);
            // The result may be an image, wrong or not, or an error.
            let _ = jpeg()
                .parts()
                .expect("the capability")
                .decode_part(&one.bytes, &one.info, &how, &index, place);
        }
    }
}

#[test]
fn results_do_not_depend_on_an_index() {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let make = |bytes: &[u8], text: &str| {
        let recipe: Recipe = text.parse().expect("a recipe");
        let plan = engine.plan(&recipe, bytes).expect("a plan");
        let made = engine.run(&plan, Run::of(bytes)).expect("an image");
        made.body.expect("a new one")
    };
    let photo = std::fs::read(samples("large").join("canyon-wren.jpg")).expect("a sample");
    for chroma in ["420", "444"] {
        let text = format!("exact:4001x2203,as:jpeg,q:80,chroma:{chroma}");
        let file = make(&photo, &text);
        let index: Index = Arc::new(index(&file).expect("an index"));
        for text in [
            "crop:512:512:512x512,as:jpeg",
            "crop:1003:777:512x512,as:png",
            "crop:3999:2201:2x2,as:png",
            "crop:0:0:100x70,exact:200x140,as:png",
            "crop:1000:600:1024x1024,exact:512x512,as:png",
            "crop:1001:3:1999x999,exact:200x100,as:jpeg",
            "crop:2000:1000:900x900,exact:301x301,crop:20:30:200x200,as:png",
            "crop:700:700:600x300,turn:90,as:jpeg",
            "exact:2000x1101,crop:700:500:256x256,as:webp",
        ] {
            let recipe: Recipe = text.parse().expect("a recipe");
            let measured = Measured::default();
            let plan = |index| {
                let plan = engine.plan_with(&recipe, &file, &NoOverlays, Some(&measured), index);
                plan.expect("a plan")
            };
            let (plain, part) = (plan(None), plan(Some(&index)));
            assert!(
                plain.indexing().is_some() && part.indexing().is_none(),
                "{text}"
            );
            assert!(part.to_string().contains(" from "), "{text}: {part}");
            assert!(part.cost().nanos < plain.cost().nanos, "{text}");
            assert!(part.peak_bytes() < plain.peak_bytes(), "{text}");
            let run = |plan| engine.render_frame(plan, Run::of(&file));
            assert!(
                run(&plain).expect("an image") == run(&part).expect("a part"),
                "{text}"
            );
        }
        let recipe: Recipe = "fit:500x500".parse().expect("a recipe");
        let plan = engine.plan(&recipe, &file).expect("a plan");
        assert_eq!(plan.indexing(), None, "all of it is shown");
    }
}
