//! How an image that is laid over another acts on it.
//!
//! Blend modes are those of the W3C's "Compositing and Blending": what is laid over takes the colour that its mode
//! makes of both, as far as there is something below, and is then composed as any other. Masks lend their opacity to
//! what is below, and show no colour.

/// The words for them.
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
    /// The colour, in 0..=1, that a backdrop and a source make.
    Blend(fn(f32, f32) -> f32),
    /// What is below stays where this one is opaque; `out`: where it is not.
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
