//! Formats that store no pixels and are drawn in the size of the result (SVG, PDF). Scales are for callers that look at
//! the image before that, to measure it.

use andon_pixels::{Cost, Scale};

/// Scales in steps of an eighth up to twice the size, of a quarter up to four times, and of whole sizes up to sixteen
/// times.
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

/// What drawing costs, depending on the length of the file and the area of the result.
pub(crate) struct Drawing {
    pub(crate) nanos_per_byte: u64,
    pub(crate) nanos_per_pixel: u64,
    /// Number of layers that are held at once, each an image of four bytes per pixel.
    pub(crate) layers: u64,
    /// Number of further layers, counted as far as they fit into [`SMALL_LAYERS`].
    pub(crate) small_layers: u64,
    /// Bytes of memory held for each byte of the file.
    pub(crate) memory_per_byte: u64,
    /// Bytes of memory held for any file.
    pub(crate) memory: u64,
}

/// Most bytes of further layers (`small_layers`) that are counted. There are few of them beside a large image.
const SMALL_LAYERS: u64 = 192 << 20;

/// Bytes of further layers that are counted for any image, as the layers of filters reach far beyond a small one.
const FEW_LAYERS: u64 = 24 << 20;

impl Drawing {
    /// Returns the bytes of all layers of an image of `pixels` pixels.
    pub(crate) fn for_pixels(&self, pixels: u64) -> u64 {
        let layer = pixels.saturating_mul(4);
        let small = match self.small_layers {
            0 => 0,
            count => layer.saturating_mul(count).clamp(FEW_LAYERS, SMALL_LAYERS),
        };
        layer.saturating_mul(self.layers).saturating_add(small)
    }

    /// Returns the bytes that the elements of a file of `bytes` bytes take in memory.
    pub(crate) fn for_file(&self, bytes: u64) -> u64 {
        bytes
            .saturating_mul(self.memory_per_byte)
            .saturating_add(self.memory)
    }
}

/// Returns the estimated cost of drawing a file of `bytes` bytes in a size of width and height in px.
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
