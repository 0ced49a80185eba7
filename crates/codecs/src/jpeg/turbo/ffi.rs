//! Safe functions over libjpeg-turbo, which is called through `shim.c`.
//!
//! The classic libjpeg API is used rather than TurboJPEG's because it reads and writes planes band by band, counts
//! scans, and distinguishes warnings. All of its `longjmp`s stay inside the shim.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use andon_jpeg::Header;
use andon_jpeg::header::Colour;
use andon_pixels::{Bound, Error, Grid, Interrupt, Result};
// The crate is named only so that its library is linked. Rust code calls nothing of it.
use turbojpeg_sys as _;

/// A JPEG to decode, and how to decode it.
pub(in crate::jpeg) struct Reading<'a> {
    pub(in crate::jpeg) bytes: &'a [u8],
    pub(in crate::jpeg) header: &'a Header,
    pub(in crate::jpeg) colour: Colour,
    /// Whether missing or damaged parts are filled with gray or approximated, instead of causing an error.
    pub(in crate::jpeg) lenient: bool,
    /// Whether components are read as stored, without upsampling or colour conversion.
    pub(in crate::jpeg) raw: bool,
    /// Scale in eighths of the full size: 1, 2, 4 or 8.
    pub(in crate::jpeg) eighths: u8,
    /// Maximum number of scans.
    pub(in crate::jpeg) scans: u32,
    /// Maximum size in bytes of libjpeg's coefficient buffers.
    pub(in crate::jpeg) memory: u64,
    pub(in crate::jpeg) interrupt: &'a dyn Interrupt,
}

/// Decodes into one plane per component. Planes of any size are memory-safe; those of a wrong size are an error.
pub(in crate::jpeg) fn read(reading: &Reading<'_>, grids: &mut [Grid<u8>]) -> Result<()> {
    let asker = Asker(reading.interrupt);
    let mut job = reading.job(&asker, grids.len());
    for (plane, grid) in job.planes.iter_mut().zip(grids.iter_mut()) {
        (plane.width, plane.height) = (grid.width(), grid.height());
        plane.samples = grid.samples_mut().as_mut_ptr();
    }
    let mut outcome = Outcome::new();
    // SAFETY: `job` and `outcome` have the layout of their C twins and outlive the call. `bytes` and
    // `planes` are described with their true sizes, the planes are exclusively borrowed, and the shim
    // stays inside both. `watch` points at `asker`, which lives on this frame.
    unsafe { andon_jpeg_decode(&job, &mut outcome) };
    outcome.result(reading.scans, reading.memory)
}

impl Reading<'_> {
    /// Returns the job for the shim, without the destination of the samples.
    fn job(&self, asker: &Asker<'_>, components: usize) -> DecodeJob {
        let mut planes = [Plane::ABSENT; MOST_COMPONENTS];
        for (plane, component) in planes.iter_mut().zip(&self.header.components) {
            (plane.h, plane.v) = (component.h.into(), component.v.into());
        }
        DecodeJob {
            bytes: self.bytes.as_ptr(),
            size: self.bytes.len(),
            width: self.header.width,
            height: self.header.height,
            components: components.min(MOST_COMPONENTS) as c_int,
            colour: number(self.colour),
            lenient: self.lenient.into(),
            raw: self.raw.into(),
            eighths: self.eighths.into(),
            scans: c_int::try_from(self.scans).unwrap_or(c_int::MAX),
            memory: memory_ceiling(self.memory),
            planes,
            watch: asker.watch(),
        }
    }
}

/// A component's coefficients, as stored in the file.
#[cfg(any(test, feature = "compare"))]
pub(in crate::jpeg) struct Coefficients {
    /// Width in blocks, without the blocks that only pad the last MCU.
    pub(in crate::jpeg) wide: u32,
    /// Height in blocks, without the blocks that only pad the last MCU.
    pub(in crate::jpeg) high: u32,
    /// Quantised coefficients, 64 per block: rows by increasing vertical frequency, in each row by increasing
    /// horizontal frequency.
    pub(in crate::jpeg) values: Vec<i16>,
    /// Quantisation factors, in the order of the coefficients of a block.
    pub(in crate::jpeg) factors: [u16; 64],
}

/// Reads the coefficients of components of the given sizes, in blocks. A wrong size is an error.
#[cfg(any(test, feature = "compare"))]
pub(in crate::jpeg) fn coefficients(
    reading: &Reading<'_>,
    sizes: &[(u32, u32)],
) -> Result<Vec<Coefficients>> {
    let asker = Asker(reading.interrupt);
    let sizes = &sizes[..sizes.len().min(MOST_COMPONENTS)];
    let mut all: Vec<_> = (sizes.iter())
        .map(|&(wide, high)| Coefficients {
            wide,
            high,
            values: vec![0; wide as usize * high as usize * 64],
            factors: [0; 64],
        })
        .collect();
    let mut blocks = [const { Blocks::ABSENT }; MOST_COMPONENTS];
    for (blocks, component) in blocks.iter_mut().zip(&mut all) {
        blocks.coefficients = component.values.as_mut_ptr();
        (blocks.wide, blocks.high) = (component.wide, component.high);
    }
    let job = reading.job(&asker, sizes.len());
    let mut outcome = Outcome::new();
    // SAFETY: all three have the layout of their C twins and outlive the call; there are as many blocks
    // as the shim ever reads components. `bytes` and `blocks` are described with their true sizes, the
    // coefficients are exclusively borrowed, and the shim stays inside both. `watch` points at `asker`.
    unsafe { andon_jpeg_coefficients(&job, blocks.as_mut_ptr(), &mut outcome) };
    outcome.result(reading.scans, reading.memory)?;
    for (component, blocks) in all.iter_mut().zip(&blocks) {
        component.factors = blocks.factors;
    }
    Ok(all)
}

