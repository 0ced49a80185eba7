//! Which frames of an animation are written.

use super::Setting;
use crate::{Arg, Word};

/// Words for the frames of an animation, in the order in which they are printed.
pub(super) const SETTINGS: &[Setting] = &[FRAME, FRAMES];

const FRAME: Setting = Setting {
    word: &Word {
        name: "frame",
        args: &[Arg::whole("number", 1, 1_000_000).help("which one, counted from 1")],
        help: "one frame of an animation as a still image; absent: an animation stays one where the format holds it",
        example: "frame:3",
    },
    read: |output, parts| (FRAME.word.whole(parts)).map(|frame| output.frame = Some(frame)),
    write: |output| output.frame.map(|frame| frame.to_string()),
};

const FRAMES: Setting = Setting {
    word: &Word {
        name: "frames",
        args: &[Arg::whole("most", 1, 1_000_000).help("an animation ends after so many")],
        help: "the first frames of an animation alone; absent: all of them",
        example: "frames:10",
    },
    read: |output, parts| (FRAMES.word.whole(parts)).map(|most| output.most_frames = Some(most)),
    write: |output| output.most_frames.map(|most| most.to_string()),
};
