//! Declares `text`, the word of recipes that writes on an image, and its arguments.

use andon_recipe::{Arg, Effect, GRAVITIES, Word};

use crate::ops::blend::BLENDS;
use crate::ops::shadow;

pub(super) const SIZE: Arg = Arg::number("size", 1.0, 10_000.0)
    .unit("px")
    .help("of the letters: a line is 1.2 times as high");

pub(super) const COLOUR: Arg = Arg::colour("colour")
    .default("000000")
    .help("of the letters, which it may make translucent");

pub(super) const GRAVITY: Arg = Arg::choice("gravity", GRAVITIES)
    .default("centre")
    .help("where on the image");

pub(super) const MARGIN: Arg = Arg::number("margin", -10_000.0, 10_000.0)
    .unit("px")
    .default("0")
    .help("between the text and the left or right side, where it lies at one; less than 0: it hangs over");

pub(super) const DOWN: Arg = Arg::number("down", -10_000.0, 10_000.0)
    .after('x')
    .unit("px")
    .default("margin")
    .help("between the text and the upper or lower side, likewise");

pub(super) const WIDTH: Arg = Arg::number("width", 0.0, 10_000.0)
    .unit("px")
    .default("0")
    .help("of the box that the text has to fit into, at which lines are broken; 0: lines end only at %0A");

pub(super) const HEIGHT: Arg = Arg::number("height", 0.0, 10_000.0)
    .after('x')
    .unit("px")
    .default("0")
    .help("of the box; 0: as high as the text");

pub(super) const OVERFLOW: Arg = Arg::choice("overflow", &["wrap", "shrink", "ellipsis", "clip"])
    .default("wrap")
    .help("text that is too long for its box: goes on below it, is made smaller, or is cut off with an ellipsis or without (clip)");

pub(super) const ALIGN: Arg = Arg::choice(
    "align",
    &[
        "gravity", "left", "middle", "right", "start", "end", "justify",
    ],
)
.default("gravity")
.help("of the lines in the box, or in the longest line; start is the right for Arabic and Hebrew");

pub(super) const WRITING: Arg = Arg::choice("writing", &["horizontal", "vertical"])
    .default("horizontal")
    .help("vertical: columns from right to left, as in Japanese");

pub(super) const FONT: Arg = Arg::text("font", "serif,bold")
    .default("sans-serif")
    .help("families and style, with commas: Noto%20Serif,bold,italic; serif, monospace and so on are those of [fonts]");

pub(super) const BREAK: Arg = Arg::choice("break", &["words", "characters"])
    .named()
    .default("words")
    .help("where lines are broken: between words, or between any two characters");

pub(super) const CUT: Arg = Arg::choice("cut", &["end", "start", "middle"])
    .named()
    .default("end")
    .help("what is left out of a text that is cut off");

pub(super) const TRACKING: Arg = Arg::number("tracking", -1000.0, 1000.0)
    .named()
    .unit("px")
    .default("0")
    .help("additional distance between characters, but not between those that join, as in Arabic");

pub(super) const LEADING: Arg = Arg::number("leading", -1000.0, 1000.0)
    .named()
    .unit("px")
    .default("0")
    .help("additional distance between lines");

pub(super) const OUTLINE: Arg = Arg::number("outline", 0.0, 100.0)
    .named()
    .unit("px")
    .default("0")
    .help("how far an outline reaches beyond the letters");

pub(super) const OUTLINE_COLOUR: Arg = Arg::colour("colour")
    .after('x')
    .default("ffffff")
    .help("of the outline");

pub(super) const TURN: Arg = Arg::number("turn", -360.0, 360.0)
    .named()
    .unit("degrees clockwise")
    .default("0")
    .help("by which the lines are turned");

pub(super) const TURN_ABOUT: Arg = Arg::choice("about", &["side", "middle"])
    .after('x')
    .default("side")
    .help("side: what the turned lines cover lies where the gravity says; middle: their middle stays where it was");

pub(super) const TILE: Arg = Arg::number("tile", -1000.0, 10_000.0)
    .named()
    .unit("px")
    .default("")
    .help("repeats the text all over the image, with this distance from one copy to the next; then gravity and margin do not count");

pub(super) const TILE_DOWN: Arg = Arg::number("down", -1000.0, 10_000.0)
    .after('x')
    .unit("px")
    .default("0")
    .help("distance from one row of copies to the next");

pub(super) const OPACITY: Arg = Arg::number("opacity", 0.0, 100.0)
    .named()
    .unit("per cent")
    .default("100")
    .help("of letters, outline and shadow together");

pub(super) const BLEND: Arg = Arg::choice("blend", BLENDS)
    .named()
    .default("normal")
    .help("how the colours of the text act on those below");

pub(super) const WORD: Word = Word {
    name: Effect::TEXT,
    args: &[
        Arg::text("text", "Hello%20world")
            .help("%0A begins a new line; a comma or colon is %2C or %3A, in a URL %252C or %253A"),
        SIZE,
        COLOUR,
        GRAVITY,
        MARGIN,
        DOWN,
        WIDTH,
        HEIGHT,
        OVERFLOW,
        ALIGN,
        WRITING,
        FONT,
        BREAK,
        CUT,
        TRACKING,
        LEADING,
        OUTLINE,
        OUTLINE_COLOUR,
        Arg {
            name: "shadow",
            default: Some(""),
            ..shadow::ARGS[0].named()
        },
        shadow::ARGS[1],
        shadow::ARGS[2],
        shadow::ARGS[3],
        TURN,
        TURN_ABOUT,
        TILE,
        TILE_DOWN,
        OPACITY,
        BLEND,
    ],
    help: "writes on the image; what does not fit on it is cut off",
    example: "text:Otter:24:ffffffc0:southeast:10",
};

/// Index of the font among the arguments of `text`. The arguments after it are given by name, as in `turn=30`.
pub(super) const FONT_AT: usize = 11;
