//! Luma and chroma: the matrices, both value ranges, chroma subsampling and its reversal.
//!
//! Chroma samples sit in the middle of the px they span, as in JPEG. Subsampling takes the mean of those px; upsampling
//! interpolates linearly between the middles.

use andon_kernels::cpu::with_modern_instructions;

use crate::error::Result;
use crate::frame::{Grid, Subsampling};
use crate::limits::Interrupt;
use crate::resize::{Axis, Kernel, Resizable, resample};
use crate::samples::Sample;
use crate::space::{Matrix, Range};

/// Coefficients of the conversion between RGB and YCbCr.
#[derive(Clone, Copy)]
struct Mix {
    /// Weights of red, green and blue in luma.
    y: [f32; 3],
    /// Weights of red, green and blue in the blue difference.
    cb: [f32; 3],
    /// Weights of red, green and blue in the red difference.
    cr: [f32; 3],
    /// Conversion to RGB: red is luma plus `r_cr` × Cr.
    r_cr: f32,
    /// Conversion to RGB: green is luma minus `g_cb` × Cb and `g_cr` × Cr.
    g_cb: f32,
    /// Conversion to RGB: green is luma minus `g_cb` × Cb and `g_cr` × Cr.
    g_cr: f32,
    /// Conversion to RGB: blue is luma plus `b_cb` × Cb.
    b_cb: f32,
}

/// BT.601 coefficients, with the digits that JPEG decoders have always used.
const BT601: Mix = Mix {
    y: [0.299, 0.587, 0.114],
    cb: [-0.168_735_9, -0.331_264_1, 0.5],
    cr: [0.5, -0.418_687_6, -0.081_312_4],
    r_cr: 1.402,
    g_cb: 0.344_136_3,
    g_cr: 0.714_136_3,
    b_cb: 1.772,
};

const BT709: Mix = Mix::new(0.2126, 0.0722);
const BT2020: Mix = Mix::new(0.2627, 0.0593);

impl Mix {
    /// Computes the coefficients from the weights of red and blue in luma.
    const fn new(red: f64, blue: f64) -> Self {
        let green = 1.0 - red - blue;
        let (to_blue, to_red) = (2.0 * (1.0 - blue), 2.0 * (1.0 - red));
        Self {
            y: [red as f32, green as f32, blue as f32],
            cb: [(-red / to_blue) as f32, (-green / to_blue) as f32, 0.5],
            cr: [0.5, (-green / to_red) as f32, (-blue / to_red) as f32],
            r_cr: to_red as f32,
            g_cb: (blue * to_blue / green) as f32,
            g_cr: (red * to_red / green) as f32,
            b_cb: to_blue as f32,
        }
    }

    /// Returns the coefficients of a matrix. `None` for the identity matrix, which mixes nothing: its planes are green,
    /// blue and red.
    const fn of(matrix: Matrix) -> Option<Self> {
        match matrix {
            Matrix::Identity => None,
            Matrix::Bt601 => Some(BT601),
            Matrix::Bt709 => Some(BT709),
            Matrix::Bt2020 => Some(BT2020),
        }
    }
}

/// Linear coding of a plane in one value range, in units of one depth: sample = value × `factor` + `zero`.
#[derive(Clone, Copy)]
struct Line {
    factor: f32,
    /// Sample that stands for zero: black for luma, no difference for chroma.
    zero: f32,
}

impl Line {
    fn luma<T: Sample>(range: Range) -> Self {
        match range {
            Range::Full => Self {
                factor: 1.0,
                zero: 0.0,
            },
            Range::Limited => Self {
                factor: 219.0 / 255.0,
                zero: 16.0 * f32::from(T::UNIT),
            },
        }
    }

    fn chroma<T: Sample>(range: Range) -> Self {
        Self {
            factor: match range {
                Range::Full => 1.0,
                Range::Limited => 224.0 / 255.0,
            },
            zero: 128.0 * f32::from(T::UNIT),
        }
    }

    /// Returns the coding of plane `index`. Without a matrix (`Matrix::Identity`) all three planes are coded like luma.
    fn of<T: Sample>(range: Range, matrix: Matrix, index: usize) -> Self {
        if index == 0 || matrix == Matrix::Identity {
            Self::luma::<T>(range)
        } else {
            Self::chroma::<T>(range)
        }
    }

    #[inline(always)]
    fn write(self, value: f32) -> f32 {
        value * self.factor + self.zero
    }

    #[inline(always)]
    fn read(self, sample: f32) -> f32 {
        (sample - self.zero) / self.factor
    }
}

/// Returns the full-range luma of a colour, as gray images hold it.
#[inline(always)]
pub(super) fn gray([r, g, b]: [f32; 3]) -> f32 {
    weigh(BT601.y, r, g, b)
}

