//! Resampling: scales a region of an image to a size, plane by plane.
//!
//! The planner builds [`Resample`] with the region in pixels of the stored image and the scales at which the decoder
//! delivered the planes. So one stage undoes the decoder's rounding, crops, subsamples chroma and scales, all in one
//! pass over each plane.

mod alpha;
mod axis;
mod plane;
mod shared;
mod weights;

use std::fmt;

pub use andon_kernels::resample::Kernel;

pub use crate::window::RegionF;
use andon_recipe::Area;

pub(crate) use alpha::thinned;
pub(crate) use axis::Axis;
pub(crate) use plane::{Resizable, resample};

use self::alpha::Weights;
use self::shared::resample_shared;
use crate::buffers::Plain;
use crate::codec::Scales;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Depth, Frame, Grid, Model, Subsampling, Traits};
use crate::limits::Interrupt;
use crate::samples::{Planes, by_depth, bytes, thinning};
use crate::stage::{Context, OnGainMap, Stage};

/// Multiplies width and height by these factors, rounded to whole px and at least 1.
pub(crate) fn size_times((width, height): (u32, u32), (across, down): (f64, f64)) -> (u32, u32) {
    let px = |side: u32, times: f64| (f64::from(side) * times).round().max(1.0) as u32;
    (px(width, across), px(height, down))
}

/// Resamples a region of the image to a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Resample {
    /// Size of the stored image, in px at full resolution.
    pub source: (u32, u32),
    /// The part of the stored image that is shown.
    pub from: RegionF,
    /// The part of the stored image that `from` is cut from. The kernel weights neighbours inside it too, and treats
    /// pixels outside it as absent.
    pub within: RegionF,
    /// The part of the stored image that was decoded, which includes all pixels that are read; `None` for the whole
    /// image.
    pub part: Option<Area>,
    /// The scales at which the incoming planes were decoded.
    pub scales: Scales,
    /// Subsampling of the stored image's chroma; `NONE` for images without chroma.
    pub stored: Subsampling,
    /// Size of the result in px.
    pub to: (u32, u32),
    /// Subsampling of the result's chroma; `None` keeps that of the incoming frame.
    pub chroma: Option<Subsampling>,
    /// The resampling kernel.
    pub kernel: Kernel,
}

impl Stage for Resample {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        by_depth!(frame, planes => self.resampled(planes, context)?.frame())
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.model_after(traits.model),
            ..traits
        }
    }

    fn size_after(&self, _: u32, _: u32) -> (u32, u32) {
        self.to
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let planes = traits.model.planes() + usize::from(traits.alpha);
        let mut cost = Cost::default();
        for index in 0..planes {
            let index = if index < traits.model.planes() {
                index
            } else {
                0
            };
            let (have_w, have_h) = traits.model.plane_size(index, width, height);
            let (x, y) = self.axes(traits.model, index, (have_w, have_h));
            let plane = plane_cost(&x, &y, self.kernel, traits);
            cost.nanos += plane.nanos;
            cost.scratch = cost.scratch.max(plane.scratch);
        }
        cost
    }
}

impl fmt::Display for Resample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.to;
        write!(f, "resize {width}x{height} {}", self.kernel)?;
        let RegionF { x, y, w, h } = self.from;
        if (x, y) != (0.0, 0.0) || (w, h) != (self.source.0.into(), self.source.1.into()) {
            write!(f, " from {x},{y} {w}x{h}")?;
        }
        Ok(())
    }
}

impl Resample {
    fn resampled<T: Resizable>(
        &self,
        planes: Planes<T>,
        context: &Context<'_>,
    ) -> Result<Planes<T>> {
        let interrupt = context.interrupt;
        let model = planes.model;
        let (width, height) = (planes.width, planes.height);
        let axes = |index| self.axes(model, index, model.plane_size(index, width, height));
        let moves = |(x, y): (Axis, Axis)| !(x.is_copy() && y.is_copy());
        let (luma, chroma) = (axes(0), axes(1));

        let opacity = match &planes.alpha {
            Some(alpha) if planes.translucent() && (moves(luma) || moves(chroma)) => Some(
                Opacity::new(alpha, model, luma, chroma, self.kernel, interrupt)?,
            ),
            _ => None,
        };
        let colours = match &opacity {
            None => self.without_opacity(planes.colours, axes, context)?,
            Some(opacity) => {
                let weigh = |(index, grid): (usize, Grid<T>)| {
                    context.check()?;
                    let (x, y) = axes(index);
                    opacity.over(index).colour(grid, &x, &y, interrupt)
                };
                let colours = planes.colours.into_iter().enumerate();
                colours.map(weigh).collect::<Result<_>>()?
            }
        };
        let alpha = match (&opacity, planes.alpha) {
            (Some(opacity), _) => Some(opacity.over(0).alpha()),
            (None, Some(alpha)) => {
                let (x, y) = luma;
                Some(resample(alpha, &x, &y, self.kernel, interrupt)?)
            }
            (None, None) => None,
        };
        Ok(Planes {
            depth: planes.depth,
            colour: planes.colour,
            model: self.model_after(model),
            width: self.to.0,
            height: self.to.1,
            colours,
            alpha,
        })
    }

