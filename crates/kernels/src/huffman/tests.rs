use super::*;

/// Builds a code book: `counts` are the numbers of codes of each length from 1 bit on, `symbols` the symbols that they
/// stand for (T.81, annex C).
pub(super) fn book(counts: &[usize], symbols: &[u8]) -> Vec<Code> {
    let mut codes = Vec::new();
    let mut symbols = symbols.iter();
    let mut code = 0;
    for (length, &count) in (1..).zip(counts) {
        for &symbol in symbols.by_ref().take(count) {
            codes.push(Code {
                code,
                length,
                symbol,
            });
            code += 1;
        }
        code <<= 1;
    }
    codes
}

/// DC codes for sizes 0 to 11, as usual in photos.
fn dc() -> Vec<Code> {
    book(
        &[0, 1, 5, 1, 1, 1, 1, 1, 1],
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    )
}

/// AC codes that include an end of block of 4 bits, runs of 16, and codes of 12 and 16 bits, some of them followed by
/// values of 10 bits.
fn ac() -> Vec<Code> {
    book(
        &[0, 2, 1, 3, 3, 2, 2, 0, 0, 0, 2, 2, 0, 0, 0, 3],
        &[
            0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0xf0,
            0x51, 0x22, 0x71, 0x0a, 0xfa, 0x2a,
        ],
    )
}

/// Returns `length` pseudo-random bytes.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Writes bits and Huffman codes.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    bits: usize,
}

impl Writer {
    fn put(&mut self, value: u32, length: u32) {
        for bit in (0..length).rev() {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.len() - 1;
            self.bytes[last] |= ((value >> bit & 1) as u8) << (7 - self.bits % 8);
            self.bits += 1;
        }
    }

    fn symbol(&mut self, book: &[Code], symbol: u8, value: i32) {
        let code = book.iter().find(|code| code.symbol == symbol);
        let code = code.expect("a symbol of the book");
        self.put(code.code, code.length);
        let size = u32::from(symbol & 15);
        let magnitude = if value < 0 {
            value + (1 << size) - 1
        } else {
            value
        };
        self.put(magnitude as u32, size);
    }
}

/// Returns blocks of coefficients in zigzag order that the code books can represent.
fn blocks(count: usize) -> Vec<[i16; 64]> {
    let sizes: [(usize, u32); 14] = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 1),
        (0, 5),
        (1, 2),
        (2, 1),
        (3, 1),
        (1, 3),
        (2, 2),
        (0, 10),
        (15, 10),
        (2, 10),
    ];
    let mut random = noise(count * 300, 7).into_iter();
    let mut next = || usize::from(random.next().unwrap_or(0));
    let of_size = |size: u32, random: usize| {
        let magnitude = (1 << (size - 1)) | (random as i32 & ((1 << (size - 1)) - 1));
        if random & 128 == 0 {
            magnitude
        } else {
            -magnitude
        }
    };
    (0..count)
        .map(|number| {
            let mut block = [0; 64];
            let size = (next() % 12) as u32;
            if size > 0 {
                block[0] = of_size(size, next()) as i16;
            }
            // Blocks of each length, also those that end with their 64th coefficient.
            let length = [1, 2, 6, 20, 64, 64][number % 6];
            let mut k = 1;
            while k < length {
                let (run, size) = sizes[if next() % 8 == 0 {
                    next() % 14
                } else {
                    next() % 8
                }];
                if k + run < length {
                    block[k + run] = of_size(size, next()) as i16;
                }
                k += run + 1;
            }
            if number % 6 == 4 {
                block[63] = 1;
            }
            block
        })
        .collect()
}

