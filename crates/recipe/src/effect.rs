//! Effects: steps whose words are declared by the engine.

mod escape;
mod overlay;

use std::fmt;

use crate::resolve::Image;
use crate::steps::{Geometry, Step};
use crate::words::is_taken;
use crate::{Facts, ParseError};

/// One effect: a word that this crate does not know, and its arguments, which the engine checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The effect's word: lower-case letters, digits and `-`.
    pub name: String,
    /// Decoded arguments. In the text of a recipe, characters that would end an argument are escaped.
    pub args: Vec<String>,
}

impl Effect {
    /// Name of the effect that lays an image from a file over the image. Its first argument is the file's name.
    pub const OVER: &str = "over";

    /// Name of the effect that lays an image from a file over the image, in a given size, opacity and mode.
    pub const OVERLAY: &str = "overlay";

    /// Name of the effect that blurs a rectangle.
    pub const BLUR_AREA: &str = "blur-area";

    /// Shapes that the `mask` effect can cut an image to.
    pub const MASKS: &[&str] = &[
        "circle",
        "ellipse",
        "triangle",
        "triangle-180",
        "pentagon",
        "pentagon-180",
        "hexagon",
        "square",
        "star",
        "heart",
    ];

    /// Creates an effect whose word is well formed and has no other meaning in recipes.
    ///
    /// # Errors
    /// [`ParseError`] if the word is not a lower-case letter followed by lower-case letters, digits and `-`, or if it
    /// is a word of recipes that is not an effect.
    pub fn new(name: &str, args: Vec<String>) -> Result<Self, ParseError> {
        let word = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !word || is_taken(name) {
            return Err(ParseError::new(name, instead(name)));
        }
        Ok(Self {
            name: name.to_owned(),
            args,
        })
    }

    /// Adds to an error how `,`, `:` and `%` are escaped, if this effect takes a text or the name of a file. For errors
    /// in this effect and in the step that follows it in the recipe: an unescaped `:` or `,` ends the text, and the
    /// rest of the text is then parsed as the next argument or step.
    #[must_use]
    pub fn explain(&self, error: ParseError) -> ParseError {
        let takes_text = [Self::TEXT, Self::OVER, Self::OVERLAY].contains(&self.name.as_str());
        match takes_text {
            true => escape::explained(error),
            false => error,
        }
    }

    /// Parses an effect from its word and its arguments, which may contain any text.
    pub(crate) fn read(name: &str, parts: &[String]) -> Result<Self, ParseError> {
        let args = parts.iter().map(|part| escape::read(part));
        Self::new(name, args.collect::<Result<_, _>>()?)
    }
}

/// Returns what was expected instead of `piece`, for the error that it cannot be the word of a step or an effect.
fn instead(piece: &str) -> String {
    let is_size = |side: &str| side.bytes().all(|byte| byte.is_ascii_digit());
    let size = piece.split_once('x').filter(|(width, height)| {
        is_size(width) && is_size(height) && !(width.is_empty() && height.is_empty())
    });
    match size {
        Some(_) => {
            format!("a step: `fit:{piece}` keeps the whole image, `cover:{piece}` fills the box")
        }
        None if piece.trim() != piece => "a step, without spaces around it".to_owned(),
        None => "a step, or an effect's word of lower-case letters, digits and `-`".to_owned(),
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.write(f)
    }
}

impl Geometry for Effect {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for arg in &self.args {
            f.write_str(":")?;
            escape::write(f, arg)?;
        }
        Ok(())
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        image.push(Step::Effect(self.clone()));
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(size)
    }
}
