//! Parses region, size, rotation, quality and format of a target, before the image is known.

use crate::refusal::Refusal;

use super::Version;

/// The part of the image that a target asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Region {
    Full,
    Square,
    /// x, y, width, height in px.
    At([u32; 4]),
    /// x, y, width, height in per cent of the image's sides.
    Percent([f64; 4]),
}

/// The size to which the region is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Whether the region may be enlarged: `^` in version 3.0, always in version 2.1.
    pub(super) grows: bool,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Max,
    Width(u32),
    Height(u32),
    Exact(u32, u32),
    Inside(u32, u32),
    Percent(f64),
}

/// A rotation: first mirrored left to right, then turned clockwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rotation {
    pub(super) mirror: bool,
    /// Degrees clockwise, from 0 to less than 360.
    pub(super) degrees: f64,
}

/// The quality parameter: full colour, gray, or black and white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    Default,
    Color,
    Gray,
    Bitonal,
}

impl Quality {
    pub(super) const ALL: [(&str, Self); 4] = [
        ("default", Self::Default),
        ("color", Self::Color),
        ("gray", Self::Gray),
        ("bitonal", Self::Bitonal),
    ];
}

/// File extensions, each with the engine's name of the format. Level 2 of the IIIF specification requires the first
/// two.
pub(super) const FORMATS: &[(&str, &str)] = &[
    ("jpg", "jpeg"),
    ("png", "png"),
    ("webp", "webp"),
    ("gif", "gif"),
    ("avif", "avif"),
    ("tif", "tiff"),
];

/// Formats of the IIIF specification that are not written here.
const UNWRITTEN: &[&str] = &["jp2", "pdf"];

pub(super) fn region(text: &str) -> Result<Region, Refusal> {
    let why =
        "a region is full, square, x,y,w,h in whole pixels or pct:x,y,w,h, with w and h above 0";
    let wrong = || Refusal::new(text, why);
    let region = match text {
        "full" => Region::Full,
        "square" => Region::Square,
        _ => match text.strip_prefix("pct:") {
            Some(numbers) => Region::Percent(four(numbers, decimal).ok_or_else(wrong)?),
            None => Region::At(four(text, whole).ok_or_else(wrong)?),
        },
    };
    let is_empty = match region {
        Region::At([.., w, h]) => w == 0 || h == 0,
        Region::Percent([x, y, w, h]) => w == 0.0 || h == 0.0 || x >= 100.0 || y >= 100.0,
        Region::Full | Region::Square => false,
    };
    if is_empty { Err(wrong()) } else { Ok(region) }
}

pub(super) fn size(text: &str, version: Version) -> Result<Size, Refusal> {
    let wrong = || {
        let why = match version {
            Version::V3 => {
                "a size is max, `w,`, `,h`, `w,h`, `!w,h` or pct:n with sides of at least 1 px; \
                 `^` before it allows enlarging"
            }
            Version::V2 => {
                "a size is full, max, `w,`, `,h`, `w,h`, `!w,h` or pct:n with sides of at least 1 px"
            }
        };
        Refusal::new(text, why)
    };
    let (grows, size_text) = match (version, text.strip_prefix('^')) {
        (Version::V3, Some(size_text)) => (true, size_text),
        (Version::V3, None) => (false, text),
        (Version::V2, _) => (true, text),
    };
    let side = |text: &str| whole(text).filter(|side| *side > 0);
    let sides = |text: &str| {
        let (w, h) = text.split_once(',')?;
        Some((side(w)?, side(h)?))
    };
    let shape = if size_text == "max" || (size_text == "full" && version == Version::V2) {
        // In version 2.1, the maximum is the region's own size.
        let grows = grows && version == Version::V3;
        return Ok(Size {
            grows,
            shape: Shape::Max,
        });
    } else if let Some(percent) = size_text.strip_prefix("pct:") {
        let percent = decimal(percent).filter(|percent| *percent > 0.0);
        percent.map(Shape::Percent)
    } else if let Some(sizes) = size_text.strip_prefix('!') {
        // A client library writes `!w,` for version 2.1, which is taken as `w,`.
        match sizes.split_once(',').filter(|_| version == Version::V2) {
            Some((w, "")) => side(w).map(Shape::Width),
            Some(("", h)) => side(h).map(Shape::Height),
            _ => sides(sizes).map(|(w, h)| Shape::Inside(w, h)),
        }
    } else {
        match size_text.split_once(',') {
            Some((w, "")) => side(w).map(Shape::Width),
            Some(("", h)) => side(h).map(Shape::Height),
            _ => sides(size_text).map(|(w, h)| Shape::Exact(w, h)),
        }
    };
    let shape = shape.ok_or_else(wrong)?;
    if let (Shape::Percent(percent), false) = (shape, grows)
        && percent > 100.0
    {
        let why = "more than 100 per cent enlarges; `^` before the size allows that";
        return Err(Refusal::new(text, why));
    }
    Ok(Size { grows, shape })
}

pub(super) fn rotation(text: &str) -> Result<Rotation, Refusal> {
    let (mirror, number) = match text.strip_prefix('!') {
        Some(number) => (true, number),
        None => (false, text),
    };
    let degrees = decimal(number).filter(|degrees| *degrees <= 360.0);
    let degrees = degrees.ok_or_else(|| {
        Refusal::new(
            text,
            "a rotation is a number from 0 to 360, with `!` before it to mirror first",
        )
    })?;
    Ok(Rotation {
        mirror,
        degrees: degrees % 360.0,
    })
}

/// Reads the last part of a target, such as `default.jpg`. Returns the quality, and the engine's name of the format.
pub(super) fn quality_and_format(text: &str) -> Result<(Quality, &'static str), Refusal> {
    let list = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    let (quality, format) = text.rsplit_once('.').ok_or_else(|| {
        let why = "the last part is quality.format, such as default.jpg";
        Refusal::new(text, why)
    })?;
    let quality_row = Quality::ALL.iter().find(|(name, _)| *name == quality);
    let (_, quality) = quality_row.ok_or_else(|| {
        let names = list(&mut Quality::ALL.iter().map(|(name, _)| *name));
        Refusal::new(quality, format!("a quality is one of {names}"))
    })?;
    let format_row = FORMATS.iter().find(|(extension, _)| *extension == format);
    let (_, format) = format_row.ok_or_else(|| {
        let names = list(&mut FORMATS.iter().map(|(extension, _)| *extension));
        let refusal = Refusal::new(format, format!("a format is one of {names}"));
        match UNWRITTEN.contains(&format) {
            true => super::unsupported(refusal),
            false => refusal,
        }
    })?;
    Ok((*quality, format))
}

fn four<T: Copy>(text: &str, number: fn(&str) -> Option<T>) -> Option<[T; 4]> {
    let numbers: Vec<T> = text.split(',').map(number).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Parses a number that consists of digits only. Numbers too large for any image saturate.
fn whole(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Parses a decimal number: digits with at most one point before, between or after them.
fn decimal(text: &str) -> Option<f64> {
    let is_decimal_byte = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let number: f64 =
        (has_digit && text.bytes().all(is_decimal_byte)).then(|| text.parse().ok())??;
    number.is_finite().then_some(number)
}
