//! A recipe, and how its result is written.

use crate::step::{Colour, Effect, Step};
use crate::text::ParseError;

/// Everything that is wanted of one picture. The default changes nothing but the encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// How the result is written.
    pub output: Output,
}

impl Recipe {
    /// The most steps that a text may have: each may cost as much as a picture.
    pub const MOST_STEPS: usize = 64;

    /// The recipe of a plain file: its own bytes.
    #[must_use]
    pub fn original() -> Self {
        Self {
            steps: vec![Step::Original],
            output: Output::default(),
        }
    }

    /// Is the answer the source's own bytes, whatever they are?
    #[must_use]
    pub fn is_original(&self) -> bool {
        self.steps.contains(&Step::Original)
    }

    /// Its effects, in their order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.steps.iter().filter_map(|step| match step {
            Step::Effect(effect) => Some(effect),
            _ => None,
        })
    }

    /// The files that its `over` effects compose with, by name.
    pub fn materials(&self) -> impl Iterator<Item = &str> {
        self.effects()
            .filter(|effect| effect.name == Effect::OVER)
            .filter_map(|effect| effect.args.first())
            .map(String::as_str)
    }
}

/// The name of a picture format: lower-case letters and digits, such as `jpeg` or `webp`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormatName(pub(crate) String);

impl FormatName {
    /// A name of 1 to 16 lower-case letters and digits.
    ///
    /// # Errors
    /// [`ParseError`] for any other text.
    pub fn new(name: &str) -> Result<Self, ParseError> {
        let word = (1..=16).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if word {
            Ok(Self(name.to_owned()))
        } else {
            Err(ParseError::new(
                name,
                "a format's name in lower-case letters and digits such as `webp`",
            ))
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Chroma subsampling of a written picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chroma {
    /// 4:4:4, none.
    C444,
    /// 4:2:2, half horizontally.
    C422,
    /// 4:2:0, half both ways.
    C420,
    /// 4:4:0, half vertically.
    C440,
    /// 4:1:1, a quarter horizontally.
    C411,
}

/// What shows through a result that is not opaque, in a format that keeps no opacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// White, unless the server is configured otherwise.
    #[default]
    Unsaid,
    /// This colour; its alpha has no effect.
    Colour(Colour),
    /// Nothing: opacity is dropped, and hidden colours show, as in ngx_small_light.
    Dropped,
}

impl Background {
    /// The colour, if there is one.
    #[must_use]
    pub fn colour(self) -> Option<Colour> {
        match self {
            Self::Unsaid => Some(Colour::WHITE),
            Self::Colour(colour) => Some(colour),
            Self::Dropped => None,
        }
    }
}

/// How the result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What shows through, where the format keeps no opacity.
    pub background: Background,
    /// The format; absent: the source's own.
    pub format: Option<FormatName>,
    /// 1 to 1000 (PNG counts zlib level × 10 + filter; other formats act on 100 at most). Absent: the
    /// source's own quality where it can be told, else the format's default.
    pub quality: Option<u16>,
    /// Progressive JPEG, Adam7 PNG, interlaced GIF.
    pub progressive: bool,
    /// Chroma subsampling; absent: a JPEG source's own, else by quality.
    pub chroma: Option<Chroma>,
    /// The number of the frame to show as a still picture, from 1. Absent: a picture that moves goes on moving where
    /// the format can say so, and is shown by its first frame elsewhere.
    pub frame: Option<u32>,
    /// Encoder effort, 0 (fast) to 9 (small); absent: the format's fast default.
    pub effort: Option<u8>,
}
