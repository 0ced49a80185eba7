//! Descriptions of image formats: their names, what browsers support, and which codec operations run in a separate
//! process.

/// Names of an image format, and the revision of its codec's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The format's name, lower-case, as in a recipe's `as:jpeg`.
    pub name: &'static str,
    /// Other names and file extensions that mean this format (without dots).
    pub aliases: &'static [&'static str],
    /// The media type of files in this format.
    pub media_type: &'static str,
    /// Revision of the codec, counted from 1, incremented whenever the samples it reads or the bytes it writes change.
    /// Part of every ETag and cache key. A test of the `codecs` crate fails when they have changed and this number has
    /// not.
    pub revision: u32,
    /// What browsers support, for a server that chooses between formats. `None` if the server never chooses this format
    /// by itself.
    pub web: Option<Web>,
}

/// Browser support for a format, and the typical lengths of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Web {
    /// Whether every browser shows the format, whatever formats its `Accept` header names.
    pub everywhere: bool,
    /// Whether browsers show HDR images of this format, with colours brighter than white.
    pub hdr: bool,
    /// How well the format reproduces images of flat colours and thin lines.
    pub drawn: Drawn,
    /// Lengths of files at equal quality, in percent of the length of AVIF files. Each entry is for images whose
    /// longest side is at most the entry of [`Web::SIDES`] in px. The lengths are geometric means over eight photos of
    /// 8 to 15 megapixels, each in the shortest files that reach SSIMULACRA2 scores of 70 and of 80. `None` if the
    /// files are longer than those of all formats that have lengths.
    pub lengths: Option<[u32; Self::SIDES.len()]>,
}

/// How well a format reproduces images of flat colours and thin lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Shades change visibly.
    Shifted,
    /// Shades stay the same, except for the small loss that encoding causes in any image.
    Kept,
    /// Nothing is lost and files are short, so such images should be written losslessly.
    Lossless,
}

impl Web {
    /// The longest sides in px up to which each entry of `lengths` applies.
    pub const SIDES: [u32; 6] = [64, 150, 300, 600, 1200, u32::MAX];

    /// Returns the length of a file in percent of the length of an AVIF file, for an image whose longest side has
    /// `side` px; `u32::MAX` if `lengths` is `None`.
    #[must_use]
    pub fn length(&self, side: u32) -> u32 {
        let place = Self::SIDES.iter().position(|most| side <= *most);
        let length = self.lengths.zip(place);
        length.map_or(u32::MAX, |(lengths, place)| lengths[place])
    }
}

/// Which operations of a codec run third-party code whose time and memory the codec cannot limit. Such operations can
/// run in worker processes instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isolation {
    /// Whether third-party code reads headers: any operation that inspects a file and returns no pixels.
    pub headers: bool,
    /// Whether third-party code decodes pixels.
    pub reads: bool,
    /// Whether third-party code encodes.
    pub writes: bool,
}

impl Isolation {
    /// Third-party code reads headers and pixels but does not write.
    pub const READS: Self = Self {
        headers: true,
        reads: true,
        writes: false,
    };
}
