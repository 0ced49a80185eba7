//! The interface between the engine and the image formats: what each codec implements.

use std::collections::BTreeMap;

pub use andon_recipe::Orientation;
use andon_recipe::{Area, Word};

use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Depth, Frame, GainParams, Image, Model, Subsampling, Traits};
use crate::limits::{Interrupt, Limits};
use crate::sequence::{Animation, FrameReader, FrameWriter, Head};
use crate::space::Space;
use crate::window::Window;

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
    fn foreign(&self) -> Foreign {
        Foreign::default()
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

    /// Decodes the image at several scales in one pass over the file; `how.scales` is ignored. Each image is
    /// bit-identical to what `decode` returns at its scales. Returns `None` if the codec cannot do this with this file.
    ///
    /// # Errors
    /// As `decode`; a damaged file may fail even if some of the scales would succeed alone.
    fn decode_at_once(
        &self,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'_>,
        scales: &[Scales],
    ) -> Result<Option<Vec<Image>>> {
        let _ = (bytes, info, how, scales);
        Ok(None)
    }

    /// Whether decoding at both scales in one pass is worth trying.
    fn decodes_at_once(&self, info: &Info, one: Scales, other: Scales) -> bool {
        let _ = info;
        one == other
    }

    /// Estimates the cost of [`Codec::index`], including the memory it holds; `None` for images that cannot be indexed.
    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost> {
        let _ = (bytes, info);
        None
    }

    /// Estimates the cost of [`Codec::draw`] and the memory it holds beside the result. Returns `None` if the contents
    /// of the window cannot be drawn separately, as for all images that are stored as pixels.
    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost> {
        let _ = (bytes, info, window);
        None
    }

    /// Draws the part of a vector image that a window shows, at the window's size; `how.scales` is ignored.
    ///
    /// # Errors
    /// As `decode`.
    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image> {
        let _ = (bytes, info, how, window);
        Err(Error::Internal(format!("{} draws nothing", self.name())))
    }

    /// Returns the characters of `text` that this codec has no glyph for, each once, if it is the codec that draws
    /// texts.
    fn undrawn_letters(&self, text: &str) -> Vec<char> {
        let _ = text;
        Vec::new()
    }

    /// Reads the file once and records where decoding can start, so that parts of the image can later be decoded
    /// without the rest. The index is a byte string that only this codec understands, to be kept with the file's state.
    /// `how.scales` is ignored. Returns `None` if the file cannot be indexed, for example because it is damaged.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    fn index(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Option<Vec<u8>>> {
        let _ = (bytes, info, how);
        Ok(None)
    }

    /// Returns the area, in px as stored, that has to be decoded to show `wanted`. At every scale it begins on a whole
    /// sample of every plane. Returns `None` if the index does not belong to this file.
    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], wanted: Area) -> Option<Area> {
        let _ = (bytes, info, index, wanted);
        None
    }

    /// Decodes an area returned by `part`, bit-identical to the same area of `decode`. The frame has the size of the
    /// area at `how.scales`.
    ///
    /// # Errors
    /// As `decode`.
    fn decode_part(
        &self,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'_>,
        index: &[u8],
        part: Area,
    ) -> Result<Image> {
        let _ = (bytes, info, how, index, part);
        Err(Error::Internal(format!("{} has no index", self.name())))
    }

    /// Returns the traits of the frames that `open` yields, composed on their canvas; `None` for still images and for
    /// codecs that decode only the first frame.
    fn composed(&self, info: &Info) -> Option<Traits> {
        let _ = info;
        None
    }

    /// Opens an animated image for reading at full scale; only for images for which `composed` returns traits.
    ///
    /// # Errors
    /// As `decode`.
    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        let _ = (bytes, info, how);
        Err(Error::Internal(format!("{} opens no frames", self.name())))
    }

    /// Returns the name, the format's own or an alias, by which an animation in this format is requested; `None` if it
    /// cannot write animations.
    fn animates(&self) -> Option<&'static str> {
        None
    }

    /// Whether all programs that show this format also play its animations. If not, and if such programs cannot be told
    /// apart, animations are written in this format only when it is requested by name.
    fn moves_everywhere(&self) -> bool {
        true
    }

    /// Starts writing an animated image; only for formats for which `animates` returns a name.
    ///
    /// # Errors
    /// As `encode`.
    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        let _ = (head, how, interrupt);
        Err(Error::Internal(format!("{} holds no frames", self.name())))
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

    /// Returns the header of the file's gain map, if there is one that the codec understands; its pixels are not
    /// decoded. A broken gain map counts as none, since the image is complete without it.
    fn gain_map(&self, bytes: &[u8], info: &Info) -> Option<GainHeader> {
        let _ = (bytes, info);
        None
    }

    /// Decodes the gain map that `gain_map` found. `how.scales` must be among those that `scales` returns for the map's
    /// header.
    ///
    /// # Errors
    /// As `decode`.
    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
        let _ = (bytes, how);
        Err(Error::Internal(format!("{} has no gain map", self.name())))
    }

    /// Whether files of this format can hold a gain map with these parameters. If so, `encode` writes the image's gain
    /// map.
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        let _ = params;
        false
    }

    /// Whether the codec can losslessly convert this file to format `to` without decoding it, keeping the stored
    /// orientation. The codec's own format is the source or the target.
    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool {
        let _ = (bytes, info, to);
        false
    }

    /// Converts the file to format `to` without decoding it, as announced by `recodes`. Returns `None` if this file
    /// cannot be converted after all.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    fn recode(
        &self,
        bytes: &[u8],
        info: &Info,
        to: &str,
        how: &Decode<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let _ = (bytes, info, to, how);
        Ok(None)
    }

    /// Estimates the cost of `recode`.
    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost {
        let _ = (bytes, info);
        Cost::default()
    }

    /// Returns the encoding options of this format: words that formats share ([`andon_recipe::options`]), perhaps with
    /// fewer values, and words of its own, which recipes write as `with:NAME:VALUE`. None takes more than one argument.
    fn options(&self) -> &'static [&'static Word] {
        &[]
    }

    /// Returns the format to write when none is requested, if it is not this one: for images that clients may not show
    /// or that are only read, a format that every client shows.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        let _ = info;
        None
    }

    /// Returns the traits that a frame must be converted to before it can be written; `None` if the format cannot be
    /// written at all. The codec does not deal with the colour space: see `tags`.
    fn accepts(&self, have: Traits, how: &Encode) -> Option<Traits> {
        let _ = (have, how);
        None
    }

    /// Encodes an image whose first frame has the traits that `accepts` returned.
    ///
    /// # Errors
    /// `Limit` (a side the format cannot hold), `Interrupted`, `Internal`.
    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let _ = (image, how, interrupt);
        Err(Error::Internal(format!("{} is not written", self.name())))
    }

    /// Encodes as `encode` does, with byte-identical output, perhaps with the help of idle cores.
    ///
    /// # Errors
    /// As `encode`.
    fn encode_shared(
        &self,
        image: &Image,
        how: &Encode,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u8>> {
        let _ = cores;
        self.encode(image, how, interrupt)
    }

    /// Returns how files of this format declare their colour space.
    fn tags(&self) -> Tags {
        Tags::None
    }

    /// Whether browsers rotate still images of this format by the EXIF orientation that `encode` writes with an image.
    fn says_orientation(&self) -> bool {
        false
    }

    /// Whether this format counts quality as JPEG does, so that a JPEG's quality can be reused for it.
    fn inherits_quality(&self) -> bool {
        false
    }

    /// Returns the quality for new images that should not inherit their source's quality, in a format that otherwise
    /// inherits it (see `inherits_quality`).
    fn default_quality(&self) -> Option<u8> {
        None
    }

    /// Whether the subsampling of images in this format was chosen for each of them, so that copies should keep it.
    /// Formats that know only one subsampling do not choose.
    fn hands_on_subsampling(&self) -> bool {
        false
    }

    /// Estimates the cost of encoding a frame of this size.
    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        let _ = (width, height, traits, how);
        Cost::default()
    }

    /// Returns how many times the estimated time the hardest images may take to encode.
    fn encode_spread(&self, how: &Encode) -> u64 {
        let _ = how;
        1
    }

    /// Estimates the cost of encoding one frame of an animation, which may depend on the frames before it.
    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        self.encode_cost(width, height, traits, how)
    }
}

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
pub struct Foreign {
    /// Whether third-party code reads headers: any operation that inspects a file and returns no pixels.
    pub headers: bool,
    /// Whether third-party code decodes pixels.
    pub reads: bool,
    /// Whether third-party code encodes.
    pub writes: bool,
}

