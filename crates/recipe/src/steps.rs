//! The steps of a recipe. Each geometric step has a type of its own, because sizes are computed from it and because the
//! planner combines geometric steps; it is declared, parsed, printed and resolved in one file of this folder. All
//! effects share one type: the engine declares their words.

use std::fmt;
use std::str::FromStr;

use crate::resolve::Image;
use crate::{Effect, Facts, Measure, ParseError, Word};

/// A step whose word this crate declares, unlike that of an effect.
pub(crate) trait Declared: Sized {
    /// The forms in which the step can be written: the same word, each time with other arguments.
    const WORDS: &'static [&'static Word];

    /// Parses the step from the texts of its arguments.
    ///
    /// # Errors
    /// [`ParseError`] if the arguments are not those of any form of the step.
    fn read(parts: &[String]) -> Result<Self, ParseError>;
}

/// The behaviour of a step: how it is printed, how it changes the state of an image, and what it needs from the source.
pub(crate) trait Geometry {
    /// Writes the step's arguments, each with a colon before it.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        Ok(())
    }

    /// Applies the step to the state of an image, and appends to it the equivalent steps in whole pixels.
    ///
    /// # Errors
    /// The reason, if the step cannot be applied to this image.
    fn apply(&self, image: &mut Image<'_>) -> Result<(), String>;

    /// Returns the width and height in px after the step, for an image of this size; `None` if the step is not in whole
    /// pixels.
    fn size(&self, size: (u32, u32), facts: &Facts) -> Option<(u32, u32)> {
        let _ = (size, facts);
        None
    }

    /// Returns the largest position or length in px that a step in whole pixels contains.
    fn farthest(&self) -> f64 {
        0.0
    }

    /// Whether the step may come before `trim`. Borders are measured on the stored image, which may be turned or
    /// flipped before the border is trimmed, but not changed otherwise.
    fn comes_before_trim(&self) -> bool {
        false
    }

    /// Returns the measurements of the source that the step depends on, other than those that decide a size.
    fn needs(&self) -> &'static [Measure] {
        &[]
    }
}

/// Declares a step for each `file::Type`, in the order in which the reference documentation lists the steps.
macro_rules! steps {
    ($($file:ident::$Type:ident,)*) => {
        $(
            mod $file;
            pub use $file::*;
        )*

        /// One step, which is applied to the result of the step before.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Step {
            $(
                #[doc = concat!("The step that [`", stringify!($Type), "`] describes.")]
                $Type($Type),
            )*
            /// Apply an effect.
            Effect(Effect),
        }

        /// Returns all forms in which steps can be written, in the order in which the reference documentation lists
        /// the steps.
        pub(crate) fn words() -> impl Iterator<Item = &'static Word> {
            [$($Type::WORDS),*].into_iter().flatten().copied()
        }

        impl Step {
            /// Parses a step from its word and the texts of its arguments.
            ///
            /// # Errors
            /// [`ParseError`] if they are not those of a step, nor those that an effect could have.
            pub(crate) fn read(name: &str, parts: &[String]) -> Result<Self, ParseError> {
                $(
                    if $Type::WORDS[0].name == name {
                        return $Type::read(parts).map(Self::$Type);
                    }
                )*
                Effect::read(name, parts).map(Self::Effect)
            }

            /// Returns the word of the step. The word of an effect is its name.
            #[must_use]
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$Type(_) => $Type::WORDS[0].name,)*
                    Self::Effect(effect) => &effect.name,
                }
            }

            /// Returns the behaviour of the step.
            pub(crate) fn geometry(&self) -> &dyn Geometry {
                match self {
                    $(Self::$Type(step) => step,)*
                    Self::Effect(effect) => effect,
                }
            }
        }
    };
}

steps! {
    original::Original,
    orient::Orient,
    turn::Turn,
    flip::Flip,
    rotate::Rotate,
    crop::Crop,
    fit::Fit,
    cover::Cover,
    exact::Exact,
    focus::Focus,
    blur_faces::BlurFaces,
    trim::Trim,
    pad::Pad,
    canvas::Canvas,
    flatten::Flatten,
    dpr::Dpr,
    shrink::Shrink,
}

impl Step {
    /// Whether the step depends on a measurement that does not decide the size of the result.
    #[must_use]
    pub fn is_to_be_measured(&self) -> bool {
        !self.geometry().needs().is_empty()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        self.geometry().write(f)
    }
}

/// Parses a number of whole pixels.
fn pixels<T: FromStr>(text: &str) -> Result<T, ParseError> {
    text.parse()
        .map_err(|_| ParseError::new(text, "whole pixels"))
}
