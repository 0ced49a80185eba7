use proptest::prelude::*;

use crate::text::any_recipe;
use crate::{Area, Facts, Measure, Orientation, Recipe, ResolveError, Rules};

fn try_on(recipe: &str, facts: &Facts) -> Result<String, ResolveError> {
    let recipe: Recipe = recipe.parse().expect(recipe);
    Ok(recipe.resolve(facts)?.to_string())
}

fn on(width: u32, height: u32, recipe: &str) -> String {
    try_on(recipe, &Facts::new("jpeg", width, height)).expect(recipe)
}

fn turned(exif: u16) -> Facts {
    Facts {
        orientation: Orientation::from_exif(exif),
        ..Facts::new("jpeg", 400, 300)
    }
}

#[test]
fn sides_are_rounded_to_the_nearest_pixel_and_are_at_least_one() {
    assert_eq!(on(400, 300, "fit:150x"), "exact:150x113");
    assert_eq!(on(400, 300, "fit:133x133"), "exact:133x100");
    assert_eq!(on(400, 300, "fit:x100"), "exact:133x100");
    assert_eq!(on(400, 300, "fit:50%x"), "exact:200x150");
    assert_eq!(on(4000, 10, "fit:100x100"), "exact:100x1");
}

#[test]
fn nothing_grows_unless_it_says_so_but_exact_means_exactly() {
    assert_eq!(on(50, 40, "fit:100x100"), "same");
    assert_eq!(on(50, 40, "fit:100x100:enlarge"), "exact:100x80");
    assert_eq!(
        on(50, 40, "cover:100x100:enlarge"),
        "exact:125x100,crop:12:0:100x100"
    );
    assert_eq!(on(50, 40, "cover:100x30"), "crop:0:5:50x30");
    assert_eq!(on(50, 40, "exact:100x100"), "exact:100x100");
}

#[test]
fn vector_images_grow_until_they_are_pixels() {
    let logo = Facts {
        vector: true,
        ..Facts::new("svg", 24, 24)
    };
    for (recipe, resolved) in [
        ("fit:256x", "exact:256x256"),
        ("fit:100x60", "exact:60x60"),
        ("fit:12x12", "exact:12x12"),
        ("dpr:2,fit:x50", "exact:100x100"),
        ("cover:100x60", "exact:100x100,crop:0:20:100x60"),
        (
            "turn:90,crop:0:0:12x24,fit:120x120",
            "turn:90,crop:0:0:12x24,exact:60x120",
        ),
        ("fit:48x48,fit:96x96", "exact:48x48"),
        ("blur:0x2,fit:96x96", "blur:0x2"),
        ("canvas:30x30:ffffff,fit:96x96", "canvas:30x30:ffffff:3:3"),
    ] {
        assert_eq!(try_on(recipe, &logo).expect(recipe), resolved, "{recipe}");
    }
}

#[test]
fn cover_gives_exactly_its_box_and_keeps_what_gravity_says() {
    for (recipe, resolved) in [
        ("cover:200x200", "exact:267x200,crop:33:0:200x200"),
        ("cover:200x200:west", "exact:267x200,crop:0:0:200x200"),
        ("cover:200x200:southeast", "exact:267x200,crop:67:0:200x200"),
        ("cover:200x100:north", "exact:200x150,crop:0:0:200x100"),
        ("cover:200x100:south", "exact:200x150,crop:0:50:200x100"),
        ("cover:200x150", "exact:200x150"),
    ] {
        assert_eq!(on(400, 300, recipe), resolved);
    }
}

#[test]
fn a_focus_moves_with_the_image_and_steers_later_crops() {
    assert_eq!(
        on(400, 300, "focus:10%:50%,cover:150x150"),
        "exact:200x150,crop:0:0:150x150"
    );
    assert_eq!(
        on(400, 300, "focus:300:150,turn:90,crop:100x100"),
        "turn:90,crop:100:250:100x100"
    );
    assert_eq!(
        on(400, 300, "focus:300:150,flip:h,crop:100x100"),
        "flip:h,crop:50:100:100x100"
    );
    assert_eq!(
        on(400, 300, "focus:10%:50%,cover:150x150:east"),
        "exact:200x150,crop:50:0:150x150",
        "a gravity that is named wins"
    );
}

