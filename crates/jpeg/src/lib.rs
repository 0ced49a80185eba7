//! A JPEG decoder and encoder: planes in, planes out.
//!
//! An image stays in the colour model and the subsampling in which the file stores it: one gray plane, or luma and two
//! chroma planes. Nothing is converted to RGB.
//!
//! ```
//! use andon_jpeg::{Image, Plane, Subsampling};
//! # fn main() -> Result<(), andon_jpeg::Error> {
//! let gradient: Vec<u8> = (0..32 * 24).map(|at| (8 * (at % 32)) as u8).collect();
//! let luma = Plane { width: 32, height: 24, samples: gradient };
//! let image = Image { planes: vec![luma], sub: Subsampling::NONE };
//!
//! let file = andon_jpeg::encode(image, 80)?;
//! assert!(file.starts_with(b"\xff\xd8"));
//!
//! let image = andon_jpeg::decode(&file)?;
//! assert_eq!((image.planes[0].width, image.planes[0].height), (32, 24));
//! assert!(image.planes[0].samples[31].abs_diff(8 * 31) < 8);
//! # Ok(())
//! # }
//! ```
//!
//! # Small images of large files
//!
//! Images are also decoded at 1/2, 1/4 and 1/8, which takes a fraction of the time of a decode in full: codes of
//! coefficients that the size does not need are skipped, several at a time, and scans that contain only such
//! coefficients are not read. A [request](decode::Request) lists the sizes, limits memory and scans, and may provide
//! idle cores.
//!
//! ```
//! use andon_jpeg::decode::{Request, components};
//! use andon_jpeg::{Image, Plane, Subsampling};
//! # fn main() -> Result<(), andon_jpeg::Error> {
//! # let plane = |width: u32, height: u32, sample: u8| Plane {
//! #     width, height, samples: vec![sample; width as usize * height as usize],
//! # };
//! let planes = vec![plane(640, 480, 90), plane(320, 240, 120), plane(320, 240, 200)];
//! let file = andon_jpeg::encode(Image { planes, sub: Subsampling::C420 }, 80)?;
//!
//! // Luma at 1/4, which are 2 samples for the 8 of a block's side, and chroma at 1/2: all planes have the same size.
//! let request = Request { memory: 16 << 20, ..Request::of(&[[2, 4]]) };
//! let sizes: Vec<_> = (components(&file, &request)?.iter())
//!     .map(|sizes| (sizes[0].plane.width, sizes[0].plane.height))
//!     .collect();
//! assert_eq!(sizes, [(160, 120); 3]);
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! The [header](Header) of any JPEG is read, but the decoder refuses as `Unsupported` what hardly any file uses: 12
//! bits, arithmetic coding, four components, RGB, height by DNL, missing tables, and chroma planes of different sizes.
//! The encoder writes sequential files only. The crate reports where metadata are, but does not interpret them.
//!
//! At 1/8 and in full the samples are those of libjpeg-turbo, bit for bit. At 1/2 and 1/4 they are sharper.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | know which way a scan is decoded | `decode/route.rs`, a table |
//! | know what makes the decoder fast, and what did not | `NOTES.md` |
//! | change what is left out of files, and which quality means which steps | `encode/` (`steps.rs`, `activity.rs`), `tables.rs` |
//! | decode a part of a huge file without the rest | [`decode::index`], [`decode::decode_part`] |
//! | make the loops faster | the crate `andon-kernels` |

#![forbid(unsafe_code)]

mod codes;
pub mod decode;
pub mod encode;
mod error;
mod extent;
pub mod header;
mod image;
pub mod segments;
mod tables;

pub use andon_kernels::cores::{Alone, Cores, Task};

pub use self::error::{Bound, Error, Feature, Result};
pub use self::extent::{Extent, completed, extent};
pub use self::header::Header;
pub use self::image::{Area, Image, Plane, Subsampling};

/// Decodes an image at full size on the calling thread.
///
/// # Errors
/// `Broken`, `Unsupported`.
pub fn decode(bytes: &[u8]) -> Result<Image> {
    let header = Header::read(bytes)?;
    let layout = header::Layout::of(&header)?;
    if !layout.is_decodable(&header) {
        return Err(Error::UNSUPPORTED);
    }
    let components = decode::components(bytes, &decode::Request::of(&[[8, 8]]))?;
    let planes = components.into_iter().flatten();
    Ok(Image {
        planes: planes.map(|scaled| scaled.plane).collect(),
        sub: layout.sub,
    })
}

/// Encodes an image at a quality of 1 to 100 on the calling thread.
///
/// # Errors
/// `Unfit`.
pub fn encode<S>(image: Image<S>, quality: u8) -> Result<Vec<u8>>
where
    S: AsRef<[u8]> + Send + Sync + 'static,
{
    encode::encode(image, &encode::Options::of(quality))
}
