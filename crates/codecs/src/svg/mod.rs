//! SVG, drawn by `resvg` directly at the requested size. No other file and no address is opened.

use andon_pixels::{
    Codec, Cost, Decode, Drawings, Format, Image, Info, Isolation, Metadata, Model, Result, Scale,
    Scales, Vector, Window,
};

use crate::drawn;

mod css;
mod document;
mod draw;
mod drawings;
mod encoding;
mod entities;
mod filters;
mod ground;
mod images;
mod markup;
mod numbers;
mod outline;
mod prolog;
mod references;
mod resolver;
mod size;
mod steps;
mod strokes;
mod undrawn;
mod weigh;

/// The format's name in errors and recipes.
const NAME: &str = "svg";

/// The SVG codec, which only reads.
#[derive(Debug)]
pub(crate) struct Svg;

impl Codec for Svg {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["svgz"],
            media_type: "image/svg+xml",
            revision: 3,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        document::sniff(head)
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let (width, height) = size::size(bytes)?;
        Ok(Info {
            alpha: true,
            lossless: true,
            ..Info::new(NAME, width, height, Model::Rgb)
        })
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let window = Window::whole((info.width, info.height), info.scaled(how.scales.luma));
        self.draw(bytes, info, how, &window)
    }

    fn end(&self, bytes: &[u8], _how: &Decode<'_>) -> Result<usize> {
        document::end(bytes)
    }

    fn scales(&self, _info: &Info) -> &'static [Scale] {
        drawn::SCALES
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        drawn::cost(bytes, info.scaled(scales.luma), &draw::DRAWING)
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }

    fn vector(&self) -> Option<&dyn Vector> {
        Some(self)
    }

    fn drawings(&self) -> Option<&dyn Drawings> {
        Some(self)
    }
}

impl Vector for Svg {
    fn draw_cost(&self, bytes: u64, _info: &Info, window: &Window) -> Option<Cost> {
        Some(drawn::cost(bytes, window.to, &draw::DRAWING))
    }

    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image> {
        let (frame, undrawn) = draw::draw(bytes, info, how, window)?;
        Ok(Image {
            undrawn,
            ..Image::read(frame, Metadata::default(), info.space)
        })
    }
}
