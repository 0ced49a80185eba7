//! Measures how close small images are to the ideal, which is a full decode, resized with Lanczos3 in floats. When
//! Andon decodes at a scale of 1/4 or 1/2, its samples differ from libjpeg-turbo's. The question is whether the small
//! images that Andon's resampler makes from them are at least as close to the ideal as those that it makes from
//! libjpeg-turbo's samples.
//!
//! The planes are compared one by one, without an encoder, which would hide most of the difference, and at sizes for
//! which the planner chooses these scales.

use andon_kernels::resample::{Kernel, Source, Span, Weights, rows};
use andon_pixels::Grid;
use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::{Decoder, Photo, planes};
use crate::goals::Goal;
use crate::quality::{plane_psnr, plane_ssim};
use crate::resize::exact::{self, Ends};
use crate::resize::plane;
use crate::stats::mean;

pub(super) const LEGEND: &str = "\
closeness of small images to a full decode and Lanczos3 in floats: ours over libjpeg-turbo's, luma, mean of
three sizes; PSNR in dB, SSIM in millionths; at 1/4 and 1/2";

/// Scales (in eighths) at which Andon's samples differ from libjpeg-turbo's.
const EIGHTHS: [u8; 2] = [2, 4];

/// Numbers of decoded samples per result sample along an axis. The planner uses a scale if this number is at least
/// 1.35. From 2.7 on, it uses the next smaller scale.
const REDUCTIONS: [f64; 3] = [1.4, 2.0, 2.6];

const NAMES: [&str; 3] = ["Y", "Cb", "Cr"];

/// How close a resized plane is to the ideal one, when Andon and when libjpeg-turbo has decoded it. The ideal is a full
/// decode, resized with Lanczos3 in floats.
#[derive(Serialize)]
pub(super) struct Closeness {
    eighths: u8,
    plane: &'static str,
    reduction: f64,
    to: (u32, u32),
    psnr: Both,
    ssim: Both,
}

/// Two values of one metric: for Andon's decoder and for libjpeg-turbo's.
#[derive(Serialize)]
struct Both {
    ours: f64,
    turbo: f64,
}

impl Both {
    fn difference(&self) -> f64 {
        // Equal planes have an infinite PSNR, whose difference would be NaN.
        if self.ours == self.turbo {
            return 0.0;
        }
        self.ours - self.turbo
    }
}

/// Compares all planes of one photo, at all scales and sizes, with the ideal ones.
pub(super) fn measure(file: &[u8]) -> Result<Vec<Closeness>> {
    // Both decoders give the same samples at full size.
    let full = planes(Decoder::Turbo, file, 8)?;
    let mut all = Vec::new();
    for eighths in EIGHTHS {
        let ours = planes(Decoder::Ours, file, eighths)?;
        let turbo = planes(Decoder::Turbo, file, eighths)?;
        for (index, name) in NAMES.into_iter().enumerate() {
            let full = plane::Plane {
                width: full[index].width(),
                height: full[index].height(),
                samples: full[index].samples().to_vec(),
            };
            for reduction in REDUCTIONS {
                let scaled = Scaled::new(&full, eighths, reduction);
                let mut exact = exact::resampled(&full, scaled.to, Kernel::Lanczos3, Ends::Both);
                // Lanczos overshoots, which 8-bit samples cannot represent.
                exact
                    .iter_mut()
                    .for_each(|value| *value = value.clamp(0.0, 255.0));
                let ours = scaled.resampled(&ours[index])?;
                let turbo = scaled.resampled(&turbo[index])?;
                let width = scaled.to.0 as usize;
                all.push(Closeness {
                    eighths,
                    plane: name,
                    reduction,
                    to: scaled.to,
                    psnr: Both {
                        ours: plane_psnr(&exact, &ours),
                        turbo: plane_psnr(&exact, &turbo),
                    },
                    ssim: Both {
                        ours: plane_ssim(&exact, &ours, width),
                        turbo: plane_ssim(&exact, &turbo, width),
                    },
                });
            }
        }
    }
    Ok(all)
}

