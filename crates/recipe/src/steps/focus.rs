//! `focus:30%:40%` and `focus:smart`: set the area that later crops keep in view.

use std::fmt;

use super::{Declared, Geometry};
use crate::choices::Choices;
use crate::resolve::Image;
use crate::{Arg, Facts, Length, Measure, ParseError, Word};

/// Set the area that later crops keep in view, unless they name a gravity. All variants except points need the
/// measurements of [`Rules::measures`](crate::Rules::measures).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Focus {
    /// A point.
    At {
        /// Distance from the left edge.
        x: Length,
        /// Distance from the top edge.
        y: Length,
    },
    /// The area that draws the eye.
    Salient,
    /// Faces or, if there are none, the area that draws the eye.
    Faces,
}

const AT: Word = Word {
    name: "focus",
    args: &[
        Arg::length("x").help("from the left edge"),
        Arg::length("y").help("from the top edge"),
    ],
    help: "the point that later crops keep in view, unless they name a gravity",
    example: "focus:30%:40%",
};

const MEASURED: Word = Word {
    name: "focus",
    args: &[Arg::choice("point", CHOICES.words).help(
        "smart: where edges, colour and skin draw the eye; faces: frontal faces, or as smart where none is found, in \
         builds with the cargo feature of that name",
    )],
    help: "the same, looked for in the source; docs/smart.md says how, and how often it is right",
    example: "focus:smart",
};

const CHOICES: Choices<Focus> = Choices {
    words: &["smart", "faces"],
    values: &[Focus::Salient, Focus::Faces],
};

impl Focus {
    /// Whether this word stands for an area that has to be measured in the source.
    pub(super) fn is_measured(word: &str) -> bool {
        CHOICES.words.contains(&word)
    }
}

impl Declared for Focus {
    const WORDS: &'static [&'static Word] = &[&AT, &MEASURED];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        if let [word] = parts
            && let Ok(focus) = CHOICES.value(word)
        {
            return Ok(focus);
        }
        let [x, y] = AT.texts(parts)?;
        Ok(Self::At {
            x: x.parse()?,
            y: y.parse()?,
        })
    }
}

impl Geometry for Focus {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { x, y } => write!(f, ":{x}:{y}"),
            focus => write!(f, ":{}", CHOICES.word(*focus)),
        }
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        if let Self::At { x, y } = self {
            image.point = (x.of(image.width.into()), y.of(image.height.into()));
        }
        image.focus = Some(*self);
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        (!self.needs().is_empty()).then_some(size)
    }

    fn comes_before_trim(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Measure] {
        match self {
            Self::At { .. } => &[],
            Self::Salient => &[Measure::Salient],
            Self::Faces => &[Measure::Faces, Measure::Salient],
        }
    }
}
