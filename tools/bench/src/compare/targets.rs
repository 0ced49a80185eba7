//! Goals for Andon in comparison with libvips: speed and image quality.

use crate::compare::{Measurement, of, ratios, sides};
use crate::engines::{Contestant, Format};
use crate::goals::Goal;
use crate::stats::{geometric_mean, mean};

/// Maximum difference in dB by which Andon's mean PSNR may be below that of libvips.
const PSNR_SLACK: f64 = 0.1;

/// Returns the goals for the speed, one for each measured format and side, and for JPEG also those for the quality.
/// Without any results there are no goals, and without libvips' results the goals are missed.
pub(super) fn judge(results: &[Measurement]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for format in Format::ALL {
        for side in sides(results, format) {
            let name = format!("JPEG → {}, {side} px", format.name());
            let ours = of(results, Contestant::Andon, format, side);
            let theirs = of(results, Contestant::Vips, format, side);
            goals.push(Goal::at_least(
                format!("{name}, speed beside libvips"),
                geometric_mean(ratios(&ours, &theirs)),
                speed(format, side),
                "×",
            ));
            if format == Format::Jpeg {
                let psnr = |all: &[&Measurement]| mean(all.iter().map(|one| one.psnr));
                goals.push(Goal::at_least(
                    format!("{name}, mean PSNR over libvips'"),
                    psnr(&ours) - psnr(&theirs),
                    -PSNR_SLACK,
                    "dB",
                ));
            }
        }
    }
    goals
}

/// Returns the speed that is the goal, as a multiple of libvips' speed. It is lower for large results, where scaled
/// decoding saves less, and for WebP, for which all contestants use the same encoder.
fn speed(format: Format, side: u32) -> f64 {
    match format {
        Format::Jpeg if side > 400 => 3.0,
        Format::Jpeg => 3.5,
        Format::Webp => 1.4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::Strictness;

    /// Returns whether a goal is missed when libvips takes `ratio` times as long as Andon, and the PSNR of libvips'
    /// results is `worse` dB below that of Andon's.
    fn missed(format: Format, side: u32, ratio: f64, worse: f64) -> bool {
        let one = |contestant, seconds: f64, psnr: f64| Measurement {
            photo: String::new(),
            side,
            format,
            contestant,
            width: side,
            height: side,
            plan: None,
            seconds: vec![seconds],
            cpu_seconds: vec![seconds],
            median_seconds: seconds,
            median_cpu_seconds: seconds,
            bytes: 1,
            psnr,
            ssim: 1.0,
        };
        let results = [1.0, 3.0].map(|seconds| {
            [
                one(Contestant::Andon, seconds, 40.0),
                one(Contestant::Vips, seconds * ratio, 40.0 - worse),
                one(Contestant::Gd, seconds / 100.0, 100.0),
            ]
        });
        let goals = judge(&results.into_iter().flatten().collect::<Vec<_>>());
        Strictness { strict: true }.judge(&goals).is_err()
    }

    #[test]
    fn each_format_and_side_has_its_speed() {
        for (format, side, limit) in [
            (Format::Jpeg, 150, 3.5),
            (Format::Jpeg, 400, 3.5),
            (Format::Jpeg, 1200, 3.0),
            (Format::Webp, 150, 1.4),
            (Format::Webp, 1200, 1.4),
        ] {
            assert!(!missed(format, side, limit * 1.01, 0.0));
            assert!(missed(format, side, limit * 0.99, 0.0));
        }
    }

    #[test]
    fn a_worse_jpeg_is_a_miss_however_fast() {
        assert!(!missed(Format::Jpeg, 400, 9.0, -0.09));
        assert!(missed(Format::Jpeg, 400, 9.0, -0.11));
    }
}
