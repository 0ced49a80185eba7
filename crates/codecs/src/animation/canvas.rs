//! The canvas that frames are composed on.

use andon_pixels::{Error, Frame, Grid, Info, Model, Plane, Result};

/// How a frame is combined with what is already on the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blend {
    /// The frame replaces the canvas in its rectangle.
    Replace,
    /// The frame is alpha-blended over the canvas.
    Over,
}

/// What happens to a frame's rectangle before the next frame is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Disposal {
    /// The rectangle stays as drawn.
    #[default]
    Keep,
    /// The rectangle becomes transparent.
    Clear,
    /// The rectangle becomes what it was before the frame was drawn.
    Restore,
}

impl Disposal {
    /// Whether the frame's rectangle becomes transparent before the next frame is drawn. `Restore` does this, too, for
    /// the first frame, because the canvas was empty before it.
    pub(crate) fn clears(self, is_first: bool) -> bool {
        self == Self::Clear || self == Self::Restore && is_first
    }
}

/// A rectangle on the canvas, in px. Frames may extend beyond the edges of the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// X coordinate of the rectangle's left edge on the canvas, in px.
    pub(crate) x: u32,
    /// Y coordinate of the rectangle's top edge on the canvas, in px.
    pub(crate) y: u32,
    /// Width in px.
    pub(crate) width: u32,
    /// Height in px.
    pub(crate) height: u32,
}

/// The pixels of a frame before it is composed.
pub(crate) struct Part {
    /// The rectangle of the canvas that the samples fill.
    pub(crate) place: Place,
    /// Red, green and blue planes.
    pub(crate) rgb: [Grid<u8>; 3],
    /// Opacity plane, if the frame has one.
    pub(crate) alpha: Option<Grid<u8>>,
}

impl Part {
    /// Combines planes of red, green, blue and, if there are four, opacity with their place on the canvas.
    ///
    /// # Errors
    /// `Internal` for another number of planes.
    pub(crate) fn new(place: Place, mut planes: Vec<Grid<u8>>) -> Result<Self> {
        let alpha = if planes.len() > 3 { planes.pop() } else { None };
        let rgb = <[Grid<u8>; 3]>::try_from(planes)
            .map_err(|_| Error::Internal("a frame of other than three colours".to_owned()))?;
        Ok(Self { place, rgb, alpha })
    }
}

/// A canvas of 8-bit red, green and blue. At first it is transparent or, without an opacity plane, black.
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    planes: Vec<Grid<u8>>,
    /// What happens to the rectangle of the frame that was drawn last, before the next frame is drawn.
    disposal: Disposal,
    place: Place,
    saved: Option<Vec<Grid<u8>>>,
}

impl Canvas {
    /// Creates the canvas for all frames of an animation.
    pub(crate) fn of(info: &Info) -> Self {
        let alpha = info.animation.is_none_or(|animation| animation.alpha);
        Self::new(info.width, info.height, alpha)
    }

    /// Creates an empty canvas of the given size in px. `alpha` adds an opacity plane, which is needed if a composed
    /// frame may be transparent.
    pub(crate) fn new(width: u32, height: u32, alpha: bool) -> Self {
        Self {
            width,
            height,
            planes: Grid::several(if alpha { 4 } else { 3 }, width, height, 0),
            disposal: Disposal::Keep,
            place: Place::default(),
            saved: None,
        }
    }

