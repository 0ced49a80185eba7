//! A recipe, and how its result is written.

use std::collections::BTreeMap;

use crate::args::Word;
use crate::options;
use crate::step::{Colour, Effect, Step};
use crate::text::ParseError;

/// Everything that is wanted of one image. The default changes nothing but the encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// How the result is written.
    pub output: Output,
}

impl Recipe {
    /// The most steps that a text may have: each may cost as much as an image.
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

    /// The files that its effects, and their own recipes, compose with, by name.
    #[must_use]
    pub fn materials(&self) -> Vec<String> {
        let mut names = Vec::new();
        for effect in self.effects() {
            effect.add_materials(&mut names);
        }
        names
    }

    /// Its steps, those of its overlays' recipes included.
    pub(crate) fn steps_in_all(&self) -> usize {
        let of = |step: &Step| match step {
            Step::Effect(effect) => effect.steps(),
            _ => 1,
        };
        self.steps.iter().map(of).sum()
    }
}

/// These steps, and nothing said of how the result is written.
impl From<Vec<Step>> for Recipe {
    fn from(steps: Vec<Step>) -> Self {
        Self {
            steps,
            output: Output::default(),
        }
    }
}

impl Recipe {
    /// These steps on the pixels as they are stored, turned upright only where one of them says so.
    #[must_use]
    pub fn of_stored(steps: Vec<Step>, output: Output) -> Self {
        let stored_turn = match output.stored_turn {
            StoredTurn::Applied => StoredTurn::Kept,
            said => said,
        };
        let output = Output {
            stored_turn,
            ..output
        };
        Self { steps, output }
    }
}

/// No steps.
impl From<Output> for Recipe {
    fn from(output: Output) -> Self {
        Self {
            steps: Vec::new(),
            output,
        }
    }
}

/// The name of an image format: lower-case letters and digits, such as `jpeg` or `webp`.
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

/// Chroma subsampling of a written image.
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

/// In which space the colours of a result are, and how it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Display P3 stays, and what is wider becomes it; everything else becomes sRGB.
    #[default]
    Unsaid,
    /// sRGB, without a tag.
    Srgb,
    /// Display P3.
    P3,
    /// The source's own, with its profile.
    Keep,
    /// The source's own numbers, without its profile.
    Drop,
    /// The source's own numbers, without its profile; CMYK becomes RGB by a plain formula.
    Ignore,
}

impl Profile {
    pub(crate) const SAID: [Self; 5] = [Self::Srgb, Self::P3, Self::Keep, Self::Drop, Self::Ignore];
}

/// What is kept of the metadata beside the pixels: EXIF, IPTC and XMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// Whose image it is, and which way is up.
    #[default]
    Copyright,
    /// No metadata.
    None,
    /// Everything but the place where it was taken.
    Public,
    /// Everything, the place where it was taken too.
    All,
}

impl Kept {
    pub(crate) const SAID: [Self; 4] = [Self::None, Self::Copyright, Self::Public, Self::All];
}

/// What becomes of the turn that a source is stored with, as EXIF or its container says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredTurn {
    /// The pixels are turned before anything else, unless an [`Step::Orient`] says when.
    #[default]
    Applied,
    /// Steps act on the pixels as they are stored. The result says the turn where its format can and browsers read
    /// it there; elsewhere its pixels are turned last.
    Kept,
    /// Steps act on the pixels as they are stored, which are never turned: the turn is metadata as any other, which [`Kept::All`]
    /// keeps.
    Verbatim,
}

impl StoredTurn {
    pub(crate) const SAID: [Self; 2] = [Self::Kept, Self::Verbatim];
}

/// What an encoder aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A quality of 1 to 100.
    Quality(u8),
    /// The largest quality whose file is at most this long, in bytes.
    Bytes(u64),
    /// The largest quality whose file is at most this long, in bytes; where no file is so short, the shortest.
    BytesOrShortest(u64),
    /// The smallest file that scores at least this much of 100 by a perceptual metric.
    Score(u8),
}

