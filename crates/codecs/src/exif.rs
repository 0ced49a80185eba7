//! EXIF blocks as stored in containers. Their orientation is read in one place, [`andon_pixels::orientation_of`].

/// Returns the TIFF block, without the JPEG prefix (`Exif\0\0`) that some writers put before it.
pub(crate) fn without_prefix(exif: &[u8]) -> &[u8] {
    exif.strip_prefix(b"Exif\0\0").unwrap_or(exif)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jpeg_prefix_is_dropped() {
        assert_eq!(without_prefix(b"Exif\0\0MM"), b"MM");
        assert_eq!(without_prefix(b"MM"), b"MM");
    }
}
