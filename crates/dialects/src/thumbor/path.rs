//! The grammar of thumbor's and imagor's paths: parts, such as `fit-in` and the size, and after them the image. Each
//! part is optional, but their order is fixed. The image begins with the first segment that cannot be a next part.

use std::fmt::{self, Write};

use andon_recipe::Flip;

use super::flavour::Flavour;
use crate::percent;

/// The parts of a thumbor or imagor path before its image.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) debug: bool,
    pub(super) meta: bool,
    pub(super) trim: Option<Trim>,
    /// The crop: left, top, right and bottom edge, in px; in imagor also as shares of the sides.
    pub(super) crop: Option<[f64; 4]>,
    pub(super) fit: Option<FitIn>,
    pub(super) stretch: bool,
    /// Whether to flip left to right, and top to bottom.
    pub(super) flip: (bool, bool),
    pub(super) size: Option<(Side, Side)>,
    /// The margins in px: left, top, right, bottom.
    pub(super) padding: Option<[u32; 4]>,
    pub(super) across: Option<Align>,
    pub(super) down: Option<Align>,
    pub(super) smart: bool,
    /// Name and arguments of each filter, as written in a URL.
    pub(super) filters: Vec<(String, String)>,
}

/// The part `trim` of a path, which cuts off a border of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// Whether the border is compared with the lower right corner instead of the upper left one.
    pub(super) from_end: bool,
    pub(super) tolerance: Option<u32>,
}

/// The part `fit-in` of a path, and its variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FitIn {
    pub(super) adaptive: bool,
    pub(super) full: bool,
}

/// A side of the requested size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Side {
    /// The side follows from the other one.
    #[default]
    Free,
    /// The image's own side.
    Original,
    Px(u32),
}

impl Side {
    /// Returns the side in px; 0 if it is not given in px.
    pub(super) fn px(self) -> u32 {
        match self {
            Self::Px(px) => px,
            Self::Free | Self::Original => 0,
        }
    }
}

/// Which part of the image is kept along one axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Align {
    /// Left or top.
    Start,
    #[default]
    Middle,
    /// Right or bottom.
    End,
}

/// The words of thumbor's URLs for left, centre and right.
pub(super) const ACROSS: [&str; 3] = ["left", "center", "right"];

/// The words of thumbor's URLs for top, middle and bottom.
pub(super) const DOWN: [&str; 3] = ["top", "middle", "bottom"];

