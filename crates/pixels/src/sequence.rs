//! Pictures that move: frames that come one at a time, each with its delay.
//!
//! Nothing holds all frames. A [`FrameReader`] hands over one after the other, composed on the full canvas; the
//! engine takes each through the same stages and gives it to a [`FrameWriter`].

use crate::error::Result;
use crate::frame::{Frame, Metadata, Traits};

/// How long a frame stays, as its file says it: `ticks` of which there are `per_second`. GIF counts hundredths of a
/// second, WebP thousandths, PNG fractions. 0 is kept: what it means is for whoever shows the picture to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// How many ticks.
    pub ticks: u32,
    /// How many of them make a second; at least 1.
    pub per_second: u32,
}

impl Delay {
    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.ticks) / f64::from(self.per_second.max(1))
    }
}

/// What a header tells of a picture that moves, beside the number of its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animation {
    /// How often it is shown; 0 is forever.
    pub plays: u32,
    /// How long all frames stay together, in milliseconds.
    pub duration_ms: u64,
    /// May a composed frame be transparent somewhere?
    pub alpha: bool,
}

/// A frame and how long it stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The frame, as large as the canvas.
    pub frame: Frame,
    /// Its delay.
    pub delay: Delay,
}

/// The frames of a file, one after the other.
pub trait FrameReader {
    /// The profiles that stand in the file beside the frames, if they were asked for.
    fn metadata(&self) -> Metadata {
        Metadata::default()
    }

    /// The next frame; `None` after the last.
    ///
    /// # Errors
    /// `Broken`, `Interrupted`.
    fn next(&mut self) -> Result<Option<Timed>>;
}

/// A file that grows frame by frame.
pub trait FrameWriter {
    /// Adds a frame.
    ///
    /// # Errors
    /// `Interrupted`, `Internal` for a frame of another size or kind than was announced.
    fn push(&mut self, timed: Timed) -> Result<()>;

    /// Bytes that have been written so far.
    fn written(&self) -> u64;

    /// The file.
    ///
    /// # Errors
    /// As `push`.
    fn finish(self: Box<Self>) -> Result<Vec<u8>>;
}

/// What a writer is told before the first frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Width of every frame.
    pub width: u32,
    /// Height of every frame.
    pub height: u32,
    /// What every frame is.
    pub traits: Traits,
    /// How often the picture is shown; 0 is forever.
    pub plays: u32,
    /// Profiles.
    pub metadata: Metadata,
}
