//! `over:NAME:X:Y`: lays an image from a file on top, unscaled; equals `overlay` without further arguments.

use andon_recipe::{Arg, Effect, Word};

use super::overlay::{NAME, OverlayStage};
use super::place::{X, Y};
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Lays a file, such as an icon, over an image.
pub(super) struct Over;

const WORD: Word = Word {
    name: Effect::OVER,
    args: &[
        NAME,
        Arg {
            default: Some("0"),
            ..X
        },
        Arg {
            default: Some("0"),
            ..Y
        },
    ],
    help: "lays another image over this one, unscaled",
    example: "over:icon.png:10:-4",
};

impl Op for Over {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        OverlayStage::parse(&WORD, effect)
    }
}
