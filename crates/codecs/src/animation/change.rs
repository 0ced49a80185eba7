//! Finds the part of an animation that changes from one frame to the next.

use andon_pixels::buffers::Plain;
use andon_pixels::{Frame, Grid, Plane, Result};

use super::Place;

/// Returns the smallest rectangle that contains every pixel in which two frames of the same size and model differ. Its
/// edges are at even coordinates or at the edges of the frame, so that subsampled chroma can be cut there. If the
/// frames are equal, it is the 2 × 2 px at the upper left corner. Without a previous frame, it is the whole frame.
pub(crate) fn find_change(previous: Option<&Frame>, current: &Frame) -> Place {
    let Some(previous) = previous else {
        return Place {
            x: 0,
            y: 0,
            width: current.width,
            height: current.height,
        };
    };
    let mut whole = Edges::NONE;
    let pairs = previous.planes.iter().zip(&current.planes);
    for (previous, after) in pairs.chain(previous.alpha.iter().zip(&current.alpha)) {
        // A subsampled chroma sample covers several px.
        let across = current.width.div_ceil(after.width().max(1));
        let down = current.height.div_ceil(after.height().max(1));
        let edges = match (previous, after) {
            (Plane::U8(previous), Plane::U8(after)) => Edges::of(previous, after),
            (Plane::U16(previous), Plane::U16(after)) => Edges::of(previous, after),
            _ => Edges::all(after.width(), after.height()),
        };
        whole = whole.with(edges.times(across, down));
    }
    if whole.left >= whole.right {
        whole = Edges::all(1, 1);
    }
    let (x, y) = (whole.left & !1, whole.top & !1);
    Place {
        x,
        y,
        width: whole.right.next_multiple_of(2).min(current.width) - x,
        height: whole.bottom.next_multiple_of(2).min(current.height) - y,
    }
}

/// Returns a part of a frame. If chroma is subsampled, the left and top edges of `place` have to be even.
pub(crate) fn crop_frame(frame: &Frame, place: Place) -> Result<Frame> {
    if (place.width, place.height) == (frame.width, frame.height) {
        return Ok(frame.clone());
    }
    let part = |plane: &Plane| {
        let across = frame.width.div_ceil(plane.width().max(1));
        let down = frame.height.div_ceil(plane.height().max(1));
        let (x, y) = (place.x / across, place.y / down);
        let columns = x..x + place.width.div_ceil(across);
        let rows = y..y + place.height.div_ceil(down);
        match plane {
            Plane::U8(grid) => Plane::U8(grid.part(columns, rows)),
            Plane::U16(grid) => Plane::U16(grid.part(columns, rows)),
        }
    };
    let planes = frame.planes.iter().map(part).collect();
    let alpha = frame.alpha.as_ref().map(part);
    let part = Frame::new(frame.model, place.width, place.height, planes, alpha)?;
    Ok(part
        .with_depth(frame.depth())?
        .with_colour(frame.colour.clone()))
}

/// The bounding box of the samples that differ. Right and bottom edges are exclusive.
#[derive(Clone, Copy)]
struct Edges {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Edges {
    const NONE: Self = Self {
        left: u32::MAX,
        top: u32::MAX,
        right: 0,
        bottom: 0,
    };

    fn all(width: u32, height: u32) -> Self {
        Self {
            left: 0,
            top: 0,
            right: width,
            bottom: height,
        }
    }

    fn of<T: Plain + PartialEq>(previous: &Grid<T>, current: &Grid<T>) -> Self {
        let mut edges = Self::NONE;
        for y in 0..current.height() {
            let (previous, current) = (previous.row(y), current.row(y));
            if previous == current {
                continue;
            }
            let differs = |(a, b): (&T, &T)| a != b;
            let first = previous.iter().zip(current).position(differs).unwrap_or(0) as u32;
            let last = previous.iter().zip(current).rposition(differs).unwrap_or(0) as u32;
            edges = edges.with(Self {
                left: first,
                top: y,
                right: last + 1,
                bottom: y + 1,
            });
        }
        edges
    }

    fn times(self, across: u32, down: u32) -> Self {
        Self {
            left: self.left.saturating_mul(across),
            top: self.top.saturating_mul(down),
            right: self.right * across,
            bottom: self.bottom * down,
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

#[cfg(test)]
mod tests {
    use andon_pixels::{Depth, Model, Subsampling};

    use super::*;

    fn frame() -> Frame {
        let model = Model::ycbcr(Subsampling::C420);
        let planes = (0..3).map(|index| {
            let (width, height) = model.plane_size(index, 11, 9);
            Plane::filled(Depth::U8, width, height, 100)
        });
        Frame::new(model, 11, 9, planes.collect(), None).unwrap()
    }

    fn set(frame: &mut Frame, plane: usize, x: usize, y: u32) {
        if let Plane::U8(grid) = &mut frame.planes[plane] {
            grid.row_mut(y)[x] = 7;
        }
    }

    #[test]
    fn the_place_holds_all_that_differs_on_even_edges() {
        let previous = frame();
        let mut current = frame();
        set(&mut current, 0, 3, 5);
        set(&mut current, 0, 6, 4);
        let place = find_change(Some(&previous), &current);
        assert_eq!((place.x, place.y, place.width, place.height), (2, 4, 6, 2));
        // The last chroma sample covers only the rest of the frame.
        set(&mut current, 2, 5, 4);
        let place = find_change(Some(&previous), &current);
        assert_eq!((place.x, place.y, place.width, place.height), (2, 4, 9, 5));
        let part = crop_frame(&current, place).unwrap();
        assert_eq!((part.width, part.height), (9, 5));
        assert_eq!((part.planes[1].width(), part.planes[1].height()), (5, 3));
        let samples = part.planes[0].as_u8().expect("8 bits");
        assert_eq!((samples.row(1)[1], samples.row(0)[4]), (7, 7));
    }

    #[test]
    fn nothing_that_differs_is_a_corner() {
        let place = find_change(Some(&frame()), &frame());
        assert_eq!((place.x, place.y, place.width, place.height), (0, 0, 2, 2));
    }
}
