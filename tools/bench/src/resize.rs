//! Benchmark of Andon's resampling kernels against `fast_image_resize`, plane by plane on one thread. Run it with
//! `./dev bench resize`.
//!
//! Instructions are not counted because callgrind does not support AVX-512.

mod case;
pub(crate) mod exact;
pub(crate) mod plane;

use andon_kernels::cpu::Level;
use andon_kernels::resample::Kernel;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::raw;
use crate::stats::{geometric_mean, mean};

use case::Case;
use plane::{Plane, Sample};

/// Options of `./dev bench resize`.
#[derive(Args)]
pub(crate) struct ResizeArgs {
    /// One photo and fewer repeats, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    instructions: String,
    photos: Vec<String>,
    cases: Vec<Case>,
    pub(crate) goals: Vec<Goal>,
}

const KERNELS: [Kernel; 3] = [Kernel::Lanczos3, Kernel::Mitchell, Kernel::Box];

/// Factors by which planes are reduced. There are goals for each of them.
const FACTORS: [f64; 5] = [1.2, 1.5, 2.0, 3.0, 4.0];

/// Factors below 1, which enlarge. There are no goals for them.
const ENLARGED: [f64; 2] = [1.0 / 1.5, 0.5];

/// Sizes of the planes, in eighths of the photo's size.
const EIGHTHS: [u8; 3] = [8, 4, 2];

/// Minimum speed of Andon's kernels as a multiple of the speed of `fast_image_resize`.
const SPEED: f64 = 1.8;

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &ResizeArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let (step, rounds) = if args.quick {
        (photos.names.len(), 3)
    } else {
        (4, 7)
    };
    let names: Vec<_> = photos.names.iter().step_by(step).cloned().collect();
    let mut cases = Vec::new();
    for name in &names {
        let file = photos.read(name)?;
        for eighths in EIGHTHS {
            let plane = Plane::luma(&file, eighths)?;
            measure(&mut cases, &plane, rounds)?;
            // There is no goal for the other depth, so one photo is enough.
            if *name == names[0] {
                measure(&mut cases, &plane.widened(), rounds)?;
            }
        }
        println!("measured {name}");
    }
    print(&cases);
    let goals = goals(&cases);
    goals::print(&goals);
    Ok(Run {
        machine,
        instructions: format!("{:?}", Level::best()),
        photos: names,
        cases,
        goals,
    })
}

fn measure<S: Sample>(cases: &mut Vec<Case>, plane: &Plane<S>, rounds: usize) -> Result<()> {
    for kernel in KERNELS {
        for factor in FACTORS.into_iter().chain(ENLARGED) {
            cases.push(Case::measure(plane, factor, kernel, rounds)?);
        }
    }
    Ok(())
}

fn goals(cases: &[Case]) -> Vec<Goal> {
    let narrow: Vec<_> = cases
        .iter()
        .filter(|case| case.samples == "u8" && case.factor > 1.0)
        .collect();
    let worse = narrow
        .iter()
        .filter(|case| case.our_error.largest > case.their_error.largest);
    let speed = |ours: fn(&Case) -> f64| {
        geometric_mean(narrow.iter().map(|case| case.theirs_ms / ours(case)))
    };
    vec![
        Goal::at_least("u8, speed", speed(|case| case.ours_ms), SPEED, "×"),
        Goal::at_least(
            "u8, speed without AVX-512",
            speed(|case| case.avx2_ms),
            SPEED,
            "×",
        ),
        Goal::at_most(
            "u8, results with a larger maximal error than the peer's",
            worse.count() as f64,
            0.0,
            "of all",
        ),
    ]
}

/// Prints a line for each sample type, kernel and factor: mean times and errors over all planes, and the largest
/// errors.
fn print(cases: &[Case]) {
    println!(
        "\nthe peer's time over ours ({:?} | AVX2 | weights shared by planes), at each size; errors in levels: ours, theirs",
        Level::best()
    );
    for samples in [u8::NAME, u16::NAME] {
        for kernel in KERNELS {
            for factor in FACTORS.into_iter().chain(ENLARGED) {
                let of = |eighths: Option<usize>| {
                    let name = kernel.to_string();
                    let mut places = cases
                        .iter()
                        .filter(move |case| {
                            case.samples == samples && case.kernel == name && case.factor == factor
                        })
                        .enumerate()
                        .filter(move |(index, _)| {
                            eighths.is_none_or(|e| index % EIGHTHS.len() == e)
                        });
                    std::iter::from_fn(move || places.next().map(|(_, case)| case))
                };
                print!("{samples:4}{:9} {factor:4.2}", kernel.to_string());
                for (index, eighths) in EIGHTHS.iter().enumerate() {
                    let ratio = |ours: fn(&Case) -> f64| {
                        geometric_mean(of(Some(index)).map(|case| case.theirs_ms / ours(case)))
                    };
                    print!(
                        "  {eighths}/8:{:6.2} ms {:5.2} |{:5.2} |{:5.2}",
                        mean(of(Some(index)).map(|case| case.ours_ms)),
                        ratio(|case| case.ours_ms),
                        ratio(|case| case.avx2_ms),
                        ratio(|case| case.shared_ms),
                    );
                }
                let largest = |error: fn(&Case) -> f64| of(None).map(error).fold(0.0, f64::max);
                println!(
                    "  max {:.3}, {:.3} mean {:.3}, {:.3}",
                    largest(|case| case.our_error.largest),
                    largest(|case| case.their_error.largest),
                    mean(of(None).map(|case| case.our_error.mean)),
                    mean(of(None).map(|case| case.their_error.mean)),
                );
            }
        }
    }
}
