//! Tests the judgement of whether replies are equivalent, with real encoded images.

use std::collections::BTreeMap;

use andon_codecs::ALL;
use andon_lab::analysis::{Counted, Differing};
use andon_lab::bodies::{DecodedImage, Judged, judge};
use andon_lab::record::{
    Arm, Block, BodySeen, Folder, Header, Kind, Likeness, Machine, Purpose, Reply, Run, SCHEMA,
    SavedBodies, UrlResult,
};
use andon_lab::scenario::{AtLeast, Expect, Scenario, SizeCheck};
use andon_lab::variant::Variant;
use andon_pixels::{Engine, Limits};
use bytes::Bytes;

const URL: &str = "/small_light(dw=64,dh=48)/a.jpg";

/// Returns the image that this recipe (a list of image operations) makes from the sample image
/// `samples/jpeg/401x301.jpg`.
fn image(recipe: &str) -> Bytes {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/jpeg/401x301.jpg"
    );
    let sample = std::fs::read(sample).expect("the sample is there");
    let engine = Engine::new(ALL, Limits::default());
    let plan = engine
        .plan(
            &recipe.parse::<andon_recipe::Recipe>().expect("a recipe"),
            &sample,
        )
        .expect("a plan");
    let rendered = engine
        .run(&plan, andon_pixels::Run::of(&sample))
        .expect("runs");
    rendered.body.expect("a new image").into()
}

/// Judges a run of two variants with these replies to one URL.
fn judged(expect: Expect, size: SizeCheck, replies: [(&str, Bytes); 2]) -> Judged {
    let (run, kept) = ran(expect, size, replies);
    judge(&run, &kept)
}

fn ran(expect: Expect, size: SizeCheck, replies: [(&str, Bytes); 2]) -> (Run, SavedBodies) {
    let mut scenario = Scenario::parse(
        "[server]\ncmd = [\"true\"]\n[load]\nurl = [{ path = \"/\" }]\n",
        ".".as_ref(),
    )
    .expect("a scenario");
    scenario.check.size = size;
    let variant = |name: &str| Variant {
        name: name.to_owned(),
        cmd: vec!["true".to_owned()],
        env: BTreeMap::new(),
        set: BTreeMap::new(),
        unset: Vec::new(),
        urls: None,
        assert: Vec::new(),
        expect,
        connections: None,
    };
    let mut bodies = BTreeMap::new();
    let blocks = replies
        .into_iter()
        .enumerate()
        .map(|(index, (media_type, body))| {
            let hash = blake3::hash(&body).to_hex().to_string();
            let reply = Reply {
                status: 200,
                media_type: media_type.to_owned(),
                length: body.len() as u64,
                hash: hash.clone(),
            };
            bodies.insert(hash, body);
            let mut block = Block::new(
                index as u32,
                0,
                if index == 0 {
                    Arm::Baseline
                } else {
                    Arm::Variant
                },
                index as u32,
            );
            block.load.urls = vec![UrlResult {
                url: URL.to_owned(),
                ..UrlResult::default()
            }];
            block.load.bodies = vec![BodySeen {
                url: 0,
                reply,
                count: 10,
            }];
            block
        });
    let blocks = blocks.collect();
    let run = Run {
        header: Header {
            schema: SCHEMA,
            program: "test".to_owned(),
            purpose: Purpose::Comparison,
            started: "2026-01-01T00:00:00Z".to_owned(),
            scenario,
            variants: vec![variant("a"), variant("b")],
            machine: Machine::default(),
            programs: vec![String::new(); 2],
        },
        blocks,
        passes: Vec::new(),
    };
    (run, SavedBodies::bodies(bodies))
}

fn of_second(judged: &Judged) -> (bool, &str) {
    let second = judged
        .work
        .iter()
        .find(|work| work.variant == 1)
        .expect("the second variant");
    (second.same, &second.detail)
}

#[test]
fn equal_bytes_are_the_same_work() {
    let body = image("fit:64x48,as:jpeg,q:80");
    let judged = judged(
        Expect::SameBytes,
        SizeCheck::Url,
        [("image/jpeg", body.clone()), ("image/jpeg", body)],
    );
    assert!(of_second(&judged).0);
}

#[test]
fn the_same_pixels_in_another_file_pass_as_pixels_and_not_as_bytes() {
    let png = image("fit:64x48,as:png");
    // The pixels are the same, but there is an additional chunk before the end of the file.
    let mut longer = png[..png.len() - 12].to_vec();
    longer.extend_from_slice(&[0, 0, 0, 0, b't', b'E', b'X', b't']);
    longer.extend_from_slice(&0x_BA3B_F6AC_u32.to_be_bytes());
    longer.extend_from_slice(&png[png.len() - 12..]);
    let replies = [("image/png", png), ("image/png", Bytes::from(longer))];
    let bytes = judged(Expect::SameBytes, SizeCheck::Any, replies.clone());
    assert!(!of_second(&bytes).0, "{bytes:?}");
    let pixels = judged(Expect::SamePixels, SizeCheck::Any, replies);
    assert!(of_second(&pixels).0, "{pixels:?}");
}