    /// Height in px.
    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    /// Disposes of the previous frame, draws the next one and returns the composed canvas.
    pub(crate) fn draw(&mut self, part: &Part, blend: Blend, disposal: Disposal) -> Result<Frame> {
        let size = (part.place.width, part.place.height);
        let planes = part.rgb.iter().chain(&part.alpha);
        if planes
            .into_iter()
            .any(|grid| (grid.width(), grid.height()) != size)
        {
            return Err(Error::Internal(
                "a frame's planes do not fill its place".to_owned(),
            ));
        }
        self.dispose();
        self.disposal = disposal;
        self.place = part.place;
        // A clone shares its samples with the canvas until one of them is written to.
        self.saved = (disposal == Disposal::Restore).then(|| self.planes.clone());

        let columns = self
            .width
            .saturating_sub(part.place.x)
            .min(part.place.width) as usize;
        let rows = self
            .height
            .saturating_sub(part.place.y)
            .min(part.place.height);
        // A part that lies completely outside the canvas draws nothing.
        let rows = if columns == 0 { 0 } else { rows };
        match (&part.alpha, blend) {
            (Some(alpha), Blend::Over) => {
                for row in 0..rows {
                    self.blend_row(part, alpha, row, columns);
                }
            }
            (alpha, _) => {
                let opaque = Grid::filled(part.place.width, 1, 255);
                for row in 0..rows {
                    let colours = part.rgb.iter().map(|grid| grid.row(row));
                    let alpha = alpha.as_ref().map_or(opaque.row(0), |alpha| alpha.row(row));
                    let samples = colours.chain([alpha]);
                    for (plane, samples) in self.planes.iter_mut().zip(samples) {
                        let at = part.place.x as usize;
                        plane.row_mut(part.place.y + row)[at..at + columns]
                            .copy_from_slice(&samples[..columns]);
                    }
                }
            }
        }
        self.frame()
    }

    /// Returns a snapshot of the canvas. It shares the canvas's samples until the next frame is drawn.
    fn frame(&self) -> Result<Frame> {
        let planes = self.planes.iter().cloned().map(Plane::U8);
        Frame::of_planes(Model::Rgb, planes.collect())
    }

    fn dispose(&mut self) {
        match self.disposal {
            Disposal::Keep => {}
            Disposal::Restore => {
                if let Some(saved) = self.saved.take() {
                    self.planes = saved;
                }
            }
            Disposal::Clear => {
                let Place {
                    x,
                    y,
                    width,
                    height,
                } = self.place;
                let (left, right) = (x.min(self.width), x.saturating_add(width).min(self.width));
                for row in y.min(self.height)..y.saturating_add(height).min(self.height) {
                    for plane in &mut self.planes {
                        plane.row_mut(row)[left as usize..right as usize].fill(0);
                    }
                }
            }
        }
    }

    /// Blends one row over the canvas, with straight (not premultiplied) opacity on both sides.
    fn blend_row(&mut self, part: &Part, alpha: &Grid<u8>, row: u32, columns: usize) {
        let (left, top) = (part.place.x as usize, part.place.y + row);
        let above = &alpha.row(row)[..columns];
        let (colours, opacity) = self.planes.split_at_mut(3);
        let mut below = opacity
            .first_mut()
            .map(|opacity| &mut opacity.row_mut(top)[left..left + columns]);
        for (plane, samples) in colours.iter_mut().zip(&part.rgb) {
            let out = &mut plane.row_mut(top)[left..left + columns];
            for (at, (out, &sample)) in out.iter_mut().zip(samples.row(row)).enumerate() {
                *out = match (above[at], below.as_deref().map_or(255, |below| below[at])) {
                    (0, _) => *out,
                    (255, _) | (_, 0) => sample,
                    (above, below) => mix(sample, above, *out, below),
                };
            }
        }
        if let Some(below) = &mut below {
            for (below, &above) in below.iter_mut().zip(above) {
                let rest = u32::from(*below) * (255 - u32::from(above));
                *below = (u32::from(above) + (rest + 127) / 255) as u8;
            }
        }
    }
}