impl Foreign {
    /// Third-party code reads headers and pixels but does not write.
    pub const READS: Self = Self {
        headers: true,
        reads: true,
        writes: false,
    };
}

/// How files of a format declare their colour space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// No declaration: colours are taken for sRGB.
    None,
    /// An ICC profile.
    Icc,
    /// An ICC profile or code points.
    IccOrCodePoints,
    /// Both an ICC profile and code points, since not all readers of the format know code points.
    IccAndCodePoints,
}

/// The contents of an image file's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The codec's name.
    pub format: &'static str,
    /// Width in px as stored, before any orientation is applied.
    pub width: u32,
    /// Height in px as stored, before any orientation is applied.
    pub height: u32,
    /// Colour model of the decoded planes at full scale.
    pub model: Model,
    /// Bit depth of the decoded samples (fewer than 8 bits are widened to 8).
    pub depth: Depth,
    /// Whether there is an alpha plane or a transparent colour.
    pub alpha: bool,
    /// The image's colour space.
    pub space: Space,
    /// Whether the image has a palette. Such images are resampled with a softer kernel, as ngx_small_light does.
    pub palette: bool,
    /// Number of frames, at least 1. Frames are counted without decompressing any.
    pub frames: u32,
    /// The animation's header (loops, canvas) if there are several frames.
    pub animation: Option<Animation>,
    /// The orientation that turns the stored image upright, from EXIF or elsewhere, as browsers read it.
    pub orientation: Orientation,
    /// The quality (1–100) the file was written with, as far as its quantization tables tell.
    pub quality: Option<u8>,
    /// Whether the file is compressed losslessly, such as PNG, GIF and lossless WebP.
    pub lossless: bool,
    /// Whether the file is a progressive JPEG, or an interlaced PNG or GIF.
    pub progressive: bool,
    /// Whether the file holds metadata beside the pixels and the description of their colours: EXIF, XMP, IPTC or
    /// comments.
    pub metadata: bool,
    /// Bytes that decoding holds beside the frame at any scale, where they do not follow from the image's size alone.
    pub decoder_bytes: u64,
    /// Nanoseconds that decoding a frame takes beyond what follows from its size and the file's length, for example for
    /// coded frames that are never shown.
    pub decoder_nanos: u64,
    /// Smallest possible length in bytes of a file with this many pixels; 0 if the format can encode any number of
    /// pixels in a few bytes.
    pub fewest_bytes: u64,
    /// Offset of the frame on its page in px (PNG `oFFs` chunk, GIF frame), added to the x and y of a region.
    pub page_offset: (i32, i32),
}

