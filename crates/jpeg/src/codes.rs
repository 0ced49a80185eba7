//! The codes of JPEG's markers: the byte behind 0xFF (T.81, table B.1).

/// TEM, reserved for private use by arithmetic coding. It has no segment, and Huffman-coded images do not use it.
pub(crate) const TEM: u8 = 0x01;
/// The frame header of a baseline image.
pub(crate) const SOF0: u8 = 0xc0;
/// The frame header of an extended sequential image.
pub(crate) const SOF1: u8 = 0xc1;
/// The frame header of a progressive image.
pub(crate) const SOF2: u8 = 0xc2;
/// The frame header of a lossless image.
pub(crate) const SOF3: u8 = 0xc3;
/// The marker of a segment that defines Huffman tables.
pub(crate) const DHT: u8 = 0xc4;
/// A marker that is reserved for extensions.
pub(crate) const JPG: u8 = 0xc8;
/// The frame header of a sequential image with arithmetic coding.
pub(crate) const SOF9: u8 = 0xc9;
/// The frame header of a progressive image with arithmetic coding.
pub(crate) const SOF10: u8 = 0xca;
/// The frame header of a lossless image with arithmetic coding.
pub(crate) const SOF11: u8 = 0xcb;
/// The marker of a segment that defines the conditioning of arithmetic coding.
pub(crate) const DAC: u8 = 0xcc;
/// The highest marker code of a frame header. Not every code from SOF0 to SOF15 is one: DHT, JPG and DAC lie between
/// them.
pub(crate) const SOF15: u8 = 0xcf;
/// The first of the eight restart markers, which have no segment.
pub(crate) const RST0: u8 = 0xd0;
/// The last of the restart markers.
pub(crate) const RST7: u8 = 0xd7;
/// The start of an image.
pub(crate) const SOI: u8 = 0xd8;
/// The end of an image.
pub(crate) const EOI: u8 = 0xd9;
/// A scan header, behind which entropy-coded data follow.
pub(crate) const SOS: u8 = 0xda;
/// The marker of a segment that defines quantisation tables.
pub(crate) const DQT: u8 = 0xdb;
/// The marker of a segment with the number of lines, for a frame header that leaves the height open (0).
pub(crate) const DNL: u8 = 0xdc;
/// The marker of a segment with the number of MCUs between restart markers.
pub(crate) const DRI: u8 = 0xdd;
/// The marker of the first application segment, which JFIF uses.
pub(crate) const APP0: u8 = 0xe0;
/// The marker of EXIF and XMP.
pub const APP1: u8 = 0xe1;
/// The marker of ICC profiles, gain maps and the index of further images.
pub const APP2: u8 = 0xe2;
/// The marker of Photoshop's resources.
pub(crate) const APP13: u8 = 0xed;
/// The marker of Adobe's segment, which names the colour transform.
pub(crate) const APP14: u8 = 0xee;
/// The marker of the last application segment.
pub(crate) const APP15: u8 = 0xef;
/// The marker of a comment.
pub(crate) const COM: u8 = 0xfe;
