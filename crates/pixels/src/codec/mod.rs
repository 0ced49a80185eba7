//! The interface between the engine and the image formats: what each codec implements. Every codec reads; what else it
//! can do is a trait of its own, which it returns from a method of [`Codec`].

mod capabilities;
mod drawings;
mod encoder;
mod format;
mod info;
mod scale;

pub use andon_recipe::Orientation;

pub use self::capabilities::{AnimationDecoder, GainMaps, ManyScales, Parts, Recoder, Vector};
pub use self::drawings::{
    Align, Anchor, Breaks, Cut, Drawings, Outline, Overflow, Room, Text, Writing,
};
pub use self::encoder::{AnimationEncoder, Encode, Encoder, Tags};
pub use self::format::{Drawn, Format, Isolation, Web};
pub use self::info::{GainHeader, Info};
pub use self::scale::{Scale, Scales};
use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Image, Traits};
use crate::limits::{Interrupt, Limits};

/// An image format. Each has a folder in the `codecs` crate and an entry in its `ALL`.
pub trait Codec: Send + Sync {
    /// Returns the format that this codec reads and writes.
    fn format(&self) -> Format;

    /// The format's name.
    fn name(&self) -> &'static str {
        self.format().name
    }

    /// Whether a file that begins with `head` (16 bytes or more, fewer for tiny files) claims to be of this format.
    fn sniff(&self, head: &[u8]) -> bool;

    /// Returns which operations run third-party code on untrusted input, code that cannot be bounded or interrupted
    /// from inside and therefore belongs in a separate process.
    fn isolation(&self) -> Isolation {
        Isolation::default()
    }

    /// Reads the header only: decodes no pixels and allocates nothing larger than the metadata.
    ///
    /// # Errors
    /// `Broken` or `Unsupported`.
    fn probe(&self, bytes: &[u8]) -> Result<Info>;

    /// Whether [`Codec::probe`] takes only a fraction of a millisecond for these bytes, of which there are at most 1
    /// MiB. If not, callers run it where it holds up no other work.
    fn probes_at_once(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// Decodes the first frame (composed on its canvas) at the requested scales.
    ///
    /// The frame's size is `info.scaled(how.scales.luma)`; chroma planes follow `how.scales.chroma`.
    ///
    /// # Errors
    /// `Broken` (truncated files too), `Limit`, `Interrupted`.
    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image>;

    /// Decodes what is left of a truncated or damaged file that [`Codec::decode`] rejects. Missing parts look as in
    /// browsers, or are white.
    ///
    /// # Errors
    /// As `decode`; `Broken` if nothing is left to show or the codec cannot salvage files.
    fn salvage(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let _ = (bytes, info, how);
        Err(Error::broken(
            self.name(),
            "what is left of it cannot be shown",
        ))
    }

    /// Returns how many bytes from the beginning of the file make up the image, whose pixel data must be complete.
    /// Bytes after them do not belong to it. `how.scales` is ignored. For an image that is over a limit or unsupported,
    /// only the structure is checked.
    ///
    /// # Errors
    /// `Broken`, `Interrupted`.
    fn extent(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
        let full = Decode {
            scales: Scales::FULL,
            ..*how
        };
        self.decode(bytes, info, &full)?;
        self.end(bytes, how)
    }

    /// Returns where the structure of a decodable file ends, for formats whose [`Codec::extent`] decodes the whole
    /// file.
    ///
    /// # Errors
    /// As `extent`: `Broken` if a part that the structure names is missing, even if no pixel needs it.
    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        let _ = how;
        Ok(bytes.len())
    }

    /// Returns the bytes that every file of this format ends with; empty if there are none. A file that lacks no more
    /// than this marker counts as complete, and the marker is restored when the file is passed on.
    fn end_marker(&self) -> &'static [u8] {
        &[]
    }

    /// Estimates the cost of [`Codec::extent`], including the memory it holds and the decoded frame.
    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        let cost = self.decode_cost(bytes, info, Scales::FULL);
        let planes = info.model.planes() + usize::from(info.alpha);
        let frame = (info.pixels()).saturating_mul((planes * info.depth.bytes()) as u64);
        Cost {
            scratch: cost.scratch.saturating_add(frame),
            ..cost
        }
    }

    /// Returns the scales at which this image is cheaper to decode than in full, plus `Scale::FULL`, smallest first.
    fn scales(&self, info: &Info) -> &'static [Scale] {
        let _ = info;
        &[Scale::FULL]
    }

    /// Whether chroma planes can be decoded at a smaller scale than luma when luma is decoded at `luma`.
    fn splits_chroma(&self, info: &Info, luma: Scale) -> bool {
        let _ = (info, luma);
        false
    }

    /// Returns the traits of the frame that `decode` yields at `scales`.
    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        let _ = scales;
        Traits {
            model: info.model,
            depth: info.depth,
            alpha: info.alpha,
            space: info.space,
        }
    }

    /// Estimates the cost of decoding a file of `bytes` bytes at `scales`, and the memory held beside the result.
    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost;

    /// Whether the subsampling of images in this format was chosen for each of them, so that copies should keep it.
    /// Formats that know only one subsampling do not choose.
    fn hands_on_subsampling(&self) -> bool {
        false
    }

    /// Returns the format to write when none is requested, if it is not this one: for images that clients may not show
    /// or that are only read, a format that every client shows.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        let _ = info;
        None
    }

    /// Writes the format; `None` for formats that are only read.
    fn encoder(&self) -> Option<&dyn Encoder> {
        None
    }

    /// Reads the frames of animations; `None` if only the first frame of a file is ever decoded.
    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        None
    }

    /// Decodes parts of an image without the rest.
    fn parts(&self) -> Option<&dyn Parts> {
        None
    }

    /// Decodes at several scales in one pass.
    fn many_scales(&self) -> Option<&dyn ManyScales> {
        None
    }

    /// Draws images that are not stored as pixels; `None` for all that are.
    fn vector(&self) -> Option<&dyn Vector> {
        None
    }

    /// Makes files of the format from text and colours; `None` for all formats but one that is drawn.
    fn drawings(&self) -> Option<&dyn Drawings> {
        None
    }

    /// Reads the gain maps of HDR images.
    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        None
    }

    /// Converts files to another format without decoding them.
    fn recoder(&self) -> Option<&dyn Recoder> {
        None
    }
}

/// Parameters of a decode.
#[derive(Clone, Copy)]
pub struct Decode<'a> {
    /// The scales to decode at, among those the codec offers.
    pub scales: Scales,
    /// The limits that apply to the decode.
    pub limits: &'a Limits,
    /// Tells whether the result is still wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that may be borrowed.
    pub cores: &'a dyn Cores,
    /// Whether to read the ICC profile into the frame's colour and EXIF into the image's metadata.
    pub keep_metadata: bool,
}
