//! What the engine asks of an image format.

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

/// One image format: one folder in the `codecs` crate, one entry in its `ALL`.
pub trait Codec: Send + Sync {
    /// Which format it is.
    fn format(&self) -> Format;

    /// The format's name.
    fn name(&self) -> &'static str {
        self.format().name
    }

    /// Does a file that begins with these bytes (16 or more, fewer for tiny files) claim this format?
    fn sniff(&self, head: &[u8]) -> bool;

    /// Which of its work is done by code that cannot be bounded or interrupted from inside, and so belongs into a process of
    /// its own: code of others over strangers' bytes.
    fn foreign(&self) -> Foreign {
        Foreign::default()
    }

    /// Reads the header only: no pixel is decoded, nothing larger than the metadata is allocated.
    ///
    /// # Errors
    /// `Broken` or `Unsupported`.
    fn probe(&self, bytes: &[u8]) -> Result<Info>;

    /// Does [`Codec::probe`] take a fraction of a millisecond for these bytes, of which there are no more than a mebibyte? If not,
    /// it is called where nobody else waits.
    fn probes_at_once(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// Decodes the first frame (composed on its canvas) at the scales asked for.
    ///
    /// The frame's size is `info.scaled(how.scales.luma)`; chroma planes follow `how.scales.chroma`.
    ///
    /// # Errors
    /// `Broken` (truncated files too), `Limit`, `Interrupted`.
    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image>;

    /// Decodes what there is of a file that is cut or damaged, where [`Codec::decode`] refuses it: what is missing is as browsers
    /// show it, or white.
    ///
    /// # Errors
    /// As `decode`; `Broken` where there is nothing to show, or the codec cannot show it.
    fn salvage(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let _ = (bytes, info, how);
        Err(Error::broken(
            self.name(),
            "what is left of it cannot be shown",
        ))
    }

    /// How many bytes from the beginning are the image, which is whole as far as its pixels go: what follows
    /// them does not belong to it. `how.scales` does not count. Of an image that is over a limit or not
    /// supported only the structure is looked at.
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

    /// Where the structure of a file that decodes ends, for formats that [`Codec::extent`] decodes whole.
    ///
    /// # Errors
    /// As `extent`: `Broken` where a part that the structure names is missing, although no pixel needs it.
    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        let _ = how;
        Ok(bytes.len())
    }

    /// What its files end with, where all end alike; nothing otherwise. A file that lacks no more than this is whole, and
    /// what is passed on of it gets it back.
    fn end_marker(&self) -> &'static [u8] {
        &[]
    }

    /// Estimated cost of [`Codec::extent`], and the memory it holds, the decoded frame included.
    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        let cost = self.decode_cost(bytes, info, Scales::FULL);
        let planes = info.model.planes() + usize::from(info.alpha);
        let frame = (info.pixels()).saturating_mul((planes * info.depth.bytes()) as u64);
        Cost {
            scratch: cost.scratch.saturating_add(frame),
            ..cost
        }
    }

    /// Decodes as `decode` does, at several scales while going through the file once; `how.scales` does
    /// not count. Each image is, to the bit, what `decode` gives at its scales. `None`: it cannot do this
    /// with this file.
    ///
    /// # Errors
    /// As `decode`; a damaged file may fail although not each of the scales alone would.
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

    /// Is it worth trying to decode at both scales at once?
    fn decodes_at_once(&self, info: &Info, one: Scales, other: Scales) -> bool {
        let _ = info;
        one == other
    }

    /// Estimated cost of [`Codec::index`], and the memory it holds; `None`: such images have none.
    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost> {
        let _ = (bytes, info);
        None
    }

    /// Estimated cost of [`Codec::draw`], and the memory it holds beside the result. `None`: what the window shows is not
    /// drawn by itself, as of all images that are stored as pixels.
    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost> {
        let _ = (bytes, info, window);
        None
    }

    /// Draws what a window shows of an image that is no pixels, in its size; `how.scales` does not count.
    ///
    /// # Errors
    /// As `decode`.
    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image> {
        let _ = (bytes, info, how, window);
        Err(Error::Internal(format!("{} draws nothing", self.name())))
    }

    /// The letters of a text that it has no glyph for, each once, if it is what draws texts.
    fn undrawn_letters(&self, text: &str) -> Vec<char> {
        let _ = text;
        Vec::new()
    }

    /// Goes through the file once and notes where decoding can begin, so that parts of the image are decoded without
    /// the rest ever after: bytes that only this codec understands, to be kept with the file's state. `how.scales` does
    /// not count. `None`: it cannot be done with this file, which may be damaged.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    fn index(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Option<Vec<u8>>> {
        let _ = (bytes, info, how);
        Ok(None)
    }

    /// The part, in px as stored, that is decoded where `wanted` is: at every scale it begins with a whole sample of
    /// every plane. `None`: the index is none of this file.
    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], wanted: Area) -> Option<Area> {
        let _ = (bytes, info, index, wanted);
        None
    }

    /// Decodes what `part` gave: to the bit what `decode` gives there. The frame is of the size of the part at
    /// `how.scales`.
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

    /// The frames that `open` gives, composed on their canvas; `None` for images that do not move, and for a codec
    /// that decodes nothing but their first frame.
    fn composed(&self, info: &Info) -> Option<Traits> {
        let _ = info;
        None
    }

    /// Opens an image that moves, at full scale, where `composed` says that it can.
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

    /// The name by which an image that moves is asked for in this format, among its own and its aliases; `None`:
    /// it holds none.
    fn animates(&self) -> Option<&'static str> {
        None
    }

    /// Do all programs that show this format show it moving? Where they do not, and cannot be told apart, an image that
    /// moves is written so only for those who ask for it by name.
    fn moves_everywhere(&self) -> bool {
        true
    }

    /// Begins an image that moves, where `animates` says that it can.
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

    /// Scales at which it decodes this image cheaper than in full, `Scale::FULL` included, smallest
    /// first.
    fn scales(&self, info: &Info) -> &'static [Scale] {
        let _ = info;
        &[Scale::FULL]
    }

    /// Can chroma planes be decoded at a smaller scale when luma is decoded at `luma`?
    fn splits_chroma(&self, info: &Info, luma: Scale) -> bool {
        let _ = (info, luma);
        false
    }

    /// The frame that `decode` at `scales` yields.
    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        let _ = scales;
        Traits {
            model: info.model,
            depth: info.depth,
            alpha: info.alpha,
            space: info.space,
        }
    }

    /// Estimated cost of decoding `bytes` bytes at `scales`, and the memory it holds beside the result.
    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost;

    /// The gain map in this file, if there is one that is understood; its pixels are not looked at. A broken one is
    /// none: the image is whole without it.
    fn gain_map(&self, bytes: &[u8], info: &Info) -> Option<GainHeader> {
        let _ = (bytes, info);
        None
    }

    /// Decodes the gain map that `gain_map` found. `how.scales` are among those of `scales` for the map's header.
    ///
    /// # Errors
    /// As `decode`.
    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
        let _ = (bytes, how);
        Err(Error::Internal(format!("{} has no gain map", self.name())))
    }

    /// Can its files hold a gain map that acts so? Then `encode` writes an image's.
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        let _ = params;
        false
    }

    /// Can it turn this file into one of format `to`, of which one is its own, without decoding it, so that nothing is
    /// lost, the turn that it is stored with included?
    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool {
        let _ = (bytes, info, to);
        false
    }

    /// Does that. `None`: it cannot be done with this file after all.
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

    /// Estimated cost of that.
    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost {
        let _ = (bytes, info);
        Cost::default()
    }

    /// What can be said about how it writes: words that formats share ([`andon_recipe::options`]), perhaps with fewer
    /// values, and words of its own, which recipes write as `with:NAME:VALUE`. None takes more than one argument.
    fn options(&self) -> &'static [&'static Word] {
        &[]
    }

    /// The format in which an image is written where none is asked for, if it is another than this one: of a format
    /// that is only read, one that every client shows.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        let _ = info;
        None
    }

    /// What a frame must be turned into before it can be written; `None` when the format cannot be
    /// written at all. The space of its colours is not the codec's affair: see `tags`.
    fn accepts(&self, have: Traits, how: &Encode) -> Option<Traits> {
        let _ = (have, how);
        None
    }

    /// Writes one image whose first frame is as `accepts` said.
    ///
    /// # Errors
    /// `Limit` (a side the format cannot hold), `Interrupted`, `Internal`.
    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let _ = (image, how, interrupt);
        Err(Error::Internal(format!("{} is not written", self.name())))
    }

    /// Writes as `encode` does, to the byte, perhaps with the help of idle cores.
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

    /// The ways in which files of this format say what their colours mean.
    fn tags(&self) -> Tags {
        Tags::None
    }

    /// Do browsers turn its stills by the orientation that `encode` finds in an image's EXIF block and writes?
    fn says_orientation(&self) -> bool {
        false
    }

    /// Does it count quality as JPEG does, so that a JPEG's own quality means something to it?
    fn inherits_quality(&self) -> bool {
        false
    }

    /// The quality of a new image, in a format that inherits quality but should not for this one.
    fn default_quality(&self) -> Option<u8> {
        None
    }

    /// Was the subsampling of its images chosen for each of them, so that their copies should keep it? Formats
    /// that know only one do not choose.
    fn hands_on_subsampling(&self) -> bool {
        false
    }

    /// Estimated cost of writing a frame of this size.
    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        let _ = (width, height, traits, how);
        Cost::default()
    }

    /// How many times as long as estimated the hardest images may take to write.
    fn encode_spread(&self, how: &Encode) -> u64 {
        let _ = how;
        1
    }

    /// Estimated cost of writing one of several frames, of which each may lean on those before.
    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        self.encode_cost(width, height, traits, how)
    }
}

