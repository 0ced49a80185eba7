//! Measures once how fast this processor decodes Huffman codes at many places of the data (streams) at once.
//!
//! The microcode mitigation of Gather Data Sampling (2023) makes gather instructions many times slower on some
//! processors, and a virtual machine does not reveal whether it is active. So look-ups of the streams are timed
//! against the same number of loads, each of which depends on the one before it. A decoder that reads a single place
//! takes the time of two to three such loads per look-up, mispredictions included. Streams must take much less,
//! because the values that they decode are copied once more.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::{BLOCKS, Code, Events, Kind, NOT_KEPT, STREAMS, Streams, Tables};

/// Number of attempts at each measurement. The shortest one counts, because others may have been interrupted.
const ATTEMPTS: usize = 8;

/// Number of calls of `decode` whose time is measured together, as one attempt.
const CALLS: usize = 8;

/// Bytes of data for each stream. A look-up consumes at most 31 bits.
const BYTES: usize = 4 * BLOCKS * CALLS;

/// Returns whether the SIMD version of `decode` is fast on this processor: a look-up for one stream must take less
/// than 1.5 times as long as a load from memory whose address depends on the load before it. The first call measures
/// both.
pub(super) fn is_fast() -> bool {
    static IS_FAST: LazyLock<bool> = LazyLock::new(|| {
        let times = look_ups().zip(loads());
        times.is_some_and(|(look_ups, loads)| 2 * look_ups < 3 * loads)
    });
    *IS_FAST
}

/// Measures several times how long the look-ups in [`CALLS`] calls of `decode` take, and returns the shortest time.
fn look_ups() -> Option<Duration> {
    // A code of each length up to 10 bits, so that few bit patterns are invalid. The code of 2 bits ends a block.
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
    // The data must not be the same at each place.
    (data.iter_mut().enumerate()).for_each(|(at, byte)| *byte ^= ((at * at) >> 3) as u8);
    let mut events = Events::default();
    let mut values = vec![0; BLOCKS * CALLS + 1];
    let attempts = (0..ATTEMPTS).map(|_| {
        let mut streams = Streams::idle();
        for stream in 0..STREAMS {
            let from = (8 * stream * BYTES) as u32;
            streams.begin(stream, from..from + 8 * BYTES as u32, 0..0);
        }
        let start = Instant::now();
        for _ in 0..CALLS {
            super::decode(&tables, &data, &mut streams, &mut values, &mut events);
        }
        start.elapsed()
    });
    attempts.min()
}

/// Measures several times how long as many dependent loads take as there are look-ups in [`CALLS`] calls of `decode`,
/// and returns the shortest time.
fn loads() -> Option<Duration> {
    let table: Vec<u32> = (0..1024).map(|at: u32| at.wrapping_mul(7) + 1).collect();
    let attempts = (0..ATTEMPTS).map(|_| {
        let table = black_box(&table[..1024]);
        let start = Instant::now();
        let mut at = 0;
        for _ in 0..CALLS * BLOCKS * STREAMS {
            at = table[at as usize % 1024];
        }
        black_box(at);
        start.elapsed()
    });
    attempts.min()
}
