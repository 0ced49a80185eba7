//! The tracks of a file: sequences of images, each with its duration (ISO 14496-12 §8).

use andon_pixels::{Bound, Error, Result};

use super::boxes::{Boxes, Fields, Kind};
use super::items::Property;

/// A sequence of images that have one role, such as colours or opacity, in the order in which they are coded and shown.
#[derive(Debug, Default)]
pub(crate) struct Track<'a> {
    /// ID of the track.
    pub(crate) id: u32,
    /// Handler type: `pict`, `vide`, `auxv` and so on.
    pub(crate) handler: Kind,
    /// ID of the track to which this one is auxiliary.
    pub(crate) auxiliary_of: Option<u32>,
    /// ID of the opacity track by which this track's colours are premultiplied.
    pub(crate) premultiplied_by: Option<u32>,
    /// Sample entry type, which names the codec of the images.
    pub(crate) coding: Kind,
    /// Width and height in px.
    pub(crate) size: (u32, u32),
    /// Properties that apply to all images of the track.
    pub(crate) properties: Vec<Property<'a>>,
    /// Ticks per second.
    pub(crate) per_second: u32,
    /// Number of times that the track is played. 0 means forever.
    pub(crate) plays: u32,
    /// The images of the track.
    pub(crate) samples: Vec<Sample>,
}

/// The location of an image in the file, and its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Offset from the beginning of the file, in bytes.
    pub(crate) offset: u64,
    /// Length of the image's data, in bytes.
    pub(crate) length: u32,
    /// Duration of the image, in ticks of the track's time scale.
    pub(crate) ticks: u32,
}

impl Sample {
    /// Returns the sample's bytes, or `None` if the file does not contain all of them.
    pub(crate) fn data<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset).ok()?;
        file.get(start..start.checked_add(self.length as usize)?)
    }
}

/// Maximum number of samples in all tracks of a file, far above what animations need. Each takes memory in addition to
/// its bytes.
const MOST_SAMPLES: u32 = 1 << 17;
const MOST_TRACKS: usize = 64;
const MOST_PROPERTIES: usize = 256;

/// Bytes of a `VisualSampleEntry` before its boxes.
const VISUAL_ENTRY: usize = 78;

impl<'a> Track<'a> {
    /// Reads the tracks (`trak` boxes) in the payload of a `moov` box.
    pub(crate) fn all(moov: &'a [u8], format: &'static str) -> Result<Vec<Self>> {
        let tracks = Boxes::of(moov).filter(|part| &part.kind == b"trak");
        let mut left = MOST_SAMPLES;
        let mut all = Vec::new();
        for part in tracks.take(MOST_TRACKS) {
            let track = Self::read(part.data, format, left)?;
            left -= track.samples.len() as u32;
            all.push(track);
        }
        Ok(all)
    }

    /// Reads a track of at most `most` samples.
    fn read(trak: &'a [u8], format: &'static str, most: u32) -> Result<Self> {
        let mut track = Self::default();
        let mut duration = None;
        let mut edit = None;
        let mut media: &[u8] = &[];
        for part in Boxes::of(trak) {
            match &part.kind {
                b"tkhd" => {
                    let (version, _, mut fields) = Fields::full(part.data, format)?;
                    let long = version > 0;
                    time(&mut fields, long)?;
                    time(&mut fields, long)?;
                    track.id = fields.u32()?;
                    fields.u32()?;
                    duration =
                        Some(time(&mut fields, long)?).filter(|&time| time != unlimited(long));
                }
                b"tref" => {
                    for reference in Boxes::of(part.data) {
                        let to = Fields::of(reference.data, format).u32()?;
                        match &reference.kind {
                            b"auxl" => track.auxiliary_of = Some(to),
                            b"prem" => track.premultiplied_by = Some(to),
                            _ => {}
                        }
                    }
                }
                b"edts" => {
                    let mut lists = Boxes::of(part.data).filter(|part| &part.kind == b"elst");
                    if let Some(list) = lists.next() {
                        let (version, flags, mut fields) = Fields::full(list.data, format)?;
                        fields.u32()?;
                        let length = time(&mut fields, version > 0)?;
                        edit = Some((flags & REPEATED != 0, length));
                    }
                }
                b"mdia" => media = part.data,
                _ => {}
            }
        }
        track.plays = match (edit, duration) {
            (Some((false, _)), _) => 1,
            (Some((true, length)), Some(duration)) if length > 0 => {
                u32::try_from(duration.div_ceil(length)).unwrap_or(0)
            }
            // Browsers play a track without this information forever.
            _ => 0,
        };
        track.read_media(media, format, most)?;
        Ok(track)
    }

