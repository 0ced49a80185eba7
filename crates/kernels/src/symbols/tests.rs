use super::*;
use crate::cpu::{Level, limited_to};

/// Returns a generator of pseudo-random 16-bit numbers.
fn noise() -> impl FnMut() -> u32 {
    let mut state = 1u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    }
}

/// Returns the levels of a block in zigzag order. Each has a chance of one in `rare` of not being 0.
fn zigzagged(random: &mut dyn FnMut() -> u32, rare: u32) -> [i16; 64] {
    let mut level = || match random() % rare {
        0 => ((random() % 2047) as i16 - 1023) >> (random() % 11),
        _ => 0,
    };
    std::array::from_fn(|_| level())
}

fn packed(zigzagged: &[i16; 64]) -> (Vec<Symbol>, Vec<u8>) {
    let mut levels = [0; 64];
    for (&place, &level) in PLACES.iter().zip(zigzagged) {
        levels[usize::from(place)] = level;
    }
    let mask = (0..64).map(|k| u64::from(levels[k] != 0) << k).sum();
    let (mut symbols, mut values) = ([Symbol::ZEROS; 64], [0; 64]);
    let count = pack(&levels, mask, &mut symbols, &mut values).into();
    (symbols[..count].to_vec(), values[..count].to_vec())
}

#[test]
fn the_order_is_that_of_the_standard() {
    // T.81, figure A.6: row by row.
    let begins = [0, 1, 5, 6, 14, 15, 27, 28, 2, 4, 7, 13, 16, 26, 29, 42];
    for (at, k) in begins.into_iter().enumerate() {
        assert_eq!(ORDER[at % 8 * 8 + at / 8], k);
    }
    assert_eq!(zigzag(1 << 63 | 1 << 8), 1 << 63 | 1 << 1);
}

#[test]
fn a_symbol_says_what_it_was_made_of() {
    for level in [1, -1, 2, -2, 1023, -1023, 512, -512] {
        for run in 0..16 {
            let symbol = Symbol::new(run, level);
            assert_eq!(symbol.level(), level);
            assert_eq!(u32::from(symbol.value()), run << 4 | size(level));
        }
    }
    assert_eq!((Symbol::END.value(), Symbol::END.level()), (0, 0));
    assert_eq!((Symbol::ZEROS.value(), Symbol::ZEROS.level()), (0xf0, 0));
}

#[test]
fn numbers_are_written_as_the_standard_says() {
    // T.81, table F.2 and its text: −3 to 3.
    let written = [-3, -2, -1, 0, 1, 2, 3].map(number);
    assert_eq!(
        written,
        [(0, 2), (1, 2), (0, 1), (0, 0), (1, 1), (2, 2), (3, 2)]
    );
}

#[test]
fn symbols_tell_every_level_and_where_the_block_ends() {
    let mut random = noise();
    for rare in [1, 2, 5, 20, 60, 400] {
        for _ in 0..200 {
            let levels = zigzagged(&mut random, rare);
            let (symbols, values) = packed(&levels);
            let mut read = [0; 64];
            let mut k = 1;
            for (symbol, value) in symbols.iter().zip(&values) {
                assert_eq!(symbol.value(), *value);
                match *symbol {
                    Symbol::END => k = 64,
                    Symbol::ZEROS => k += 16,
                    symbol => {
                        k += usize::from(value >> 4);
                        read[k] = symbol.level();
                        k += 1;
                    }
                }
            }
            assert_eq!((k, read[1..].to_vec()), (64, levels[1..].to_vec()));
        }
    }
}

#[test]
fn pieces_are_the_codes_and_levels_on_every_instruction_set() {
    let mut random = noise();
    let [flat, rest] = [(); 2].map(|()| {
        std::array::from_fn(|_| {
            let length = 1 + random() % 16;
            (random() & ((1 << length) - 1)) << 8 | length
        })
    });
    let codes: [[u32; 256]; 2] = [flat, rest];
    let mut expected = String::new();
    let mut write = |code: u32, level: i16| {
        let (number, size) = number(level);
        expected += &format!("{:0width$b}", code >> 8, width = code as usize & 255);
        if size > 0 {
            expected += &format!("{number:0width$b}", width = size as usize);
        }
    };
    let (mut differences, mut lengths, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
    for rare in [1, 2, 5, 20, 60, 400] {
        for _ in 0..100 {
            let difference = (random() % 4081) as i16 - 2040;
            write(flat[size(difference) as usize], difference);
            differences.push(difference);
            let (block, values) = packed(&zigzagged(&mut random, rare));
            for (symbol, value) in block.iter().zip(values) {
                write(rest[usize::from(value)], symbol.level());
            }
            lengths.push(block.len() as u8);
            symbols.extend(block);
        }
    }
    let each = lengths.iter().map(|length| usize::from(length / 2 + 1));
    let all: usize = each.sum();
    let written = |pieces: &[Piece]| -> String {
        let bits = pieces
            .iter()
            .map(|piece| (piece.bits(), piece.count() as usize));
        bits.map(|(bits, count)| format!("{bits:0count$b}"))
            .collect()
    };
    // Independently of whether gathers are fast on this processor.
    #[cfg(target_arch = "x86_64")]
    if Level::Avx512.is_there() && avx512::is_there() {
        let mut pieces = vec![Piece::default(); all + BESIDE];
        // SAFETY: the processor supports the instructions, and the slices are the same as for `join` below.
        let count = unsafe { avx512::join(&differences, &lengths, &symbols, &codes, &mut pieces) };
        assert_eq!(count, all);
        assert!(written(&pieces[..count]) == expected, "vectors");
    }
    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
        let mut pieces = vec![Piece::default(); all + BESIDE];
        let count = limited_to(level, || {
            join(&differences, &lengths, &symbols, &codes, &mut pieces)
        });
        assert_eq!(count, all);
        assert!(written(&pieces[..count]) == expected, "{level:?}");
    }
}
