//! How much of an image survives an encoder, by SSIMULACRA2 (Cloudinary, libjxl): 100 for the same image, about 90 for
//! a difference that is hard to see, 70 for a good image on a page, 50 for a poor one.

use fast_ssim2::{
    PixelDescriptor, PixelSlice, Ssimulacra2Config, Ssimulacra2Error, Ssimulacra2Reference,
};

use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Depth, Frame, Model, Traits};
use crate::limits::Interrupt;
use crate::samples::Planes;
use crate::stage::{Context, Stage};

/// The reference image that encoded images are compared with.
pub(crate) struct Reference<'a> {
    pyramid: Ssimulacra2Reference,
    context: Context<'a>,
}

impl<'a> Reference<'a> {
    /// Prepares the reference from a frame that is not encoded yet.
    pub(crate) fn new(frame: &Frame, context: Context<'a>) -> Result<Self> {
        let rows = rgb(frame, &context)?;
        let stop = Stopped(context.interrupt);
        let config = Ssimulacra2Config::default().with_stop(&stop);
        let pyramid = Ssimulacra2Reference::new_with_config(&slice(&rows, frame)?, &config);
        Ok(Self {
            pyramid: pyramid.map_err(|error| failed(&error))?,
            context,
        })
    }

    /// Returns the score of a frame of the same size: at most 100, below 0 for very bad images.
    pub(crate) fn score(&self, frame: &Frame) -> Result<f64> {
        let rows = rgb(frame, &self.context)?;
        let stop = Stopped(self.context.interrupt);
        let config = Ssimulacra2Config::default().with_stop(&stop);
        let score = self
            .pyramid
            .compare_with_config(&slice(&rows, frame)?, &config);
        score.map_err(|error| failed(&error))
    }
}

/// Returns the cost of scoring an image, measured on one core at 0.1 to 2.7 megapixels. The memory is that of the
/// pyramids of both images and of the rows of one.
pub(crate) fn cost(width: u32, height: u32) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    Cost {
        nanos: pixels * NANOS_PER_PIXEL,
        scratch: pixels * BYTES_PER_PIXEL + PYRAMID_BYTES,
    }
}

/// The shortest side of images that can be scored, in px.
pub(crate) const LEAST_SIDE: u32 = 8;

const NANOS_PER_PIXEL: u64 = 110;
const BYTES_PER_PIXEL: u64 = 125;
const PYRAMID_BYTES: u64 = 1 << 20;

/// Returns rows of 8-bit red, green and blue, over mid-gray where the frame is transparent.
fn rgb(frame: &Frame, context: &Context<'_>) -> Result<Vec<u8>> {
    let convert = Convert {
        to: Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            ..frame.traits()
        },
        from: frame.colour.space,
    };
    let planes = Planes::<u8>::of(convert.apply(frame.clone(), context)?);
    let [r, g, b] = &planes.colours[..] else {
        return Err(Error::Internal(
            "an image of other than three colours".into(),
        ));
    };
    let mut rows = Vec::with_capacity(3 * r.samples().len());
    for ((&r, &g), &b) in r.samples().iter().zip(g.samples()).zip(b.samples()) {
        rows.extend([r, g, b]);
    }
    if let Some(alpha) = &planes.alpha {
        for (pixel, &alpha) in rows.chunks_exact_mut(3).zip(alpha.samples()) {
            let alpha = u16::from(alpha);
            for sample in pixel {
                let composite = u16::from(*sample) * alpha + GRAY * (255 - alpha);
                *sample = ((composite + 127) / 255) as u8;
            }
        }
    }
    Ok(rows)
}

const GRAY: u16 = 128;

fn slice<'a>(rows: &'a [u8], frame: &Frame) -> Result<PixelSlice<'a>> {
    let stride = 3 * frame.width as usize;
    let slice = PixelSlice::new(
        rows,
        frame.width,
        frame.height,
        stride,
        PixelDescriptor::RGB8_SRGB,
    );
    slice
        .map(PixelSlice::erase)
        .map_err(|error| Error::Internal(format!("pixels to score: {error}")))
}

fn failed(error: &Ssimulacra2Error) -> Error {
    match error {
        Ssimulacra2Error::Cancelled(_) => Error::Interrupted,
        other => Error::Internal(format!("scoring: {other}")),
    }
}

/// Adapts an `Interrupt` to the interface through which the computation of SSIMULACRA2 checks whether to stop.
struct Stopped<'a>(&'a dyn Interrupt);

impl enough::Stop for Stopped<'_> {
    fn check(&self) -> std::result::Result<(), enough::StopReason> {
        match self.0.interrupted() {
            true => Err(enough::StopReason::Cancelled),
            false => Ok(()),
        }
    }
}