    fn without_opacity<T: Resizable>(
        &self,
        grids: Vec<Grid<T>>,
        axes: impl Fn(usize) -> (Axis, Axis),
        context: &Context<'_>,
    ) -> Result<Vec<Grid<T>>> {
        let planes: Vec<_> = (0..)
            .zip(grids)
            .map(|(index, grid)| (grid, axes(index)))
            .collect();
        let pixels = u64::from(self.to.0) * u64::from(self.to.1);
        if pixels >= WORTH_A_CORE
            && let Some(resampled) = resample_shared(&planes, self.kernel, context)
        {
            return resampled;
        }
        let one = |(grid, (x, y)): (Grid<T>, (Axis, Axis))| {
            context.check()?;
            resample(grid, &x, &y, self.kernel, context.interrupt)
        };
        planes.into_iter().map(one).collect()
    }

    fn model_after(&self, model: Model) -> Model {
        match (model, self.chroma) {
            (Model::YCbCr { range, matrix, .. }, Some(sub)) => Model::YCbCr { sub, range, matrix },
            _ => model,
        }
    }

    /// Returns the position of plane `index` of the result, full-size or subsampled, on the incoming plane of `have`
    /// samples.
    fn axes(&self, model: Model, index: usize, have: (u32, u32)) -> (Axis, Axis) {
        let Some(part) = self.part else {
            return self.axes_on_all(model, index, have);
        };
        let (x, y) = self.axes_on_all(model, index, self.plane_of_all(model, index));
        let (across, down) = self.density(model, index);
        (
            x.of_part(f64::from(part.x) * across),
            y.of_part(f64::from(part.y) * down),
        )
    }

    /// Returns the region of the stored image that is read, in px, for an incoming frame of this model.
    pub(crate) fn reads(&self, model: Model) -> RegionF {
        let edges = (0..model.planes().min(2)).map(|index| {
            let (x, y) = self.axes_on_all(model, index, self.plane_of_all(model, index));
            let (across, down) = self.density(model, index);
            let along = |axis: Axis, density: f64| {
                let (start, end) = (axis.start, axis.start + axis.count);
                (f64::from(start) / density, f64::from(end) / density)
            };
            (along(x, across), along(y, down))
        });
        let around = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let both = edges.reduce(|a, b| (around(a.0, b.0), around(a.1, b.1)));
        let ((x, right), (y, bottom)) = both.unwrap_or_default();
        RegionF {
            x,
            y,
            w: right - x,
            h: bottom - y,
        }
    }

    /// Returns the size of plane `index` of the whole image at the decoder's scale.
    fn plane_of_all(&self, model: Model, index: usize) -> (u32, u32) {
        let scaled = |side| self.scales.luma.of(side);
        model.plane_size(index, scaled(self.source.0), scaled(self.source.1))
    }

    /// Returns how many samples incoming plane `index` has per px of the stored image, across and down.
    fn density(&self, model: Model, index: usize) -> (f64, f64) {
        let (scale, stored) = match model {
            Model::YCbCr { .. } if index > 0 => (self.scales.chroma, self.stored),
            _ => (self.scales.luma, Subsampling::NONE),
        };
        let density = |stored: u8| scale.factor() / f64::from(stored);
        (density(stored.h), density(stored.v))
    }

