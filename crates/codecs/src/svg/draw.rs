//! Draws an SVG and converts the pixels to planes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use andon_pixels::{Decode, Error, Frame, Grid, Info, Model, Plane, Result, Window};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::Tree;
use resvg::usvg::roxmltree::Document;
use svgtypes::Color;

use super::document::{self, Inside, unsupported};
use super::ground::Ground;
use super::size;
use super::steps::Steps;
use super::weigh::{Budget, Refused, weigh};
use super::{images, undrawn};
use crate::drawn::Drawing;
use crate::guard;

/// Base of the time limit for drawing an SVG, in ns. The limit is `WORK` plus `WORK_PER_PIXEL` for each pixel of the
/// image, but at most `MOST_WORK`.
const WORK: f64 = 1e9;

/// Time in ns by which each pixel of the image increases the time limit for drawing an SVG. It is enough to paint a
/// large image several times.
const WORK_PER_PIXEL: f64 = 300.0;

/// Maximum of the time limit for drawing an SVG, in ns, for images of any size.
const MOST_WORK: f64 = 1.8e9;

/// Maximum time in ns for reading an SVG document before it is drawn. Elements that others refer to several times are
/// counted each time. Reading also strokes curves, to determine their extent.
const READING: f64 = 6e8;

/// Draws the part of an SVG that the window shows. Also returns the characters of its text for which no font has a
/// glyph.
pub(super) fn draw(
    bytes: &[u8],
    info: &Info,
    how: &Decode<'_>,
    window: &Window,
) -> Result<(Frame, Vec<char>)> {
    guard::size(info.width, info.height, how.limits)?;
    let (width, height) = window.to;
    guard::size(width, height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let (pixmap, undrawn) = caught(|| {
        let text = document::text(bytes)?;
        let document = document::parse(&text)?;
        let memory = DRAWING.for_file(bytes.len() as u64);
        let ground = readable(&document, memory)?;
        guard::check_interrupt(how.interrupt)?;
        let tree = document::tree(&document, &images::options(how, memory))?;
        guard::check_interrupt(how.interrupt)?;
        let drawing_size = match document::is_unsized(document.root_element()) {
            true => size::of(document.root_element()),
            false => Some((tree.size().width(), tree.size().height())),
        };
        let drawing_size = drawing_size.unwrap_or((info.width as f32, info.height as f32));
        let at = placement(drawing_size, info, window);
        drawable(&tree, at, (width, height))?;
        let mut pixmap = Pixmap::new(width, height)
            .ok_or_else(|| Error::Internal(format!("no image of {width}×{height}")))?;
        if let Some(Color {
            red,
            green,
            blue,
            alpha,
        }) = ground.colour()
        {
            pixmap.fill(resvg::tiny_skia::Color::from_rgba8(red, green, blue, alpha));
        }
        resvg::render(&tree, at, &mut pixmap.as_mut());
        Ok((pixmap, undrawn::letters(&document, &tree)))
    })?;
    guard::check_interrupt(how.interrupt)?;
    Ok((planes(&pixmap, width, height)?, undrawn))
}

/// Returns the transform from the coordinates of a drawing of size `drawing_size` to the pixels of the result, which
/// shows only the part of the drawing that `window` selects.
fn placement(drawing_size: (f32, f32), info: &Info, window: &Window) -> Transform {
    let (width, height) = window.of_whole((info.width, info.height));
    let (x, y) = window.offset();
    let place = Transform::from_translate(x as f32, y as f32);
    // A size that rounds to whole pixels is not stretched to them.
    let whole = document::whole_size(drawing_size.0, drawing_size.1);
    match (f64::from(whole.0), f64::from(whole.1)) == (width, height) {
        true => place,
        false => place.pre_scale(
            width as f32 / drawing_size.0,
            height as f32 / drawing_size.1,
        ),
    }
}

/// Checks the cost of reading an SVG document, and returns its background colour.
///
/// # Errors
/// `Unsupported` for a document that takes too long to read or needs more than `memory` bytes.
fn readable(document: &Document<'_>, memory: u64) -> Result<Ground> {
    let (weight, ground) = document::weigh(document, Inside::Images, &Steps::new())?;
    let most = memory / UNIT_BYTES;
    if weight.units > most {
        let count = weight.units.min(MANY);
        return Err(unsupported(format!(
            "{count} elements, repeated ones included; a file of this length may have {most}"
        )));
    }
    // NaN fails the check, too.
    if weight.nanos.is_nan() || weight.nanos > READING {
        return Err(unsupported(
            "style sheets or curves that take too long to read".to_owned(),
        ));
    }
    Ok(ground)
}

/// Maximum number of elements that an error message reports. A higher number is reported as this one.
const MANY: u64 = 1_000_000_000;

/// Checks the cost of drawing an SVG document.
///
/// # Errors
/// `Unsupported` for a drawing that would take more time or memory than is permitted for its size.
fn drawable(tree: &Tree, at: Transform, canvas: (u32, u32)) -> Result<()> {
    let (width, height) = canvas;
    let pixels = u64::from(width) * u64::from(height);
    let memory = DRAWING.for_pixels(pixels);
    let budget = Budget {
        work: (WORK + WORK_PER_PIXEL * pixels as f64).min(MOST_WORK),
        // The plan also contains the pixels of the image itself.
        memory: memory.saturating_sub(4 * pixels) as f64,
    };
    weigh(tree, at, canvas, budget).map_err(|reason| {
        unsupported(match reason {
            Refused::Work => format!("more drawing than fits into a request at {width}×{height}"),
            Refused::Memory(bytes) => format!(
                "layers of {} MB at {width}×{height}, of which {} MB are planned for; a smaller size needs less",
                bytes >> 20,
                memory >> 20
            ),
            Refused::Number => "coordinates or filters with numbers that are too large".to_owned(),
        })
    })
}

/// Runs a closure and converts a panic to an `Unsupported` error: if a library panics on a file, the library does not
/// support the file, and the server is not at fault.
fn caught<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        Err(unsupported(
            "numbers that its renderer cannot compute with".to_owned(),
        ))
    })
}

/// Converts a pixmap to planes of straight (not premultiplied) colours and opacity.
fn planes(pixmap: &Pixmap, width: u32, height: u32) -> Result<Frame> {
    let mut planes = Grid::several(4, width, height, 0_u8);
    let mut samples_of_planes: Vec<_> = planes.iter_mut().map(Grid::samples_mut).collect();
    for (index, pixel) in pixmap.pixels().iter().enumerate() {
        let pixel = pixel.demultiply();
        let samples = [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()];
        for (plane, sample) in samples_of_planes.iter_mut().zip(samples) {
            plane[index] = sample;
        }
    }
    Frame::of_planes(Model::Rgb, planes.into_iter().map(Plane::U8).collect())
}

/// Bytes of memory for an SVG element, including the data for drawing it.
const UNIT_BYTES: u64 = 700;

/// Cost of drawing an SVG, estimated from the length of the file and the size of the image, because the content is
/// unknown before it is read. A drawing that needs more memory is rejected when it is read.
pub(super) const DRAWING: Drawing = Drawing {
    nanos_per_byte: 500,
    nanos_per_pixel: 40,
    // The image, and the layers of groups.
    layers: 4,
    small_layers: 16,
    // Memory of elements and images for each byte of text.
    memory_per_byte: 150,
    memory: 12 << 20,
};
