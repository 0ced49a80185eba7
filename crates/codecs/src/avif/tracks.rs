//! Writing of the tracks of image sequences (ISO 14496-12 §8).

use super::header::ALPHA;
use super::write::{Still, boxed, full, write_configuration};

/// The images of a sequence, which are contiguous in the data of the file.
#[derive(Debug)]
pub(super) struct Movie {
    /// Number of times that the sequence is played. 0 means forever.
    pub(super) plays: u32,
    /// Duration of each image in milliseconds.
    pub(super) durations: Vec<u32>,
    pub(super) colour: Vec<Sample>,
    /// The opacity images: as many as there are colour images, or none.
    pub(super) alpha: Vec<Sample>,
}

/// A coded image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Offset in bytes from the beginning of the data.
    pub(super) at: usize,
    pub(super) length: usize,
    /// Whether the image can be decoded on its own.
    pub(super) key: bool,
}

/// Bytes for each frame in addition to its coded data: a duration and two samples in memory, and their entries in the
/// file.
pub(super) const BYTES_PER_FRAME: u64 = 128;

const PER_SECOND: u32 = 1000;
const COLOUR: u32 = 1;
const OPACITY: u32 = 2;

impl Movie {
    pub(super) fn new(plays: u32) -> Self {
        Self {
            plays,
            durations: Vec::new(),
            colour: Vec::new(),
            alpha: Vec::new(),
        }
    }

    /// Writes the `moov` box. For every offset into the data, adds a pair to `places`: the position of the offset in
    /// `out`, and its value.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        still: &Still<'_>,
        places: &mut Vec<(usize, usize)>,
    ) {
        boxed(out, b"moov", |out| {
            full(out, b"mvhd", 1, 0, |out| {
                out.extend([0; 16]);
                out.extend(PER_SECOND.to_be_bytes());
                out.extend(self.total_duration().to_be_bytes());
                // Rate, volume.
                out.extend([0, 1, 0, 0, 1, 0]);
                out.extend([0; 10]);
                out.extend(matrix());
                out.extend([0; 24]);
                out.extend((OPACITY + 1).to_be_bytes());
            });
            self.track(out, still, COLOUR, places);
            if !self.alpha.is_empty() {
                self.track(out, still, OPACITY, places);
            }
        });
    }

    /// Returns the duration of all frames played once, in milliseconds.
    fn play_duration(&self) -> u64 {
        self.durations.iter().copied().map(u64::from).sum()
    }

    /// Returns the duration of all plays in milliseconds, or `u64::MAX` if the sequence is played forever.
    fn total_duration(&self) -> u64 {
        match self.plays {
            0 => u64::MAX,
            plays => self.play_duration() * u64::from(plays),
        }
    }

    fn track(
        &self,
        out: &mut Vec<u8>,
        still: &Still<'_>,
        id: u32,
        places: &mut Vec<(usize, usize)>,
    ) {
        boxed(out, b"trak", |out| {
            full(out, b"tkhd", 1, 1, |out| {
                out.extend([0; 16]);
                out.extend(id.to_be_bytes());
                out.extend([0; 4]);
                out.extend(self.total_duration().to_be_bytes());
                out.extend([0; 16]);
                out.extend(matrix());
                for side in [still.width, still.height] {
                    out.extend((side << 16).to_be_bytes());
                }
            });
            if id == OPACITY {
                boxed(out, b"tref", |out| {
                    boxed(out, b"auxl", |out| out.extend(COLOUR.to_be_bytes()));
                });
            }
            boxed(out, b"edts", |out| {
                full(out, b"elst", 1, u32::from(self.plays != 1), |out| {
                    out.extend(1_u32.to_be_bytes());
                    out.extend(self.play_duration().to_be_bytes());
                    out.extend([0; 8]);
                    out.extend([0, 1, 0, 0]);
                });
            });
            boxed(out, b"mdia", |out| {
                full(out, b"mdhd", 1, 0, |out| {
                    out.extend([0; 16]);
                    out.extend(PER_SECOND.to_be_bytes());
                    out.extend(self.play_duration().to_be_bytes());
                    // Language: undetermined (`und`).
                    out.extend([0x55, 0xc4, 0, 0]);
                });
                let handler = if id == OPACITY { b"auxv" } else { b"pict" };
                full(out, b"hdlr", 0, 0, |out| {
                    out.extend([0; 4]);
                    out.extend(handler);
                    out.extend([0; 13]);
                });
                boxed(out, b"minf", |out| {
                    full(out, b"vmhd", 0, 1, |out| out.extend([0; 8]));
                    boxed(out, b"dinf", |out| {
                        full(out, b"dref", 0, 0, |out| {
                            out.extend(1_u32.to_be_bytes());
                            // The data are in this file.
                            full(out, b"url ", 0, 1, |_| {});
                        });
                    });
                    boxed(out, b"stbl", |out| self.table(out, still, id, places));
                });
            });
        });
    }

    fn table(
        &self,
        out: &mut Vec<u8>,
        still: &Still<'_>,
        id: u32,
        places: &mut Vec<(usize, usize)>,
    ) {
        let samples = if id == OPACITY {
            &self.alpha
        } else {
            &self.colour
        };
        let count = (samples.len() as u32).to_be_bytes();
        full(out, b"stsd", 0, 0, |out| {
            out.extend(1_u32.to_be_bytes());
            boxed(out, b"av01", |out| entry(out, still, id));
        });
        full(out, b"stts", 0, 0, |out| {
            let runs: Vec<&[u32]> = self.durations.chunk_by(|one, next| one == next).collect();
            out.extend((runs.len() as u32).to_be_bytes());
            for run in runs {
                out.extend((run.len() as u32).to_be_bytes());
                out.extend(run[0].to_be_bytes());
            }
        });
        full(out, b"stsc", 0, 0, |out| {
            // Each chunk has one sample, and all chunks use the same sample description.
            for number in [1_u32; 4] {
                out.extend(number.to_be_bytes());
            }
        });
        full(out, b"stsz", 0, 0, |out| {
            out.extend([0; 4]);
            out.extend(count);
            for sample in samples {
                out.extend((sample.length as u32).to_be_bytes());
            }
        });
        full(out, b"stco", 0, 0, |out| {
            out.extend(count);
            for sample in samples {
                places.push((out.len(), sample.at));
                out.extend([0; 4]);
            }
        });
        full(out, b"stss", 0, 0, |out| {
            let keys = (1_u32..).zip(samples).filter(|(_, sample)| sample.key);
            let keys: Vec<u32> = keys.map(|(number, _)| number).collect();
            out.extend((keys.len() as u32).to_be_bytes());
            for key in keys {
                out.extend(key.to_be_bytes());
            }
        });
    }
}

