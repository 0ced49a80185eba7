//! Checks that `REVISION` is increased when results change: every recipe is applied to every image, and the hashes of
//! the results are compared with recorded ones. The codecs are fakes, whose files are plain samples, so that only the
//! pipeline is tested.

mod blessed;
mod fake;

use std::collections::BTreeMap;
use std::path::Path;

use andon_kernels::cpu::{Level, limited_to};
use andon_pixels::{
    Depth, Engine, Error, Frame, Grid, Limits, Matrix, Model, OverlaySource, Plane, REVISION,
    Range, Result, Run, Subsampling, ops,
};
use andon_recipe::Recipe;

/// Recipes by names that stay when the words of recipes change.
const RECIPES: &[(&str, &str)] = &[
    ("encode", "q:80"),
    ("fit", "exact:40x28"),
    ("fit, large", "exact:90x64"),
    ("fit, enlarged", "exact:300x215"),
    ("cover", "exact:50x35"),
    ("exact", "exact:41x23"),
    ("region", "crop:10:7:60x50,exact:40x30"),
    ("hint", "shrink:4,exact:30x21"),
    ("turn", "turn:90,exact:32x45"),
    ("orient", "orient,fit:45x45"),
    ("canvas", "exact:40x28,canvas:60x60:ff8000:10:15"),
    ("srgb", "exact:40x28,profile:srgb,as:jpeg"),
    ("to jpeg", "exact:50x35,as:jpeg,q:95"),
    ("to jpeg 4:2:0", "exact:50x35,as:jpeg,q:60"),
    ("to png", "exact:50x35,as:png"),
    ("to webp", "exact:50x35,as:webp"),
    ("unsharp", "exact:50x35,unsharp:0x1+0.7+0.02"),
    ("sharpen", "exact:50x35,sharpen:0x0.8"),
    ("blur", "exact:50x35,blur:0x1.5"),
    ("border", "exact:50x35,border:4x2:ff8800"),
    ("over", "exact:50x35,over:icon.png:10:-4"),
    ("gray", "exact:50x35,gray"),
    ("gray, by light", "exact:50x35,gray:light"),
    ("bitonal", "exact:50x35,bitonal"),
    ("invert", "exact:50x35,invert"),
    ("brightness", "exact:50x35,brightness:30"),
    ("contrast", "exact:50x35,contrast:1.3"),
    ("gamma", "exact:50x35,gamma:1.5"),
    ("rgb", "exact:50x35,rgb:20:-10:0"),
    ("saturation", "exact:50x35,saturation:1.4"),
    ("saturation, by squares", "exact:50x35,saturation:0.4:rms"),
    ("hue", "exact:50x35,hue:90"),
    ("modulate", "exact:50x35,modulate:1.1:0.8:20"),
    ("tint", "exact:50x35,tint:b06010"),
    ("sepia", "exact:50x35,sepia:80"),
    ("duotone", "exact:50x35,duotone:102040:ffe0a0"),
    ("colorize", "exact:50x35,colorize:40:3060a0"),
    ("gradient", "exact:50x35,gradient:80:3060a0:150:20:90"),
    ("text", "exact:50x35,text:A%26B:12:ff8800c0:southeast:2"),
    (
        "text, in a tile, with a shadow and blended",
        "exact:50x35,text:A%26B:12:ff8800c0:southeast:2:shadow=2+3x2+2040c0:tile=3:blend=screen",
    ),
    (
        "shadow",
        "exact:30x20,pad:5:10:10:5,shadow:1.5+4x3+ff880080",
    ),
    ("pixelate", "exact:50x35,pixelate:7"),
    ("round", "exact:50x35,round:12:8"),
    ("round, coloured", "exact:50x35,round:12:8:ff8800,as:jpeg"),
    ("mask", "exact:50x35,mask:heart:ffffff80"),
    ("around", "exact:50x35,around:5:-3:31x30:ff8800c0"),
    ("overlay", "exact:50x35,overlay:icon.png:-3:5:70:24:0"),
    (
        "overlay, tiled",
        "exact:50x35,overlay:icon.png:-3:5:70:10:9:tile",
    ),
    (
        "overlay, blended",
        "exact:50x35,overlay:icon.png:-3:5:70:24:0:soft-light",
    ),
    (
        "overlay, added",
        "exact:50x35,overlay:icon.png:-3:5:70:24:0:add",
    ),
    (
        "overlay, a mask",
        "exact:50x35,overlay:icon.png:10:5:70:24:0:mask",
    ),
    (
        "overlay, blended together",
        "exact:50x35,overlay:icon.png:-3:5:70:24:0:luminosity",
    ),
    (
        "overlay, a mask of luminance",
        "exact:50x35,overlay:icon.png:10:5:70:24:0:mask-luminance",
    ),
    (
        "overlay, a mask with a colour around it",
        "exact:50x35,overlay:icon.png:10:5:70:24:0:mask:exact::ff880080",
    ),
    (
        "overlay, a mask to leave out",
        "exact:50x35,overlay:icon.png:10:5:70:24:0:mask-out",
    ),
    (
        "overlay, with its recipe",
        "exact:50x35,overlay:icon.png:2:3:100:0:0:normal:exact:turn%3A90%2Ccover%3A20x10%2Cgray",
    ),
    (
        "backdrop",
        "exact:30x35,canvas:50x35:00000000:10:0,backdrop:blur:10:0:30x35:20",
    ),
    (
        "backdrop, mean",
        "exact:30x35,canvas:50x35:00000000:11:0,backdrop:mean:11:0:30x35",
    ),
    (
        "backdrop, median",
        "exact:30x35,canvas:50x35:00000000:11:0,backdrop:median:11:0:30x35",
    ),
    ("blur-area", "exact:50x35,blur-area:10:5:20x20:3"),
    ("sharpen-l", "exact:50x35,sharpen-l:1:0.5"),
    ("cover with its overhang cut", "cover:50x30"),
    ("scaled twice", "exact:90x64,exact:30x50"),
    ("flip", "flip:h,exact:50x35"),
    ("pad", "exact:50x35,pad:2:3:4:5:20408080"),
    ("rotate", "exact:50x35,rotate:30:ff8000"),
    ("flatten", "exact:50x35,flatten:ff8000"),
];