/// Header of the gain map in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct GainHeader {
    /// The gain map's own header. The map covers the whole image, as stored.
    pub info: Info,
    /// Size of the gain map within the file, in bytes.
    pub bytes: u64,
    /// The parameters by which the map brightens the image.
    pub params: GainParams,
}

impl Info {
    /// Describes a lossy 8-bit still image without alpha, everything else being unknown.
    #[must_use]
    pub fn new(format: &'static str, width: u32, height: u32, model: Model) -> Self {
        Self {
            format,
            width,
            height,
            model,
            depth: Depth::U8,
            alpha: false,
            space: Space::UNSPECIFIED,
            palette: false,
            frames: 1,
            animation: None,
            orientation: Orientation::default(),
            quality: None,
            lossless: false,
            progressive: false,
            metadata: false,
            decoder_bytes: 0,
            decoder_nanos: 0,
            fewest_bytes: 0,
            page_offset: (0, 0),
        }
    }

    /// Returns the number of pixels of the image as stored.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Returns width and height in px when decoded at `scale`, rounded up as in JPEG.
    #[must_use]
    pub fn scaled(&self, scale: Scale) -> (u32, u32) {
        (scale.of(self.width), scale.of(self.height))
    }
}

/// A decoding scale in eighths: 1, 2, 4 or 8 for the powers of two. Codecs may offer any other, including more than 8
/// (larger than the image) for formats that are drawn at any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scale(pub u8);

