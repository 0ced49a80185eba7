//! The only module that touches libaom: a safe encoder on top of its API. It starts no threads and cannot be
//! interrupted within a frame.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::{ptr, slice};

use andon_pixels::{Error, Result};
use libaom_sys as aom;

use crate::avif::dav1d::Layout;

/// Encoder settings, the same for all frames.
#[derive(Clone, Copy, Debug)]
pub(in crate::avif) struct Settings {
    pub(in crate::avif) width: u32,
    pub(in crate::avif) height: u32,
    pub(in crate::avif) layout: Layout,
    /// Bits per sample: 8, 10 or 12.
    pub(in crate::avif) bits: u8,
    pub(in crate::avif) full_range: bool,
    /// Colour primaries, transfer characteristics and matrix coefficients, as code points of H.273.
    pub(in crate::avif) points: [u8; 3],
    /// Whether to encode a single image, with the tools and the header for stills. Otherwise frames may refer to each
    /// other.
    pub(in crate::avif) still: bool,
    /// Encoder speed, from 0 (slow) to 9 (fast).
    pub(in crate::avif) speed: u8,
    /// Quantizer from 0 (fine) to 63 (coarse), or `None` for lossless.
    pub(in crate::avif) quantizer: Option<u8>,
    /// Whether this encodes an opacity plane. Viewers never see it directly, so perceptual tuning is off.
    pub(in crate::avif) opacity: bool,
}

/// Code values of one plane, row after row without padding.
#[derive(Clone, Copy, Debug)]
pub(in crate::avif) enum Samples<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
}

impl Samples<'_> {
    fn len(self) -> usize {
        match self {
            Self::U8(samples) => samples.len(),
            Self::U16(samples) => samples.len(),
        }
    }

    /// Returns a pointer to the first sample. The pointer is mutable because libaom's image structure requires that;
    /// the samples are only read.
    fn start(self) -> *mut u8 {
        match self {
            Self::U8(samples) => samples.as_ptr().cast_mut(),
            Self::U16(samples) => samples.as_ptr().cast_mut().cast(),
        }
    }

    fn bytes(self) -> u32 {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
        }
    }
}

/// The planes of a frame, either one or three.
pub(in crate::avif) type Planes<'a> = Vec<Samples<'a>>;

/// An encoder of one stream.
pub(in crate::avif) struct Encoder {
    context: Box<aom::aom_codec_ctx_t>,
    settings: Settings,
    /// Neutral chroma samples for gray images. These have no chroma, but libaom expects chroma planes.
    neutral: (Vec<u8>, Vec<u16>),
}

/// The coded data of one frame.
pub(in crate::avif) struct Packet {
    /// OBUs of the frame, without the temporal delimiter.
    pub(in crate::avif) data: Vec<u8>,
    /// Whether the frame can be decoded on its own.
    pub(in crate::avif) key: bool,
}

impl Encoder {
    /// Opens an encoder.
    pub(in crate::avif) fn open(settings: Settings) -> Result<Self> {
        let config = configuration(&settings)?;
        let flags = if settings.bits > 8 {
            aom::AOM_CODEC_USE_HIGHBITDEPTH
        } else {
            0
        };
        let mut context = MaybeUninit::<aom::aom_codec_ctx_t>::zeroed();
        // SAFETY: `config` is live, and libaom copies it. The call fills `context`, for which zeros are a valid value.
        // The context may be moved, because libaom stores no pointer to it.
        let context = unsafe {
            let code = aom::aom_codec_enc_init_ver(
                context.as_mut_ptr(),
                aom::aom_codec_av1_cx(),
                &raw const config,
                flags.into(),
                aom::AOM_ENCODER_ABI_VERSION as c_int,
            );
            check(code, "opened")?;
            context.assume_init()
        };
        let pixels = if settings.layout == Layout::Gray {
            settings.width.div_ceil(2) as usize * settings.height.div_ceil(2) as usize
        } else {
            0
        };
        let neutral = match settings.bits {
            8 => (vec![128; pixels], Vec::new()),
            bits => (Vec::new(), vec![1 << (bits - 1); pixels]),
        };
        let mut encoder = Self {
            context: Box::new(context),
            settings,
            neutral,
        };
        encoder.set_up()?;
        Ok(encoder)
    }

