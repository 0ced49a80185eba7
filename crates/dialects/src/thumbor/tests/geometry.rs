//! Tests of sizes and places. Expected values for thumbor come from running its transformer.

use andon_recipe::{Area, Facts, Measured, Orientation};

use super::{ask, imagor, recipe, thumbor};
use crate::vectors;

/// Returns the recipe that thumbor's rules resolve to for a source of 400 × 301 px.
fn steps(rest: &str) -> String {
    let facts = Facts::new("png", 400, 301);
    recipe(&thumbor(), &format!("{rest}/a.png"), &facts)
}

#[test]
fn thumbors_goldens_hold() {
    for (rest, steps_of) in [
        ("300x200", "crop:0:16:400x267,exact:300x200"),
        ("150x0", "exact:150x113"),
        ("0x151", "exact:201x151"),
        ("100x100", "crop:50:0:301x301,exact:100x100"),
        // The aspect ratios agree to two decimals, so that the image is distorted a little instead of cropped.
        ("133x100", "exact:133x100"),
        ("131x100", "crop:2:0:395x301,exact:131x100"),
        ("fit-in/300x200", "exact:266x200"),
        ("fit-in/500x500", "same"),
        ("full-fit-in/500x500", "exact:664x500"),
        ("adaptive-fit-in/100x300", "exact:133x100"),
        ("origx100", "crop:0:100:400x100"),
        ("fit-in/99x99", "exact:99x74"),
        ("100x200/left", "crop:0:0:151x301,exact:100x200"),
        ("200x50/bottom", "crop:0:201:400x100,exact:200x50"),
        ("100x200/right", "crop:249:0:151x301,exact:100x200"),
        ("x", "same"),
        ("800x600", "exact:800x600"),
        ("-0x-0", "turn:180"),
        ("-100x0", "exact:100x75,flip:h"),
    ] {
        assert_eq!(steps(rest), steps_of, "{rest}");
    }
}

#[test]
fn thumbors_crop_is_held_to_the_image_and_ignored_when_nothing_is_left() {
    assert_eq!(steps("10x20:110x220"), "crop:10:20:100x200");
    assert_eq!(steps("10x20:9999x9999"), "crop:10:20:390x281");
    assert_eq!(steps("300x0:200x100"), "same");
    assert_eq!(
        steps("10x20:110x220/50x0"),
        "crop:10:20:100x200,exact:50x100"
    );
}

#[test]
fn thumbors_focal_regions_are_weighed_by_their_areas() {
    assert_eq!(
        steps("100x100/filters:focal(0x0:100x100)"),
        "crop:0:0:301x301,exact:100x100"
    );
    assert_eq!(
        steps("100x100/filters:focal(180x0:280x100)"),
        "crop:80:0:301x301,exact:100x100"
    );
    // The region outside the crop is dropped, and the other one moves along with the crop.
    assert_eq!(
        steps("100x0:400x301/100x100/filters:focal(0x0:50x50):focal(300x0:400x301)"),
        "crop:100:0:300x301,exact:100x100"
    );
    assert_eq!(
        steps("100x0:400x301/10x30/filters:focal(0x0:50x50):focal(300x0:400x301)"),
        "crop:299:0:101x301,exact:10x30"
    );
    // A region without a width is ignored.
    assert_eq!(
        steps("100x100/filters:focal(5x0:5x100)"),
        "crop:50:0:301x301,exact:100x100"
    );
}

#[test]
fn thumbors_sizes_are_bent_by_filters() {
    for (rest, steps_of) in [
        ("800x0/filters:no_upscale()", "same"),
        ("800x800/filters:no_upscale()", "same"),
        ("100x100/filters:stretch()", "exact:100x100"),
        ("fit-in/800x800/filters:upscale()", "exact:800x602"),
        ("fit-in/800x300/filters:upscale()", "exact:399x300"),
        ("fit-in/800x0/filters:upscale()", "same"),
        (
            "fit-in/origx100/filters:fill(blue)",
            "exact:133x100,canvas:400x100:0000ff:133:0",
        ),
        (
            "100x100/filters:proportion(1.5)",
            "crop:50:0:301x301,exact:100x100",
        ),
        (
            "fit-in/500x500/filters:fill(blue)",
            "canvas:500x500:0000ff:50:99",
        ),
        ("fit-in/300x0/filters:fill(blue)", "exact:300x226"),
        (
            "adaptive-fit-in/100x300/filters:fill(blue)",
            "exact:133x100,canvas:300x100:0000ff:83:0",
        ),
        ("full-fit-in/500x500/filters:fill(blue)", "exact:664x500"),
        (
            "200x100/filters:rotate(90):fill(blue)",
            "crop:0:50:400x200,exact:200x100,turn:270,crop:0:50:100x100,canvas:200x100:0000ff:50:0",
        ),
    ] {
        assert_eq!(steps(rest), steps_of, "{rest}");
    }
}

