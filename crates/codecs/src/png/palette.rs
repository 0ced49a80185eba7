//! PNG with a palette: at most 256 colours, each with its own opacity.

use std::borrow::Cow;

use andon_pixels::{Depth, Encode, Error, Frame, Grid, Interrupt, Model, Plane, Result};
use andon_recipe::{Arg, Word};
use png::BitDepth;

use crate::indexed::{Indexed, exact_palette, fit_palette};

/// Option for the maximum number of colours of the result.
pub(super) const COLOURS: Word = Word {
    name: "colours",
    args: &[Arg::whole("count", 2, 256).help("how many at most")],
    help: "a palette instead of every pixel's own colour, in 8 bits: drawings and screenshots become far smaller, \
           photos less so. Images of no more colours lose nothing; in others errors are diffused \
           (Floyd–Steinberg). Not for animations",
    example: "with:colours:256",
};

/// Returns the maximum number of colours of the result; `None` if every pixel keeps its own colour.
pub(super) fn most(how: &Encode) -> Option<usize> {
    how.option(&COLOURS).and_then(|count| count.parse().ok())
}

/// A frame as indices into a palette.
pub(super) struct Palette {
    /// The indices, as samples of a gray frame.
    pub(super) frame: Frame,
    /// Red, green and blue of each palette index.
    pub(super) colours: Vec<u8>,
    /// Opacities of the first palette indices; all further ones are opaque.
    pub(super) opacities: Vec<u8>,
}

impl Palette {
    /// Returns a palette without visible loss, for an image for which no palette was requested: an exact palette if the
    /// frame has at most 256 colours or, if the source had a palette (`few_colours`), one that is similar enough.
    /// Returns `None` if every pixel should keep its own colour.
    pub(super) fn by_default(
        frame: &Frame,
        how: &Encode,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Self>> {
        if frame.model != Model::Rgb || frame.depth() != Depth::U8 {
            return Ok(None);
        }
        if let Some(palette) = Self::exact_of(frame, LARGEST)? {
            return Ok(Some(palette).filter(|palette| palette.pays(frame)));
        }
        if !how.few_colours || how.lossless {
            return Ok(None);
        }
        let close = Self::of(frame, LARGEST, interrupt)?;
        let is_close = close.error(frame)? <= UNSEEN;
        Ok(Some(close).filter(|_| is_close))
    }

    /// Whether the palette takes fewer bytes than it saves, before compression.
    fn pays(&self, frame: &Frame) -> bool {
        let pixels = frame.width as usize * frame.height as usize;
        let channels = 3 + usize::from(frame.alpha.is_some());
        self.colours.len() + self.opacities.len() + CHUNKS < pixels * (channels - 1)
    }

    /// Returns the mean squared difference, in 8-bit levels, between the palette's colours and those of the frame, both
    /// multiplied by their opacity.
    fn error(&self, frame: &Frame) -> Result<f64> {
        let [r, g, b] = colours(frame)?;
        let alpha = opacity(frame)?;
        let indices = self.frame.planes[0]
            .as_u8()
            .map(Grid::samples)
            .ok_or_else(unfit)?;
        let mut sum = 0_u64;
        for (at, index) in indices.iter().enumerate() {
            let index = usize::from(*index);
            let entry = &self.colours[3 * index..3 * index + 3];
            let original = alpha.map_or(u8::MAX, |alpha| alpha[at]);
            let replacement = self.opacities.get(index).copied().unwrap_or(u8::MAX);
            let original = premultiply([r[at], g[at], b[at], original]);
            let replacement = premultiply([entry[0], entry[1], entry[2], replacement]);
            let squares = original
                .iter()
                .zip(replacement)
                .map(|(original, replacement)| u64::from(original.abs_diff(replacement)).pow(2));
            sum += squares.sum::<u64>();
        }
        Ok(sum as f64 / (3 * indices.len()) as f64)
    }

    /// Returns a palette with the exact colours of a frame, if there are at most `most`.
    fn exact_of(frame: &Frame, most: usize) -> Result<Option<Self>> {
        let count = frame.width as usize * frame.height as usize;
        let [r, g, b] = colours(frame)?;
        let alpha = opacity(frame)?;
        let clear = alpha.is_some_and(|alpha| alpha.contains(&0));
        let original = exact_palette(count, most - usize::from(clear), |at| {
            let a = alpha.map_or(u8::MAX, |alpha| alpha[at]);
            (a > 0).then_some([r[at], g[at], b[at], a])
        });
        original
            .map(|entries| Self::in_file_order(frame, entries, clear))
            .transpose()
    }

    /// Finds a palette of at most `most` colours for an RGB frame of 8 bits.
    pub(super) fn of(frame: &Frame, most: usize, interrupt: &dyn Interrupt) -> Result<Self> {
        if let Some(palette) = Self::exact_of(frame, most)? {
            return Ok(palette);
        }
        let (width, height) = (frame.width as usize, frame.height as usize);
        let [r, g, b] = colours(frame)?;
        let colour = |at: usize| [r[at], g[at], b[at]];
        let Some(alpha) = opacity(frame)? else {
            let colour = |at| Some(colour(at));
            let entries = fit_palette((width, height), most, colour, interrupt)?;
            let entries = with_opacity(entries, |[r, g, b]| [r, g, b, u8::MAX]);
            return Self::in_file_order(frame, entries, false);
        };
        let clear = alpha.contains(&0);
        // Colours are weighted by opacity, because errors of transparent pixels are less visible.
        let premultiply_at = |at: usize| {
            let [r, g, b] = colour(at);
            (alpha[at] > 0).then(|| premultiply([r, g, b, alpha[at]]))
        };
        let most = most - usize::from(clear);
        let entries = fit_palette((width, height), most, premultiply_at, interrupt)?;
        Self::in_file_order(frame, with_opacity(entries, unmultiply), clear)
    }

    /// Sorts palette entries for a PNG file: translucent ones first, so that the `tRNS` chunk is short. With `clear`,
    /// also adds a fully transparent entry for the transparent pixels, to which no entry was fitted.
    fn in_file_order(frame: &Frame, mut entries: Indexed<4>, clear: bool) -> Result<Self> {
        if clear {
            entries.palette.push([0; 4]);
        }
        if frame.alpha.is_some() {
            entries = translucent_first(entries);
        }
        let translucent = entries.palette.iter().filter(|entry| entry[3] < u8::MAX);
        let indices = Grid::from_samples(frame.width, frame.height, entries.indices)?;
        let indices = Frame::new(
            Model::Gray,
            frame.width,
            frame.height,
            vec![Plane::U8(indices)],
            None,
        )?;
        Ok(Self {
            frame: indices.with_colour(frame.colour.clone()),
            opacities: translucent.map(|entry| entry[3]).collect(),
            colours: entries
                .palette
                .iter()
                .flat_map(|[r, g, b, _]| [*r, *g, *b])
                .collect(),
        })
    }

    /// Returns the number of bits of an index.
    pub(super) fn bits(&self) -> BitDepth {
        match self.colours.len() / 3 {
            0..=2 => BitDepth::One,
            3..=4 => BitDepth::Two,
            5..=16 => BitDepth::Four,
            _ => BitDepth::Eight,
        }
    }

    /// Returns the `tRNS` chunk, if any.
    pub(super) fn transparency(&self) -> Option<Cow<'_, [u8]>> {
        (!self.opacities.is_empty()).then(|| Cow::Borrowed(&self.opacities[..]))
    }
}

