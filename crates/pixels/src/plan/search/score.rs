//! Searches for the smallest file that reaches a score.

use crate::error::Result;

/// The search for the smallest quality whose image scores at least `score`.
///
/// Scores grow with quality along much the same curve for all photos and formats, only higher or lower, and steeper or
/// flatter. So one encode tells the position of this image's curve, a second one its slope, and a third is close. One
/// more is left for images unlike photos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scored {
    /// The score to reach, from 1 to 100.
    pub(crate) score: u8,
}

/// An encoded file, and the score of its image.
pub(crate) struct Candidate {
    /// The encoded file.
    pub(crate) file: Vec<u8>,
    /// The image's score: at most 100, below 0 for very bad images.
    pub(crate) score: f64,
}

/// Pairs of quality and SSIMULACRA2 score: means over JPEG and WebP of sixteen photos at 400 to 2000 px.
const CURVE: [(f64, f64); 8] = [
    (1.0, -30.0),
    (10.0, 15.0),
    (30.0, 49.0),
    (50.0, 62.0),
    (65.0, 68.0),
    (80.0, 76.0),
    (90.0, 85.0),
    (100.0, 96.0),
];

/// Largest difference by which a file's score may exceed the required one for the search to end.
const CLOSE: f64 = 1.0;

impl Scored {
    /// How many encodes the search takes at most.
    pub(crate) const TRIES: u32 = 4;

    /// Returns the quality that the search begins with.
    pub(super) fn first(self) -> u8 {
        self.quality(&[])
    }

    /// Returns the quality that should score slightly more than required, judging by the tries so far. Each entry of
    /// `tries` is the score on `CURVE` at a tried quality, and this image's score at that quality.
    fn quality(self, tries: &[(f64, f64)]) -> u8 {
        let aim = f64::from(self.score) + CLOSE / 2.0;
        let mut nearest: Vec<_> = tries.to_vec();
        nearest.sort_by(|(_, one), (_, other)| (one - aim).abs().total_cmp(&(other - aim).abs()));
        let target = match nearest[..] {
            [] => aim,
            [(at, score)] => at + aim - score,
            [(at, score), (other_at, other), ..] => {
                let steep = (other - score) / (other_at - at);
                let steep = if steep.is_finite() {
                    steep.clamp(0.4, 2.5)
                } else {
                    1.0
                };
                at + (aim - score) / steep
            }
        };
        let after = CURVE.partition_point(|&(_, score)| score < target);
        let after = after.clamp(1, CURVE.len() - 1);
        let ((q0, s0), (q1, s1)) = (CURVE[after - 1], CURVE[after]);
        let quality = q0 + (target - s0) * (q1 - q0) / (s1 - s0);
        quality.round().clamp(1.0, 100.0) as u8
    }

    /// Returns the smallest of the tried files that reaches the score, or the best file if none does.
    pub(crate) fn run(self, mut encode: impl FnMut(u8) -> Result<Candidate>) -> Result<Vec<u8>> {
        let target = f64::from(self.score);
        // The highest quality known to be too low, and the lowest known to be sufficient.
        let (mut small, mut fits) = (0, 101);
        let mut best: Option<(u8, Candidate)> = None;
        let mut tries = Vec::new();
        for _ in 0..Self::TRIES {
            let quality = match fits - small {
                0 | 1 => break,
                _ => self.quality(&tries).clamp(small + 1, fits - 1),
            };
            let candidate = encode(quality)?;
            tries.push((expected(quality), candidate.score));
            let close = (target..=target + CLOSE).contains(&candidate.score);
            if candidate.score >= target {
                fits = quality;
                best = Some((quality, candidate));
            } else {
                small = quality;
                // Until a file reaches the score, the one of the highest quality is the best.
                if best
                    .as_ref()
                    .is_none_or(|(best_quality, _)| *best_quality < quality && fits > 100)
                {
                    best = Some((quality, candidate));
                }
            }
            if close {
                break;
            }
        }
        Ok(best
            .map(|(_, candidate)| candidate.file)
            .unwrap_or_default())
    }
}

/// Returns the score on `CURVE` at a quality.
fn expected(quality: u8) -> f64 {
    let quality = f64::from(quality);
    let after = CURVE.partition_point(|&(point, _)| point < quality);
    let after = after.clamp(1, CURVE.len() - 1);
    let ((q0, s0), (q1, s1)) = (CURVE[after - 1], CURVE[after]);
    s0 + (quality - q0) * (s1 - s0) / (q1 - q0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the search for an image whose scores follow `curve`; returns the quality found and the number of tries.
    fn found(score: u8, curve: impl Fn(f64) -> f64) -> (u8, u32) {
        let mut tries = 0;
        let file = Scored { score }.run(|quality| {
            tries += 1;
            Ok(Candidate {
                file: vec![quality],
                score: curve(f64::from(quality)),
            })
        });
        (file.unwrap()[0], tries)
    }

    #[test]
    fn images_that_score_higher_or_lower_than_most_are_met_within_two_points() {
        for score in 40..=90 {
            for higher in -12..=12 {
                let curve = |quality: f64| {
                    let steeper = 1.0 - f64::from(higher) / 60.0;
                    (expected(quality as u8) - 96.0) * steeper + 96.0
                };
                let (quality, tries) = found(score, curve);
                let got = curve(f64::from(quality));
                assert!(tries <= Scored::TRIES);
                let over = got - f64::from(score);
                assert!((0.0..2.0).contains(&over), "{score} {higher}: {got}");
            }
        }
    }

    #[test]
    fn images_whose_scores_grow_faster_or_slower_than_most_are_met_within_two_points() {
        for score in 30..=90 {
            for steeper in [0.6, 0.8, 1.2, 1.5, 1.8] {
                let curve = |quality: f64| (expected(quality as u8) - 90.0) * steeper + 90.0;
                // Qualities at which one step changes the score by at most two points.
                let (quality, tries) = found(score, curve);
                let fits = (1..=100).find(|quality| curve(f64::from(*quality)) >= f64::from(score));
                let fits = fits.unwrap_or(100);
                assert!(tries <= Scored::TRIES);
                let over = curve(f64::from(quality)) - curve(f64::from(fits));
                assert!((0.0..2.0).contains(&over), "{score} {steeper}: {over}");
            }
        }
    }

    #[test]
    fn what_never_scores_enough_is_the_best_that_was_tried() {
        let (quality, tries) = found(90, |quality| quality / 10.0);
        assert_eq!((quality, tries), (100, 2));
    }

    #[test]
    fn what_always_scores_enough_is_written_small() {
        let (quality, _) = found(50, |_| 99.0);
        assert!(quality <= 5, "{quality}");
    }
}
