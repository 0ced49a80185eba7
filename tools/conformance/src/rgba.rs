//! Images as rows of RGBA with straight alpha, and the differences between two of them.

use std::path::Path;

use andon_pixels::color::Convert;
use andon_pixels::{
    Alone, Context, Depth, Error, Frame, Model, Never, Orientation, Plane, Stage, Traits,
};
use anyhow::{Context as _, Result};
use sha2::{Digest, Sha256};

/// An image of 8 bits per sample in the colour space of its file.
#[derive(Clone)]
pub(crate) struct Rgba {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[u8; 4]>,
}

/// How much two images differ.
pub(crate) struct Distance {
    pub(crate) max: u8,
    pub(crate) mean: f64,
    /// The difference that 99.9 % of the samples do not exceed.
    pub(crate) p999: u8,
    /// Entry n counts the pixels whose most different sample differs by n.
    worst: [usize; 256],
    /// For each channel, the mean of the signed differences between the two images.
    pub(crate) means: [f64; 4],
}

impl Distance {
    /// Returns the share of pixels with a sample that differs by more than `most`.
    pub(crate) fn beyond(&self, most: f64) -> f64 {
        let all: usize = self.worst.iter().sum();
        let far = (self.worst.iter().enumerate()).filter(|(off, _)| *off as f64 > most);
        far.map(|(_, count)| count).sum::<usize>() as f64 / all.max(1) as f64
    }
}

impl Rgba {
    /// Converts a frame to RGBA in its own colour space.
    pub(crate) fn of(frame: Frame) -> Result<Self, Error> {
        let space = frame.colour.space;
        let to = Traits {
            alpha: true,
            space,
            ..Traits::new(Model::Rgb, Depth::U8)
        };
        let context = Context {
            overlays: &|_| Err(Error::Internal("there are no overlays".to_owned())),
            draw: &|_| Err(Error::Internal("there are no overlays".to_owned())),
            interrupt: &Never,
            cores: &Alone,
        };
        let frame = Convert { to, from: space }.apply(frame, &context)?;
        let planes = frame.planes.iter().chain(&frame.alpha).map(Plane::as_u8);
        let planes: Option<Vec<_>> = planes.collect();
        let planes = planes.ok_or_else(|| Error::Internal("a wide plane".to_owned()))?;
        let pixel = |index: usize| {
            let mut pixel = [255; 4];
            for (sample, plane) in pixel.iter_mut().zip(&planes) {
                *sample = plane.samples()[index];
            }
            cleared(pixel)
        };
        let (width, height) = (frame.width as usize, frame.height as usize);
        Ok(Self {
            width,
            height,
            pixels: (0..width * height).map(pixel).collect(),
        })
    }

