//! Tests every instruction set against the scalar version, and the scalar version against sums of products in 64-bit
//! floats.

use super::*;

/// An independent implementation of the windowed sinc.
fn lanczos3(x: f64) -> f64 {
    let sinc = |x: f64| {
        if x == 0.0 {
            1.0
        } else {
            (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x)
        }
    };
    if x.abs() < 3.0 {
        sinc(x) * sinc(x / 3.0)
    } else {
        0.0
    }
}

trait Noise: Resampled + PartialEq + Into<f64> {
    const MAX: Self;
    fn of(bits: u32) -> Self;
}

impl Noise for u8 {
    const MAX: Self = Self::MAX;
    fn of(bits: u32) -> Self {
        (bits >> 24) as Self
    }
}

impl Noise for u16 {
    const MAX: Self = Self::MAX;
    fn of(bits: u32) -> Self {
        (bits >> 16) as Self
    }
}

fn noise<S: Noise>(length: usize) -> Vec<S> {
    let mut state = 7u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            S::of(state)
        })
        .collect()
}

/// Computes the weights of one result sample, term by term.
fn exact_weights(span: Span, index: u32) -> Vec<f64> {
    let step = span.length / f64::from(span.output);
    let scale = step.max(1.0);
    let centre = span.left + (f64::from(index) + 0.5) * step;
    let beyond = (span.left + span.length).ceil().max(f64::from(span.input)) as u32;
    let mut weights = vec![0.0; span.input as usize];
    for at in 0..beyond {
        weights[at.min(span.input - 1) as usize] +=
            lanczos3((f64::from(at) + 0.5 - centre) / scale);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Horizontal and vertical spans: results close together and far apart, enlarging, single rows, wide rows, and windows
/// that are cut off.
const SPANS: [(Span, Span); 9] = [
    // Most of what is covered lies beyond the input.
    (span(33, 0.0, 255.0, 1), span(21, 0.0, 255.0, 1)),
    (span(97, 0.0, 97.0, 40), span(61, 0.0, 61.0, 33)),
    (span(120, 3.25, 100.5, 67), span(50, 0.0, 50.5, 9)),
    (span(33, 0.0, 33.5, 17), span(40, 1.5, 37.0, 40)),
    (span(20, 0.0, 20.0, 75), span(1, 0.0, 1.0, 3)),
    (span(300, 0.0, 300.0, 8), span(7, 0.0, 7.0, 7)),
    (span(200, 0.0, 200.0, 100), span(30, 0.0, 30.0, 15)),
    (span(160, 0.0, 160.0, 49), span(130, 0.0, 130.0, 41)),
    (span(1, 0.0, 1.0, 5), span(3, 0.0, 3.0, 1)),
];

const fn span(input: u32, left: f64, length: f64, output: u32) -> Span {
    Span {
        input,
        left,
        length,
        output,
    }
}

/// Returns a plane of noise for these spans, and its stride, which is 5 samples more than its width.
fn plane<S: Noise>(across: Span, down: Span) -> (Vec<S>, usize) {
    let stride = across.input as usize + 5;
    (noise(stride * down.input as usize), stride)
}

fn resampled<S: Noise>(
    level: Level,
    (samples, stride): &(Vec<S>, usize),
    (across, down): (Span, Span),
    kernel: Kernel,
) -> Vec<S> {
    let source = Source {
        samples,
        stride: *stride,
        height: down.input as usize,
    };
    let (x, y) = (
        Weights::new(across, kernel).unwrap(),
        Weights::new(down, kernel).unwrap(),
    );
    let mut out = vec![S::default(); x.output() * y.output()];
    let cut = y.output() / 3;
    let (upper, lower) = out.split_at_mut(cut * x.output());
    rows_on(level, source, &x, &y, 0..cut, upper);
    rows_on(level, source, &x, &y, cut..y.output(), lower);
    out
}

fn is_within<S: Noise>(levels: f64) {
    for (across, down) in SPANS {
        let plane = plane::<S>(across, down);
        let out = resampled(Level::Baseline, &plane, (across, down), Kernel::Lanczos3);
        let (samples, stride) = plane;
        for j in 0..down.output {
            for i in 0..across.output {
                let mut exact = 0.0;
                for (v, wy) in exact_weights(down, j).iter().enumerate() {
                    for (u, wx) in exact_weights(across, i).iter().enumerate() {
                        exact += wx * wy * samples[v * stride + u].into();
                    }
                }
                let got: f64 = out[(j * across.output + i) as usize].into();
                assert!(
                    (got - exact.clamp(0.0, S::MAX.into())).abs() <= levels,
                    "({i}, {j}) of {across:?} × {down:?}: {got} for {exact}"
                );
            }
        }
    }
}

#[test]
fn narrow_results_are_within_one_level_of_the_exact_convolution() {
    is_within::<u8>(1.0);
}

#[test]
fn wide_results_are_within_0_6_levels_of_the_exact_convolution() {
    is_within::<u16>(0.6);
}

fn every_level_is_the_twin<S: Noise>() {
    for (across, down) in SPANS {
        let plane = plane::<S>(across, down);
        for kernel in [Kernel::Lanczos3, Kernel::Mitchell, Kernel::Box] {
            let twin = resampled(Level::Baseline, &plane, (across, down), kernel);
            for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                let fast = resampled(level, &plane, (across, down), kernel);
                assert_eq!(fast, twin, "{level:?}: {kernel}, {across:?} × {down:?}");
            }
        }
    }
}

#[test]
fn every_level_makes_the_same_of_narrow_samples_in_any_bands() {
    every_level_is_the_twin::<u8>();
}

#[test]
fn every_level_makes_the_same_of_wide_samples_in_any_bands() {
    every_level_is_the_twin::<u16>();
}

/// Tests planes wider than one block and taller than one band, at every scale factor that has a code path of its own.
#[test]
fn blocks_and_bands_do_not_show() {
    for (width, height) in [(2900, 41), (1000, 300)] {
        for output in [
            width * 5 / 4,
            width * 2 / 3,
            width / 2,
            width / 3,
            width / 5,
        ] {
            let (across, down) = (
                span(width, 0.0, width.into(), output),
                span(height, 0.0, height.into(), height * 2 / 3),
            );
            let plane = plane::<u8>(across, down);
            let twin = resampled(Level::Baseline, &plane, (across, down), Kernel::Lanczos3);
            for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                let fast = resampled(level, &plane, (across, down), Kernel::Lanczos3);
                assert!(fast == twin, "{level:?}: {across:?} × {down:?}");
            }
        }
    }
}

