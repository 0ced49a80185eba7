//! Decoded pictures that are kept for long: their samples lie in blocks of one size, which are used again.
//!
//! Between the results that are kept as well, samples of all sizes would leave holes in the C library's heaps, half as
//! large as the frames themselves. Blocks leave none, and a picture takes less than one block more than its samples.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use andon_kernels::parts::Part;

use crate::engine::Decoded;
use crate::frame::{Image, Plane};

/// Bytes of a block.
const BLOCK: usize = 16 << 10;

/// Blocks that are allocated at once: 4 MiB, which have pages of their own (`andon_codecs::allocator`). Those that are not
/// written to take no memory.
const SLAB_BLOCKS: usize = 256;

/// Free blocks. Those of a [`Packed`] come back when it is dropped.
#[derive(Debug, Default)]
pub struct Blocks(Mutex<Vec<Block>>);

/// Memory of 16 KiB.
type Block = Part<u8>;

impl Blocks {
    /// Gives the free blocks back to the allocator. A slab is freed when all of its blocks have been given back.
    pub fn release(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    /// So many blocks, with whatever was in them.
    fn take(&self, count: usize) -> Vec<Block> {
        let mut free = self.lock();
        while free.len() < count {
            let slab = Part::from(vec![0; SLAB_BLOCKS * BLOCK]);
            free.extend(slab.split([BLOCK; SLAB_BLOCKS]));
        }
        let rest = free.len() - count;
        free.split_off(rest)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Block>> {
        // Whatever panics within leaves a list of free blocks.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a plan begins with, decoded before and packed into blocks.
#[derive(Debug)]
pub struct Packed {
    /// The picture, with planes that are empty.
    outline: Image,
    /// The samples, plane after plane.
    blocks: Vec<Block>,
    from: Arc<Blocks>,
}

impl Packed {
    /// Bytes that `decoded` would take in blocks.
    #[must_use]
    pub fn bytes_of(decoded: &Decoded) -> u64 {
        decoded.bytes().next_multiple_of(BLOCK as u64)
    }

    /// A copy of `decoded` in blocks of `from`.
    #[must_use]
    pub fn new(decoded: &Decoded, from: &Arc<Blocks>) -> Self {
        let mut blocks = from.take(Self::bytes_of(decoded) as usize / BLOCK);
        let mut outline = decoded.image.clone();
        let mut start = 0;
        for frame in &mut outline.frames {
            let depth = frame.depth();
            for plane in frame.planes.iter_mut().chain(&mut frame.alpha) {
                let bytes = plane.bytes();
                for piece in pieces(start, bytes.len()) {
                    blocks[piece.block][piece.within].copy_from_slice(&bytes[piece.bytes]);
                }
                start += bytes.len();
                *plane = Plane::overwritten(depth, 0, 0);
            }
        }
        Self {
            outline,
            blocks,
            from: from.clone(),
        }
    }

    /// A copy of what was packed, which took no time to decode.
    #[must_use]
    pub fn decoded(&self) -> Decoded {
        let mut image = self.outline.clone();
        let mut start = 0;
        for frame in &mut image.frames {
            let (model, width, height) = (frame.model, frame.width, frame.height);
            let depth = frame.depth();
            let colours = (0..).zip(&mut frame.planes);
            let colours =
                colours.map(|(index, plane)| (plane, model.plane_size(index, width, height)));
            let alpha = frame.alpha.iter_mut().map(|plane| (plane, (width, height)));
            for (plane, (width, height)) in colours.chain(alpha) {
                *plane = Plane::overwritten(depth, width, height);
                let bytes = plane.bytes_mut();
                for piece in pieces(start, bytes.len()) {
                    bytes[piece.bytes].copy_from_slice(&self.blocks[piece.block][piece.within]);
                }
                start += bytes.len();
            }
        }
        Decoded {
            image,
            time: Duration::ZERO,
        }
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        self.from.lock().append(&mut self.blocks);
    }
}

/// Consecutive bytes of a plane that lie in one block.
struct Piece {
    block: usize,
    /// Where in the block.
    within: Range<usize>,
    /// Which of the plane's bytes.
    bytes: Range<usize>,
}

/// The pieces of a plane of `length` bytes, of a picture whose planes before it have `start` bytes.
fn pieces(start: usize, length: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = start + done;
        let within = at % BLOCK..(at % BLOCK + length - done).min(BLOCK);
        let bytes = done..done + within.len();
        done = bytes.end;
        (!bytes.is_empty()).then_some(Piece {
            block: at / BLOCK,
            within,
            bytes,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, Grid, Model, Subsampling};

    /// Samples that differ from place to place.
    fn grid<T: crate::buffers::Plain>(width: u32, height: u32, of: impl Fn(u32) -> T) -> Grid<T> {
        let samples = (0..width * height).map(of).collect();
        Grid::from_samples(width, height, samples).expect("a grid")
    }

    fn decoded(frames: impl IntoIterator<Item = Frame>) -> Decoded {
        let mut frames = frames.into_iter();
        let mut image = Image::still(frames.next().expect("a frame"));
        image.frames.extend(frames);
        Decoded {
            image,
            time: Duration::from_millis(3),
        }
    }

    fn photograph(width: u32, height: u32) -> Frame {
        let model = Model::ycbcr(Subsampling::C420);
        let plane = |index| {
            let (width, height) = model.plane_size(index, width, height);
            let seed = 7 * index as u32;
            Plane::U8(grid(width, height, |at| (at.wrapping_mul(31) + seed) as u8))
        };
        Frame::new(model, width, height, (0..3).map(plane).collect(), None).expect("a frame")
    }

    fn deep(width: u32, height: u32) -> Frame {
        let plane = |seed| {
            Plane::U16(grid(width, height, |at| {
                (at.wrapping_mul(2011) + seed) as u16
            }))
        };
        let planes = (0..4).map(plane).collect();
        Frame::of_planes(Model::Rgb, planes).expect("a frame")
    }

    #[test]
    fn what_comes_out_is_what_was_packed_whatever_its_planes() {
        let blocks = Arc::new(Blocks::default());
        let pictures = [
            decoded([photograph(613, 407)]),
            // Exactly a block, less than one, and a byte more.
            decoded([Frame::of_planes(
                Model::Gray,
                vec![Plane::U8(grid(128, 128, |at| at as u8))],
            )
            .expect("a frame")]),
            decoded([photograph(1, 1)]),
            decoded([Frame::of_planes(
                Model::Gray,
                vec![Plane::U8(grid(16385, 1, |at| at as u8))],
            )
            .expect("a frame")]),
            decoded([deep(201, 77)]),
            decoded([photograph(64, 64), photograph(64, 64)]),
        ];
        let packed: Vec<_> = pictures
            .iter()
            .map(|picture| Packed::new(picture, &blocks))
            .collect();
        for (packed, picture) in packed.iter().zip(&pictures) {
            let again = packed.decoded();
            assert_eq!(again.image, picture.image);
            assert_eq!(again.time, Duration::ZERO);
            assert_eq!(
                packed.blocks.len() * BLOCK,
                Packed::bytes_of(picture) as usize
            );
        }
    }

    #[test]
    fn blocks_that_came_back_are_used_again() {
        let blocks = Arc::new(Blocks::default());
        let picture = decoded([photograph(613, 407)]);
        for _ in 0..3 * SLAB_BLOCKS {
            drop(Packed::new(&picture, &blocks));
        }
        assert_eq!(blocks.lock().len(), SLAB_BLOCKS);
        let packed = Packed::new(&picture, &blocks);
        blocks.release();
        assert_eq!(packed.decoded().image, picture.image);
        let count = packed.blocks.len();
        drop(packed);
        assert_eq!(blocks.lock().len(), count);
    }
}
