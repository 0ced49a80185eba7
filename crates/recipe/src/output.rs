//! Output settings, which control how results are written, and their words.

mod content;
mod format;
mod frames;
mod with;

use std::collections::BTreeMap;

use crate::options::{self, Chroma, Goal};
use crate::{ParseError, Word};

pub use content::{Background, Kept, Profile, StoredTurn};
pub use format::FormatName;
pub(crate) use with::WITH;

/// Settings that control how a result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What happens to the orientation that the source is stored with.
    pub stored_turn: StoredTurn,
    /// The background of transparent parts if the format stores no opacity.
    pub background: Background,
    /// Colour space of the result.
    pub profile: Profile,
    /// Metadata to keep.
    pub metadata: Kept,
    /// Whether the gain map, which makes an image brighter on HDR screens, is left out.
    pub drops_gain_map: bool,
    /// Whether the image is scaled in linear light.
    pub linear: bool,
    /// Format of the result; `None` for the source's own.
    pub format: Option<FormatName>,
    /// Format of the result if the source is an animation, in place of `format`.
    pub moving: Option<FormatName>,
    /// What the encoder aims at. If `None`, the source's own quality if it is known, otherwise the format's default.
    pub goal: Option<Goal>,
    /// Whether nothing may be lost in encoding.
    pub lossless: bool,
    /// Bits per sample: 8, 10, 12 or 16. If `None`, those of the source, as far as the format supports them.
    pub depth: Option<u8>,
    /// Whether to write a progressive JPEG, an Adam7 PNG or an interlaced GIF.
    pub progressive: bool,
    /// Chroma subsampling. If `None`, that of a JPEG source, otherwise one that depends on the quality.
    pub chroma: Option<Chroma>,
    /// Encoder effort, 0 (fast) to 9 (small). If `None`, the format's fast default.
    pub effort: Option<u8>,
    /// Options specific to the format, by name. A value may be empty.
    pub options: BTreeMap<String, String>,
    /// Number of the frame to show as a still image, from 1. If `None`, an animation stays an animation if the format
    /// supports them; otherwise its first frame is written.
    pub frame: Option<u32>,
    /// Number of frames after which an animation ends, at least 1; `None` for all frames.
    pub most_frames: Option<u32>,
}

impl Output {
    /// Format name that lets the server choose by the `Accept` header: `as:auto`.
    pub const AUTO: &str = "auto";

    /// Format name that keeps the source's own format for animations: `moving:source`.
    pub const SOURCE: &str = "source";

    /// Whether the server chooses the format by the client's `Accept` header.
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

    /// Replaces an automatic format by the source's own. For callers without an `Accept` header.
    pub fn without_accept(&mut self) {
        if self.is_open() {
            self.format = None;
        }
    }

    /// Replaces `format` by `moving` if the image is an animation (`moves`) and `moving` is set, and removes `moving`.
    pub fn settle_moving(&mut self, moves: bool) {
        if let Some(moving) = self.moving.take()
            && moves
        {
            self.format = Some(moving).filter(|name| name.as_str() != Self::SOURCE);
        }
    }

    /// Returns the options that formats share, each as its word and value, in the order in which they are printed.
    pub fn shared(&self) -> impl Iterator<Item = (&'static Word, String)> {
        let value = |setting: &'static Setting| Some((setting.word, (setting.write)(self)?));
        options::SETTINGS.iter().filter_map(value)
    }

    /// Returns every setting that is not its default, as its word and the text of its arguments, in the order in which
    /// they are printed.
    pub fn words(&self) -> impl Iterator<Item = (&'static str, String)> {
        settings().filter_map(|setting| Some((setting.word.name, (setting.write)(self)?)))
    }

    /// Drops options that only some formats use (quality, progressive order, subsampling and effort) if they are not
    /// among `known`. This is for a format that the request has not named.
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

/// A word that controls how results are written: its declaration, and how its setting is parsed and printed.
pub(crate) struct Setting {
    /// The declaration of the word.
    pub(crate) word: &'static Word,
    /// Sets the word's setting from the texts of its arguments.
    pub(crate) read: fn(&mut Output, &[String]) -> Result<(), ParseError>,
    /// Returns the text of the word's arguments, which may be empty; `None` for the default setting, which is not
    /// printed.
    pub(crate) write: fn(&Output) -> Option<String>,
}

/// Returns all words that control how results are written, in the order in which they are printed.
pub(crate) fn settings() -> impl Iterator<Item = &'static Setting> {
    let groups = [
        content::SETTINGS,
        format::SETTINGS,
        options::SETTINGS,
        with::SETTINGS,
        frames::SETTINGS,
    ];
    groups.into_iter().flatten()
}

/// Returns the printed arguments of an option that takes none, such as `lossless`: an empty text if the option is set,
/// otherwise `None`.
pub(crate) fn flag(on: bool) -> Option<String> {
    on.then(String::new)
}