#[test]
fn a_crop_acts_where_it_is_written() {
    assert_eq!(
        on(400, 300, "crop:100:0:200x200,fit:50x50"),
        "crop:100:0:200x200,exact:50x50"
    );
    assert_eq!(
        on(400, 300, "fit:200x,crop:10:10:50%x50%"),
        "exact:200x150,crop:10:10:100x75"
    );
    assert_eq!(
        on(400, 300, "crop:10:10:50x50,crop:5:5:10x10"),
        "crop:15:15:10x10"
    );
    assert_eq!(on(400, 300, "crop:0:0:100%x100%"), "same");
    assert_eq!(
        on(400, 300, "crop:300:0:200x900"),
        "crop:300:0:100x300",
        "as far as it goes"
    );
}

#[test]
fn what_leaves_no_pixels_is_refused() {
    for recipe in [
        "crop:400:0:10x10",
        "crop:0:0:0x10",
        "exact:0x10",
        "cover:10x0.2",
    ] {
        let error = try_on(recipe, &Facts::new("jpeg", 400, 300)).expect_err(recipe);
        assert_eq!(error.piece, recipe);
    }
    // A side of 0 is left open if the step fits the image into a box.
    for (recipe, same) in [
        ("fit:0x10", Some("fit:x10")),
        ("fit:10x0", Some("fit:10x")),
        ("fit:0x0", None),
        ("fit:0x", None),
        // In any spelling of the number.
        ("fit:00x10", Some("fit:x10")),
        ("fit:10x0.0", Some("fit:10x")),
        ("fit:00x", None),
        ("fit:0%x10", Some("fit:0%x10")),
    ] {
        let read = recipe.parse::<Recipe>().ok().map(|it| it.to_string());
        assert_eq!(read.as_deref(), same, "{recipe}");
    }
    let error = try_on("fit:10x,shrink:4", &Facts::new("jpeg", 400, 300)).unwrap_err();
    assert!(error.why.contains("before"), "{error}");
}

#[test]
fn images_are_turned_upright_first_unless_the_recipe_says_when_or_not_at_all() {
    for recipe in ["fit:100x100", "orient,fit:100x100", "stored,fit:100x100"] {
        assert_eq!(on(400, 300, recipe), "exact:100x75");
    }
    let facts = turned(6);
    for (recipe, resolved) in [
        ("fit:100x100", "orient,exact:75x100"),
        ("orient,fit:100x100", "orient,exact:75x100"),
        ("same", "orient"),
        ("turn:90", "orient,turn:90"),
        ("fit:100x60,orient", "exact:80x60,orient"),
        ("stored,fit:100x100", "exact:100x75,stored"),
        ("stored:verbatim,turn:90", "turn:90,stored:verbatim"),
        ("original", "original"),
    ] {
        assert_eq!(try_on(recipe, &facts).unwrap(), resolved);
        assert_eq!(try_on(resolved, &facts).unwrap(), resolved);
    }
    assert_eq!(try_on("orient,orient", &facts).unwrap(), "orient");
    assert_eq!(on(400, 300, "turn:90,turn:90,flip:v"), "flip:h");
    assert_eq!(on(400, 300, "turn:90,turn:270"), "same");
    assert_eq!(on(400, 300, "rotate:-90"), "turn:270");
    assert_eq!(
        on(400, 300, "flip:h,turn:90,fit:x100"),
        "flip:h,turn:90,exact:75x100"
    );
}

#[test]
fn margins_canvases_and_flattening_are_one_thing() {
    assert_eq!(
        on(400, 300, "pad:10:20:30:40:ffffff"),
        "canvas:460x340:ffffff:40:10"
    );
    assert_eq!(on(400, 300, "pad:0:0:0:0:ffffff"), "same");
    assert_eq!(on(400, 300, "canvas:200x200:ffffff"), "crop:100:50:200x200");
    assert_eq!(
        on(400, 300, "canvas:500x200:ffffff:-10:20"),
        "crop:10:0:390x180,canvas:500x200:ffffff:0:20"
    );
    assert_eq!(on(400, 300, "flatten:ffffff"), "same");
    let clear = Facts {
        alpha: true,
        ..Facts::new("png", 400, 300)
    };
    assert_eq!(
        try_on("flatten:ffffff,flatten:000000", &clear).unwrap(),
        "canvas:400x300:ffffff:0:0",
        "once it is opaque, the next does nothing"
    );
    assert_eq!(
        on(400, 300, "canvas:50x60:00000000:1000:0"),
        "canvas:50x60:00000000:50:0",
        "nothing of it is seen"
    );
}

