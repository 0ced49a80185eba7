//! BT.601 luma and chroma: the matrix, both value ranges, thinning and its undoing.
//!
//! Chroma samples sit in the middle of the px they span, as in JPEG. Thinning takes the mean of those
//! px; undoing it interpolates linearly between the middles.

use andon_kernels::cpu::with_modern_instructions;

use crate::error::Result;
use crate::frame::{Grid, Range, Subsampling};
use crate::limits::Interrupt;
use crate::resize::{Axis, Kernel, Resizable, resample};
use crate::samples::Sample;

/// How Y, Cb and Cr are written in one range, in units of one depth.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    luma: f32,
    black: f32,
    chroma: f32,
    neutral: f32,
}

impl Scale {
    pub(super) fn of<T: Sample>(range: Range) -> Self {
        let unit = f32::from(T::UNIT);
        let (luma, black, chroma) = match range {
            Range::Full => (1.0, 0.0, 1.0),
            Range::Limited => (219.0 / 255.0, 16.0 * unit, 224.0 / 255.0),
        };
        Self {
            luma,
            black,
            chroma,
            neutral: 128.0 * unit,
        }
    }

    /// Luma of a colour.
    #[inline(always)]
    pub(super) fn y(&self, r: f32, g: f32, b: f32) -> f32 {
        (0.299 * r + 0.587 * g + 0.114 * b) * self.luma + self.black
    }

    /// Blue difference.
    #[inline(always)]
    pub(super) fn cb(&self, r: f32, g: f32, b: f32) -> f32 {
        (-0.168_735_9 * r - 0.331_264_1 * g + 0.5 * b) * self.chroma + self.neutral
    }

    /// Red difference.
    #[inline(always)]
    pub(super) fn cr(&self, r: f32, g: f32, b: f32) -> f32 {
        (0.5 * r - 0.418_687_6 * g - 0.081_312_4 * b) * self.chroma + self.neutral
    }

    #[inline(always)]
    fn rgb(&self, y: f32, cb: f32, cr: f32) -> [f32; 3] {
        let y = (y - self.black) / self.luma;
        let (cb, cr) = (
            (cb - self.neutral) / self.chroma,
            (cr - self.neutral) / self.chroma,
        );
        [
            y + 1.402 * cr,
            y - 0.344_136_3 * cb - 0.714_136_3 * cr,
            y + 1.772 * cb,
        ]
    }
}

/// Brings luma (`index` 0) or chroma from one range to the other, in place.
pub(super) fn change_range<T: Sample>(grid: &mut Grid<T>, index: usize, from: Range, to: Range) {
    if from == to {
        return;
    }
    let (from, to) = (Scale::of::<T>(from), Scale::of::<T>(to));
    let (factor, offset) = if index == 0 {
        let factor = to.luma / from.luma;
        (factor, to.black - from.black * factor)
    } else {
        let factor = to.chroma / from.chroma;
        (factor, to.neutral - from.neutral * factor)
    };
    with_modern_instructions(
        #[inline(always)]
        || {
            for sample in grid.samples_mut() {
                *sample = T::round(sample.float() * factor + offset);
            }
        },
    );
}

/// Brings a chroma plane of a `width` × `height` frame from one thinning to another.
pub(super) fn change_thinning<T: Resizable>(
    grid: Grid<T>,
    (width, height): (u32, u32),
    from: Subsampling,
    to: Subsampling,
    interrupt: &dyn Interrupt,
) -> Result<Grid<T>> {
    let axis = |have, length: u32, from: u8, to| {
        Axis::new(have, 1.0 / f64::from(from), 0.0, length.into(), length, to)
    };
    let x = axis(grid.width(), width, from.h, to.h);
    let y = axis(grid.height(), height, from.v, to.v);
    let thinner = |from: u8, to: u8| {
        if to > from {
            Kernel::Box
        } else {
            Kernel::Bilinear
        }
    };
    let (across, down) = (thinner(from.h, to.h), thinner(from.v, to.v));
    if across == down || x.is_copy() {
        return resample(grid, &x, &y, down, interrupt);
    }
    let still = Axis::same(grid.height());
    let grid = resample(grid, &x, &still, across, interrupt)?;
    resample(grid, &Axis::same(x.out), &y, down, interrupt)
}

/// RGB planes from full-size Y, Cb and Cr.
pub(super) fn to_rgb<T: Sample>(planes: &[Grid<T>], range: Range) -> Vec<Grid<T>> {
    let scale = Scale::of::<T>(range);
    let (width, height) = (planes[0].width(), planes[0].height());
    let mut rgb = Grid::several(3, width, height, T::default());
    let [r, g, b] = &mut rgb[..] else {
        return rgb;
    };
    with_modern_instructions(
        #[inline(always)]
        || {
            let out = r.samples_mut().iter_mut();
            let out = out.zip(g.samples_mut()).zip(b.samples_mut());
            let input = planes[0].samples().iter();
            let input = input.zip(planes[1].samples()).zip(planes[2].samples());
            for (((r, g), b), ((y, cb), cr)) in out.zip(input) {
                let colour = scale.rgb(y.float(), cb.float(), cr.float());
                *r = T::round(colour[0]);
                *g = T::round(colour[1]);
                *b = T::round(colour[2]);
            }
        },
    );
    rgb
}

/// Y and thinned Cb and Cr from RGB planes.
pub(super) fn from_rgb<T: Resizable>(
    rgb: Vec<Grid<T>>,
    sub: Subsampling,
    range: Range,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    let scale = Scale::of::<T>(range);
    let size = (rgb[0].width(), rgb[0].height());
    let luma = mixed(&rgb, |r, g, b| scale.y(r, g, b));
    // The mean of colours has the mean of their chromas, so colours are thinned first.
    let mut thin = Vec::with_capacity(3);
    for grid in rgb {
        thin.push(change_thinning(
            grid,
            size,
            Subsampling::NONE,
            sub,
            interrupt,
        )?);
    }
    let cb = mixed(&thin, |r, g, b| scale.cb(r, g, b));
    let cr = mixed(&thin, |r, g, b| scale.cr(r, g, b));
    Ok(vec![luma, cb, cr])
}

/// One plane out of three.
pub(super) fn mixed<T: Sample>(rgb: &[Grid<T>], mix: impl Fn(f32, f32, f32) -> f32) -> Grid<T> {
    let samples = with_modern_instructions(
        #[inline(always)]
        || {
            let samples = rgb[0].samples().iter();
            let samples = samples.zip(rgb[1].samples()).zip(rgb[2].samples());
            let samples = samples.map(|((r, g), b)| T::round(mix(r.float(), g.float(), b.float())));
            samples.collect()
        },
    );
    Grid::from_samples(rgb[0].width(), rgb[0].height(), samples)
}
