//! Golden plans: the text of plans for a recipe and a header, without any pixels.

mod fake;

use std::time::Duration;

use andon_pixels::{CpuTime, Engine, Error, Limits, Plan, RULES, Result, ops};
use andon_recipe::Recipe;

fn plan_within(limits: Limits, source: &str, recipe: &str) -> Result<Plan> {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    Engine::new(fake::ALL, limits).plan(&recipe, source.as_bytes())
}

fn plan(source: &str, recipe: &str) -> Plan {
    plan_within(Limits::default(), source, recipe).expect("a plan")
}

fn refusal(source: &str, recipe: &str) -> Error {
    plan_within(Limits::default(), source, recipe).expect_err("no plan")
}

fn limit(limits: Limits, source: &str, recipe: &str) -> &'static str {
    match plan_within(limits, source, recipe) {
        Err(Error::Limit { bound, .. }) => bound.name,
        other => panic!("{other:?} instead of a limit"),
    }
}

#[test]
fn every_rule_has_an_example_that_it_acts_on() {
    for rule in RULES {
        let plan = plan(rule.example.source, rule.example.recipe);
        assert_eq!(plan.to_string(), rule.example.plan, "{rule}");
        assert!(plan.rules().contains(rule), "{rule} did not act");
    }
}

#[test]
fn a_recipe_with_a_plan_passes_the_check_before_there_is_a_image() {
    let engine = Engine::new(fake::ALL, Limits::default());
    let examples = RULES.iter().map(|rule| rule.example.recipe);
    for text in GOLDEN.iter().map(|(_, recipe, _)| *recipe).chain(examples) {
        let recipe: Recipe = text.parse().expect("a recipe");
        assert_eq!(engine.check(&recipe), Ok(()), "{text}");
    }
}

