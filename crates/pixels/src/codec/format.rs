//! What a format is called, and where its codec may run.

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
