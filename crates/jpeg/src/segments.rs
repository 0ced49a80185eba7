//! Metadata segments before the image: XMP, IPTC inside Photoshop's resources, and any others that a caller adds.

use crate::codes::{APP0, APP13, APP15, EOI};

pub use crate::codes::{APP1, APP2};

/// The end marker (EOI), the last bytes of a file.
pub const END: &[u8] = &[0xff, EOI];

/// Identifier at the beginning of a segment with an XMP packet.
pub const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// Identifier at the beginning of a segment with the metadata of a gain map by ISO 21496-1.
pub const GAIN_MAP: &[u8] = b"urn:iso:std:iso:ts:21496:-1\0";

/// Identifier at the beginning of a segment with Photoshop's resources.
pub const RESOURCES: &[u8] = b"Photoshop 3.0\0";

/// Signature at the beginning of a Photoshop resource.
const RESOURCE: &[u8] = b"8BIM";
/// Number of the Photoshop resource with IPTC's data sets.
const IPTC: u16 = 0x0404;

/// Maximum size in bytes of a segment's data. Its 16-bit length field includes its own two bytes.
pub const MOST_BYTES: usize = 0xffff - 2;

/// Finds IPTC's data sets among Photoshop's resources.
#[must_use]
pub fn iptc(mut resources: &[u8]) -> Option<&[u8]> {
    while let Some(rest) = resources.strip_prefix(RESOURCE) {
        let number = u16::from_be_bytes(*rest.first_chunk()?);
        // The name, preceded by its length and padded to an even number of bytes.
        let name = usize::from(*rest.get(2)?);
        let rest = rest.get(2 + ((name + 2) & !1)..)?;
        let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
        let data = rest.get(4..4usize.checked_add(length)?)?;
        if number == IPTC {
            return Some(data);
        }
        resources = rest.get(4 + length + (length & 1)..)?;
    }
    None
}

/// Returns the file with an XMP packet and IPTC's data sets added. Data that are too long for a segment are left out.
#[must_use]
pub fn with_metadata(file: Vec<u8>, xmp: Option<&[u8]>, iptc: Option<&[u8]>) -> Vec<u8> {
    let mut segments = Vec::new();
    if let Some(xmp) = xmp {
        push(&mut segments, APP1, &[XMP, xmp]);
    }
    if let Some(iptc) = iptc {
        let number = IPTC.to_be_bytes();
        let length = (iptc.len() as u32).to_be_bytes();
        let padding: &[u8] = if iptc.len() % 2 == 1 { &[0] } else { &[] };
        let parts = [
            RESOURCES,
            RESOURCE,
            &number,
            &[0, 0],
            &length,
            iptc,
            padding,
        ];
        push(&mut segments, APP13, &parts);
    }
    with_segments(file, &segments)
}

/// Inserts segments after the application segments at the beginning of the file.
#[must_use]
pub fn with_segments(file: Vec<u8>, segments: &[u8]) -> Vec<u8> {
    if segments.is_empty() {
        return file;
    }
    let at = first_segments(&file);
    let mut out = Vec::with_capacity(file.len() + segments.len());
    out.extend_from_slice(&file[..at]);
    out.extend_from_slice(segments);
    out.extend_from_slice(&file[at..]);
    out
}

/// Appends a segment to `out`, unless it is too long.
pub fn push(out: &mut Vec<u8>, marker: u8, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if length <= MOST_BYTES {
        out.extend([0xff, marker]);
        out.extend((length as u16 + 2).to_be_bytes());
        out.extend(parts.concat());
    }
}

/// Returns the offset at which the application segments at the beginning of the file end.
#[must_use]
pub fn first_segments(file: &[u8]) -> usize {
    let mut at = 2;
    while let Some(&[0xff, APP0..=APP15, high, low]) = file.get(at..at + 4) {
        let next = at + 2 + usize::from(u16::from_be_bytes([high, low]));
        if next > file.len() {
            break;
        }
        at = next;
    }
    at.min(file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_are_found_behind_other_resources() {
        let mut resources = b"8BIM\x03\xed\x03abc\0\0\0\x03xyz\0".to_vec();
        assert_eq!(iptc(&resources), None);
        resources.extend(b"8BIM\x04\x04\0\0\0\0\0\x02IM");
        assert_eq!(iptc(&resources), Some(&b"IM"[..]));
        for length in 0..resources.len() {
            assert_eq!(iptc(&resources[..length]), None);
        }
    }

    #[test]
    fn what_is_too_long_for_a_segment_is_left_out() {
        let file = b"\xff\xd8\xff\xe0\0\x04ab\xff\xdb".to_vec();
        let with = |length| with_metadata(file.clone(), Some(&vec![b'x'; length]), None);
        let most = MOST_BYTES - XMP.len();
        assert_eq!(with(most + 1), file);
        let longest = with(most);
        assert_eq!(longest.len(), file.len() + 2 + 0xffff);
        assert!(longest.starts_with(b"\xff\xd8\xff\xe0\0\x04ab\xff\xe1\xff\xff"));
        assert!(longest.ends_with(b"\xff\xdb"));
    }
}
