//! The only module that touches rav1d: safe functions on top of its API, which is that of dav1d.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;
use std::slice;

use andon_pixels::buffers::Buffer;
use andon_pixels::{Error, Interrupt, Result};
use rav1d::Dav1dResult;
use rav1d::include::dav1d::data::Dav1dData;
use rav1d::include::dav1d::dav1d::{Dav1dContext, Dav1dLogger};
use rav1d::include::dav1d::headers::{
    DAV1D_PIXEL_LAYOUT_I400, DAV1D_PIXEL_LAYOUT_I420, DAV1D_PIXEL_LAYOUT_I422, Dav1dPixelLayout,
};
use rav1d::include::dav1d::picture::{Dav1dPicture, Dav1dPictureParameters};
use rav1d::src::lib as dav1d;
use rav1d::src::send_sync_non_null::SendSyncNonNull;

use crate::avif::obus::{NAME, Obu, Obus};
use crate::guard;

/// Which planes an image has, and how its chroma is subsampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::avif) enum Layout {
    /// Luma only.
    Gray,
    /// 4:2:0.
    C420,
    /// 4:2:2.
    C422,
    /// 4:4:4.
    C444,
}

impl Layout {
    fn of(layout: Dav1dPixelLayout) -> Self {
        match layout {
            DAV1D_PIXEL_LAYOUT_I400 => Self::Gray,
            DAV1D_PIXEL_LAYOUT_I420 => Self::C420,
            DAV1D_PIXEL_LAYOUT_I422 => Self::C422,
            _ => Self::C444,
        }
    }

    /// Returns the number of planes.
    pub(in crate::avif) fn planes(self) -> usize {
        if self == Self::Gray { 1 } else { 3 }
    }

    /// Returns how many px a sample of a plane spans, across and down.
    pub(in crate::avif) fn spans(self, plane: usize) -> (u32, u32) {
        match self {
            _ if plane == 0 => (1, 1),
            Self::C420 => (2, 2),
            Self::C422 => (2, 1),
            Self::Gray | Self::C444 => (1, 1),
        }
    }
}

/// The fields of an AV1 sequence header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::avif) struct Sequence {
    pub(in crate::avif) layout: Layout,
    /// Bits per sample: 8, 10 or 12.
    pub(in crate::avif) bits: u8,
    pub(in crate::avif) full_range: bool,
    /// Colour primaries, as a code point of H.273.
    pub(in crate::avif) primaries: u8,
    /// Transfer characteristics, as a code point of H.273.
    pub(in crate::avif) transfer: u8,
    /// Matrix coefficients, as a code point of H.273.
    pub(in crate::avif) matrix: u8,
    /// AV1 profile, from 0 to 2.
    pub(in crate::avif) profile: u8,
    /// Level of the first operating point, as `av1C` stores it.
    pub(in crate::avif) level: u8,
    /// Tier of the first operating point, as `av1C` stores it.
    pub(in crate::avif) tier: u8,
}

impl Sequence {
    /// Reads the first sequence header of a bitstream, which may be cut off after it.
    pub(in crate::avif) fn read(obus: &[u8]) -> Option<Self> {
        let data = NonNull::new(obus.as_ptr().cast_mut()).filter(|_| !obus.is_empty())?;
        let mut header = MaybeUninit::uninit();
        // SAFETY: `header` may be written, and `data` is the beginning of a live slice of that length.
        let code = unsafe {
            let out = NonNull::new(header.as_mut_ptr());
            dav1d::dav1d_parse_sequence_header(out, Some(data), obus.len())
        };
        if code != Dav1dResult(0) {
            return None;
        }
        // SAFETY: a call that succeeds has written it.
        let header = unsafe { header.assume_init() };
        let point = &header.operating_points[0];
        Some(Self {
            layout: Layout::of(header.layout),
            bits: 8 + 2 * header.hbd,
            full_range: header.color_range != 0,
            primaries: header.pri as u8,
            transfer: header.trc as u8,
            matrix: header.mtrx as u8,
            profile: header.profile,
            level: (point.major_level.saturating_sub(2) << 2) | (point.minor_level & 3),
            tier: point.tier,
        })
    }
}