/// Writes the sample entry of a track: the coding of its samples, and whether they are colours or opacity.
fn entry(out: &mut Vec<u8>, still: &Still<'_>, id: u32) {
    out.extend([0, 0, 0, 0, 0, 0, 0, 1]);
    out.extend([0; 16]);
    for side in [still.width, still.height] {
        out.extend((side as u16).to_be_bytes());
    }
    // 72 dpi across and down; one frame per sample.
    out.extend([0, 0x48, 0, 0, 0, 0x48, 0, 0, 0, 0, 0, 0, 0, 1]);
    // No name of a compressor; a depth of 24 bits; no colour table.
    out.extend([0; 32]);
    out.extend([0, 0x18, 0xff, 0xff]);
    match (&still.alpha, id) {
        (Some((_, sequence)), OPACITY) => write_configuration(out, sequence),
        _ => {
            write_configuration(out, &still.sequence);
            still.write_colour(out, || {});
            still.write_turns(out, || {});
        }
    }
    // Coding constraints: no limit on reference images, and intra prediction may be used.
    full(out, b"ccst", 0, 0, |out| out.extend([0x7c, 0, 0, 0]));
    if id == OPACITY {
        full(out, b"auxi", 0, 0, |out| {
            out.extend(ALPHA[0]);
            out.push(0);
        });
    }
}

/// Returns the identity transformation matrix.
fn matrix() -> Vec<u8> {
    let numbers = [0x1_0000_u32, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}