/// Returns the three YCbCr samples of a colour in this range and matrix; green, blue and red for the identity matrix.
/// Red, green and blue are given as full-range samples of type `T`.
pub(super) fn sample<T: Sample>([r, g, b]: [f32; 3], range: Range, matrix: Matrix) -> [f32; 3] {
    let parts = match Mix::of(matrix) {
        Some(mix) => [mix.y, mix.cb, mix.cr].map(|shares| weigh(shares, r, g, b)),
        None => [g, b, r],
    };
    [0, 1, 2].map(|index| Line::of::<T>(range, matrix, index).write(parts[index]))
}

#[inline(always)]
fn weigh(shares: [f32; 3], r: f32, g: f32, b: f32) -> f32 {
    shares[0] * r + shares[1] * g + shares[2] * b
}

/// Converts the samples of plane `index` from one value range to the other, in place.
pub(super) fn change_range<T: Sample>(
    grid: &mut Grid<T>,
    index: usize,
    matrix: Matrix,
    from: Range,
    to: Range,
) {
    if from == to {
        return;
    }
    let from = Line::of::<T>(from, matrix, index);
    let to = Line::of::<T>(to, matrix, index);
    let factor = to.factor / from.factor;
    let offset = to.zero - from.zero * factor;
    with_modern_instructions(
        #[inline(always)]
        || {
            for sample in grid.samples_mut() {
                *sample = T::round(sample.float() * factor + offset);
            }
        },
    );
}

/// Converts a chroma plane of a `width` × `height` frame from one subsampling to another.
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

/// Converts full-size Y, Cb and Cr planes to RGB.
pub(super) fn to_rgb<T: Sample>(
    mut planes: Vec<Grid<T>>,
    range: Range,
    matrix: Matrix,
) -> Vec<Grid<T>> {
    let Some(mix) = Mix::of(matrix) else {
        for (index, grid) in planes.iter_mut().enumerate() {
            change_range(grid, index, matrix, range, Range::Full);
        }
        planes.rotate_right(1);
        return planes;
    };
    let (luma, chroma) = (Line::luma::<T>(range), Line::chroma::<T>(range));
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
                let y = luma.read(y.float());
                let (cb, cr) = (chroma.read(cb.float()), chroma.read(cr.float()));
                *r = T::round(y + mix.r_cr * cr);
                *g = T::round(y - mix.g_cb * cb - mix.g_cr * cr);
                *b = T::round(y + mix.b_cb * cb);
            }
        },
    );
    rgb
}

/// Converts RGB planes to Y and subsampled Cb and Cr.
pub(super) fn from_rgb<T: Resizable>(
    rgb: Vec<Grid<T>>,
    sub: Subsampling,
    range: Range,
    matrix: Matrix,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    let size = (rgb[0].width(), rgb[0].height());
    let luma = Line::luma::<T>(range);
    let chroma = Line::chroma::<T>(range);
    let mix = Mix::of(matrix);
    let y = mix.map(|mix| mixed(&rgb, |r, g, b| luma.write(weigh(mix.y, r, g, b))));
    let y = y.transpose()?;
    // The chroma of a mean colour is the mean of the chromas, so subsample RGB before the conversion.
    let mut planes = Vec::with_capacity(3);
    for (index, grid) in rgb.into_iter().enumerate() {
        // Without a matrix the green plane takes the place of luma, so it stays full-size.
        let sub = if mix.is_none() && index == 1 {
            Subsampling::NONE
        } else {
            sub
        };
        planes.push(change_thinning(
            grid,
            size,
            Subsampling::NONE,
            sub,
            interrupt,
        )?);
    }
    let (Some(mix), Some(y)) = (mix, y) else {
        planes.rotate_left(1);
        for (index, grid) in planes.iter_mut().enumerate() {
            change_range(grid, index, matrix, Range::Full, range);
        }
        return Ok(planes);
    };
    let cb = mixed(&planes, |r, g, b| chroma.write(weigh(mix.cb, r, g, b)))?;
    let cr = mixed(&planes, |r, g, b| chroma.write(weigh(mix.cr, r, g, b)))?;
    Ok(vec![y, cb, cr])
}

/// Computes one plane from three planes of the same size: each sample is `mix` of their samples at its position.
pub(super) fn mixed<T: Sample>(
    rgb: &[Grid<T>],
    mix: impl Fn(f32, f32, f32) -> f32,
) -> Result<Grid<T>> {
    let samples = with_modern_instructions(
        #[inline(always)]
        || {
            let samples = rgb[0].samples().iter();
            let samples = samples.zip(rgb[1].samples()).zip(rgb[2].samples());
            let samples = samples.map(|((r, g), b)| T::round(mix(r.float(), g.float(), b.float())));
            samples.collect()
        },
    );
    Grid::from_buffer(rgb[0].width(), rgb[0].height(), samples)
}