/// A decoder of one bitstream.
pub(in crate::avif) struct Decoder<'a> {
    context: Option<Dav1dContext>,
    /// OBUs that have not been passed to rav1d yet. They follow the last returned image in the bytes passed to an
    /// earlier call of `image`.
    left: Obus<'a>,
}

impl<'a> Decoder<'a> {
    /// Opens a decoder for images of `most` pixels or fewer, at the operating point `point`. With `all_layers`, it
    /// returns the images of all spatial layers, otherwise only the highest layer.
    pub(in crate::avif) fn open(most: u64, point: u8, all_layers: bool) -> Result<Self> {
        let mut settings = MaybeUninit::uninit();
        // SAFETY: the call writes all of `settings`.
        let mut settings = unsafe {
            let place: *mut _ = settings.as_mut_ptr();
            if let Some(place) = NonNull::new(place) {
                dav1d::dav1d_default_settings(place);
            }
            settings.assume_init()
        };
        settings.n_threads = 1;
        settings.max_frame_delay = 1;
        settings.apply_grain = 1;
        settings.operating_point = c_int::from(point & 31);
        settings.all_layers = c_int::from(all_layers);
        settings.allocator.alloc_picture_callback = Some(allocate);
        settings.allocator.release_picture_callback = Some(release);
        settings.frame_size_limit = u32::try_from(most).unwrap_or(u32::MAX);
        // SAFETY: there is no callback to be called.
        settings.logger = unsafe { Dav1dLogger::new(None, None) };
        let mut context = None;
        // SAFETY: both are live, and rav1d only reads the settings.
        let code = unsafe {
            dav1d::dav1d_open(
                Some(NonNull::from(&mut context)),
                Some(NonNull::from(&mut settings)),
            )
        };
        if code != Dav1dResult(0) || context.is_none() {
            return Err(Error::Internal(format!(
                "rav1d cannot be opened: {}",
                code.0
            )));
        }
        Ok(Self {
            context,
            left: Obus::default(),
        })
    }

    /// Returns the next image from `bytes`, which contains one or more temporal units. If `layer` is given, returns the
    /// image of that spatial layer. rav1d receives one OBU at a time, so that decoding can be interrupted between two
    /// frames.
    pub(in crate::avif) fn image(
        &mut self,
        bytes: &'a [u8],
        layer: Option<u8>,
        interrupt: &dyn Interrupt,
    ) -> Result<DecodedImage> {
        let mut fresh = Obus::of(bytes);
        if !fresh.clone().any(|unit| unit.matters()) {
            return Err(Error::broken(NAME, "it has no pixels"));
        }
        // A sample may contain more images than the one that was returned from it.
        let mut units = mem::take(&mut self.left);
        let mut input = Input(Dav1dData::default());
        let mut left = units.clone();
        loop {
            if input.0.sz == 0 {
                left.clone_from(&units);
                let mut unit = units.find(Obu::matters);
                if unit.is_none() {
                    units = mem::take(&mut fresh);
                    left.clone_from(&units);
                    unit = units.find(Obu::matters);
                }
                if let Some(unit) = unit {
                    input = Self::input(unit.whole)?;
                }
            }
            let mut later_units = units.clone().chain(fresh.clone());
            let is_last = !later_units.any(|unit| unit.matters());
            if input.0.sz > 0 {
                guard::check_interrupt(interrupt)?;
                // SAFETY: the context is open, and `input` is live and was initialised by `dav1d_data_wrap`.
                let code = unsafe {
                    dav1d::dav1d_send_data(self.context, Some(NonNull::from(&mut input.0)))
                };
                if code.0 < 0 && !wants_more(code) {
                    return Err(error_of(code));
                }
                // rav1d consumes the rest of the input after an image has been fetched.
                if input.0.sz == 0 && !is_last {
                    continue;
                }
            }
            let mut image = DecodedImage(Dav1dPicture::default());
            // SAFETY: the context is open, and `image` is live and empty.
            let code = unsafe {
                dav1d::dav1d_get_picture(self.context, Some(NonNull::from(&mut image.0)))
            };
            if code == Dav1dResult(0) {
                if layer.is_none_or(|layer| image.layer() == Some(layer)) {
                    self.left = if input.0.sz > 0 { left } else { units };
                    return Ok(image);
                }
            } else if !wants_more(code) {
                return Err(error_of(code));
            } else if input.0.sz == 0 && is_last {
                return Err(Error::broken(NAME, "it has no image in its bitstream"));
            }
        }
    }

