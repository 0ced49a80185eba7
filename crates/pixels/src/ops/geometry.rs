//! The argument that blur, sharpen and unsharp share: `RxS[+A[+T]]`, a radius and a sigma in px, and
//! what unsharp wants to know beside.

use andon_recipe::Effect;

use crate::error::{Error, Result};

/// What the argument says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Geometry {
    /// Reach of the kernel in px; 0 leaves it to sigma.
    pub(super) radius: f64,
    /// Standard deviation in px.
    pub(super) sigma: f64,
    /// The numbers that follow, as many as were given.
    pub(super) more: Vec<f64>,
}

/// The largest of any of the numbers: beyond, a picture is one flat colour.
const MAX: f64 = 1000.0;

/// The least sigma, in px, that still moves a sample by half a 16-bit level.
const LEAST: f64 = 0.05;

impl Geometry {
    /// Reads an effect's only argument, which may hold as many further numbers as `more` says. `None`
    /// when it asks for nothing: no sigma.
    pub(super) fn parse(effect: &Effect, more: usize) -> Result<Option<Self>> {
        let wrong = |why: String| Error::Recipe {
            piece: effect.to_string(),
            why,
        };
        let [arg] = &effect.args[..] else {
            return Err(wrong("it takes one argument, such as `0x1.5`".to_owned()));
        };
        let number = |text: &str| match text.parse::<f64>() {
            Ok(value) if (0.0..=MAX).contains(&value) => Ok(value),
            _ => Err(wrong(format!("`{text}` is not a number from 0 to {MAX}"))),
        };
        let mut parts = arg.split('+');
        let kernel = parts.next().unwrap_or_default();
        let (radius, sigma) = kernel.split_once('x').unwrap_or((kernel, "0"));
        let geometry = Self {
            radius: number(radius)?,
            sigma: number(sigma)?,
            more: parts.map(number).collect::<Result<_>>()?,
        };
        if geometry.more.len() > more {
            return Err(wrong(format!(
                "at most {more} numbers may follow the sigma"
            )));
        }
        Ok((geometry.sigma >= LEAST).then_some(geometry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arg: &str, more: usize) -> Result<Option<Geometry>> {
        let args = vec![arg.to_owned()];
        let name = "blur".to_owned();
        Geometry::parse(&Effect { name, args }, more)
    }

    #[test]
    fn a_radius_alone_asks_for_nothing() {
        assert_eq!(parse("5", 0), Ok(None));
        assert_eq!(parse("5x0", 0), Ok(None));
    }

    #[test]
    fn numbers_after_the_sigma_are_those_the_effect_takes() {
        let geometry = parse("2x1+0.5+0.1", 2).unwrap().unwrap();
        assert_eq!((geometry.radius, geometry.sigma), (2.0, 1.0));
        assert_eq!(geometry.more, [0.5, 0.1]);
        assert!(parse("2x1+0.5", 0).is_err());
    }

    #[test]
    fn what_is_no_number_is_named() {
        for arg in [
            "", "x", "1x", "axb", "1x-2", "1xnan", "1xinf", "1x2000", "1x2+",
        ] {
            assert!(matches!(parse(arg, 2), Err(Error::Recipe { .. })), "{arg}");
        }
    }
}
