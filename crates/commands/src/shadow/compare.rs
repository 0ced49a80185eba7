//! Compares two responses to the same request.

use std::collections::BTreeSet;
use std::io;

use andon_client::Fetched;
use andon_client::{DecodedImage, ssim};

use super::Tolerance;

/// The result of comparing two responses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Compared {
    /// Differences, sorted by kind, the worst first.
    pub(crate) differences: Vec<Difference>,
    /// Structural similarity (SSIM), if the bodies are different images of the same size, or of sizes within the
    /// tolerance.
    pub(crate) ssim: Option<f64>,
    /// Width and height in px of the old and the new image, if the two images differ in size.
    pub(crate) sizes: Option<[[u32; 2]; 2]>,
    /// Whether both responses have status 200 and identical bodies.
    pub(crate) same_bytes: bool,
    /// Statuses of both responses, if both have arrived.
    pub(crate) statuses: Option<[u16; 2]>,
    /// Lengths of both bodies in bytes, if both responses have status 200.
    pub(crate) bytes: Option<[usize; 2]>,
    /// Scheme and host that the old server redirects to.
    pub(crate) moved_to: Option<String>,
    /// Whether the old server sends a web page (HTML) instead of an image.
    pub(crate) is_page: bool,
    /// The notes of the new server on what it has omitted or done differently (`Andon-Note`).
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) kind: Kind,
    pub(crate) what: String,
}

/// Kinds of differences, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    NoReply,
    Status,
    Broken,
    Size,
    Frames,
    Pixels,
    Colours,
    Content,
    Missing,
    MediaType,
    Rounding,
    Negotiated,
    Header(&'static str),
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NoReply => "no reply",
            Self::Status => "status",
            Self::Broken => "no whole image",
            Self::Size => "size in px",
            Self::Frames => "frames",
            Self::Pixels => "pixels",
            Self::Colours => "colours",
            Self::Content => "content",
            Self::Missing => "left out",
            Self::MediaType => "media type",
            Self::Rounding => "size, within tolerance",
            Self::Negotiated => "media type, of Accept",
            Self::Header(name) => name,
        }
    }

    /// Whether a client would notice a difference of this kind.
    pub(crate) fn matters(self) -> bool {
        !matches!(self, Self::Rounding | Self::Negotiated | Self::Header(_))
    }
}

impl Compared {
    /// Whether a client would notice any of the differences.
    pub(crate) fn differs(&self) -> bool {
        self.worst().is_some_and(Kind::matters)
    }

    pub(crate) fn worst(&self) -> Option<Kind> {
        self.differences.iter().map(|it| it.kind).min()
    }

    fn add(&mut self, kind: Kind, what: impl Into<String>) {
        let what = what.into();
        self.differences.push(Difference { kind, what });
    }
}