fn keeps<S: Noise>(value: S) {
    for (across, down) in SPANS {
        let stride = across.input as usize;
        let plane = (vec![value; stride * down.input as usize], stride);
        for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
            let out = resampled(level, &plane, (across, down), Kernel::Lanczos3);
            assert!(out.iter().all(|&sample| sample == value), "{value:?}");
        }
    }
}

#[test]
fn a_plane_of_one_value_keeps_it() {
    [0_u8, 1, 127, 254, 255].into_iter().for_each(keeps);
    [0_u16, 1, 257, 32_768, 65_535].into_iter().for_each(keeps);
}

/// Weights are computed by plain loops that are compiled for each instruction set.
#[test]
fn weights_are_the_same_on_every_instruction_set() {
    fn check<S: Noise>(span: Span, kernel: Kernel)
    where
        S::Weight: PartialEq,
    {
        let made =
            |level| crate::cpu::limited_to(level, || Weights::<S>::new(span, kernel).unwrap());
        let twin = made(Level::Baseline);
        for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
            let fast = made(level);
            assert_eq!((fast.taps, fast.input), (twin.taps, twin.input));
            assert_eq!(fast.starts, twin.starts, "{level:?}, {kernel}, {span:?}");
            let same = fast.values == twin.values;
            assert!(same, "{level:?}, {kernel}, {span:?}");
        }
    }
    let mut state = 3u32;
    let mut random = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    let random_spans = (0..200).map(|_| Span {
        input: 1 + random(700),
        left: f64::from(random(64)) / 16.0,
        length: f64::from(1 + random(8000)) / 11.0,
        output: 1 + random(500),
    });
    for span in random_spans.chain(SPANS.into_iter().flat_map(|(x, y)| [x, y])) {
        for kernel in [
            Kernel::Lanczos3,
            Kernel::Mitchell,
            Kernel::CatmullRom,
            Kernel::Bilinear,
            Kernel::Box,
        ] {
            check::<u8>(span, kernel);
            check::<u16>(span, kernel);
        }
    }
}
