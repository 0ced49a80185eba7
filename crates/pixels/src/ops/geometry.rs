//! The argument that blur, sharpen and unsharp share: `RxS[+A[+T]]`, a radius and a sigma in px, and
//! what unsharp wants to know beside.

use andon_recipe::{Arg, Effect, Word};

use crate::error::Result;
use crate::stage::wrong;

/// What the argument says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Geometry {
    /// Reach of the kernel in px; 0 leaves it to sigma.
    pub(super) radius: f64,
    /// Standard deviation in px.
    pub(super) sigma: f64,
    /// How much of the difference is added back, if that was said.
    pub(super) amount: Option<f64>,
    /// Differences below this part of full scale are left alone, if that was said.
    pub(super) threshold: Option<f64>,
}

/// How far the kernel reaches.
pub(super) const RADIUS: Arg = Arg::number("radius", 0.0, MAX)
    .unit("px")
    .help("how far the kernel reaches; 0: as far as sigma needs");

/// How wide the Gaussian is.
pub(super) const SIGMA: Arg = Arg::number("sigma", 0.0, MAX)
    .after('x')
    .unit("px")
    .default("0")
    .help("standard deviation; 0: nothing happens");

/// The largest of any of the numbers: beyond, an image is one flat colour.
const MAX: f64 = 1000.0;

/// The least sigma, in px, that still moves a sample by half a 16-bit level.
const LEAST: f64 = 0.05;

impl Geometry {
    /// Reads an effect by its word, whose arguments are radius, sigma, and what unsharp wants to know
    /// beside. `None` when it asks for nothing: no sigma.
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
        Ok(geometry.shows().then_some(geometry))
    }

    /// Does it ask for anything?
    pub(super) fn shows(&self) -> bool {
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
