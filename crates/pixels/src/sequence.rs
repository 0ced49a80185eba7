//! Animations: sequences of frames, each with a delay.
//!
//! Only a few frames are in memory at a time. A [`FrameReader`] returns them one after the other, composed on the full
//! canvas. The engine takes each through the same stages and passes it to a [`FrameWriter`].

use crate::error::Result;
use crate::frame::{Frame, Metadata, Traits};

/// How long a frame is shown, as browsers play it: `ticks` / `per_second` seconds. GIF counts hundredths of a second,
/// WebP thousandths, PNG fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// How long the frame is shown, in ticks of 1 / `per_second` seconds.
    pub ticks: u32,
    /// Ticks per second; at least 1.
    pub per_second: u32,
}

impl Delay {
    /// Returns the delay that browsers apply to a frame for which a file declares this many ticks. Chromium, Firefox
    /// and Safari play a frame of 10 ms or less for 100 ms, whatever its format. That also avoids a delay of 0, which
    /// some containers interpret in another way (JPEG XL: a layer of the next frame).
    #[must_use]
    pub fn played(ticks: u32, per_second: u32) -> Self {
        let per_second = per_second.max(1);
        if u64::from(ticks) * 100 > u64::from(per_second) {
            return Self { ticks, per_second };
        }
        match per_second % 10 {
            0 => Self {
                ticks: per_second / 10,
                per_second,
            },
            _ => Self {
                ticks: 1,
                per_second: 10,
            },
        }
    }

    /// Returns the delay in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.ticks) / f64::from(self.per_second.max(1))
    }
}

/// Facts about an animation from the file's header, except for the number of its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animation {
    /// Number of times that the animation is played; 0 for an endless loop.
    pub plays: u32,
    /// Duration of all frames together, in milliseconds, as browsers play them.
    pub duration_ms: u64,
    /// Whether a composed frame may be transparent somewhere.
    pub alpha: bool,
    /// Whether viewers without support for animations show a separate still image that is none of the frames.
    pub apart: bool,
}

/// A frame and how long it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The frame, as large as the canvas.
    pub frame: Frame,
    /// How long the frame is shown.
    pub delay: Delay,
}

/// Reads the frames of a file, one after the other.
pub trait FrameReader {
    /// Returns the profiles and other metadata in the file, if the reader was opened with them.
    fn metadata(&self) -> Metadata {
        Metadata::default()
    }

    /// Returns the next frame; `None` after the last.
    ///
    /// # Errors
    /// `Broken`, `Interrupted`.
    fn next(&mut self) -> Result<Option<Timed>>;
}

/// Writes a file frame by frame.
pub trait FrameWriter {
    /// Adds a frame.
    ///
    /// # Errors
    /// `Interrupted`, or `Internal` for a frame of another size or kind than was announced.
    fn push(&mut self, timed: Timed) -> Result<()>;

    /// Returns the number of bytes written so far.
    fn written(&self) -> u64;

    /// Completes the file and returns it.
    ///
    /// # Errors
    /// Those of `push`.
    fn finish(self: Box<Self>) -> Result<Vec<u8>>;
}

/// Properties of an animation that a writer needs before the first frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Width of every frame, in px.
    pub width: u32,
    /// Height of every frame, in px.
    pub height: u32,
    /// Traits of every frame.
    pub traits: Traits,
    /// Number of times that the animation is played; 0 for an endless loop.
    pub plays: u32,
    /// ICC profile, EXIF, IPTC and XMP.
    pub metadata: Metadata,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_milliseconds_and_less_are_played_as_a_tenth_of_a_second() {
        for (ticks, per_second, seconds) in [
            (0, 100, 0.1),
            (1, 100, 0.1),
            (2, 100, 0.02),
            (10, 1000, 0.1),
            (11, 1000, 0.011),
            (1, 128, 0.1),
            (2, 128, 2.0 / 128.0),
            (0, 0, 0.1),
            (1, 1, 1.0),
        ] {
            let played = Delay::played(ticks, per_second);
            assert_eq!(played.seconds(), seconds, "{ticks}/{per_second}");
        }
    }
}
