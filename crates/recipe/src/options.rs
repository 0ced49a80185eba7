//! Words for output options that control the encoder. Formats share them: each codec lists the options that it
//! supports, with a declaration of its own if it accepts fewer values than declared here.

use std::fmt;

use crate::choices::Choices;
use crate::output::{Output, Setting, flag};
use crate::{Arg, ParseError, Word};

/// All output options that formats share.
pub const ALL: &[&Word] = &{
    let mut words = [&QUALITY; SETTINGS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = SETTINGS[at].word;
        at += 1;
    }
    words
};

/// The settings of the options that formats share, in the order in which they are printed.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        word: &QUALITY,
        read: |output, parts| match parts {
            [auto] if auto == "auto" => aim(output, &QUALITY, Goal::Score(AUTO_SCORE)),
            parts => aim(output, &QUALITY, Goal::Quality(QUALITY.whole(parts)?)),
        },
        write: |output| match output.goal? {
            Goal::Quality(quality) => Some(quality.to_string()),
            _ => None,
        },
    },
    Setting {
        word: &MAX,
        read: |output, parts| {
            let [bytes, fallback] = MAX.texts(parts)?;
            let bytes = MAX.args[0].read_whole(bytes)?.unsigned_abs();
            let goal = match fallback {
                SHORTEST => Goal::BytesOrShortest(bytes),
                _ => Goal::Bytes(bytes),
            };
            aim(output, &MAX, goal)
        },
        write: |output| match output.goal? {
            Goal::Bytes(bytes) => Some(bytes.to_string()),
            Goal::BytesOrShortest(bytes) => Some(format!("{bytes}:{SHORTEST}")),
            _ => None,
        },
    },
    Setting {
        word: &SCORE,
        read: |output, parts| aim(output, &SCORE, Goal::Score(SCORE.whole(parts)?)),
        write: |output| match output.goal? {
            Goal::Score(score) => Some(score.to_string()),
            _ => None,
        },
    },
    Setting {
        word: &LOSSLESS,
        read: |output, parts| LOSSLESS.texts(parts).map(|[]| output.lossless = true),
        write: |output| flag(output.lossless),
    },
    Setting {
        word: &DEPTH,
        read: |output, parts| {
            DEPTH
                .texts(parts)
                .map(|[bits]| output.depth = bits.parse().ok())
        },
        write: |output| output.depth.map(|bits| bits.to_string()),
    },
    Setting {
        word: &PROGRESSIVE,
        read: |output, parts| PROGRESSIVE.texts(parts).map(|[]| output.progressive = true),
        write: |output| flag(output.progressive),
    },
    Setting {
        word: &CHROMA,
        read: |output, parts| {
            let chroma = Chroma::CHOICES.read(&CHROMA, parts);
            chroma.map(|chroma| output.chroma = Some(chroma))
        },
        write: |output| output.chroma.map(|chroma| chroma.to_string()),
    },
    Setting {
        word: &EFFORT,
        read: |output, parts| {
            EFFORT
                .whole(parts)
                .map(|effort| output.effort = Some(effort))
        },
        write: |output| output.effort.map(|effort| effort.to_string()),
    },
];

/// The goal of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A quality of 1 to 100.
    Quality(u8),
    /// The highest quality whose file has at most this many bytes.
    Bytes(u64),
    /// The highest quality whose file has at most this many bytes; if no file is short enough, the shortest one.
    BytesOrShortest(u64),
    /// The smallest file whose perceptual score is at least this, on a scale up to 100.
    Score(u8),
}

/// The perceptual score that `q:auto` requests, which is good enough for a web page.
const AUTO_SCORE: u8 = 75;

/// Sets the goal of the encoder. There can be only one, so a second goal is an error.
fn aim(output: &mut Output, word: &Word, goal: Goal) -> Result<(), ParseError> {
    match output.goal.replace(goal) {
        Some(_) => Err(ParseError::new(
            word.name,
            "one of `q`, `max` and `score`, once",
        )),
        None => Ok(()),
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

impl Chroma {
    /// The digits of every subsampling, as recipes write them.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["444", "422", "420", "440", "411"],
        values: &[Self::C444, Self::C422, Self::C420, Self::C440, Self::C411],
    };
}

impl fmt::Display for Chroma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::CHOICES.word(*self))
    }
}

/// The word `q`: quality to write at.
pub const QUALITY: Word = Word {
    name: "q",
    args: &[Arg::whole("quality", 1, 100).help("1: smallest file; 100: best image")],
    help: "the quality of the result; absent: the source's own where it is known",
    example: "q:80",
};

/// The word `max`: most bytes that the file may have.
pub const MAX: Word = Word {
    name: "max",
    args: &[
        Arg::whole("bytes", 1, 1 << 32)
            .unit("bytes")
            .help("the most that the file may take"),
        Arg::choice("beyond", &["refused", SHORTEST])
            .default("refused")
            .help("what comes of an image that is longer even at quality 1: an error, or the shortest file"),
    ],
    help: "the largest quality whose file is short enough, found by encoding up to 7 times; instead of q",
    example: "max:60000",
};

/// Second argument of `max`, as in `max:60000:shortest`: if no file is short enough, the shortest one is written.
pub(crate) const SHORTEST: &str = "shortest";

/// The word `score`: lowest perceptual score (SSIMULACRA2) that the file may have.
pub const SCORE: Word = Word {
    name: "score",
    args: &[Arg::whole("score", 1, 100).help("100: no visible difference")],
    help: "the smallest file that looks this good (SSIMULACRA2), found by encoding up to 4 times; instead of q; q:auto means \
     score:75",
    example: "score:80",
};

/// The word `lossless`: nothing is lost in encoding.
pub const LOSSLESS: Word = Word {
    name: "lossless",
    args: &[],
    help: "nothing is lost in encoding; without q, max and score",
    example: "lossless",
};

/// The word `depth`: bits per sample.
pub const DEPTH: Word = Word {
    name: "depth",
    args: &[Arg::choice("bits", &["8", "10", "12", "16"]).help("bits per sample")],
    help: "the depth of the result; absent: the source's own, as far as the format holds it",
    example: "depth:8",
};

/// The word `progressive`: an order of storage that shows the whole image early.
pub const PROGRESSIVE: Word = Word {
    name: "progressive",
    args: &[],
    help: "progressive JPEG, Adam7 PNG, interlaced GIF",
    example: "progressive",
};

/// The word `chroma`: chroma subsampling.
pub const CHROMA: Word = Word {
    name: "chroma",
    args: &[Arg::choice("subsampling", Chroma::CHOICES.words).help("4:4:4 and so on")],
    help: "chroma subsampling of the result; absent: a JPEG source's own, otherwise by quality",
    example: "chroma:420",
};

/// The word `effort`: how hard the encoder tries.
pub const EFFORT: Word = Word {
    name: "effort",
    args: &[Arg::whole("effort", 0, 9).help("0: fast; 9: small")],
    help: "how hard the encoder tries; absent: the format's fast default",
    example: "effort:7",
};
