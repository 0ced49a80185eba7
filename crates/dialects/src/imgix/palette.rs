//! The palette of a result, which `palette` requests: a JSON document or a style sheet.

use std::fmt::Write;

use andon_recipe::{Output, Recipe};
use serde_json::{Map, Value, json};

use crate::colours::channels;
use crate::document::{About, Document};
use crate::options::Values;
use crate::swatches;

/// The document of `palette`: the main colours of the result, as JSON or as a style sheet.
#[derive(Debug)]
pub(super) struct Palette {
    colours: u32,
    /// Prefix of the class names in the style sheet; `None` for JSON.
    prefix: Option<String>,
}

/// Number of colours in the palette that the dominant colours are chosen from.
const DOMINANT: u32 = 32;

impl Palette {
    pub(super) fn read(query: &Values) -> Option<Self> {
        let colours = query.number("colors");
        let prefix = query.text("prefix").unwrap_or("image");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let prefix = match prefix.bytes().all(is_plain) && !prefix.is_empty() {
            true => prefix,
            false => "image",
        };
        Some(Self {
            colours: colours.map_or(6, |colours| colours as u32),
            prefix: match query.text("palette")? {
                "css" => Some(prefix.to_owned()),
                "json" => None,
                _ => return None,
            },
        })
    }

    fn json(&self, entries: &Value, colours_by_share: &[swatches::ColourShare]) -> String {
        let shown_colours = rgbs(entries).into_iter().take(self.colours as usize);
        let average = entries["average"].as_str().and_then(channels);
        let average = match average.as_deref() {
            Some([r, g, b, ..]) => luminance([*r, *g, *b]),
            _ => 0.0,
        };
        let dominant = swatches::of(colours_by_share, false)
            .into_iter()
            .map(|(name, levels)| {
                // imgix puts the family (`vibrant` or `muted`) before the tone.
                let name = match name.split_once('_') {
                    Some((tone, family)) => format!("{family}_{tone}"),
                    None => name.to_owned(),
                };
                (name, colour(levels))
            });
        json!({
            "colors": shown_colours.map(colour).collect::<Vec<_>>(),
            "average_luminance": rounded(average),
            "dominant_colors": dominant.collect::<Map<_, _>>(),
        })
        .to_string()
    }

    /// Returns a style sheet with two classes for each colour, and for black and white: one for text and one for the
    /// background.
    fn css(&self, prefix: &str, entries: &Value) -> String {
        let colours = rgbs(entries).into_iter().take(self.colours as usize);
        let colours: Vec<String> = colours.map(hex).collect();
        let average = entries["average"].as_str().and_then(channels);
        let dark =
            matches!(average.as_deref(), Some([r, g, b, ..]) if luminance([*r, *g, *b]) < 0.5);
        let extremes = match dark {
            true => ["#ffffff", "#000000"],
            false => ["#000000", "#ffffff"],
        };
        let numbered = |(at, colour): (usize, String)| ((at + 1).to_string(), colour);
        let extremes = extremes.map(str::to_owned).into_iter().enumerate();
        let extremes = extremes.map(numbered);
        let extremes = extremes.map(|(at, colour)| (format!("ex-{at}"), colour));
        let classes = colours
            .into_iter()
            .enumerate()
            .map(numbered)
            .chain(extremes);
        let classes: Vec<_> = classes.collect();
        let mut text = String::new();
        for (word, property) in [("fg", "color"), ("bg", "background-color")] {
            for (at, colour) in &classes {
                let _ = writeln!(
                    text,
                    ".{prefix}-{word}-{at} {{ {property}:{colour} !important; }}"
                );
            }
        }
        text
    }
}

impl Document for Palette {
    fn name(&self) -> String {
        format!("imgix {self:?}")
    }

    fn media_type(&self) -> &'static str {
        match self.prefix {
            Some(_) => "text/css",
            None => "application/json",
        }
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn parts(&self, recipe: &Recipe) -> Vec<Recipe> {
        let part = |colours: u32| {
            let small: Recipe = format!("fit:100x100,as:palette,with:count:{colours}")
                .parse()
                .ok()?;
            let output = Output {
                frame: recipe.output.frame,
                stored_turn: recipe.output.stored_turn,
                ..small.output
            };
            let steps = recipe.steps.iter().chain(&small.steps).cloned().collect();
            Some(Recipe { steps, output })
        };
        let dominant = self.prefix.is_none().then_some(DOMINANT);
        let counts = [Some(self.colours.max(2)), dominant];
        counts.into_iter().flatten().filter_map(part).collect()
    }

    fn write(&self, about: &About<'_>) -> String {
        let mut parts = about.parts.iter().map(|part| {
            let text = part.text();
            serde_json::from_str::<Value>(&text).unwrap_or_default()
        });
        let entries = parts.next().unwrap_or_default();
        match &self.prefix {
            Some(prefix) => self.css(prefix, &entries),
            None => self.json(
                &entries,
                &swatches::colour_shares(&parts.next().unwrap_or_default()),
            ),
        }
    }
}

fn rgbs(entries: &Value) -> Vec<[u8; 3]> {
    let colours = swatches::colour_shares(entries).into_iter();
    colours.map(|(colour, _)| colour).collect()
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn colour(levels: [u8; 3]) -> Value {
    let [red, green, blue] = levels.map(|level| rounded(f64::from(level) / 255.0));
    json!({ "red": red, "green": green, "blue": blue, "hex": hex(levels) })
}

/// Returns the luma of a colour, from 0 to 1.
fn luminance([r, g, b]: [u8; 3]) -> f64 {
    (0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)) / 255.0
}

/// Rounds to four decimal places, as further digits are not significant.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
