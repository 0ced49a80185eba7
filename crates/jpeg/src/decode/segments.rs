//! The marker segments of a JPEG file, as far as decoding needs them.

use crate::codes::{
    APP0, APP15, COM, DHT, DNL, DQT, DRI, EOI, RST0, RST7, SOF0, SOF2, SOF3, SOF15, SOS, TEM,
};
use crate::decode::huffman::Codes;
use crate::error::{Error, Result};
use crate::header::walk::{Walk, quantisation};

/// A component as the frame header declares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    pub(super) id: u8,
    /// Horizontal sampling factor, 1 to 4.
    pub(super) h: u32,
    /// Vertical sampling factor, 1 to 4.
    pub(super) v: u32,
    pub(super) quant: usize,
}

/// The frame header.
#[derive(Clone, Debug)]
pub(super) struct FrameHeader {
    pub(super) progressive: bool,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) components: Vec<Component>,
    pub(super) h_max: u32,
    pub(super) v_max: u32,
}

/// One component of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanComponent {
    /// Index of the component in the frame header.
    pub(super) index: usize,
    /// Number of the DC Huffman table as stored in the file, 0 to 15.
    pub(super) dc_table: usize,
    /// Number of the AC Huffman table as stored in the file, 0 to 15.
    pub(super) ac_table: usize,
}

/// A scan header.
#[derive(Clone, Debug)]
pub(super) struct ScanHeader {
    pub(super) components: Vec<ScanComponent>,
    /// Spectral selection: the first coefficient of the scan's band, in zigzag order.
    pub(super) first: u32,
    /// Spectral selection: the last coefficient of the scan's band, in zigzag order.
    pub(super) last: u32,
    /// Successive approximation: the bit position of the previous scan of these coefficients, or 0 in their first scan.
    pub(super) high: u32,
    /// Successive approximation: the bit position of this scan.
    pub(super) low: u32,
}

impl ScanHeader {
    /// Returns whether the scan contains the component with this index in the frame header.
    pub(super) fn has(&self, component: usize) -> bool {
        self.components.iter().any(|c| c.index == component)
    }

    /// Returns the scan's band as a mask of zigzag positions.
    pub(super) fn band(&self) -> u64 {
        places(self.first, self.last)
    }
}

/// Returns a mask of the zigzag positions `from` to `to`, or 0 if `from` is above `to`.
#[inline(always)]
pub(super) fn places(from: u32, to: u32) -> u64 {
    if from > to {
        0
    } else {
        (u64::MAX >> (63 - to)) & (u64::MAX << from)
    }
}

/// The quantisation and Huffman tables that are currently defined. Segments between scans may replace them.
#[derive(Clone, Default)]
pub(super) struct Tables {
    quant: [Option<[u16; 64]>; 4],
    dc: [Option<Codes>; 4],
    ac: [Option<Codes>; 4],
    /// MCUs between restart markers; 0 means that there are no markers.
    pub(super) restart: u32,
}

impl Tables {
    /// Returns DC Huffman table `number`, if it is defined.
    pub(super) fn dc(&self, number: usize) -> Option<&Codes> {
        self.dc.get(number)?.as_ref()
    }

    /// Returns the quantisation table of a component of the frame. Fails if the table does not precede the component's
    /// first scan.
    pub(super) fn quant(&self, frame: &FrameHeader, component: usize) -> Result<&[u16; 64]> {
        self.quant[frame.components[component].quant]
            .as_ref()
            .ok_or(Error::Broken("a quantisation table is missing"))
    }

    /// Returns AC Huffman table `number`, if it is defined.
    pub(super) fn ac(&self, number: usize) -> Option<&Codes> {
        self.ac.get(number)?.as_ref()
    }
}

/// What [`Segments::next`] stops at.
pub(super) enum Segment {
    Frame(FrameHeader),
    /// A scan; entropy-coded data follow.
    Scan(ScanHeader),
    End,
}

