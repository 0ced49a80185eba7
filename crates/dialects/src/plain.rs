//! Requests that every dialect supports: a box, how an image is fitted to it, quality and format.

/// A request that every dialect can express in some way, to be written in one of them.
#[derive(Debug)]
pub struct PlainRequest<'a> {
    /// How the image is fitted to the box.
    pub(crate) how: How,
    /// Width of the box in px; 0: not given.
    pub(crate) w: u32,
    /// Height of the box in px; 0: not given.
    pub(crate) h: u32,
    /// Whether images smaller than the box are enlarged.
    pub(crate) enlarge: bool,
    /// Quality, 1 to 100.
    pub(crate) quality: Option<u8>,
    /// Name of the result's format.
    pub(crate) format: Option<&'a str>,
    /// The source's path, percent-encoded except for slashes, without a leading slash.
    pub(crate) source: String,
}

/// How an image is fitted to a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The size is left alone.
    Nothing,
    /// It lies within the box.
    Fit,
    /// It covers the box, and what hangs over is cut off.
    Cover,
    /// It is stretched to the box.
    Exact,
}

impl PlainRequest<'_> {
    /// Returns width and height as text, with `open` in place of a side that is not given.
    pub(crate) fn sides(&self, open: &str) -> [String; 2] {
        [self.w, self.h].map(|side| match side {
            0 => open.to_owned(),
            side => side.to_string(),
        })
    }

    /// Joins the words that are present.
    pub(crate) fn join<const N: usize>(words: [Option<String>; N], with: &str) -> String {
        words.into_iter().flatten().collect::<Vec<_>>().join(with)
    }

    /// Returns the quality behind `before`, if it is given.
    pub(crate) fn quality(&self, before: &str) -> Option<String> {
        self.quality.map(|quality| format!("{before}{quality}"))
    }

    /// Returns the format behind `before`, if it is given.
    pub(crate) fn format(&self, before: &str) -> Option<String> {
        self.format.map(|format| format!("{before}{format}"))
    }

    /// Returns the format behind `before`, with `jpeg` written as `jpg`, as in file names.
    pub(crate) fn short_format(&self, before: &str) -> Option<String> {
        let short = |format| if format == "jpeg" { "jpg" } else { format };
        self.format
            .map(|format| format!("{before}{}", short(format)))
    }

    /// Returns a side behind `before`, if it is given.
    pub(crate) fn side(before: &str, side: u32) -> Option<String> {
        (side > 0).then(|| format!("{before}{side}"))
    }
}
