//! `around:X:Y:WxH:COLOUR`: keeps a rectangle of the image as it is and fills everything around it with a colour.

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::outline::Outlined;
use crate::error::Result;
use crate::stage::{Op, Stage, wrong};

/// Fills everything around a rectangle of an image.
pub(super) struct Around;

/// Largest coordinate or size in px, more than any image has.
const MOST: i64 = 1_000_000;

const PX: Arg = Arg::whole("px", -MOST, MOST).unit("px");

const WORD: Word = Word {
    name: "around",
    args: &[
        Arg {
            name: "x",
            help: "left edge of the part",
            ..PX
        },
        Arg {
            name: "y",
            help: "top edge of the part",
            ..PX
        },
        Arg::whole("width", 1, MOST)
            .unit("px")
            .help("width of the part"),
        Arg::whole("height", 1, MOST)
            .after('x')
            .unit("px")
            .help("height of the part"),
        Arg::colour("colour").help("what shows around it"),
    ],
    help: "fills everything around a part of the image; what is transparent in the part stays so",
    example: "around:10:10:40x30:ffffff",
};

impl Op for Around {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [x, y, width, height, colour] = WORD.read(&effect.args)?;
            let px = |text: Option<&str>| {
                let px = PX.read_whole(text.unwrap_or_default())?;
                Ok::<_, ParseError>(px as f64)
            };
            let part = (px(x)?, px(y)?, px(width)?, px(height)?);
            let colour: Colour = colour.unwrap_or_default().parse()?;
            Ok::<_, ParseError>((part, colour))
        };
        let ((x, y, w, h), colour) = read().map_err(|error| wrong(effect, &error))?;
        Ok(Some(Box::new(Outlined {
            effect: effect.clone(),
            outline: Box::new(move |_, _| vec![(x, y), (x + w, y), (x + w, y + h), (x, y + h)]),
            colour,
        })))
    }
}
