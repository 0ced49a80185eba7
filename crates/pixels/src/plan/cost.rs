//! The cost of a plan, step by step and in total.

use crate::cost::Cost;
use crate::frame::Traits;
use crate::samples::{bytes, count};

/// One step of a plan as it is printed and accounted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step's line in the printed plan, such as `resize 400x300 lanczos3`.
    pub text: String,
    /// The time and memory of the step.
    pub cost: Cost,
    /// Bytes in use while the step runs: the source file, the step's input and output, and its scratch memory.
    pub holds: u64,
}

/// Returns the cost of consecutive steps: times add up, whereas scratch memory is released between steps.
pub(super) fn total(steps: &[Step]) -> Cost {
    steps.iter().fold(Cost::default(), |sum, step| Cost {
        nanos: sum.nanos.saturating_add(step.cost.nanos),
        scratch: sum.scratch.max(step.cost.scratch),
    })
}

/// Returns the largest memory in use during any step, in bytes.
pub(super) fn peak(steps: &[Step]) -> u64 {
    steps.iter().map(|step| step.holds).max().unwrap_or(0)
}

/// Returns the size of a frame's planes in bytes.
pub(crate) fn frame_bytes((width, height): (u32, u32), traits: Traits) -> u64 {
    count(width, height, traits.model, traits.alpha) * bytes(traits.depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Depth, Model, Subsampling};
    use crate::space::Space;

    #[test]
    fn a_420_frame_takes_one_and_a_half_bytes_per_pixel() {
        let traits = Traits::new(Model::ycbcr(Subsampling::C420), Depth::U8);
        assert_eq!(frame_bytes((400, 300), traits), 180_000);
    }

    #[test]
    fn alpha_and_sixteen_bits_are_counted() {
        let traits = Traits {
            model: Model::Rgb,
            depth: Depth::U16,
            alpha: true,
            space: Space::UNSPECIFIED,
        };
        assert_eq!(frame_bytes((10, 10), traits), 800);
    }

    #[test]
    fn times_add_up_and_scratch_is_given_back() {
        let step = |nanos, scratch, holds| Step {
            text: String::new(),
            cost: Cost { nanos, scratch },
            holds,
        };
        let steps = [step(5, 100, 700), step(7, 50, 900)];
        assert_eq!(
            total(&steps),
            Cost {
                nanos: 12,
                scratch: 100
            }
        );
        assert_eq!(peak(&steps), 900);
    }
}