fn with_opacity<const N: usize>(
    entries: Indexed<N>,
    colour: impl Fn([u8; N]) -> [u8; 4],
) -> Indexed<4> {
    Indexed {
        palette: entries.palette.into_iter().map(colour).collect(),
        indices: entries.indices,
    }
}

/// Moves entries that are not opaque to the front, because the file lists opacities only up to the last of these.
fn translucent_first(entries: Indexed<4>) -> Indexed<4> {
    let mut order: Vec<usize> = (0..entries.palette.len()).collect();
    order.sort_by_key(|&index| entries.palette[index][3] == u8::MAX);
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new as u8;
    }
    Indexed {
        palette: order.iter().map(|&old| entries.palette[old]).collect(),
        indices: entries
            .indices
            .into_iter()
            .map(|old| place[usize::from(old)])
            .collect(),
    }
}

fn premultiply([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let times = |value: u8| ((u32::from(value) * u32::from(a) + 127) / 255) as u8;
    [times(r), times(g), times(b), a]
}

fn unmultiply([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let by = u32::from(a).max(1);
    let over = |value: u8| ((u32::from(value) * 255 + by / 2) / by).min(255) as u8;
    // Nearly opaque means are rounded up, so that opaque pixels which share an entry with slightly transparent ones
    // stay opaque.
    let a = if a >= NEARLY_OPAQUE { u8::MAX } else { a };
    [over(r), over(g), over(b), a]
}

const NEARLY_OPAQUE: u8 = 248;

/// Number of colours of the largest palette.
const LARGEST: usize = 256;

/// Bytes of the `PLTE` and `tRNS` chunks, without the colours and opacities.
const CHUNKS: usize = 24;

/// Maximum mean squared error, in 8-bit levels, of a palette that was not requested. Below it, SSIMULACRA2 stays above
/// 90.
const UNSEEN: f64 = 4.0;

fn colours(frame: &Frame) -> Result<[&[u8]; 3]> {
    let planes: Option<Vec<_>> = frame.planes.iter().map(Plane::as_u8).collect();
    planes
        .filter(|_| frame.model == Model::Rgb)
        .and_then(|planes| <[&Grid<u8>; 3]>::try_from(planes).ok())
        .map(|planes| planes.map(Grid::samples))
        .ok_or_else(unfit)
}

fn opacity(frame: &Frame) -> Result<Option<&[u8]>> {
    let plane = frame.alpha.as_ref();
    plane
        .map(|plane| plane.as_u8().map(Grid::samples).ok_or_else(unfit))
        .transpose()
}

fn unfit() -> Error {
    Error::Internal("a palette was asked for of something else than RGB in 8 bits".to_owned())
}

/// Packs the indices of a row into as few bytes as possible, the first index in the high bits.
pub(super) fn pack(row: &[u8], bits: BitDepth) -> Vec<u8> {
    let bits = bits as usize;
    let bytes = row.chunks(8 / bits).map(|indices| {
        let places = indices.iter().enumerate();
        places.fold(0, |byte, (place, index)| {
            byte | index << (8 - bits * (place + 1))
        })
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_does_not_fill_its_last_byte_is_padded() {
        assert_eq!(pack(&[1, 0, 1], BitDepth::One), [0b1010_0000]);
        assert_eq!(
            pack(&[3, 1, 2, 0, 1], BitDepth::Two),
            [0b1101_1000, 0b0100_0000]
        );
        assert_eq!(pack(&[15, 2, 7], BitDepth::Four), [0xf2, 0x70]);
    }

    #[test]
    fn opacity_is_divided_out_again() {
        for a in 1..=255 {
            let [r, _, _, _] = unmultiply(premultiply([200, 0, 255, a]));
            let step = 255 / u32::from(a) + 1;
            assert!(u32::from(r.abs_diff(200)) <= step, "{a}: {r}");
        }
    }
}
