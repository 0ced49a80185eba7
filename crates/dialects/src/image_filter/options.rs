//! Values of the directives of nginx's image filter module, parsed as nginx parses the values of variables.

use std::fmt;

use crate::refusal::Refusal;

/// Values of the directives of nginx's image filter module in one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) filter: Filter,
    /// `rotate`, in degrees counterclockwise; 0: none. The image is not turned by values that are not multiples of 90,
    /// but it is encoded again.
    pub(super) rotate: u64,
    /// `image_filter_jpeg_quality`, 1 to 100.
    pub(super) jpeg_quality: u8,
    /// `image_filter_webp_quality`, 1 to 100.
    pub(super) webp_quality: u8,
    /// `image_filter_sharpen`, in percent; 0: none.
    pub(super) sharpen: u64,
    /// `image_filter_interlace`: whether the result is interlaced or progressive.
    pub(super) interlace: bool,
    /// `image_filter_buffer`: the largest source, in bytes. `None`: the server's own limit.
    pub(super) buffer: Option<u64>,
}

/// The first arguments of `image_filter`, which select what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// `test`: sends the file unchanged, if it is an image.
    Test,
    /// `size`: sends a JSON document with the image's size and format.
    Size,
    /// `rotate`: only turns the image.
    Rotate,
    /// `resize`: scales the image down to fit inside a box.
    Resize(Bound, Bound),
    /// `crop`: scales the image down until it just covers a box, and cuts off what exceeds the box.
    Crop(Bound, Bound),
}

/// Maximum length of a side, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound(pub(super) u64);

impl Bound {
    /// No bound, written `-`. nginx's module represents it by this number, too, and computes with it.
    const NONE: Self = Self(u64::MAX);
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::Test,
            rotate: 0,
            jpeg_quality: 75,
            webp_quality: 80,
            sharpen: 0,
            interlace: false,
            buffer: None,
        }
    }
}

impl Options {
    /// Parses `resize,150,-,rotate=90,q=75,webp_q=80,sharpen=10,interlace=on,buffer=1M`: the words of `image_filter`,
    /// then the other directives in any order.
    ///
    /// # Errors
    /// Words or values for which nginx's image filter would answer 415.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let mut words = text.split(',');
        let mut options = Self::default();
        let mut next = || words.next().unwrap_or_default();
        options.filter = match next() {
            "test" => Filter::Test,
            "rotate" => {
                options.rotate = angle(next())?;
                Filter::Rotate
            }
            "resize" => Filter::Resize(bound(next())?, bound(next())?),
            "size" => Filter::Size,
            "crop" => Filter::Crop(bound(next())?, bound(next())?),
            other => {
                let why = "expected off, test, size, rotate, resize or crop";
                return Err(Refusal::new(other, why));
            }
        };
        for word in words {
            options.directive(word)?;
        }
        Ok(options)
    }

    fn directive(&mut self, word: &str) -> Result<(), Refusal> {
        match word.split_once('=').unwrap_or((word, "")) {
            ("rotate", value) if self.filter != Filter::Rotate => {
                self.rotate = number(value).unwrap_or_default();
            }
            ("q", value) => {
                self.jpeg_quality = quality(value)?;
                self.webp_quality = self.jpeg_quality;
            }
            ("webp_q", value) => self.webp_quality = quality(value)?,
            ("sharpen", value) => self.sharpen = number(value).unwrap_or_default().min(1000),
            ("buffer", value) => self.buffer = Some(bytes(value)?),
            ("interlace", "on") => self.interlace = true,
            ("interlace", "off") => self.interlace = false,
            _ => {
                let why = "expected rotate=, q=, webp_q=, sharpen=, buffer= or interlace=on";
                return Err(Refusal::new(word, why));
            }
        }
        Ok(())
    }

    /// Returns the quality for a format; `None` for formats without one.
    pub(super) fn quality(&self, format: &str) -> Option<u8> {
        match format {
            "jpeg" => Some(self.jpeg_quality),
            "webp" => Some(self.webp_quality),
            _ => None,
        }
    }
}

/// Parses a number as nginx's `ngx_http_image_filter_value` does: digits only, or `-` for the largest number. 0 is
/// invalid.
fn number(text: &str) -> Option<u64> {
    match text {
        "-" => Some(Bound::NONE.0),
        text if !text.bytes().all(|byte| byte.is_ascii_digit()) => None,
        // nginx stores the number in a signed type, and refuses larger ones.
        text => text
            .parse()
            .ok()
            .filter(|number| (1..=i64::MAX as u64).contains(number)),
    }
}

fn bound(text: &str) -> Result<Bound, Refusal> {
    let why = "a side is a whole number of px, at least 1, or `-` for no bound";
    number(text)
        .map(Bound)
        .ok_or_else(|| Refusal::new(text, why))
}

fn angle(text: &str) -> Result<u64, Refusal> {
    let turns = number(text).filter(|angle| matches!(angle, 90 | 180 | 270));
    turns.ok_or_else(|| Refusal::new(text, "alone, rotate takes 90, 180 or 270"))
}

/// Parses a size in nginx's syntax: a number of bytes, of KiB with `k`, or of MiB with `m`.
fn bytes(text: &str) -> Result<u64, Refusal> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => match text.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1 << 20),
            None => (text, 1),
        },
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<u64> = is_number.then(|| digits.parse().ok()).flatten();
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| Refusal::new(text, "a size is a number of bytes, such as 512k or 1M"))
}

/// Parses a quality. Values above 100 count as 100, as in GD.
fn quality(text: &str) -> Result<u8, Refusal> {
    let why = "a quality is a whole number from 1 to 100";
    let number = number(text).ok_or_else(|| Refusal::new(text, why))?;
    Ok(number.min(100) as u8)
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => f.write_str("-"),
            Self(px) => px.fmt(f),
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.filter {
            Filter::Test => f.write_str("test")?,
            Filter::Size => f.write_str("size")?,
            Filter::Rotate => write!(f, "rotate,{}", self.rotate)?,
            Filter::Resize(w, h) => write!(f, "resize,{w},{h}")?,
            Filter::Crop(w, h) => write!(f, "crop,{w},{h}")?,
        }
        let usual = Self::default();
        if self.rotate != 0 && self.filter != Filter::Rotate {
            write!(f, ",rotate={}", Bound(self.rotate))?;
        }
        if self.jpeg_quality != usual.jpeg_quality {
            write!(f, ",q={}", self.jpeg_quality)?;
        }
        let follows = match self.jpeg_quality == usual.jpeg_quality {
            true => usual.webp_quality,
            false => self.jpeg_quality,
        };
        if self.webp_quality != follows {
            write!(f, ",webp_q={}", self.webp_quality)?;
        }
        if self.sharpen != 0 {
            write!(f, ",sharpen={}", self.sharpen)?;
        }
        if self.interlace {
            f.write_str(",interlace=on")?;
        }
        if let Some(bytes) = self.buffer {
            write!(f, ",buffer={bytes}")?;
        }
        Ok(())
    }
}