    fn read_media(&mut self, mdia: &'a [u8], format: &'static str, most: u32) -> Result<()> {
        for part in Boxes::of(mdia) {
            match &part.kind {
                b"mdhd" => {
                    let (version, _, mut fields) = Fields::full(part.data, format)?;
                    time(&mut fields, version > 0)?;
                    time(&mut fields, version > 0)?;
                    self.per_second = fields.u32()?;
                }
                b"hdlr" => {
                    let (_, _, mut fields) = Fields::full(part.data, format)?;
                    fields.u32()?;
                    self.handler = fields.kind()?;
                }
                b"minf" => {
                    let mut tables = Boxes::of(part.data).filter(|part| &part.kind == b"stbl");
                    if let Some(table) = tables.next() {
                        self.read_table(table.data, format, most)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_table(&mut self, stbl: &'a [u8], format: &'static str, most: u32) -> Result<()> {
        let empty = || Fields::of(&[], format);
        let (mut times, mut chunks, mut sizes) = (empty(), empty(), empty());
        let (mut offsets, mut wide) = (empty(), false);
        for part in Boxes::of(stbl) {
            let table = || Fields::full(part.data, format).map(|(_, _, fields)| fields);
            match &part.kind {
                b"stsd" => self.read_entry(table()?, format)?,
                b"stts" => times = table()?,
                b"stsc" => chunks = table()?,
                b"stsz" => sizes = table()?,
                b"stco" | b"co64" => (offsets, wide) = (table()?, &part.kind == b"co64"),
                _ => {}
            }
        }
        let all_alike = sizes.u32()?;
        let count = sizes.u32()?;
        // Several tables would add up.
        if self.samples.len() as u64 + u64::from(count) > u64::from(most) {
            return Err(Error::Limit {
                bound: Bound::FRAMES,
                value: count.into(),
                limit: most.into(),
            });
        }
        let mut places = Places::of(chunks, offsets, wide)?;
        let mut durations = Durations::of(times)?;
        for _ in 0..count {
            let length = if all_alike > 0 {
                all_alike
            } else {
                sizes.u32()?
            };
            self.samples.push(Sample {
                offset: places.next(length)?,
                length,
                ticks: durations.next()?,
            });
        }
        Ok(())
    }

    /// Reads the first sample entry, which names the codec of the samples. Image files have only one.
    fn read_entry(&mut self, mut fields: Fields<'a>, format: &'static str) -> Result<()> {
        fields.u32()?;
        let Some(entry) = Boxes::of(fields.rest()).next() else {
            return Ok(());
        };
        self.coding = entry.kind;
        let Some((head, boxes)) = entry.data.split_at_checked(VISUAL_ENTRY) else {
            return Ok(());
        };
        let mut sides = Fields::of(&head[24..], format);
        self.size = (sides.u16()?.into(), sides.u16()?.into());
        let left = MOST_PROPERTIES.saturating_sub(self.properties.len());
        for part in Boxes::of(boxes).take(left) {
            self.properties
                .push(Property::read(part.kind, part.data, format)?);
        }
        Ok(())
    }
}

/// Flag of an edit list (`elst`): the edit is repeated for the duration of the track.
const REPEATED: u32 = 1;

/// Reads a time or a duration: 64 bits if `long`, otherwise 32.
fn time(fields: &mut Fields<'_>, long: bool) -> Result<u64> {
    fields.sized(if long { 8 } else { 4 })
}

/// Returns the value that means an unlimited duration: the maximum of a 64-bit field if `long`, otherwise of a 32-bit
/// field.
fn unlimited(long: bool) -> u64 {
    if long { u64::MAX } else { u32::MAX.into() }
}

/// The locations of the samples, which are stored contiguously in chunks. `stco` contains the offset of each chunk, and
/// `stsc` the number of samples per chunk. Each entry of `stsc` applies to all chunks before the first chunk of the
/// next entry.
struct Places<'a> {
    runs: Fields<'a>,
    runs_left: u32,
    /// The first chunk to which the next entry of `stsc` applies.
    next_run: u32,
    per_chunk: u32,
    offsets: Fields<'a>,
    wide: bool,
    chunk: u32,
    left: u32,
    at: u64,
}

impl<'a> Places<'a> {
    fn of(mut runs: Fields<'a>, mut offsets: Fields<'a>, wide: bool) -> Result<Self> {
        let runs_left = runs.u32()?;
        offsets.u32()?;
        let mut places = Self {
            runs,
            runs_left,
            next_run: u32::MAX,
            per_chunk: 0,
            offsets,
            wide,
            chunk: 0,
            left: 0,
            at: 0,
        };
        places.look_ahead()?;
        Ok(places)
    }

    fn look_ahead(&mut self) -> Result<()> {
        self.next_run = match self.runs_left {
            0 => u32::MAX,
            _ => self.runs.u32()?,
        };
        Ok(())
    }

    /// Returns the offset of the next sample, which is `length` bytes long.
    fn next(&mut self, length: u32) -> Result<u64> {
        while self.left == 0 {
            self.chunk += 1;
            if self.chunk >= self.next_run {
                self.per_chunk = self.runs.u32()?;
                self.runs.u32()?;
                self.runs_left -= 1;
                self.look_ahead()?;
            }
            // An error after the last chunk.
            self.at = self.offsets.sized(if self.wide { 8 } else { 4 })?;
            self.left = self.per_chunk;
        }
        self.left -= 1;
        let start = self.at;
        self.at = start.saturating_add(length.into());
        Ok(start)
    }
}

/// Durations of the samples, stored as runs: a number of samples, and the duration of each in ticks.
struct Durations<'a> {
    runs: Fields<'a>,
    left: u32,
    ticks: u32,
}

impl<'a> Durations<'a> {
    fn of(mut runs: Fields<'a>) -> Result<Self> {
        runs.u32()?;
        Ok(Self {
            runs,
            left: 0,
            ticks: 0,
        })
    }

    fn next(&mut self) -> Result<u32> {
        while self.left == 0 {
            self.left = self.runs.u32()?;
            self.ticks = self.runs.u32()?;
        }
        self.left -= 1;
        Ok(self.ticks)
    }
}
