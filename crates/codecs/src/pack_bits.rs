//! PackBits, the run-length encoding of TIFF and PSD.

/// Unpacks `length` bytes. Returns `None` if the data end earlier.
pub(crate) fn unpack(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    let mut rest = packed;
    while bytes.len() < length {
        let (head, tail) = rest.split_first()?;
        rest = match i8::from_ne_bytes([*head]) {
            count @ 0.. => {
                let (literal, tail) = tail.split_at_checked(count as usize + 1)?;
                bytes.extend_from_slice(literal);
                tail
            }
            -128 => tail,
            count => {
                let (value, tail) = tail.split_first()?;
                bytes.resize(bytes.len() + usize::from(count.unsigned_abs()) + 1, *value);
                tail
            }
        };
    }
    bytes.truncate(length);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_literals_are_unpacked_and_missing_bytes_are_noticed() {
        let packed = [0xfe, 7, 2, 1, 2, 3, 0x80, 0xff, 9];
        assert_eq!(unpack(&packed, 8), Some(vec![7, 7, 7, 1, 2, 3, 9, 9]));
        assert_eq!(unpack(&packed, 4), Some(vec![7, 7, 7, 1]));
        assert_eq!(unpack(&packed, 9), None);
        assert_eq!(unpack(&[3, 1], 1), None);
    }
}