impl Align {
    /// Returns the word for this alignment, of the words for start, middle and end.
    pub(super) fn word(self, [start, middle, end]: [&'static str; 3]) -> &'static str {
        match self {
            Self::Start => start,
            Self::Middle => middle,
            Self::End => end,
        }
    }
}

impl Parts {
    /// Returns how the image is flipped; `None` if it is not.
    pub(super) fn mirroring(&self) -> Option<Flip> {
        match self.flip {
            (false, false) => None,
            (true, false) => Some(Flip::Horizontal),
            (false, true) => Some(Flip::Vertical),
            (true, true) => Some(Flip::Both),
        }
    }
}

/// Parses the parts, and returns them with the rest of the text, which is the raw image.
pub(super) fn read(flavour: Flavour, rest: &str) -> (Parts, &str) {
    let mut reader = Reader { flavour, rest };
    let thumbor = flavour == Flavour::Thumbor;
    let mut parts = Parts {
        debug: thumbor && reader.word("debug"),
        meta: reader.word("meta"),
        trim: reader.part(trim),
        crop: reader.part(|text| crop(flavour, text)),
        fit: reader.part(fit),
        stretch: !thumbor && reader.word("stretch"),
        ..Parts::default()
    };
    if let Some([(across, w), (down, h)]) = reader.part(|text| size(flavour, text)) {
        (parts.flip, parts.size) = ((across, down), Some((w, h)));
    }
    if !thumbor {
        parts.padding = reader.part(padding);
    }
    parts.across = reader.part(|text| align(text, ACROSS));
    parts.down = reader.part(|text| align(text, DOWN));
    parts.smart = reader.word("smart");
    parts.filters = reader.filters();
    (parts, reader.rest)
}

struct Reader<'a> {
    flavour: Flavour,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Consumes the next segment, if `read` accepts it and more segments follow.
    fn part<T>(&mut self, read: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let (segment, rest) = self.rest.split_once('/')?;
        let part = read(segment).filter(|_| !rest.is_empty())?;
        self.rest = rest;
        Some(part)
    }

    fn word(&mut self, word: &str) -> bool {
        self.part(|text| (text == word).then_some(())).is_some()
    }

    fn filters(&mut self) -> Vec<(String, String)> {
        let Some(text) = self.rest.strip_prefix("filters:") else {
            return Vec::new();
        };
        let filters = match self.flavour {
            Flavour::Thumbor => up_to_first_end(text),
            Flavour::Imagor => by_depth(text),
        };
        let Some((filters, after)) = filters else {
            return Vec::new();
        };
        self.rest = after;
        filters
    }
}

/// Parses thumbor's filters: everything up to the first `)/`, split at `):`.
fn up_to_first_end(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let first = text.char_indices().nth(1)?.0;
    let end = first + text[first..].find(")/")?;
    let (filters, rest) = (&text[..end], &text[end + 2..]);
    if rest.is_empty() {
        return None;
    }
    // thumbor decodes the filters before it splits them.
    let filters = percent::decode(filters).ok()?;
    let pair = |filter: &str| {
        let (name, args) = filter.split_once('(')?;
        Some((
            name.to_owned(),
            percent::encode(args.strip_suffix(')').unwrap_or(args), ""),
        ))
    };
    Some((filters.split("):").filter_map(pair).collect(), rest))
}

/// Parses imagor's filters by the depth of parentheses. Inside of parentheses, `/` and `:` belong to an argument.
fn by_depth(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let (mut filters, mut depth, mut start, mut open) = (Vec::new(), 0_usize, 0, None);
    // Splits a filter, which ends with its last parenthesis, into name and arguments.
    let filter = |from: usize, open: Option<usize>, to: usize| {
        let open = open?;
        let args = text[open + 1..to].strip_suffix(')')?;
        Some((text[from..open].to_owned(), args.to_owned()))
    };
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => {
                open = open.or(Some(at));
                depth += 1;
            }
            b')' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => {
                filters.extend(filter(start, open.take(), at));
                start = at + 1;
            }
            b'/' if depth == 0 => {
                filters.extend(filter(start, open, at));
                let after = &text[at + 1..];
                return (!after.is_empty()).then_some((filters, after));
            }
            _ => {}
        }
    }
    None
}

/// Parses a number that consists of digits only. Numbers too large for any image saturate, so that a limit refuses
/// them.
pub(super) fn digits(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().unwrap_or(u32::MAX))
}

fn trim(text: &str) -> Option<Trim> {
    let rest = text.strip_prefix("trim")?;
    let (from_end, rest) = match rest.strip_prefix(":bottom-right") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix(":top-left").unwrap_or(rest)),
    };
    let tolerance = match rest {
        "" => None,
        rest => Some(digits(rest.strip_prefix(':')?)?),
    };
    Some(Trim {
        from_end,
        tolerance,
    })
}

fn crop(flavour: Flavour, text: &str) -> Option<[f64; 4]> {
    edges(text, |text| match flavour {
        Flavour::Thumbor => digits(text).map(f64::from),
        Flavour::Imagor => decimal(text),
    })
}

/// Parses left, top, right and bottom edge, written `AxB:CxD`.
pub(super) fn edges<T>(text: &str, number: impl Fn(&str) -> Option<T>) -> Option<[T; 4]> {
    let (start, end) = text.split_once(':')?;
    let ((left, top), (right, bottom)) = (start.split_once('x')?, end.split_once('x')?);
    Some([number(left)?, number(top)?, number(right)?, number(bottom)?])
}

