//! Words for output options that tell an encoder how to write. Formats share them: each codec lists the ones that it
//! takes, with a declaration of its own where it accepts less than what is declared here.

use crate::args::{Arg, Word};
use crate::words::word;

/// All output options that formats share.
pub const ALL: &[&Word] = &[
    &QUALITY,
    &MAX,
    &SCORE,
    &LOSSLESS,
    &DEPTH,
    &PROGRESSIVE,
    &CHROMA,
    &EFFORT,
];

/// The word `q`: quality to write at.
pub const QUALITY: Word = word(
    "q",
    &[Arg::whole("quality", 1, 100).help("1: smallest file; 100: best image")],
    "the quality of the result; absent: the source's own where it is known",
    "q:80",
);

/// The word `max`: most bytes that the file may have.
pub const MAX: Word = word(
    "max",
    &[
        Arg::whole("bytes", 1, 1 << 32)
            .unit("bytes")
            .help("the most that the file may take"),
        Arg::choice("beyond", &["refused", SHORTEST])
            .default("refused")
            .help("what comes of an image that is longer even at quality 1: an error, or the shortest file"),
    ],
    "the largest quality whose file is short enough, found by encoding up to 7 times; instead of q",
    "max:60000",
);

/// Second argument of `max`, as in `max:60000:shortest`: if no file is short enough, the shortest one is written.
pub(crate) const SHORTEST: &str = "shortest";

/// The word `score`: lowest perceptual score (SSIMULACRA2) that the file may have.
pub const SCORE: Word = word(
    "score",
    &[Arg::whole("score", 1, 100).help("100: no visible difference")],
    "the smallest file that looks this good (SSIMULACRA2), found by encoding up to 4 times; instead of q; q:auto means \
     score:75",
    "score:80",
);

/// The word `lossless`: nothing is lost in encoding.
pub const LOSSLESS: Word = word(
    "lossless",
    &[],
    "nothing is lost in encoding; without q, max and score",
    "lossless",
);

/// The word `depth`: bits per sample.
pub const DEPTH: Word = word(
    "depth",
    &[Arg::choice("bits", &["8", "10", "12", "16"]).help("bits per sample")],
    "the depth of the result; absent: the source's own, as far as the format holds it",
    "depth:8",
);

/// The word `progressive`: an order of storage that shows the whole image early.
pub const PROGRESSIVE: Word = word(
    "progressive",
    &[],
    "progressive JPEG, Adam7 PNG, interlaced GIF",
    "progressive",
);

/// The word `chroma`: chroma subsampling.
pub const CHROMA: Word = word(
    "chroma",
    &[Arg::choice("subsampling", &["444", "422", "420", "440", "411"]).help("4:4:4 and so on")],
    "chroma subsampling of the result; absent: a JPEG source's own, otherwise by quality",
    "chroma:420",
);

/// The word `effort`: how hard the encoder tries.
pub const EFFORT: Word = word(
    "effort",
    &[Arg::whole("effort", 0, 9).help("0: fast; 9: small")],
    "how hard the encoder tries; absent: the format's fast default",
    "effort:7",
);
