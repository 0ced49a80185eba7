//! Measures the time and the error of Andon's kernels and of `fast_image_resize` for one plane, factor and kernel.

use andon_kernels::cpu::Level;
use andon_kernels::resample::{Kernel, Source, Span, Weights, rows_on};
use anyhow::{Result, bail};
use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use serde::Serialize;

use super::exact::{self, Ends};
use super::plane::{Plane, Sample};
use crate::proc::thread_ms;
use crate::stats::median;

/// Results for one plane, factor and kernel. Times are medians of the thread's CPU time, in milliseconds.
#[derive(Serialize)]
pub(super) struct Case {
    pub(super) samples: &'static str,
    pub(super) kernel: String,
    pub(super) factor: f64,
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
    /// Andon's time for resizing the plane. The weights are computed for each plane, as `fast_image_resize` does.
    pub(super) ours_ms: f64,
    /// Andon's time for resizing the plane without AVX-512, with the weights computed for each plane.
    pub(super) avx2_ms: f64,
    /// Andon's time for resizing the plane with weights that have already been computed, as if for another plane of the
    /// same image.
    pub(super) shared_ms: f64,
    pub(super) theirs_ms: f64,
    pub(super) our_error: Error,
    pub(super) their_error: Error,
}

/// Absolute differences between the resized samples and an exact computation, in sample levels.
#[derive(Serialize)]
pub(super) struct Error {
    pub(super) largest: f64,
    pub(super) mean: f64,
}

/// Approximate duration of one measurement in ms, which is long compared with the clock's resolution.
const MEASURED_MS: f64 = 1.5;

impl Case {
    pub(super) fn measure<S: Sample>(
        plane: &Plane<S>,
        factor: f64,
        kernel: Kernel,
        rounds: usize,
    ) -> Result<Self> {
        let scaled = |length: u32| (f64::from(length) / factor).round().max(1.0) as u32;
        let to = (scaled(plane.width), scaled(plane.height));
        let mut ours = Ours::new(plane, to, kernel)?;
        let mut theirs = Theirs::new(plane, to, kernel)?;
        // The first run of each determines how often to repeat it.
        let often = |once: f64| (MEASURED_MS / once).ceil().clamp(1.0, 1000.0) as usize;
        let before = thread_ms();
        theirs.run()?;
        let often = often(thread_ms() - before);
        ours.run(Level::best());
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..rounds {
            times[0].push(timed(often, || ours.run(Level::best())));
            times[1].push(timed(often, || ours.run(Level::Avx2.min(Level::best()))));
            times[2].push(timed(often, || ours.run_shared()));
            let mut result = Ok(());
            times[3].push(timed(often, || {
                if let Err(error) = theirs.run() {
                    result = Err(error);
                }
            }));
            result?;
        }
        ours.run(Level::best());
        let error = |ends, out: &mut dyn Iterator<Item = S>| {
            Error::of(&exact::resampled(plane, to, kernel, ends), S::MAX, out)
        };
        Ok(Self {
            samples: S::NAME,
            kernel: kernel.to_string(),
            factor,
            from: (plane.width, plane.height),
            to,
            ours_ms: median(&times[0]),
            avx2_ms: median(&times[1]),
            shared_ms: median(&times[2]),
            theirs_ms: median(&times[3]),
            our_error: error(Ends::Both, &mut ours.out.iter().copied()),
            their_error: error(
                Ends::Right,
                &mut theirs.out.iter().map(|&pixel| S::of(pixel)),
            ),
        })
    }
}

/// Runs `run` `often` times and returns the CPU time of one run in ms.
fn timed(often: usize, mut run: impl FnMut()) -> f64 {
    let before = thread_ms();
    (0..often).for_each(|_| run());
    (thread_ms() - before) / often as f64
}

impl Error {
    fn of<S: Sample>(exact: &[f64], max: f64, out: &mut dyn Iterator<Item = S>) -> Self {
        let mut error = Self {
            largest: 0.0,
            mean: 0.0,
        };
        for (at, out) in exact.iter().zip(out) {
            let off = (at.clamp(0.0, max) - out.into()).abs();
            error.largest = error.largest.max(off);
            error.mean += off / exact.len() as f64;
        }
        error
    }
}

/// Andon's kernels with the plane to resize.
struct Ours<'a, S: Sample> {
    source: Source<'a, S>,
    spans: [Span; 2],
    kernel: Kernel,
    shared: [Weights<S>; 2],
    out: Vec<S>,
}

impl<'a, S: Sample> Ours<'a, S> {
    fn new(plane: &'a Plane<S>, to: (u32, u32), kernel: Kernel) -> Result<Self> {
        let span = |input: u32, output| Span {
            input,
            left: 0.0,
            length: input.into(),
            output,
        };
        let spans = [span(plane.width, to.0), span(plane.height, to.1)];
        let shared = spans.map(|span| Weights::new(span, kernel));
        let [Some(x), Some(y)] = shared else {
            bail!("a plane without samples");
        };
        Ok(Self {
            source: Source {
                samples: &plane.samples,
                stride: plane.width as usize,
                height: plane.height as usize,
            },
            spans,
            kernel,
            shared: [x, y],
            out: vec![S::default(); to.0 as usize * to.1 as usize],
        })
    }

    fn run(&mut self, level: Level) {
        let [Some(x), Some(y)] = self.spans.map(|span| Weights::new(span, self.kernel)) else {
            return;
        };
        rows_on(level, self.source, &x, &y, 0..y.output(), &mut self.out);
    }

    fn run_shared(&mut self) {
        let [x, y] = &self.shared;
        let level = Level::best();
        rows_on(level, self.source, x, y, 0..y.output(), &mut self.out);
    }
}

/// `fast_image_resize` with the plane to resize. Its buffers are reused between runs.
struct Theirs<S: Sample> {
    resizer: Resizer,
    options: ResizeOptions,
    from: (u32, u32),
    to: (u32, u32),
    pixels: Vec<S::Pixel>,
    out: Vec<S::Pixel>,
}

impl<S: Sample> Theirs<S> {
    fn new(plane: &Plane<S>, to: (u32, u32), kernel: Kernel) -> Result<Self> {
        let filter = match kernel {
            Kernel::Lanczos3 => FilterType::Lanczos3,
            Kernel::Mitchell => FilterType::Mitchell,
            Kernel::CatmullRom => FilterType::CatmullRom,
            Kernel::Bilinear => FilterType::Bilinear,
            Kernel::Box => FilterType::Box,
        };
        let out = vec![S::default().pixel(); to.0 as usize * to.1 as usize];
        Ok(Self {
            resizer: Resizer::new(),
            options: ResizeOptions::new()
                .resize_alg(ResizeAlg::Convolution(filter))
                .use_alpha(false),
            from: (plane.width, plane.height),
            to,
            pixels: plane.samples.iter().map(|sample| sample.pixel()).collect(),
            out,
        })
    }

    fn run(&mut self) -> Result<()> {
        let from = TypedImageRef::new(self.from.0, self.from.1, &self.pixels)?;
        let mut to = TypedImage::from_pixels_slice(self.to.0, self.to.1, &mut self.out)?;
        self.resizer.resize_typed(&from, &mut to, &self.options)?;
        Ok(())
    }
}
