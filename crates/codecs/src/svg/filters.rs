//! The cost of an SVG filter: every primitive processes the whole layer, and all results are stored until the end.

use resvg::tiny_skia::Transform;
use resvg::usvg::filter::{ColorInterpolation, Filter, Kind, TransferFunction};

use super::weigh::{Canvas, FARTHEST, Refused, Weighed, Weighing, bounds};

/// Cost in ns per px of every filter primitive for copying its inputs and clearing its result.
const PRIMITIVE: f64 = 10.0;

/// Cost in ns per px of converting to linear light and back.
const LINEAR: f64 = 20.0;

/// Bytes per px of the result of a filter primitive. The results of all primitives are stored.
const RESULT: f64 = 4.0;
/// Additional bytes per px of a filter primitive while it runs: for copies of its inputs, or for a copy of one input
/// and a buffer of floating-point numbers.
const RUNNING: f64 = 14.0;

/// Subtracts the cost of applying a filter to the layer `on` from the budget.
///
/// # Errors
/// If the budget is exceeded, or the filter contains a number that `resvg` cannot compute with.
pub(super) fn weigh(
    weighing: &mut Weighing,
    filter: &Filter,
    at: Transform,
    on: Canvas,
) -> Weighed {
    if let Some(Err(reason)) = bounds(filter.rect(), at) {
        return Err(reason);
    }
    let rect = filter.rect();
    let farthest = [rect.left(), rect.top(), rect.right(), rect.bottom()];
    let farthest = farthest
        .into_iter()
        .fold(0.0, |farthest: f32, side| farthest.max(side.abs()));
    let results = RESULT * filter.primitives().len() as f64;
    weighing.holding((results + RUNNING) * on.area(), |weighing| {
        for primitive in filter.primitives() {
            if let Some(Err(reason)) = bounds(primitive.rect(), at) {
                return Err(reason);
            }
            let space = match primitive.color_interpolation() {
                ColorInterpolation::SRGB => 0.0,
                ColorInterpolation::LinearRGB => LINEAR,
            };
            let work = nanos(primitive.kind(), at, on, farthest)?;
            weighing.spend((PRIMITIVE + space + work) * on.area())?;
            if let Kind::Image(image) = primitive.kind() {
                let (x, y) = at.get_scale();
                let inner = Canvas::unclipped(on.width, on.height);
                weighing.children(image.root(), Transform::from_scale(x, y), inner)?;
            }
        }
        Ok(())
    })
}

/// Returns the cost of a filter primitive in ns per px of the layer to which the filter is applied.
fn nanos(kind: &Kind, at: Transform, on: Canvas, farthest: f32) -> Result<f64, Refused> {
    let (x, y) = at.get_scale();
    let checked_offset = |dx: f32, dy: f32| match f64::from(dx.abs().max(dy.abs())) < FARTHEST {
        true => Ok((dx, dy)),
        false => Err(Refused::Number),
    };
    let scaled_offset = |dx: f32, dy: f32| checked_offset(dx * x, dy * y);
    Ok(match kind {
        Kind::Turbulence(turbulence) => {
            let frequency = [turbulence.base_frequency_x(), turbulence.base_frequency_y()];
            let [across, down] = frequency.map(|frequency| frequency.get());
            let octaves = turbulence.num_octaves();
            // Coordinates double with every octave, and must fit an `i32` after the last.
            checked_offset(
                farthest * across.max(down) * 2_f32.powf(octaves as f32),
                0.0,
            )?;
            160.0 * f64::from(octaves) + 40.0
        }
        Kind::ConvolveMatrix(convolve) => {
            let matrix = convolve.matrix();
            let (columns, rows) = (f64::from(matrix.columns()), f64::from(matrix.rows()));
            // Pixels beyond the edges take additional time, because their position is wrapped step by step.
            let around = 1.0 + columns / on.width + rows / on.height;
            1.5 * columns * rows * around
        }
        Kind::Morphology(morphology) => {
            let (x, y) = (
                morphology.radius_x().get() * x,
                morphology.radius_y().get() * y,
            );
            pixels_read(x, on.width) * pixels_read(y, on.height)
        }
        Kind::GaussianBlur(blur) => {
            let (x, y) = scaled_offset(blur.std_dev_x().get(), blur.std_dev_y().get())?;
            blurred(x, y)
        }
        Kind::DropShadow(shadow) => {
            scaled_offset(shadow.dx(), shadow.dy())?;
            let (x, y) = scaled_offset(shadow.std_dev_x().get(), shadow.std_dev_y().get())?;
            blurred(x, y) + 25.0
        }
        Kind::Offset(offset) => scaled_offset(offset.dx(), offset.dy()).map(|_| 5.0)?,
        Kind::DisplacementMap(map) => scaled_offset(map.scale(), map.scale()).map(|_| 20.0)?,
        Kind::ComponentTransfer(transfer) => {
            let is_power =
                |function: &&TransferFunction| matches!(function, TransferFunction::Gamma { .. });
            let (r, g) = (transfer.func_r(), transfer.func_g());
            let (b, a) = (transfer.func_b(), transfer.func_a());
            20.0 + 40.0 * [r, g, b, a].into_iter().filter(is_power).count() as f64
        }
        Kind::DiffuseLighting(_) | Kind::SpecularLighting(_) => 150.0,
        Kind::Tile(_) => 60.0,
        Kind::Merge(merge) => 20.0 * merge.inputs().len() as f64,
        Kind::Flood(_) => 10.0,
        Kind::ColorMatrix(_) | Kind::Composite(_) | Kind::Blend(_) | Kind::Image(_) => 30.0,
    })
}

/// Returns the number of pixels that a filter of this radius reads in one dimension for each pixel of a layer, which is
/// `length` px long in that dimension.
fn pixels_read(radius: f32, length: f64) -> f64 {
    (2.0 * f64::from(radius).ceil()).clamp(1.0, length.max(1.0))
}

/// Returns the cost of a Gaussian blur in ns per px. Standard deviations below 2 px use a floating-point filter. Larger
/// ones use box sums, whose cost does not depend on the radius.
fn blurred(x: f32, y: f32) -> f64 {
    if x.max(y) < 2.0 { 450.0 } else { 100.0 }
}