#[test]
fn device_pixels_multiply_boxes_but_not_the_source() {
    assert_eq!(
        on(
            400,
            300,
            "dpr:2,crop:0:0:200x200,fit:50x50,crop:0:0:20x20,pad:1:1:1:1"
        ),
        "crop:0:0:200x200,exact:100x100,crop:0:0:40x40,canvas:44x44:00000000:2:2"
    );
}

#[test]
fn what_the_source_has_not_need_not_be_taken_away() {
    assert_eq!(
        on(400, 300, "profile:srgb,metadata:none,as:jpeg,q:80"),
        "q:80"
    );
    let facts = Facts {
        metadata: true,
        cmyk: true,
        shrinks: true,
        ..Facts::new("jpeg", 401, 300)
    };
    assert_eq!(
        try_on("fit:100x,metadata:none,profile:ignore", &facts).unwrap(),
        "exact:100x75,profile:ignore,metadata:none"
    );
    assert_eq!(
        try_on("shrink:2,crop:0:0:100x75", &facts).unwrap(),
        "shrink:2,crop:0:0:100x75"
    );
    assert_eq!(
        on(401, 300, "shrink:2"),
        "same",
        "a format that does not shrink"
    );
}

#[test]
fn a_rotated_image_grows_to_hold_its_corners() {
    assert_eq!(
        on(400, 300, "rotate:30,fit:248x"),
        "rotate:30,exact:248x230"
    );
    assert_eq!(crate::rotated_size(400, 300, 30.0), (496, 460));
    assert_eq!(crate::rotated_size(1, 1, 45.0), (1, 1));
}

proptest! {
    #[test]
    fn resolving_twice_changes_nothing(
        recipe in any_recipe(),
        (width, height) in (1..5000_u32, 1..5000_u32),
        exif in 1..=8_u16,
        (alpha, cmyk, tagged, metadata, shrinks, vector) in any::<(bool, bool, bool, bool, bool, bool)>(),
    ) {
        let facts = Facts {
            orientation: Orientation::from_exif(exif),
            alpha,
            cmyk,
            tagged,
            metadata,
            shrinks,
            vector,
            ..Facts::new("jpeg", width, height)
        };
        if let Ok(resolved) = recipe.resolve(&facts) {
            let text = resolved.to_string();
            prop_assert_eq!(text.parse::<Recipe>(), Ok(resolved.clone()), "{}", text);
            prop_assert_eq!(resolved.resolve(&facts), Ok(resolved));
        }
    }

    #[test]
    fn no_recipe_is_too_large_to_resolve(recipe in any_recipe()) {
        for (width, height) in [(1, 1), (32_768, 3), (u32::MAX, u32::MAX)] {
            let _ = recipe.resolve(&Facts::new("jpeg", width, height));
        }
    }
}

/// Returns the facts of an image in which the border measurement of `recipe` has found this area, in px as stored.
fn bordered(facts: Facts, recipe: &str, area: Area) -> Facts {
    let recipe: Recipe = recipe.parse().expect(recipe);
    let measures = recipe.measures(facts.orientation);
    assert_eq!(measures.len(), 1, "{recipe}");
    Facts {
        measured: measures
            .into_iter()
            .map(|measure| (measure, area))
            .collect(),
        ..facts
    }
}

#[test]
fn a_trim_is_the_crop_that_was_measured_wherever_the_image_was_turned() {
    let area = Area {
        x: 10,
        y: 20,
        w: 300,
        h: 200,
    };
    for (exif, recipe, resolved) in [
        (1, "trim", "crop:10:20:300x200"),
        (1, "trim,fit:150x", "crop:10:20:300x200,exact:150x100"),
        (1, "turn:90,trim", "turn:90,crop:80:10:200x300"),
        (1, "flip:h,trim", "flip:h,crop:90:20:300x200"),
        (6, "stored,trim", "crop:10:20:300x200,stored"),
        (6, "trim", "orient,crop:80:10:200x300"),
        (6, "orient,trim", "orient,crop:80:10:200x300"),
        (8, "orient,trim", "orient,crop:20:90:200x300"),
    ] {
        let facts = bordered(turned(exif), recipe, area);
        assert_eq!(
            try_on(recipe, &facts).expect(recipe),
            resolved,
            "{exif} {recipe}"
        );
    }
}

