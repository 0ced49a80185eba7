//! How fast streams are here, measured once.
//!
//! Microcode against Gather Data Sampling (2023) makes gathers of some processors many times as slow, and in a virtual machine nobody
//! tells. So a few look-ups of streams are timed against as many loads that wait for one another. One place after the other, a look-up
//! takes two to three such loads, with what it mispredicts; streams must stay well below that, because their values are copied once more.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::{BLOCKS, Code, Found, Kind, NOT_KEPT, STREAMS, Streams, Tables};

/// Attempts at each measurement. The shortest counts, for something else may interrupt the others.
const ATTEMPTS: usize = 8;

/// Calls in an attempt.
const CALLS: usize = 8;

/// Bytes for each stream: each look-up consumes 31 bits at most.
const BYTES: usize = 4 * BLOCKS * CALLS;

/// Does a look-up of the streams take less than one and a half loads?
pub(super) fn is_fast() -> bool {
    static IS_FAST: LazyLock<bool> = LazyLock::new(|| {
        let times = look_ups().zip(loads());
        times.is_some_and(|(look_ups, loads)| 2 * look_ups < 3 * loads)
    });
    *IS_FAST
}

/// The time of an attempt's look-ups.
fn look_ups() -> Option<Duration> {
    // A code of each length up to 10 bits: so few bits have no meaning. The one of 2 bits ends a block.
    let symbols = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9];
    let codes: Vec<_> = (1..)
        .zip(symbols)
        .map(|(length, symbol)| Code {
            code: (1 << length) - 2,
            length,
            symbol,
        })
        .collect();
    let mut places = [NOT_KEPT; 32];
    places[0] = 0;
    let kind = Kind {
        dc: &codes,
        ac: &codes,
        places,
        count: 1,
    };
    let tables = Tables::new(&[kind], &[0; 16])?;
    let mut data = vec![0x5a; STREAMS * BYTES + super::PADDING];
    // Not the same at each place.
    (data.iter_mut().enumerate()).for_each(|(at, byte)| *byte ^= ((at * at) >> 3) as u8);
    let mut found = Found::default();
    let mut values = vec![0; BLOCKS * CALLS + 1];
    let attempts = (0..ATTEMPTS).map(|_| {
        let mut streams = Streams::idle();
        for stream in 0..STREAMS {
            let from = (8 * stream * BYTES) as u32;
            streams.begin(stream, from..from + 8 * BYTES as u32, 0..0);
        }
        let begun = Instant::now();
        for _ in 0..CALLS {
            super::decode(&tables, &data, &mut streams, &mut values, &mut found);
        }
        begun.elapsed()
    });
    attempts.min()
}

/// The time of as many loads.
fn loads() -> Option<Duration> {
    let table: Vec<u32> = (0..1024).map(|at: u32| at.wrapping_mul(7) + 1).collect();
    let attempts = (0..ATTEMPTS).map(|_| {
        let table = black_box(&table[..1024]);
        let begun = Instant::now();
        let mut at = 0;
        for _ in 0..CALLS * BLOCKS * STREAMS {
            at = table[at as usize % 1024];
        }
        black_box(at);
        begun.elapsed()
    });
    attempts.min()
}
