//! Tests the tables on one small code.

use super::*;
use crate::decode::bits::Bits;

/// A Huffman code for symbols of a run and a size: end of block and (0, 1) have codes of 2 bits, (15, 0) and (0, 10)
/// of 3, (1, 2) of 16.
fn codes() -> Codes {
    let mut counts = [0; 16];
    (counts[1], counts[2], counts[15]) = (2, 2, 1);
    Codes::new(counts, &[0x00, 0x01, 0xf0, 0x0a, 0x12]).expect("a code book")
}

/// Decodes the bits in `text`, symbol by symbol, until the block ends.
fn decode(text: &str) -> Vec<(u32, i32)> {
    let bytes = bytes(text);
    let table = Table::new(&codes(), Meaning::Ac);
    let mut bits = Bits::new(&bytes);
    let mut symbols = Vec::new();
    while symbols
        .last()
        .is_none_or(|&(advance, _)| advance < END_OF_BLOCK)
    {
        bits.refill();
        symbols.push(table.decode(&mut bits).expect("a symbol"));
    }
    symbols
}

fn bytes(text: &str) -> Vec<u8> {
    let bits: Vec<u8> = text
        .bytes()
        .filter(|b| *b != b' ')
        .map(|b| b - b'0')
        .collect();
    bits.chunks(8)
        .map(|c| (0..8).fold(0, |byte, i| byte << 1 | c.get(i).unwrap_or(&1)))
        .collect()
}

const ONE: &str = "01 1";
const RUN: &str = "100";
const TEN: &str = "101 0000000000";
const LONG: &str = "1100000000000000 10";
const END: &str = "00";

#[test]
fn symbols_and_values_decode_whatever_fits_the_window() {
    let text = [ONE, TEN, RUN, LONG, END].concat();
    let expected = [(1, 1), (1, -1023), (16, 0), (2, 2), (END_OF_BLOCK, 0)];
    assert_eq!(decode(&text), expected);
}

#[test]
fn skipping_a_block_ends_where_decoding_it_ends() {
    let table = Table::new(&codes(), Meaning::Ac);
    let skip = SkipTable::new(&table);
    let full = ONE.repeat(63);
    for block in [
        END.into(),
        [ONE, TEN, END].concat(),
        [RUN, RUN, LONG, ONE, END].concat(),
        full,
    ] {
        // What follows begins like an end of block, which must not be taken for this block's.
        let bytes = bytes(&[&block, END, "10111011101110111"].concat());
        let mut bits = Bits::new(&bytes);
        skip.skip_block(&table, &mut bits, 1)
            .expect("a whole block");
        let length = block.bytes().filter(|b| *b != b' ').count();
        let mut rest = Bits::new(&bytes);
        for _ in 0..length {
            rest.take(1);
        }
        assert_eq!(bits.take(19), rest.take(19), "after {block}");
    }
}

#[test]
fn a_pair_is_two_symbols_or_one_twice() {
    let table = Table::new(&codes(), Meaning::Ac);
    let pairs = PairTable::new(&table);
    let peek = |text: &str| {
        let bytes = bytes(text);
        let mut bits = Bits::new(&bytes);
        bits.refill();
        pairs.peek(&bits)
    };
    let two = peek(&[ONE, ONE, END].concat());
    assert_eq!(
        (two.consumed(), two.advance(), two.first(), two.second()),
        (6, 2, 1, 1)
    );
    let last = peek(END);
    assert!(last.advance() >= END_OF_BLOCK && !last.is_unfit(5));
    assert!(peek(TEN).is_unfit(1), "its value does not fit the window");
    assert!(
        two.is_unfit(63),
        "the second symbol belongs to the next block"
    );
}

#[test]
fn a_code_book_with_too_many_codes_is_refused() {
    let mut counts = [0; 16];
    counts[0] = 3;
    assert!(Codes::new(counts, &[0, 1, 2]).is_err());
}
