//! Effects and their arguments, as dialects write them down.

use andon_recipe::{Colour, Effect, Step};

/// A list of effects.
#[derive(Debug, Default)]
pub(crate) struct Effects(pub(crate) Vec<Step>);

impl Effects {
    /// Adds one; the engine checks its word and arguments.
    pub(crate) fn add(&mut self, name: &str, args: &[String]) {
        let effect = Effect::new(name, args.to_vec()).ok();
        self.0.extend(effect.map(Step::Effect));
    }
}

/// A number to ten thousandths: strengths that look alike become one.
pub(crate) fn number(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

/// `rrggbb`.
pub(crate) fn rgb(Colour { r, g, b, .. }: Colour) -> String {
    format!("{r:02x}{g:02x}{b:02x}")
}

/// Does the format take a quality?
pub(crate) fn is_lossy(format: &str) -> bool {
    ["jpeg", "webp", "avif", "jxl"].contains(&format)
}
