//! The ways in which an overlay acts on the image below.
//!
//! Blend modes are those of the W3C's "Compositing and Blending Level 1", which ISO 32000-2 (11.3.5) defines in the
//! same way: where the image below is visible, the overlay takes the colour that its mode computes from both, and is
//! then composited normally. Masks apply their opacity to the image below and show no colour.

use crate::frame::Model;
use crate::samples::{Planes, Sample};

/// The modes in which the colours of the overlay are visible and the overlay is not repeated, each with its word in
/// recipes.
const SHOWN: [(&str, Mode); 17] = [
    ("normal", Mode::Normal),
    ("multiply", separable(|below, above| below * above)),
    ("screen", separable(screen)),
    (
        "overlay",
        separable(|below, above| hard_light(above, below)),
    ),
    ("darken", separable(f32::min)),
    ("lighten", separable(f32::max)),
    ("color-dodge", separable(color_dodge)),
    ("color-burn", separable(color_burn)),
    ("hard-light", separable(hard_light)),
    ("soft-light", separable(soft_light)),
    (
        "difference",
        separable(|below, above| (below - above).abs()),
    ),
    (
        "exclusion",
        separable(|below, above| below + above - 2.0 * below * above),
    ),
    ("add", separable(|below, above| (below + above).min(1.0))),
    (
        "hue",
        together(|below, above| with_luma(with_range(above, range(below)), luma(below))),
    ),
    (
        "saturation",
        together(|below, above| with_luma(with_range(below, range(above)), luma(below))),
    ),
    (
        "color",
        together(|below, above| with_luma(above, luma(below))),
    ),
    (
        "luminosity",
        together(|below, above| with_luma(below, luma(above))),
    ),
];

/// The modes in which the overlay is repeated or serves as a mask, each with its word in recipes.
const OTHERS: [(&str, Mode); 4] = [
    ("tile", Mode::Tile),
    ("mask", mask(false, false)),
    ("mask-out", mask(true, false)),
    ("mask-luminance", mask(false, true)),
];

/// The words for the modes in which the colours of the overlay are visible and the overlay is not repeated.
pub(super) const BLENDS: &[&str] = &words::<{ SHOWN.len() }>(&[&SHOWN]);

/// The words for all modes.
pub(super) const MODES: &[&str] = &words::<{ SHOWN.len() + OTHERS.len() }>(&[&SHOWN, &OTHERS]);

#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    Normal,
    Tile,
    Blend(Blend),
    /// Keeps the image below where the overlay is opaque or, with `out`, where it is not. If `luminous`, the
    /// overlay's opacity is multiplied by its luma.
    Mask {
        out: bool,
        luminous: bool,
    },
}

/// A blend mode: computes a colour from the backdrop's and the source's. Samples are in 0..=1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blend {
    /// Each of red, green and blue is computed by itself.
    Separable(fn(f32, f32) -> f32),
    /// Red, green and blue are computed together.
    NonSeparable(fn(Rgb, Rgb) -> Rgb),
}

/// Red, green and blue in 0..=1.
type Rgb = [f32; 3];

impl Mode {
    /// Returns the mode for a word; the normal mode for any other text.
    pub(super) fn of(word: &str) -> Self {
        let mut modes = SHOWN.iter().chain(&OTHERS);
        let entry = modes.find(|(name, _)| *name == word);
        entry.map_or(Self::Normal, |(_, mode)| *mode)
    }

    /// Returns the model in which the mode mixes colours: RGB for blend modes, otherwise the image's own.
    pub(super) fn model(self, model: Model) -> Model {
        match self {
            Self::Normal | Self::Tile | Self::Mask { .. } => model,
            Self::Blend(_) => Model::Rgb,
        }
    }

    /// Returns the model of the result for an image of this model.
    pub(super) fn model_after(self, model: Model) -> Model {
        match model {
            Model::Cmyk => model,
            _ => self.model(model),
        }
    }
}

