//! Reads the frames of an APNG, with only the `png` crate and the code in this module.

use std::io::Cursor;

use anyhow::{Context, Result};
use png::{BlendOp, Decoder, DisposeOp, FrameControl, Transformations};

use crate::frames::Moving;
use crate::rgba::{self, Rgba};

/// Returns all frames, each as large as the image. A PNG that is not animated has one frame.
pub(crate) fn read(bytes: &[u8]) -> Result<Moving> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let (width, height) = reader.info().size();
    let control = reader.info().animation_control().copied();
    let frame_count = control.map_or(1, |control| control.num_frames);
    let (width, height) = (width as usize, height as usize);
    let mut canvas = Rgba {
        width,
        height,
        pixels: vec![[0; 4]; width * height],
    };
    let mut samples = vec![0; reader.output_buffer_size().context("its size")?];
    let mut frames = Vec::new();
    while frames.len() < frame_count as usize {
        let info = reader.next_frame(&mut samples)?;
        let part = rgba::straight(&samples[..info.buffer_size()], &info);
        let frame = match (reader.info().frame_control().copied(), control) {
            (Some(frame), _) => frame,
            // The default image, for viewers without support for animations, is not a frame.
            (None, Some(_)) => continue,
            (None, None) => {
                canvas.pixels = part;
                frames.push((None, canvas.clone()));
                break;
            }
        };
        let previous = canvas.clone();
        lay(&mut canvas, &part, &frame).context("a frame outside of its image")?;
        frames.push((Some(delay(&frame)), canvas.clone()));
        match frame.dispose_op {
            DisposeOp::None => {}
            DisposeOp::Previous => canvas = previous,
            DisposeOp::Background => {
                let nothing = vec![[0; 4]; part.len()];
                let frame = FrameControl {
                    blend_op: BlendOp::Source,
                    ..frame
                };
                lay(&mut canvas, &nothing, &frame).context("a frame outside of its image")?;
            }
        }
    }
    for (_, image) in &mut frames {
        image.clear();
    }
    Ok(Moving {
        frames,
        frame_count,
        plays: control.map(|control| control.num_plays),
    })
}

/// Returns the delay of a frame in ms.
fn delay(frame: &FrameControl) -> f64 {
    let per_second = match frame.delay_den {
        0 => 100,
        some => some,
    };
    f64::from(frame.delay_num) * 1000.0 / f64::from(per_second)
}

/// Draws the pixels of a frame at their place on the canvas. Returns `None` if the frame does not fit.
fn lay(canvas: &mut Rgba, part: &[[u8; 4]], frame: &FrameControl) -> Option<()> {
    let [x, y, width] = [frame.x_offset, frame.y_offset, frame.width].map(|px| px as usize);
    for (row, pixels) in part.chunks_exact(width).enumerate() {
        let from = (y + row) * canvas.width + x;
        let below = canvas.pixels.get_mut(from..from + width)?;
        for (below, &above) in below.iter_mut().zip(pixels) {
            *below = match frame.blend_op {
                BlendOp::Source => above,
                BlendOp::Over => over(*below, above),
            };
        }
    }
    Some(())
}

fn over(below: [u8; 4], above: [u8; 4]) -> [u8; 4] {
    let (under, opacity) = (f64::from(below[3]) / 255.0, f64::from(above[3]) / 255.0);
    let opacity_sum = opacity + under * (1.0 - opacity);
    if opacity_sum == 0.0 {
        return [0; 4];
    }
    let mut mixed = [0, 0, 0, (opacity_sum * 255.0).round() as u8];
    for channel in 0..3 {
        let (below, above) = (f64::from(below[channel]), f64::from(above[channel]));
        let sum = above * opacity + below * under * (1.0 - opacity);
        mixed[channel] = (sum / opacity_sum).round() as u8;
    }
    mixed
}
