//! The only module that calls libjxl: safe functions for its encoder, and for the part of its decoder that reconstructs
//! the JPEG from which a file was made. libjxl gets no parallel runner, so it starts no threads.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};

use andon_pixels::{Bound, Error, Interrupt, Primaries, Result, Space, Transfer};
use jxl_sys::{
    JxlBasicInfo, JxlBlendMode, JxlColorEncoding, JxlColorSpace, JxlDataType, JxlDecoder,
    JxlDecoderStatus, JxlEncoder, JxlEncoderError, JxlEncoderFrameSettingId,
    JxlEncoderFrameSettings, JxlEncoderStatus, JxlEndianness, JxlMemoryManager, JxlPixelFormat,
    JxlPrimaries, JxlRenderingIntent, JxlTransferFunction, JxlWhitePoint,
};

use super::NAME;
use crate::animation::Place;

/// The data before the first frame of a file, and the settings for encoding frames.
#[derive(Clone, Debug)]
pub(super) struct Head<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Number of colour channels: 1 or 3.
    pub(super) colours: u32,
    pub(super) alpha: bool,
    /// Bits per sample.
    pub(super) bits: u32,
    pub(super) space: Space,
    /// ICC profile of the colours. If there is one, it is written instead of `space`.
    pub(super) icc: Option<&'a [u8]>,
    /// Boxes besides the codestream, by name, such as an EXIF block or a gain map.
    pub(super) boxes: Vec<(&'static CStr, Vec<u8>)>,
    /// Number of times that an animation is played, 0 meaning forever; `None` for a still image.
    pub(super) plays: Option<u32>,
    /// Butteraugli distance; 0 means lossless.
    pub(super) distance: f32,
    /// libjxl's effort, 1 (fast) to 10 (small).
    pub(super) effort: u8,
    /// Whether colours are stored without conversion to libjxl's perceptual colour space. Needed for profiles from
    /// which libjxl cannot convert.
    pub(super) raw: bool,
}

