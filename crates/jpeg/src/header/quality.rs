//! Estimates the quality with which a JPEG was written from its quantization tables.
//!
//! The tables of this crate's encoder are recognised ([`tables`]). Nearly every other encoder scales the two example
//! tables of ITU-T T.81 (Annex K) by the rule of the Independent JPEG Group, so the quality from 1 to 100 can be
//! recovered exactly. For any other tables, the estimate is the quality whose standard tables have the nearest sum of
//! steps.

use andon_kernels::symbols::ZIGZAG;

use crate::tables::{self, Table};

/// Returns the quality (1–100) whose tables equal these, or are the nearest to them.
pub(super) fn estimate(luma: &Table, chroma: Option<&Table>) -> u8 {
    let fits = |&quality: &u8| {
        matches(luma, &LUMA, quality) && chroma.is_none_or(|table| matches(table, &CHROMA, quality))
    };
    if let Some(quality) = (1..=100).rev().find(fits) {
        return quality;
    }
    if let Some(quality) = tables::quality(luma) {
        return quality;
    }
    let coarseness =
        sum(luma.iter().copied()) + chroma.map_or(0, |table| sum(table.iter().copied()));
    let standard = |quality: u8| {
        sum(scaled(&LUMA, quality, BYTE))
            + chroma.map_or(0, |_| sum(scaled(&CHROMA, quality, BYTE)))
    };
    (1..=100)
        .min_by_key(|&quality| standard(quality).abs_diff(coarseness))
        .unwrap_or(100)
}

fn matches(table: &Table, base: &[u8; 64], quality: u8) -> bool {
    // Encoders that allow 16-bit tables do not limit steps to 255.
    [BYTE, u32::from(i16::MAX as u16)]
        .into_iter()
        .any(|most| scaled(base, quality, most).eq(table.iter().copied()))
}

/// Scales a base table to a quality by the IJG's rule, in zigzag order, with steps of at most `most`.
fn scaled(base: &[u8; 64], quality: u8, most: u32) -> impl Iterator<Item = u16> {
    let quality = u32::from(quality.clamp(1, 100));
    let percent = if quality < 50 {
        5000 / quality
    } else {
        200 - 2 * quality
    };
    ZIGZAG.iter().map(move |&index| {
        let step = (u32::from(base[usize::from(index)]) * percent + 50) / 100;
        step.clamp(1, most) as u16
    })
}

fn sum(steps: impl Iterator<Item = u16>) -> u32 {
    steps.map(u32::from).sum()
}

const BYTE: u32 = 255;

/// The example table for luma (T.81, table K.1).
#[rustfmt::skip]
const LUMA: [u8; 64] = [
    16, 11, 10, 16,  24,  40,  51,  61,
    12, 12, 14, 19,  26,  58,  60,  55,
    14, 13, 16, 24,  40,  57,  69,  56,
    14, 17, 22, 29,  51,  87,  80,  62,
    18, 22, 37, 56,  68, 109, 103,  77,
    24, 35, 55, 64,  81, 104, 113,  92,
    49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103,  99,
];

/// The example table for chroma (T.81, table K.2).
#[rustfmt::skip]
const CHROMA: [u8; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99,
    18, 21, 26, 66, 99, 99, 99, 99,
    24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn table(base: &[u8; 64], quality: u8) -> Table {
        let mut table = [0; 64];
        for (step, value) in table.iter_mut().zip(scaled(base, quality, BYTE)) {
            *step = value;
        }
        table
    }

    #[test]
    fn every_quality_is_found_again() {
        for quality in 1..=100 {
            let (luma, chroma) = (table(&LUMA, quality), table(&CHROMA, quality));
            assert_eq!(estimate(&luma, Some(&chroma)), quality);
            assert_eq!(estimate(&luma, None), quality);
        }
    }

    #[test]
    fn a_foreign_table_gets_a_quality_of_like_coarseness() {
        let mut foreign = table(&LUMA, 80);
        foreign.swap(1, 63);
        assert_eq!(estimate(&foreign, None), 80);
        assert_eq!(estimate(&[1; 64], Some(&[1; 64])), 100);
        assert_eq!(estimate(&[60_000; 64], None), 1);
    }
}