    fn set_up(&mut self) -> Result<()> {
        let Settings {
            points: [primaries, transfer, matrix],
            full_range,
            speed,
            quantizer,
            opacity,
            ..
        } = self.settings;
        let eye = !opacity && quantizer.is_some();
        for (control, value) in [
            (aom::AOME_SET_CPUUSED, speed),
            (aom::AV1E_SET_ROW_MT, 0),
            (aom::AOME_SET_CQ_LEVEL, quantizer.unwrap_or(0)),
            (aom::AV1E_SET_LOSSLESS, u8::from(quantizer.is_none())),
            (aom::AOME_SET_TUNING, u8::from(eye)),
            (aom::AV1E_SET_COLOR_PRIMARIES, primaries),
            (aom::AV1E_SET_TRANSFER_CHARACTERISTICS, transfer),
            (aom::AV1E_SET_MATRIX_COEFFICIENTS, matrix),
            (aom::AV1E_SET_COLOR_RANGE, u8::from(full_range)),
        ] {
            self.control(control, value)?;
        }
        if eye && self.settings.still {
            // Without this setting, libaom treats smooth photos as drawings with few colours, and its tools for those
            // make files up to four times as large. Adaptive dead zones save a third of a percent at 400 px and cost no
            // time.
            let level = matrices(quantizer.unwrap_or(0));
            for (control, value) in [
                (aom::AV1E_SET_ENABLE_QM, 1),
                (aom::AV1E_SET_QM_MIN, level),
                (aom::AV1E_SET_QM_MAX, level),
                (aom::AV1E_SET_ENABLE_PALETTE, 0),
                (aom::AV1E_SET_ENABLE_INTRABC, 0),
                (aom::AV1E_SET_QUANT_B_ADAPT, 1),
            ] {
                self.control(control, value)?;
            }
            self.option(c"dist-metric", c"qm-psnr")?;
            if speed >= QUICK_FROM {
                self.option(c"sb-size", c"64")?;
                self.option(c"min-partition-size", c"8")?;
            }
        }
        Ok(())
    }

    fn control(&mut self, control: aom::aome_enc_control_id, value: u8) -> Result<()> {
        // SAFETY: the context is open, and each of these controls takes an `int`.
        let code = unsafe {
            aom::aom_codec_control(&raw mut *self.context, control as c_int, c_int::from(value))
        };
        check(code, "set up")
    }

    fn option(&mut self, name: &CStr, value: &CStr) -> Result<()> {
        // SAFETY: the context is open, and both texts are only read.
        let code = unsafe {
            aom::aom_codec_set_option(&raw mut *self.context, name.as_ptr(), value.as_ptr())
        };
        check(code, "set up")
    }

    /// Encodes a frame that is shown from one time to another, both in milliseconds.
    pub(in crate::avif) fn encode(
        &mut self,
        planes: &Planes<'_>,
        (from, to): (u64, u64),
    ) -> Result<Option<Packet>> {
        let mut image = self.image(planes)?;
        // SAFETY: the context is open; `image` is live, and its planes have the size that it states (checked in
        // `image`).
        let code = unsafe {
            let duration = to.saturating_sub(from).max(1);
            aom::aom_codec_encode(
                &raw mut *self.context,
                &raw mut image,
                from as i64,
                duration,
                0,
            )
        };
        check(code, "run")?;
        Ok(self.packet())
    }

    /// Ends the stream and returns the packet that libaom still buffers, if any.
    pub(in crate::avif) fn finish(&mut self) -> Result<Option<Packet>> {
        // SAFETY: the context is open; a null image marks the end of the stream.
        let code = unsafe { aom::aom_codec_encode(&raw mut *self.context, ptr::null(), 0, 1, 0) };
        check(code, "ended")?;
        Ok(self.packet())
    }

    fn image(&self, planes: &Planes<'_>) -> Result<aom::aom_image_t> {
        let Settings {
            width,
            height,
            layout,
            bits,
            ..
        } = self.settings;
        let wide = bits > 8;
        // Gray images are encoded as 4:2:0 without coded chroma.
        let (format, layout) = match layout {
            Layout::Gray | Layout::C420 => (aom::AOM_IMG_FMT_I420, Layout::C420),
            Layout::C422 => (aom::AOM_IMG_FMT_I422, Layout::C422),
            Layout::C444 => (aom::AOM_IMG_FMT_I444, Layout::C444),
        };
        let mut image = MaybeUninit::<aom::aom_image_t>::zeroed();
        // SAFETY: the call fills `image`, for which zeros are a valid value. It neither reads nor writes the buffer,
        // which is replaced below.
        let mut image = unsafe {
            let format = if wide {
                format | aom::AOM_IMG_FMT_HIGHBITDEPTH
            } else {
                format
            };
            let buffer = ptr::without_provenance_mut(1);
            let wrapper = aom::aom_img_wrap(image.as_mut_ptr(), format, width, height, 1, buffer);
            if wrapper.is_null() {
                return Err(unfit());
            }
            image.assume_init()
        };
        let [primaries, transfer, matrix] = self.settings.points;
        image.cp = primaries.into();
        image.tc = transfer.into();
        image.mc = matrix.into();
        image.monochrome = c_int::from(self.settings.layout == Layout::Gray);
        image.range = u32::from(self.settings.full_range);
        image.bit_depth = u32::from(bits);
        for index in 0..3 {
            let neutral = match wide {
                false => Samples::U8(&self.neutral.0),
                true => Samples::U16(&self.neutral.1),
            };
            let plane = planes.get(index).copied().unwrap_or(neutral);
            let (across, down) = layout.spans(index);
            let (width, height) = (width.div_ceil(across), height.div_ceil(down));
            if plane.bytes() != 1 + u32::from(wide)
                || plane.len() != width as usize * height as usize
            {
                return Err(unfit());
            }
            image.planes[index] = plane.start();
            image.stride[index] = (width * plane.bytes()) as c_int;
        }
        Ok(image)
    }