#[test]
fn another_quality_is_other_pixels_but_alike() {
    let replies = [
        ("image/jpeg", image("fit:64x48,as:jpeg,q:95")),
        ("image/jpeg", image("fit:64x48,as:jpeg,q:85")),
    ];
    let pixels = judged(Expect::SamePixels, SizeCheck::Any, replies.clone());
    assert!(!of_second(&pixels).0);
    assert!(of_second(&pixels).1.contains("SSIM"), "{pixels:?}");
    let alike = judged(Expect::Ssim(0.8), SizeCheck::Any, replies.clone());
    assert!(of_second(&alike).0, "{alike:?}");
    let nearly = judged(Expect::Ssim(0.9999), SizeCheck::Any, replies);
    assert!(!of_second(&nearly).0);
}

#[test]
fn a_image_larger_than_its_url_says_is_found() {
    let replies = [
        ("image/jpeg", image("fit:64x48,as:jpeg")),
        ("image/jpeg", image("fit:128x96,as:jpeg")),
    ];
    let judged = judged(Expect::Any, SizeCheck::Url, replies);
    assert!(!of_second(&judged).0);
    assert!(of_second(&judged).1.contains("128x96"), "{judged:?}");
}

#[test]
fn half_an_image_is_no_image() {
    let whole = image("fit:64x48,as:jpeg");
    let half = whole.slice(..whole.len() / 2);
    let judged = judged(
        Expect::Any,
        SizeCheck::Any,
        [("image/jpeg", whole), ("image/jpeg", half)],
    );
    assert!(!of_second(&judged).0, "{judged:?}");
}

#[test]
fn a_image_with_alpha_is_laid_on_white() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/png/alpha.png");
    let Ok(body) = std::fs::read(sample) else {
        panic!("samples/png/alpha.png is missing");
    };
    let image = DecodedImage::decode(&body).expect("decodes");
    assert_eq!(image.rgb.len(), (image.width * image.height * 3) as usize);
    assert_eq!(image.format, "png");
}

#[test]
fn a_run_whose_bodies_are_gone_is_judged_by_what_was_found_about_them() {
    let [jpeg, small] = ["fit:64x48,as:jpeg,q:85", "fit:32x24,as:jpeg"].map(image);
    let cases = [
        (Expect::Ssim(0.8), image("fit:64x48,as:jpeg,q:95")),
        (Expect::SamePixels, image("fit:64x48,as:jpeg,q:95")),
        (Expect::SamePixels, small),
        (Expect::SamePixels, jpeg.slice(..jpeg.len() / 2)),
        (Expect::SamePixels, Bytes::from_static(b"no image")),
        (Expect::SameBytes, jpeg.clone()),
    ];
    for (expect, other) in cases {
        let replies = [("image/jpeg", jpeg.clone()), ("image/jpeg", other)];
        let (run, kept) = ran(expect, SizeCheck::Url, replies);
        let then = judge(&run, &kept);
        let here = tempfile::tempdir().expect("a folder");
        let path = here.path().join("run");
        let folder = Folder::create(&path, &run.header).expect("a new folder");
        for block in &run.blocks {
            folder.append(Kind::Block, block).expect("writes");
        }
        folder.save_findings(&then.findings).expect("writes");
        std::fs::remove_dir_all(path.join("bodies")).expect("was there");

        let (folder, back) = Folder::read(&path).expect("reads");
        let now = judge(&back, &folder.saved_bodies().expect("reads"));
        assert_eq!(now.work, then.work);
        assert!(now.missing.is_empty(), "{:?}", now.missing);
    }
}

#[test]
fn bodies_that_nobody_looked_at_are_missed_and_not_called_different() {
    let replies = [
        ("image/jpeg", image("fit:64x48,as:jpeg,q:95")),
        ("image/jpeg", image("fit:64x48,as:jpeg,q:85")),
    ];
    let (run, _) = ran(Expect::Ssim(0.8), SizeCheck::Any, replies);
    let judged = judge(&run, &SavedBodies::default());
    assert_eq!(judged.missing.len(), 2);
    let (same, detail) = of_second(&judged);
    assert!(!same && detail.contains("not kept"), "{detail}");
    assert!(!detail.contains("other bytes"), "{detail}");
}