/// A CMYK image to encode, and how to encode it. Samples are inverted (255 − sample) in the file, as in Adobe's files.
pub(in crate::jpeg) struct Writing<'a> {
    pub(in crate::jpeg) width: u32,
    pub(in crate::jpeg) height: u32,
    /// Four planes of `width` × `height` px.
    pub(in crate::jpeg) planes: &'a [&'a Grid<u8>],
    /// Quality, 1 to 100.
    pub(in crate::jpeg) quality: u8,
    pub(in crate::jpeg) progressive: bool,
    /// The EXIF block, beginning with its TIFF header. Left out if longer than [`MOST_EXIF_BYTES`].
    pub(in crate::jpeg) exif: &'a [u8],
    pub(in crate::jpeg) icc: &'a [u8],
    pub(in crate::jpeg) interrupt: &'a dyn Interrupt,
}

/// Encodes a complete JPEG file.
pub(in crate::jpeg) fn write(writing: &Writing<'_>) -> Result<Vec<u8>> {
    let asker = Asker(writing.interrupt);
    let mut planes = [Plane::ABSENT; MOST_COMPONENTS];
    for (plane, grid) in planes.iter_mut().zip(writing.planes) {
        *plane = Plane {
            samples: grid.samples().as_ptr().cast_mut(),
            width: grid.width(),
            height: grid.height(),
            h: 1,
            v: 1,
        };
    }
    let exif = one_segment(writing.exif);
    let job = EncodeJob {
        width: writing.width,
        height: writing.height,
        components: writing.planes.len().min(MOST_COMPONENTS) as c_int,
        quality: writing.quality.into(),
        progressive: writing.progressive.into(),
        exif: exif.as_ptr(),
        exif_size: exif.len(),
        icc: writing.icc.as_ptr(),
        icc_size: writing.icc.len(),
        planes,
        watch: asker.watch(),
    };
    // SAFETY: `job` has the layout of its C twin and outlives the call. Planes and metadata are described with
    // their true sizes and only read. `watch` points at `asker`, on this frame.
    unsafe { write_file(|encoded, outcome| andon_jpeg_encode(&job, encoded, outcome)) }
}

/// A JPEG file of one scan that is converted to several scans, with metadata to add.
pub(in crate::jpeg) struct Rewriting<'a> {
    pub(in crate::jpeg) file: &'a [u8],
    /// The EXIF block, beginning with its TIFF header. Left out if longer than [`MOST_EXIF_BYTES`].
    pub(in crate::jpeg) exif: &'a [u8],
    pub(in crate::jpeg) icc: &'a [u8],
    pub(in crate::jpeg) interrupt: &'a dyn Interrupt,
}

/// Converts a file to a progressive one with the same coefficients.
pub(in crate::jpeg) fn progressive(rewriting: &Rewriting<'_>) -> Result<Vec<u8>> {
    let asker = Asker(rewriting.interrupt);
    let exif = one_segment(rewriting.exif);
    let job = RewriteJob {
        bytes: rewriting.file.as_ptr(),
        size: rewriting.file.len(),
        exif: exif.as_ptr(),
        exif_size: exif.len(),
        icc: rewriting.icc.as_ptr(),
        icc_size: rewriting.icc.len(),
        watch: asker.watch(),
    };
    // SAFETY: `job` has the layout of its C twin and outlives the call. The file and the metadata are described
    // with their true sizes and only read. `watch` points at `asker`, on this frame.
    unsafe { write_file(|encoded, outcome| andon_jpeg_progressive(&job, encoded, outcome)) }
}

/// Lets the shim write a file, copies the file, and frees the shim's memory.
///
/// # Safety
/// `call` is one of the shim's functions that write a file, with a job that the shim may read.
unsafe fn write_file(call: impl FnOnce(&mut Encoded, &mut Outcome)) -> Result<Vec<u8>> {
    let mut outcome = Outcome::new();
    let mut encoded = Encoded {
        bytes: ptr::null_mut(),
        size: 0,
    };
    call(&mut encoded, &mut outcome);
    outcome.result(0, 0)?;
    // SAFETY: the call succeeded: `bytes` points at `size` initialised bytes, which are valid until they are freed
    // below.
    let file = unsafe { std::slice::from_raw_parts(encoded.bytes, encoded.size) }.to_vec();
    // SAFETY: freed once, after the last use.
    unsafe { andon_jpeg_free(&mut encoded) };
    Ok(file)
}

