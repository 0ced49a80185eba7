//! Placeholders, which are only written. BlurHash and ThumbHash are short texts from which a page draws a blurred image
//! until the real one is loaded. The palette lists an image's colours.

mod average;
mod palette;

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Encoder, Error, Format, Image, Info, Interrupt, Model,
    Result, Scales, Traits,
};
use andon_recipe::{Arg, Word};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use average::Average;

/// One kind of placeholder: BlurHash, ThumbHash or the palette.
#[derive(Debug)]
pub(crate) struct Placeholder {
    name: &'static str,
    media_type: &'static str,
    options: &'static [&'static Word],
    /// Whether the placeholder includes opacity.
    alpha: bool,
    text: fn(&Average, &Encode) -> Result<String>,
}

/// BlurHash (<https://blurha.sh>), encoded in base 83.
pub(crate) static BLURHASH: Placeholder = Placeholder {
    name: "blurhash",
    media_type: "text/plain",
    options: &[&ACROSS, &DOWN],
    alpha: false,
    text: blurhash,
};

/// ThumbHash (<https://evanw.github.io/thumbhash>), encoded in base64. It includes opacity and the aspect ratio.
pub(crate) static THUMBHASH: Placeholder = Placeholder {
    name: "thumbhash",
    media_type: "text/plain",
    options: &[],
    alpha: true,
    text: thumbhash,
};

/// The average colour and a palette, as JSON.
pub(crate) static PALETTE: Placeholder = Placeholder {
    name: "palette",
    media_type: "application/json",
    options: &[&COUNT],
    alpha: true,
    text: |small, how| Ok(palette::text(small, count(&COUNT, how)? as usize)),
};

const COUNT: Word = Word {
    name: "count",
    args: &[Arg::whole("count", 1, 256)
        .default("5")
        .help("how many at most")],
    help: "colours that stand for all of an image's",
    example: "with:count:8",
};

const COMPONENTS: Arg = Arg::whole("count", 1, 9).default("4");

const ACROSS: Word = Word {
    name: "across",
    args: &[COMPONENTS.help("how many")],
    help: "components from left to right",
    example: "with:across:4",
};

const DOWN: Word = Word {
    name: "down",
    args: &[COMPONENTS.default("3").help("how many")],
    help: "components from top to bottom",
    example: "with:down:3",
};

impl Codec for Placeholder {
    fn format(&self) -> Format {
        Format {
            name: self.name,
            aliases: &[],
            media_type: self.media_type,
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, _head: &[u8]) -> bool {
        false
    }

    fn probe(&self, _bytes: &[u8]) -> Result<Info> {
        Err(Error::UnknownFormat)
    }

    fn decode(&self, _bytes: &[u8], _info: &Info, _how: &Decode<'_>) -> Result<Image> {
        Err(Error::UnknownFormat)
    }

    fn decode_cost(&self, _bytes: u64, _info: &Info, _scales: Scales) -> Cost {
        Cost::default()
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Placeholder {
    fn options(&self) -> &'static [&'static Word] {
        self.options
    }

    fn accepts(&self, have: Traits, _how: &Encode) -> Traits {
        Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            alpha: self.alpha && have.alpha,
            ..have
        }
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let small = Average::of(&image.frame, MOST_SIDE, interrupt)?;
        (self.text)(&small, how).map(String::into_bytes)
    }

    fn encode_cost(&self, width: u32, height: u32, _: Traits, _: &Encode) -> Cost {
        let pixels = u64::from(width) * u64::from(height);
        let small = u64::from(MOST_SIDE * MOST_SIDE);
        Cost {
            nanos: pixels * NANOS_AVERAGED + pixels.min(small) * NANOS_HASHED,
            scratch: 64 << 10,
        }
    }
}

fn blurhash(small: &Average, how: &Encode) -> Result<String> {
    let (across, down) = (count(&ACROSS, how)?, count(&DOWN, how)?);
    let (width, height) = (small.width, small.height);
    blurhash::encode(across, down, width, height, &small.rgba)
        .map_err(|error| Error::Internal(format!("blurhash: {error}")))
}

/// Returns the value of an option whose argument is a whole number, from one to a few hundred.
fn count(word: &Word, how: &Encode) -> Result<u32> {
    let arg = &word.args[0];
    let text = how.option(word).or(arg.default).unwrap_or_default();
    let count = arg.read_whole(text).map(|count| count as u32);
    count.map_err(|error| Error::Recipe {
        piece: text.to_owned(),
        why: error.to_string(),
    })
}

fn thumbhash(small: &Average, _how: &Encode) -> Result<String> {
    let (width, height) = (small.width as usize, small.height as usize);
    let hash = thumbhash::rgba_to_thumb_hash(width, height, &small.rgba);
    Ok(BASE64_STANDARD.encode(hash))
}

/// Maximum side in px of the image from which a placeholder is made. It is the limit of ThumbHash, and BlurHash's nine
/// components per side show no finer detail.
const MOST_SIDE: u32 = 100;

/// Estimated time to average a pixel, in ns.
const NANOS_AVERAGED: u64 = 2;
/// Estimated time to hash a pixel of the reduced image, in ns.
const NANOS_HASHED: u64 = 150;
