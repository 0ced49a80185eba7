//! The later stages of detection: small networks that decide whether a window shows a face, and locate the face in it.

use crate::gradients::{Gradients, NUMBERS, Patch};
use crate::image::Gray;
use crate::proposals::SIDE;
use crate::windows::Window;

/// A small neural network whose inputs are the gradients in a few patches of a window.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) patches: Vec<Patch>,
    pub(crate) layers: Vec<Layer>,
    /// Score that a window has to exceed to be a face.
    pub(crate) least: f32,
}

/// A fully connected layer.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    /// Weights of all inputs for the first output, then for the second, and so on.
    pub(crate) weights: Vec<f32>,
    pub(crate) biases: Vec<f32>,
}

/// Number of outputs of a network: the score of a window, and the horizontal position, vertical position and size of
/// the face. All are from 0 to 1. A position or size of 0.5 is that of the window itself.
pub(crate) const OUTPUTS: usize = 4;

impl Network {
    /// Whether the sizes of the layers fit together.
    pub(crate) fn is_whole(&self) -> bool {
        let mut numbers = self.patches.len() * NUMBERS;
        for layer in &self.layers {
            let outputs = layer.biases.len();
            if layer.inputs != numbers || layer.weights.len() != numbers * outputs {
                return false;
            }
            numbers = outputs;
        }
        numbers == OUTPUTS && !self.layers.is_empty()
    }

    /// Returns the windows that show a face, each moved to the face's position, or `None` as soon as `is_wanted`
    /// returns `false`.
    pub(crate) fn refine(
        &self,
        image: Gray<'_>,
        windows: &[Window],
        is_wanted: &dyn Fn() -> bool,
    ) -> Option<Vec<Window>> {
        let size = (image.width(), image.height());
        let mut results = Vec::new();
        for window in windows.iter().filter(|window| window.shows(size)) {
            if !is_wanted() {
                return None;
            }
            let outputs = self.outputs(&image.window(window, SIDE));
            results.extend(self.moved(window, &outputs));
        }
        Some(results)
    }

    fn outputs(&self, window: &[u8]) -> Vec<f32> {
        let gradients = Gradients::of(window);
        let patches = self.patches.iter();
        let mut numbers: Vec<f32> = patches
            .flat_map(|patch| gradients.describe(patch))
            .collect();
        for (index, layer) in self.layers.iter().enumerate() {
            let is_last = index + 1 == self.layers.len();
            let outputs = layer.outputs(&numbers);
            numbers = outputs
                .map(|sum| if is_last { sigmoid(sum) } else { sum.max(0.0) })
                .collect();
        }
        numbers
    }

    /// Returns the window moved to the face that the network has located, or `None` if the network has found none.
    fn moved(&self, window: &Window, outputs: &[f32]) -> Option<Window> {
        let &[score, right, down, larger] = outputs else {
            return None;
        };
        if score <= self.least {
            return None;
        }
        let window_side = window.side as f64;
        let share = |output: f32| (f64::from(output) * 2.0 - 1.0) * window_side;
        let side = (share(larger) + window_side + 0.5).floor();
        let start = |start: i64, output: f32| {
            (share(output) + start as f64 + (window_side - side) * 0.5 + 0.5).floor() as i64
        };
        Some(Window {
            x: start(window.x, right),
            y: start(window.y, down),
            side: side as i64,
            score,
        })
    }
}

impl Layer {
    fn outputs(&self, inputs: &[f32]) -> impl Iterator<Item = f32> {
        let rows = self.weights.chunks_exact(self.inputs);
        rows.zip(&self.biases)
            .map(|(weights, bias)| product(inputs, weights) + bias)
    }
}

/// Returns the dot product. It is summed in a fixed order that lets the compiler use vectors of any length, so that the
/// result is the same on every machine.
fn product(one: &[f32], other: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (whole, rest) = (one.chunks_exact(LANES), one.len() / LANES * LANES);
    for (one, other) in whole.zip(other.chunks_exact(LANES)) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest = one[rest..].iter().zip(&other[rest..]);
    let rest = rest.fold(0.0, |sum, (one, other)| sum + one * other);
    sums.into_iter().fold(rest, |sum, lane| sum + lane)
}

fn sigmoid(x: f32) -> f32 {
    (1.0 / (1.0 + exp(-f64::from(x)))) as f32
}

/// Computes the exponential function with basic arithmetic only, which gives the same bits on every machine. The `exp`
/// functions of C libraries differ in the last bit.
fn exp(x: f64) -> f64 {
    let x = x.clamp(-100.0, 100.0);
    let doublings = (x / std::f64::consts::LN_2).round();
    let rest = x - doublings * std::f64::consts::LN_2;
    // The error is 1e-16 for arguments of up to half of ln 2.
    let series = (1..=14)
        .rev()
        .fold(1.0, |sum, n| 1.0 + sum * rest / f64::from(n));
    // Two to the power of `doublings`, from the bits of its exponent; the power lies within ±145.
    let power = f64::from_bits(((1023 + doublings as i64) as u64) << 52);
    series * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_library() {
        for tenth in -600..600 {
            let x = f64::from(tenth) / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "{x}");
        }
    }
}
