//! Recipes, and how their results are written.

use std::collections::BTreeMap;

use crate::args::Word;
use crate::options;
use crate::step::{Colour, Effect, Step};
use crate::text::ParseError;

/// Everything that a request asks of one image. The default changes nothing but the encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// Steps to apply, in order.
    pub steps: Vec<Step>,
    /// How the result is written.
    pub output: Output,
}

impl Recipe {
    /// Most steps that a text may have, because each may cost as much as a whole image.
    pub const MOST_STEPS: usize = 64;

    /// Returns the recipe that serves a file's own bytes.
    #[must_use]
    pub fn original() -> Self {
        Self {
            steps: vec![Step::Original],
            output: Output::default(),
        }
    }

    /// Whether the answer is the source's own bytes, whatever they are.
    #[must_use]
    pub fn is_original(&self) -> bool {
        self.steps.contains(&Step::Original)
    }

    /// Returns the effects among the steps, in order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.steps.iter().filter_map(|step| match step {
            Step::Effect(effect) => Some(effect),
            _ => None,
        })
    }

    /// Returns the names of the files that the effects, and the recipes of their materials, compose with.
    #[must_use]
    pub fn materials(&self) -> Vec<String> {
        let mut names = Vec::new();
        for effect in self.effects() {
            effect.add_materials(&mut names);
        }
        names
    }

    /// Returns the number of steps, including those in the recipes of overlays.
    pub(crate) fn steps_in_all(&self) -> usize {
        let of = |step: &Step| match step {
            Step::Effect(effect) => effect.steps(),
            _ => 1,
        };
        self.steps.iter().map(of).sum()
    }
}

/// Creates a recipe of these steps with the default output.
impl From<Vec<Step>> for Recipe {
    fn from(steps: Vec<Step>) -> Self {
        Self {
            steps,
            output: Output::default(),
        }
    }
}

impl Recipe {
    /// Creates a recipe whose steps act on the pixels as they are stored, without turning them upright first. A step
    /// may still do so.
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

/// Creates a recipe without steps.
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
    /// Creates a format name of 1 to 16 lower-case letters and digits.
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

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Chroma subsampling of a written image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chroma {
    /// 4:4:4: no subsampling.
    C444,
    /// 4:2:2: half the resolution horizontally.
    C422,
    /// 4:2:0: half the resolution in both directions.
    C420,
    /// 4:4:0: half the resolution vertically.
    C440,
    /// 4:1:1: a quarter of the resolution horizontally.
    C411,
}

/// What shows through the transparent parts of a result whose format stores no opacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// White, unless the server is configured otherwise.
    #[default]
    Unsaid,
    /// This colour; its alpha has no effect.
    Colour(Colour),
    /// Nothing: opacity is dropped, and colours that it hid become visible, as in ngx_small_light.
    Dropped,
}

impl Background {
    /// Returns the background colour, if there is one. It is white if none was given.
    #[must_use]
    pub fn colour(self) -> Option<Colour> {
        match self {
            Self::Unsaid => Some(Colour::WHITE),
            Self::Colour(colour) => Some(colour),
            Self::Dropped => None,
        }
    }
}

/// The colour space of a result, and how the result declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Display P3 stays, wider spaces become Display P3, and everything else becomes sRGB.
    #[default]
    Unsaid,
    /// sRGB, without a tag.
    Srgb,
    /// Display P3.
    P3,
    /// The source's own colour space, with its profile.
    Keep,
    /// The source's own sample values, without its profile.
    Drop,
    /// The source's own sample values, without its profile. CMYK becomes RGB by a plain formula.
    Ignore,
}

impl Profile {
    pub(crate) const SAID: [Self; 5] = [Self::Srgb, Self::P3, Self::Keep, Self::Drop, Self::Ignore];
}

/// What is kept of the metadata besides the pixels: EXIF, IPTC and XMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// Author, copyright and licence, whether the image was made by AI, and which way is up.
    #[default]
    Copyright,
    /// No metadata.
    None,
    /// Everything except the place where the image was taken.
    Public,
    /// Everything, including the place where the image was taken.
    All,
}