#[test]
fn a_border_is_measured_from_the_corner_that_shows_at_the_upper_left() {
    for (exif, recipe, corner) in [
        (1, "trim:7", (false, false)),
        (6, "stored,trim:7", (false, false)),
        (6, "trim:7", (false, true)),
        (6, "orient,trim:7", (false, true)),
        (3, "orient,trim:7", (true, true)),
        (1, "turn:90,trim:7", (false, true)),
        (1, "metadata:none,flip:h,trim:7,fit:9x9", (true, false)),
    ] {
        let recipe: Recipe = recipe.parse().expect(recipe);
        let tolerance = 7;
        let asked = Measure::Trim { tolerance, corner };
        assert_eq!(
            recipe.measures(Orientation::from_exif(exif)),
            [asked],
            "{recipe}"
        );
    }
}

#[test]
fn a_trim_that_leaves_all_is_none() {
    let area = Area {
        x: 0,
        y: 0,
        w: 400,
        h: 300,
    };
    let facts = bordered(Facts::new("jpeg", 400, 300), "trim", area);
    assert_eq!(try_on("trim", &facts).expect("trim"), "same");
}

#[test]
fn a_trim_comes_first_and_once_and_is_measured_before() {
    let facts = Facts::new("jpeg", 400, 300);
    for recipe in ["fit:1000x1000,trim", "blur:0x1,trim", "trim,trim:20"] {
        let error = try_on(recipe, &facts).expect_err(recipe);
        assert!(error.why.contains("once"), "{recipe}: {error}");
    }
    let error = try_on("trim", &facts).expect_err("not measured");
    assert!(error.why.contains("not measured"), "{error}");
}

#[test]
fn crops_around_what_draws_the_eye_have_their_size_before_it_is_measured() {
    let facts = Facts::new("jpeg", 400, 300);
    let area = Area {
        x: 300,
        y: 20,
        w: 20,
        h: 20,
    };
    let measured = Facts {
        measured: [(Measure::Salient, area)].into_iter().collect(),
        ..facts.clone()
    };
    for (recipe, before, after) in [
        (
            "focus:smart,cover:60x100",
            "exact:133x100,focus:smart,crop:60x100",
            "exact:133x100,crop:73:0:60x100",
        ),
        (
            "focus:smart,turn:90,crop:99x99,crop:50x50",
            "turn:90,focus:smart,crop:99x99,crop:50x50",
            "turn:90,crop:245:285:50x50",
        ),
        ("focus:smart,fit:40x", "exact:40x30", "exact:40x30"),
        (
            "focus:smart,crop:40x30:southeast",
            "crop:360:270:40x30",
            "crop:360:270:40x30",
        ),
    ] {
        let resolved = try_on(recipe, &facts).expect(recipe);
        assert_eq!(resolved, before);
        assert_eq!(try_on(&resolved, &facts).as_deref(), Ok(before));
        assert_eq!(try_on(recipe, &measured).as_deref(), Ok(after));
        assert_eq!(try_on(&resolved, &measured).as_deref(), Ok(after));
    }
}

/// Returns the facts of a source of 400 × 300 px with these faces, and an area at the left edge that draws the eye.
fn with_faces(faces: &[Area]) -> Facts {
    let area = |x, y, w, h| Area { x, y, w, h };
    Facts {
        measured: [
            (Measure::Faces, faces.to_vec()),
            (Measure::Salient, vec![area(0, 140, 20, 20)]),
        ]
        .into_iter()
        .collect(),
        ..Facts::new("jpeg", 400, 300)
    }
}

const LARGE: Area = Area {
    x: 300,
    y: 40,
    w: 60,
    h: 60,
};

const SMALL: Area = Area {
    x: 180,
    y: 80,
    w: 40,
    h: 40,
};