/// Returns the words of the tables, which together have `N` rows.
const fn words<const N: usize>(tables: &[&[(&'static str, Mode)]]) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut table, mut row) = (0, 0);
    let mut place = 0;
    while place < N {
        if row == tables[table].len() {
            (table, row) = (table + 1, 0);
        }
        words[place] = tables[table][row].0;
        (row, place) = (row + 1, place + 1);
    }
    words
}

const fn separable(blend: fn(f32, f32) -> f32) -> Mode {
    Mode::Blend(Blend::Separable(blend))
}

const fn together(blend: fn(Rgb, Rgb) -> Rgb) -> Mode {
    Mode::Blend(Blend::NonSeparable(blend))
}

const fn mask(out: bool, luminous: bool) -> Mode {
    Mode::Mask { out, luminous }
}

impl Blend {
    /// Replaces the colours of an overlay at this place by their blend with the image below. Overlay and image must be
    /// RGB.
    pub(super) fn apply<T: Sample>(self, icon: &mut Planes<T>, image: &Planes<T>, at: (i64, i64)) {
        match self {
            Self::Separable(blend) => blended(icon, image, at, blend),
            Self::NonSeparable(blend) => blended_together(icon, image, at, blend),
        }
    }
}

/// Returns the row or column of the image that lies under row or column `at` of an overlay at `place`; `None` if that
/// is not within the `side` px of the image.
fn below(at: u32, place: i64, side: u32) -> Option<u32> {
    let at = u32::try_from(i64::from(at) + place).ok();
    at.filter(|&at| at < side)
}

/// Replaces each colour sample of an overlay by its blend with the sample of the image below; red, green and blue are
/// blended independently of each other.
fn blended<T: Sample>(
    icon: &mut Planes<T>,
    image: &Planes<T>,
    (x, y): (i64, i64),
    blend: fn(f32, f32) -> f32,
) {
    let full = T::MAX.float();
    for (above, ground) in icon.colours.iter_mut().zip(&image.colours) {
        for row in 0..above.height() {
            let Some(ground_row) = below(row, y, image.height) else {
                continue;
            };
            let alphas = image.alpha.as_ref().map(|alpha| alpha.row(ground_row));
            let ground = ground.row(ground_row);
            for (column, above) in (0..).zip(above.row_mut(row)) {
                let Some(column) = below(column, x, image.width) else {
                    continue;
                };
                let column = column as usize;
                let alpha = alphas.map_or(1.0, |alphas| alphas[column].float() / full);
                let source = above.float() / full;
                let mixed = blend(ground[column].float() / full, source);
                *above = T::round(full * (source + (mixed - source) * alpha));
            }
        }
    }
}

/// Replaces the colour of each px of an overlay by its blend with the colour of the image below; red, green and blue
/// are blended together.
fn blended_together<T: Sample>(
    icon: &mut Planes<T>,
    image: &Planes<T>,
    (x, y): (i64, i64),
    blend: fn(Rgb, Rgb) -> Rgb,
) {
    let full = T::MAX.float();
    let ([r, g, b], [ground_r, ground_g, ground_b]) = (&mut icon.colours[..], &image.colours[..])
    else {
        return;
    };
    for row in 0..icon.height {
        let Some(ground_row) = below(row, y, image.height) else {
            continue;
        };
        let grounds = [ground_r, ground_g, ground_b].map(|plane| plane.row(ground_row));
        let alphas = image.alpha.as_ref().map(|alpha| alpha.row(ground_row));
        let mut aboves = [&mut *r, &mut *g, &mut *b].map(|plane| plane.row_mut(row));
        for column in 0..icon.width {
            let Some(under) = below(column, x, image.width) else {
                continue;
            };
            let (column, under) = (column as usize, under as usize);
            let alpha = alphas.map_or(1.0, |alphas| alphas[under].float() / full);
            let source = [0, 1, 2].map(|index| aboves[index][column].float() / full);
            let ground = grounds.map(|row| row[under].float() / full);
            let mixed = blend(ground, source);
            for (index, row) in aboves.iter_mut().enumerate() {
                let sample = source[index] + (mixed[index] - source[index]) * alpha;
                row[column] = T::round(full * sample);
            }
        }
    }
}

/// Returns the luma of a colour, with the weights of the non-separable blend modes (`Lum`).
fn luma([r, g, b]: Rgb) -> f32 {
    0.3 * r + 0.59 * g + 0.11 * b
}

/// Returns the smallest and the largest of a colour's three samples.
fn extremes([r, g, b]: Rgb) -> (f32, f32) {
    (r.min(g).min(b), r.max(g).max(b))
}

/// Returns the difference of a colour's largest and smallest sample (`Sat`).
fn range(colour: Rgb) -> f32 {
    let (least, most) = extremes(colour);
    most - least
}

/// Returns a colour whose smallest sample is 0 and whose largest one is `range`, with the middle one in proportion
/// (`SetSat`). Gray becomes black.
fn with_range(colour: Rgb, range: f32) -> Rgb {
    let (least, most) = extremes(colour);
    match most > least {
        true => colour.map(|sample| (sample - least) * range / (most - least)),
        false => [0.0; 3],
    }
}

/// Returns a colour shifted to this luma, and moved towards the gray of the same luma as far as it left 0..=1 (`SetLum`
/// and `ClipColor`).
fn with_luma(colour: Rgb, target: f32) -> Rgb {
    let shift = target - luma(colour);
    let mut colour = colour.map(|sample| sample + shift);
    let (least, most) = extremes(colour);
    let towards_gray = |colour: Rgb, share: f32| colour.map(|it| target + (it - target) * share);
    if least < 0.0 {
        colour = towards_gray(colour, target / (target - least));
    }
    if most > 1.0 {
        colour = towards_gray(colour, (1.0 - target) / (most - target));
    }
    colour
}

fn screen(below: f32, above: f32) -> f32 {
    below + above - below * above
}

fn hard_light(below: f32, above: f32) -> f32 {
    if above <= 0.5 {
        below * 2.0 * above
    } else {
        screen(below, 2.0 * above - 1.0)
    }
}

fn color_dodge(below: f32, above: f32) -> f32 {
    match below {
        0.0 => 0.0,
        _ if above >= 1.0 => 1.0,
        _ => (below / (1.0 - above)).min(1.0),
    }
}

fn color_burn(below: f32, above: f32) -> f32 {
    match above {
        _ if below >= 1.0 => 1.0,
        0.0 => 0.0,
        _ => 1.0 - ((1.0 - below) / above).min(1.0),
    }
}

fn soft_light(below: f32, above: f32) -> f32 {
    if above <= 0.5 {
        return below - (1.0 - 2.0 * above) * below * (1.0 - below);
    }
    let curve = if below <= 0.25 {
        ((16.0 * below - 12.0) * below + 4.0) * below
    } else {
        below.sqrt()
    };
    below + (2.0 * above - 1.0) * (curve - below)
}