    fn packet(&mut self) -> Option<Packet> {
        let mut result: Option<Packet> = None;
        let mut place: *const c_void = ptr::null();
        loop {
            // SAFETY: the context is open, and `place` has the value that the last call stored. A packet's buffer is
            // valid until the next call of another function.
            let packet = unsafe {
                aom::aom_codec_get_cx_data(&raw mut *self.context, &raw mut place).as_ref()
            };
            let Some(packet) = packet else { return result };
            if packet.kind != aom::AOM_CODEC_CX_FRAME_PKT {
                continue;
            }
            // SAFETY: a packet of this kind contains a frame: `sz` readable bytes, starting at `buf`.
            let (bytes, flags) = unsafe {
                let frame = packet.data.frame;
                (
                    slice::from_raw_parts(frame.buf.cast::<u8>(), frame.sz),
                    frame.flags,
                )
            };
            let result = result.get_or_insert_with(|| Packet {
                data: Vec::new(),
                key: false,
            });
            result.key |= flags & aom::AOM_FRAME_IS_KEY != 0;
            let bytes = bytes.strip_prefix(&TEMPORAL_DELIMITER[..]).unwrap_or(bytes);
            result.data.extend_from_slice(bytes);
        }
    }
}

/// Returns libaom's configuration for these settings.
fn configuration(settings: &Settings) -> Result<aom::aom_codec_enc_cfg_t> {
    let usage = if settings.still {
        aom::AOM_USAGE_ALL_INTRA
    } else {
        aom::AOM_USAGE_REALTIME
    };
    let mut config = MaybeUninit::<aom::aom_codec_enc_cfg_t>::zeroed();
    // SAFETY: the interface is static, and the call fills `config`, for which zeros are a valid value.
    let mut config = unsafe {
        let code =
            aom::aom_codec_enc_config_default(aom::aom_codec_av1_cx(), config.as_mut_ptr(), usage);
        check(code, "configured")?;
        config.assume_init()
    };
    config.g_threads = 1;
    config.g_w = settings.width;
    config.g_h = settings.height;
    config.g_limit = u32::from(settings.still);
    config.g_bit_depth = u32::from(settings.bits);
    config.g_input_bit_depth = u32::from(settings.bits);
    config.g_profile = match (settings.layout, settings.bits) {
        (Layout::C422, _) | (_, 12) => 2,
        (Layout::C444, _) => 1,
        _ => 0,
    };
    config.g_timebase = aom::aom_rational { num: 1, den: 1000 };
    config.g_lag_in_frames = 0;
    config.monochrome = u32::from(settings.layout == Layout::Gray);
    config.full_still_picture_hdr = 0;
    config.rc_end_usage = aom::AOM_Q;
    config.rc_min_quantizer = 0;
    config.rc_max_quantizer = if settings.quantizer.is_none() { 0 } else { 63 };
    if !settings.still {
        config.kf_max_dist = MOST_BETWEEN_KEYS;
    }
    Ok(config)
}

/// Speed from which on blocks are 8 to 32 px wide. Smaller blocks take time and save almost no bytes, and libaom tries
/// no larger ones at such speeds.
const QUICK_FROM: u8 = 6;

/// Levels of libaom's quantisation matrices, from 0 (steep) to 15 (flat). Each pair is the largest quantizer to which a
/// level applies, and the level. A steep matrix reduces fine detail, so images with a small quantizer get flatter ones.
/// Chosen for the fewest bytes at equal SSIMULACRA2 and SSIM over the benchmark's photos. Two more levels below
/// quantizer 17 would save 1.5 % of the bytes of 400 px images with an SSIMULACRA2 score of 85, but cost 1 % more for
/// 1200 px images with a score of 75.
const MATRICES: [(u8, u8); 3] = [(7, 9), (12, 7), (63, 5)];

fn matrices(quantizer: u8) -> u8 {
    let [.., (_, coarse)] = MATRICES;
    MATRICES
        .iter()
        .find(|(most, _)| quantizer <= *most)
        .map_or(coarse, |(_, level)| *level)
}

/// Maximum distance between key frames, in frames. To show any one frame, up to this many have to be decoded.
const MOST_BETWEEN_KEYS: u32 = 120;

/// The temporal delimiter, a complete OBU. It is removed, because containers separate temporal units in their own way.
const TEMPORAL_DELIMITER: [u8; 2] = [0x12, 0];

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: opened once, destroyed once.
        unsafe { aom::aom_codec_destroy(&raw mut *self.context) };
    }
}

fn unfit() -> Error {
    Error::Internal("planes do not fit what the encoder was told".to_owned())
}

fn check(code: aom::aom_codec_err_t, what: &str) -> Result<()> {
    match code {
        aom::AOM_CODEC_OK => Ok(()),
        code => Err(Error::Internal(format!("libaom cannot be {what}: {code}"))),
    }
}
