//! PNM: gray (`P5`) and RGB (`P6`) with 8 bits per sample, for reading and writing.

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Encoder, Error, Format, Frame, Grid, Image, Info,
    Interrupt, Metadata, Model, Plane, Result, Scales, Traits,
};

use crate::guard;

/// The format's name in errors and recipes.
const NAME: &str = "pnm";

/// The PNM codec.
#[derive(Debug)]
pub(crate) struct Pnm;

/// The header before the samples.
struct Header {
    model: Model,
    width: u32,
    height: u32,
    /// Offset of the first sample.
    samples: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self> {
        let broken = |why| Error::broken(NAME, why);
        let model = match bytes.get(..2) {
            Some(b"P5") => Model::Gray,
            _ => Model::Rgb,
        };
        let mut at = 2;
        let mut number = || {
            while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            let digits = bytes[at..].iter().take_while(|it| it.is_ascii_digit());
            let end = at + digits.count();
            let number = std::str::from_utf8(&bytes[at..end]).ok()?.parse().ok();
            at = end;
            number
        };
        let numbers = (number(), number(), number());
        let (Some(width), Some(height), Some(255_u32)) = numbers else {
            return Err(broken(
                "its header is cut off, or is not of 8 bits a sample",
            ));
        };
        if width == 0 || height == 0 {
            return Err(broken("it has no pixels"));
        }
        Ok(Self {
            model,
            width,
            height,
            samples: at + 1,
        })
    }

    fn end(&self) -> usize {
        self.samples + self.model.planes() * self.width as usize * self.height as usize
    }
}

impl Codec for Pnm {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["pgm", "ppm"],
            media_type: "image/x-portable-anymap",
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        matches!(head.get(..3), Some([b'P', b'5' | b'6', b'\n' | b' ']))
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let header = Header::read(bytes)?;
        Ok(Info {
            lossless: true,
            ..Info::new(NAME, header.width, header.height, header.model)
        })
    }

    fn decode(&self, bytes: &[u8], info: &Info, options: &Decode<'_>) -> Result<Image> {
        let header = Header::read(bytes)?;
        guard::check_probed(header.width, header.height, info, options.limits)?;
        let planes = header.model.planes();
        let samples = bytes.get(header.samples..header.end());
        let samples = samples.ok_or_else(|| Error::broken(NAME, "it is cut off"))?;
        let plane = |index: usize| {
            let plane = samples.iter().skip(index).step_by(planes).copied();
            Grid::from_samples(header.width, header.height, plane.collect()).map(Plane::U8)
        };
        let planes = (0..planes).map(plane).collect::<Result<_>>()?;
        let frame = Frame::new(header.model, header.width, header.height, planes, None)?;
        Ok(Image::read(frame, Metadata::default(), info.space))
    }

    fn end(&self, bytes: &[u8], _options: &Decode<'_>) -> Result<usize> {
        Ok(Header::read(bytes)?.end())
    }

    fn decode_cost(&self, bytes: u64, _info: &Info, _scales: Scales) -> Cost {
        Cost {
            nanos: bytes,
            scratch: 0,
        }
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Pnm {
    fn accepts(&self, have: Traits, _how: &Encode) -> Traits {
        Traits {
            model: match have.model {
                Model::Gray => Model::Gray,
                _ => Model::Rgb,
            },
            depth: Depth::U8,
            alpha: false,
            ..have
        }
    }

    fn encode(&self, image: &Image, _how: &Encode, _: &dyn Interrupt) -> Result<Vec<u8>> {
        let frame = &image.frame;
        let planes: Vec<&[u8]> = (frame.planes.iter())
            .filter_map(|plane| Some(plane.as_u8()?.samples()))
            .collect();
        let kind = if planes.len() == 1 { 5 } else { 6 };
        let mut file = format!("P{kind}\n{} {}\n255\n", frame.width, frame.height).into_bytes();
        for at in 0..planes.first().map_or(0, |plane| plane.len()) {
            file.extend(planes.iter().map(|plane| plane[at]));
        }
        Ok(file)
    }

    fn encode_cost(&self, width: u32, height: u32, _: Traits, _: &Encode) -> Cost {
        let bytes = 3 * u64::from(width) * u64::from(height);
        Cost {
            nanos: bytes,
            scratch: bytes,
        }
    }
}
