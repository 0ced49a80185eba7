//! The ways in which an overlay acts on the image below.
//!
//! Blend modes are those of the W3C's "Compositing and Blending": where there is something below, the overlay takes the
//! colour that its mode makes of both, and is then composited normally. Masks apply their opacity to the image below
//! and show no colour.

/// The words for the modes in a recipe.
pub(super) const MODES: &[&str] = &[
    "normal",
    "tile",
    "multiply",
    "screen",
    "overlay",
    "darken",
    "lighten",
    "color-dodge",
    "color-burn",
    "hard-light",
    "soft-light",
    "difference",
    "exclusion",
    "add",
    "mask",
    "mask-out",
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    Normal,
    Tile,
    /// A blend mode: computes a colour in 0..=1 from the backdrop's and the source's.
    Blend(fn(f32, f32) -> f32),
    /// Keeps the image below where the overlay is opaque or, with `out`, where it is not.
    Mask {
        out: bool,
    },
}

impl Mode {
    pub(super) fn of(word: &str) -> Self {
        Self::Blend(match word {
            "tile" => return Self::Tile,
            "mask" => return Self::Mask { out: false },
            "mask-out" => return Self::Mask { out: true },
            "multiply" => |below, above| below * above,
            "screen" => screen,
            "overlay" => |below, above| hard_light(above, below),
            "darken" => f32::min,
            "lighten" => f32::max,
            "color-dodge" => |below, above| match below {
                0.0 => 0.0,
                _ if above >= 1.0 => 1.0,
                _ => (below / (1.0 - above)).min(1.0),
            },
            "color-burn" => |below, above| match above {
                _ if below >= 1.0 => 1.0,
                0.0 => 0.0,
                _ => 1.0 - ((1.0 - below) / above).min(1.0),
            },
            "hard-light" => hard_light,
            "soft-light" => soft_light,
            "difference" => |below, above| (below - above).abs(),
            "exclusion" => |below, above| below + above - 2.0 * below * above,
            "add" => |below, above| (below + above).min(1.0),
            _ => return Self::Normal,
        })
    }
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