/// Format and further words of each fake file, and the planes of its image.
const IMAGES: &[(&str, &str, Model, Depth, bool)] = &[
    ("jpeg", "q85", YCBCR_420, Depth::U8, false),
    ("jpeg", "q85 turned:6", YCBCR_422, Depth::U8, false),
    ("jpeg", "q92", YCBCR_444, Depth::U8, false),
    ("jpeg", "q85", Model::Gray, Depth::U8, false),
    ("jpeg", "q85", Model::Cmyk, Depth::U8, false),
    ("finejpeg", "q85", YCBCR_420, Depth::U8, false),
    ("png", "", Model::Rgb, Depth::U8, true),
    ("png", "", Model::Rgb, Depth::U16, true),
    ("png", "", Model::Gray, Depth::U16, false),
    ("png", "palette", Model::Rgb, Depth::U8, false),
    ("webp", "", YCBCR_LIMITED, Depth::U8, true),
    ("avif", "", GREEN_BLUE_RED, Depth::U8, false),
    ("avif", "", BT2020_LIMITED, Depth::U10, true),
];

const YCBCR_420: Model = ycbcr(Subsampling::C420, Range::Full);
const YCBCR_422: Model = ycbcr(Subsampling { h: 2, v: 1 }, Range::Full);
const YCBCR_444: Model = ycbcr(Subsampling::NONE, Range::Full);
const YCBCR_LIMITED: Model = ycbcr(Subsampling::C420, Range::Limited);

const GREEN_BLUE_RED: Model = Model::YCbCr {
    sub: Subsampling::NONE,
    range: Range::Full,
    matrix: Matrix::Identity,
};
const BT2020_LIMITED: Model = Model::YCbCr {
    sub: Subsampling::C420,
    range: Range::Limited,
    matrix: Matrix::Bt2020,
};

const fn ycbcr(sub: Subsampling, range: Range) -> Model {
    Model::YCbCr {
        sub,
        range,
        matrix: Matrix::Bt601,
    }
}

#[test]
fn changed_results_have_a_new_revision() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/revision.txt");
    let rows = results();
    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
        let same = limited_to(level, results) == rows;
        assert!(same, "{level:?} makes other results than this processor");
    }
    blessed::compare(&file, REVISION, "`REVISION` in src/revision.rs", &rows);
}

#[test]
fn every_operation_is_in_the_table() {
    for op in ops::ALL {
        let acts = |(_, recipe): &(&str, &str)| {
            let recipe: Recipe = recipe.parse().expect("a recipe");
            recipe.effects().any(|effect| effect.name == op.word().name)
        };
        assert!(RECIPES.iter().any(acts), "`{}` is missing", op.word().name);
    }
}

fn results() -> BTreeMap<String, u64> {
    let engine = Engine::new(fake::ALL, Limits::default());
    let mut rows = BTreeMap::new();
    for (index, (format, words, model, depth, alpha)) in IMAGES.iter().enumerate() {
        let source = fake::file(format, &image(*model, *depth, *alpha, (121, 87)), words);
        for (name, recipe) in RECIPES {
            let recipe: Recipe = recipe.parse().expect("a recipe");
            let made = engine.plan(&recipe, &source).and_then(|plan| {
                engine.run(
                    &plan,
                    Run {
                        overlays: &Icon,
                        ..Run::of(&source)
                    },
                )
            });
            let body = made.expect("a result").body.unwrap_or_default();
            rows.insert(
                format!("image {:02} | {name}", index + 1),
                blessed::hash(&body),
            );
        }
    }
    rows
}

/// A small overlay image.
struct Icon;

impl OverlaySource for Icon {
    fn load(&self, _name: &str) -> Result<Vec<u8>> {
        let icon = image(Model::Rgb, Depth::U8, true, (16, 16));
        Ok::<_, Error>(fake::file("png", &icon, ""))
    }
}

/// Creates an image of linear gradients with edges and some noise, different in each plane. Only whole numbers are
/// used, which are the same on every machine.
fn image(model: Model, depth: Depth, alpha: bool, (width, height): (u32, u32)) -> Frame {
    let plane = |index: usize, (w, h): (u32, u32)| {
        let mut noise = index as u32 + 1;
        let samples = (0..h)
            .flat_map(|y| (0..w).map(move |x| (x, y)))
            .map(|(x, y)| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let slope = x * (index as u32 + 1) * 300 + y * 450;
                let edge = if x / 17 % 2 == y / 13 % 2 { 16_000 } else { 0 };
                ((slope + edge + (noise >> 21)) % 65_536) as u16
            });
        match depth {
            Depth::U8 => {
                let samples = samples.map(|sample| (sample >> 8) as u8).collect();
                Plane::U8(Grid::from_samples(w, h, samples).unwrap())
            }
            _ => Plane::U16(Grid::from_samples(w, h, samples.collect()).unwrap()),
        }
    };
    let planes = (0..model.planes())
        .map(|index| plane(index, model.plane_size(index, width, height)))
        .collect();
    let alpha = alpha.then(|| plane(4, (width, height)));
    Frame::new(model, width, height, planes, alpha)
        .unwrap()
        .with_depth(depth)
        .unwrap()
}
