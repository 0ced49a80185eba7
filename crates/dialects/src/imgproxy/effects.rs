//! The effects of the options, in the order in which they act.

use andon_recipe::{Effect, Step};

use super::options::{Effects, Mask};
use crate::effects::rgb;

/// Returns the steps for the effects on an image of this size, in px. `shrinks` says whether the image was scaled down.
pub(super) fn steps(asked: &Effects, size: (i64, i64), shrinks: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |acts: bool, name: &str, args: &[String]| {
        let effect = acts
            .then(|| Effect::new(name, args.to_vec()).ok())
            .flatten();
        steps.extend(effect.map(Step::Effect));
    };
    add(
        asked.brightness != 0,
        "brightness",
        &[asked.brightness.to_string()],
    );
    add(asked.contrast != 1.0, "contrast", &[text(asked.contrast)]);
    add(
        asked.saturation != 1.0,
        "saturation",
        &[text(asked.saturation)],
    );
    let (intensity, gray) = asked.monochrome;
    add(intensity == 1.0, "gray", &[]);
    let partly = intensity > 0.0 && intensity < 1.0;
    add(partly, "saturation", &[text(1.0 - intensity)]);
    let tinted = intensity > 0.0 && (gray.r, gray.g) != (gray.g, gray.b);
    add(tinted, "tint", &[rgb(gray)]);
    let (mixed, dark, light) = asked.duotone;
    add(mixed > 0.0, "duotone", &[rgb(dark), rgb(light)]);
    let (opacity, colour) = asked.colorize;
    add(opacity > 0.0, "colorize", &[percent(opacity), rgb(colour)]);
    add(asked.gradient.opacity > 0.0, "gradient", &gradient(asked));
    let unsharp = &asked.unsharp;
    let masked = unsharp.mode == Mask::Always || (unsharp.mode == Mask::Auto && shrinks);
    // The neighbours are the eight around, of which a Gaussian of this sigma weighs about as many.
    let amount = 9.0 * unsharp.weight / unsharp.divider;
    let amount = text((amount * 1e4).round() / 1e4);
    add(masked, "unsharp", &[format!("0x0.8+{amount}+0")]);
    add(
        asked.blur > 0.0,
        "blur",
        &[format!("0x{}", text(asked.blur))],
    );
    add(asked.sharpen > 0.0, "sharpen-l", &[text(asked.sharpen)]);
    let side = asked.pixelate.min(MOST_PX).to_string();
    add(asked.pixelate > 1, "pixelate", &[side]);
    for area in &asked.blurred {
        let args = blurred(*area, size);
        add(args.is_some(), "blur-area", &args.unwrap_or_default());
    }
    steps
}

fn gradient(Effects { gradient, .. }: &Effects) -> [String; 5] {
    [
        percent(gradient.opacity),
        rgb(gradient.colour),
        // The engine counts from the top.
        ((gradient.angle + 180.0) % 360.0).to_string(),
        percent(gradient.start),
        percent(gradient.stop),
    ]
}

/// Returns the arguments that blur an area of the image; `None` if there is nothing to blur.
fn blurred([sigma, left, top, w, h]: [f64; 5], (width, height): (i64, i64)) -> Option<Vec<String>> {
    let (width, height) = (width as f64, height as f64);
    let (x, y) = ((left * width).round(), (top * height).round());
    let w = (w * width).round().min(width - x);
    let h = (h * height).round().min(height - y);
    let acts = sigma > 0.0 && w >= 1.0 && h >= 1.0;
    acts.then(|| {
        vec![
            x.to_string(),
            y.to_string(),
            format!("{w}x{h}"),
            text(sigma),
        ]
    })
}

/// The longest side that the engine accepts, in px.
const MOST_PX: u32 = 1_000_000;

/// Returns a sigma in px or a factor, no larger than the engine accepts.
fn text(value: f64) -> String {
    value.min(1000.0).to_string()
}

fn percent(share: f64) -> String {
    (share * 100.0).round().to_string()
}