/// The size of a plane that was decoded at a reduced scale, and the size to which it is resized.
struct Scaled {
    /// Width and height of the whole plane in decoded samples, with fractions if the plane's full size is no multiple
    /// of the scale.
    covered: (f64, f64),
    to: (u32, u32),
}

impl Scaled {
    fn new(full: &plane::Plane<u8>, eighths: u8, reduction: f64) -> Self {
        let covered = |length: u32| f64::from(length) * f64::from(eighths) / 8.0;
        let covered = (covered(full.width), covered(full.height));
        // At most the size for which the planner would use this scale.
        let to = |length: f64| (length / reduction).floor().max(1.0) as u32;
        Self {
            covered,
            to: (to(covered.0), to(covered.1)),
        }
    }

    fn resampled(&self, plane: &Grid<u8>) -> Result<Vec<u8>> {
        let weights = |input: u32, length: f64, output| {
            ensure!(
                (length.floor()..=length + 1.0).contains(&f64::from(input)),
                "{input} samples for {length}"
            );
            let span = Span {
                input,
                left: 0.0,
                length,
                output,
            };
            Weights::new(span, Kernel::Lanczos3).context("a plane without samples")
        };
        let x = weights(plane.width(), self.covered.0, self.to.0)?;
        let y = weights(plane.height(), self.covered.1, self.to.1)?;
        let source = Source {
            samples: plane.samples(),
            stride: plane.width() as usize,
            height: plane.height() as usize,
        };
        let mut out = vec![0; self.to.0 as usize * self.to.1 as usize];
        rows(source, &x, &y, 0..y.output(), &mut out);
        Ok(out)
    }
}

/// A measure of similarity between two planes.
#[derive(Clone, Copy)]
enum Measure {
    /// Peak signal-to-noise ratio, in dB.
    Psnr,
    /// Structural similarity, in millionths.
    Ssim,
}

impl Measure {
    const ALL: [Self; 2] = [Self::Psnr, Self::Ssim];

    fn name(self) -> &'static str {
        match self {
            Self::Psnr => "PSNR",
            Self::Ssim => "SSIM",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Psnr => "dB",
            Self::Ssim => "millionths",
        }
    }

    /// Returns by how much the metric is higher for Andon's decoder than for libjpeg-turbo's, in dB or millionths, as
    /// mean over the sizes.
    fn gain(self, all: &[Closeness], eighths: u8, plane: &str) -> f64 {
        let of = all
            .iter()
            .filter(|one| (one.eighths, one.plane) == (eighths, plane));
        mean(of.map(|one| match self {
            Self::Psnr => one.psnr.difference(),
            Self::Ssim => one.ssim.difference() * 1e6,
        }))
    }
}

/// Prints by how much luma is closer to the ideal with Andon's decoder than with libjpeg-turbo's, as columns on the
/// line of a photo.
pub(super) fn print(all: &[Closeness]) {
    for eighths in EIGHTHS {
        let gain = |measure: Measure| measure.gain(all, eighths, NAMES[0]);
        print!(
            "  {:+6.2} dB {:+7.0}",
            gain(Measure::Psnr),
            gain(Measure::Ssim)
        );
    }
}

/// Prints by how much each plane is closer to the ideal with Andon's decoder than with libjpeg-turbo's: the mean over
/// the photos, the worst photo, and the number of photos for which it is less close.
pub(super) fn summarise(photos: &[Photo]) {
    println!(
        "\nhow much closer than libjpeg-turbo's: mean, worst photo, photos that are less close"
    );
    for eighths in EIGHTHS {
        for plane in NAMES {
            print!("at {eighths}/8 {plane:2}");
            for measure in Measure::ALL {
                let gains = gains(photos, measure, eighths, plane);
                let below = gains.iter().filter(|(_, gain)| *gain < 0.0).count();
                let worst = gains.iter().min_by(|a, b| a.1.total_cmp(&b.1));
                let (name, worst) = worst.copied().unwrap_or(("none", f64::NAN));
                print!(
                    "  {} {:+8.3} {:+8.3} {} ({name}) {below:2} of {}",
                    measure.name(),
                    mean(gains.iter().map(|(_, gain)| *gain)),
                    worst,
                    measure.unit(),
                    gains.len(),
                );
            }
            println!();
        }
    }
}

