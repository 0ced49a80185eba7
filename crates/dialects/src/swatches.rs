//! The six dominant colours that services report for an image: vibrant or muted, and light, dark or neither. Colours
//! are assigned to them as in Android's Palette.

use serde_json::Value;

use crate::colours;

/// A colour (red, green, blue), and its share of the image.
pub(crate) type ColourShare = ([u8; 3], f64);

/// One of the six dominant colours.
struct Swatch {
    name: &'static str,
    saturation: Target,
    lightness: Target,
}

/// The range that a saturation or lightness must be in, and its ideal value; all from 0 to 1.
#[derive(Clone, Copy)]
struct Target {
    least: f64,
    best: f64,
    most: f64,
}

const fn target(least: f64, best: f64, most: f64) -> Target {
    Target { least, best, most }
}

const VIBRANT: Target = target(0.35, 1.0, 1.0);
const MUTED: Target = target(0.0, 0.3, 0.4);
const LIGHT: Target = target(0.55, 0.74, 1.0);
const MIDDLE: Target = target(0.3, 0.5, 0.7);
const DARK: Target = target(0.0, 0.26, 0.45);

const fn swatch(name: &'static str, saturation: Target, lightness: Target) -> Swatch {
    Swatch {
        name,
        saturation,
        lightness,
    }
}

/// The swatches, in the order in which they select their colours. No colour is selected twice.
const SWATCHES: [Swatch; 6] = [
    swatch("light_vibrant", VIBRANT, LIGHT),
    swatch("vibrant", VIBRANT, MIDDLE),
    swatch("dark_vibrant", VIBRANT, DARK),
    swatch("light_muted", MUTED, LIGHT),
    swatch("muted", MUTED, MIDDLE),
    swatch("dark_muted", MUTED, DARK),
];

impl Target {
    fn has(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }

    fn nearness(self, value: f64) -> f64 {
        1.0 - (value - self.best).abs()
    }
}

/// Parses the colours of a palette from the engine's JSON.
pub(crate) fn colour_shares(palette: &Value) -> Vec<ColourShare> {
    let entries = palette["palette"].as_array().into_iter().flatten();
    let colours_by_share = entries.filter_map(|entry| {
        let levels = entry["colour"].as_str().and_then(colours::channels)?;
        Some((levels.try_into().ok()?, entry["share"].as_f64()?))
    });
    colours_by_share.collect()
}

/// Returns the swatches of a palette, by name. With `all`, missing swatches are derived from those that were found.
pub(crate) fn of(palette: &[ColourShare], all: bool) -> Vec<(&'static str, [u8; 3])> {
    let most = palette.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let mut used: Vec<[u8; 3]> = Vec::new();
    let mut swatches = Vec::new();
    for swatch in &SWATCHES {
        let score = |(colour, share): &ColourShare| {
            let [_, saturation, lightness] = hsl(*colour);
            let fits = swatch.saturation.has(saturation) && swatch.lightness.has(lightness);
            (fits && !used.contains(colour)).then(|| {
                0.24 * swatch.saturation.nearness(saturation)
                    + 0.52 * swatch.lightness.nearness(lightness)
                    + 0.24 * share / most
            })
        };
        let candidates = palette.iter().filter_map(|it| Some((score(it)?, it.0)));
        if let Some((_, colour)) = candidates.max_by(|one, other| one.0.total_cmp(&other.0)) {
            used.push(colour);
            swatches.push((swatch.name, colour));
        }
    }
    if let (true, Some((_, model))) = (all, swatches.first().copied()) {
        let swatch_named = |name: &str| swatches.iter().find(|(entry, _)| *entry == name).copied();
        let missing = SWATCHES
            .iter()
            .filter(|swatch| swatch_named(swatch.name).is_none());
        let derived = missing.map(|swatch| {
            // The saturation follows a swatch of the same family (vibrant or muted), if there is one.
            let family = swatch.name.rsplit('_').next().unwrap_or_default();
            let relative = swatches.iter().find(|(name, _)| name.ends_with(family));
            let [hue, kin_saturation, _] = hsl(relative.map_or(model, |(_, colour)| *colour));
            let saturation = kin_saturation.clamp(swatch.saturation.least, swatch.saturation.most);
            (swatch.name, rgb([hue, saturation, swatch.lightness.best]))
        });
        let derived: Vec<_> = derived.collect();
        swatches.extend(derived);
    }
    swatches
}

/// Returns hue in sixths of the circle, and saturation and lightness from 0 to 1.
fn hsl(colour: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = colour.map(|level| f64::from(level) / 255.0);
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let (span, lightness) = (most - least, f64::midpoint(most, least));
    if span == 0.0 {
        return [0.0, 0.0, lightness];
    }
    let saturation = span / (1.0 - (2.0 * lightness - 1.0).abs());
    let hue = if most == r {
        ((g - b) / span).rem_euclid(6.0)
    } else if most == g {
        (b - r) / span + 2.0
    } else {
        (r - g) / span + 4.0
    };
    [hue, saturation, lightness]
}

fn rgb([hue, saturation, lightness]: [f64; 3]) -> [u8; 3] {
    let span = saturation * (1.0 - (2.0 * lightness - 1.0).abs());
    // The distance of the hue from the channel's own hue, in sixths of the circle.
    let channel = |channel_hue: f64| {
        let distance = (hue - channel_hue)
            .abs()
            .min(6.0 - (hue - channel_hue).abs());
        let part = (2.0 - distance).clamp(0.0, 1.0);
        let level = lightness - span / 2.0 + span * part;
        (level * 255.0).round() as u8
    };
    [channel(0.0), channel(2.0), channel(4.0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_colour_is_what_it_looks_like_and_only_once() {
        let palette = [
            ([0xd0, 0x20, 0x20], 0.4),
            ([0x60, 0x08, 0x08], 0.2),
            ([0xf0, 0x90, 0x90], 0.1),
            ([0x80, 0x78, 0x70], 0.2),
            ([0x30, 0x38, 0x30], 0.1),
        ];
        let mut names = of(&palette, false);
        names.sort_unstable();
        assert_eq!(
            names,
            [
                ("dark_muted", [0x30, 0x38, 0x30]),
                ("dark_vibrant", [0x60, 0x08, 0x08]),
                ("light_vibrant", [0xf0, 0x90, 0x90]),
                ("muted", [0x80, 0x78, 0x70]),
                ("vibrant", [0xd0, 0x20, 0x20]),
            ]
        );
        assert_eq!(of(&palette, true).len(), 6);
        assert!(of(&[], true).is_empty());
    }

    proptest! {
        #[test]
        fn hue_saturation_and_lightness_are_the_colour(colour in any::<[u8; 3]>()) {
            prop_assert_eq!(rgb(hsl(colour)), colour);
        }
    }
}
