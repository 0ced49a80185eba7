//! Effects, computed pixel by pixel from their definitions.

use andon_recipe::{Colour, Effect};

use crate::image::Image;
use crate::wishes::Icons;

/// Effects for random recipes. None is an unsharp mask with a threshold, because a difference just below the threshold
/// in one model may be just above it in another.
pub(crate) const SAMPLES: &[&str] = &[
    "blur:0x1.5",
    "blur:2x3",
    "sharpen:0x0.8",
    "unsharp:0x1.2+0.7+0",
    "border:4x2:ff8800",
    "border:0x3:2040ff80",
    "border:3x3:104080:40x60",
    "over:icon:10:-4",
    "over:icon:3:7",
    "overlay:icon:-5:9:60",
    "pixelate:6",
    "gray",
    "invert",
    "brightness:25",
    "contrast:1.2",
    "gamma:1.4",
    "rgb:20:-10:5",
    "saturation:0.5",
    "saturation:1.5",
    "sepia:80",
    "duotone:102040:ffe0a0",
    "colorize:40:3060a0",
    "gradient:80:3060a0",
    "gradient:60:ff8800:30:20:70",
    "gradient:100:000000:270:100:0",
];

/// Applies one effect to an image.
pub(crate) fn act(image: &Image, effect: &Effect) -> Image {
    let args = &effect.args;
    match effect.name.as_str() {
        "blur" => {
            let mean = blurred(image, &args[0]);
            moved(image, &mean, -1.0)
        }
        "unsharp" => {
            let amount = number(args[0].split('+').nth(1).unwrap_or("1"));
            moved(image, &blurred(image, &args[0]), amount)
        }
        "sharpen" => sharpened(image, &args[0]),
        "border" => bordered(image, args),
        "over" | "overlay" => {
            let opacity = args.get(3).map_or(1.0, |opacity| number(opacity) / 100.0);
            overlaid(
                image,
                (number(&args[1]) as i64, number(&args[2]) as i64),
                opacity,
            )
        }
        "pixelate" => pixelated(image, number(&args[0]) as usize),
        "gradient" => graded(image, args),
        tone => {
            let numbers: Vec<f64> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
            let colours: Vec<[f64; 3]> = args.iter().filter_map(|arg| colour(arg)).collect();
            Image::new(image.width, image.height, |x, y| {
                let [r, g, b, a] = image.at(x, y);
                let [r, g, b] =
                    toned(tone, &numbers, &colours, [r, g, b]).map(|v| v.clamp(0.0, 255.0));
                [r, g, b, a]
            })
        }
    }
}

/// Returns the red, green and blue of one pixel after a tone effect.
fn toned(effect: &str, numbers: &[f64], colours: &[[f64; 3]], rgb: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = rgb;
    let luma = 0.299 * r + 0.587 * g + 0.114 * b;
    match effect {
        "gray" => [luma; 3],
        "invert" => rgb.map(|v| 255.0 - v),
        "brightness" => rgb.map(|v| v + numbers[0]),
        "contrast" => rgb.map(|v| numbers[0] * (v - 128.0) + 128.0),
        "gamma" => rgb.map(|v| 255.0 * (v / 255.0).powf(1.0 / numbers[0])),
        "rgb" => [r + numbers[0], g + numbers[1], b + numbers[2]],
        "saturation" => rgb.map(|v| luma + numbers[0] * (v - luma)),
        "sepia" => {
            let brown = [
                0.393 * r + 0.769 * g + 0.189 * b,
                0.349 * r + 0.686 * g + 0.168 * b,
                0.272 * r + 0.534 * g + 0.131 * b,
            ];
            [0, 1, 2].map(|c| rgb[c] + (brown[c] - rgb[c]) * numbers[0] / 100.0)
        }
        "duotone" => [0, 1, 2].map(|c| {
            let (dark, light) = (colours[0][c], colours[1][c]);
            dark + (light - dark) * luma / 255.0
        }),
        "colorize" => [0, 1, 2].map(|c| rgb[c] + (colours[0][c] - rgb[c]) * numbers[0] / 100.0),
        other => panic!("the oracle does not know {other}"),
    }
}

fn colour(text: &str) -> Option<[f64; 3]> {
    let Colour { r, g, b, .. } = text.parse().ok()?;
    Some([r, g, b].map(f64::from))
}

/// Returns each colour plus `gain` times its difference from the mean; opacity stays.
fn moved(image: &Image, mean: &Image, gain: f64) -> Image {
    Image::new(image.width, image.height, |x, y| {
        let (own, mean) = (image.at(x, y), mean.at(x, y));
        let colour = |c: usize| (own[c] + gain * (own[c] - mean[c])).clamp(0.0, 255.0);
        [colour(0), colour(1), colour(2), own[3]]
    })
}

/// Returns the Gaussian mean of each pixel's square neighbourhood, with colours weighted by opacity. ImageMagick's
/// weights of rows and columns are means over three positions in a pixel.
fn blurred(image: &Image, geometry: &str) -> Image {
    let (reach, sigma) = kernel(geometry);
    let over_pixel = |at: i64| -> f64 {
        let places = [-1, 0, 1].map(|third| at as f64 + f64::from(third) / 3.0);
        places.map(|place| gauss(place, 0.0, sigma)).iter().sum()
    };
    convolved(image, reach, |u, v| over_pixel(u) * over_pixel(v))
}

/// Applies ImageMagick's kernel, a negative Gaussian whose middle is twice its sum. Computed as a step away from the
/// mean, it is also defined near transparent pixels, where negative weights could sum to 0.
fn sharpened(image: &Image, geometry: &str) -> Image {
    let (reach, sigma) = kernel(geometry);
    let weight = |u: i64, v: i64| gauss(u as f64, v as f64, sigma);
    let sum: f64 = (-reach..=reach)
        .flat_map(|v| (-reach..=reach).map(move |u| weight(u, v)))
        .sum();
    let mean = convolved(image, reach, weight);
    moved(image, &mean, sum / (sum + 1.0))
}