/// How the result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What becomes of the turn that the source is stored with.
    pub stored_turn: StoredTurn,
    /// What shows through, where the format keeps no opacity.
    pub background: Background,
    /// The space of its colours.
    pub profile: Profile,
    /// The metadata that is kept.
    pub metadata: Kept,
    /// The gain map is left out, which makes a photograph brighter on HDR screens.
    pub drops_gain_map: bool,
    /// Scaled in linear light.
    pub linear: bool,
    /// The format; absent: the source's own.
    pub format: Option<FormatName>,
    /// The format of an image that moves instead, if another.
    pub moving: Option<FormatName>,
    /// What the encoder aims at. Absent: the source's own quality where it can be told, else the format's default.
    pub goal: Option<Goal>,
    /// Nothing is lost in encoding.
    pub lossless: bool,
    /// Bits per sample: 8, 10, 12 or 16; absent: the source's own, as far as the format holds them.
    pub depth: Option<u8>,
    /// Progressive JPEG, Adam7 PNG, interlaced GIF.
    pub progressive: bool,
    /// Chroma subsampling; absent: a JPEG source's own, else by quality.
    pub chroma: Option<Chroma>,
    /// Encoder effort, 0 (fast) to 9 (small); absent: the format's fast default.
    pub effort: Option<u8>,
    /// The format's own options, by name; a value may be empty.
    pub options: BTreeMap<String, String>,
    /// The number of the frame to show as a still image, from 1. Absent: an image that moves goes on moving where
    /// the format can say so, and is shown by its first frame elsewhere.
    pub frame: Option<u32>,
    /// An image that moves ends after so many frames, at least 1.
    pub most_frames: Option<u32>,
}

impl Output {
    /// The format that says "you choose", by the `Accept` header: `as:auto`.
    pub const AUTO: &str = "auto";

    /// The format of an image that moves that says "as it was": `moving:source`.
    pub const SOURCE: &str = "source";

    /// Does it leave the format to the client?
    #[must_use]
    pub fn is_open(&self) -> bool {
        let format = self.format.as_ref();
        format.is_some_and(|name| name.as_str() == Self::AUTO)
    }

    /// The name of the format, which is the source's own where none is asked for.
    #[must_use]
    pub fn format_or<'a>(&'a self, source: &'a str) -> &'a str {
        self.format.as_ref().map_or(source, FormatName::as_str)
    }

    /// Takes "you choose" for the source's own format: there is nobody to ask.
    pub fn without_accept(&mut self) {
        if self.is_open() {
            self.format = None;
        }
    }

    /// Settles which of its formats holds, for an image that moves or not.
    pub fn settle_moving(&mut self, moves: bool) {
        if let Some(moving) = self.moving.take()
            && moves
        {
            self.format = Some(moving).filter(|name| name.as_str() != Self::SOURCE);
        }
    }

    /// What it says in words that formats share, with their values, in the order in which they are printed.
    pub fn shared(&self) -> impl Iterator<Item = (&'static Word, String)> {
        let flag = |on: bool, word| on.then(|| (word, String::new()));
        let goal = self.goal.map(|goal| match goal {
            Goal::Quality(quality) => (&options::QUALITY, quality.to_string()),
            Goal::Bytes(bytes) => (&options::MAX, bytes.to_string()),
            Goal::BytesOrShortest(bytes) => {
                (&options::MAX, format!("{bytes}:{}", options::SHORTEST))
            }
            Goal::Score(score) => (&options::SCORE, score.to_string()),
        });
        let said = [
            goal,
            flag(self.lossless, &options::LOSSLESS),
            self.depth.map(|bits| (&options::DEPTH, bits.to_string())),
            flag(self.progressive, &options::PROGRESSIVE),
            self.chroma
                .map(|chroma| (&options::CHROMA, chroma.to_string())),
            self.effort
                .map(|effort| (&options::EFFORT, effort.to_string())),
        ];
        said.into_iter().flatten()
    }

    /// Leaves out what only some formats have a use for (quality, progressive order, subsampling and effort), as
    /// far as it is not among `known`: for a format that nobody asked for by name.
    pub fn leave_out_unknown(&mut self, known: &[&Word]) {
        let unknown = |word: &Word| !known.iter().any(|known| known.name == word.name);
        if matches!(self.goal, Some(Goal::Quality(_))) && unknown(&options::QUALITY) {
            self.goal = None;
        }
        self.progressive &= !unknown(&options::PROGRESSIVE);
        self.chroma = self.chroma.filter(|_| !unknown(&options::CHROMA));
        self.effort = self.effort.filter(|_| !unknown(&options::EFFORT));
    }
}