/// Walks the segments of a file.
#[derive(Clone)]
pub(super) struct Segments<'a> {
    walk: Walk<'a>,
    frame: Option<FrameHeader>,
    ended: bool,
    pub(super) tables: Tables,
}

impl<'a> Segments<'a> {
    /// Creates a walk that starts behind SOI. Fails if the file does not begin with SOI.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let walk = Walk::new(bytes).ok_or(Error::Broken("it does not begin with SOI"))?;
        Ok(Self {
            walk,
            frame: None,
            ended: false,
            tables: Tables::default(),
        })
    }

    /// Advances to the next frame header, scan header or end of the file, and stores the tables that it passes.
    pub(super) fn next(&mut self) -> Result<Segment> {
        loop {
            let Some(marker) = self.walk.marker() else {
                return Ok(Segment::End);
            };
            if marker == EOI {
                self.ended = true;
                return Ok(Segment::End);
            }
            if matches!(marker, TEM | RST0..=RST7) {
                continue;
            }
            let segment = self.walk.segment().ok_or(TRUNCATED)?;
            let body = segment.body;
            match marker {
                // DNL repeats the height, which is already known. Application data and comments are not needed.
                DNL | APP0..=APP15 | COM => {}
                _ if segment.declared < 2 => return Err(WRONG_LENGTH),
                SOF0..=SOF2 => {
                    let frame = frame_header(marker, body)?;
                    if self.frame.replace(frame.clone()).is_some() {
                        return Err(Error::Broken("it has two frame headers"));
                    }
                    return Ok(Segment::Frame(frame));
                }
                DHT => self.huffman(body)?,
                DQT => quantisation(body, &mut self.tables.quant)
                    .ok_or(Error::Broken("a quantisation table is malformed"))?,
                DRI => match body {
                    &[high, low] => self.tables.restart = u16::from_be_bytes([high, low]).into(),
                    _ => return Err(WRONG_LENGTH),
                },
                SOS => {
                    let Some(frame) = &self.frame else {
                        return Err(Error::Broken("a scan comes before the frame header"));
                    };
                    return Ok(Segment::Scan(scan_header(frame, body)?));
                }
                SOF3..=SOF15 => return Err(Error::UNSUPPORTED),
                _ => return Err(Error::Broken("it has a marker that has no meaning")),
            }
        }
    }

    /// Reads from the end of the last scan that is needed to the end of the file, and fails if another scan follows.
    /// `scans` is the number of scans read so far: only a file with a single scan may lack the EOI marker.
    pub(super) fn ends(&mut self, scans: u64) -> Result<()> {
        loop {
            match self.next()? {
                Segment::Frame(_) => {}
                // A component occurs again.
                Segment::Scan(_) => return Err(Error::UNSUPPORTED),
                Segment::End if self.ended() || scans == 1 => return Ok(()),
                Segment::End => return Err(Error::Broken("it ends early")),
            }
        }
    }

    /// Returns whether the EOI marker was reached.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Returns the entropy-coded bytes that follow a scan header: everything from the current position to the end of
    /// the file.
    pub(super) fn entropy_coded(&self) -> &'a [u8] {
        self.walk.rest()
    }

    /// Skips `length` entropy-coded bytes.
    pub(super) fn pass(&mut self, length: usize) {
        self.walk.pass(length);
    }

    fn huffman(&mut self, mut body: &[u8]) -> Result<()> {
        while let Some((head, rest)) = body.split_first_chunk::<17>() {
            let mut counts = [0; 16];
            counts.copy_from_slice(&head[1..]);
            let total: usize = counts.iter().map(|&n| usize::from(n)).sum();
            let symbols = rest.get(..total).ok_or(TRUNCATED)?;
            let slot = usize::from(head[0] & 15);
            let table = match head[0] >> 4 {
                0 if symbols.iter().any(|&size| size > 15) => {
                    return Err(Error::Broken("a Huffman table has impossible DC sizes"));
                }
                0 => self.tables.dc.get_mut(slot),
                1 => self.tables.ac.get_mut(slot),
                _ => None,
            };
            *table.ok_or(Error::Broken("a Huffman table has no such slot"))? =
                Some(Codes::new(counts, symbols)?);
            body = &rest[total..];
        }
        if body.is_empty() {
            Ok(())
        } else {
            Err(WRONG_LENGTH)
        }
    }
}