fn write(blocks: &[[i16; 64]], (dc, ac): (&[Code], &[Code])) -> Writer {
    let mut writer = Writer::default();
    let size = |value: i16| (32 - i32::from(value).unsigned_abs().leading_zeros()) as u8;
    for block in blocks {
        writer.symbol(dc, size(block[0]), block[0].into());
        let mut run = 0;
        for &value in &block[1..] {
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 || !ac.iter().any(|code| code.symbol == run << 4 | size(value)) {
                assert!(run > 15, "the book has no such symbol: {run}, {value}");
                writer.symbol(ac, 0xf0, 0);
                run -= 16;
            }
            writer.symbol(ac, run << 4 | size(value), value.into());
            run = 0;
        }
        if run > 0 {
            writer.symbol(ac, 0x00, 0);
        }
    }
    writer
}

/// Three choices of the coefficients that are written to the output: the DC only, four, and twenty in a different
/// order.
fn kept() -> [[u8; 32]; 3] {
    let mut places = [[NOT_KEPT; 32]; 3];
    places[0][0] = 0;
    for (place, k) in [0, 1, 2, 4].into_iter().enumerate() {
        places[1][k] = place as u8;
    }
    for k in 0..20 {
        places[2][k + k / 8] = ((20 - k) % 20) as u8;
    }
    places
}

/// Returns the number of values that a block has with these `places`.
fn count(places: &[u8; 32]) -> u8 {
    places.iter().filter(|&&place| place != NOT_KEPT).count() as u8
}

fn tables(kept: [[u8; 32]; 2]) -> Tables {
    let (dc, ac) = (dc(), ac());
    let kinds = kept.map(|places| Kind {
        dc: &dc,
        ac: &ac,
        places,
        count: count(&places),
    });
    Tables::new(&kinds, &[0, 0, 1]).expect("tables")
}

#[test]
fn every_stream_finds_the_coefficients_that_were_written() {
    let blocks = blocks(3 * 40);
    let (dc, ac) = (dc(), ac());
    for kept in kept() {
        let tables = tables([kept, kept]);
        let count = usize::from(count(&kept));
        let space = count * blocks.len();
        // The same MCUs for each stream, so that all of them are read in every phase of a byte and of a vector.
        let mut data = Writer::default();
        let mut streams = Streams::idle();
        for stream in 0..STREAMS {
            let written = write(&blocks, (&dc, &ac));
            let from = data.bits as u32;
            for bit in 0..written.bits {
                data.put((written.bytes[bit / 8] >> (7 - bit % 8)).into(), 1);
            }
            streams.begin(stream, from..data.bits as u32, 0..0);
            streams.set_place(stream, (stream * space) as u32);
        }
        data.bytes.extend([0; PADDING]);
        let mut events = Events::default();
        let mut values = vec![0; STREAMS * space];
        while (0..STREAMS).any(|stream| streams.left(stream) > 0) {
            decode(&tables, &data.bytes, &mut streams, &mut values, &mut events);
            assert_eq!(events.errors, []);
        }
        let of_block = |block: &[i16; 64]| {
            let mut values = vec![0; count];
            for (&value, &place) in block.iter().zip(&kept) {
                if place != NOT_KEPT {
                    values[usize::from(place)] = value;
                }
            }
            values
        };
        let expected: Vec<_> = blocks.iter().flat_map(of_block).collect();
        for (stream, got) in values.chunks_exact(space).enumerate() {
            assert!(got == expected, "{count} kept, stream {stream}");
            assert_eq!(streams.mcu(stream).map(|(before, _)| before), Some(39));
        }
    }
}

/// Values, beginnings of MCUs, errors, and the state of the streams after a call of `decode`.
type Seen = (Vec<i16>, Vec<Event>, Vec<Event>, Streams);