/// Blends one channel of a pixel over the one below it. `cover` is the opacity of `above`, `opacity` that of `below`,
/// both straight (not premultiplied). At least one of them must not be 0.
fn mix(above: u8, cover: u8, below: u8, opacity: u8) -> u8 {
    let share = u32::from(cover) * 255;
    let rest = u32::from(opacity) * (255 - u32::from(cover));
    let sum = u32::from(above) * share + u32::from(below) * rest;
    ((sum + (share + rest) / 2) / (share + rest)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(x: u32, y: u32, side: u32, value: u8, alpha: Option<u8>) -> Part {
        let grid = |value| Grid::filled(side, side, value);
        Part {
            place: Place {
                x,
                y,
                width: side,
                height: side,
            },
            rgb: [value; 3].map(grid),
            alpha: alpha.map(grid),
        }
    }

    fn reds_and_alphas(frame: &Frame) -> (Vec<u8>, Vec<u8>) {
        let samples = |plane: &Plane| plane.as_u8().expect("8 bits").samples().to_vec();
        (
            samples(&frame.planes[0]),
            frame.alpha.as_ref().map_or(Vec::new(), samples),
        )
    }

    #[test]
    fn what_was_cleared_is_clear_and_what_was_restored_is_as_before() {
        let mut canvas = Canvas::new(2, 1, true);
        let first = canvas.draw(&part(0, 0, 1, 10, None), Blend::Over, Disposal::Keep);
        assert_eq!(
            reds_and_alphas(&first.unwrap()),
            (vec![10, 0], vec![255, 0])
        );
        let second = canvas.draw(&part(1, 0, 1, 20, None), Blend::Over, Disposal::Restore);
        assert_eq!(
            reds_and_alphas(&second.unwrap()),
            (vec![10, 20], vec![255, 255])
        );
        let third = canvas.draw(&part(0, 0, 1, 30, Some(0)), Blend::Over, Disposal::Clear);
        assert_eq!(
            reds_and_alphas(&third.unwrap()),
            (vec![10, 0], vec![255, 0])
        );
        let fourth = canvas.draw(&part(1, 0, 1, 40, None), Blend::Over, Disposal::Keep);
        assert_eq!(
            reds_and_alphas(&fourth.unwrap()),
            (vec![0, 40], vec![0, 255])
        );
    }

    #[test]
    fn half_covered_is_the_mean_and_replaced_is_replaced() {
        let mut canvas = Canvas::new(1, 1, true);
        canvas
            .draw(&part(0, 0, 1, 0, None), Blend::Over, Disposal::Keep)
            .unwrap();
        let over = canvas.draw(&part(0, 0, 1, 200, Some(51)), Blend::Over, Disposal::Keep);
        assert_eq!(reds_and_alphas(&over.unwrap()), (vec![40], vec![255]));
        let replaced = canvas.draw(
            &part(0, 0, 1, 200, Some(51)),
            Blend::Replace,
            Disposal::Keep,
        );
        assert_eq!(reds_and_alphas(&replaced.unwrap()), (vec![200], vec![51]));
    }

    #[test]
    fn what_hangs_over_the_edge_is_cut_off() {
        let mut canvas = Canvas::new(2, 2, false);
        let frame = canvas
            .draw(&part(1, 1, 9, 7, None), Blend::Over, Disposal::Clear)
            .unwrap();
        assert_eq!(reds_and_alphas(&frame).0, [0, 0, 0, 7]);
        let beyond = canvas
            .draw(&part(5, 0, 1, 9, Some(200)), Blend::Over, Disposal::Keep)
            .unwrap();
        assert_eq!(reds_and_alphas(&beyond).0, [0, 0, 0, 0]);
    }

    #[test]
    fn a_frame_that_was_handed_out_does_not_change_any_more() {
        let mut canvas = Canvas::new(1, 1, false);
        let first = canvas
            .draw(&part(0, 0, 1, 1, None), Blend::Over, Disposal::Keep)
            .unwrap();
        canvas
            .draw(&part(0, 0, 1, 2, None), Blend::Over, Disposal::Keep)
            .unwrap();
        assert_eq!(reds_and_alphas(&first).0, [1]);
    }
}
