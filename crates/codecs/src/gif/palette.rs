//! At most 256 colours for a picture: its own when it has no more, else a fitted palette and error
//! diffusion.

use std::collections::HashMap;

use andon_pixels::{Grid, Interrupt, Result};

use super::fit::Histogram;
use crate::guard;

/// A picture by index.
#[derive(Debug)]
pub(super) struct Indexed {
    /// Red, green, blue of each index.
    pub(super) palette: Vec<u8>,
    /// The index of a clear pixel: the last of the palette.
    pub(super) transparent: Option<u8>,
    /// One index per pixel.
    pub(super) indices: Vec<u8>,
}

/// A picture as planes of equal size.
#[derive(Clone, Copy)]
pub(super) struct Picture<'a> {
    /// Red, green, blue.
    pub(super) rgb: [&'a Grid<u8>; 3],
    /// Opacity; below half counts as clear.
    pub(super) alpha: Option<&'a Grid<u8>>,
}

impl Picture<'_> {
    /// Gives every pixel an index.
    pub(super) fn index(self, interrupt: &dyn Interrupt) -> Result<Indexed> {
        let clear = self
            .alpha
            .is_some_and(|alpha| alpha.samples().iter().any(|&a| a < OPAQUE));
        let colours = if clear { 255 } else { 256 };
        let (mut palette, indices) = match self.own_colours(colours) {
            Some(exact) => exact,
            None => self.fitted(colours, interrupt)?,
        };
        let transparent = clear.then_some((palette.len() / 3) as u8);
        if clear {
            palette.extend([0, 0, 0]);
        }
        Ok(Indexed {
            palette,
            transparent,
            indices,
        })
    }

    /// The picture's own colours, if there are no more than `most`; clear pixels get the index after
    /// them.
    fn own_colours(self, most: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut palette = Vec::new();
        let mut known = HashMap::new();
        let mut indices = Vec::with_capacity(self.len());
        let mut last = None;
        let mut clear = Vec::new();
        for at in 0..self.len() {
            if self.is_clear(at) {
                clear.push(at);
                indices.push(0);
                continue;
            }
            let colour = self.colour(at);
            let index = match last {
                Some((same, index)) if same == colour => index,
                _ => {
                    let next = known.len();
                    let index = *known.entry(colour).or_insert(next);
                    if index == most {
                        return None;
                    }
                    if index == next {
                        palette.extend(colour);
                    }
                    index
                }
            };
            last = Some((colour, index));
            indices.push(index as u8);
        }
        for at in clear {
            indices[at] = known.len() as u8;
        }
        Some((palette, indices))
    }

    /// A palette fitted to a sample of the pixels, and Floyd–Steinberg diffusion in both directions by
    /// turns, so that errors do not drift to one side.
    fn fitted(self, most: usize, interrupt: &dyn Interrupt) -> Result<(Vec<u8>, Vec<u8>)> {
        let step = (self.len() / SAMPLES).max(1);
        let mut histogram = Histogram::new();
        for at in (0..self.len()).step_by(step) {
            if !self.is_clear(at) {
                histogram.add(self.colour(at));
            }
        }
        let palette = histogram.fit(most);
        guard::wanted(interrupt)?;
        let mut nearest = Nearest::new(&palette);

        let (width, height) = (self.rgb[0].width() as usize, self.rgb[0].height() as usize);
        let mut indices = vec![palette.len() as u8; self.len()];
        // One more cell on either side takes what falls off the edge.
        let mut here = vec![[0i16; 3]; width + 2];
        let mut below = here.clone();
        for y in 0..height {
            if y % BAND_ROWS == 0 {
                guard::wanted(interrupt)?;
            }
            let backwards = y % 2 == 1;
            for step in 0..width {
                let x = if backwards { width - 1 - step } else { step };
                let at = y * width + x;
                if self.is_clear(at) {
                    continue;
                }
                let colour = self.colour(at);
                let cell = x + 1;
                let (ahead, behind) = if backwards {
                    (cell - 1, cell + 1)
                } else {
                    (cell + 1, cell - 1)
                };
                let wish: [u8; 3] = std::array::from_fn(|c| {
                    (i16::from(colour[c]) + (here[cell][c] + 8) / 16).clamp(0, 255) as u8
                });
                let index = nearest.index(wish);
                let got = palette[usize::from(index)];
                indices[at] = index;
                for c in 0..3 {
                    let error = i16::from(wish[c]) - i16::from(got[c]);
                    here[ahead][c] += error * 7;
                    below[behind][c] += error * 3;
                    below[cell][c] += error * 5;
                    below[ahead][c] += error;
                }
            }
            std::mem::swap(&mut here, &mut below);
            below.fill([0; 3]);
        }
        Ok((palette.concat(), indices))
    }

    fn len(self) -> usize {
        self.rgb[0].samples().len()
    }

    fn colour(self, at: usize) -> [u8; 3] {
        self.rgb.map(|plane| plane.samples()[at])
    }

    fn is_clear(self, at: usize) -> bool {
        self.alpha.is_some_and(|alpha| alpha.samples()[at] < OPAQUE)
    }
}

/// The least opacity that is not clear.
pub(super) const OPAQUE: u8 = 128;
/// Pixels that the palette is fitted to.
const SAMPLES: usize = 500_000;
const BAND_ROWS: usize = 16;

/// The nearest colour of a palette, remembered by the six high bits of each channel. What that rounding
/// misses is diffused like any other error.
struct Nearest {
    /// One array per channel: the search is one pass that the compiler turns into vectors.
    channels: [[i32; 256]; 3],
    known: Vec<u16>,
}

impl Nearest {
    fn new(palette: &[[u8; 3]]) -> Self {
        // Entries that are not there lie farther off than any that is.
        let mut channels = [[1 << 10; 256]; 3];
        for (index, colour) in palette.iter().take(256).enumerate() {
            for (channel, &value) in channels.iter_mut().zip(colour) {
                channel[index] = i32::from(value);
            }
        }
        Self {
            channels,
            known: vec![UNKNOWN; 1 << 18],
        }
    }

    fn index(&mut self, colour: [u8; 3]) -> u8 {
        let key = colour
            .iter()
            .fold(0, |key, &value| key << 6 | usize::from(value >> 2));
        if self.known[key] == UNKNOWN {
            self.known[key] = u16::from(self.search(colour));
        }
        self.known[key] as u8
    }

    fn search(&self, colour: [u8; 3]) -> u8 {
        let [r, g, b] = colour.map(i32::from);
        let [reds, greens, blues] = &self.channels;
        let mut best = i32::MAX;
        for index in 0..256 {
            let (r, g, b) = (reds[index] - r, greens[index] - g, blues[index] - b);
            // The index rides in the low bits: the least sum is the nearest entry.
            best = best.min((r * r + g * g + b * b) << 8 | index as i32);
        }
        best as u8
    }
}

const UNKNOWN: u16 = u16::MAX;
