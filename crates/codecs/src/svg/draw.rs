//! From a drawing to planes.

use andon_pixels::{Decode, Error, Frame, Grid, Info, Model, Plane, Result};
use resvg::tiny_skia::{Pixmap, Transform};

use super::weigh::{TooMuch, weigh};
use super::{document, images};
use crate::drawn::Drawing;
use crate::guard;

/// Pixels that a drawing may touch: some seconds of work.
const WORK: u64 = 1_000_000_000;

/// Draws at the scale that is asked for.
pub(super) fn draw(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Frame> {
    guard::size(info.width, info.height, how.limits)?;
    let (width, height) = info.scaled(how.scales.luma);
    guard::size(width, height, how.limits)?;
    guard::wanted(how.interrupt)?;
    let text = document::text(bytes)?;
    let options = images::options(*how.limits);
    let tree = document::tree(&document::parse(&text)?, &options)?;
    guard::wanted(how.interrupt)?;
    let canvas = u64::from(width) * u64::from(height);
    weigh(&tree, canvas, WORK.max(canvas * 20)).map_err(|TooMuch| {
        document::unsupported("more drawing than fits into a request".to_owned())
    })?;
    let mut pixmap = Pixmap::new(width, height)
        .ok_or_else(|| Error::Internal(format!("no picture of {width}×{height}")))?;
    let own = tree.size();
    let transform = match document::whole(own) == (width, height) {
        true => Transform::identity(),
        false => Transform::from_scale(width as f32 / own.width(), height as f32 / own.height()),
    };
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    guard::wanted(how.interrupt)?;
    planes(&pixmap, width, height)
}

/// Straight colours and opacity.
fn planes(pixmap: &Pixmap, width: u32, height: u32) -> Result<Frame> {
    let mut planes = Grid::several(4, width, height, 0_u8);
    let mut written: Vec<_> = planes.iter_mut().map(Grid::samples_mut).collect();
    for (index, pixel) in pixmap.pixels().iter().enumerate() {
        let pixel = pixel.demultiply();
        let samples = [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()];
        for (plane, sample) in written.iter_mut().zip(samples) {
            plane[index] = sample;
        }
    }
    Frame::of_planes(Model::Rgb, planes.into_iter().map(Plane::U8).collect())
}

/// Guessed from the length of the text: what is drawn is not known before it is read.
pub(super) const DRAWING: Drawing = Drawing {
    nanos_per_byte: 500,
    nanos_per_pixel: 40,
    // The picture, and layers of groups.
    layers: 4,
    // Elements in memory for each byte of text.
    memory_per_byte: 30,
};
