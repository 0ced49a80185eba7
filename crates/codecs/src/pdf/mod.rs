//! PDF: the first page, drawn at the requested size. PDFs are only read, and only by builds with the feature `pdf`: the
//! interpreter of a page cannot be interrupted, so it is for files from people you trust.

use andon_pixels::{
    Codec, Cost, Decode, Format, Image, Info, Isolation, Result, Scale, Scales, Vector, Window,
};

use crate::drawn::{self, Drawing};

#[cfg(feature = "pdf")]
mod draw;
#[cfg(not(feature = "pdf"))]
#[path = "refused.rs"]
mod draw;
#[cfg(feature = "pdf")]
mod weigh;

/// The format's name, as used in errors and recipes.
pub(crate) const NAME: &str = "pdf";

/// The PDF codec.
#[derive(Debug)]
pub(crate) struct Pdf;

impl Codec for Pdf {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "application/pdf",
            revision: 2,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"%PDF-")
    }

    /// Returns the size of the first page in points, of 1/72 inch, each of which is one pixel.
    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        draw::probe(bytes)
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        draw::draw(bytes, info, how, info.scaled(how.scales.luma))
    }

    fn scales(&self, _info: &Info) -> &'static [Scale] {
        drawn::SCALES
    }

    /// Returns a rough estimate, because the content of the page is unknown before it is interpreted.
    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        drawn::cost(bytes, info.scaled(scales.luma), &DRAWING)
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }

    fn vector(&self) -> Option<&dyn Vector> {
        Some(self)
    }
}

impl Vector for Pdf {
    /// Estimates the cost of drawing a whole page. Returns `None` for a part of a page, because parts are cut out of
    /// the whole page.
    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost> {
        let whole = window.is_whole((info.width, info.height));
        whole.then(|| drawn::cost(bytes, window.to, &DRAWING))
    }

    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image> {
        draw::draw(bytes, info, how, window.to)
    }
}

const DRAWING: Drawing = Drawing {
    nanos_per_byte: 200,
    nanos_per_pixel: 60,
    // The page, transparency groups and masks.
    layers: 4,
    small_layers: 0,
    // Streams are compressed; fonts and images are stored unpacked.
    memory_per_byte: 20,
    memory: 0,
};