    /// Wraps bytes in the structure that rav1d reads from.
    fn input(bytes: &'a [u8]) -> Result<Input> {
        let mut input = Input(Dav1dData::default());
        // SAFETY: the bytes outlive the decoder (`'a`), which only reads them, and the callback that frees them does
        // nothing.
        let code = unsafe {
            let place = Some(NonNull::from(&mut input.0));
            let start = NonNull::new(bytes.as_ptr().cast_mut());
            dav1d::dav1d_data_wrap(place, start, bytes.len(), Some(leave), None)
        };
        match code {
            Dav1dResult(0) => Ok(input),
            code => Err(error_of(code)),
        }
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once; images hold references to what they need.
        unsafe { dav1d::dav1d_close(Some(NonNull::from(&mut self.context))) };
    }
}

/// Bytes that rav1d has not consumed yet.
struct Input(Dav1dData);

impl Drop for Input {
    fn drop(&mut self) {
        // SAFETY: empty, or from `dav1d_data_wrap`; unreferenced once.
        unsafe { dav1d::dav1d_data_unref(Some(NonNull::from(&mut self.0))) };
    }
}

/// Alignment in bytes of a decoded image's memory. The lengths of its planes are multiples of this, too.
const ALIGNMENT: usize = 64;

/// Allocates the memory of a decoded image from a recycled buffer, which rav1d overwrites. If the system had to clear
/// fresh memory of that size, this would take a fifth of the decoding time.
unsafe extern "C" fn allocate(
    image: *mut Dav1dPicture,
    _: Option<SendSyncNonNull<c_void>>,
) -> Dav1dResult {
    // SAFETY: rav1d calls this with an image that nothing else accesses during the call.
    let image = unsafe { &mut *image };
    let Dav1dPictureParameters { w, h, layout, bpc } = image.p;
    let (width, height) = (w.max(0) as usize, h.max(0) as usize);
    let bytes = if bpc > 8 { 2 } else { 1 };
    let (across, down) = Layout::of(layout).spans(1);
    // Rows whose distance is a multiple of 1 KiB compete for the same cache lines.
    let stride = |width: usize| match width * bytes {
        length if length.is_multiple_of(1024) => length + ALIGNMENT,
        length => length,
    };
    let (width, height) = (width.next_multiple_of(128), height.next_multiple_of(128));
    let strides = match Layout::of(layout) {
        Layout::Gray => [stride(width), 0],
        _ => [stride(width), stride(width / across as usize)],
    };
    let lengths = [strides[0] * height, strides[1] * (height / down as usize)];
    let mut memory = Box::new(Buffer::filled(
        lengths[0] + 2 * lengths[1] + ALIGNMENT,
        0_u8,
    ));
    let offset = memory.as_ptr().align_offset(ALIGNMENT);
    let (luma, chroma) = memory[offset..].split_at_mut(lengths[0]);
    let (blue, red) = chroma.split_at_mut(lengths[1]);
    let start = |plane: &mut [u8], length: usize| match length {
        0 => None,
        _ => NonNull::new(plane.as_mut_ptr().cast()),
    };
    image.data = [
        start(luma, lengths[0]),
        start(blue, lengths[1]),
        start(red, lengths[1]),
    ];
    image.stride = strides.map(|stride| stride as isize);
    image.allocator_data = Some(SendSyncNonNull::from_box(memory).cast());
    Dav1dResult(0)
}