impl Kept {
    pub(crate) const SAID: [Self; 4] = [Self::None, Self::Copyright, Self::Public, Self::All];
}

/// What happens to the turn that a source is stored with in EXIF or its container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredTurn {
    /// The pixels are turned before anything else, unless a [`Step::Orient`] says when.
    #[default]
    Applied,
    /// Steps act on the pixels as they are stored. The result carries the turn as a tag if its format can and browsers
    /// read it there; otherwise its pixels are turned last.
    Kept,
    /// Steps act on the pixels as they are stored, which are never turned. The turn is treated like any other metadata,
    /// which [`Kept::All`] keeps.
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
    /// The highest quality whose file has at most this many bytes.
    Bytes(u64),
    /// The highest quality whose file has at most this many bytes; if no file is short enough, the shortest one.
    BytesOrShortest(u64),
    /// The smallest file whose perceptual score is at least this much of 100.
    Score(u8),
}

/// How a result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What happens to the turn that the source is stored with.
    pub stored_turn: StoredTurn,
    /// What shows through transparent parts if the format stores no opacity.
    pub background: Background,
    /// Colour space of the result.
    pub profile: Profile,
    /// Metadata that is kept.
    pub metadata: Kept,
    /// Whether the gain map, which makes a photograph brighter on HDR screens, is left out.
    pub drops_gain_map: bool,
    /// Whether the image is scaled in linear light.
    pub linear: bool,
    /// Format of the result; `None` for the source's own.
    pub format: Option<FormatName>,
    /// Format of the result if the source is an animation, in place of `format`.
    pub moving: Option<FormatName>,
    /// What the encoder aims at. If `None`, the source's own quality if it can be told, otherwise the format's default.
    pub goal: Option<Goal>,
    /// Whether nothing may be lost in encoding.
    pub lossless: bool,
    /// Bits per sample: 8, 10, 12 or 16. If `None`, the source's own, as far as the format holds them.
    pub depth: Option<u8>,
    /// Whether to write progressive JPEG, Adam7 PNG or interlaced GIF.
    pub progressive: bool,
    /// Chroma subsampling. If `None`, a JPEG source's own, otherwise one that depends on the quality.
    pub chroma: Option<Chroma>,
    /// Encoder effort, 0 (fast) to 9 (small). If `None`, the format's fast default.
    pub effort: Option<u8>,
    /// Options specific to the format, by name. A value may be empty.
    pub options: BTreeMap<String, String>,
    /// Number of the frame to show as a still image, from 1. If `None`, an animation stays one where the format can
    /// hold it, and is shown by its first frame elsewhere.
    pub frame: Option<u32>,
    /// Number of frames after which an animation ends, at least 1.
    pub most_frames: Option<u32>,
}

impl Output {
    /// Format name that leaves the choice to the server by the `Accept` header: `as:auto`.
    pub const AUTO: &str = "auto";

    /// Format name that keeps the source's own format for animations: `moving:source`.
    pub const SOURCE: &str = "source";

    /// Whether the format is left to be chosen by the client's `Accept` header.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let format = self.format.as_ref();
        format.is_some_and(|name| name.as_str() == Self::AUTO)
    }

    /// Returns the name of the requested format, or `source` if none is requested.
    #[must_use]
    pub fn format_or<'a>(&'a self, source: &'a str) -> &'a str {
        self.format.as_ref().map_or(source, FormatName::as_str)
    }

    /// Replaces an automatic format by the source's own, because there is no `Accept` header to choose by.
    pub fn without_accept(&mut self) {
        if self.is_open() {
            self.format = None;
        }
    }

    /// Settles whether `format` or `moving` applies: `moves` tells whether the image is an animation.
    pub fn settle_moving(&mut self, moves: bool) {
        if let Some(moving) = self.moving.take()
            && moves
        {
            self.format = Some(moving).filter(|name| name.as_str() != Self::SOURCE);
        }
    }

    /// Returns the options that formats share, each as its word and value, in the order in which they are printed.
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

    /// Drops options that only some formats use (quality, progressive order, subsampling and effort) if they are not
    /// among `known`. This is for a format that was not asked for by name.
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
