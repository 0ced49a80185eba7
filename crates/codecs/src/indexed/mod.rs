//! Reduces an image to at most 256 colours: its own if it has no more, otherwise a fitted palette with error diffusion.
//! Used by all formats with palettes.

mod fit;

use std::collections::HashMap;

use andon_pixels::{Interrupt, Result};

use crate::guard;

pub(crate) use fit::Histogram;

/// An image as palette indices. Transparent pixels have the index after the last palette entry.
#[derive(Debug)]
pub(crate) struct Indexed<const N: usize> {
    /// The colour of each index, with `N` channels.
    pub(crate) palette: Vec<[u8; N]>,
    /// One index per pixel.
    pub(crate) indices: Vec<u8>,
}

/// Indexes `count` pixels by their own colours. Returns `None` if there are more than `most` colours.
pub(crate) fn exact_palette<const N: usize>(
    count: usize,
    most: usize,
    colour: impl Fn(usize) -> Option<[u8; N]>,
) -> Option<Indexed<N>> {
    let mut palette = Vec::new();
    let mut indices_by_colour = HashMap::new();
    let mut indices = Vec::with_capacity(count);
    let mut last = None;
    let mut clear = Vec::new();
    for at in 0..count {
        let Some(colour) = colour(at) else {
            clear.push(at);
            indices.push(0);
            continue;
        };
        let index = match last {
            Some((same, index)) if same == colour => index,
            _ => {
                let next = indices_by_colour.len();
                let index = *indices_by_colour.entry(colour).or_insert(next);
                if index == most {
                    return None;
                }
                if index == next {
                    palette.push(colour);
                }
                index
            }
        };
        last = Some((colour, index));
        indices.push(index as u8);
    }
    for at in clear {
        indices[at] = palette.len() as u8;
    }
    Some(Indexed { palette, indices })
}

/// Indexes the pixels by a palette of at most `most` colours, fitted to a sample of them. Floyd–Steinberg error
/// diffusion alternates its direction from row to row, so that errors do not drift to one side. With four channels, the
/// last is opacity, whose errors are not diffused because they would be visible as holes.
pub(crate) fn fit_palette<const N: usize>(
    (width, height): (usize, usize),
    most: usize,
    colour: impl Fn(usize) -> Option<[u8; N]>,
    interrupt: &dyn Interrupt,
) -> Result<Indexed<N>> {
    let count = width * height;
    let step = (count / SAMPLES).max(1);
    let mut histogram = Histogram::new();
    for colour in (0..count).step_by(step).filter_map(&colour) {
        histogram.add(colour);
    }
    let palette = histogram.fit(most);
    guard::check_interrupt(interrupt)?;
    let mut nearest = Nearest::new(&palette);

    let mut indices = vec![palette.len() as u8; count];
    // An additional cell on either side receives the errors beyond the edge.
    let mut errors = vec![[0i16; N]; width + 2];
    let mut next_errors = errors.clone();
    for y in 0..height {
        if y % BAND_ROWS == 0 {
            guard::check_interrupt(interrupt)?;
        }
        let backwards = y % 2 == 1;
        for step in 0..width {
            let x = if backwards { width - 1 - step } else { step };
            let at = y * width + x;
            let Some(colour) = colour(at) else {
                continue;
            };
            let cell = x + 1;
            let (ahead, behind) = if backwards {
                (cell - 1, cell + 1)
            } else {
                (cell + 1, cell - 1)
            };
            let target: [u8; N] = std::array::from_fn(|c| {
                (i16::from(colour[c]) + (errors[cell][c] + 8) / 16).clamp(0, 255) as u8
            });
            let index = nearest.index(target);
            let entry = palette[usize::from(index)];
            indices[at] = index;
            for c in 0..N.min(3) {
                let error = i16::from(target[c]) - i16::from(entry[c]);
                errors[ahead][c] += error * 7;
                next_errors[behind][c] += error * 3;
                next_errors[cell][c] += error * 5;
                next_errors[ahead][c] += error;
            }
        }
        std::mem::swap(&mut errors, &mut next_errors);
        next_errors.fill([0; N]);
    }
    Ok(Indexed { palette, indices })
}

/// Approximate number of pixels to which the palette is fitted.
const SAMPLES: usize = 500_000;
const BAND_ROWS: usize = 16;

/// Finds the nearest colour of a palette. A cache, indexed by the high bits of each channel, makes this inexact; the
/// resulting error is diffused like any other.
struct Nearest<const N: usize> {
    /// The palette, one array per channel, so that the compiler can vectorise the search.
    channels: [[i32; 256]; N],
    cache: Vec<u16>,
}

impl<const N: usize> Nearest<N> {
    /// Number of high bits of each channel that form a key of the cache: six for three channels, five for four.
    const BITS: usize = 20 / N;

    fn new(palette: &[[u8; N]]) -> Self {
        // Unused entries are farther from every colour than any used one.
        let mut channels = [[1 << 10; 256]; N];
        for (index, colour) in palette.iter().take(256).enumerate() {
            for (channel, &value) in channels.iter_mut().zip(colour) {
                channel[index] = i32::from(value);
            }
        }
        Self {
            channels,
            cache: vec![UNKNOWN; 1 << (N * Self::BITS)],
        }
    }

    fn index(&mut self, colour: [u8; N]) -> u8 {
        let key = colour.iter().fold(0, |key, &value| {
            key << Self::BITS | usize::from(value) >> (8 - Self::BITS)
        });
        if self.cache[key] == UNKNOWN {
            self.cache[key] = u16::from(self.search(colour));
        }
        self.cache[key] as u8
    }

    fn search(&self, colour: [u8; N]) -> u8 {
        let colour = colour.map(i32::from);
        let mut best = i32::MAX;
        for index in 0..256 {
            let mut distance = 0;
            for (channel, value) in self.channels.iter().zip(colour) {
                distance += (channel[index] - value) * (channel[index] - value);
            }
            // The index is stored in the low bits, so that the minimum of these numbers contains the nearest entry.
            best = best.min(distance << 8 | index as i32);
        }
        best as u8
    }
}

const UNKNOWN: u16 = u16::MAX;
