//! Compares the native decoder with libjpeg-turbo on one file: both must decode it to the same image or both must
//! reject it, except for known and intended differences. Tests and the differential fuzzer run this on every file.
//!
//! At 1/8 and 1/1, the planes are identical to libjpeg's. At every scale, they are exactly the inverse DCT of the
//! lowest frequencies of libjpeg's coefficients. Parts that are decoded with an index are identical to the same area of
//! the whole image.

use andon_jpeg::Header;
use andon_jpeg::header::{Layout, coded_length};
use andon_kernels::idct;
use andon_pixels::{Alone, Decode, Grid, Limits, Never, Result as Decoded, Scale, Scales};
use andon_recipe::Area;

use super::{decode_part, index, most_scans, native_planes, part, turbo};
use crate::guard;
use crate::jpeg::turbo::ffi::{self, Coefficients};

/// The result of comparing both decoders on a file at one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Both decoders decode the file, to the same image.
    Both,
    /// Both decoders reject the file.
    Neither,
    /// Only the native decoder decodes the file, as intended.
    OnlyOurs,
    /// Only libjpeg decodes the file, as intended.
    OnlyTheirs,
    /// The native decoder does not support this kind of file and leaves it to libjpeg. Nothing is compared.
    Left,
}

/// Parts of libjpeg's error messages after which the native decoder is allowed to accept a file: errors in scans of a
/// progressive file that an image below full size does not need.
const UNOPENED: [&str; 4] = [
    "bad Huffman code",
    "premature end of data segment",
    "Huffman table",
    "instead of RST",
];

/// Part of a warning of libjpeg about a scan that refines fewer bits than it should. The native decoder applies the
/// scan nevertheless, so the results of both decoders may differ at every scale.
const OUT_OF_STEP: &str = "Inconsistent progression";

/// Parts of the native decoder's error messages for files that libjpeg is allowed to accept, each with the reason why
/// it does.
const THEIRS_ONLY: [(&str, &str); 4] = [
    (
        "leaves its band",
        "in a progressive scan, which has no such runs: the scan is out of step from there on",
    ),
    (
        "a Huffman code that no table has",
        "its fast path takes such codes for zeros",
    ),
    ("impossible DC sizes", "in a table that no scan uses"),
    ("too many codes", "likewise"),
];

/// Decodes a file with both decoders at each of these scales. Returns no verdicts for a file without a valid header or
/// over the limits.
///
/// # Errors
/// A description of any unintended difference.
pub(crate) fn compare(
    bytes: &[u8],
    scales: &[Scale],
    limits: &Limits,
) -> Result<Vec<Verdict>, String> {
    let Some((header, layout)) = read_header(bytes, limits) else {
        return Ok(Vec::new());
    };
    let file = File {
        bytes,
        header,
        layout,
        limits,
    };
    let ours: Vec<_> = scales.iter().map(|&scale| file.ours(scale)).collect();
    if ours.iter().all(|ours| matches!(ours, Ok(None))) {
        return Ok(vec![Verdict::Left; scales.len()]);
    }
    if let Ok(Some(index)) = index(bytes, &file.header, &file.how(Scale::FULL)) {
        for (&scale, ours) in scales.iter().zip(&ours) {
            let part = file.compare_part(&index, scale, ours);
            part.map_err(|why| format!("at {}/8 {why}", scale.0))?;
        }
    }
    let coefficients = file.coefficients();
    let pairs = scales.iter().zip(ours);
    pairs
        .map(|(&scale, ours)| {
            let verdict = file.judge(scale, ours, &coefficients);
            verdict.map_err(|why| format!("at {}/8 {why}", scale.0))
        })
        .collect()
}

fn read_header(bytes: &[u8], limits: &Limits) -> Option<(Header, Layout)> {
    let header = Header::read(bytes).ok()?;
    let layout = Layout::of(&header).ok()?;
    guard::size(header.width, header.height, limits).ok()?;
    Some((header, layout))
}

struct File<'a> {
    bytes: &'a [u8],
    header: Header,
    layout: Layout,
    limits: &'a Limits,
}

