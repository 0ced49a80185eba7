//! Positions of an overlay along one side of an image: their arguments and their arithmetic.

use andon_recipe::{Arg, ParseError};

/// Argument for the position of an overlay along a side of the image.
pub(super) const X: Arg = Arg::text("x", "100p-8").help(
    "left edge of the overlay on the image: px; per cent (`p`) of the room beside it, and px; repeat; or spread",
);

pub(super) const Y: Arg = Arg {
    name: "y",
    help: "top edge of the overlay on the image, likewise",
    ..X
};

/// Argument for the offset in px of a position, such as −8 in `100p-8`.
const PX: Arg = Arg::whole("px", i32::MIN as i64, i32::MAX as i64);

/// Argument for the percentage of free room in a position, such as 100 in `100p-8`.
const SHARE: Arg = Arg::number("share", 0.0, 100.0);

/// Position of an overlay along one side of the image.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// One copy, at `share` (0 to 1) of the free room plus an offset in px.
    Once { share: f64, px: i64 },
    /// Copies side by side, starting at the edge of the image.
    Repeat,
    /// As many whole copies as there is room for, with the remaining room spread between them.
    Spread,
}

impl Place {
    pub(super) fn read(arg: &Arg, text: &str) -> Result<Self, ParseError> {
        let position = match text.split_once('p') {
            _ if text == "repeat" => return Ok(Self::Repeat),
            _ if text == "spread" => return Ok(Self::Spread),
            None => PX.read_whole(text).map(|px| (0.0, px)),
            Some((share, "")) => SHARE.read_number(share).map(|share| (share, 0)),
            Some((share, px)) => SHARE.read_number(share).and_then(|share| {
                let signed = px.strip_prefix('+').filter(|px| !px.starts_with('-'));
                let px = signed.or_else(|| px.starts_with('-').then_some(px));
                Ok((share, PX.read_whole(px.unwrap_or_default())?))
            }),
        };
        let (share, px) = position.map_err(|_| arg.wrong(text))?;
        let share = share / 100.0;
        Ok(Self::Once { share, px })
    }

    /// Returns the left or top edges, in px, of the copies of an overlay. If they are spread, there are at most `most`.
    pub(super) fn edges(self, side: u32, icon: u32, most: u32) -> Vec<i64> {
        match self {
            // Rounded towards zero.
            Self::Once { share, px } => {
                vec![((f64::from(side) - f64::from(icon)) * share) as i64 + px]
            }
            Self::Repeat => (0..side).step_by(icon as usize).map(i64::from).collect(),
            Self::Spread => {
                let times = (side / icon).clamp(1, most);
                let room = side.saturating_sub(times * icon) / (times.max(2) - 1);
                (0..times)
                    .map(|one| i64::from(one * (icon + room)))
                    .collect()
            }
        }
    }
}
