//! Encoders: how images and animations are written.

use std::collections::BTreeMap;

use andon_recipe::Word;

use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Depth, GainParams, Image, Subsampling, Traits};
use crate::limits::Interrupt;
use crate::sequence::{FrameWriter, Head};

/// Writes images in one format.
pub trait Encoder: Send + Sync {
    /// Returns the encoding options of this format: words that formats share ([`andon_recipe::options`]), possibly with
    /// fewer values, and words of its own, which recipes write as `with:NAME:VALUE`. No word takes more than one
    /// argument.
    fn options(&self) -> &'static [&'static Word] {
        &[]
    }

    /// Returns the traits that a frame must be converted to before it can be written. The codec does not convert the
    /// colour space: see `tags`.
    fn accepts(&self, have: Traits, how: &Encode) -> Traits;

    /// Encodes an image whose frame has the traits that `accepts` returned.
    ///
    /// # Errors
    /// `Limit` (a side the format cannot hold), `Interrupted`, `Internal`.
    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>>;

    /// Encodes as `encode` does, with byte-identical output; may use idle cores.
    ///
    /// # Errors
    /// Those of `encode`.
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

    /// Whether this format uses JPEG's scale of quality, so that a JPEG's quality can be reused for it.
    fn inherits_quality(&self) -> bool {
        false
    }

    /// Estimates the cost of encoding a frame of this size.
    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost;

    /// Returns the longest time that an encode may take, as a multiple of the estimate of `encode_cost`.
    fn encode_spread(&self, how: &Encode) -> u64 {
        let _ = how;
        1
    }

    /// Whether files of this format can hold a gain map with these parameters. If so, `encode` writes the image's gain
    /// map.
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        let _ = params;
        false
    }

    /// Returns the encoder of animations in this format; `None` for formats of still images.
    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        None
    }
}

/// Writes animations frame by frame.
pub trait AnimationEncoder: Send + Sync {
    /// Returns the name, the format's own or an alias, by which an animation in this format is requested.
    fn requested_as(&self) -> &'static str;

    /// Whether every program that shows this format also plays its animations. If not, and if such programs cannot be
    /// told apart, animations are written in this format only when a request names it.
    fn moves_everywhere(&self) -> bool {
        true
    }

    /// Starts to write an animated image.
    ///
    /// # Errors
    /// Those of `encode`.
    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>>;

    /// Estimates the cost of encoding one frame of an animation, which may depend on the frames before it.
    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost;
}

/// How files of a format declare their colour space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// No declaration: colours are taken for sRGB.
    None,
    /// An ICC profile.
    Icc,
    /// An ICC profile or the code points of ITU-T H.273.
    IccOrCodePoints,
    /// Both an ICC profile and the code points of ITU-T H.273, since not all readers of the format know code points.
    IccAndCodePoints,
}

/// Parameters of an encode. Every option that is set is among the codec's [`Encoder::options`].
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