/// Frees the memory that `allocate` gave to a decoded image.
unsafe extern "C" fn release(image: *mut Dav1dPicture, _: Option<SendSyncNonNull<c_void>>) {
    // SAFETY: rav1d calls this with an image that nothing else accesses during the call.
    let memory = unsafe { (*image).allocator_data.take() };
    if let Some(memory) = memory {
        // SAFETY: `allocate` made it of such a box, and each image is released once.
        drop(unsafe { memory.cast::<Buffer<u8>>().into_box() });
    }
}

/// Does nothing where dav1d would free its input, because the caller owns the bytes.
unsafe extern "C" fn leave(_: *const u8, _: Option<SendSyncNonNull<c_void>>) {}

fn wants_more(code: Dav1dResult) -> bool {
    io::Error::from_raw_os_error(-code.0).kind() == io::ErrorKind::WouldBlock
}

fn error_of(code: Dav1dResult) -> Error {
    match io::Error::from_raw_os_error(-code.0).kind() {
        io::ErrorKind::OutOfMemory => Error::Internal("rav1d has no memory".to_owned()),
        io::ErrorKind::Unsupported => Error::unsupported(NAME, "a feature of the bitstream"),
        _ => Error::broken(NAME, "its bitstream is invalid"),
    }
}

/// A decoded image.
pub(in crate::avif) struct DecodedImage(Dav1dPicture);

/// Code values of one row.
pub(in crate::avif) enum Row<'a> {
    /// Samples of 8 bits.
    U8(&'a [u8]),
    /// Samples of more than 8 bits.
    U16(&'a [u16]),
}

impl DecodedImage {
    /// Returns width and height in px.
    pub(in crate::avif) fn size(&self) -> (u32, u32) {
        (self.0.p.w.unsigned_abs(), self.0.p.h.unsigned_abs())
    }

    /// Returns the bits per sample: 8, 10 or 12.
    pub(in crate::avif) fn bits(&self) -> u8 {
        self.0.p.bpc as u8
    }

    /// Returns whether samples use the full range of code values, with black at 0.
    pub(in crate::avif) fn full_range(&self) -> bool {
        // SAFETY: the header lives as long as the image.
        let header = self.0.seq_hdr.map(|header| unsafe { header.as_ref() });
        header.is_some_and(|header| header.color_range != 0)
    }

    /// Returns the layout of the image's planes.
    pub(in crate::avif) fn layout(&self) -> Layout {
        Layout::of(self.0.p.layout)
    }

    fn layer(&self) -> Option<u8> {
        // SAFETY: the header lives as long as the image.
        self.0
            .frame_hdr
            .map(|header| unsafe { header.as_ref() }.spatial_id)
    }

    /// Returns a row of a plane, or an empty one if there is no such row.
    pub(in crate::avif) fn row(&self, plane: usize, y: u32) -> Row<'_> {
        let (across, down) = self.layout().spans(plane);
        let (width, height) = self.size();
        let (width, height) = (width.div_ceil(across) as usize, height.div_ceil(down));
        let exists = y < height && plane < self.layout().planes();
        let start = self.0.data.get(plane).copied().flatten().filter(|_| exists);
        let Some(start) = start else {
            return Row::U8(&[]);
        };
        let offset = self.0.stride[usize::from(plane > 0)] * y as isize;
        // SAFETY: rav1d's planes have `height` rows of `width` samples (of two bytes above 8 bits, and aligned for
        // them), `stride` bytes from each other; all of them are written and stay until the image is dropped.
        unsafe {
            let row = start.as_ptr().cast::<u8>().offset(offset);
            match self.bits() {
                8 => Row::U8(slice::from_raw_parts(row, width)),
                _ => Row::U16(slice::from_raw_parts(row.cast(), width)),
            }
        }
    }
}

impl Drop for DecodedImage {
    fn drop(&mut self) {
        // SAFETY: empty, or from `dav1d_get_picture`; unreferenced once.
        unsafe { dav1d::dav1d_picture_unref(Some(NonNull::from(&mut self.0))) };
        // The call leaves an empty list of metadata on the heap, which would leak (re_rav1d 0.1.3).
        if let Some(list) = self.0.itut_t35_ref.take() {
            // SAFETY: rav1d made it from an `Arc`; nothing else refers to it, and it is taken once.
            drop(unsafe { list.into_arc() });
        }
    }
}
