//! The interface between the engine and the image formats: what each codec implements. Every codec decodes; each
//! further capability is a trait of its own, which a method of [`Codec`] returns.

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
    /// MiB. If not, callers run it where it blocks no other work.
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

    /// Decodes what is left of a truncated or damaged file that [`Codec::decode`] rejects. Missing parts are filled as
    /// in browsers, or are white.
    ///
    /// # Errors
    /// Those of `decode`; `Broken` if nothing is left to show or the codec cannot salvage files.
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
    /// Those of `extent`: `Broken` if a part that the structure names is missing, even if no pixel needs it.
    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        let _ = how;
        Ok(bytes.len())
    }

    /// Returns the bytes that every file of this format ends with; empty if there are none. A file that lacks no more
    /// than this marker counts as complete, and the marker is restored when the file is passed on.
    fn end_marker(&self) -> &'static [u8] {
        &[]
    }

    /// Estimates the cost of [`Codec::extent`], including its memory and that of the decoded frame.
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

    /// Estimates the cost of decoding a file of `bytes` bytes at `scales`, including the memory needed in addition to
    /// the result.
    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost;

    /// Whether the subsampling of an image in this format was chosen for that image, so that copies should keep it.
    /// Formats that support only one subsampling return `false`.
    fn hands_on_subsampling(&self) -> bool {
        false
    }

    /// Returns the name of the format to write in place of this one if a request names no format. It is set for formats
    /// that some clients cannot show, and for formats without an encoder. `None`: this format is written.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        let _ = info;
        None
    }

    /// Returns the encoder; `None` for formats that are only read.
    fn encoder(&self) -> Option<&dyn Encoder> {
        None
    }

    /// Returns the decoder of animations; `None` if only the first frame of a file is ever decoded.
    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        None
    }

    /// Returns the capability to decode a part of an image without the rest, if the codec has it.
    fn parts(&self) -> Option<&dyn Parts> {
        None
    }

    /// Returns the capability to decode at several scales in one pass, if the codec has it.
    fn many_scales(&self) -> Option<&dyn ManyScales> {
        None
    }

    /// Returns the renderer of vector images; `None` for formats that store pixels.
    fn vector(&self) -> Option<&dyn Vector> {
        None
    }

    /// Returns the generator of files from text and colours; `None` unless this is the vector format that text is drawn
    /// in.
    fn drawings(&self) -> Option<&dyn Drawings> {
        None
    }

    /// Returns the reader of the gain maps of HDR images, if the codec has one.
    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        None
    }

    /// Returns the converter to other formats that decodes no pixels, if the codec has one.
    fn recoder(&self) -> Option<&dyn Recoder> {
        None
    }
}

/// Parameters of a decode.
#[derive(Clone, Copy)]
pub struct Decode<'a> {
    /// The scales to decode at, among those the codec offers.
    pub scales: Scales,
    /// The limits on the decode.
    pub limits: &'a Limits,
    /// Reports whether the result is no longer wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that the decoder may use.
    pub cores: &'a dyn Cores,
    /// Whether to read the ICC profile into the frame's colour and EXIF into the image's metadata.
    pub keep_metadata: bool,
}