/// Rows of interleaved samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Samples<'a> {
    /// Samples of 8 bits.
    U8(&'a [u8]),
    /// Samples of more than 8 bits, scaled to 16 bits.
    U16(&'a [u16]),
}

/// Ticks per second, the unit of the durations of frames.
pub(super) const TICKS: u32 = 1000;

/// An encoder, and the file that it has written so far.
pub(super) struct Encoder<'a> {
    raw: NonNull<JxlEncoder>,
    settings: NonNull<JxlEncoderFrameSettings>,
    memory: Box<Memory<'a>>,
    head: (u32, bool),
    out: Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder. libjxl gets at most `most` bytes of memory, and none after an interrupt.
    pub(super) fn new(most: u64, effort: u8, interrupt: &'a dyn Interrupt) -> Result<Self> {
        let memory = Memory::new(most, interrupt);
        let manager = memory.manager();
        // SAFETY: the manager is copied; its functions have the signatures of the header. Its pointer refers to a box
        // that the encoder owns, which is freed after `drop` has destroyed libjxl's encoder.
        let raw = NonNull::new(unsafe { jxl_sys::JxlEncoderCreate(&raw const manager) });
        let raw = raw.ok_or_else(|| memory.exhausted())?;
        // SAFETY: the encoder was just created. It owns the settings, which are valid until it is destroyed.
        let settings = unsafe { jxl_sys::JxlEncoderFrameSettingsCreate(raw.as_ptr(), ptr::null()) };
        let Some(settings) = NonNull::new(settings) else {
            // SAFETY: the encoder was created above and is not used after this.
            unsafe { jxl_sys::JxlEncoderDestroy(raw.as_ptr()) };
            return Err(memory.exhausted());
        };
        let new = Self {
            raw,
            settings,
            memory,
            head: (0, false),
            out: Vec::new(),
        };
        new.option(
            JxlEncoderFrameSettingId::JXL_ENC_FRAME_SETTING_EFFORT,
            i64::from(effort),
        )?;
        Ok(new)
    }

    /// Writes the settings and boxes that precede the first frame.
    pub(super) fn begin(&mut self, head: &Head<'_>) -> Result<()> {
        let lossless = head.distance == 0.0;
        self.head = (head.colours + u32::from(head.alpha), head.plays.is_some());
        let info = basic_info(head, lossless);
        let encoder = self.raw.as_ptr();
        // SAFETY: encoder and structure are alive; the call copies it.
        self.done(unsafe { jxl_sys::JxlEncoderSetBasicInfo(encoder, &raw const info) })?;
        let encoding = encoding(head.space, head.colours);
        // SAFETY: encoder, slice and structure are alive; both calls copy their arguments.
        let status = unsafe {
            match head.icc {
                Some(icc) => jxl_sys::JxlEncoderSetICCProfile(encoder, icc.as_ptr(), icc.len()),
                None => jxl_sys::JxlEncoderSetColorEncoding(encoder, &raw const encoding),
            }
        };
        self.done(status)?;
        let settings = self.settings.as_ptr();
        // SAFETY: the settings are alive; the calls take numbers.
        let status = unsafe {
            match lossless {
                true => jxl_sys::JxlEncoderSetFrameLossless(settings, TRUE),
                false => jxl_sys::JxlEncoderSetFrameDistance(settings, head.distance),
            }
        };
        self.done(status)?;
        if head.alpha {
            // SAFETY: as above; there is one extra channel.
            self.done(unsafe { jxl_sys::JxlEncoderSetExtraChannelDistance(settings, 0, 0.0) })?;
        }
        self.boxes(&head.boxes)
    }

    /// Adds all boxes besides the codestream.
    fn boxes(&self, boxes: &[(&CStr, Vec<u8>)]) -> Result<()> {
        if boxes.is_empty() {
            return Ok(());
        }
        let encoder = self.raw.as_ptr();
        // SAFETY: the encoder is alive.
        self.done(unsafe { jxl_sys::JxlEncoderUseBoxes(encoder) })?;
        for (name, data) in boxes {
            let (name, start, length) = (name.as_ptr(), data.as_ptr(), data.len());
            // SAFETY: encoder and slice are alive; the name has four letters, and the call copies the data.
            let status =
                unsafe { jxl_sys::JxlEncoderAddBox(encoder, name, start.cast(), length, FALSE) };
            self.done(status)?;
        }
        // SAFETY: the encoder is alive.
        unsafe { jxl_sys::JxlEncoderCloseBoxes(encoder) };
        Ok(())
    }

    /// Adds a frame. In an animation, it covers `place` of the canvas for `duration` ticks.
    pub(super) fn frame(
        &mut self,
        samples: Samples<'_>,
        place: Place,
        duration: u32,
    ) -> Result<()> {
        let (channels, moves) = self.head;
        if moves {
            self.place(place, duration)?;
        }
        let (pointer, bytes, data_type) = match samples {
            Samples::U8(samples) => (
                samples.as_ptr().cast::<c_void>(),
                samples.len(),
                JxlDataType::JXL_TYPE_UINT8,
            ),
            Samples::U16(samples) => (
                samples.as_ptr().cast::<c_void>(),
                size_of_val(samples),
                JxlDataType::JXL_TYPE_UINT16,
            ),
        };
        let format = JxlPixelFormat {
            num_channels: channels,
            data_type,
            endianness: JxlEndianness::JXL_NATIVE_ENDIAN,
            align: 0,
        };
        // SAFETY: pointer and length are those of one slice; the call compares the length with the frame's size and the
        // format, and copies the samples.
        let status = unsafe {
            jxl_sys::JxlEncoderAddImageFrame(
                self.settings.as_ptr(),
                &raw const format,
                pointer,
                bytes,
            )
        };
        self.done(status)
    }

    fn place(&self, place: Place, duration: u32) -> Result<()> {
        let mut header = jxl_sys::JxlFrameHeader::default();
        // SAFETY: the call writes only the structure that is passed.
        unsafe { jxl_sys::JxlEncoderInitFrameHeader(&raw mut header) };
        header.duration = duration;
        let layer = &mut header.layer_info;
        layer.have_crop = TRUE;
        layer.crop_x0 = place.x as i32;
        layer.crop_y0 = place.y as i32;
        layer.xsize = place.width;
        layer.ysize = place.height;
        layer.blend_info.blendmode = JxlBlendMode::JXL_BLEND_REPLACE;
        layer.blend_info.source = CANVAS;
        layer.save_as_reference = CANVAS;
        let blend = layer.blend_info;
        let (channels, _) = self.head;
        let settings = self.settings.as_ptr();
        // SAFETY: settings and structures are alive; the calls copy them.
        unsafe {
            self.done(jxl_sys::JxlEncoderSetFrameHeader(
                settings,
                &raw const header,
            ))?;
            if channels % 2 == 0 {
                self.done(jxl_sys::JxlEncoderSetExtraChannelBlendInfo(
                    settings,
                    0,
                    &raw const blend,
                ))?;
            }
        }
        Ok(())
    }

    /// Adds the coefficients of a JPEG, and the data to reconstruct the identical file from them. Returns `false` if
    /// libjxl does not support the file.
    pub(super) fn jpeg(&mut self, jpeg: &[u8]) -> Result<bool> {
        let encoder = self.raw.as_ptr();
        // SAFETY: encoder, settings and slice are alive; the calls copy the data that they need later.
        let status = unsafe {
            self.done(jxl_sys::JxlEncoderStoreJPEGMetadata(encoder, TRUE))?;
            jxl_sys::JxlEncoderAddJPEGFrame(self.settings.as_ptr(), jpeg.as_ptr(), jpeg.len())
        };
        if status != JxlEncoderStatus::JXL_ENC_SUCCESS && self.memory.failed.get().is_none() {
            return Ok(false);
        }
        self.done(status)?;
        Ok(true)
    }

    /// Marks the last frame that was added as the last of the file.
    pub(super) fn close(&mut self) {
        // SAFETY: the encoder is alive.
        unsafe { jxl_sys::JxlEncoderCloseInput(self.raw.as_ptr()) };
    }

    /// Encodes the frames that were added. The last frame of the file is marked as such only if `close` was called
    /// before.
    pub(super) fn process(&mut self) -> Result<()> {
        loop {
            let length = self.out.len();
            self.out.resize(length + OUTPUT_BYTES, 0);
            let mut next = self.out[length..].as_mut_ptr();
            let mut left = OUTPUT_BYTES;
            // SAFETY: `next` points to `left` bytes of a vector that nothing else accesses during the call.
            let status = unsafe {
                jxl_sys::JxlEncoderProcessOutput(self.raw.as_ptr(), &raw mut next, &raw mut left)
            };
            self.out.truncate(length + OUTPUT_BYTES - left);
            if status != JxlEncoderStatus::JXL_ENC_NEED_MORE_OUTPUT {
                return self.done(status);
            }
        }
    }

    /// Returns the number of bytes that have been written since the last call of `take`.
    pub(super) fn written(&self) -> usize {
        self.out.len()
    }

    /// Returns the maximum number of bytes that libjxl has allocated at one time.
    #[cfg(test)]
    pub(super) fn peak(&self) -> u64 {
        self.memory.peak.get() as u64
    }

    /// Removes and returns the bytes that have been written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn option(&self, name: JxlEncoderFrameSettingId, value: i64) -> Result<()> {
        // SAFETY: the settings are alive; the call takes numbers.
        self.done(unsafe {
            jxl_sys::JxlEncoderFrameSettingsSetOption(self.settings.as_ptr(), name, value)
        })
    }

    fn done(&self, status: JxlEncoderStatus) -> Result<()> {
        if status == JxlEncoderStatus::JXL_ENC_SUCCESS {
            return Ok(());
        }
        if self.memory.failed.get().is_some() {
            return Err(self.memory.exhausted());
        }
        // SAFETY: the encoder is alive.
        let error = unsafe { jxl_sys::JxlEncoderGetError(self.raw.as_ptr()) };
        Err(match error {
            JxlEncoderError::JXL_ENC_ERR_BAD_INPUT | JxlEncoderError::JXL_ENC_ERR_JBRD => {
                Error::broken(NAME, "libjxl does not take it")
            }
            error => Error::Internal(format!("libjxl: {error:?}")),
        })
    }
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        // SAFETY: the encoder was created by `new` and is not used after this; its memory manager is dropped later.
        unsafe { jxl_sys::JxlEncoderDestroy(self.raw.as_ptr()) };
    }
}

