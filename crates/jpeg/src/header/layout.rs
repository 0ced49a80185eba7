//! Determines which planes a JPEG's components become.

use crate::error::{Error, Feature, Result};
use crate::header::markers::{Component, Header};
use crate::image::Subsampling;

/// The colour space of the stored components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A single component.
    Gray,
    /// Luma and chroma, the common case.
    YCbCr,
    /// Red, green and blue, stored without a colour transform, which is rare.
    Rgb,
    /// Four inks, for print.
    Cmyk,
    /// CMYK whose first three inks are stored as YCbCr.
    Ycck,
}

/// How the stored components map to planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The colour space of the stored components.
    pub colour: Colour,
    /// How the chroma planes of a YCbCr image are subsampled. `NONE` for other colour spaces, and also if `raw` is
    /// false, because all components are then brought to full size.
    pub sub: Subsampling,
    /// Whether the planes are the components as stored. If not, the components are first brought to full size, because
    /// their subsampling cannot be expressed in planes or because they need a colour conversion.
    pub raw: bool,
}

impl Layout {
    /// Determines the layout of a file with this header.
    ///
    /// # Errors
    /// `Unsupported` if the sampling factor of a component does not divide the largest one.
    pub fn of(header: &Header) -> Result<Self> {
        let colour = Colour::of(header);
        let sampling = Sampling::of(header)?;
        let (sub, raw) = match (colour, sampling) {
            (Colour::Gray, _) => (Subsampling::NONE, true),
            (Colour::YCbCr, Sampling::Thinned(sub)) => (sub, true),
            (Colour::YCbCr, Sampling::Mixed) | (Colour::Ycck, _) => (Subsampling::NONE, false),
            (Colour::Rgb | Colour::Cmyk, sampling) => (Subsampling::NONE, sampling.is_even()),
        };
        Ok(Self { colour, sub, raw })
    }

    /// Whether this crate may decode a file with this layout and header: its planes are gray or YCbCr, as stored.
    #[must_use]
    pub fn is_decodable(&self, header: &Header) -> bool {
        self.raw && matches!(self.colour, Colour::Gray | Colour::YCbCr) && !header.arithmetic
    }
}

impl Colour {
    /// Determines the colour space from the markers and then from the components' identifiers, in the same order as
    /// libjpeg.
    fn of(header: &Header) -> Self {
        let ids: Vec<u8> = header
            .components
            .iter()
            .map(|component| component.id)
            .collect();
        match (ids.len(), header.adobe) {
            (1, _) => Self::Gray,
            (3, _) if header.jfif => Self::YCbCr,
            (3, Some(0)) => Self::Rgb,
            (3, None) if ids == *b"RGB" => Self::Rgb,
            (3, _) => Self::YCbCr,
            (_, None | Some(0)) => Self::Cmyk,
            (_, Some(_)) => Self::Ycck,
        }
    }
}

#[derive(Clone, Copy)]
enum Sampling {
    /// The first component has the full resolution, and all others share one subsampling.
    Thinned(Subsampling),
    /// Any other combination that can be brought to full size.
    Mixed,
}

impl Sampling {
    fn of(header: &Header) -> Result<Self> {
        let (h, v) = header.max_sampling();
        let divides = |component: &Component| h % component.h == 0 && v % component.v == 0;
        // For a single component, the sampling factors have no effect.
        if header.components.len() > 1 && !header.components.iter().all(divides) {
            return Err(Error::Unsupported(Feature::Sampling));
        }
        let ratio = |component: &Component| (h / component.h, v / component.v);
        let mut ratios = header.components.iter().map(ratio);
        if ratios.next() != Some((1, 1)) {
            return Ok(Self::Mixed);
        }
        let (h, v) = ratios.next().unwrap_or((1, 1));
        let are_equal = ratios.all(|ratio| ratio == (h, v));
        Ok(if are_equal && h != 3 && v != 3 {
            Self::Thinned(Subsampling { h, v })
        } else {
            Self::Mixed
        })
    }

    fn is_even(self) -> bool {
        matches!(self, Self::Thinned(Subsampling::NONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(ids: &[u8], sampling: &[(u8, u8)]) -> Header {
        let components =
            ids.iter()
                .zip(sampling)
                .map(|(&id, &(h, v))| Component { id, h, v, table: 0 });
        Header {
            width: 16,
            height: 16,
            components: components.collect(),
            ..Header::default()
        }
    }

    fn ycbcr(sampling: [(u8, u8); 3]) -> Result<Layout> {
        Layout::of(&header(&[1, 2, 3], &sampling))
    }

    #[test]
    fn usual_samplings_stay_in_their_planes() {
        for (luma, chroma, sub) in [
            ((1, 1), (1, 1), (1, 1)),
            ((2, 2), (1, 1), (2, 2)),
            ((2, 1), (1, 1), (2, 1)),
            ((1, 2), (1, 1), (1, 2)),
            ((4, 1), (1, 1), (4, 1)),
            ((4, 2), (2, 1), (2, 2)),
            ((2, 2), (2, 1), (1, 2)),
            ((3, 3), (3, 3), (1, 1)),
        ] {
            let layout = ycbcr([luma, chroma, chroma]).expect("supported");
            assert!(layout.raw);
            let (h, v) = sub;
            assert_eq!(layout.sub, Subsampling { h, v });
        }
    }

    #[test]
    fn odd_samplings_are_brought_to_full_size() {
        for sampling in [
            [(2, 2), (2, 1), (1, 1)],
            [(1, 1), (2, 2), (2, 2)],
            [(3, 1), (1, 1), (1, 1)],
        ] {
            let layout = ycbcr(sampling).expect("supported");
            assert!(!layout.raw);
            assert_eq!(layout.sub, Subsampling::NONE);
        }
    }

    #[test]
    fn fractions_are_refused() {
        let refused = ycbcr([(3, 1), (2, 1), (2, 1)]);
        assert_eq!(refused, Err(Error::Unsupported(Feature::Sampling)));
    }

    #[test]
    fn markers_outrank_names() {
        let even = [(1, 1); 3];
        let colour = |header: &Header| Layout::of(header).expect("supported").colour;
        let mut named = header(b"RGB", &even);
        assert_eq!(colour(&named), Colour::Rgb);
        named.adobe = Some(1);
        assert_eq!(colour(&named), Colour::YCbCr);
        let mut marked = header(&[1, 2, 3], &even);
        marked.adobe = Some(0);
        assert_eq!(colour(&marked), Colour::Rgb);
        marked.jfif = true;
        assert_eq!(colour(&marked), Colour::YCbCr);
    }

    #[test]
    fn four_components_are_print() {
        let mut print = header(b"CMYK", &[(1, 1); 4]);
        let layout = Layout::of(&print).expect("supported");
        assert_eq!((layout.colour, layout.raw), (Colour::Cmyk, true));
        print.adobe = Some(2);
        let layout = Layout::of(&print).expect("supported");
        assert_eq!((layout.colour, layout.raw), (Colour::Ycck, false));
    }
}
