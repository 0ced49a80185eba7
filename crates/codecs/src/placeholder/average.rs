//! Reduces an image by averaging to the few pixels that a placeholder needs.

use andon_pixels::{Error, Frame, Grid, Interrupt, Plane, Result};

/// Interleaved red, green, blue and opacity of a small image.
pub(super) struct Average {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgba: Vec<u8>,
}

impl Average {
    /// Reads a frame in RGB of 8 bits. If it does not fit into a square of `most` px, it is reduced to that size.
    pub(super) fn of(frame: &Frame, most: u32, interrupt: &dyn Interrupt) -> Result<Self> {
        let plane = |plane: Option<&'_ Plane>| {
            let grid = plane.and_then(Plane::as_u8).cloned();
            grid.ok_or_else(|| Error::Internal("a placeholder of other than RGB".to_owned()))
        };
        let colours = [0, 1, 2].map(|index| plane(frame.planes.get(index)));
        let [red, green, blue] = colours;
        let colours = [red?, green?, blue?];
        let alpha = frame
            .alpha
            .as_ref()
            .map(|alpha| plane(Some(alpha)))
            .transpose()?;
        let longer = frame.width.max(frame.height);
        let side = |side: u32| match longer > most {
            true => ((u64::from(side) * u64::from(most) / u64::from(longer)) as u32).max(1),
            false => side,
        };
        let (width, height) = (side(frame.width), side(frame.height));
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            let rows = part(y, height, frame.height);
            for x in 0..width {
                let columns = part(x, width, frame.width);
                rgba.extend(mean(&colours, alpha.as_ref(), &rows, &columns));
            }
        }
        Ok(Self {
            width,
            height,
            rgba,
        })
    }
}

/// Divides a side into `count` equal parts, and returns the range of pixels that part `index` covers: at least one.
fn part(index: u32, count: u32, side: u32) -> std::ops::Range<u32> {
    let edge = |index: u32| (u64::from(index) * u64::from(side) / u64::from(count)) as u32;
    edge(index)..edge(index + 1).max(edge(index) + 1)
}

/// Returns the mean colour of the given area, weighted by opacity, and the mean opacity.
fn mean(
    colours: &[Grid<u8>; 3],
    alpha: Option<&Grid<u8>>,
    rows: &std::ops::Range<u32>,
    columns: &std::ops::Range<u32>,
) -> [u8; 4] {
    let (mut sums, mut weight) = ([0_u64; 3], 0_u64);
    for y in rows.clone() {
        for x in columns.clone().map(|x| x as usize) {
            let opacity = alpha.map_or(255, |alpha| u64::from(alpha.row(y)[x]));
            for (sum, colour) in sums.iter_mut().zip(colours) {
                *sum += u64::from(colour.row(y)[x]) * opacity;
            }
            weight += opacity;
        }
    }
    let count = (rows.len() * columns.len()) as u64;
    // A mean of u8 values fits a u8.
    let rounded = |sum: u64, by: u64| ((sum + by / 2) / by.max(1)) as u8;
    let [red, green, blue] = sums.map(|sum| rounded(sum, weight));
    [red, green, blue, rounded(weight, count)]
}