impl File<'_> {
    fn how(&self, scale: Scale) -> Decode<'_> {
        Decode {
            scales: Scales::both(scale),
            limits: self.limits,
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: false,
        }
    }

    fn ours(&self, scale: Scale) -> Decoded<Option<Vec<Grid<u8>>>> {
        native_planes(self.bytes, &self.header, &self.layout, &self.how(scale))
    }

    fn theirs(&self, scale: Scale) -> Decoded<Vec<Grid<u8>>> {
        turbo(self.bytes, &self.header, &self.layout, &self.how(scale))
    }

    /// Checks that a part which is decoded with an index equals the same area of the natively decoded whole image. The
    /// part's position and size are derived from the file's length.
    fn compare_part(
        &self,
        index: &[u8],
        scale: Scale,
        ours: &Decoded<Option<Vec<Grid<u8>>>>,
    ) -> Result<(), String> {
        let how = self.how(scale);
        let Ok(Some(ours)) = ours else {
            return Err("it has an index, but does not decode".to_owned());
        };
        let (size, seed) = (
            (self.header.width, self.header.height),
            self.bytes.len() as u32,
        );
        let (x, y) = (seed % size.0, seed / 3 % size.1);
        let area = Area {
            x,
            y,
            w: 1 + seed / 5 % (size.0 - x),
            h: 1 + seed / 7 % (size.1 - y),
        };
        let place = part(self.bytes, index, area, size);
        let place = place.ok_or_else(|| format!("there is no part around {area:?}"))?;
        let part = decode_part(self.bytes, &self.header, &how, index, place);
        let frame = part.map_err(|why| why.to_string())?.frame;
        for (index, (whole, part)) in ours.iter().zip(&frame.planes).enumerate() {
            let corner = (scale.of(place.x), scale.of(place.y));
            let (x, y) = frame.model.plane_size(index, corner.0, corner.1);
            let part = part.as_u8().ok_or("a part is not of 8 bits")?;
            let is_equal = (0..part.height()).all(|row| {
                let line = whole.row(y + row).get(x as usize..);
                line.is_some_and(|line| line.starts_with(part.row(row)))
            });
            if !is_equal {
                return Err(format!("plane {index} is another at {place:?}"));
            }
        }
        Ok(())
    }

    /// Reads the coefficients with libjpeg.
    fn coefficients(&self) -> Decoded<Vec<Coefficients>> {
        let (h, v) = self.header.max_sampling();
        let blocks = |side: u32, factor: u8, most: u8| {
            (side * u32::from(factor)).div_ceil(8 * u32::from(most))
        };
        let sizes = self.header.components.iter().map(|component| {
            (
                blocks(self.header.width, component.h, h),
                blocks(self.header.height, component.v, v),
            )
        });
        let reading = ffi::Reading {
            bytes: self.bytes,
            header: &self.header,
            colour: self.layout.colour,
            lenient: false,
            raw: self.layout.raw,
            eighths: 8,
            scans: most_scans(&self.header, self.limits),
            memory: self.limits.memory,
            interrupt: &Never,
        };
        ffi::coefficients(&reading, &sizes.collect::<Vec<_>>())
    }

    /// Returns the file with EOI directly after the data of its only scan, in place of everything that followed.
    /// Returns `None` if only EOI followed, if the file may have several scans, or if `scale` is full size.
    fn without_tail(&self, scale: Scale) -> Option<Vec<u8>> {
        let header = &self.header;
        if scale == Scale::FULL || header.holds_coefficients() {
            return None;
        }
        let scan = self.bytes.get(header.first_scan + 2..)?;
        let coded = usize::from(u16::from_be_bytes(*scan.first_chunk()?));
        let end = header.first_scan + 2 + coded + coded_length(scan.get(coded..)?);
        let chopped = [&self.bytes[..end], &[0xff, 0xd9]].concat();
        (chopped != self.bytes).then_some(chopped)
    }

    fn judge(
        &self,
        scale: Scale,
        ours: Decoded<Option<Vec<Grid<u8>>>>,
        coefficients: &Decoded<Vec<Coefficients>>,
    ) -> Result<Verdict, String> {
        // At 1/4 and 1/2, libjpeg's planes differ by design, so the native planes are compared with libjpeg's
        // coefficients.
        let same_planes = matches!(scale, Scale::EIGHTH | Scale::FULL);
        let theirs = match coefficients {
            _ if same_planes => self.theirs(scale).map(Some),
            Ok(_) => Ok(None),
            Err(why) => Err(why.clone()),
        };
        match (ours, theirs) {
            (Ok(None), _) => Ok(Verdict::Left),
            (Err(_), Err(_)) => Ok(Verdict::Neither),
            (Ok(Some(ours)), Ok(theirs)) => {
                let theirs = theirs.unwrap_or_default();
                same_planes_as(&ours, &theirs, coefficients.as_deref().ok(), scale)?;
                Ok(Verdict::Both)
            }
            (Ok(Some(ours)), Err(why)) => self.judge_ours(scale, ours, &why.to_string()),
            (Err(why), Ok(_)) => {
                let why = why.to_string();
                let is_intended = THEIRS_ONLY.iter().any(|(part, _)| why.contains(part));
                is_intended
                    .then_some(Verdict::OnlyTheirs)
                    .ok_or_else(|| format!("we alone say: {why}"))
            }
        }
    }

    /// Decides whether it is intended that the native decoder accepts this file at `scale`, while libjpeg rejects it
    /// with the error `why`. `ours` contains the decoded planes.
    fn judge_ours(&self, scale: Scale, ours: Vec<Grid<u8>>, why: &str) -> Result<Verdict, String> {
        // A small sequential image is complete after its last sample. Without the data that follow, libjpeg must agree.
        if let Some(bytes) = self.without_tail(scale) {
            let chopped = File {
                bytes: &bytes,
                header: self.header.clone(),
                ..*self
            };
            let coefficients = chopped.coefficients();
            return match chopped.judge(scale, Ok(Some(ours)), &coefficients)? {
                Verdict::Both => Ok(Verdict::OnlyOurs),
                verdict => Err(format!("is {verdict:?} without its tail")),
            };
        }
        let unopened = self.header.progressive && scale < Scale::FULL;
        let is_intended =
            why.contains(OUT_OF_STEP) || unopened && UNOPENED.iter().any(|part| why.contains(part));
        is_intended
            .then_some(Verdict::OnlyOurs)
            .ok_or_else(|| format!("libjpeg alone says: {why}"))
    }
}

