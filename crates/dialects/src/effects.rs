//! Helpers for dialects to build effects and their arguments.

use andon_recipe::{Bounds, Colour, Cover, Effect, Fit, Gravity, Length, Orient, Recipe, Step};

/// Parses effects that are written as `name:argument:argument`, and returns their steps. Absent effects, and those
/// whose name is not well formed, are left out. The engine checks names and arguments later.
pub(crate) fn steps(effects: impl IntoIterator<Item = Option<String>>) -> Vec<Step> {
    let steps = effects.into_iter().flatten().filter_map(|text| {
        let mut parts = text.split(':').map(str::to_owned);
        let name = parts.next()?;
        Effect::new(&name, parts.collect()).ok().map(Step::Effect)
    });
    steps.collect()
}

/// Returns the text of an effect, such as `blur:0x{}`, with the rounded number in place of `{}`; `None` without a
/// number.
pub(crate) fn with(effect: &str, value: Option<f64>) -> Option<String> {
    Some(effect.replace("{}", &number(value?)))
}

/// An image that is laid over another, with its arguments as the engine reads them.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// Name of a file in the folder of overlay images, path of a file below the origins (with a leading slash),
    /// absolute URL, or colour such as `colour:ff0000`.
    pub(crate) file: String,
    /// Position of the left edge and of the top edge: px, or percent (`p`) of the free space next to the overlay plus
    /// px, such as `100p-5`; or `repeat`.
    pub(crate) at: (String, String),
    /// Opacity in percent.
    pub(crate) opacity: f64,
    /// Width and height in px that the overlay is scaled to. If one is 0, it follows from the other by the aspect
    /// ratio; if both are, the overlay keeps its size.
    pub(crate) size: (u32, u32),
    /// How the overlay is combined with what is below it: a blend mode, or `normal`.
    pub(crate) mode: &'static str,
    /// How the overlay is fitted to `size`: `exact`, `inside` or `cover`.
    pub(crate) shape: &'static str,
    /// Steps that the overlay itself goes through before it is laid on.
    pub(crate) recipe: Vec<Step>,
    /// The colour that replaces the parts of the image that a mask hides; only with modes that are masks.
    pub(crate) colour_outside: Option<Colour>,
}

impl Overlay {
    /// Returns the overlay as a step, or `None` if it would be invisible.
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
            self.colour_outside
                .map_or(String::new(), |it| it.to_string()),
        ];
        // Trailing arguments with their default values are left out.
        let usual = ["100", "0", "0", "normal", "exact", "", ""];
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

    /// Returns the overlay with steps that are applied to it after it is turned upright and scaled to its size.
    pub(crate) fn with_steps(mut self, steps: Vec<Step>) -> Self {
        if steps.is_empty() {
            return self;
        }
        let px = |side: u32| Length::Px(side.into());
        let fit = |inside| {
            Step::Fit(Fit {
                inside,
                enlarge: true,
            })
        };
        let scaling = match (self.size, self.shape) {
            ((0, 0), _) => None,
            ((w, 0), _) => Some(fit(Bounds::Width(px(w)))),
            ((0, h), _) => Some(fit(Bounds::Height(px(h)))),
            ((w, h), "inside") => Some(fit(Bounds::Both(px(w), px(h)))),
            ((w, h), "cover") => Some(Step::Cover(Cover {
                w: px(w),
                h: px(h),
                gravity: Gravity::Centre,
                enlarge: true,
            })),
            ((w, h), _) => Some(Step::exact(w, h)),
        };
        self.recipe.push(Step::Orient(Orient));
        self.recipe.extend(scaling);
        self.recipe.extend(steps);
        (self.size, self.shape) = ((0, 0), "exact");
        self
    }
}

/// Returns the position `px` from the left or top edge or, if negative, that far from the right or bottom edge.
pub(crate) fn from_edge(px: i64) -> String {
    match px {
        ..0 => format!("100p{px}"),
        _ => px.to_string(),
    }
}

/// Formats a number, rounded to four decimal places, so that strengths that look alike give the same text.
pub(crate) fn number(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

/// Formats a colour as `rrggbb`, without its alpha.
pub(crate) fn rgb(Colour { r, g, b, .. }: Colour) -> String {
    format!("{r:02x}{g:02x}{b:02x}")
}

/// Whether the format has a quality setting.
pub(crate) fn is_lossy(format: &str) -> bool {
    ["jpeg", "webp", "avif", "jxl"].contains(&format)
}
