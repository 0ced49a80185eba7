//! Gain maps in JPEGs: a second image after the first, declared by the first one's index (MPF) and XMP. Supports Ultra
//! HDR as specified by Google and Adobe and by ISO 21496-1, and those gain maps of Apple whose XMP contains all
//! parameters.

use andon_jpeg::Header;
use andon_jpeg::header::mpf;
use andon_jpeg::segments::{self, APP1, APP2};
use andon_pixels::{
    Alone, Codec, Cores, Decode, Encode, Error, Frame, GainHeader, GainMap, Image, Interrupt,
    Result,
};

use super::{Jpeg, decode};
use crate::gain_map;

/// Maximum number of images in a file's MPF index that are searched for a gain map, which is one of the first.
const MOST_LOOKED_AT: usize = 8;

/// Returns the header of the file's gain map, if it has one.
pub(super) fn read(bytes: &[u8]) -> Option<GainHeader> {
    let (file, header) = find(bytes)?;
    let at = |range: &Option<std::ops::Range<usize>>| file.get(range.clone()?);
    Some(GainHeader {
        params: gain_map::of_jpeg(at(&header.xmp), at(&header.gain_map))?,
        info: Jpeg.probe(file).ok()?,
        bytes: file.len() as u64,
    })
}

/// Finds the gain map, which is a JPEG inside the file, and returns its bytes and header.
fn find(bytes: &[u8]) -> Option<(&[u8], Header)> {
    let index = Header::read(bytes).ok()?.index?;
    let images = mpf::images(bytes, index).into_iter().take(MOST_LOOKED_AT);
    images
        .filter_map(|image| bytes.get(image.start..image.end.min(bytes.len())))
        .find_map(|file| {
            let header = Header::read(file).ok()?;
            let at = |range: &Option<std::ops::Range<usize>>| file.get(range.clone()?);
            gain_map::of_jpeg(at(&header.xmp), at(&header.gain_map))?;
            Some((file, header))
        })
}

/// Decodes the gain map.
pub(super) fn decode(bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
    let none = || Error::broken(super::NAME, "it has no gain map");
    let (file, header) = find(bytes).ok_or_else(none)?;
    Ok(decode::decode(file, &header, how)?.frame)
}

/// Writes an image and its gain map.
pub(super) fn encode(
    image: &Image,
    map: &GainMap,
    how: &Encode,
    cores: &dyn Cores,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let map = encode_map(map, interrupt)?;
    let metadata = &image.metadata;
    let xmp = packet(metadata.xmp.as_deref(), map.len());
    let file = super::encode::encode(image, how, cores, interrupt)?;
    let file = segments::with_metadata(file, Some(&xmp), metadata.iptc.as_deref());
    Ok(append_map(file, &map))
}

/// Encodes the gain map as a separate JPEG.
fn encode_map(map: &GainMap, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let how = Encode {
        quality: map.quality,
        ..Encode::default()
    };
    let file = super::encode::encode(&Image::still(map.frame.clone()), &how, &Alone, interrupt)?;
    let mut segments_of_map = Vec::new();
    if let Some(packet) = gain_map::jpeg_packet(&map.params) {
        segments::push(&mut segments_of_map, APP1, &[segments::XMP, &packet]);
    }
    if let Some(iso) = &map.params.iso {
        segments::push(&mut segments_of_map, APP2, &[segments::GAIN_MAP, iso]);
    }
    Ok(segments::with_segments(file, &segments_of_map))
}

/// Returns an XMP packet that lists the image and its gain map, which is `length` bytes long. The contents of
/// `image_packet`, the image's own packet, are included if they fit into one segment.
fn packet(image_packet: Option<&[u8]>, length: usize) -> Vec<u8> {
    const END: &str = "</rdf:RDF>";
    let item = |semantic: &str, length: &str| {
        format!(
            "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"{semantic}\" \
             Item:Mime=\"image/jpeg\"{length}/></rdf:li>"
        )
    };
    let both = item("Primary", "") + &item("GainMap", &format!(" Item:Length=\"{length}\""));
    let container = gain_map::CONTAINER;
    let list_packet = gain_map::packet(
        &format!(
            "xmlns:Container=\"{container}\" xmlns:Item=\"{container}item/\" xmlns:hdrgm=\"{}\" hdrgm:Version=\"1.0\"",
            gain_map::HDRGM
        ),
        &format!("<Container:Directory><rdf:Seq>{both}</rdf:Seq></Container:Directory>"),
    );
    let description = list_packet
        .find("<rdf:Description")
        .zip(list_packet.find(END))
        .map_or("", |(from, to)| &list_packet[from..to]);
    let image_packet = image_packet.and_then(|image_packet| std::str::from_utf8(image_packet).ok());
    let extended_packet = image_packet.and_then(|image_packet| {
        let (before, after) = image_packet.split_at(image_packet.rfind(END)?);
        Some([before, description, after].concat())
    });
    let fits = |packet: &String| packet.len() + segments::XMP.len() <= segments::MOST_BYTES;
    extended_packet
        .filter(fits)
        .unwrap_or(list_packet)
        .into_bytes()
}

/// Appends the gain map to the image, and inserts the MPF index into the image's header.
fn append_map(file: Vec<u8>, map: &[u8]) -> Vec<u8> {
    let mut new_segments = Vec::new();
    // The image itself only declares that there is a map: minimum version and writer's version.
    segments::push(&mut new_segments, APP2, &[segments::GAIN_MAP, &[0; 4]]);
    let header =
        segments::first_segments(&file) + new_segments.len() + SEGMENT_HEAD + mpf::SIGNATURE.len();
    let index = |size| mpf::index(size, header, map.len());
    // The length of the index does not depend on its content.
    let length = index(0).len() + SEGMENT_HEAD + mpf::SIGNATURE.len();
    let size = file.len() + new_segments.len() + length;
    segments::push(&mut new_segments, APP2, &[mpf::SIGNATURE, &index(size)]);
    let mut file = segments::with_segments(file, &new_segments);
    file.extend_from_slice(map);
    file
}

/// Bytes of a segment's marker and length field.
const SEGMENT_HEAD: usize = 4;
