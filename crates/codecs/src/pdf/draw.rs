//! Draws the first page to planes, with hayro.

use std::panic::{self, AssertUnwindSafe};

use andon_pixels::{
    Bound, Decode, Error, Frame, Grid, Image, Info, Interrupt, Metadata, Model, Plane, Result,
};
use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use hayro::hayro_syntax::page::Page;
use hayro::hayro_syntax::{LoadPdfError, Pdf};
use hayro::kurbo::{Affine, Rect};
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};

use super::NAME;
use super::weigh::Weigh;
use crate::guard;

/// Reads the document's structure and the boxes of the first page.
pub(super) fn probe(bytes: &[u8]) -> Result<Info> {
    let document = open(bytes)?;
    let (width, height) = size(first(&document)?);
    Ok(Info {
        lossless: true,
        ..Info::new(NAME, width, height, Model::Rgb)
    })
}

/// Draws the first page on white, at the given size in px.
pub(super) fn draw(
    bytes: &[u8],
    info: &Info,
    how: &Decode<'_>,
    (width, height): (u32, u32),
) -> Result<Image> {
    guard::size(info.width, info.height, how.limits)?;
    guard::size(width, height, how.limits)?;
    guard::at_most(
        Bound::SIDE,
        u64::from(width.max(height)),
        u64::from(u16::MAX),
    )?;
    guard::check_interrupt(how.interrupt)?;
    let document = open(bytes)?;
    let page = first(&document)?;
    if size(page) != (info.width, info.height) {
        return Err(Error::Internal(
            "these are not the bytes that were probed".to_owned(),
        ));
    }
    weigh(page, (width, height), how.interrupt)?;
    let (own_width, own_height) = page.render_dimensions();
    let settings = PixmapSettings {
        x_scale: scale(width, own_width),
        y_scale: scale(height, own_height),
        bg_color: WHITE,
    };
    let pixmap = survive(|| {
        let (cache, render) = (RenderCache::new(), RenderSettings::default());
        hayro::render(page, &cache, &Default::default(), &render, &settings)
    })?;
    guard::check_interrupt(how.interrupt)?;
    let frame = planes(pixmap.data_as_u8_slice(), width, height)?;
    Ok(Image::read(frame, Metadata::default(), info.space))
}

fn open(bytes: &[u8]) -> Result<Pdf> {
    survive(|| Pdf::new(bytes.to_vec()))?.map_err(|error| match error {
        LoadPdfError::Invalid => Error::broken(NAME, "it has no readable structure"),
        LoadPdfError::Decryption(_) => Error::unsupported(NAME, "encrypted documents"),
    })
}

fn first(document: &Pdf) -> Result<&Page<'_>> {
    let page = survive(|| document.pages().first())?;
    page.ok_or_else(|| Error::broken(NAME, "it has no page"))
}

/// Returns the size of a page in px, with one pixel per point (1/72 inch), rounded to whole pixels. Each side is at
/// least 1 px.
fn size(page: &Page<'_>) -> (u32, u32) {
    let (width, height) = page.render_dimensions();
    let whole = |side: f32| (side.round() as u32).max(1);
    (whole(width), whole(height))
}

/// Returns the pixels per point, rounded up slightly: hayro truncates the product with the page's own side to whole
/// pixels.
fn scale(side: u32, page_side: f32) -> f32 {
    side as f32 / page_side * (1.0 + 4.0 * f32::EPSILON)
}

/// Runs code that may panic on unexpected files, or be stopped by unwinding, and returns an error in either case.
fn survive<T>(run: impl FnOnce() -> T) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|panic| match panic.downcast::<Error>() {
        Ok(stopped) => *stopped,
        Err(_) => Error::broken(NAME, "it cannot be interpreted"),
    })
}

/// Interprets the page without drawing it.
///
/// # Errors
/// If drawing the page would take too long; `Interrupted`.
fn weigh(page: &Page<'_>, (width, height): (u32, u32), interrupt: &dyn Interrupt) -> Result<()> {
    let (across, down) = page.render_dimensions();
    let to_pixels = Affine::scale_non_uniform(
        f64::from(scale(width, across)),
        f64::from(scale(height, down)),
    ) * page.initial_transform(true).to_kurbo();
    let canvas = Rect::new(0.0, 0.0, width.into(), height.into());
    survive(|| {
        let cache = InterpreterCache::new();
        let settings = InterpreterSettings::default();
        let mut context = Context::new(to_pixels, canvas, &cache, page.xref(), settings);
        interpret_page(page, &mut context, &mut Weigh::new(canvas, interrupt));
    })
}

/// Splits opaque RGBA pixels into planes of red, green and blue.
fn planes(rgba: &[u8], width: u32, height: u32) -> Result<Frame> {
    let plane = |channel: usize| {
        let samples = rgba.iter().skip(channel).step_by(4).copied().collect();
        Grid::from_samples(width, height, samples).map(Plane::U8)
    };
    let planes = (0..3).map(plane).collect::<Result<_>>()?;
    Frame::of_planes(Model::Rgb, planes)
}
