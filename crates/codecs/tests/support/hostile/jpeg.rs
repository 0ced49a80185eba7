//! JPEGs of uniform gray: two bits per block, so that few bytes are many pixels.

/// Returns a baseline JPEG with one or three components.
pub(crate) fn plain(width: u16, height: u16, components: u8) -> Vec<u8> {
    with_segments(width, height, components, &[])
}

/// Returns a baseline JPEG with further segments after SOI.
pub(crate) fn with_segments(width: u16, height: u16, components: u8, more: &[u8]) -> Vec<u8> {
    let mut file = vec![0xff, 0xd8];
    file.extend_from_slice(more);
    file.extend(segment(0xdb, &[&[0][..], &[1; 64]].concat()));
    let [w1, w0] = width.to_be_bytes();
    let [h1, h0] = height.to_be_bytes();
    let mut frame = vec![8, h1, h0, w1, w0, components];
    let mut scan = vec![components];
    for id in 1..=components {
        frame.extend([id, 0x11, 0]);
        scan.extend([id, 0]);
    }
    scan.extend([0, 63, 0]);
    file.extend(segment(0xc0, &frame));
    // Tables of one symbol each: zero difference, and end of block.
    for class in [0, 0x10] {
        let mut table = vec![class, 1];
        table.extend([0; 16]);
        file.extend(segment(0xc4, &table));
    }
    file.extend(segment(0xda, &scan));
    let blocks = usize::from(width).div_ceil(8) * usize::from(height).div_ceil(8);
    let bits = 2 * blocks * usize::from(components);
    file.extend(vec![0; bits / 8]);
    if bits % 8 > 0 {
        file.push(0xff >> (bits % 8));
    }
    file.extend([0xff, 0xd9]);
    file
}

/// Returns a segment: marker, length and body.
pub(crate) fn segment(marker: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&[0xff, marker][..], &length, body].concat()
}

/// Returns the index of a multi-image file (MPF), whose entries are lengths and offsets from the index.
pub(crate) fn index(entries: &[(u32, u32)]) -> Vec<u8> {
    let mut index = b"MPF\0II*\0\x08\0\0\0\x01\0".to_vec();
    index.extend(0xb002_u16.to_le_bytes());
    index.extend(7_u16.to_le_bytes());
    index.extend((16 * entries.len() as u32).to_le_bytes());
    index.extend(26_u32.to_le_bytes());
    index.extend([0; 4]);
    for (length, offset) in entries {
        index.extend([0; 4]);
        index.extend(length.to_le_bytes());
        index.extend(offset.to_le_bytes());
        index.extend([0; 4]);
    }
    segment(0xe2, &index)
}
