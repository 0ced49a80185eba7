//! The images embedded in an SVG, only from `data:` URLs, decoded by this crate's codecs with the same limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use andon_pixels::color::Convert;
use andon_pixels::{
    Alone, Bound, Codec, Context, Decode, Depth, Encode, Encoder, Error, Image, Interrupt, Limits,
    Model, Never, Result, Scales, Stage, Traits,
};
use resvg::usvg::{ImageHrefResolver, ImageKind, Options, Size};

use super::document::Inside;
use super::resolver::resolver;
use super::steps::Steps;
use super::{document, size};
use crate::avif::Avif;
use crate::bmp::Bmp;
use crate::fonts;
use crate::gif::Gif;
use crate::heic::Heic;
use crate::ico::Ico;
use crate::jpeg::Jpeg;
use crate::jxl::Jxl;
use crate::pdf::Pdf;
use crate::png::Png;
use crate::psd::Psd;
use crate::raw::Raw;
use crate::tiff::Tiff;
use crate::webp::Webp;

/// The formats of embedded images, in the order in which they are recognised: all formats that can be read, except
/// drawings.
const EMBEDDED: &[&dyn Codec] = &[
    &Jpeg, &Png, &Webp, &Gif, &Avif, &Heic, &Jxl, &Bmp, &Ico, &Raw, &Tiff, &Psd, &Pdf,
];

/// Maximum number of pixels of all images embedded in an SVG together, whatever the length of the file.
const PIXELS: u64 = 16 << 20;

/// Bytes for each pixel of an embedded image while it is decoded, encoded again and drawn.
const PIXEL_BYTES: u64 = 12;

/// Maximum time in ns for decoding an embedded image, in addition to the time for its pixels.
const HIDDEN_NANOS: u64 = 200_000_000;

/// Returns options for `usvg` that open no files and no addresses, and use only the fonts of this crate. Embedded
/// images may use up to `memory` bytes.
pub(super) fn options<'a>(how: &Decode<'a>, memory: u64) -> Options<'a> {
    let (limits, interrupt) = (*how.limits, how.interrupt);
    let most = PIXELS.min(memory / PIXEL_BYTES);
    let pixel_budget = AtomicU64::new(most);
    let resolver = ImageHrefResolver {
        resolve_data: Box::new(move |_, data: Arc<Vec<u8>>, _| {
            if document::sniff_inside(&data) {
                return nested(&data);
            }
            // Images that cannot be decoded are left out.
            let png = raster(&data, &limits, interrupt, (&pixel_budget, most)).ok()?;
            Some(ImageKind::PNG(Arc::new(png)))
        }),
        ..closed()
    };
    with(resolver)
}

/// Returns a resolver that resolves no image.
fn closed() -> ImageHrefResolver<'static> {
    ImageHrefResolver {
        resolve_data: Box::new(|_, _, _| None),
        resolve_string: Box::new(|_, _| None),
    }
}

fn with(image_href_resolver: ImageHrefResolver<'_>) -> Options<'_> {
    let fonts = fonts::installed();
    let defaults = Options::default();
    Options {
        fontdb: fonts.database().clone(),
        font_family: fonts.default_family().to_owned(),
        font_resolver: resolver(fonts),
        image_href_resolver,
        default_size: Size::from_wh(size::DEFAULT.0, size::DEFAULT.1)
            .unwrap_or(defaults.default_size),
        ..defaults
    }
}

/// Parses an SVG embedded in another one. Images in the embedded SVG are left out.
fn nested(data: &[u8]) -> Option<ImageKind> {
    let text = document::text(data).ok()?;
    let document = document::parse(&text).ok()?;
    document::weigh(&document, Inside::Nothing, &Steps::new()).ok()?;
    let tree = document::tree(&document, &with(closed())).ok()?;
    Some(ImageKind::SVG(tree))
}

/// Converts an embedded image of any format but SVG to PNG, which `resvg` can read.
fn raster(
    data: &[u8],
    limits: &Limits,
    interrupt: &dyn Interrupt,
    (pixel_budget, most): (&AtomicU64, u64),
) -> Result<Vec<u8>> {
    let codec = EMBEDDED.iter().find(|codec| codec.sniff(data));
    let codec = codec.ok_or(Error::UnknownFormat)?;
    let info = codec.probe(data)?;
    // The decoder's additional memory is counted as pixels.
    let pixels = info.pixels() + info.decoder_bytes / PIXEL_BYTES;
    let take = |pixel_budget: u64| pixel_budget.checked_sub(pixels);
    let reservation = pixel_budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    if reservation.is_err() || info.decoder_nanos > HIDDEN_NANOS {
        return Err(Error::Limit {
            bound: Bound::PIXELS,
            value: pixels,
            limit: most,
        });
    }
    let how = Decode {
        scales: Scales::FULL,
        limits,
        interrupt,
        cores: &Alone,
        keep_metadata: false,
    };
    let Image { frame, .. } = codec.decode(data, &info, &how)?;
    let space = frame.colour.space;
    let to = Traits {
        alpha: frame.alpha.is_some(),
        space,
        ..Traits::new(Model::Rgb, Depth::U8)
    };
    let context = Context {
        overlays: &|_| Err(Error::UnknownFormat),
        draw: &|_| Err(Error::UnknownFormat),
        interrupt,
        cores: &Alone,
    };
    let frame = Convert { to, from: space }.apply(frame, &context)?;
    // Fast settings, because `resvg` decodes the file immediately.
    let quickly = Encode {
        effort: Some(0),
        ..Encode::default()
    };
    Png.encode(&Image::still(frame), &quickly, &Never)
}