fn convolved(image: &Image, reach: i64, weight: impl Fn(i64, i64) -> f64) -> Image {
    Image::new(image.width, image.height, |x, y| {
        let (mut sum, mut total) = ([0.0; 3], 0.0);
        for v in -reach..=reach {
            for u in -reach..=reach {
                let [r, g, b, a] = image.near(x as i64 + u, y as i64 + v);
                let share = weight(u, v) * a;
                sum = [sum[0] + share * r, sum[1] + share * g, sum[2] + share * b];
                total += share;
            }
        }
        let own = image.at(x, y);
        if total.abs() < 1e-6 {
            return own;
        }
        let [r, g, b] = sum.map(|value| (value / total).clamp(0.0, 255.0));
        [r, g, b, own[3]]
    })
}

fn gauss(u: f64, v: f64, sigma: f64) -> f64 {
    (-(u * u + v * v) / (2.0 * sigma * sigma)).exp()
}

/// Returns reach and sigma of `RxS`; for a radius of 0, the reach extends as far as weights matter.
fn kernel(geometry: &str) -> (i64, f64) {
    let geometry = geometry.split('+').next().unwrap_or_default();
    let (radius, sigma) = geometry.split_once('x').expect("RxS");
    let (radius, sigma) = (number(radius), number(sigma));
    let reach = if radius >= 1.0 {
        radius
    } else {
        (4.0 * sigma).ceil()
    };
    (reach as i64, sigma)
}

/// Paints bands inside the image, or inside a box of a given size.
fn bordered(image: &Image, args: &[String]) -> Image {
    let (across, down) = args[0].split_once('x').expect("WxH");
    let (across, down) = (number(across) as usize, number(down) as usize);
    let colour: Colour = args[1].parse().expect("a colour");
    let framed = args.get(2).and_then(|size| size.split_once('x'));
    let (width, height) = framed.map_or((image.width, image.height), |(w, h)| {
        (number(w) as usize, number(h) as usize)
    });
    Image::new(image.width, image.height, |x, y| {
        let inside = x < width && y < height;
        let at_side = x < across || x + across >= width || y < down || y + down >= height;
        let below = image.at(x, y);
        if inside && at_side {
            let Colour { r, g, b, a } = colour;
            over([r, g, b, a].map(f64::from), below)
        } else {
            below
        }
    })
}

fn overlaid(image: &Image, (left, top): (i64, i64), opacity: f64) -> Image {
    let icon = Icons::icon();
    Image::new(image.width, image.height, |x, y| {
        let (u, v) = (x as i64 - left, y as i64 - top);
        let below = image.at(x, y);
        if (0..icon.width as i64).contains(&u) && (0..icon.height as i64).contains(&v) {
            let [r, g, b, a] = icon.at(u as usize, v as usize);
            over([r, g, b, a * opacity * 255.0], below)
        } else {
            below
        }
    })
}

/// Composites one colour, whose opacity grows along CSS's gradient line for an angle.
fn graded(image: &Image, args: &[String]) -> Image {
    let given = |at: usize, usual: f64| args.get(at).map_or(usual, |text| number(text));
    let [r, g, b] = colour(&args[1]).expect("a colour");
    let (most, angle) = (given(0, 0.0) / 100.0, given(2, 180.0).to_radians());
    let (start, stop) = (given(3, 0.0) / 100.0, given(4, 100.0) / 100.0);
    let (w, h) = (image.width as f64, image.height as f64);
    let towards = (angle.sin(), -angle.cos());
    // The corner where the gradient line begins.
    let along = |x: f64, y: f64| x * towards.0 + y * towards.1;
    let corners = [(0.0, 0.0), (w, 0.0), (0.0, h), (w, h)].map(|(x, y)| along(x, y));
    let (first, last) = corners
        .iter()
        .fold((f64::MAX, f64::MIN), |(a, b), at| (a.min(*at), b.max(*at)));
    Image::new(image.width, image.height, |x, y| {
        let way = (along(x as f64 + 0.5, y as f64 + 0.5) - first) / (last - first);
        let share = ((way - start) / (stop - start)).clamp(0.0, 1.0);
        over([r, g, b, 255.0 * most * share], image.at(x, y))
    })
}

/// Fills each square with the mean of its visible colours.
fn pixelated(image: &Image, side: usize) -> Image {
    Image::new(image.width, image.height, |x, y| {
        let (left, top) = (x / side * side, y / side * side);
        let (mut sum, mut count) = ([0.0; 4], 0.0);
        for y in top..(top + side).min(image.height) {
            for x in left..(left + side).min(image.width) {
                let [r, g, b, a] = image.at(x, y);
                sum = [sum[0] + r * a, sum[1] + g * a, sum[2] + b * a, sum[3] + a];
                count += 1.0;
            }
        }
        let [r, g, b, a] = sum;
        let seen = a.max(1e-9);
        [r / seen, g / seen, b / seen, a / count]
    })
}

/// Composites source over destination; the source's opacity is from 0 to 255.
pub(crate) fn over(above: [f64; 4], below: [f64; 4]) -> [f64; 4] {
    let a = above[3] / 255.0;
    let rest = below[3] * (1.0 - a);
    let alpha = a + rest;
    if alpha <= 0.0 {
        return below;
    }
    let mix = |c: usize| (above[c] * a + below[c] * rest) / alpha;
    [mix(0), mix(1), mix(2), alpha]
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}
