//! Planes to resize: luma of photos, with 8 or 16 bits.

use andon_codecs::ALL;
use andon_kernels::resample::Resampled;
use andon_pixels::{Alone, Decode, Limits, Never, Scale, Scales};
use anyhow::{Context, Result};
use fast_image_resize::PixelTrait;
use fast_image_resize::pixels::{U8, U16};

/// A plane of samples in rows, without padding.
pub(crate) struct Plane<S> {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) samples: Vec<S>,
}

impl Plane<u8> {
    /// Decodes the luma plane of a JPEG file at `eighths`/8 of its size.
    pub(crate) fn luma(file: &[u8], eighths: u8) -> Result<Self> {
        let codec = ALL.iter().find(|codec| codec.name() == "jpeg");
        let codec = codec.context("there is no JPEG codec")?;
        let options = Decode {
            scales: Scales::both(Scale(eighths)),
            limits: &Limits::default(),
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: false,
        };
        let frame = codec.decode(file, &codec.probe(file)?, &options)?.frame;
        let luma = frame.planes[0].as_u8().context("8-bit samples")?;
        Ok(Self {
            width: luma.width(),
            height: luma.height(),
            samples: luma.samples().to_vec(),
        })
    }

    /// Converts the plane to 16 bits. The upper 8 bits are the sample itself, the lower 8 those of the next sample.
    pub(crate) fn widened(&self) -> Plane<u16> {
        let below = self.samples.iter().skip(1).chain(&[0]);
        let pairs = self.samples.iter().zip(below);
        Plane {
            width: self.width,
            height: self.height,
            samples: pairs.map(|(&a, &b)| u16::from_be_bytes([a, b])).collect(),
        }
    }
}

/// A sample type that both Andon's kernels and `fast_image_resize` can resize.
pub(crate) trait Sample: Resampled + Into<f64> {
    /// The corresponding pixel type of `fast_image_resize`.
    type Pixel: PixelTrait;
    /// Name of the sample type.
    const NAME: &'static str;
    /// Largest sample value.
    const MAX: f64;

    fn pixel(self) -> Self::Pixel;
    fn of(pixel: Self::Pixel) -> Self;
}

impl Sample for u8 {
    type Pixel = U8;
    const NAME: &'static str = "u8";
    const MAX: f64 = 255.0;

    fn pixel(self) -> U8 {
        U8::new(self)
    }

    fn of(pixel: U8) -> Self {
        pixel.0
    }
}

impl Sample for u16 {
    type Pixel = U16;
    const NAME: &'static str = "u16";
    const MAX: f64 = 65_535.0;

    fn pixel(self) -> U16 {
        U16::new(self)
    }

    fn of(pixel: U16) -> Self {
        pixel.0
    }
}
