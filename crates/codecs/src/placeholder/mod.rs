//! Placeholders: BlurHash and ThumbHash, a few bytes of text from which a page draws a blurred image until the real
//! one is there. Only written.

mod average;

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Error, Format, Frame, Image, Info, Interrupt, Model,
    Result, Scales, Traits,
};
use andon_recipe::{Arg, Word};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use average::Average;

/// BlurHash (<https://blurha.sh>): base 83.
#[derive(Debug)]
pub(crate) struct BlurHash;

/// ThumbHash (<https://evanw.github.io/thumbhash>), in base64: with opacity and the aspect ratio.
#[derive(Debug)]
pub(crate) struct ThumbHash;

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

impl Codec for BlurHash {
    fn format(&self) -> Format {
        Format {
            name: "blurhash",
            aliases: &[],
            media_type: "text/plain",
            revision: 1,
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

    fn options(&self) -> &'static [&'static Word] {
        &[&ACROSS, &DOWN]
    }

    fn accepts(&self, have: Traits, _how: &Encode) -> Option<Traits> {
        Some(rgb(have, false))
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let small = Average::of(first(image)?, MOST_SIDE, interrupt)?;
        let count = |word: &Word| {
            let arg = &word.args[0];
            let text = how.option(word).or(arg.default).unwrap_or_default();
            // One to nine.
            let count = arg.read_whole(text).map(|count| count as u32);
            count.map_err(|error| Error::Recipe {
                piece: text.to_owned(),
                why: error.to_string(),
            })
        };
        let hash = blurhash::encode(
            count(&ACROSS)?,
            count(&DOWN)?,
            small.width,
            small.height,
            &small.rgba,
        );
        let hash = hash.map_err(|error| Error::Internal(format!("blurhash: {error}")))?;
        Ok(hash.into_bytes())
    }

    fn encode_cost(&self, width: u32, height: u32, _: Traits, _: &Encode) -> Cost {
        cost(width, height)
    }
}

impl Codec for ThumbHash {
    fn format(&self) -> Format {
        Format {
            name: "thumbhash",
            aliases: &[],
            media_type: "text/plain",
            revision: 1,
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

    fn accepts(&self, have: Traits, _how: &Encode) -> Option<Traits> {
        Some(rgb(have, have.alpha))
    }

    fn encode(&self, image: &Image, _how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let small = Average::of(first(image)?, MOST_SIDE, interrupt)?;
        let (width, height) = (small.width as usize, small.height as usize);
        let hash = thumbhash::rgba_to_thumb_hash(width, height, &small.rgba);
        Ok(BASE64_STANDARD.encode(hash).into_bytes())
    }

    fn encode_cost(&self, width: u32, height: u32, _: Traits, _: &Encode) -> Cost {
        cost(width, height)
    }
}

/// ThumbHash takes no more; none of the nine components across shows finer detail.
const MOST_SIDE: u32 = 100;

fn rgb(have: Traits, alpha: bool) -> Traits {
    Traits {
        model: Model::Rgb,
        depth: Depth::U8,
        alpha,
        ..have
    }
}

fn first(image: &Image) -> Result<&Frame> {
    let first = image.frames.first();
    first.ok_or_else(|| Error::Internal("an image without frames".to_owned()))
}

fn cost(width: u32, height: u32) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let small = u64::from(MOST_SIDE * MOST_SIDE);
    Cost {
        nanos: pixels * NANOS_AVERAGED + pixels.min(small) * NANOS_HASHED,
        scratch: 64 << 10,
    }
}

/// Estimated.
const NANOS_AVERAGED: u64 = 2;
const NANOS_HASHED: u64 = 150;