/// Checks that the native decoder's planes are those that follow from libjpeg's coefficients, if they could be read,
/// and equal to libjpeg's planes, if `theirs` contains any.
fn same_planes_as(
    ours: &[Grid<u8>],
    theirs: &[Grid<u8>],
    coefficients: Option<&[Coefficients]>,
    scale: Scale,
) -> Result<(), String> {
    let side = usize::from(scale.0);
    let coefficients = coefficients.unwrap_or_default();
    for (index, (plane, blocks)) in ours.iter().zip(coefficients).enumerate() {
        same_as_of(blocks, side, plane)
            .map_err(|why| format!("plane {index} is not of its coefficients: {why}"))?;
    }
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        alike(ours, theirs, coefficients.get(index), side)
            .map_err(|why| format!("plane {index} is not libjpeg's: {why}"))?;
    }
    Ok(())
}

/// Checks that a plane is the inverse DCT of these coefficients, with `side` samples per block side.
fn same_as_of(blocks: &Coefficients, side: usize, plane: &Grid<u8>) -> Result<(), String> {
    let lowest = |k: &usize| k % 8 < side && k / 8 < side;
    let mut factors = [0; 64];
    for (to, k) in factors.iter_mut().zip((0..64).filter(lowest)) {
        *to = blocks.factors[k].into();
    }
    let line = blocks.wide as usize * side;
    let mut band = vec![0; line * side];
    for (row, stored) in (0u32..).zip(blocks.values.chunks_exact(blocks.wide as usize * 64)) {
        let lowest_frequencies: Vec<i16> = (stored.chunks_exact(64))
            .flat_map(|block| (0..64).filter(lowest).map(|k| block[k]))
            .collect();
        idct::blocks_to_rows(side, &lowest_frequencies, &factors, &mut band, line);
        for (y, samples) in (row * side as u32..plane.height()).zip(band.chunks_exact(line)) {
            let have = plane.row(y);
            if let Some(x) = (0..have.len()).find(|&x| have[x] != samples[x]) {
                return Err(format!("{} for {} at {x},{y}", have[x], samples[x]));
            }
        }
    }
    Ok(())
}

/// Checks that two planes are equal, except in blocks whose coefficients are larger than in any valid file: there
/// libjpeg's sums may overflow, while the native decoder clamps.
fn alike(
    ours: &Grid<u8>,
    theirs: &Grid<u8>,
    blocks: Option<&Coefficients>,
    side: usize,
) -> Result<(), String> {
    if (ours.width(), ours.height()) != (theirs.width(), theirs.height()) {
        return Err("another size".to_owned());
    }
    for y in 0..ours.height() {
        let row = ours.row(y).iter().zip(theirs.row(y)).enumerate();
        for (x, (a, b)) in row.filter(|(_, (a, b))| a != b) {
            let block = (x / side, y as usize / side);
            if !blocks.is_some_and(|blocks| goes_far(blocks, block)) {
                return Err(format!("{a} for {b} at {x},{y}"));
            }
        }
    }
    Ok(())
}

/// Whether a dequantised coefficient of the block has a magnitude of 4000 or more, nearly four times the maximum that
/// 8-bit samples produce.
fn goes_far(blocks: &Coefficients, (x, y): (usize, usize)) -> bool {
    let at = (y * blocks.wide as usize + x) * 64;
    let block = blocks.values[at..at + 64].iter().zip(&blocks.factors);
    let mut strengths =
        block.map(|(&value, &factor)| u64::from(value.unsigned_abs()) * u64::from(factor));
    strengths.any(|strength| strength >= 4000)
}
