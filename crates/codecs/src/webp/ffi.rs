//! The only module that calls libwebp: safe functions for its advanced decoding and encoding API. They start no
//! threads.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;

use andon_pixels::{Error, Grid, Interrupt, Result, Subsampling};
use libwebp_sys as webp;
use libwebp_sys::{VP8StatusCode, WEBP_CSP_MODE, WebPEncodingError};

use super::NAME;
use crate::guard;

/// The properties in a bitstream's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// Width in px.
    pub(super) width: u32,
    /// Height in px.
    pub(super) height: u32,
    /// Whether pixels may be transparent.
    pub(super) alpha: bool,
    /// Whether the file is an animation. `lossless` then has no meaning, because each frame has a bitstream of its own.
    pub(super) animation: bool,
    /// Whether the bitstream is VP8L (lossless) rather than VP8.
    pub(super) lossless: bool,
}

/// Reads the header of a file, or of a bare bitstream with its chunk header.
pub(super) fn features(bytes: &[u8]) -> Result<Features> {
    let mut features = webp::WebPBitstreamFeatures {
        width: 0,
        height: 0,
        has_alpha: 0,
        has_animation: 0,
        format: 0,
        pad: [0; 5],
    };
    // SAFETY: the pointer and length are those of one slice, and `features` is written only by the call.
    let status = unsafe { webp::WebPGetFeatures(bytes.as_ptr(), bytes.len(), &raw mut features) };
    if status != VP8StatusCode::VP8_STATUS_OK {
        return Err(error_of(status));
    }
    Ok(Features {
        width: features.width as u32,
        height: features.height as u32,
        alpha: features.has_alpha != 0,
        animation: features.has_animation != 0,
        lossless: features.format == 2,
    })
}

/// The planes into which the decoder writes a lossy image, scaled to their size.
pub(super) struct Planes<'a> {
    /// Luma.
    pub(super) y: &'a mut Grid<u8>,
    /// Cb, half as wide and half as high as `y`, both rounded up.
    pub(super) u: &'a mut Grid<u8>,
    /// Cr, of the same size as `u`.
    pub(super) v: &'a mut Grid<u8>,
    /// Opacity, of the same size as `y`.
    pub(super) alpha: Option<&'a mut Grid<u8>>,
}

/// Decodes a lossy image into planes, scaled to their size.
pub(super) fn decode_planes(
    bytes: &[u8],
    features: Features,
    planes: Planes<'_>,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let mut config = decoder_config()?;
    let (width, height) = (planes.y.width(), planes.y.height());
    if (width, height) != (features.width, features.height) {
        config.options.use_scaling = 1;
        config.options.scaled_width = width as c_int;
        config.options.scaled_height = height as c_int;
    }
    let (a, a_stride, a_size) = match planes.alpha {
        Some(grid) => raw(grid),
        None => (ptr::null_mut(), 0, 0),
    };
    let (y, y_stride, y_size) = raw(planes.y);
    let (u, u_stride, u_size) = raw(planes.u);
    let (v, v_stride, v_size) = raw(planes.v);
    config.output.colorspace = if a.is_null() {
        WEBP_CSP_MODE::MODE_YUV
    } else {
        WEBP_CSP_MODE::MODE_YUVA
    };
    config.output.is_external_memory = 1;
    config.output.u.YUVA = webp::WebPYUVABuffer {
        y,
        u,
        v,
        a,
        y_stride,
        u_stride,
        v_stride,
        a_stride,
        y_size,
        u_size,
        v_size,
        a_size,
    };
    // SAFETY: the output points into grids that are borrowed mutably until this function returns, with their true sizes
    // and strides, which libwebp compares with the size of its output.
    unsafe { run_decoder(bytes, &mut config, interrupt) }
}

/// Decodes an image at its own size to interleaved RGB, or RGBA if `alpha`.
pub(super) fn decode_rgb(
    bytes: &[u8],
    features: Features,
    alpha: bool,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let mut config = decoder_config()?;
    let stride = features.width as usize * if alpha { 4 } else { 3 };
    let mut pixels = vec![0; stride * features.height as usize];
    config.output.colorspace = if alpha {
        WEBP_CSP_MODE::MODE_RGBA
    } else {
        WEBP_CSP_MODE::MODE_RGB
    };
    config.output.is_external_memory = 1;
    config.output.u.RGBA = webp::WebPRGBABuffer {
        rgba: pixels.as_mut_ptr(),
        stride: stride as c_int,
        size: pixels.len(),
    };
    // SAFETY: the output is `pixels`, which outlives the call, with its true length and stride, which libwebp compares
    // with the size of its output.
    unsafe { run_decoder(bytes, &mut config, interrupt) }?;
    Ok(pixels)
}

/// Settings of the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Quality, 0–100. For lossless images, the effort.
    pub(super) quality: f32,
    /// libwebp's compression method, from 0 (fast) to 6 (small files).
    pub(super) method: u8,
    /// Rounding before lossless encoding, from 0 (most) to 100 (none).
    pub(super) near_lossless: u8,
}

