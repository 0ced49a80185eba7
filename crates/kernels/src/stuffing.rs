//! The byte stuffing of JPEG's entropy-coded data: a zero after every 0xFF that does not begin a marker (ITU-T T.81,
//! B.1.1.5).

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu::Level;

/// Appends the bytes of `coded` to `bytes` without their stuffing, up to the first 0xFF that is not followed by a zero.
/// Returns how many bytes of `coded` come before that 0xFF (all bytes if there is none).
///
/// The capacity for all of `coded` is reserved at once. (If it were doubled as needed, `bytes` would allocate, and
/// copy, up to three times as much. Pages that are not written take no memory.)
pub fn remove(coded: &[u8], bytes: &mut Vec<u8>) -> usize {
    remove_on(Level::best(), coded, bytes)
}

fn remove_on(level: Level, coded: &[u8], bytes: &mut Vec<u8>) -> usize {
    assert!(level.is_there(), "{level:?} on a processor without");
    bytes.reserve(coded.len());
    let length = match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level, and VBMI2 and POPCNT, which the level does not include. There is
        // room for all of `coded`.
        Level::Avx512 if avx512::is_there() => unsafe { avx512::remove(coded, bytes) },
        _ => 0,
    };
    length + twin(&coded[length..], bytes)
}

/// Scalar reference version of [`remove`], which searches from one 0xFF to the next.
fn twin(coded: &[u8], bytes: &mut Vec<u8>) -> usize {
    let mut from = 0;
    while let Some(at) = memchr::memchr(0xff, &coded[from..]).map(|at| from + at) {
        if coded.get(at + 1) != Some(&0) {
            bytes.extend_from_slice(&coded[from..at]);
            return at;
        }
        bytes.extend_from_slice(&coded[from..=at]);
        from = at + 2;
    }
    bytes.extend_from_slice(&coded[from..]);
    coded.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Removes stuffed zero bytes one byte at a time, up to the first marker, to check the fast implementations.
    /// Returns the number of bytes read, and the remaining bytes.
    fn plainly(coded: &[u8]) -> (usize, Vec<u8>) {
        let (mut at, mut bytes) = (0, Vec::new());
        while at < coded.len() {
            if coded[at] != 0xff {
                bytes.push(coded[at]);
                at += 1;
            } else if coded.get(at + 1) == Some(&0) {
                bytes.push(0xff);
                at += 2;
            } else {
                break;
            }
        }
        (at, bytes)
    }

    fn check(coded: &[u8]) {
        let (length, expected) = plainly(coded);
        for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
            // The bytes that the vector already has must stay.
            let mut bytes = vec![7; 3];
            assert_eq!(remove_on(level, coded, &mut bytes), length, "{level:?}");
            assert_eq!(bytes[..3], [7; 3]);
            assert!(bytes[3..] == expected, "{level:?}");
        }
    }

    #[test]
    fn stuffing_goes_wherever_it_stands_and_a_marker_ends_it() {
        let plain: Vec<_> = (0..300).map(|at| (at % 255) as u8).collect();
        check(&[]);
        check(&plain);
        for at in 0..plain.len() {
            for inserted in [
                &[0xff, 0][..],
                &[0xff, 0, 0],
                &[0xff, 0, 0xff, 0],
                &[0xff, 0xd9],
                &[0xff, 0, 0xff, 0xd9],
            ] {
                check(&[&plain[..at], inserted, &plain[at..]].concat());
            }
            check(&[&plain[..at], &[0xff]].concat());
        }
    }

    #[test]
    fn noise_of_few_values_comes_out_the_same() {
        let mut state = 1_u64;
        for length in 0..600 {
            let mut coded = Vec::new();
            while coded.len() < length {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                match state >> 60 {
                    0 => coded.push(0),
                    1..4 => coded.extend([0xff, 0]),
                    4 if length % 7 == 0 => coded.push(0xff),
                    other => coded.push(other as u8),
                }
            }
            check(&coded);
        }
    }
}
