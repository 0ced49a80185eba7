//! Face detection.
//!
//! The image is searched in gray, upright, over mid-gray where it is transparent, and with at most 480 px along its
//! longer side: faces have to fill a square of 40 px there, a twelfth of that side. The detector only ever sees these
//! samples, never the file, and its time is bounded (`andon-faces`).

use andon_faces::{Face, Gray};
use andon_recipe::{Area, Orientation};

use super::Analysis;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::Interrupt;
use crate::samples::{Planes, Sample, by_depth};

pub(super) struct Faces {
    /// Orientation that turns the stored image upright: the detector finds upright faces only.
    upright: Orientation,
    /// Faces found in the first frame; `None` until it was searched. Later frames are not searched.
    faces: Option<Vec<Area>>,
}

/// Length in px that the longer side of an image is reduced to for the search.
const LONGEST: u32 = 480;

/// Maximum number of faces reported for one image: those with the highest scores. Each may become a step of the recipe,
/// which has at most 64 steps.
const MOST: usize = 32;

/// Nanoseconds per px of the reduced image to search it for faces, measured on one core.
const NANOS_PER_PIXEL: u64 = 200;

/// Bytes per px of the reduced image: its samples, the detector's binary patterns and integral images, and the samples
/// of the scale being searched.
const BYTES_PER_PIXEL: u64 = 8;

/// Bytes of the detector's model in memory.
const MODEL_BYTES: u64 = 1 << 21;

/// Checks that this build can find faces; builds without the cargo feature `faces` return an error.
pub(super) fn can_be_found() -> Result<()> {
    Ok(())
}

/// Estimates the time and memory of searching a frame of this size for faces.
pub(super) fn cost(width: u32, height: u32) -> Cost {
    let (w, h) = reduced((width, height));
    let pixels = u64::from(w) * u64::from(h);
    Cost {
        nanos: pixels * NANOS_PER_PIXEL,
        scratch: pixels * BYTES_PER_PIXEL + MODEL_BYTES,
    }
}

impl Faces {
    /// Creates a face search for an image stored in this orientation.
    pub(super) fn upright(stored: Orientation) -> Self {
        Self {
            upright: stored,
            faces: None,
        }
    }

    fn look_through<T: Sample>(
        &self,
        rgb: &Planes<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Area>> {
        let stored = (rgb.width, rgb.height);
        let size = reduced(stored);
        let gray = turned(&gray(rgb, size), size, self.upright);
        let (width, height) = self.upright.size(size.0, size.1);
        let image = Gray::new(&gray, width, height)
            .ok_or_else(|| Error::Internal("a gray image of another size".to_owned()))?;
        let faces = andon_faces::find(image, &|| !interrupt.interrupted());
        let faces = faces.ok_or(Error::Interrupted)?;
        let back = inverse(self.upright);
        let area = |face: &Face| {
            let (x, y, side) = (f64::from(face.x), f64::from(face.y), f64::from(face.side));
            let square = [x, y, x + side, y + side];
            let edges = back.part(square, (width.into(), height.into()));
            enlarged(edges, size, stored)
        };
        Ok(faces.iter().filter_map(area).take(MOST).collect())
    }
}

impl Analysis for Faces {
    fn look(&mut self, frame: &Frame, interrupt: &dyn Interrupt) -> Result<()> {
        if self.faces.is_none() {
            let faces = by_depth!(frame.clone(), planes => self.look_through(&planes, interrupt));
            self.faces = Some(faces?);
        }
        Ok(())
    }

    fn areas(&self) -> Option<Vec<Area>> {
        // An image of which no frame was examined has no faces.
        Some(self.faces.clone().unwrap_or_default())
    }
}

/// Returns the size to which an image is reduced for the search.
fn reduced((width, height): (u32, u32)) -> (u32, u32) {
    let longer = width.max(height);
    if longer <= LONGEST {
        return (width, height);
    }
    let side = |side: u32| {
        let side = u64::from(side) * u64::from(LONGEST) / u64::from(longer);
        (side as u32).max(1)
    };
    (side(width), side(height))
}

/// Reduces an image to its luma at this size, over mid-gray where it is transparent. Each sample is the mean of the px
/// that it covers.
fn gray<T: Sample>(rgb: &Planes<T>, (width, height): (u32, u32)) -> Vec<u8> {
    let full = T::MAX.float();
    let mut gray = Vec::with_capacity(width as usize * height as usize);
    for y in 0..height {
        let mut sums = vec![0.0_f32; width as usize];
        let rows = span(y, height, rgb.height);
        for y in rows.clone() {
            let [red, green, blue] = [0, 1, 2].map(|index| rgb.colours[index].row(y));
            let alpha = rgb.alpha.as_ref().map(|alpha| alpha.row(y));
            for (x, sum) in (0..).zip(&mut sums) {
                for at in span(x, width, rgb.width) {
                    let at = at as usize;
                    let luma = 0.299 * red[at].float()
                        + 0.587 * green[at].float()
                        + 0.114 * blue[at].float();
                    let opacity = alpha.map_or(1.0, |alpha| alpha[at].float() / full);
                    *sum += 127.5 + (luma * 255.0 / full - 127.5) * opacity;
                }
            }
        }
        gray.extend((0..).zip(&sums).map(|(x, sum)| {
            let count = rows.len() * span(x, width, rgb.width).len();
            // `as` clamps to 255.
            (sum / count as f32 + 0.5) as u8
        }));
    }
    gray
}

/// Returns the px covered by cell `cell` when a side of `side` px is divided into `cells` cells.
fn span(cell: u32, cells: u32, side: u32) -> std::ops::Range<u32> {
    let edge = |cell: u32| (u64::from(cell) * u64::from(side) / u64::from(cells)) as u32;
    edge(cell)..edge(cell + 1)
}

/// Applies an orientation to the samples of an image of this size.
fn turned(samples: &[u8], (width, height): (u32, u32), by: Orientation) -> Vec<u8> {
    if by.is_upright() {
        return samples.to_vec();
    }
    let after = by.size(width, height);
    let back = inverse(by);
    let middle = |at: u32| f64::from(at) + 0.5;
    let places = (0..after.1).flat_map(|y| (0..after.0).map(move |x| (x, y)));
    let sample = |(x, y)| {
        let (x, y) = back.point((middle(x), middle(y)), (after.0.into(), after.1.into()));
        samples[y as usize * width as usize + x as usize]
    };
    places.map(sample).collect()
}

/// Returns the orientation that undoes another.
fn inverse(of: Orientation) -> Orientation {
    let undoes = |back: &Orientation| of.followed_by(*back).is_upright();
    let all = (1..=8).map(Orientation::from_exif);
    all.into_iter().find(undoes).unwrap_or_default()
}

/// Maps a rectangle (left, top, right, bottom) of the reduced image to the image it was reduced from, cut to its
/// bounds. Returns `None` if nothing is left.
fn enlarged(edges: [f64; 4], reduced: (u32, u32), size: (u32, u32)) -> Option<Area> {
    let along = |start: f64, end: f64, reduced: u32, side: u32| {
        let ratio = f64::from(side) / f64::from(reduced);
        // `as` clamps negative numbers to 0.
        let start = (start * ratio).round() as u32;
        let end = ((end * ratio).round() as u32).min(side);
        (start < end).then(|| (start, end - start))
    };
    let (x, w) = along(edges[0], edges[2], reduced.0, size.0)?;
    let (y, h) = along(edges[1], edges[3], reduced.1, size.1)?;
    Some(Area { x, y, w, h })
}