/// Returns what each of several calls of `decode` finds in noise, with streams that begin 900 bits apart, and the state
/// of the streams after the call.
fn in_noise(tables: &Tables, seed: u64) -> Vec<Seen> {
    let data = noise(4000, seed);
    let mut streams = Streams::idle();
    for stream in 0..STREAMS {
        let from = 900 * stream as u32 + seed as u32 % 700;
        let end = (from + 2000).min(8 * (data.len() - PADDING) as u32);
        streams.begin(stream, from..end, from + 100..from + 300);
    }
    let mut events = Events::default();
    let space = 20 * BLOCKS * 20;
    let mut values = vec![0; STREAMS * space];
    (0..STREAMS).for_each(|stream| streams.set_place(stream, (stream * space) as u32));
    let calls = (0..20).map(|_| {
        decode(tables, &data, &mut streams, &mut values, &mut events);
        let (starts, errors) = (events.starts.clone(), events.errors.clone());
        (values.clone(), starts, errors, streams.clone())
    });
    calls.collect()
}

#[test]
fn vectors_find_in_noise_what_the_twin_finds() {
    use crate::cpu::limited_to;
    let pairs = kept().into_iter().flat_map(|a| kept().map(|b| [a, b]));
    for (round, kept) in pairs.enumerate() {
        let tables = tables(kept);
        for seed in 0..5 {
            let seed = 1000 * round as u64 + seed;
            let expected = limited_to(Level::Baseline, || in_noise(&tables, seed));
            assert!(
                expected.iter().any(|(_, starts, _, _)| !starts.is_empty())
                    && expected.iter().any(|(_, _, errors, _)| !errors.is_empty()),
                "noise has beginnings and errors"
            );
            for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                let got = limited_to(level, || in_noise(&tables, seed));
                assert!(got == expected, "{level:?}, round {round}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_book_that_the_tables_cannot_hold_is_not_taken() {
    let (dc, ac) = (dc(), ac());
    let long = book(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], &[1]);
    let wide = book(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], &[15]);
    let of_kept = |places: [u8; 32], dc: &[Code], ac: &[Code], blocks: &[usize]| {
        Tables::new(
            &[Kind {
                dc,
                ac,
                places,
                count: 1,
            }],
            blocks,
        )
        .is_some()
    };
    let of = |dc: &[Code], ac: &[Code], blocks: &[usize]| of_kept(kept()[0], dc, ac, blocks);
    assert!(of(&dc, &ac, &[0]));
    assert!(!of_kept(kept()[1], &dc, &ac, &[0]));
    assert!(!of(&long, &ac, &[0]) && !of(&wide, &ac, &[0]));
    assert!(!of(&dc, &ac, &[]) && !of(&dc, &ac, &[0; 17]) && !of(&dc, &ac, &[1]));
    let impossible = [Code {
        code: 9,
        length: 3,
        symbol: 1,
    }];
    assert!(!of(&dc, &impossible, &[0]));
}

#[test]
fn streams_may_go_on_with_the_tables_of_another_scan() {
    let (dc, ac) = (dc(), ac());
    let kind = Kind {
        dc: &dc,
        ac: &ac,
        places: kept()[1],
        count: 4,
    };
    let many = Tables::new(&[kind], &[0; 16]).expect("tables");
    let one = Tables::new(&[kind], &[0]).expect("tables");
    let data = noise(2000, 5);
    let run = || {
        let mut streams = Streams::idle();
        for stream in 0..STREAMS {
            streams.begin(stream, 0..8 * 1900 - stream as u32, 0..0);
        }
        let mut values = vec![0; 4 * BLOCKS * 20];
        for tables in [&many, &one, &many, &one] {
            decode(
                tables,
                &data,
                &mut streams,
                &mut values,
                &mut Events::default(),
            );
        }
        (streams, values)
    };
    assert!(run() == crate::cpu::limited_to(Level::Baseline, run));
}

#[test]
#[should_panic(expected = "no bytes behind a stream")]
fn an_end_too_close_to_that_of_the_data_is_refused() {
    let mut streams = Streams::idle();
    streams.begin(3, 0..33, 0..0);
    let tables = tables([kept()[0]; 2]);
    decode(
        &tables,
        &[0; 8],
        &mut streams,
        &mut [],
        &mut Events::default(),
    );
}
