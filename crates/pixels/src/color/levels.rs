//! Conversion between the 10-bit and 12-bit code values of files and the common scale of wide (`u16`) samples.

use crate::frame::Depth;
use crate::space::Range;

/// Converts a code value of `depth` to a wide sample: a chroma sample if `chroma` is set, otherwise one of luma, gray
/// or RGB. With limited range a code value is the 8-bit level with more bits appended; with full range black and full
/// scale are preserved and chroma stays centred. Code values that exceed the depth, and full-range chroma at either
/// end, are clamped.
#[must_use]
pub fn from_code(code: u16, depth: Depth, range: Range, chroma: bool) -> u16 {
    let (factor, offset) = line(depth, range, chroma);
    (f64::from(code) * factor + offset).round() as u16
}

/// Converts a wide sample to the nearest code value of `depth`.
#[must_use]
pub fn to_code(sample: u16, depth: Depth, range: Range, chroma: bool) -> u16 {
    let (factor, offset) = line(depth, range, chroma);
    let most = f64::from((1_u32 << depth.bits()) - 1);
    ((f64::from(sample) - offset) / factor)
        .round()
        .clamp(0.0, most) as u16
}

/// Returns the factor and offset of the linear mapping: sample = code × factor + offset.
fn line(depth: Depth, range: Range, chroma: bool) -> (f64, f64) {
    let steps = f64::from(1_u32 << depth.bits());
    match range {
        Range::Limited => (257.0 * 256.0 / steps, 0.0),
        Range::Full => {
            let factor = 65_535.0 / (steps - 1.0);
            let offset = if chroma {
                128.0 * 257.0 - steps / 2.0 * factor
            } else {
                0.0
            };
            (factor, offset)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_values_of_every_depth_come_back() {
        for depth in Depth::ALL {
            for range in Range::ALL {
                for chroma in [false, true] {
                    // The highest codes exceed the 16-bit scale: those of full-range chroma, and those of limited range
                    // above level 255.
                    let spare = 1_u32 << (depth.bits() - 6);
                    for code in 0..(1_u32 << depth.bits()) - spare {
                        let code = code as u16;
                        let sample = from_code(code, depth, range, chroma);
                        let back = to_code(sample, depth, range, chroma);
                        assert!(
                            back.abs_diff(code) <= u16::from(depth == Depth::U16),
                            "{depth:?} {range:?} {chroma}: {code} came back as {back}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn black_white_and_neutral_are_the_same_at_every_depth() {
        for depth in Depth::ALL {
            let code = |level: u16| level << (depth.bits() - 8);
            assert_eq!(from_code(code(16), depth, Range::Limited, false), 16 * 257);
            assert_eq!(
                from_code(code(235), depth, Range::Limited, false),
                235 * 257
            );
            for range in Range::ALL {
                assert_eq!(from_code(code(128), depth, range, true), 128 * 257);
            }
            let full = ((1_u32 << depth.bits()) - 1) as u16;
            assert_eq!(from_code(full, depth, Range::Full, false), u16::MAX);
        }
    }
}