/// The planes of an image to be encoded lossily.
pub(super) struct Source<'a> {
    /// Luma.
    pub(super) y: &'a Grid<u8>,
    /// Cb, half as wide and half as high as `y`, both rounded up.
    pub(super) u: &'a Grid<u8>,
    /// Cr, of the same size as `u`.
    pub(super) v: &'a Grid<u8>,
    /// Opacity, of the same size as `y`.
    pub(super) alpha: Option<&'a Grid<u8>>,
}

/// Whether the encoder stores all tokens of a lossy image until it knows their probabilities. That compresses a little
/// better but takes up to 32 bytes per pixel, so it is used only for images of a common size.
pub(super) fn keeps_tokens(width: u32, height: u32) -> bool {
    u64::from(width) * u64::from(height) <= MOST_PIXELS_IN_TOKENS
}

const MOST_PIXELS_IN_TOKENS: u64 = 8_000_000;

/// Encodes planes lossily to a file without metadata.
pub(super) fn encode_planes(
    source: &Source<'_>,
    settings: Settings,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let size = |grid: &Grid<u8>| (grid.width(), grid.height());
    let (width, height) = size(source.y);
    let chroma = Subsampling::C420.chroma_size(width, height);
    if size(source.u) != chroma
        || size(source.v) != chroma
        || source
            .alpha
            .is_some_and(|alpha| size(alpha) != (width, height))
    {
        return Err(Error::Internal("planes do not fit each other".to_owned()));
    }
    let mut config = encoder_config(settings)?;
    config.low_memory = c_int::from(!keeps_tokens(width, height));
    let mut image = image(width, height)?;
    // The encoder smooths fully transparent areas in place, so with opacity it gets copies of the planes.
    let mut copies = source
        .alpha
        .map(|_| [source.y.clone(), source.u.clone(), source.v.clone()]);
    (image.y, image.u, image.v) = match &mut copies {
        Some([y, u, v]) => (raw(y).0, raw(u).0, raw(v).0),
        None => {
            config.exact = 1;
            (
                read_only(source.y),
                read_only(source.u),
                read_only(source.v),
            )
        }
    };
    image.y_stride = source.y.width() as c_int;
    image.uv_stride = source.u.width() as c_int;
    if let Some(alpha) = source.alpha {
        image.colorspace = webp::WebPEncCSP::WEBP_YUV420A;
        image.a = read_only(alpha);
        image.a_stride = alpha.width() as c_int;
    }
    // SAFETY: the planes outlive the call and have been checked to have the sizes that `image` implies. With `exact`,
    // libwebp only reads them. Without it, libwebp writes Y, U and V, which are then our own copies, and only reads the
    // alpha plane.
    unsafe { run_encoder(&config, &mut image, interrupt) }.map_err(encoding_failed)
}

/// Encodes 0xAARRGGBB pixels losslessly to a file without metadata. Fully transparent pixels lose their colour.
pub(super) fn encode_lossless(
    width: u32,
    height: u32,
    mut pixels: Vec<u32>,
    settings: Settings,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    if pixels.len() != width as usize * height as usize {
        return Err(Error::Internal("pixels do not fill the image".to_owned()));
    }
    let mut config = encoder_config(settings)?;
    config.lossless = 1;
    let mut image = image(width, height)?;
    image.use_argb = 1;
    image.argb = pixels.as_mut_ptr();
    image.argb_stride = width as c_int;
    // SAFETY: `pixels` is owned, outlives the call, and has been checked to contain width × height pixels.
    unsafe { run_encoder(&config, &mut image, interrupt) }.map_err(encoding_failed)
}

fn decoder_config() -> Result<webp::WebPDecoderConfig> {
    webp::WebPDecoderConfig::new()
        .map_err(|()| Error::Internal("libwebp has another version".to_owned()))
}

fn encoder_config(settings: Settings) -> Result<webp::WebPConfig> {
    let mut config = webp::WebPConfig::new()
        .map_err(|()| Error::Internal("libwebp has another version".to_owned()))?;
    config.quality = settings.quality;
    config.method = c_int::from(settings.method);
    config.near_lossless = c_int::from(settings.near_lossless);
    Ok(config)
}

fn image(width: u32, height: u32) -> Result<webp::WebPPicture> {
    let mut image = webp::WebPPicture::new()
        .map_err(|()| Error::Internal("libwebp has another version".to_owned()))?;
    image.width = width as c_int;
    image.height = height as c_int;
    Ok(image)
}

/// Returns a grid in C terms: pointer to its samples, stride, and size in bytes.
fn raw(grid: &mut Grid<u8>) -> (*mut u8, c_int, usize) {
    let stride = grid.width() as c_int;
    let samples = grid.samples_mut();
    (samples.as_mut_ptr(), stride, samples.len())
}