/// Number of the reference slot that stores the canvas of the previous frame.
const CANVAS: u32 = 1;
const OUTPUT_BYTES: usize = 64 << 10;

/// Booleans as libjxl's C headers define them.
const TRUE: c_int = 1;
const FALSE: c_int = 0;

/// Returns the codestream header's fields for size, samples and frames.
fn basic_info(head: &Head<'_>, lossless: bool) -> JxlBasicInfo {
    let mut info = JxlBasicInfo::default();
    // SAFETY: the call writes only the structure that is passed.
    unsafe { jxl_sys::JxlEncoderInitBasicInfo(&raw mut info) };
    info.xsize = head.width;
    info.ysize = head.height;
    info.bits_per_sample = head.bits;
    info.num_color_channels = head.colours;
    info.uses_original_profile = c_int::from(lossless || head.raw);
    if head.alpha {
        info.num_extra_channels = 1;
        info.alpha_bits = head.bits;
    }
    if let Some(plays) = head.plays {
        info.have_animation = TRUE;
        info.animation.tps_numerator = TICKS;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = plays;
    }
    info
}

fn encoding(space: Space, colours: u32) -> JxlColorEncoding {
    let (primaries, white_point) = match space.primaries {
        Primaries::DisplayP3 => (
            JxlPrimaries::JXL_PRIMARIES_P3,
            JxlWhitePoint::JXL_WHITE_POINT_D65,
        ),
        Primaries::DciP3 => (
            JxlPrimaries::JXL_PRIMARIES_P3,
            JxlWhitePoint::JXL_WHITE_POINT_DCI,
        ),
        Primaries::Bt2020 => (
            JxlPrimaries::JXL_PRIMARIES_2100,
            JxlWhitePoint::JXL_WHITE_POINT_D65,
        ),
        _ => (
            JxlPrimaries::JXL_PRIMARIES_SRGB,
            JxlWhitePoint::JXL_WHITE_POINT_D65,
        ),
    };
    let (transfer_function, gamma) = match space.transfer {
        Transfer::Bt709 | Transfer::Bt601 | Transfer::Bt2020Ten | Transfer::Bt2020Twelve => {
            (JxlTransferFunction::JXL_TRANSFER_FUNCTION_709, 0.0)
        }
        Transfer::Linear => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_LINEAR, 0.0),
        Transfer::Pq => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_PQ, 0.0),
        Transfer::Hlg => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_HLG, 0.0),
        Transfer::Smpte428 => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_DCI, 0.0),
        Transfer::Gamma22 => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_GAMMA, 1.0 / 2.2),
        Transfer::Gamma28 => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_GAMMA, 1.0 / 2.8),
        _ => (JxlTransferFunction::JXL_TRANSFER_FUNCTION_SRGB, 0.0),
    };
    JxlColorEncoding {
        color_space: match colours {
            1 => JxlColorSpace::JXL_COLOR_SPACE_GRAY,
            _ => JxlColorSpace::JXL_COLOR_SPACE_RGB,
        },
        white_point,
        white_point_xy: [0.0; 2],
        primaries,
        primaries_red_xy: [0.0; 2],
        primaries_green_xy: [0.0; 2],
        primaries_blue_xy: [0.0; 2],
        transfer_function,
        gamma,
        rendering_intent: JxlRenderingIntent::JXL_RENDERING_INTENT_RELATIVE,
    }
}