/// What a format is called, and the revision of what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Lower-case, as in a recipe's `as:jpeg`.
    pub name: &'static str,
    /// Other names and file extensions that mean this format (without dots).
    pub aliases: &'static [&'static str],
    /// The media type of its files.
    pub media_type: &'static str,
    /// Counts the changes of the samples it reads and the bytes it writes, from 1: part of every ETag and cache
    /// key. A test of the `codecs` crate fails when they have changed and this number has not.
    pub revision: u32,
}

/// What of a codec's work is done by code of others that is not bounded from inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// Reading headers: whatever looks at a file and gives no pixels.
    pub headers: bool,
    /// Reading pixels.
    pub reads: bool,
    /// Writing.
    pub writes: bool,
}

impl Foreign {
    /// Reading, headers and pixels.
    pub const READS: Self = Self {
        headers: true,
        reads: true,
        writes: false,
    };
}

/// How files of a format say what their colours mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Not at all: they are taken for sRGB.
    None,
    /// By an ICC profile.
    Icc,
    /// By an ICC profile or by code points.
    IccOrCodePoints,
    /// By an ICC profile and by code points, as not all that read the format know the latter.
    IccAndCodePoints,
}

/// What a header tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The codec's name.
    pub format: &'static str,
    /// Width as stored, before any orientation.
    pub width: u32,
    /// Height as stored.
    pub height: u32,
    /// Model of the decoded planes at full scale.
    pub model: Model,
    /// Bits of the decoded samples (fewer than 8 are widened to 8).
    pub depth: Depth,
    /// Is there an alpha plane (or a transparent colour)?
    pub alpha: bool,
    /// The space of its colours.
    pub space: Space,
    /// Is it a palette image? Resampled with a softer kernel, as the module does.
    pub palette: bool,
    /// How many frames; at least 1. They are counted without unpacking any.
    pub frames: u32,
    /// The animation's header (loops, canvas), if there are several frames.
    pub animation: Option<Animation>,
    /// How the image as stored becomes upright, as browsers read it: in EXIF or elsewhere.
    pub orientation: Orientation,
    /// The quality it was written with, as far as the tables tell (1–100).
    pub quality: Option<u8>,
    /// Lossless WebP, PNG, GIF.
    pub lossless: bool,
    /// Progressive JPEG, interlaced PNG or GIF.
    pub progressive: bool,
    /// EXIF, XMP, IPTC or comments: what stands beside the pixels, but for what says what their colours are.
    pub metadata: bool,
    /// Bytes that decoding holds beside the frame at any scale, where its size alone does not tell.
    pub decoder_bytes: u64,
    /// Nanoseconds that decoding a frame takes beyond what its size and the length of its file tell, such as for coded
    /// frames that are never shown.
    pub decoder_nanos: u64,
    /// Bytes that a file has at least which holds so many pixels; 0 where the format can say any number of them in a few.
    pub fewest_bytes: u64,
    /// Offset of the frame on its page (PNG oFFs, GIF frame): added to a region's x and y.
    pub page_offset: (i32, i32),
}