/// Compares two responses to a request with this `Accept` value, which may be empty. Images that differ by more than
/// `tolerance` count as different.
pub(super) fn compare(
    old: &io::Result<Fetched>,
    new: &io::Result<Fetched>,
    tolerance: Tolerance,
    accept: &str,
) -> Compared {
    let mut comparison = Compared::default();
    let (old, new) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            for (name, reply) in [("old", old), ("new", new)] {
                if let Err(why) = reply {
                    comparison.add(Kind::NoReply, format!("{name}: {why}"));
                }
            }
            return comparison;
        }
    };
    comparison.statuses = Some([old.status, new.status]);
    comparison.is_page = old.status == 200 && media_type(old) == "text/html";
    let notes = new.headers.iter().filter(|(name, _)| name == "andon-note");
    comparison.notes = notes.map(|(_, note)| note.clone()).collect();
    for note in comparison.notes.clone() {
        if is_missing(&note) {
            comparison.add(Kind::Missing, note);
        }
    }
    if old.status != new.status {
        let why = refusal(new).map_or_else(String::new, |why| format!(": {why}"));
        comparison.moved_to = moved_to(old);
        let to = comparison.moved_to.as_ref();
        let to = to.map_or_else(String::new, |to| format!(" (to {to})"));
        let what = format!("{}{to} and {}{why}", old.status, new.status);
        comparison.add(Kind::Status, what);
    } else if old.status == 200 {
        comparison.bytes = Some([old.body.len(), new.body.len()]);
        comparison.same_bytes = old.body == new.body;
        let types = [old, new].map(media_type);
        if types[0] != types[1] {
            let is_accepted =
                types.iter().all(|it| it.starts_with("image/")) && accepts(accept, &types[1]);
            let kind = if is_accepted {
                Kind::Negotiated
            } else {
                Kind::MediaType
            };
            comparison.add(kind, format!("{} and {}", types[0], types[1]));
        }
        if !comparison.same_bytes {
            match types.iter().any(|name| name.starts_with("image/")) {
                true => compare_images(&mut comparison, [&old.body, &new.body], tolerance),
                false => comparison.add(Kind::Content, "other bytes"),
            }
        }
    }
    let fallback = new.header("andon-fallback");
    if let Some(error) = fallback.filter(|_| old.body != new.body) {
        let what = format!("the image: a fallback image was sent in its place, because of {error}");
        comparison.add(Kind::Missing, what.clone());
        comparison.notes.push(what);
    }
    if comparison.worst() != Some(Kind::Status) {
        headers(&mut comparison, old, new);
    }
    comparison.differences.sort_by_key(|it| it.kind);
    comparison
}

/// Whether a note in a response (`Andon-Note`) says that the URL refers to something that the server's configuration
/// lacks, such as a watermark.
pub(crate) fn is_missing(note: &str) -> bool {
    note.contains("in the configuration; it is ignored")
}

/// Returns the scheme and host that a response redirects to.
fn moved_to(reply: &Fetched) -> Option<String> {
    let location = reply
        .header("location")
        .filter(|_| (300..400).contains(&reply.status))?;
    let (scheme, rest) = location.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    Some(format!("{scheme}://{host}"))
}

/// Returns the error message in a plain-text response.
fn refusal(reply: &Fetched) -> Option<String> {
    let is_text = reply.status >= 400 && media_type(reply) == "text/plain";
    let text = is_text.then(|| String::from_utf8_lossy(&reply.body))?;
    let line: String = text.lines().next()?.chars().take(LONGEST_REFUSAL).collect();
    (!line.is_empty()).then_some(line)
}

const LONGEST_REFUSAL: usize = 200;

/// Returns the media type of a response without parameters, under its registered name.
fn media_type(reply: &Fetched) -> String {
    let value = reply.header("content-type").unwrap_or_default();
    let name = value.split(';').next().unwrap_or_default().trim();
    match name.to_ascii_lowercase().as_str() {
        "" => "none".to_owned(),
        "image/jpg" | "image/pjpeg" => "image/jpeg".to_owned(),
        name => name.to_owned(),
    }
}

/// Whether an `Accept` value names a media type, and does not exclude it.
fn accepts(accept: &str, media_type: &str) -> bool {
    accept.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_it = parts
            .next()
            .is_some_and(|it| it.eq_ignore_ascii_case(media_type));
        let is_refused = |part: &str| {
            let weight = part.strip_prefix("q=").map(str::parse::<f32>);
            matches!(weight, Some(Ok(0.0)))
        };
        is_it && !parts.any(is_refused)
    })
}