/// Reconstructs the JPEG from which a file was made. Returns `None` if it was not made from a JPEG, or from one that
/// cannot be reconstructed.
pub(super) fn jpeg(file: &[u8], most: u64, interrupt: &dyn Interrupt) -> Result<Option<Vec<u8>>> {
    let memory = Memory::new(most, interrupt);
    let manager = memory.manager();
    // SAFETY: as for the encoder; `Reader` is dropped before `memory`.
    let raw = NonNull::new(unsafe { jxl_sys::JxlDecoderCreate(&raw const manager) });
    let reader = Reader(raw.ok_or_else(|| memory.exhausted())?);
    let decoder = reader.0.as_ptr();
    let events = JxlDecoderStatus::JXL_DEC_JPEG_RECONSTRUCTION as c_int
        | JxlDecoderStatus::JXL_DEC_FULL_IMAGE as c_int;
    // SAFETY: the decoder is alive, and the slice outlives it.
    unsafe {
        jxl_sys::JxlDecoderSubscribeEvents(decoder, events);
        jxl_sys::JxlDecoderSetInput(decoder, file.as_ptr(), file.len());
        jxl_sys::JxlDecoderCloseInput(decoder);
    }
    let mut out = Vec::new();
    let mut begun = false;
    loop {
        // SAFETY: the decoder is alive. Its output is the tail of `out`, which is not accessed before the buffer is
        // released.
        let status = unsafe { jxl_sys::JxlDecoderProcessInput(decoder) };
        let more = match status {
            JxlDecoderStatus::JXL_DEC_JPEG_RECONSTRUCTION => {
                begun = true;
                file.len() + file.len() / 2 + OUTPUT_BYTES
            }
            JxlDecoderStatus::JXL_DEC_JPEG_NEED_MORE_OUTPUT => out.len(),
            JxlDecoderStatus::JXL_DEC_FULL_IMAGE if begun => {
                // SAFETY: releases the buffer that was set; the remaining bytes of it were not written.
                let unused = unsafe { jxl_sys::JxlDecoderReleaseJPEGBuffer(decoder) };
                out.truncate(out.len() - unused);
                return Ok(Some(out));
            }
            _ if memory.failed.get().is_some() => return Err(memory.exhausted()),
            _ => return Ok(None),
        };
        // SAFETY: the decoder is alive. Before the first buffer this has no effect and returns 0.
        let unused = unsafe { jxl_sys::JxlDecoderReleaseJPEGBuffer(decoder) };
        let written = out.len() - unused;
        if (written + more) as u64 > most {
            return Err(memory.exhausted());
        }
        out.resize(written + more, 0);
        let room = &mut out[written..];
        // SAFETY: pointer and length are those of one slice that lives until the buffer is released.
        unsafe { jxl_sys::JxlDecoderSetJPEGBuffer(decoder, room.as_mut_ptr(), room.len()) };
    }
}