/// Returns a mutable pointer to the samples of a grid, for a C structure whose pointers are all mutable although the
/// samples are only read.
fn read_only(grid: &Grid<u8>) -> *mut u8 {
    grid.samples().as_ptr().cast_mut()
}

/// Decodes `bytes`, passing them to libwebp piece by piece so that an interrupt is noticed in between.
///
/// # Safety
/// The output in `config` must be writable memory that outlives the call.
unsafe fn run_decoder(
    bytes: &[u8],
    config: &mut webp::WebPDecoderConfig,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    guard::check_interrupt(interrupt)?;
    // SAFETY: no data is passed yet, and `config` outlives the decoder, which stores pointers to it.
    let decoder = unsafe { webp::WebPIDecode(ptr::null(), 0, config) };
    if decoder.is_null() {
        return Err(Error::Internal("libwebp has no memory".to_owned()));
    }
    let decoder = Decoder(decoder);
    let step = (bytes.len() / PIECES).max(SMALLEST_PIECE);
    let mut end = 0;
    loop {
        end = bytes.len().min(end + step);
        // SAFETY: the decoder is alive and `bytes` outlives it; each update passes a longer prefix of the same slice,
        // as `WebPIUpdate` requires.
        let status = unsafe { webp::WebPIUpdate(decoder.0, bytes.as_ptr(), end) };
        match status {
            VP8StatusCode::VP8_STATUS_OK => return Ok(()),
            VP8StatusCode::VP8_STATUS_SUSPENDED if end < bytes.len() => {
                guard::check_interrupt(interrupt)?;
            }
            status => return Err(error_of(status)),
        }
    }
}

const PIECES: usize = 32;
const SMALLEST_PIECE: usize = 16 << 10;

struct Decoder(*mut webp::WebPIDecoder);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: made by `WebPIDecode`, deleted once.
        unsafe { webp::WebPIDelete(self.0) };
    }
}

fn error_of(status: VP8StatusCode) -> Error {
    match status {
        VP8StatusCode::VP8_STATUS_SUSPENDED | VP8StatusCode::VP8_STATUS_NOT_ENOUGH_DATA => {
            Error::broken(NAME, "it is cut off")
        }
        VP8StatusCode::VP8_STATUS_UNSUPPORTED_FEATURE => {
            Error::unsupported(NAME, "a feature of the bitstream")
        }
        // libwebp reports an abort for an alpha plane that cannot be decoded. There is no other source of aborts.
        VP8StatusCode::VP8_STATUS_BITSTREAM_ERROR | VP8StatusCode::VP8_STATUS_USER_ABORT => {
            Error::broken(NAME, "its bitstream is invalid")
        }
        status => Error::Internal(format!("libwebp: {status:?}")),
    }
}

/// The state that the encoder's callbacks use.
struct Job<'a> {
    interrupt: &'a dyn Interrupt,
    out: Vec<u8>,
}

/// Encodes `image` and returns the file.
///
/// # Safety
/// The planes or pixels in `image` must fit its sizes and strides, be usable in the way libwebp uses them for this
/// `config`, and outlive the call.
unsafe fn run_encoder(
    config: &webp::WebPConfig,
    image: &mut webp::WebPPicture,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>, WebPEncodingError> {
    let mut job = Job {
        interrupt,
        out: Vec::new(),
    };
    let handle: *mut c_void = (&raw mut job).cast();
    image.writer = Some(write);
    image.custom_ptr = handle;
    image.progress_hook = Some(progress);
    image.user_data = handle;
    // SAFETY: the caller guarantees the pixels; the callbacks get `job`, which outlives the call.
    let success = unsafe { webp::WebPEncode(config, image) };
    if success == 0 {
        Err(image.error_code)
    } else {
        Ok(job.out)
    }
}

/// Callback that appends output to the file.
///
/// # Safety
/// Must be called only by libwebp during `run_encoder`.
unsafe extern "C" fn write(data: *const u8, size: usize, image: *const webp::WebPPicture) -> c_int {
    if size > 0 {
        // SAFETY: libwebp passes `size` readable bytes and the image that it got from `run_encoder`, whose pointer
        // refers to the live `Job`; no other callback runs at the same time.
        unsafe {
            let job = &mut *(*image).custom_ptr.cast::<Job<'_>>();
            job.out.extend_from_slice(slice::from_raw_parts(data, size));
        }
    }
    1
}

/// Callback that returns 0 to stop the encoder after an interrupt.
///
/// # Safety
/// Must be called only by libwebp during `run_encoder`.
unsafe extern "C" fn progress(_percent: c_int, image: *const webp::WebPPicture) -> c_int {
    // SAFETY: the conditions in `write` apply.
    let job = unsafe { &*(*image).user_data.cast::<Job<'_>>() };
    c_int::from(!job.interrupt.interrupted())
}

fn encoding_failed(error: WebPEncodingError) -> Error {
    match error {
        WebPEncodingError::VP8_ENC_ERROR_USER_ABORT => Error::Interrupted,
        error => Error::Internal(format!("libwebp: {error:?}")),
    }
}