fn compare_images(comparison: &mut Compared, bodies: [&[u8]; 2], tolerance: Tolerance) {
    let (old, mut new) = match bodies.map(DecodedImage::decode).into() {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), Ok(_)) => return comparison.add(Kind::Broken, format!("old: {why}")),
        (Ok(_), Err(why)) => return comparison.add(Kind::Broken, format!("new: {why}")),
        (Err(why), Err(_)) => {
            let what = format!("other bytes, and neither can be read: {why}");
            return comparison.add(Kind::Content, what);
        }
    };
    if old.frames != new.frames {
        let what = format!("{} and {}", old.frames, new.frames);
        comparison.add(Kind::Frames, what);
    }
    let sizes = [&old, &new].map(|image| [image.width, image.height]);
    if sizes[0] != sizes[1] {
        comparison.sizes = Some(sizes);
        let [before, after] = sizes.map(|[width, height]| format!("{width}x{height}"));
        let what = format!("{before} and {after}");
        if !tolerance.covers(sizes) {
            return comparison.add(Kind::Size, what);
        }
        comparison.add(Kind::Rounding, what);
        match DecodedImage::decode_at(bodies[1], sizes[0]) {
            Ok(scaled) => new = scaled,
            Err(why) => return comparison.add(Kind::Broken, format!("new: {why}")),
        }
    }
    let Some(alike) = ssim(&old, &new) else {
        return;
    };
    comparison.ssim = Some(alike);
    if alike < tolerance.ssim {
        comparison.add(Kind::Pixels, format!("SSIM {alike:.4}"));
    }
    let levels = levels_apart(&old, &new);
    if levels > MOST_LEVELS {
        let what = format!("{levels:.0} levels of 255 apart on average");
        comparison.add(Kind::Colours, what);
    }
}

/// Returns by how many levels (of 255) the colours of two images of the same size differ, in the channel (red, green or
/// blue) that differs most. It complements structural similarity, which covers luma only. The images are compared in
/// blocks of 8 × 8 px: the difference is the mean of the absolute differences between block means, so that fine
/// patterns that are shifted by half a pixel count as equal.
fn levels_apart(old: &DecodedImage, new: &DecodedImage) -> f64 {
    let (width, height) = (old.width as usize, old.height as usize);
    let mut sums = [0_u64; 3];
    for top in (0..height).step_by(SQUARE) {
        for left in (0..width).step_by(SQUARE) {
            let rows = top..(top + SQUARE).min(height);
            let columns = left..(left + SQUARE).min(width);
            let total = |image: &DecodedImage, channel: usize| -> u64 {
                let row = |y: usize| columns.clone().map(move |x| 3 * (y * width + x) + channel);
                let all = rows.clone().flat_map(row);
                all.map(|at| u64::from(image.rgb[at])).sum()
            };
            for (channel, sum) in sums.iter_mut().enumerate() {
                *sum += total(old, channel).abs_diff(total(new, channel));
            }
        }
    }
    let most = sums.into_iter().max().unwrap_or_default();
    most as f64 / (width * height).max(1) as f64
}

/// Width and height in px of the blocks whose mean colours are compared.
const SQUARE: usize = 8;

/// Largest mean difference between colours, of 255 levels, that counts as equal colours. Two encoders at ordinary
/// qualities are 1 to 5 levels apart. Gray instead of colours, or an ignored profile, results in more.
const MOST_LEVELS: f64 = 12.0;

fn headers(comparison: &mut Compared, old: &Fetched, new: &Fetched) {
    for (name, read) in HEADERS {
        let key = name.to_ascii_lowercase();
        let values = [old, new].map(|reply| reply.header(&key).map(|value| read(&value)));
        if values[0] != values[1] {
            let text = |value: &Option<String>| match value {
                None => "none".to_owned(),
                Some(value) => format!("`{value}`"),
            };
            let what = format!("{} and {}", text(&values[0]), text(&values[1]));
            comparison.add(Kind::Header(name), what);
        }
    }
}

/// Normalises a header's value, so that values with the same meaning become equal.
type Read = fn(&str) -> String;

const HEADERS: &[(&str, Read)] = &[
    ("Cache-Control", set),
    ("Vary", set),
    ("Content-Disposition", str::to_owned),
    ("Location", str::to_owned),
    ("Access-Control-Allow-Origin", str::to_owned),
    ("ETag", |_| "one".to_owned()),
    ("Last-Modified", |_| "one".to_owned()),
];

/// Returns the items of a comma-separated list sorted and in lower case, so that lists in any order and case become
/// equal.
fn set(value: &str) -> String {
    let lower = value.to_ascii_lowercase();
    let items: BTreeSet<&str> = lower
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .collect();
    items.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
