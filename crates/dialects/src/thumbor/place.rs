//! Where an overlay or a text lies along one side of an image.

use super::args::Args;
use super::path::digits;

/// The position of an overlay or a text along one side of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Pixels from the left or top edge; negative: from the opposite edge.
    Px(i64),
    /// Percent of the image's side, from the left or top edge; negative: from the opposite edge.
    Percent(f64),
    /// Pixels from the left or top edge.
    Start(i64),
    Middle,
    /// Aligned to the right or bottom edge, and this many pixels beyond it.
    End(i64),
    /// As many copies as fit, evenly spaced.
    Spread,
    /// Copies side by side.
    Repeat,
}

impl Place {
    /// Parses the position of an overlay or text from the second and third argument of imagor's filters: across and
    /// down.
    pub(super) fn both(args: &Args<'_>) -> (Self, Self) {
        let place = |at: usize| Self::imagor(&args.text(at).unwrap_or_default());
        (place(1), place(2))
    }

    fn imagor(text: &str) -> Self {
        // The word of a position or its first letter, and px beyond it.
        let (word, offset) = match text.split_once('-') {
            Some((word, px)) if !word.is_empty() => (word, px.parse::<i32>().unwrap_or(0).into()),
            _ => (text, 0),
        };
        // A text that is not a number counts as 0.
        let whole = |text: &str| text.parse::<i32>().unwrap_or(0);
        match (word, text) {
            ("left" | "l" | "top" | "t", _) => Self::Start(-offset),
            ("right" | "r" | "bottom" | "b", _) => Self::End(offset),
            (_, "center") => Self::Middle,
            (_, "repeat") => Self::Repeat,
            _ if text.strip_prefix('-').unwrap_or(text).starts_with("0.") => {
                Self::Percent(100.0 * text.parse().unwrap_or(0.0))
            }
            _ => match text.strip_suffix('p') {
                Some(percent) => Self::Percent(whole(percent).into()),
                None => Self::Px(whole(text).into()),
            },
        }
    }

    /// Parses an argument of thumbor's that is a position.
    pub(super) fn thumbor(args: &Args<'_>, at: usize) -> Option<Self> {
        let text = args.text(at)?;
        match &*text {
            "center" => return Some(Self::Middle),
            "repeat" => return Some(Self::Spread),
            _ => {}
        }
        let percent = text.strip_suffix('p');
        let number = percent.unwrap_or(&text);
        digits(number.strip_prefix('-').unwrap_or(number))?;
        let number: i64 = number.parse().ok()?;
        Some(match percent {
            // A negative zero is the opposite edge.
            _ if text.starts_with("-0") && number == 0 => Self::End(0),
            Some(_) => Self::Percent(number as f64),
            None => Self::Px(number),
        })
    }
}