struct Reader(NonNull<JxlDecoder>);

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the decoder was created by `jpeg` and is not used after this.
        unsafe { jxl_sys::JxlDecoderDestroy(self.0.as_ptr()) };
    }
}

/// Counts the memory that libjxl allocates. libjxl gets no more than `most` bytes, and none after an interrupt.
struct Memory<'a> {
    used: Cell<usize>,
    peak: Cell<usize>,
    most: usize,
    failed: Cell<Option<Failure>>,
    interrupt: &'a dyn Interrupt,
}

#[derive(Clone, Copy)]
enum Failure {
    Interrupted,
    TooMuch(usize),
}

impl<'a> Memory<'a> {
    fn new(most: u64, interrupt: &'a dyn Interrupt) -> Box<Self> {
        Box::new(Self {
            used: Cell::new(0),
            peak: Cell::new(0),
            most: usize::try_from(most).unwrap_or(usize::MAX),
            failed: Cell::new(None),
            interrupt,
        })
    }

    fn manager(&self) -> JxlMemoryManager {
        JxlMemoryManager {
            opaque: ptr::from_ref(self).cast_mut().cast(),
            alloc: Some(take),
            free: Some(give_back),
        }
    }

    fn exhausted(&self) -> Error {
        match self.failed.get() {
            Some(Failure::Interrupted) => Error::Interrupted,
            Some(Failure::TooMuch(value)) => Error::Limit {
                bound: Bound::of_format(NAME, "memory", "bytes"),
                value: value as u64,
                limit: self.most as u64,
            },
            None => Error::Internal("libjxl got no memory".to_owned()),
        }
    }
}

/// Bytes before each block of memory, in which its size is stored.
const PREFIX: usize = 16;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(PREFIX)?, PREFIX).ok()
}

/// Allocates `size` bytes for libjxl. Returns null beyond the limit or after an interrupt.
///
/// # Safety
/// `opaque` must point to a live `Memory` that no other thread uses.
unsafe extern "C" fn take(opaque: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: `manager` stored this pointer.
    let memory = unsafe { &*opaque.cast::<Memory<'_>>() };
    let used = memory.used.get().saturating_add(size);
    let failure = if used > memory.most {
        Some(Failure::TooMuch(used))
    } else if memory.interrupt.interrupted() {
        Some(Failure::Interrupted)
    } else {
        None
    };
    let (None, Some(layout)) = (failure, layout(size)) else {
        memory.failed.set(failure.or(Some(Failure::TooMuch(used))));
        return ptr::null_mut();
    };
    // SAFETY: the layout is not empty.
    let block = unsafe { alloc(layout) };
    if block.is_null() {
        memory.failed.set(Some(Failure::TooMuch(used)));
        return ptr::null_mut();
    }
    memory.used.set(used);
    memory.peak.set(memory.peak.get().max(used));
    // SAFETY: the block is at least `PREFIX` bytes long and aligned for a `usize`; the address after the prefix is
    // within it.
    unsafe {
        block.cast::<usize>().write(size);
        block.add(PREFIX).cast()
    }
}

/// Frees a block that `take` returned.
///
/// # Safety
/// The conditions of `take` apply. `address` must be null, or come from `take` and be freed only once.
unsafe extern "C" fn give_back(opaque: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    // SAFETY: `take` stored the size before the address that it returned, at the beginning of the block.
    let (block, size) = unsafe {
        let block = address.cast::<u8>().sub(PREFIX);
        (block, block.cast::<usize>().read())
    };
    // SAFETY: `manager` stored this pointer.
    let memory = unsafe { &*opaque.cast::<Memory<'_>>() };
    memory.used.set(memory.used.get().saturating_sub(size));
    if let Some(layout) = layout(size) {
        // SAFETY: the block was allocated with this layout.
        unsafe { dealloc(block, layout) };
    }
}