    /// Returns the axes for an incoming plane that shows all of the stored image.
    fn axes_on_all(&self, model: Model, index: usize, have: (u32, u32)) -> (Axis, Axis) {
        let thin = match model {
            Model::YCbCr { sub, .. } if index > 0 => self.chroma.unwrap_or(sub),
            _ => Subsampling::NONE,
        };
        let (part, all) = (self.from, self.within);
        let (across, down) = self.density(model, index);
        let x = Axis::new(have.0, across, part.x, part.w, self.to.0, thin.h);
        let y = Axis::new(have.1, down, part.y, part.h, self.to.1, thin.v);
        if part == all {
            return (x, y);
        }
        let support = self.kernel.support();
        (
            x.reaching(have.0, across, all.x, all.w, support),
            y.reaching(have.1, down, all.y, all.h, support),
        )
    }
}

/// The opacity by which samples are weighted: for full-size planes and, if they are resampled differently, for chroma
/// planes.
struct Opacity<T: Plain> {
    luma: Weights<T>,
    chroma: Option<Weights<T>>,
}

impl<T: Resizable> Opacity<T> {
    fn new(
        alpha: &Grid<T>,
        model: Model,
        luma: (Axis, Axis),
        chroma: (Axis, Axis),
        kernel: Kernel,
        interrupt: &dyn Interrupt,
    ) -> Result<Self> {
        let chroma = if chroma == luma {
            None
        } else {
            let alpha = thinned(alpha, thinning(model, 1), interrupt)?;
            Some(Weights::new(alpha, chroma, kernel, interrupt)?)
        };
        let luma = Weights::new(alpha.clone(), luma, kernel, interrupt)?;
        Ok(Self { luma, chroma })
    }

    fn over(&self, index: usize) -> &Weights<T> {
        match &self.chroma {
            Some(chroma) if index > 0 => chroma,
            _ => &self.luma,
        }
    }
}

/// Smallest number of result pixels for which the use of a second core pays off.
const WORTH_A_CORE: u64 = 250_000;

/// Returns the cost of resampling one plane.
fn plane_cost(x: &Axis, y: &Axis, kernel: Kernel, traits: Traits) -> Cost {
    let size = bytes(traits.depth);
    let input = f64::from(x.count) * f64::from(y.count);
    let output = f64::from(x.out.max(NARROWEST)) * f64::from(y.out);
    if x.is_copy() && y.is_copy() {
        return Cost {
            nanos: (output * COPY) as u64 * size,
            scratch: 0,
        };
    }
    let per = match (traits.depth, traits.alpha) {
        (_, true) => WEIGHED,
        (Depth::U8, false) => NARROW,
        (_, false) => WIDE,
    };
    let support = kernel.support();
    let half = f64::from(x.count) * f64::from(y.out);
    let down = half * y.taps(support);
    let across = output * x.taps(support);
    let enlarged = if y.out > y.count { half } else { 0.0 };
    Cost {
        nanos: (input * per.input
            + down * per.down
            + across * per.across
            + enlarged * per.enlarged
            + output * per.output) as u64,
        scratch: (half as u64 * size) + ((input + output) as u64 * per.scratch),
    }
}

/// Smallest number of samples that a row counts as: shorter rows take as long.
const NARROWEST: u32 = 32;

/// The cost of filtering: nanoseconds per sample or tap, and bytes per sample in addition to the filter's intermediate
/// result. Measured on one core with AVX2.
struct Per {
    input: f64,
    down: f64,
    across: f64,
    /// Nanoseconds per sample that is filtered vertically, where that increases the number of rows.
    enlarged: f64,
    output: f64,
    scratch: u64,
}

/// The cost of filtering 8-bit planes.
const NARROW: Per = Per {
    input: 0.02,
    down: 0.025,
    across: 0.04,
    enlarged: 1.0,
    output: 0.3,
    scratch: 0,
};

/// The cost of filtering 16-bit planes.
const WIDE: Per = Per {
    input: 0.05,
    down: 0.03,
    across: 0.05,
    enlarged: 1.5,
    output: 0.5,
    scratch: 0,
};

/// The cost of filtering planes weighted by opacity, in 16 bits.
const WEIGHED: Per = Per {
    input: 0.3,
    down: 0.03,
    across: 0.05,
    enlarged: 1.5,
    output: 0.9,
    scratch: 8,
};

/// Nanoseconds per byte copied.
const COPY: f64 = 0.1;

