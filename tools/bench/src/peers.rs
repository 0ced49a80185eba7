//! Safe wrapper of the C shim (`peers.c`) around libvips, ImageMagick and GD.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::slice;

use anyhow::{Result, bail};

use crate::engines::Format;
use crate::quality::Rgb;

/// Initialises libvips, ImageMagick and GD. Must be called once, before any other function of this module.
pub(crate) fn init() -> Result<()> {
    // SAFETY: it is called once, from the only thread.
    check(unsafe { peer_init() })
}

/// Returns the names and versions of libvips, ImageMagick and GD.
pub(crate) fn versions() -> Vec<String> {
    (0..3)
        .map(|index| {
            // SAFETY: the text is static and ends with a zero.
            let text = unsafe { CStr::from_ptr(peer_version(index)) };
            text.to_string_lossy().into_owned()
        })
        .collect()
}

/// Renders a thumbnail with libvips. The longest side becomes `side` px, but images are never enlarged.
pub(crate) fn vips(photo: &[u8], side: u32, format: Format) -> Result<Vec<u8>> {
    let mut out = PeerBytes::default();
    // SAFETY: the slice outlives the call, and the shim fills `out`.
    check(unsafe {
        peer_vips(
            photo.as_ptr(),
            photo.len(),
            side as c_int,
            webp(format),
            &raw mut out,
        )
    })?;
    Ok(out.take())
}

/// Converts all frames of a GIF to WebP with libvips. If `side` is given, images whose longest side is longer are
/// shrunk to it, in px.
pub(crate) fn vips_animation(gif: &[u8], side: Option<u32>) -> Result<Vec<u8>> {
    let mut out = PeerBytes::default();
    let side = side.unwrap_or(0) as c_int;
    // SAFETY: the slice outlives the call, and the shim fills `out`.
    check(unsafe { peer_vips_animation(gif.as_ptr(), gif.len(), side, &raw mut out) })?;
    Ok(out.take())
}

/// Encodes an image with libvips in the format of a suffix such as `.jpg[optimize-coding]`.
pub(crate) fn vips_encode(image: &Rgb, suffix: &CStr, quality: u8) -> Result<Vec<u8>> {
    let mut out = PeerBytes::default();
    // SAFETY: the number of samples matches the size, the samples outlive the call, and the shim fills `out`.
    check(unsafe {
        peer_vips_encode(
            image.samples.as_ptr(),
            image.width as c_int,
            image.height as c_int,
            suffix.as_ptr(),
            quality.into(),
            &raw mut out,
        )
    })?;
    Ok(out.take())
}

/// Resizes a photo to `size` with ImageMagick, with `jpeg:size` as a hint to the decoder. With 0 `threads`
/// ImageMagick uses its default number.
pub(crate) fn magick(
    photo: &[u8],
    size: (u32, u32),
    threads: u32,
    format: Format,
) -> Result<Vec<u8>> {
    let mut out = PeerBytes::default();
    // SAFETY: the slice outlives the call, and the shim fills `out`.
    check(unsafe {
        peer_magick(
            photo.as_ptr(),
            photo.len(),
            size.0 as c_int,
            size.1 as c_int,
            threads as c_int,
            webp(format),
            &raw mut out,
        )
    })?;
    Ok(out.take())
}

/// Decodes a photo in full and resamples it to `size` with GD.
pub(crate) fn gd(photo: &[u8], size: (u32, u32), format: Format) -> Result<Vec<u8>> {
    let mut out = PeerBytes::default();
    // SAFETY: the slice outlives the call, and the shim fills `out`.
    check(unsafe {
        peer_gd(
            photo.as_ptr(),
            photo.len(),
            size.0 as c_int,
            size.1 as c_int,
            webp(format),
            &raw mut out,
        )
    })?;
    Ok(out.take())
}

/// Decodes any image at full size with libvips, to judge the output of all contestants and to create the reference.
pub(crate) fn decode(image: &[u8]) -> Result<Rgb> {
    decoded(image, false)
}

/// Decodes all frames of an animation with libvips, one below the other.
pub(crate) fn decode_frames(image: &[u8]) -> Result<Rgb> {
    decoded(image, true)
}

fn decoded(image: &[u8], moving: bool) -> Result<Rgb> {
    let (mut width, mut height, mut out) = (0, 0, PeerBytes::default());
    // SAFETY: the slice outlives the call, and the shim fills `out` and both sides.
    check(unsafe {
        peer_decode(
            image.as_ptr(),
            image.len(),
            moving.into(),
            &raw mut width,
            &raw mut height,
            &raw mut out,
        )
    })?;
    Ok(Rgb {
        width: width as usize,
        height: height as usize,
        samples: out.take(),
    })
}

fn webp(format: Format) -> c_int {
    c_int::from(format == Format::Webp)
}

fn check(code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the text is static and ends with a zero.
    let text = unsafe { CStr::from_ptr(peer_error()) };
    bail!("{}", text.to_string_lossy().trim())
}

#[repr(C)]
struct PeerBytes {
    data: *mut u8,
    size: usize,
}

impl Default for PeerBytes {
    fn default() -> Self {
        Self {
            data: ptr::null_mut(),
            size: 0,
        }
    }
}

impl PeerBytes {
    fn take(self) -> Vec<u8> {
        // SAFETY: the shim succeeded, so `data` points to `size` bytes from malloc, which only this function owns.
        unsafe {
            let bytes = slice::from_raw_parts(self.data, self.size).to_vec();
            free(self.data.cast());
            bytes
        }
    }
}

unsafe extern "C" {
    fn peer_init() -> c_int;
    fn peer_error() -> *const c_char;
    fn peer_version(index: c_int) -> *const c_char;
    fn peer_vips(
        data: *const u8,
        size: usize,
        side: c_int,
        webp: c_int,
        out: *mut PeerBytes,
    ) -> c_int;
    fn peer_vips_animation(data: *const u8, size: usize, side: c_int, out: *mut PeerBytes)
    -> c_int;
    fn peer_vips_encode(
        rgb: *const u8,
        width: c_int,
        height: c_int,
        suffix: *const c_char,
        quality: c_int,
        out: *mut PeerBytes,
    ) -> c_int;
    fn peer_magick(
        data: *const u8,
        size: usize,
        width: c_int,
        height: c_int,
        threads: c_int,
        webp: c_int,
        out: *mut PeerBytes,
    ) -> c_int;
    fn peer_gd(
        data: *const u8,
        size: usize,
        width: c_int,
        height: c_int,
        webp: c_int,
        out: *mut PeerBytes,
    ) -> c_int;
    fn peer_decode(
        data: *const u8,
        size: usize,
        moving: c_int,
        width: *mut c_int,
        height: *mut c_int,
        out: *mut PeerBytes,
    ) -> c_int;
    fn free(pointer: *mut std::ffi::c_void);
}
