//! libjpeg-turbo's encoder, fed with planes: accurate DCT, optimised Huffman tables.

use andon_pixels::{Frame, Plane};
use anyhow::{Context, Result, ensure};
use turbojpeg_sys as tj;

/// Encodes a frame of three 8-bit 4:2:0 planes as JPEG.
pub(super) fn encode(frame: &Frame, quality: u8) -> Result<Vec<u8>> {
    // SAFETY: the call takes a constant and returns a handle or null.
    let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_COMPRESS as i32) };
    ensure!(!handle.is_null(), "libjpeg-turbo gives no encoder");
    let encoder = Encoder(handle);
    for (what, value) in [
        (tj::TJPARAM_TJPARAM_QUALITY, i32::from(quality)),
        (tj::TJPARAM_TJPARAM_SUBSAMP, tj::TJSAMP_TJSAMP_420),
        (tj::TJPARAM_TJPARAM_OPTIMIZE, 1),
    ] {
        // SAFETY: the handle is valid.
        let set = unsafe { tj::tj3Set(encoder.0, what as i32, value) };
        ensure!(set == 0, "libjpeg-turbo refuses a parameter");
    }
    let grids: Option<Vec<_>> = frame.planes.iter().map(Plane::as_u8).collect();
    let grids = grids.filter(|grids| grids.len() == 3);
    let grids = grids.context("three planes of 8 bits")?;
    let planes: Vec<*const u8> = grids.iter().map(|grid| grid.samples().as_ptr()).collect();
    let strides: Vec<i32> = grids.iter().map(|grid| grid.width() as i32).collect();
    let (mut bytes, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the handle is valid. The planes have the sizes of 4:2:0 and their strides, and are only read. The library
    // allocates the file itself.
    let result = unsafe {
        tj::tj3CompressFromYUVPlanes8(
            encoder.0,
            planes.as_ptr(),
            frame.width as i32,
            strides.as_ptr(),
            frame.height as i32,
            &raw mut bytes,
            &raw mut size,
        )
    };
    ensure!(result == 0, "libjpeg-turbo refuses the image");
    // SAFETY: the library has just written `size` bytes at this address, and they are freed once.
    let file = unsafe {
        let file = std::slice::from_raw_parts(bytes, size as usize).to_vec();
        tj::tj3Free(bytes.cast());
        file
    };
    Ok(file)
}

struct Encoder(tj::tjhandle);

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the handle is destroyed once, after its last use.
        unsafe { tj::tj3Destroy(self.0) };
    }
}