const TRUNCATED: Error = Error::Broken("it ends inside a segment");
const WRONG_LENGTH: Error = Error::Broken("a segment has the wrong length");

fn be16(bytes: &[u8], at: usize) -> Result<u16> {
    let pair = bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<2>())
        .ok_or(TRUNCATED)?;
    Ok(u16::from_be_bytes(*pair))
}

fn frame_header(marker: u8, body: &[u8]) -> Result<FrameHeader> {
    let height = u32::from(be16(body, 1)?);
    let width = u32::from(be16(body, 3)?);
    let declared = usize::from(*body.get(5).ok_or(TRUNCATED)?);
    if body[0] != 8 || height == 0 || !matches!(declared, 1 | 3) {
        return Err(Error::UNSUPPORTED);
    }
    let list = &body[6..];
    if list.len() != 3 * declared {
        return Err(WRONG_LENGTH);
    }
    let components: Vec<_> = list
        .chunks_exact(3)
        .map(|c| Component {
            id: c[0],
            h: (c[1] >> 4).into(),
            v: (c[1] & 15).into(),
            quant: c[2].into(),
        })
        .collect();
    if width == 0
        || components
            .iter()
            .any(|c| !(1..=4).contains(&c.h) || !(1..=4).contains(&c.v))
    {
        return Err(Error::Broken(
            "a size or sampling factor in the frame header is impossible",
        ));
    }
    if components.iter().any(|c| c.quant > 3) {
        return Err(Error::Broken(
            "a component names a quantisation table that cannot be",
        ));
    }
    let h_max = components.iter().map(|c| c.h).max().unwrap_or(1);
    let v_max = components.iter().map(|c| c.v).max().unwrap_or(1);
    Ok(FrameHeader {
        progressive: marker == SOF2,
        width,
        height,
        components,
        h_max,
        v_max,
    })
}

fn scan_header(frame: &FrameHeader, body: &[u8]) -> Result<ScanHeader> {
    let declared = usize::from(*body.first().ok_or(TRUNCATED)?);
    let list = body.get(1..1 + 2 * declared).ok_or(TRUNCATED)?;
    let tail = body
        .get(1 + 2 * declared..)
        .and_then(|tail| <&[u8; 3]>::try_from(tail).ok())
        .ok_or(WRONG_LENGTH)?;
    let mut components = Vec::with_capacity(declared);
    for pair in list.chunks_exact(2) {
        // Components come in the frame's order (T.81, B.2.3) or nearly so. They are searched for as libjpeg does it.
        let place = components.len();
        let rest = frame.components.iter().skip(place);
        let index = rest.map(|c| c.id).position(|id| id == pair[0]);
        let index = index.map(|index| place + index);
        let index = index.ok_or(Error::Broken(
            "a scan names a component that the frame lacks",
        ))?;
        if components.iter().any(|c: &ScanComponent| c.index == index) {
            return Err(Error::Broken("a scan names a component twice"));
        }
        let (dc_table, ac_table) = (usize::from(pair[1] >> 4), usize::from(pair[1] & 15));
        components.push(ScanComponent {
            index,
            dc_table,
            ac_table,
        });
    }
    let scan = ScanHeader {
        components,
        first: tail[0].into(),
        last: tail[1].into(),
        high: (tail[2] >> 4).into(),
        low: (tail[2] & 15).into(),
    };
    let band = if frame.progressive {
        scan.first <= scan.last
            && scan.last < 64
            && scan.low <= 13
            && (scan.high == 0 || scan.high == scan.low + 1)
            && if scan.first == 0 {
                scan.last == 0
            } else {
                scan.components.len() == 1
            }
    } else {
        true
    };
    if scan.components.is_empty() || !band {
        return Err(Error::Broken("a scan header is impossible"));
    }
    Ok(scan)
}
