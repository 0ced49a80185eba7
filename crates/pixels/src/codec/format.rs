//! What a format is called, what browsers show of it, and where its codec may run.

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
    /// What browsers show of it, for a server that chooses one format of several. `None` if it is never offered to them.
    pub web: Option<Web>,
}

/// What browsers show of a format, and how long its files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Web {
    /// Whether every browser shows it, whatever formats its `Accept` header names.
    pub everywhere: bool,
    /// Whether browsers show what is brighter than white.
    pub hdr: bool,
    /// How images of flat colours and thin lines come out.
    pub drawn: Drawn,
    /// Lengths of its files at equal quality, in percent of AVIF's, for images whose longest side has up to as many px
    /// as the entry of [`Web::SIDES`] says: geometric means over eight photographic images of 8 to 15 megapixels, each
    /// written as short as SSIMULACRA2 of 70 and of 80 allow. `None` if they are longer than those of all formats that
    /// have lengths.
    pub lengths: Option<[u32; Self::SIDES.len()]>,
}

/// How images of flat colours and thin lines come out in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// In other shades.
    Shifted,
    /// As they are, up to what is lost in any image.
    Kept,
    /// Without loss in a short file, so that this is how they are to be written.
    Lossless,
}

impl Web {
    /// The longest sides in px, up to which the entries of `lengths` hold.
    pub const SIDES: [u32; 6] = [64, 150, 300, 600, 1200, u32::MAX];

    /// Returns the length of a file relative to those of other formats, for an image whose longest side has `side` px.
    #[must_use]
    pub fn length(&self, side: u32) -> u32 {
        let place = Self::SIDES.iter().position(|most| side <= *most);
        let length = self.lengths.zip(place);
        length.map_or(u32::MAX, |(lengths, place)| lengths[place])
    }
}

/// The operations of a codec that run third-party code that cannot be bounded from inside.
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
