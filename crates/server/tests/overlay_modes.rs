//! Blend modes and masks, with overlays of every kind of origin, against formulas computed px by px.

use crate::common::images::{self, written};
use crate::common::origin::Origin;
use crate::overlay_sources::{
    BASE, DIALECTS, base, blended, escaped, host, house, named, shows, shows_within, with_origin,
};
use andon_dialects::signature::base64;
use andon_pixels::{Encode, Frame, Grid, Model, Plane};

/// The expected colours are computed by `Lum`, `Sat`, `SetLum` and `SetSat` of the W3C's "Compositing and Blending",
/// with levels up to 255.
#[test]
fn blend_modes_that_mix_all_channels_are_those_of_the_w3c() {
    let lum = |c: [f64; 3]| 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2];
    let least = |c: [f64; 3]| c[0].min(c[1]).min(c[2]);
    let most = |c: [f64; 3]| c[0].max(c[1]).max(c[2]);
    let set_lum = move |c: [f64; 3], l: f64| {
        let shift = l - lum(c);
        let c = c.map(|c| c + shift);
        let (n, x) = (least(c), most(c));
        match (n < 0.0, x > 255.0) {
            (true, _) => c.map(|c| l + (c - l) * l / (l - n)),
            (_, true) => c.map(|c| l + (c - l) * (255.0 - l) / (x - l)),
            _ => c,
        }
    };
    let set_sat = move |c: [f64; 3], s: f64| {
        let (n, x) = (least(c), most(c));
        c.map(|c| if x > n { (c - n) * s / (x - n) } else { 0.0 })
    };
    let sat = move |c: [f64; 3]| most(c) - least(c);
    let house = house(DIALECTS);
    type Formula<'a> = &'a dyn Fn([f64; 3], [f64; 3]) -> [f64; 3];
    let modes: [(&str, Formula<'_>); 4] = [
        ("hue", &|b, s| set_lum(set_sat(s, sat(b)), lum(b))),
        ("saturation", &|b, s| set_lum(set_sat(b, sat(s)), lum(b))),
        ("color", &|b, s| set_lum(s, lum(b))),
        ("luminosity", &|b, s| set_lum(b, lum(s))),
    ];
    for (mode, formula) in modes {
        let right = blended(1, (9, 4), 1.0, formula);
        for target in [
            format!("/r/overlay:%2Flogos%2Flogo.png:9:4:100:0:0:{mode},as:png/base.png"),
            format!(
                "/imgix/base.png?blend=logos/logo.png&blend-mode={mode}&blend-x=9&blend-y=4&fm=png"
            ),
        ] {
            shows(&house.get(&target), &right, &target);
        }
    }
}

/// The mask fills the image. What it hides shows `mask-bg`.
#[test]
fn an_image_masks_another_by_its_luminance_and_opacity() {
    let colour = |x: u32, y: u32| [(x * 3) as u8, (255 - y * 4) as u8, (x + y) as u8];
    let opacity = |x: u32, y: u32| (255 - x - y) as u8;
    let plane = |sample: &dyn Fn(u32, u32) -> u8| {
        let samples = (0..BASE.0 * BASE.1).map(|at| sample(at % BASE.0, at / BASE.0));
        Plane::U8(Grid::from_samples(BASE.0, BASE.1, samples.collect()).expect("samples"))
    };
    let planes = [0, 1, 2].map(|channel| plane(&|x, y| colour(x, y)[channel]));
    let alpha = Some(plane(&opacity));
    let frame = Frame::new(Model::Rgb, BASE.0, BASE.1, planes.into(), alpha).expect("a frame");
    let mask = written("png", &frame, &Encode::default());
    let origin = Origin::start(mask, "ETag: \"a\"\r\nCache-Control: max-age=600\r\n");
    let house = with_origin(&origin, "http.urls = [\"HOST/\"]", DIALECTS);
    let (below, _) = base();
    let below: Vec<&[u8]> = below.planes.iter().map(images::samples).collect();
    let right = (0..BASE.0 * BASE.1).map(|at| {
        let (x, y) = (at % BASE.0, at / BASE.0);
        let [r, g, b] = colour(x, y).map(f64::from);
        let luma = (0.299 * r + 0.587 * g + 0.114 * b) / 255.0;
        let stays = luma * f64::from(opacity(x, y)) / 255.0;
        let level = |channel: usize, around: f64| {
            let own = f64::from(below[channel][at as usize]);
            (own * stays + around * (1.0 - stays)).round() as u8
        };
        [level(0, 32.0), level(1, 64.0), level(2, 160.0)]
    });
    let right: Vec<[u8; 3]> = right.collect();
    let url = format!("{}/mask.png", host(&origin));
    for target in [
        format!(
            "/r/overlay:{}:0:0:100:0:0:mask-luminance:exact::2040a0,as:png/base.png",
            named(&url)
        ),
        format!(
            "/imgix/base.png?mask={}&mask-bg=2040a0&fm=png",
            escaped(&url)
        ),
        format!(
            "/imgix/base.png?mask64={}&mask-bg=2040a0&fm=png",
            base64::bare(url.as_bytes())
        ),
    ] {
        // Luma and mask are rounded before the colours are.
        shows_within(2, &house.get(&target), &right, &target);
    }
    assert_eq!(origin.asked(), 1);
    // Without a colour around it the result is transparent there, and white in a format without opacity.
    let reply = house.get(&format!("/imgix/base.png?mask={}&fm=png", escaped(&url)));
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(images::decoded(&reply.body).alpha.is_some());
    origin.answers(404, "", Vec::new());
    let reply = house.get(&format!(
        "/imgix/base.png?mask={}",
        escaped(&format!("{url}?2"))
    ));
    assert_eq!(reply.status, 404, "{}", reply.text());
}