/// What a file tells of its gain map.
#[derive(Clone, Debug, PartialEq)]
pub struct GainHeader {
    /// The map's own header. It shows all of the image, as stored.
    pub info: Info,
    /// How many bytes of the file are the map.
    pub bytes: u64,
    /// The parameters by which the map brightens the image.
    pub params: GainParams,
}

impl Info {
    /// A still of 8 bits a sample without alpha, lossy, of which nothing else is known.
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

    /// Pixels as stored.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Width and height decoded at a scale: rounded up, as JPEG does.
    #[must_use]
    pub fn scaled(&self, scale: Scale) -> (u32, u32) {
        (scale.of(self.width), scale.of(self.height))
    }
}

/// A decoding scale, in eighths: 1, 2, 4 or 8 for the powers of two; any other for a codec that offers it, larger than
/// the image where it is drawn at any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scale(pub u8);

impl Scale {
    /// 1/1.
    pub const FULL: Self = Self(8);
    /// 1/2.
    pub const HALF: Self = Self(4);
    /// 1/4.
    pub const QUARTER: Self = Self(2);
    /// 1/8.
    pub const EIGHTH: Self = Self(1);

    /// A length at this scale, rounded up.
    #[must_use]
    pub fn of(self, length: u32) -> u32 {
        ((u64::from(length) * u64::from(self.0)).div_ceil(8)) as u32
    }