/// Parses digits with at most one decimal point, which must not be at the end.
fn decimal(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ends = text.ends_with(|last: char| last.is_ascii_digit());
    (plain && ends).then(|| text.parse().ok()).flatten()
}

fn fit(text: &str) -> Option<FitIn> {
    let rest = text.strip_suffix("fit-in")?;
    let bare = rest.strip_prefix("adaptive-");
    let full = match bare.unwrap_or(rest) {
        "" => false,
        "full-" => true,
        _ => return None,
    };
    Some(FitIn {
        adaptive: bare.is_some(),
        full,
    })
}

/// Parses a size. Returns for width and height whether the image is flipped along it, and its length.
fn size(flavour: Flavour, text: &str) -> Option<[(bool, Side); 2]> {
    let (w, h) = text.split_once('x')?;
    Some([side(flavour, w)?, side(flavour, h)?])
}

fn side(flavour: Flavour, text: &str) -> Option<(bool, Side)> {
    let bare = text.strip_prefix('-');
    let side = match bare.unwrap_or(text) {
        "" => Side::Free,
        "orig" if flavour == Flavour::Thumbor => Side::Original,
        text => match digits(text)? {
            0 => Side::Free,
            px => Side::Px(px),
        },
    };
    Some((bare.is_some(), side))
}

fn padding(text: &str) -> Option<[u32; 4]> {
    match text.contains(':') {
        true => edges(text, digits),
        false => edges(&format!("{text}:{text}"), digits),
    }
}

fn align(text: &str, words: [&'static str; 3]) -> Option<Align> {
    let mut all = [Align::Start, Align::Middle, Align::End].into_iter();
    all.find(|align| align.word(words) == text)
}

/// Writes the parts in the form of a URL, each followed by a slash.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |f: &mut fmt::Formatter<'_>, on: bool, word: &str| match on {
            true => write!(f, "{word}/"),
            false => Ok(()),
        };
        word(f, self.debug, "debug")?;
        word(f, self.meta, "meta")?;
        if let Some(trim) = self.trim {
            f.write_str("trim")?;
            if trim.from_end {
                f.write_str(":bottom-right")?;
            }
            if let Some(tolerance) = trim.tolerance {
                write!(f, ":{tolerance}")?;
            }
            f.write_char('/')?;
        }
        if let Some([left, top, right, bottom]) = self.crop {
            write!(f, "{left}x{top}:{right}x{bottom}/")?;
        }
        if let Some(fit) = self.fit {
            f.write_str(if fit.adaptive { "adaptive-" } else { "" })?;
            f.write_str(if fit.full { "full-fit-in/" } else { "fit-in/" })?;
        }
        word(f, self.stretch, "stretch")?;
        // Without a size, the margins would be parsed as the size.
        let size = self.size.or(self.padding.map(|_| Default::default()));
        if let Some((w, h)) = size {
            let minus = |flip: bool| if flip { "-" } else { "" };
            write!(f, "{}{w}x{}{h}/", minus(self.flip.0), minus(self.flip.1))?;
        }
        if let Some([left, top, right, bottom]) = self.padding {
            write!(f, "{left}x{top}:{right}x{bottom}/")?;
        }
        let aligned = |align: Option<Align>, words| align.map_or("", |align| align.word(words));
        for text in [aligned(self.across, ACROSS), aligned(self.down, DOWN)] {
            word(f, !text.is_empty(), text)?;
        }
        word(f, self.smart, "smart")?;
        for (index, (name, args)) in self.filters.iter().enumerate() {
            f.write_str(if index == 0 { "filters:" } else { ":" })?;
            write!(f, "{name}({args})")?;
        }
        word(f, !self.filters.is_empty(), "")
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_char('0'),
            Self::Original => f.write_str("orig"),
            Self::Px(px) => px.fmt(f),
        }
    }
}