impl Scale {
    /// Full size.
    pub const FULL: Self = Self(8);
    /// Half of each side.
    pub const HALF: Self = Self(4);
    /// A quarter of each side.
    pub const QUARTER: Self = Self(2);
    /// An eighth of each side.
    pub const EIGHTH: Self = Self(1);

    /// Returns a length at this scale, rounded up.
    #[must_use]
    pub fn of(self, length: u32) -> u32 {
        ((u64::from(length) * u64::from(self.0)).div_ceil(8)) as u32
    }

    /// Returns the scale as a factor: 0.125 to 1, and more than 1 for vector images.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 8.0
    }
}

/// The scales of one decode. The chroma scale is relative to the stored size of the chroma planes: with both at `HALF`,
/// a 4:2:0 image stays 4:2:0; luma at `HALF` and chroma at `QUARTER` turn 4:4:4 into 4:2:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scales {
    /// Scale of luma and of every full-size plane.
    pub luma: Scale,
    /// Scale of planes that are, or can be, subsampled (Cb, Cr); never above `luma`.
    pub chroma: Scale,
}

impl Scales {
    /// All planes at full size.
    pub const FULL: Self = Self::both(Scale::FULL);

    /// Uses one scale for all planes.
    #[must_use]
    pub const fn both(scale: Scale) -> Self {
        Self {
            luma: scale,
            chroma: scale,
        }
    }

    /// Returns the subsampling of a frame decoded at these scales from an image with subsampling `stored`.
    #[must_use]
    pub fn subsampling(self, stored: Subsampling) -> Subsampling {
        let ratio = self.luma.0 / self.chroma.0;
        Subsampling {
            h: stored.h * ratio,
            v: stored.v * ratio,
        }
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

/// Parameters of an encode. Every option that is set is among the codec's [`Codec::options`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encode {
    /// Quality, 1 to 100, as requested or inherited from the source. `None`: the format's default, also if the source
    /// is lossless and has no quality.
    pub quality: Option<u8>,
    /// Whether encoding must be lossless.
    pub lossless: bool,
    /// Bits per sample. `None`: as many as the frame has, within what the format can hold.
    pub depth: Option<Depth>,
    /// Whether to write a progressive JPEG, or an interlaced (Adam7) PNG or GIF.
    pub progressive: bool,
    /// Chroma subsampling, as requested or as in a JPEG source. `None`: 4:4:4 from quality 90 on, else 4:2:0.
    pub chroma: Option<Subsampling>,
    /// Effort from 0 (fast) to 9 (small). `None`: the format's fast default.
    pub effort: Option<u8>,
    /// Options specific to the format, by name.
    pub options: BTreeMap<String, String>,
    /// Whether the source had a palette: the image has few colours, plus intermediate ones if it was scaled. This is
    /// not requested by anyone; an encoder may take advantage of it where the effect is invisible.
    pub few_colours: bool,
}

impl Encode {
    /// Returns the value of a format-specific option.
    #[must_use]
    pub fn option(&self, word: &Word) -> Option<&str> {
        self.options.get(word.name).map(String::as_str)
    }
}
