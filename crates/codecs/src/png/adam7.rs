//! The seven passes of an interlaced PNG: the pixels of each pass.

/// One pass: every `dx`th pixel of every `dy`th row, from (`x`, `y`) on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// Column of the image in which each line of the pass begins.
    pub(super) x: u32,
    /// Row of the image that contains the first line of the pass.
    pub(super) y: u32,
    /// Distance between neighbouring pixels of a line of the pass, in columns of the image.
    pub(super) dx: u32,
    /// Distance between neighbouring lines of the pass, in rows of the image.
    pub(super) dy: u32,
}

impl Pass {
    /// The single pass of an image that is not interlaced.
    pub(super) const WHOLE: Self = Self::new(0, 0, 1, 1);

    /// The seven passes of Adam7, in the order in which they are stored.
    pub(super) const ADAM7: [Self; 7] = [
        Self::new(0, 0, 8, 8),
        Self::new(4, 0, 8, 8),
        Self::new(0, 4, 4, 8),
        Self::new(2, 0, 4, 4),
        Self::new(0, 2, 2, 4),
        Self::new(1, 0, 2, 2),
        Self::new(0, 1, 1, 2),
    ];

    const fn new(x: u32, y: u32, dx: u32, dy: u32) -> Self {
        Self { x, y, dx, dy }
    }

    /// Returns the passes of an image, interlaced or not.
    pub(super) fn of(interlaced: bool) -> &'static [Self] {
        if interlaced {
            &Self::ADAM7
        } else {
            &[Self::WHOLE]
        }
    }

    /// Returns the number of pixels per line of the pass; 0 if the image is too narrow for the pass.
    pub(super) fn columns(self, width: u32) -> u32 {
        width.saturating_sub(self.x).div_ceil(self.dx)
    }

    /// Returns the rows of the image in which the pass has lines; none if it has no columns.
    pub(super) fn rows(self, width: u32, height: u32) -> impl Iterator<Item = u32> {
        let end = if self.columns(width) == 0 { 0 } else { height };
        (self.y..end).step_by(self.dy as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_passes_visit_every_pixel_once() {
        for (width, height) in [(1, 1), (2, 3), (5, 5), (8, 8), (9, 17), (33, 4)] {
            let mut seen = vec![0u8; (width * height) as usize];
            for pass in Pass::ADAM7 {
                for y in pass.rows(width, height) {
                    for column in 0..pass.columns(width) {
                        seen[(y * width + pass.x + column * pass.dx) as usize] += 1;
                    }
                }
            }
            assert!(
                seen.iter().all(|&times| times == 1),
                "{width}×{height}: {seen:?}"
            );
        }
    }
}