/// Returns the kernel for an image. Lanczos3 keeps photos crisp. Its ringing would be visible around palette colours
/// and transparent edges (`soft`) and when enlarging (`grows`), so Mitchell is used there.
pub(crate) fn kernel(soft: bool, grows: bool) -> Kernel {
    if soft || grows {
        Kernel::Mitchell
    } else {
        Kernel::Lanczos3
    }
}

/// Scales a part of the current frame to a size; for resampling stages after the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rescale {
    from: RegionF,
    within: RegionF,
    /// Size of the incoming frame, in px.
    size: (u32, u32),
    to: (u32, u32),
    kernel: Kernel,
}

impl Rescale {
    /// Creates a rescale; `None` if the result would equal the frame. `soft` tells whether the image has a palette or
    /// transparency.
    pub(crate) fn new(
        (from, within): (RegionF, RegionF),
        size: (u32, u32),
        to: (u32, u32),
        soft: bool,
    ) -> Option<Self> {
        let whole = RegionF {
            x: 0.0,
            y: 0.0,
            w: size.0.into(),
            h: size.1.into(),
        };
        let grows = f64::from(to.0) * f64::from(to.1) > from.w * from.h;
        let rescale = Self {
            from,
            within,
            size,
            to,
            kernel: kernel(soft, grows),
        };
        (from != whole || to != size).then_some(rescale)
    }

    /// Returns the same scaling for an image of another size, such as a gain map, with part and result in proportion;
    /// `None` if it changes nothing.
    fn on(&self, size: (u32, u32)) -> Option<Self> {
        let times = (
            f64::from(size.0) / f64::from(self.size.0),
            f64::from(size.1) / f64::from(self.size.1),
        );
        let parts = (self.from.times(times), self.within.times(times));
        Self::new(parts, size, size_times(self.to, times), false)
    }

    /// Returns the resampling of a frame of this model, whose planes keep their subsampling.
    fn of(&self, model: Model) -> Resample {
        Resample {
            source: self.size,
            from: self.from,
            within: self.within,
            part: None,
            scales: Scales::FULL,
            stored: thinning(model, 1),
            to: self.to,
            chroma: None,
            kernel: self.kernel,
        }
    }
}

impl Stage for Rescale {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        self.of(frame.model).apply(frame, context)
    }

    fn on_gain_map(&self, _: (u32, u32), map: (u32, u32)) -> OnGainMap {
        match self.on(map) {
            Some(rescale) => OnGainMap::Follows(Box::new(rescale)),
            None => OnGainMap::Keeps,
        }
    }

    fn size_after(&self, _: u32, _: u32) -> (u32, u32) {
        self.to
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        self.of(traits.model).cost(width, height, traits)
    }
}

impl fmt::Display for Rescale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegionF { x, y, w, h } = self.from;
        // A part of the same size is a crop, although subsampled chroma may have to move onto its grid.
        if (w, h) == (self.to.0.into(), self.to.1.into()) {
            return write!(f, "crop {x},{y} {w}x{h}");
        }
        self.of(Model::Gray).fmt(f)
    }
}

/// Cuts a part out of an unscaled frame, in whole px. The part must lie inside the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// X coordinate in the frame of the part's left edge, in px.
    pub x: u32,
    /// Y coordinate in the frame of the part's top edge, in px.
    pub y: u32,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}

impl Crop {
    /// Returns the crop as a resampling of a frame of this size and model. If the crop begins between two samples of
    /// subsampled chroma, chroma is resampled onto the new grid. All other planes are copied.
    pub(crate) fn of(&self, width: u32, height: u32, model: Model) -> Resample {
        let from = RegionF {
            x: self.x.into(),
            y: self.y.into(),
            w: self.width.into(),
            h: self.height.into(),
        };
        Resample {
            source: (width, height),
            from,
            within: from,
            part: None,
            scales: Scales::FULL,
            stored: thinning(model, 1),
            to: (self.width, self.height),
            chroma: None,
            kernel: Kernel::Lanczos3,
        }
    }
}

impl Stage for Crop {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let resample = self.of(frame.width, frame.height, frame.model);
        resample.apply(frame, context)
    }

    fn size_after(&self, _: u32, _: u32) -> (u32, u32) {
        (self.width, self.height)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        self.of(width, height, traits.model)
            .cost(width, height, traits)
    }
}

impl fmt::Display for Crop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            x,
            y,
            width,
            height,
        } = self;
        write!(f, "crop {x},{y} {width}x{height}")
    }
}
