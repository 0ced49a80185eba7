//! The argument that blur, sharpen and unsharp share: `RxS[+A[+T]]`, a radius and a sigma in px and, for unsharp, an
//! amount and a threshold.

use andon_recipe::{Arg, Effect, Word};

use crate::error::Result;
use crate::stage::wrong;

/// The parsed argument of blur, sharpen or unsharp.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Geometry {
    /// Reach of the kernel in px; 0: derived from sigma.
    pub(super) radius: f64,
    /// Standard deviation of the Gaussian in px.
    pub(super) sigma: f64,
    /// Factor by which the difference from the blurred image is added back, if given.
    pub(super) amount: Option<f64>,
    /// Share of full scale, if given: samples that differ from the blurred image by less than half of it stay
    /// unchanged.
    pub(super) threshold: Option<f64>,
}

/// Argument for the reach of the kernel.
pub(super) const RADIUS: Arg = Arg::number("radius", 0.0, MAX)
    .unit("px")
    .help("how far the kernel reaches; 0: as far as sigma needs");

/// Argument for the standard deviation of the Gaussian.
pub(super) const SIGMA: Arg = Arg::number("sigma", 0.0, MAX)
    .after('x')
    .unit("px")
    .default("0")
    .help("standard deviation; 0: nothing happens");

/// Largest radius and sigma in px, and largest amount and threshold. With a larger sigma, an image becomes one flat
/// colour.
const MAX: f64 = 1000.0;

/// Smallest sigma, in px, that still moves a sample by half a 16-bit level.
const LEAST: f64 = 0.05;

impl Geometry {
    /// Parses the arguments of an effect: radius, sigma and, for unsharp, amount and threshold. Returns `None` if sigma
    /// is missing or too small to have an effect.
    pub(super) fn parse(word: &Word, effect: &Effect) -> Result<Option<Self>> {
        let read = || {
            let [radius, sigma, amount, threshold] = word.read(&effect.args)?;
            let number = |text: Option<&str>| text.map(|text| RADIUS.read_number(text)).transpose();
            Ok(Self {
                radius: number(radius)?.unwrap_or(0.0),
                sigma: number(sigma)?.unwrap_or(0.0),
                amount: number(amount)?,
                threshold: number(threshold)?,
            })
        };
        let geometry = read().map_err(|error| wrong(effect, &error))?;
        Ok(geometry.is_visible().then_some(geometry))
    }

    /// Whether sigma is large enough to have a visible effect.
    pub(super) fn is_visible(&self) -> bool {
        self.sigma >= LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    const WORD: Word = Word {
        name: "mask",
        args: &[
            RADIUS,
            SIGMA,
            Arg::number("amount", 0.0, MAX).after('+').default("1"),
            Arg::number("threshold", 0.0, MAX).after('+').default("0"),
        ],
        help: "",
        example: "mask:0x1",
    };

    fn parse(arg: &str) -> Result<Option<Geometry>> {
        let args = vec![arg.to_owned()];
        let name = "mask".to_owned();
        Geometry::parse(&WORD, &Effect { name, args })
    }

    #[test]
    fn a_radius_alone_asks_for_nothing() {
        assert_eq!(parse("5"), Ok(None));
        assert_eq!(parse("5x0"), Ok(None));
    }

    #[test]
    fn numbers_after_the_sigma_are_amount_and_threshold() {
        let geometry = parse("2x1+0.5+0.1").unwrap().unwrap();
        assert_eq!((geometry.radius, geometry.sigma), (2.0, 1.0));
        assert_eq!(
            (geometry.amount, geometry.threshold),
            (Some(0.5), Some(0.1))
        );
        assert_eq!(parse("2x1").unwrap().unwrap().amount, None);
    }

    #[test]
    fn what_is_no_number_is_named() {
        for arg in [
            "",
            "x",
            "1x",
            "axb",
            "1x-2",
            "1xnan",
            "1xinf",
            "1x2000",
            "1x2+",
            "1x2+1+1+1",
        ] {
            assert!(matches!(parse(arg), Err(Error::Recipe { .. })), "{arg}");
        }
    }
}