#[test]
fn a_trimmed_border_moves_the_crop() {
    let mut facts = Facts::new("png", 400, 301);
    let request = ask(&thumbor(), "trim:5/30x40:130x140/a.png");
    let asked = request.rules.measures(Orientation::default());
    let area = Area {
        x: 20,
        y: 10,
        w: 300,
        h: 200,
    };
    facts.measured = Measured::from_iter([(asked[0], area)]);
    let recipe = request.rules.resolve(&facts).unwrap();
    assert_eq!(recipe.to_string(), "crop:30:40:100x100");
    assert_eq!(vectors::size(&recipe, &facts), (100, 100));
    // With `bottom-right`, the border has the colour of the lower right corner.
    let request = ask(&thumbor(), "trim:bottom-right/a.png");
    let asked = request.rules.measures(Orientation::default());
    facts.measured = Measured::from_iter([(asked[0], area)]);
    assert_eq!(
        request.rules.resolve(&facts).unwrap().to_string(),
        "crop:20:10:300x200"
    );
}

#[test]
fn imagors_arithmetic_is_libvips() {
    let facts = Facts::new("png", 400, 301);
    for (rest, steps_of) in [
        ("300x200", "exact:300x226,crop:0:13:300x200"),
        ("300x200/top", "exact:300x226,crop:0:0:300x200"),
        ("150x0", "exact:150x113"),
        ("0x151", "exact:201x151"),
        ("100x100", "exact:133x100,crop:16:0:100x100"),
        ("fit-in/300x200", "exact:266x200"),
        ("fit-in/500x500", "same"),
        ("fit-in/500x500/filters:upscale()", "exact:500x376"),
        ("full-fit-in/500x500", "exact:664x500"),
        ("adaptive-fit-in/100x300", "exact:133x100"),
        ("stretch/100x100", "exact:100x100"),
        ("500x100/filters:no_upscale()", "crop:0:100:400x100"),
        ("800x0/filters:no_upscale()", "same"),
        ("800x800", "exact:1063x800,crop:131:0:800x800"),
        // A crop of everything loses the last column and row.
        ("0x0:400x301", "crop:0:0:399x300"),
        ("0x0:0.5x0.5", "crop:0:0:200x151"),
        ("10x20:0x0", "crop:10:20:389x280"),
        ("300x0:200x100", "same"),
        (
            "100x100/filters:focal(0x0:100x100)",
            "exact:133x100,crop:0:0:100x100",
        ),
        (
            "100x100/filters:focal(0.9,0.5)",
            "exact:133x100,crop:33:0:100x100",
        ),
        (
            "full-fit-in/500x500/filters:fill(blue)",
            "exact:664x500,canvas:665x500:0000ff:0:0",
        ),
    ] {
        let text = recipe(&imagor(), &format!("{rest}/a.png"), &facts);
        assert_eq!(text, steps_of, "{rest}");
    }
}

/// Compares results with the transformer of thumbor 7.8. Each row of `transformer.txt` has the size of a source, a
/// target, and the result of the transformer: its steps as a recipe or, if filters change the image after them, only
/// the size.
#[test]
fn thumbors_transformer_comes_to_the_same() {
    for row in include_str!("transformer.txt").lines() {
        let mut fields = row.split(' ');
        let mut field = || fields.next().expect(row);
        let (source, target, right) = (field(), field(), field());
        let (width, height) = source.split_once('x').expect(row);
        let facts = Facts::new("png", width.parse().unwrap(), height.parse().unwrap());
        let recipe = recipe(&thumbor(), target, &facts);
        let (width, height) = vectors::size(&recipe.parse().unwrap(), &facts);
        let size = format!("{width}x{height}");
        assert!(right == recipe || right == size, "{row}: {recipe}, {size}");
    }
}