#[test]
fn crops_keep_the_faces_that_fit_together_from_the_largest_on() {
    let recipe = |text| try_on(text, &with_faces(&[SMALL, LARGE])).expect(text);
    // Both span 180 to 360 px across.
    assert_eq!(recipe("focus:faces,crop:200x100"), "crop:170:30:200x100");
    assert_eq!(recipe("focus:faces,crop:150x100"), "crop:250:20:150x100");
    assert_eq!(recipe("focus:faces,crop:20x20"), "crop:320:60:20x20");
    // They go with the turns and scalings before the crop.
    assert_eq!(
        recipe("focus:faces,turn:180,exact:200x150,crop:75x50"),
        "turn:180,exact:200x150,crop:0:90:75x50"
    );
    assert_eq!(
        recipe("focus:faces,crop:150x100:west"),
        "crop:0:100:150x100",
        "a gravity that is named wins"
    );
}

#[test]
fn without_a_face_crops_keep_what_draws_the_eye() {
    let crop = try_on("focus:faces,crop:200x100", &with_faces(&[]));
    assert_eq!(crop.as_deref(), Ok("crop:0:100:200x100"));
    let recipe: Recipe = "focus:faces,crop:200x100".parse().expect("a recipe");
    let asked = recipe.measures(Orientation::default());
    assert_eq!(asked, [Measure::Faces, Measure::Salient]);
}

#[test]
fn faces_are_blurred_where_the_steps_brought_them() {
    let recipe = |text| try_on(text, &with_faces(&[SMALL, LARGE])).expect(text);
    assert_eq!(
        recipe("blur-faces"),
        "blur-area:170:70:60x60:8,blur-area:285:25:90x90:12"
    );
    assert_eq!(
        recipe("crop:0:0:200x300,blur-faces:5"),
        "crop:0:0:200x300,blur-area:170:70:30x60:5",
        "what is not seen is not blurred"
    );
    assert_eq!(
        recipe("exact:200x150,flip:h,blur-faces"),
        "exact:200x150,flip:h,blur-area:85:35:30x30:4,blur-area:12:12:46x46:6"
    );
    let none = try_on("blur-faces", &with_faces(&[]));
    assert_eq!(none.as_deref(), Ok("same"));
    let recipe: Recipe = "blur-faces".parse().expect("a recipe");
    let asked = recipe.measures(Orientation::default());
    assert_eq!(asked, [Measure::Faces]);
}

#[test]
fn what_waits_for_faces_has_its_size_before_they_are_looked_for() {
    let facts = Facts::new("jpeg", 400, 300);
    for (recipe, before) in [
        (
            "focus:faces,cover:60x100,blur-faces",
            "exact:133x100,focus:faces,crop:60x100,blur-faces",
        ),
        (
            "focus:smart,crop:90x90,focus:faces,crop:50x50,blur-faces:2.5",
            "focus:smart,crop:90x90,focus:faces,crop:50x50,blur-faces:2.5",
        ),
    ] {
        let resolved = try_on(recipe, &facts).expect(recipe);
        assert_eq!(resolved, before);
        assert_eq!(try_on(&resolved, &facts).as_deref(), Ok(before));
        let measured = with_faces(&[LARGE]);
        assert_eq!(try_on(&resolved, &measured), try_on(recipe, &measured));
    }
}

#[test]
fn a_still_image_has_no_frames_to_choose_from() {
    let still = Facts::new("gif", 400, 300);
    let moving = Facts {
        frames: 3,
        ..still.clone()
    };
    for (recipe, of_still, of_moving) in [
        ("frame:1,fit:40x", "exact:40x30", "exact:40x30,frame:1"),
        ("frame:2", "frame:2", "frame:2"),
        ("as:jxl,moving:webp", "as:jxl", "as:webp"),
        ("as:jxl,moving:webp,frame:1", "as:jxl", "as:jxl,frame:1"),
    ] {
        assert_eq!(try_on(recipe, &still).as_deref(), Ok(of_still), "{recipe}");
        assert_eq!(
            try_on(recipe, &moving).as_deref(),
            Ok(of_moving),
            "{recipe}"
        );
    }
}

#[test]
fn what_comes_to_too_many_steps_is_refused_as_what_says_so_many_is() {
    let facts = Facts::new("jpeg", 300, 30);
    let resolved = |times| {
        let recipe = vec!["canvas:30x300:ffffff,canvas:300x30:ffffff"; times].join(",");
        try_on(&recipe, &facts)
    };
    let text = resolved(8).unwrap();
    assert!(text.parse::<Recipe>().is_ok(), "{text}");
    // A case that fuzzing has found: each of the steps crops and pads.
    let error = resolved(32).unwrap_err();
    assert!(error.why.contains("64 steps"), "{error:?}");
}