#[test]
fn every_one_of_many_distinct_replies_is_compared() {
    let qualities = [60, 65, 70, 75, 80, 85, 90, 95];
    let bodies = qualities.map(|quality| image(&format!("fit:64x48,as:jpeg,q:{quality}")));
    let replies = [
        ("image/jpeg", image("fit:64x48,as:jpeg,q:92")),
        ("image/jpeg", bodies[0].clone()),
    ];
    let (mut run, mut kept) = ran(Expect::Ssim(0.8), SizeCheck::Url, replies);
    for body in &bodies[1..] {
        let hash = blake3::hash(body).to_hex().to_string();
        let seen = &mut run.blocks[1].load.bodies;
        let mut more = seen[0].clone();
        (more.reply.hash, more.reply.length) = (hash.clone(), body.len() as u64);
        seen.push(more);
        kept.bodies.insert(hash, body.clone());
    }
    let judged = judge(&run, &kept);
    let (same, detail) = of_second(&judged);
    assert!(same && detail.contains("8 distinct"), "{detail}");
    let baseline = &run.blocks[0].load.bodies[0].reply.hash;
    for seen in &run.blocks[1].load.bodies {
        let likeness = judged.findings.likeness(baseline, &seen.reply.hash);
        assert!(
            matches!(likeness, Some(Likeness::Ssim(ssim)) if ssim > 0.8),
            "{likeness:?}"
        );
    }
}

/// Judges a run in which `wrong` of the hundred replies of one side (0: baseline, 1: variant) have the media type and
/// body `other`. `least` is the minimum share of correct replies, such as `>= 99%`.
fn with_wrong(side: usize, wrong: u64, other: (&str, Bytes), least: &str) -> (Judged, Run) {
    let body = image("fit:64x48,as:jpeg,q:80");
    let replies = [("image/jpeg", body.clone()), ("image/jpeg", body)];
    let (mut run, mut kept) = ran(Expect::Ssim(0.9), SizeCheck::Url, replies);
    let seen = &mut run.blocks[side].load.bodies;
    seen[0].count = 100 - wrong;
    let (media_type, body) = other;
    let hash = blake3::hash(&body).to_hex().to_string();
    seen.push(BodySeen {
        url: 0,
        reply: Reply {
            status: 200,
            media_type: media_type.to_owned(),
            length: body.len() as u64,
            hash: hash.clone(),
        },
        count: wrong,
    });
    kept.bodies.insert(hash, body);
    run.header.scenario.check.bodies = AtLeast::parse(least).expect("a share");
    (judge(&run, &kept), run)
}

#[test]
fn a_few_wrong_replies_of_either_side_are_found_and_permitted_only_by_declaration() {
    let whole = image("fit:64x48,as:jpeg,q:80");
    let others: [(&str, Bytes, &str); 4] = [
        ("image/jpeg", whole.slice(..whole.len() / 2), "B image/jpeg"),
        (
            "text/html",
            "<h1>busy</h1>".into(),
            "text/html, where others are image/jpeg",
        ),
        ("image/jpeg", image("fit:32x32,as:jpeg"), "32x24"),
        ("image/jpeg", image("fit:64x48,rotate:180,as:jpeg"), "SSIM"),
    ];
    for (media_type, body, said) in others {
        for side in [0, 1] {
            for wrong in [1, 10, 48] {
                let other = (media_type, body.clone());
                let (judged, run) = with_wrong(side, wrong, other.clone(), ">= 100%");
                let check = &run.header.scenario.check;
                let differing = Differing::of(&judged.work, 1, check);
                let differing = differing.unwrap_or_else(|| panic!("{said} {:?}", judged.work));
                let whose = [" of the baseline", ""][side];
                let detail = &differing.first.detail;
                assert!(!differing.permitted, "{detail}");
                assert!(
                    detail.starts_with(&format!("{wrong} of 100 replies{whose}: ")),
                    "{detail}"
                );
                assert!(detail.contains(said), "{detail}");
                assert_eq!(differing.replies, Counted { all: 110, wrong });
                for (least, permitted) in [("99%", wrong <= 1), ("≥ 90 %", wrong <= 10)] {
                    let (judged, run) = with_wrong(side, wrong, other.clone(), least);
                    let check = &run.header.scenario.check;
                    let differing = Differing::of(&judged.work, 1, check).expect("a difference");
                    assert_eq!(differing.permitted, permitted, "{least} {wrong}");
                }
            }
        }
    }
}

#[test]
fn other_bytes_that_are_as_expected_are_right() {
    let other = image("fit:64x48,as:jpeg,q:79");
    let (judged, run) = with_wrong(1, 48, ("image/jpeg", other), ">= 100%");
    let check = &run.header.scenario.check;
    assert_eq!(Differing::of(&judged.work, 1, check), None);
    assert!(
        of_second(&judged).1.ends_with("(2 distinct replies)"),
        "{judged:?}"
    );
}