    /// As a factor: 0.125 to 1, and above for what is drawn.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 8.0
    }
}

/// The scales of one decode. Chroma's is relative to the chroma plane's own stored size: with both
/// `HALF`, a 4:2:0 image stays 4:2:0; luma `HALF` and chroma `QUARTER` make 4:2:0 of a 4:4:4 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scales {
    /// Of luma, and of every full-size plane.
    pub luma: Scale,
    /// Of thinned or thinnable planes (Cb, Cr); never above `luma`.
    pub chroma: Scale,
}

impl Scales {
    /// Everything in full.
    pub const FULL: Self = Self::both(Scale::FULL);

    /// One scale for all planes.
    #[must_use]
    pub const fn both(scale: Scale) -> Self {
        Self {
            luma: scale,
            chroma: scale,
        }
    }

    /// The subsampling of a frame decoded at these scales from an image with `stored` subsampling.
    #[must_use]
    pub fn subsampling(self, stored: Subsampling) -> Subsampling {
        let ratio = self.luma.0 / self.chroma.0;
        Subsampling {
            h: stored.h * ratio,
            v: stored.v * ratio,
        }
    }
}

/// How to decode.
#[derive(Clone, Copy)]
pub struct Decode<'a> {
    /// The scales, out of those the codec offered.
    pub scales: Scales,
    /// Ceilings.
    pub limits: &'a Limits,
    /// Is the result still wanted?
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that may be borrowed.
    pub cores: &'a dyn Cores,
    /// Read the ICC profile into the frame's colour and EXIF into the image's metadata.
    pub keep_metadata: bool,
}

/// How to encode. Everything in it that is asked for is among the codec's [`Codec::options`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encode {
    /// As asked or the source's own, 1 to 100; `None`: the format's default, also where a lossless file has none.
    pub quality: Option<u8>,
    /// Nothing may be lost.
    pub lossless: bool,
    /// Bits per sample; `None`: as many as the frame has, as far as the format holds them.
    pub depth: Option<Depth>,
    /// Progressive, Adam7, interlaced.
    pub progressive: bool,
    /// Chroma subsampling, as asked or as in a JPEG source; `None`: 4:4:4 from quality 90, else 4:2:0.
    pub chroma: Option<Subsampling>,
    /// 0 (fast) to 9 (small); `None`: the format's fast default.
    pub effort: Option<u8>,
    /// The format's own options, by name.
    pub options: BTreeMap<String, String>,
    /// The source had a palette: there are few colours, and what lies between them where it was scaled. Nobody asks for
    /// that; a format may make use of it where it is not seen.
    pub few_colours: bool,
}

impl Encode {
    /// The value of one of the format's own options.
    #[must_use]
    pub fn option(&self, word: &Word) -> Option<&str> {
        self.options.get(word.name).map(String::as_str)
    }
}
