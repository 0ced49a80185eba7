//! Cost and scales of formats without pixels (SVG, PDF), which are drawn at the size of the result. The scales are for
//! operations that need pixels before that size is known.

use andon_pixels::{Cost, Scale};

/// Scales in steps of 1/8 up to 2, of 1/4 up to 4, and of 1 up to 16.
pub(crate) const SCALES: &[Scale] = &{
    let mut scales = [Scale(0); 36];
    let (mut index, mut eighths) = (0, 0);
    while index < scales.len() {
        eighths += match eighths {
            0..16 => 1,
            16..32 => 2,
            _ => 8,
        };
        scales[index] = Scale(eighths);
        index += 1;
    }
    scales
};

/// The parameters of a format's drawing cost, which depends on the length of the file and the area of the result.
pub(crate) struct Drawing {
    pub(crate) nanos_per_byte: u64,
    pub(crate) nanos_per_pixel: u64,
    /// Number of layers that are in memory at the same time, each with four bytes per pixel.
    pub(crate) layers: u64,
    /// Maximum number of further layers in memory at the same time. Their total size is counted as at least
    /// [`FEW_LAYERS`] and at most [`SMALL_LAYERS`] bytes. 0 if there are none.
    pub(crate) small_layers: u64,
    /// Bytes of memory for each byte of the file.
    pub(crate) memory_per_byte: u64,
    /// Bytes of memory for any file.
    pub(crate) memory: u64,
}

/// Maximum total bytes that are counted for [`Drawing::small_layers`], because large images have few of these layers in
/// memory at the same time.
const SMALL_LAYERS: u64 = 192 << 20;

/// Minimum total bytes that are counted for [`Drawing::small_layers`], because the layers of filters extend far beyond
/// a small image.
const FEW_LAYERS: u64 = 24 << 20;

impl Drawing {
    /// Returns the total size in bytes of the layers of an image of `pixels` pixels.
    pub(crate) fn for_pixels(&self, pixels: u64) -> u64 {
        let layer = pixels.saturating_mul(4);
        let small = match self.small_layers {
            0 => 0,
            count => layer.saturating_mul(count).clamp(FEW_LAYERS, SMALL_LAYERS),
        };
        layer.saturating_mul(self.layers).saturating_add(small)
    }

    /// Returns the memory in bytes that the elements of a file take after parsing, for a file of `bytes` bytes.
    pub(crate) fn for_file(&self, bytes: u64) -> u64 {
        bytes
            .saturating_mul(self.memory_per_byte)
            .saturating_add(self.memory)
    }
}

/// Returns the estimated cost of drawing a file of `bytes` bytes at the given width and height in px.
pub(crate) fn cost(bytes: u64, (width, height): (u32, u32), drawing: &Drawing) -> Cost {
    let canvas = u64::from(width).saturating_mul(u64::from(height));
    Cost {
        nanos: bytes
            .saturating_mul(drawing.nanos_per_byte)
            .saturating_add(canvas.saturating_mul(drawing.nanos_per_pixel)),
        scratch: drawing
            .for_pixels(canvas)
            .saturating_add(drawing.for_file(bytes)),
    }
}
