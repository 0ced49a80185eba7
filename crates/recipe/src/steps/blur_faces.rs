//! `blur-faces`: makes faces unrecognisable.

use std::fmt;

use super::{Declared, Geometry, Step};
use crate::resolve::Image;
use crate::{Arg, Facts, Measure, ParseError, Word};

/// Blur faces with this standard deviation in px or, if `None`, with a share of the size of each face. Needs the
/// measurements of [`Rules::measures`](crate::Rules::measures).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurFaces(pub Option<f64>);

const WORD: Word = Word {
    name: "blur-faces",
    args: &[Arg::number("sigma", 0.05, 1000.0)
        .unit("px")
        .default("a fifth of each face's side")
        .help("standard deviation")],
    help: "blurs the frontal faces that are found in the source, in builds with the cargo feature `faces`; \
           docs/smart.md says which are not found",
    example: "blur-faces",
};

impl Declared for BlurFaces {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [sigma] = WORD.read(parts)?;
        let sigma = sigma.map(|sigma| WORD.args[0].read_number(sigma));
        sigma.transpose().map(Self)
    }
}

impl Geometry for BlurFaces {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |sigma| write!(f, ":{sigma}"))
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let blurs = match &image.faces {
            Some(faces) => faces.blurred((image.width, image.height), self.0),
            None => vec![Step::BlurFaces(*self)],
        };
        for blur in blurs {
            image.push(blur);
        }
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(size)
    }

    fn needs(&self) -> &'static [Measure] {
        &[Measure::Faces]
    }
}
