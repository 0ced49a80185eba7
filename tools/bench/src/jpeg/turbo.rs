//! libjpeg-turbo's decoder to planes: SIMD, the accurate inverse DCT, no colour conversion.

use andon_pixels::Grid;
use anyhow::{Result, ensure};
use turbojpeg_sys as tj;

/// Decodes a JPEG to its three planes at 1, 2, 4 or 8 eighths of their size.
pub(super) fn decode(file: &[u8], eighths: u8) -> Result<Vec<Grid<u8>>> {
    // SAFETY: the call takes a constant and returns a handle or null.
    let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS as i32) };
    ensure!(!handle.is_null(), "libjpeg-turbo gives no decoder");
    let decoder = Decoder(handle);
    // SAFETY: the handle is valid. The file is passed with its true size and only read.
    let read = unsafe { tj::tj3DecompressHeader(decoder.0, file.as_ptr(), file.len() as _) };
    ensure!(read == 0, "libjpeg-turbo refuses the header");
    let factor = tj::tjscalingfactor {
        num: 1,
        denom: i32::from(8 / eighths),
    };
    // SAFETY: the handle is valid.
    let set = unsafe { tj::tj3SetScalingFactor(decoder.0, factor) };
    ensure!(set == 0, "libjpeg-turbo refuses {eighths}/8");
    let get = |what: tj::TJPARAM| {
        // SAFETY: the handle is valid.
        unsafe { tj::tj3Get(decoder.0, what as i32) }
    };
    let sampling = get(tj::TJPARAM_TJPARAM_SUBSAMP);
    let scaled = |length: i32| (length * i32::from(eighths) + 7) / 8;
    let width = scaled(get(tj::TJPARAM_TJPARAM_JPEGWIDTH));
    let height = scaled(get(tj::TJPARAM_TJPARAM_JPEGHEIGHT));
    let mut planes = Vec::new();
    let mut strides = Vec::new();
    for index in 0..3 {
        // SAFETY: both functions only compute numbers.
        let (width, height) = unsafe {
            (
                tj::tj3YUVPlaneWidth(index, width, sampling),
                tj::tj3YUVPlaneHeight(index, height, sampling),
            )
        };
        planes.push(Grid::filled(width as u32, height as u32, 0u8));
        strides.push(width);
    }
    let mut pointers: Vec<*mut u8> = planes
        .iter_mut()
        .map(|plane| plane.samples_mut().as_mut_ptr())
        .collect();
    // SAFETY: the handle is valid. Each plane has its stride and the size that the library just returned.
    let decoded = unsafe {
        tj::tj3DecompressToYUVPlanes8(
            decoder.0,
            file.as_ptr(),
            file.len() as _,
            pointers.as_mut_ptr(),
            strides.as_mut_ptr(),
        )
    };
    ensure!(decoded == 0, "libjpeg-turbo refuses the image");
    Ok(planes)
}

struct Decoder(tj::tjhandle);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the handle is destroyed once, after its last use.
        unsafe { tj::tj3Destroy(self.0) };
    }
}
