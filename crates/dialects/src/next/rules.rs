//! How the optimizer of Next.js processes an image.

use andon_recipe::{
    Bounds, Chroma, Facts, Fit, FormatName, Goal, Kept, Length, Orient, Output, Recipe,
    ResolveError, Rules, Step, Wish,
};

use crate::effects::is_lossy;

/// The parameters of a request, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct NextRules {
    width: u32,
    quality: u8,
    /// Whether SVG sources are served, unchanged.
    allow_svg: bool,
    output: Output,
}

/// Formats that are sent unchanged.
const AS_THEY_ARE: &[&str] = &["svg", "ico", "bmp", "jxl", "heic"];

/// Formats in which animations are sent unchanged.
const ANIMATED: &[&str] = &["gif", "png", "webp"];

impl NextRules {
    /// Creates rules for a maximum width in px. Without a `format`, results have the source's format, except for WebP
    /// and AVIF sources, which become JPEG for older browsers.
    pub(super) fn new(width: u32, quality: u8, format: Option<&str>, allow_svg: bool) -> Self {
        let format = format.and_then(|name| FormatName::new(name).ok());
        Self {
            width,
            quality,
            allow_svg,
            output: Output {
                format,
                metadata: Kept::None,
                progressive: true,
                ..Output::default()
            },
        }
    }

    /// Returns the recipe for a source in the format `source`.
    fn recipe_for(&self, source: &str) -> Recipe {
        let inside = Bounds::Width(Length::Px(self.width.into()));
        let mut output = self.output.clone();
        if output.format.is_none() && ["webp", "avif"].contains(&source) {
            output.format = FormatName::new("jpeg").ok();
        }
        match output.format_or(source) {
            "png" => {
                output
                    .options
                    .insert("colours".to_owned(), "256".to_owned());
            }
            "avif" => output.goal = Some(Goal::Quality(avif_quality(self.quality))),
            format if is_lossy(format) => output.goal = Some(Goal::Quality(self.quality)),
            _ => {}
        }
        let is_jpeg = output.format_or(source) == "jpeg";
        output.progressive &= is_jpeg;
        // sharp subsamples the chroma of every JPEG.
        output.chroma = is_jpeg.then_some(Chroma::C420);
        let enlarge = false;
        Recipe {
            steps: vec![Step::Orient(Orient), Step::Fit(Fit { inside, enlarge })],
            output,
        }
    }
}

/// Returns the AVIF quality that the optimizer of Next.js uses where it would use `quality` for WebP.
fn avif_quality(quality: u8) -> u8 {
    (f64::from(quality) * (50.0 / 80.0)).round().max(1.0) as u8
}

impl Rules for NextRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        let svg = if self.allow_svg { ";svg" } else { "" };
        format!("next({};{};{output}{svg})", self.width, self.quality)
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let format = &*facts.format;
        if format == "svg" && !self.allow_svg {
            let why = "SVG is not permitted here; `[next] allow_svg = true` permits it";
            return Err(ResolveError::new(format, why).of_source());
        }
        let moves = facts.frames > 1 && ANIMATED.contains(&format);
        if moves || AS_THEY_ARE.contains(&format) {
            return Ok(Recipe::original());
        }
        self.recipe_for(format).resolve(facts)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<Wish> {
        let mut recipe = self.recipe_for("jpeg");
        // Subsampling is a default here, and not a request that other dialects have to express.
        recipe.output.chroma = None;
        Some(Wish::of(&recipe))
    }
}