fn gains<'a>(
    photos: &'a [Photo],
    measure: Measure,
    eighths: u8,
    plane: &str,
) -> Vec<(&'a str, f64)> {
    let gain = |one: &'a Photo| {
        let gain = measure.gain(&one.closeness, eighths, plane);
        (one.name.as_str(), gain)
    };
    photos.iter().map(gain).collect()
}

/// Returns the goals for luma and chroma: on average over the photos, Andon's decoder must be at least as close to the
/// ideal as libjpeg-turbo's.
pub(super) fn goals(photos: &[Photo]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for eighths in EIGHTHS {
        for measure in Measure::ALL {
            for (what, planes) in [("luma", &NAMES[..1]), ("chroma", &NAMES[1..])] {
                let gains = planes
                    .iter()
                    .flat_map(|plane| gains(photos, measure, eighths, plane));
                goals.push(Goal::at_least(
                    format!(
                        "{what} at {eighths}/8, {} over libjpeg-turbo's",
                        measure.name()
                    ),
                    mean(gains.map(|(_, gain)| gain)),
                    0.0,
                    measure.unit(),
                ));
            }
        }
    }
    goals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::engine;
    use crate::goals::Strictness;

    #[test]
    fn the_planner_takes_these_scales_for_these_sizes() {
        let file = include_bytes!("../../../../samples/photos/colosseum.jpg");
        let info = engine().probe(file).expect("an image");
        let full = plane::Plane {
            width: info.width,
            height: info.height,
            samples: Vec::<u8>::new(),
        };
        for eighths in EIGHTHS {
            for reduction in REDUCTIONS {
                let (width, height) = Scaled::new(&full, eighths, reduction).to;
                let recipe = format!("exact:{width}x{height}");
                let recipe: andon_recipe::Recipe = recipe.parse().expect("a recipe");
                let plan = engine().plan(&recipe, file).expect("a plan");
                let scales = plan.holding().scales.expect("a decode");
                assert_eq!(scales.luma.0, eighths, "{width}x{height}");
            }
        }
    }

    #[test]
    fn chroma_counts_no_less_than_luma_and_each_photo_once() {
        let photo = |gains: [f64; 3]| Photo {
            name: String::new(),
            progressive: false,
            speed: None,
            closeness: EIGHTHS
                .into_iter()
                .flat_map(|eighths| NAMES.into_iter().zip(gains).map(move |one| (eighths, one)))
                .flat_map(|(eighths, (plane, gain))| {
                    REDUCTIONS.map(|reduction| Closeness {
                        eighths,
                        plane,
                        reduction,
                        to: (1, 1),
                        psnr: Both {
                            ours: 40.0 + gain * reduction,
                            turbo: 40.0,
                        },
                        ssim: Both {
                            ours: 1.0,
                            turbo: 1.0,
                        },
                    })
                })
                .collect(),
        };
        let missed = |gains: [[f64; 3]; 2]| {
            let goals = goals(&gains.map(photo));
            Strictness { strict: true }.judge(&goals).is_err()
        };
        assert!(!missed([[0.0; 3], [0.0; 3]]));
        assert!(!missed([[2.0, 0.0, 2.0], [-1.0, 0.0, -1.0]]));
        assert!(missed([[1.0, 5.0, 5.0], [-1.1, 5.0, 5.0]]));
        assert!(missed([[5.0, 1.0, 0.0], [5.0, -0.6, -0.6]]));
    }

    #[test]
    fn equal_planes_are_equally_close_even_where_they_are_perfect() {
        let perfect = Both {
            ours: f64::INFINITY,
            turbo: f64::INFINITY,
        };
        assert!(perfect.difference() == 0.0);
    }
}
