//! Every stage computes the same samples on every instruction set, bit for bit. Its loops are compiled twice.

use andon_kernels::cpu::{Level, limited_to};
use andon_kernels::resample::Kernel;
use andon_pixels::color::Convert;
use andon_pixels::resize::{RegionF, Resample};
use andon_pixels::{Depth, Frame, Matrix, Model, Range, Scales, Space, Stage, Subsampling, Traits};
use proptest::prelude::*;

use crate::support::*;

/// Work on a frame.
#[derive(Clone, Debug)]
enum Work {
    /// Converts to this model and depth.
    Convert(Model, Depth),
    /// Applies this effect: blur, sharpen or unsharp.
    Effect(&'static str),
    /// Scales to this size, weighted by opacity if there is any.
    Resize((u32, u32), Kernel),
}

impl Work {
    fn stage(&self, frame: &Frame) -> Box<dyn Stage> {
        match self {
            Self::Convert(model, depth) => Box::new(Convert {
                to: Traits {
                    model: *model,
                    depth: *depth,
                    alpha: frame.alpha.is_some(),
                    space: Space::UNSPECIFIED,
                },
                from: Space::UNSPECIFIED,
            }),
            Self::Effect(effect) => parse(effect).unwrap().unwrap(),
            Self::Resize(to, kernel) => Box::new(Resample {
                source: (frame.width, frame.height),
                from: RegionF {
                    x: 0.0,
                    y: 0.0,
                    w: frame.width.into(),
                    h: frame.height.into(),
                },
                within: RegionF {
                    x: 0.0,
                    y: 0.0,
                    w: frame.width.into(),
                    h: frame.height.into(),
                },
                part: None,
                scales: Scales::FULL,
                stored: match frame.model {
                    Model::YCbCr { sub, .. } => sub,
                    _ => Subsampling::NONE,
                },
                to: *to,
                chroma: None,
                kernel: *kernel,
            }),
        }
    }

    /// Does the work with instruction sets up to `level` only, on a new thread without cached weights.
    fn done(&self, level: Level, frame: &Frame) -> Frame {
        let work = || limited_to(level, || run(&*self.stage(frame), frame.clone()));
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }
}

fn models() -> impl Strategy<Value = Model> {
    let ranges = prop_oneof![Just(Range::Full), Just(Range::Limited)];
    let thinnings = prop::sample::select(vec![(1, 1), (2, 1), (2, 2), (1, 2), (4, 1)]);
    let matrices = prop::sample::select(Matrix::ALL.to_vec());
    let ycbcr = (ranges, thinnings, matrices).prop_map(|(range, (h, v), matrix)| Model::YCbCr {
        sub: Subsampling { h, v },
        range,
        matrix,
    });
    prop_oneof![
        Just(Model::Gray),
        Just(Model::Rgb),
        Just(Model::Cmyk),
        ycbcr
    ]
}

fn depths() -> impl Strategy<Value = Depth> {
    prop_oneof![Just(Depth::U8), Just(Depth::U16)]
}

/// Generates frames with noise in every plane, opacity included.
fn frames() -> impl Strategy<Value = Frame> {
    (
        models(),
        depths(),
        (1..90u32, 1..60u32),
        0..1000usize,
        any::<bool>(),
    )
        .prop_map(|(model, depth, (width, height), seed, alpha)| {
            let mut made = frame(model, depth, width, height, |index, x, y| {
                noise(seed + index, x, y)
            });
            made.alpha = alpha.then(|| plane(depth, width, height, |x, y| noise(seed + 7, x, y)));
            made
        })
}

fn work() -> impl Strategy<Value = Work> {
    let effects = vec![
        "blur:0x1.5",
        "blur:0x20",
        "blur:2x3",
        "sharpen:0x0.8",
        "unsharp:0x1+0.7+0",
        "unsharp:0x2+1.5+0.1",
    ];
    let kernels = vec![
        Kernel::Lanczos3,
        Kernel::Mitchell,
        Kernel::CatmullRom,
        Kernel::Bilinear,
        Kernel::Box,
    ];
    prop_oneof![
        3 => (models(), depths()).prop_map(|(model, depth)| Work::Convert(model, depth)),
        2 => prop::sample::select(effects).prop_map(Work::Effect),
        1 => ((1..120u32, 1..80u32), prop::sample::select(kernels))
            .prop_map(|(to, kernel)| Work::Resize(to, kernel)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_instruction_set_makes_the_same_samples(frame in frames(), work in work()) {
        let baseline = work.done(Level::Baseline, &frame);
        for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
            prop_assert!(work.done(level, &frame) == baseline, "{level:?}");
        }
    }
}
