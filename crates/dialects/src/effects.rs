//! Effects and their arguments, as dialects write them down.

use andon_recipe::{Colour, Effect, Recipe, Step};

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

/// A file that is laid over an image: its arguments as the engine reads them.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// A file of the folder of materials; behind a slash one of the origins'.
    pub(crate) file: String,
    /// The left edge, and the top edge: px, or per cent (`p`) of the room that it leaves, and px.
    pub(crate) at: (String, String),
    /// Per cent.
    pub(crate) opacity: f64,
    /// In px; 0: its own, or as the other side says.
    pub(crate) size: (u32, u32),
    /// How it acts on what is below: a blend mode, or `normal`.
    pub(crate) mode: &'static str,
    /// What becomes of its own shape in that size: `exact`, `inside` or `cover`.
    pub(crate) shape: &'static str,
    /// Steps that the overlay goes through before it is laid on.
    pub(crate) recipe: Vec<Step>,
}

impl Overlay {
    /// The step; none where nobody would see it.
    pub(crate) fn step(self) -> Option<Step> {
        if self.opacity <= 0.0 {
            return None;
        }
        let (x, y) = self.at;
        let mut args = vec![
            self.file,
            x,
            y,
            number(self.opacity),
            self.size.0.to_string(),
            self.size.1.to_string(),
            self.mode.to_owned(),
            self.shape.to_owned(),
            match self.recipe.is_empty() {
                true => String::new(),
                false => Recipe::from(self.recipe).to_string(),
            },
        ];
        // What is usual is not said.
        let usual = ["100", "0", "0", "normal", "exact", ""];
        while args.len() > 3 && args.last().is_some_and(|arg| *arg == usual[args.len() - 4]) {
            args.pop();
        }
        let name = if args.len() == 3 {
            Effect::OVER
        } else {
            Effect::OVERLAY
        };
        Effect::new(name, args).ok().map(Step::Effect)
    }
}

/// `px` from the left or top edge; less than none from the other.
pub(crate) fn from_edge(px: i64) -> String {
    match px {
        ..0 => format!("100p{px}"),
        _ => px.to_string(),
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