    /// Reads a PNG file with the `png` crate alone.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        Self::png(&bytes).with_context(|| path.display().to_string())
    }

    pub(crate) fn png(bytes: &[u8]) -> Result<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let mut samples = vec![0; reader.output_buffer_size().context("its size")?];
        let info = reader.next_frame(&mut samples)?;
        samples.truncate(info.buffer_size());
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels: straight(&samples, &info).into_iter().map(cleared).collect(),
        })
    }

    /// Sets fully transparent pixels to 0, as their colours are not visible.
    pub(crate) fn clear(&mut self) {
        for pixel in &mut self.pixels {
            *pixel = cleared(*pixel);
        }
    }

    /// Multiplies the colours by alpha.
    pub(crate) fn premultiplied(mut self) -> Self {
        for pixel in &mut self.pixels {
            let opacity = u16::from(pixel[3]);
            for sample in &mut pixel[..3] {
                *sample = (u16::from(*sample) * opacity / 255) as u8;
            }
        }
        self
    }

    /// Turns and mirrors the image as its stored orientation demands, so that it is upright.
    pub(crate) fn oriented(self, orientation: Orientation) -> Self {
        let (width, height) = (self.width, self.height);
        let exif = orientation.exif();
        // Returns the position in the source of the pixel at `x`, `y` of the result.
        let from = |x: usize, y: usize| match exif {
            2 => (width - 1 - x, y),
            3 => (width - 1 - x, height - 1 - y),
            4 => (x, height - 1 - y),
            5 => (y, x),
            6 => (y, height - 1 - x),
            7 => (width - 1 - y, height - 1 - x),
            8 => (width - 1 - y, x),
            _ => (x, y),
        };
        let (turned_width, turned_height) = match exif {
            5.. => (height, width),
            _ => (width, height),
        };
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..turned_height {
            for x in 0..turned_width {
                let (x, y) = from(x, y);
                pixels.push(self.pixels[y * width + x]);
            }
        }
        Self {
            width: turned_width,
            height: turned_height,
            pixels,
        }
    }

    /// Makes every pixel opaque. A fully transparent pixel becomes the other image's pixel at the same place. Any other
    /// pixel keeps its colour.
    pub(crate) fn laid_over(mut self, other: &Self) -> Self {
        for (pixel, other) in self.pixels.iter_mut().zip(&other.pixels) {
            match pixel[3] {
                0 => *pixel = *other,
                _ => pixel[3] = 255,
            }
        }
        self
    }

    /// Reduces the image to the means of blocks of `by` × `by` px, weighted by alpha. Blocks at the right and bottom
    /// edges may be smaller.
    pub(crate) fn reduced(&self, by: usize) -> Self {
        if by <= 1 {
            return self.clone();
        }
        let (width, height) = (self.width.div_ceil(by), self.height.div_ceil(by));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (mut sums, mut opacity, mut count) = ([0_u64; 3], 0_u64, 0_u64);
                for y in y * by..((y + 1) * by).min(self.height) {
                    for x in x * by..((x + 1) * by).min(self.width) {
                        let [r, g, b, a] = self.pixels[y * self.width + x].map(u64::from);
                        for (sum, sample) in sums.iter_mut().zip([r, g, b]) {
                            *sum += sample * a;
                        }
                        opacity += a;
                        count += 1;
                    }
                }
                let [r, g, b] = sums.map(|sum| ((sum + opacity / 2) / opacity.max(1)) as u8);
                pixels.push(cleared([
                    r,
                    g,
                    b,
                    ((opacity + count / 2) / count.max(1)) as u8,
                ]));
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Returns a rectangle of the image, or `None` if it does not fit.
    pub(crate) fn part(&self, x: usize, y: usize, width: usize, height: usize) -> Option<Self> {
        let fits = x + width <= self.width && y + height <= self.height;
        let row = |y: usize| &self.pixels[y * self.width + x..][..width];
        fits.then(|| Self {
            width,
            height,
            pixels: (y..y + height).flat_map(row).copied().collect(),
        })
    }

    /// Returns the SHA-256 of the RGBA rows in hexadecimal digits.
    pub(crate) fn sha256(&self) -> String {
        hex(self.pixels.as_flattened())
    }

    /// Returns the mean of each channel.
    pub(crate) fn means(&self) -> [f64; 4] {
        let mut sums = [0_u64; 4];
        for pixel in &self.pixels {
            for (sum, sample) in sums.iter_mut().zip(pixel) {
                *sum += u64::from(*sample);
            }
        }
        sums.map(|sum| sum as f64 / self.pixels.len().max(1) as f64)
    }

    /// Measures how much two images differ. Returns `None` if their sizes differ.
    pub(crate) fn distance(&self, other: &Self) -> Option<Distance> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let (mut samples, mut worst) = ([0_usize; 256], [0_usize; 256]);
        for (one, other) in self.pixels.iter().zip(&other.pixels) {
            let mut far = 0;
            for (one, other) in one.iter().zip(other) {
                let off = one.abs_diff(*other);
                samples[usize::from(off)] += 1;
                far = far.max(off);
            }
            worst[usize::from(far)] += 1;
        }
        let count: usize = samples.iter().sum();
        let sum: usize = samples
            .iter()
            .enumerate()
            .map(|(off, count)| off * count)
            .sum();
        let mut within = 0;
        let p999 = samples.iter().position(|more| {
            within += more;
            within as f64 >= 0.999 * count as f64
        });
        let (ours, theirs) = (self.means(), other.means());
        Some(Distance {
            max: samples.iter().rposition(|&count| count > 0).unwrap_or(0) as u8,
            mean: sum as f64 / count.max(1) as f64,
            p999: p999.unwrap_or(0) as u8,
            worst,
            means: [0, 1, 2, 3].map(|channel| ours[channel] - theirs[channel]),
        })
    }
}

/// Converts samples that the `png` crate has read, gray or RGB with alpha, to RGBA pixels.
pub(crate) fn straight(samples: &[u8], info: &png::OutputInfo) -> Vec<[u8; 4]> {
    let narrow = |pair: &[u8]| {
        let wide = u32::from(pair[0]) << 8 | u32::from(pair[1]);
        ((wide + 128) / 257) as u8
    };
    let samples: Vec<u8> = match info.bit_depth {
        png::BitDepth::Sixteen => samples.chunks_exact(2).map(narrow).collect(),
        _ => samples.to_vec(),
    };
    match info.color_type.samples() {
        2 => (samples.chunks_exact(2))
            .map(|p| [p[0], p[0], p[0], p[1]])
            .collect(),
        _ => (samples.chunks_exact(4))
            .map(|p| [p[0], p[1], p[2], p[3]])
            .collect(),
    }
}

/// Returns the pixel, or all zeros if it is fully transparent.
fn cleared(pixel: [u8; 4]) -> [u8; 4] {
    if pixel[3] == 0 { [0; 4] } else { pixel }
}

/// Returns the SHA-256 of `bytes` in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
