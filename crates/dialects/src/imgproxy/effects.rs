//! The image effects that the options request, such as blur, in the order in which imgproxy applies them.

use andon_recipe::Step;

use super::options::{Effects, Mask};
use crate::effects::{self, rgb};

/// Returns the steps for the effects on an image of this size, in px. `shrinks` says whether the image was scaled down,
/// which decides about automatic sharpening.
pub(super) fn steps(options: &Effects, size: (i64, i64), shrinks: bool) -> Vec<Step> {
    let effect = |acts: bool, text: String| acts.then_some(text);
    let (intensity, gray) = options.monochrome;
    let is_partial = intensity > 0.0 && intensity < 1.0;
    let has_tint = intensity > 0.0 && (gray.r, gray.g) != (gray.g, gray.b);
    let (duotone_intensity, dark, light) = options.duotone;
    let (dark, light) = (rgb(dark), rgb(light));
    let (opacity, colour) = options.colorize;
    let colorize = format!("colorize:{}:{}", percent(opacity), rgb(colour));
    let gradient = format!("gradient:{}", gradient(options).join(":"));
    let unsharp = &options.unsharp;
    let is_sharpened = unsharp.mode == Mask::Always || (unsharp.mode == Mask::Auto && shrinks);
    // imgproxy compares a pixel with its eight neighbours. A Gaussian of this sigma has about the same weights.
    let amount = 9.0 * unsharp.weight / unsharp.divider;
    let amount = text((amount * 1e4).round() / 1e4);
    let side = options.pixelate.min(MOST_PX);
    let whole = [
        effect(
            options.brightness != 0,
            format!("brightness:{}", options.brightness),
        ),
        effect(
            options.contrast != 1.0,
            format!("contrast:{}", text(options.contrast)),
        ),
        effect(
            options.saturation != 1.0,
            format!("saturation:{}", text(options.saturation)),
        ),
        effect(intensity == 1.0, "gray".to_owned()),
        effect(is_partial, format!("saturation:{}", text(1.0 - intensity))),
        effect(has_tint, format!("tint:{}", rgb(gray))),
        effect(duotone_intensity > 0.0, format!("duotone:{dark}:{light}")),
        effect(opacity > 0.0, colorize),
        effect(options.gradient.opacity > 0.0, gradient),
        effect(is_sharpened, format!("unsharp:0x0.8+{amount}+0")),
        effect(options.blur > 0.0, format!("blur:0x{}", text(options.blur))),
        effect(
            options.sharpen > 0.0,
            format!("sharpen-l:{}", text(options.sharpen)),
        ),
        effect(options.pixelate > 1, format!("pixelate:{side}")),
    ];
    let areas = options
        .blurred_areas
        .iter()
        .map(|area| blur_area(*area, size));
    effects::steps(whole.into_iter().chain(areas))
}

fn gradient(Effects { gradient, .. }: &Effects) -> [String; 5] {
    [
        percent(gradient.opacity),
        rgb(gradient.colour),
        // The engine measures the angle from the top, and imgproxy from the bottom.
        ((gradient.angle + 180.0) % 360.0).to_string(),
        percent(gradient.start),
        percent(gradient.stop),
    ]
}

/// Returns the text of the effect that blurs an area of the image; `None` if there is nothing to blur.
fn blur_area([sigma, left, top, w, h]: [f64; 5], (width, height): (i64, i64)) -> Option<String> {
    let (width, height) = (width as f64, height as f64);
    let (x, y) = ((left * width).round(), (top * height).round());
    let w = (w * width).round().min(width - x);
    let h = (h * height).round().min(height - y);
    let acts = sigma > 0.0 && w >= 1.0 && h >= 1.0;
    acts.then(|| format!("blur-area:{x}:{y}:{w}x{h}:{}", text(sigma)))
}

/// The largest length that the engine accepts, in px.
const MOST_PX: u32 = 1_000_000;

/// Formats a sigma in px or a factor, limited to the largest value that the engine accepts.
fn text(value: f64) -> String {
    value.min(1000.0).to_string()
}

fn percent(share: f64) -> String {
    (share * 100.0).round().to_string()
}