/// Test cases: source, recipe and expected plan. Each comment tells what the cases that follow it test.
#[rustfmt::skip]
const GOLDEN: &[(&str, &str, &str)] = &[
    // Vector images are drawn at the size of the result, and not scaled afterwards.
    ("drawing 300x150 rgba", "as:png",
     "draw drawing 300x150 rgba | encode png"),
    ("drawing 300x150 rgba", "fit:80x80,as:png",
     "draw drawing 80x40 rgba | encode png"),
    ("drawing 300x150 rgba", "fit:9000x9000:enlarge,as:png",
     "draw drawing 9000x4500 rgba | encode png"),
    ("drawing 300x150 rgba", "exact:70x90,linear,as:png",
     "draw drawing 70x90 rgba | encode png"),
    ("drawing 300x150 rgba", "crop:20:10:30x40,exact:300x400,as:png",
     "draw drawing 300x400 rgba from 20,10 30x40 | encode png"),
    ("drawing 300x150 rgba", "shrink:4,crop:20:10:30x40,as:png",
     "draw drawing 30x40 rgba from 40,20 60x80 | encode png"),
    ("drawing 300x150 rgba", "turn:90,cover:50x50,as:png",
     "draw drawing 50x50 rgba from 75,0 150x150 | turn 90 | encode png"),
    // Recipes that change nothing, and details that prevent a copy.
    ("jpeg 400x300 ycbcr420 q90", "same",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "original",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "as:jpg",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "metadata:none",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90 metadata", "metadata:all",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90 metadata", "same",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "orient,crop:0:0:100%x100%",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "fit:400x300:enlarge,blur:0x0",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90 metadata", "metadata:none",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "q:90",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "chroma:420",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "effort:3",
     "decode jpeg ycbcr420 | encode jpeg q90 effort3"),
    ("jpeg 400x300 ycbcr420 q90", "progressive",
     "decode jpeg ycbcr420 | encode jpeg q90 progressive"),
    ("jpeg 400x300 ycbcr420 q90 progressive", "same",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90 turned:6", "same",
     "decode jpeg ycbcr420 | turn 90 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90 turned:6", "stored",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90 turned:6", "orient",
     "decode jpeg ycbcr420 | turn 90 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "turn:180",
     "decode jpeg ycbcr420 | turn 180 | encode jpeg q90"),
    ("jpeg 400x300 cmyk q90", "profile:keep",
     "copy jpeg"),
    ("jpeg 400x300 cmyk q90", "same",
     "decode jpeg cmyk | convert ycbcr444 | encode jpeg q90"),
    ("png 400x300 rgb frames:2", "same",
     "decode png rgb | encode png"),
    // Shrinking on load: the headroom of 1.5 on either side of a scale, and chroma by its own planes.
    ("jpeg 4000x3000 ycbcr420 q90", "exact:150x112",
     "decode jpeg 1/8 ycbcr420 | resize 150x112 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "exact:370x277",
     "decode jpeg 1/8 ycbcr420 | resize 370x277 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "exact:371x278",
     "decode jpeg 1/4 ycbcr420 | resize 371x278 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "fit:1200x1200",
     "decode jpeg 1/2 ycbcr420 | resize 1200x900 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr444 q90", "fit:1200x1200,q:80,chroma:420",
     "decode jpeg 1/2 chroma 1/4 ycbcr420 | resize 1200x900 lanczos3 | encode jpeg q80"),
    ("jpeg 4000x3000 ycbcr422 q90", "fit:400x400",
     "decode jpeg 1/4 ycbcr422 | resize 400x300 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "crop:0:0:1000x750,fit:400x300",
     "decode jpeg ycbcr420 | resize 400x300 lanczos3 from 0,0 1000x750 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "exact:50x2900",
     "decode jpeg ycbcr420 | resize 50x2900 lanczos3 | encode jpeg q90"),
    ("png 4000x3000 rgb", "exact:150x112",
     "decode png rgb | resize 150x112 lanczos3 | encode png"),
    ("webp 4000x3000 ycbcr420-limited", "exact:150x112",
     "decode webp 1/8 ycbcr420-limited | resize 150x112 lanczos3 | encode webp"),
    // Kernels: soft ones for palettes, opacity and growth.
    ("png 400x300 rgba", "fit:200x200",
     "decode png rgba | resize 200x150 mitchell | encode png"),
    ("png 400x300 rgb palette", "fit:200x200",
     "decode png rgb | resize 200x150 mitchell | encode png"),
    ("jpeg 400x300 ycbcr420 q90", "fit:800x800:enlarge",
     "decode jpeg ycbcr420 | resize 800x600 mitchell | encode jpeg q90"),
    // Formats: planes stay planes where both sides have them.
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,as:webp,q:80",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420-limited | encode webp q80"),
    ("jpeg 4000x3000 ycbcr444 q90", "fit:400x400,as:webp,q:80",
     "decode jpeg 1/4 chroma 1/8 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420-limited | encode webp q80"),
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,as:webp,lossless",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert rgb | encode webp lossless"),
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,as:webp,q:100",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420-limited | encode webp q100"),
    ("png 400x300 rgb16", "depth:8,with:level:9",
     "decode png rgb16 | convert rgb | encode png depth8 level:9"),
    ("png 400x300 rgb", "depth:16",
     "decode png rgb | convert rgb16 | encode png depth16"),
    // The best quality that is short enough never exceeds the source's own, and a source that is short enough is
    // copied.
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,max:9000",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg max9000 7 tries"),
    ("jpeg 4000x3000 ycbcr420 q5", "max:3",
     "decode jpeg ycbcr420 | encode jpeg max3 3 tries"),
    ("png 4000x3000 rgb", "fit:400x400,as:jpeg,max:9000",
     "decode png rgb | resize 400x300 lanczos3 | convert ycbcr420 | encode jpeg max9000 7 tries"),
    ("jpeg 400x300 ycbcr420 q90", "max:9000", "copy jpeg"),
    // The reference for scores has full-size chroma.
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,q:auto",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert rgb | encode jpeg score75 4 tries"),
    ("png 400x300 rgb16", "lossless,depth:16", "copy png"),
    // Options that the source's own format does not support are left out.
    ("png 400x300 rgb", "fit:200x200,q:80,chroma:420,effort:3",
     "decode png rgb | resize 200x150 lanczos3 | encode png"),
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,as:png",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert rgb | encode png"),
    ("jpeg 400x300 ycbcr420 q55", "as:webp",
     "decode jpeg ycbcr420 | convert ycbcr420-limited | encode webp q55"),
    ("jpeg 400x300 gray q90", "as:png",
     "decode jpeg gray | encode png"),
    ("jpeg 400x300 gray q90", "border:4x4:808080",
     "decode jpeg gray | border:4x4:808080 | encode jpeg q90"),
    // Colour painted on gray requires a colour model.
    ("jpeg 400x300 gray q90", "border:4x4:ff8800",
     "decode jpeg gray | convert ycbcr444 | border:4x4:ff8800 | encode jpeg q90"),
    ("jpeg 400x300 gray q90", "fit:200x200,canvas:200x200:ff8800,as:png",
     "decode jpeg gray | resize 200x150 lanczos3 | convert rgb | canvas 200x200 at 0,25 ff8800 | encode png"),
    ("png 400x300 gray", "over:icon.png:1:1",
     "decode png gray | convert rgb | over:icon.png:1:1 | encode png"),
    ("webp 400x300 ycbcr420a-limited", "as:jpeg",
     "decode webp ycbcr420a-limited | convert ycbcr444a | flatten ffffff | encode jpeg"),
    ("png 400x300 rgba16", "fit:200x200,as:jpeg,q:80",
     "decode png rgba16 | resize 200x150 mitchell | flatten ffffff | convert ycbcr420 | encode jpeg q80"),
    ("png 400x300 rgb16", "fit:200x200",
     "decode png rgb16 | resize 200x150 lanczos3 | encode png"),
    ("gif 400x300 rgba palette frames:2", "fit:200x200,as:webp",
     "decode gif rgba | resize 200x150 mitchell | convert ycbcr420a-limited | encode webp"),
    // CMYK becomes RGB before anything is painted, unless it is to be kept.
    ("jpeg 400x300 cmyk q90", "fit:200x200,profile:keep",
     "decode jpeg cmyk | resize 200x150 lanczos3 | encode jpeg q90"),
    ("jpeg 400x300 cmyk icc q90", "fit:200x200,profile:drop",
     "decode jpeg cmyk | resize 200x150 lanczos3 | encode jpeg q90"),
    ("jpeg 400x300 cmyk icc q90", "fit:200x200,profile:ignore",
     "decode jpeg cmyk | resize 200x150 lanczos3 | convert ycbcr444 | encode jpeg q90"),
    ("jpeg 400x300 cmyk icc q90", "fit:200x200,as:webp,profile:p3",
     "decode jpeg cmyk | resize 200x150 lanczos3 | convert ycbcr420-limited p3 | encode webp q90"),
    ("jpeg 400x300 cmyk q90", "fit:200x200",
     "decode jpeg cmyk | resize 200x150 lanczos3 | convert ycbcr444 | encode jpeg q90"),
    ("jpeg 400x300 cmyk q90", "fit:200x200,as:png",
     "decode jpeg cmyk | resize 200x150 lanczos3 | convert rgb | encode png"),
    ("jpeg 400x300 cmyk q90", "canvas:500x400:ff0000,border:2x2:00ff00,q:92",
     "decode jpeg cmyk | convert ycbcr444 | canvas 500x400 at 50,50 ff0000 | border:2x2:00ff00 | encode jpeg q92"),
    // Display P3 stays, wider spaces become Display P3 if the result can declare it, and everything else becomes sRGB.
    ("jpeg 4000x3000 ycbcr420 p3 q90", "fit:400x300",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 p3 q90", "fit:400x300,profile:srgb",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420 srgb | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 icc q90", "fit:400x300",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420 p3 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 icc q90", "fit:400x300,profile:keep",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 p3 q90", "same",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 icc q90", "profile:keep",
     "copy jpeg"),
    ("jpeg 400x300 ycbcr420 icc q90", "profile:drop",
     "decode jpeg ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "profile:p3",
     "decode jpeg ycbcr420 | convert ycbcr420 p3 | encode jpeg q90"),
    // If the result cannot declare the orientation, the pixels are turned last, after all steps on the stored pixels.
    ("jpeg 4000x3000 ycbcr420 turned:6", "stored,fit:400x400",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg"),
    ("jpeg 4000x3000 ycbcr420 turned:6", "stored,fit:400x400,as:avif",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode avif"),
    ("jpeg 4000x3000 ycbcr420 metadata turned:6", "stored,fit:400x400,metadata:none",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | turn 90 | encode jpeg"),
    ("jpeg 4000x3000 ycbcr420 turned:6", "stored:verbatim,fit:400x400,as:webp",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | convert ycbcr420-limited | encode webp"),
    ("jpeg 400x300 ycbcr420 turned:6", "stored,blur:0x1,as:webp",
     "decode jpeg ycbcr420 | blur:0x1 | turn 90 | convert ycbcr420-limited | encode webp"),
    // Subsampled chroma of an odd side is upsampled before that side is reversed, if necessary.
    ("jpeg 401x300 ycbcr420", "flip:h,as:png",
     "decode jpeg ycbcr420 | convert rgb | mirror | encode png"),
    ("jpeg 401x300 ycbcr420", "flip:h",
     "decode jpeg ycbcr420 | mirror | encode jpeg"),
    ("jpeg 400x300 ycbcr420", "flip:h,as:png",
     "decode jpeg ycbcr420 | mirror | convert rgb | encode png"),
    // Turns come after resampling; lengths and subsampling are swapped accordingly.
    ("jpeg 4000x3000 ycbcr420 q90 turned:6", "fit:300x400",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | turn 90 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr422 q90 turned:6", "orient,fit:300x400",
     "decode jpeg 1/4 ycbcr422 | resize 400x300 lanczos3 | turn 90 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90 turned:5", "orient,turn:90,fit:400x400",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | mirror | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "turn:90,crop:20:10:100x100,fit:50x50",
     "decode jpeg ycbcr420 | resize 50x50 lanczos3 from 10,180 100x100 | turn 90 | encode jpeg q90"),
    // Cropping: whole pixels are copied, a canvas cuts first.
    ("jpeg 400x300 ycbcr420 q90", "crop:10:20:100x100",
     "decode jpeg ycbcr420 | crop 10,20 100x100 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr444 q90", "crop:10:20:100x100,chroma:420",
     "decode jpeg ycbcr444 | resize 100x100 lanczos3 from 10,20 100x100 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "canvas:50x50:00000000:1000:0",
     "decode jpeg 1/8 ycbcr420 | blank 50x50 | flatten ffffff | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "canvas:100x100:ffffff,q:92",
     "decode jpeg ycbcr420 | crop 150,100 100x100 | encode jpeg q92"),
    ("png 400x300 rgba", "exact:266x200,canvas:200x200:ffffff:-33:0",
     "decode png rgba | resize 200x200 mitchell from 49.62406015037594,0 300.7518796992481x300 | canvas 200x200 at 0,0 ffffff | encode png"),
    ("jpeg 50x40 ycbcr420 q90", "canvas:100x100:000000:0:10,q:92",
     "decode jpeg ycbcr420 | canvas 100x100 at 0,10 000000 | encode jpeg q92"),
    // The word `shrink`: later lengths are measured on the shrunken image.
    ("finejpeg 400x300 ycbcr420 q90", "shrink:2,exact:66x50",
     "decode finejpeg 1/4 ycbcr420 | resize 66x50 lanczos3 | encode finejpeg"),
    ("finejpeg 400x300 ycbcr420 q90", "shrink:3,exact:100x75",
     "decode finejpeg 3/8 ycbcr420 | resize 100x75 lanczos3 | encode finejpeg"),
    ("finejpeg 400x300 ycbcr420 q90", "shrink:3",
     "decode finejpeg 3/8 ycbcr420 | convert ycbcr444 | encode finejpeg"),
    ("jpeg 400x300 ycbcr420 q90", "shrink:3",
     "decode jpeg 1/2 ycbcr420 | resize 150x113 lanczos3 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "shrink:2",
     "decode jpeg 1/4 ycbcr420 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "exact:320x240",
     "decode jpeg ycbcr420 | resize 320x240 lanczos3 | encode jpeg q90"),
    ("jpeg 50x40 ycbcr420 q90", "fit:100x100",
     "copy jpeg"),
    ("jpeg 1600x1200 ycbcr420 q90", "shrink:1,crop:100:100:100x50,exact:100x100",
     "decode jpeg 1/8 ycbcr420 | resize 100x100 lanczos3 from 800,800 800x400 | encode jpeg q90"),
    ("png 400x300 rgb", "shrink:2,fit:100x100",
     "decode png rgb | resize 100x75 lanczos3 | encode png"),
    // Sequences are a single read unless something is painted in between or scaled twice.
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,crop:100:50:200x200",
     "decode jpeg 1/4 ycbcr420 | resize 200x200 lanczos3 from 1000,500 2000x2000 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "crop:0:0:2000x2000,flip:h,fit:400x400,turn:90,crop:50:0:300x400",
     "decode jpeg 1/2 ycbcr420 | resize 400x300 lanczos3 from 0,250 2000x1500 | mirror | turn 90 | encode jpeg q90"),
    ("jpeg 4000x3000 ycbcr420 q90", "fit:400x400,exact:50x300",
     "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | resize 50x300 lanczos3 | encode jpeg q90"),
    ("jpeg 400x300 ycbcr420 q90", "fit:200x200,blur:0x1,crop:10:10:50x50,flip:v",
     "decode jpeg ycbcr420 | resize 200x150 lanczos3 | blur:0x1 | crop 10,10 50x50 | mirror | turn 180 | encode jpeg q90"),
    ("png 400x300 rgb", "fit:200x200,pad:0:5:0:5",
     "decode png rgb | resize 200x150 lanczos3 | canvas 210x150 at 5,0 00000000 | encode png"),
    ("png 400x300 rgb", "rotate:30:ffffff,fit:248x",
     "decode png rgb | rotate 30 ffffff | resize 248x230 lanczos3 | encode png"),
    ("jpeg 400x300 ycbcr420 q90", "pad:0:5:0:5",
     "decode jpeg ycbcr420 | canvas 410x300 at 5,0 00000000 | flatten ffffff | encode jpeg q90"),
    // Effects, in the order of the recipe.
    ("jpeg 400x300 ycbcr420 q90", "fit:200x200,blur:0x1,border:4x2:ff8800,over:icon.png:3:4",
     "decode jpeg ycbcr420 | resize 200x150 lanczos3 | blur:0x1 | border:4x2:ff8800 | over:icon.png:3:4 | encode jpeg q90"),
    ("png 400x300 rgb", "fit:200x200,border:4x2:ff8800,as:jpeg,q:80",
     "decode png rgb | resize 200x150 lanczos3 | border:4x2:ff8800 | convert ycbcr420 | encode jpeg q80"),
    ("jpeg 400x300 ycbcr420 q90", "border:4x2:ff8800,chroma:444",
     "decode jpeg ycbcr420 | convert ycbcr444 | border:4x2:ff8800 | encode jpeg q90"),
];

#[test]
fn plans_read_as_they_should() {
    let mut wrong = String::new();
    for (source, recipe, expected) in GOLDEN {
        let plan = plan(source, recipe).to_string();
        if plan != *expected {
            wrong += &format!("{source} + {recipe}\n  is  {plan}\n  not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn too_long_a_file_is_refused_before_its_header_is_read() {
    let limits = Limits {
        source_bytes: 10,
        ..Limits::default()
    };
    assert_eq!(
        limit(limits, "nonsense, but long", "fit:10x10"),
        "source_bytes"
    );
}

#[test]
fn too_large_a_image_is_refused_by_its_header() {
    let source = "jpeg 60000x60000 ycbcr420";
    assert_eq!(limit(Limits::default(), source, "fit:10x10"), "side");
    let source = "jpeg 20000x20000 ycbcr420";
    assert_eq!(limit(Limits::default(), source, "fit:10x10"), "pixels");
}

#[test]
fn too_large_a_result_is_refused_by_the_recipe() {
    let source = "jpeg 400x300 ycbcr420";
    let limits = Limits::default;
    assert_eq!(
        limit(limits(), source, "fit:20000x20000:enlarge"),
        "result_side"
    );
    assert_eq!(limit(limits(), source, "exact:9000x9000"), "result_pixels");
    assert_eq!(
        limit(limits(), source, "canvas:9000x9000:000000"),
        "result_pixels"
    );
}

#[test]
fn too_hungry_a_plan_is_refused_before_it_runs() {
    let limits = Limits {
        memory: 1_000_000,
        ..Limits::default()
    };
    let source = "png 1000x1000 rgb";
    assert_eq!(limit(limits, source, "fit:10x10"), "memory");
    assert!(plan_within(limits, "png 500x500 rgb", "fit:10x10").is_ok());
}

#[test]
fn peak_bytes_are_those_of_the_hungriest_step() {
    let source = "png 1000x1000 rgb";
    let plan = plan(source, "fit:500x500");
    let least = source.len() as u64 + 3 * (1000 * 1000 + 500 * 500);
    assert!(
        plan.peak_bytes() >= least,
        "{} < {least}",
        plan.peak_bytes()
    );
    assert!(plan.peak_bytes() < 2 * least, "{}", plan.peak_bytes());
}

#[test]
fn what_a_plan_holds_is_told_apart_by_what_it_may_share() {
    let source = "png 1000x1000 rgb";
    let (large, small) = (plan(source, "fit:500x500"), plan(source, "fit:10x10"));
    for plan in [&large, &small] {
        let holding = plan.holding();
        assert_eq!(holding.file, source.len() as u64);
        assert_eq!(holding.frame, 3 * 1000 * 1000);
        let kept = holding.file + holding.frame;
        let all = kept + holding.decoding.max(holding.afterwards);
        assert!(all >= plan.peak_bytes(), "{all} < {}", plan.peak_bytes());
    }
    assert_eq!(large.holding().scales, small.holding().scales);
    assert!(small.holding().afterwards < small.holding().frame / 10);
}

#[test]
fn an_unknown_word_names_the_nearest_or_all() {
    for (recipe, word, remedy) in [
        ("blurr:0x1", "blurr", "did you mean `blur`?"),
        ("fitt:100x100", "fitt", "did you mean `fit`?"),
        ("ass:png", "ass", "did you mean `as`?"),
        ("as:pgn", "pgn", "did you mean `png`?"),
        ("as:jp2", "jp2", "known are jpeg, "),
        ("resize:100x100", "resize", "did you mean `fit:250x250`?"),
        ("w:100", "w", "did you mean `fit:250x`?"),
        ("frobnicate", "frobnicate", "`andon reference` lists them"),
    ] {
        let Error::Recipe { piece, why } = refusal("jpeg 400x300 ycbcr420", recipe) else {
            panic!("another error");
        };
        assert_eq!(piece, word);
        assert!(why.contains(remedy), "{why}");
    }
}

#[test]
fn an_option_that_a_format_lacks_names_the_format_the_option_and_those_it_has() {
    let png = "known are lossless, depth, progressive, with:level";
    for (recipe, message) in [
        ("as:png,q:80", format!("`q:80` cannot be done: png has no such option; {png}")),
        ("as:png,max:900", format!("`max:900` cannot be done: png has no such option; {png}")),
        ("as:png,with:levle:3", "`with:levle` cannot be done: png has no such option; did you mean `with:level`? \
          Known are lossless, depth, progressive, with:level".to_owned()),
        ("as:png,with:level:10", "`with:level:10` cannot be done: png takes another value: level: a whole number \
          from 1 to 9".to_owned()),
        ("as:png,depth:10", "`depth:10` cannot be done: png takes another value: bits: 8, 16".to_owned()),
        ("as:webp,progressive", "`progressive` cannot be done: webp has no such option; known are q, max, score, \
          lossless, effort".to_owned()),
        // These options are also checked if the format was not named, because they are no preferences.
        ("lossless", "`lossless` cannot be done: jpeg has no such option; known are q, max, score, progressive, \
          chroma, effort".to_owned()),
        ("as:png,q:auto", format!("`score:75` cannot be done: png has no such option; {png}")),
    ] {
        let error = refusal("jpeg 400x300 ycbcr420 q90", recipe);
        assert_eq!(error.to_string(), message, "{recipe}");
    }
}

#[test]
fn a_search_counts_all_its_encodes_and_the_best_so_far() {
    let source = "png 4000x3000 rgb";
    let (once, search) = ("fit:400x400,as:jpeg,q:50", "fit:400x400,as:jpeg,max:9000");
    let encode = |recipe| {
        plan(source, recipe)
            .steps()
            .last()
            .expect("an encode")
            .clone()
    };
    let (once, search) = (encode(once), encode(search));
    assert_eq!(search.cost.nanos, 7 * once.cost.nanos);
    assert_eq!(search.holds, once.holds + 9000);
}

#[test]
fn a_format_that_is_only_read_cannot_be_asked_for() {
    let Error::Recipe { piece, .. } = refusal("jpeg 400x300 ycbcr420", "as:gif") else {
        panic!("another error");
    };
    assert_eq!(piece, "gif");
}

#[test]
fn a_result_without_pixels_is_refused() {
    let error = refusal("jpeg 400x300 ycbcr420", "exact:0x10");
    assert!(matches!(error, Error::Recipe { .. }), "{error}");
}

#[test]
fn a_word_over_and_over_is_planned_to_take_as_often_its_time() {
    let cost = |words: &str, times: usize| {
        let recipe = format!(
            "exact:2000x2000{},as:png",
            format!(",{words}").repeat(times)
        );
        plan("png 1x1 rgba", &recipe).cost().nanos
    };
    for op in ops::ALL {
        let example = op.word().example;
        let once = cost(example, 1) - cost(example, 0);
        let often = cost(example, 20) - cost(example, 0);
        // An effect that leaves no colour or opacity makes the next one cheaper.
        assert!(often >= 10 * once, "{example}: {once}, {often}");
    }
    for dear in [
        "text:M:9",
        "sharpen-l:1000",
        "overlay:icon:0:0:50:2000:2000",
    ] {
        assert!(cost(dear, 58) > 2_000_000_000, "{dear}");
    }
}

#[test]
fn small_files_have_a_share_of_the_processor_time_and_large_ones_all_of_it() {
    let limits = Limits {
        cpu: Some(Duration::from_secs(4)),
        ..Limits::default()
    };
    let seconds = |estimated: f64, most: f64| CpuTime {
        estimated: (estimated * 1e9) as u64,
        most: (most * 1e9) as u64,
    };
    let fits = |cpu, bytes| limits.check_cpu(cpu, bytes).is_ok();
    assert!(fits(seconds(0.9, 0.9), 0) && !fits(seconds(0.5, 1.1), 0));
    assert!(fits(seconds(2.4, 2.4), 1 << 19) && !fits(seconds(2.6, 2.6), 1 << 19));
    assert!(fits(seconds(3.9, 20.0), 1 << 20) && !fits(seconds(4.1, 4.1), 1 << 20));
    let error = limits
        .check_cpu(seconds(7.25, 7.25), 1 << 20)
        .expect_err("over");
    let said = error.to_string();
    assert!(
        said.starts_with("7.25 s of processor time are planned, over the limit of 4.00 s"),
        "{said}"
    );
    assert!(Limits::default().check_cpu(seconds(1e6, 1e6), 0).is_ok());
}

#[test]
fn an_explanation_tells_wish_plan_cost_and_reason() {
    let source = "jpeg 4000x3000 ycbcr420 q90";
    let plan = plan(source, "fit:400x300");
    let text = plan.explain(None).to_string();
    for piece in [
        "exact:400x300",
        "4000x3000",
        "resize",
        "ms",
        "peak",
        "shrink_on_load: ",
    ] {
        assert!(text.contains(piece), "no {piece} in\n{text}");
    }
}
