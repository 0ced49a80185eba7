//! Flat parts of an image, such as a white background or a black sky.
//!
//! A stream synchronizes because wrong codes end at other bits than right ones. In a flat part all MCUs are the same
//! few bits, so that a wrong start is repeated with every MCU, and a stream may never synchronize. But in most cases
//! these bits reveal where an MCU begins. Where they do not, because they are all zeros, several MCUs can be skipped at
//! a time.

use andon_kernels::huffman::Code;

/// Number of places in the data that are probed for flat MCUs.
const PLACES: u32 = 8;
/// Number of bits from one probed place to the next: an odd number, so that the places are at different bits of a
/// repeated MCU.
const DISTANCE: u32 = 211;

/// The bits of a flat MCU: one whose DC differences and AC coefficients are all 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flat {
    /// The bits of the MCU, repeated to fill the word.
    bits: u64,
    /// Bits per MCU.
    length: u32,
}

impl Flat {
    /// Creates the flat MCU of blocks with these DC and AC codes. `None` if no block can be flat, or the MCU is longer
    /// than 64 bits.
    pub(super) fn new<'a>(blocks: impl Iterator<Item = (&'a [Code], &'a [Code])>) -> Option<Self> {
        let (mut mcu, mut length) = (0, 0);
        for (dc, ac) in blocks {
            for codes in [dc, ac] {
                // A DC difference of 0, and the end of the block.
                let code = codes.iter().find(|code| code.symbol == 0)?;
                length += code.length;
                if length > u64::BITS {
                    return None;
                }
                mcu |= u64::from(code.code) << (u64::BITS - length);
            }
        }
        let copies = (0..u64::BITS).step_by(usize::try_from(length).ok().filter(|&it| it > 0)?);
        let bits = copies.fold(0, |bits, shift| bits | mcu >> shift);
        Some(Self { bits, length })
    }

    /// Returns how many consecutive MCUs from bit `position` on are flat: their DC differences and AC coefficients are
    /// all 0. At most `most`; 0 if fewer than 64 bits are flat.
    pub(super) fn run(&self, data: &[u8], position: u64, most: usize) -> usize {
        let Ok(mut position) = u32::try_from(position) else {
            return 0;
        };
        let per_word = u64::BITS / self.length;
        let mut run = 0;
        while run < most && bits_at(data, position) == Some(self.bits) {
            run += per_word as usize;
            position += per_word * self.length;
        }
        run.min(most)
    }

    /// Returns the length of the MCU in bits.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// Returns a bit shortly after bit `position` at which an MCU begins, if the data are flat there.
    pub(super) fn near(&self, data: &[u8], position: u32) -> Option<u32> {
        let mut places = (0..PLACES).map(|place| position.saturating_add(place * DISTANCE));
        places.find_map(|place| {
            // Bits that repeat after the length of an MCU may be flat.
            let repeats = bits_at(data, place)? == bits_at(data, place + self.length)?;
            let mut phases = (place..place + self.length).filter(|_| repeats);
            phases.find(|&place| bits_at(data, place) == Some(self.bits))
        })
    }
}

/// Returns the 64 bits from bit `position` on, or `None` near the end of the data.
fn bits_at(data: &[u8], position: u32) -> Option<u64> {
    let bytes = data.get(position as usize / 8..)?.first_chunk::<9>()?;
    let (first, last) = bytes.split_first_chunk::<8>()?;
    let shift = position % 8;
    // The shift is done in two steps, because it would be by 8 for a `shift` of 0.
    Some(u64::from_be_bytes(*first) << shift | u64::from(last[0]) >> 1 >> (7 - shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: u32, length: u32) -> Code {
        Code {
            code,
            length,
            symbol: 0,
        }
    }

    /// MCUs of four blocks "00 1010" and two "00 00", as the standard's tables have them.
    fn flat() -> Flat {
        let (two, four) = ([code(0, 2)], [code(0b1010, 4)]);
        let blocks = [&four, &four, &four, &four].map(|ac| (&two[..], &ac[..]));
        let chroma = [(&two[..], &two[..]); 2];
        Flat::new(blocks.into_iter().chain(chroma)).expect("short codes")
    }

    #[test]
    fn the_beginning_of_an_mcu_is_found_in_a_flat_part() {
        let flat = flat();
        assert_eq!(flat.length, 32);
        let mcu = 0b0010_1000_1010_0010_1000_1010_0000_0000_u32;
        for shift in 0..32 {
            let words = (0..40).map(|word| match word {
                0..8 => 0x9e37_79b9_u32.wrapping_mul(word + 1),
                _ => mcu.rotate_right(shift),
            });
            let data: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
            for position in 0..300 {
                let found = flat.near(&data, position).expect("a flat part");
                // The last bits of the noise may be those of an MCU, too.
                assert!(found >= position && found > 8 * 32 - 32);
                assert!(found < position + PLACES * DISTANCE);
                assert_eq!(found % 32, shift, "from {position}");
            }
        }
    }

    #[test]
    fn flat_mcus_are_counted_word_by_word() {
        let flat = flat();
        let mut data = vec![0xff; 5];
        (0..7).for_each(|_| data.extend([0x28, 0xa2, 0x8a, 0x00]));
        data.extend([0xff; 20]);
        assert_eq!(
            flat.run(&data, 40, 100),
            6,
            "the seventh is followed by ones"
        );
        assert_eq!(flat.run(&data, 40, 3), 3);
        assert_eq!(flat.run(&data, 41, 100), 0);
        assert_eq!(flat.run(&data, 8 * 40, 100), 0);
        let zeros = Flat {
            bits: 0,
            length: 12,
        };
        assert_eq!(
            zeros.run(&[0; 100], 3, 1000),
            5 * 13,
            "up to the last 9 bytes"
        );
    }

    #[test]
    fn nothing_is_found_where_nothing_or_something_else_repeats_itself() {
        let noise: Vec<u8> = (0..600_u32).map(|i| ((i * i * 7919) >> 5) as u8).collect();
        assert_eq!(flat().near(&noise, 13), None);
        assert_eq!(flat().near(&[0x55; 600], 13), None);
        assert_eq!(flat().near(&[0x28; 8], 0), None, "too short");
    }

    #[test]
    fn long_mcus_and_books_that_lack_a_code_have_no_flat_mcu() {
        let long = [code(7, 16)];
        assert_eq!(Flat::new([(&long[..], &long[..]); 3].into_iter()), None);
        assert_eq!(Flat::new([(&long[..], &[][..])].into_iter()), None);
        assert_eq!(Flat::new(std::iter::empty()), None);
    }
}