/// Returns an EXIF block that fits into one segment, or no bytes: EXIF cannot be split.
fn one_segment(exif: &[u8]) -> &[u8] {
    match exif.len() <= MOST_EXIF_BYTES {
        true => exif,
        false => &[],
    }
}

/// Maximum size in bytes of an EXIF block: the capacity of an APP1 segment without its length and label.
const MOST_EXIF_BYTES: usize = 65_533 - 6;

const MOST_COMPONENTS: usize = 4;

fn memory_ceiling(bytes: u64) -> usize {
    // libjpeg's limit is a C long, and 0 would mean "no limit".
    bytes.clamp(1, i32::MAX as u64) as usize
}

/// An interrupt to which C code can refer with a thin pointer.
struct Asker<'a>(&'a dyn Interrupt);

impl Asker<'_> {
    fn watch(&self) -> Watch {
        Watch {
            ask,
            asker: ptr::from_ref(self).cast(),
        }
    }
}

extern "C" fn ask(asker: *const c_void) -> c_int {
    // SAFETY: the shim passes back the pointer from `Asker::watch`, during the call to which it was passed.
    let asker = unsafe { &*asker.cast::<Asker<'_>>() };
    asker.0.interrupted().into()
}

/// Returns the shim's number for a colour space.
fn number(colour: Colour) -> c_int {
    match colour {
        Colour::Gray => 0,
        Colour::YCbCr => 1,
        Colour::Rgb => 2,
        Colour::Cmyk => 3,
        Colour::Ycck => 4,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Plane {
    samples: *mut u8,
    width: u32,
    height: u32,
    h: c_int,
    v: c_int,
}

impl Plane {
    const ABSENT: Self = Self {
        samples: ptr::null_mut(),
        width: 0,
        height: 0,
        h: 0,
        v: 0,
    };
}

#[repr(C)]
struct Watch {
    ask: extern "C" fn(*const c_void) -> c_int,
    asker: *const c_void,
}

#[repr(C)]
struct DecodeJob {
    bytes: *const u8,
    size: usize,
    width: u32,
    height: u32,
    components: c_int,
    colour: c_int,
    lenient: c_int,
    raw: c_int,
    eighths: c_int,
    scans: c_int,
    memory: usize,
    planes: [Plane; MOST_COMPONENTS],
    watch: Watch,
}

#[cfg(any(test, feature = "compare"))]
#[repr(C)]
struct Blocks {
    coefficients: *mut i16,
    wide: u32,
    high: u32,
    factors: [u16; 64],
}

#[cfg(any(test, feature = "compare"))]
impl Blocks {
    const ABSENT: Self = Self {
        coefficients: ptr::null_mut(),
        wide: 0,
        high: 0,
        factors: [0; 64],
    };
}

#[repr(C)]
struct EncodeJob {
    width: u32,
    height: u32,
    components: c_int,
    quality: c_int,
    progressive: c_int,
    exif: *const u8,
    exif_size: usize,
    icc: *const u8,
    icc_size: usize,
    planes: [Plane; MOST_COMPONENTS],
    watch: Watch,
}

#[repr(C)]
struct RewriteJob {
    bytes: *const u8,
    size: usize,
    exif: *const u8,
    exif_size: usize,
    icc: *const u8,
    icc_size: usize,
    watch: Watch,
}

#[repr(C)]
struct Encoded {
    bytes: *mut u8,
    size: usize,
}

#[repr(C)]
struct Outcome {
    status: c_int,
    message: [c_char; 200],
}

impl Outcome {
    fn new() -> Self {
        Self {
            status: 0,
            message: [0; 200],
        }
    }

    fn result(&self, scans: u32, memory: u64) -> Result<()> {
        Err(match self.status {
            0 => return Ok(()),
            1 => Error::broken(crate::jpeg::NAME, self.message()),
            2 => Error::Unsupported {
                format: crate::jpeg::NAME,
                what: format!("something libjpeg refuses ({})", self.message()),
            },
            3 => Error::Interrupted,
            4 => Error::Limit {
                bound: Bound::SCANS,
                value: u64::from(scans) + 1,
                limit: scans.into(),
            },
            _ => Error::Limit {
                bound: Bound::MEMORY,
                value: memory.saturating_add(1),
                limit: memory,
            },
        })
    }

    fn message(&self) -> String {
        // SAFETY: `message` is zeroed before the call, and the shim stores only a terminated string there.
        let message = unsafe { CStr::from_ptr(self.message.as_ptr()) };
        message.to_string_lossy().into_owned()
    }
}

unsafe extern "C" {
    fn andon_jpeg_decode(job: *const DecodeJob, outcome: *mut Outcome);
    #[cfg(any(test, feature = "compare"))]
    fn andon_jpeg_coefficients(job: *const DecodeJob, all: *mut Blocks, outcome: *mut Outcome);
    fn andon_jpeg_encode(job: *const EncodeJob, encoded: *mut Encoded, outcome: *mut Outcome);
    fn andon_jpeg_progressive(job: *const RewriteJob, encoded: *mut Encoded, outcome: *mut Outcome);
    fn andon_jpeg_free(encoded: *mut Encoded);
}
