//! `round:RX:RY:COLOUR`: rounded corners.

use std::f64::consts::{FRAC_PI_2, PI};

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::outline::{Outlined, Point, arc};
use crate::error::Result;
use crate::stage::{Op, Stage, wrong};

/// The `round` effect, which rounds corners.
pub(super) struct Round;

const RADIUS: Arg = Arg::number("rx", 0.0, 1e6).unit("px").help(
    "how far the rounding reaches across; both radii shrink alike where two corners would overlap",
);

const WORD: Word = Word {
    name: "round",
    args: &[
        RADIUS,
        Arg {
            name: "ry",
            default: Some("rx"),
            help: "how far it reaches down",
            ..RADIUS
        },
        Arg::colour("colour")
            .default("00000000")
            .help("what the corners show"),
    ],
    help: "rounds the corners of the image",
    example: "round:20",
};

impl Op for Round {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [rx, ry, colour] = WORD.read(&effect.args)?;
            let rx = RADIUS.read_number(rx.unwrap_or("0"))?;
            let ry = ry.map_or(Ok(rx), |ry| RADIUS.read_number(ry))?;
            let colour = colour.map_or(Ok(Colour::CLEAR), str::parse)?;
            Ok::<_, ParseError>((rx, ry, colour))
        };
        let (rx, ry, colour) = read().map_err(|error| wrong(effect, &error))?;
        Ok((rx > 0.0 && ry > 0.0).then(|| {
            Box::new(Outlined {
                effect: effect.clone(),
                outline: Box::new(move |w, h| rounded(w, h, (rx, ry))),
                colour,
            }) as Box<dyn Stage>
        }))
    }
}

fn rounded(w: f64, h: f64, (rx, ry): Point) -> Vec<Point> {
    let fits = (w / (2.0 * rx)).min(h / (2.0 * ry)).min(1.0);
    let (rx, ry) = (rx * fits, ry * fits);
    let middles = [(w - rx, h - ry), (rx, h - ry), (rx, ry), (w - rx, ry)];
    let corners = middles
        .into_iter()
        .zip([0.0, FRAC_PI_2, PI, PI + FRAC_PI_2]);
    corners
        .flat_map(|(middle, from)| arc(middle, (rx, ry), from, from + FRAC_PI_2))
        .collect()
}
