//! The Huffman decoder with AVX-512: sixteen streams per vector, and two vectors at a time, so that each hides the
//! other's latencies.

use std::arch::x86_64::*;

use super::tables::{BAD, DC_BEFORE, ENDS, Tables, WINDOW};
use super::{BLOCKS, Event, Events, KNOWN_BITS, RECORD_INTERVAL, STREAMS, Streams};

/// Number of streams in a vector.
const WIDE: usize = 16;
const VECTORS: usize = STREAMS / WIDE;

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32]) -> __m512i {
    let words = &words[..WIDE];
    // SAFETY: 16 words are 64 bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(vector: __m512i, words: &mut [u32]) {
    let words = &mut words[..WIDE];
    // SAFETY: 16 words are 64 bytes.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(word: u32) -> __m512i {
    _mm512_set1_epi32(word as i32)
}

/// Capacity of the scratch buffers: all values of a call of [`decode`], and room for the last vectors, which are stored
/// whole.
const MOST_KEPT: usize = (BLOCKS + 1) * STREAMS;

/// Buffers for the values that a call of [`decode`] produces and for their indices in the output, before the values are
/// written there.
#[derive(Clone, Debug)]
pub(super) struct Scratch(Box<[[u32; MOST_KEPT]; 2]>);

impl Default for Scratch {
    fn default() -> Self {
        Self(Box::new([[0; MOST_KEPT]; 2]))
    }
}

/// The part of the streams' state that the loop changes, in registers.
struct State {
    position: [__m512i; VECTORS],
    k: [__m512i; VECTORS],
    block: [__m512i; VECTORS],
    mcus: [__m512i; VECTORS],
    mcu_start: [__m512i; VECTORS],
    place: [__m512i; VECTORS],
}

/// Vector version of `decode`, with the same results as the scalar one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
pub(super) fn decode(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    events: &mut Events,
) {
    if tables.blocks.count.iter().all(|&count| count <= 1) {
        steps::<false>(tables, data, streams, values, events);
    } else {
        steps::<true>(tables, data, streams, values, events);
    }
}

/// The loop of `decode`. `AC` tells whether any AC coefficients are written to the output besides the DC differences.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
fn steps<const AC: bool>(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    events: &mut Events,
) {
    let blocks = &tables.blocks;
    let (first_ac, next) = (load(&blocks.ac), load(&blocks.next));
    let (long_from, long) = (load(&blocks.long_from), load(&blocks.long));
    let (kept_of, last) = (load(&blocks.kept), load(&blocks.last));
    let (counts, shifts) = (load(&blocks.count), load(&blocks.shift));
    let places_of = both(&tables.places);
    // Reverses the bytes of each 32-bit word.
    let big_endian = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
    let (one, zero) = (all(1), _mm512_setzero_si512());
    let mut state = State {
        position: both(&streams.position),
        k: both(&streams.k),
        block: both(&streams.block),
        mcus: both(&streams.mcus),
        mcu_start: both(&streams.mcu_start),
        place: both(&streams.place),
    };
    let [places, values_found] = &mut *events.scratch.0;
    let mut count = 0;
    // Each step consists of several loops over the vectors, which are short enough to be unrolled, so that the
    // instructions of one vector are interleaved with those of the other.
    for _ in 0..BLOCKS {
        let (mut active, mut is_dc) = ([0; VECTORS], [0; VECTORS]);
        for v in 0..VECTORS {
            let limits = |words: &[u32; STREAMS]| load(&words[v * WIDE..]);
            let (position, k, block) = (state.position[v], state.k[v], state.block[v]);
            active[v] = _mm512_cmplt_epu32_mask(position, limits(&streams.end));
            is_dc[v] = _mm512_mask_testn_epi32_mask(active[v], k, k);
            let begins = _mm512_mask_testn_epi32_mask(is_dc[v], block, block);
            let distance = _mm512_sub_epi32(position, limits(&streams.record_from));
            let in_range =
                _mm512_mask_cmplt_epu32_mask(begins, distance, limits(&streams.record_bits));
            let due = _mm512_mask_testn_epi32_mask(begins, state.mcus[v], all(RECORD_INTERVAL - 1));
            if in_range | due != 0 {
                state.note(in_range | due, v, &mut events.starts);
            }
            state.mcu_start[v] = _mm512_mask_mov_epi32(state.mcu_start[v], begins, position);
            state.mcus[v] = _mm512_mask_add_epi32(state.mcus[v], begins, state.mcus[v], one);
        }

        let (mut bits, mut entries) = ([zero; VECTORS], [zero; VECTORS]);
        for v in 0..VECTORS {
            // SAFETY: for the streams that are read, `end` is less than 2^32 and at least 4 bytes before the end of the
            // data, as `super::decode` has checked. So the four bytes from that of `position` on are in the data.
            let words = unsafe {
                let at = _mm512_srli_epi32::<3>(state.position[v]);
                _mm512_mask_i32gather_epi32::<1>(zero, active[v], at, data.as_ptr().cast())
            };
            let shift = _mm512_and_si512(state.position[v], all(7));
            bits[v] = _mm512_sllv_epi32(_mm512_shuffle_epi8(words, big_endian), shift);
        }
        for v in 0..VECTORS {
            let block = state.block[v];
            let window = _mm512_srli_epi32::<{ 32 - WINDOW }>(bits[v]);
            let index = _mm512_add_epi32(window, _mm512_permutexvar_epi32(block, first_ac));
            let index = _mm512_mask_sub_epi32(index, is_dc[v], index, all(DC_BEFORE));
            let from = _mm512_permutexvar_epi32(block, long_from);
            let is_long = _mm512_mask_cmpge_epu32_mask(!is_dc[v], bits[v], from);
            let upper = _mm512_srli_epi32::<16>(bits[v]);
            let offset = _mm512_permutexvar_epi32(block, long);
            let index = _mm512_mask_add_epi32(index, is_long, upper, offset);
            // SAFETY: `Tables` has entries for every window of a DC difference and, from `ac` of a block on, of AC
            // coefficients, and for every 16 bits from `long_from` on; it has all sixteen blocks that a permutation can choose. None
            // of its fields is public.
            entries[v] = unsafe {
                let base = tables.entries.as_ptr().cast();
                _mm512_mask_i32gather_epi32::<4>(zero, active[v], index, base)
            };
        }

        let (mut next_k, mut consumed) = ([zero; VECTORS], [zero; VECTORS]);
        let (mut is_kept, mut ends) = ([0; VECTORS], [0; VECTORS]);
        for v in 0..VECTORS {
            // A stream that is not read has an entry of zeros, so it does not advance.
            let (entries, k, block) = (entries[v], state.k[v], state.block[v]);
            let firsts = _mm512_srli_epi32::<16>(entries);
            let next_k_of_all = _mm512_add_epi32(k, advance(entries));
            let mut only_first = _mm512_cmpgt_epu32_mask(next_k_of_all, all(64));
            if AC {
                let last = _mm512_permutexvar_epi32(block, last);
                is_kept[v] = _mm512_mask_cmple_epu32_mask(active[v] & !is_dc[v], k, last);
                only_first |= is_kept[v];
            }
            next_k[v] = _mm512_mask_add_epi32(next_k_of_all, only_first, k, advance(firsts));
            let halves = _mm512_mask_mov_epi32(entries, only_first, firsts);
            consumed[v] = _mm512_and_si512(halves, all(31));
            ends[v] = _mm512_test_epi32_mask(halves, all(ENDS))
                | _mm512_cmpge_epu32_mask(next_k[v], all(64));
            let is_bad = _mm512_test_epi32_mask(halves, all(BAD))
                | _mm512_cmpgt_epu32_mask(next_k[v], all(64));
            if is_bad != 0 {
                state.note(is_bad, v, &mut events.errors);
            }
        }

        for v in 0..VECTORS {
            let block = state.block[v];
            let firsts = _mm512_srli_epi32::<16>(entries[v]);
            let size = _mm512_srli_epi32::<12>(firsts);
            let consumed = _mm512_and_si512(firsts, all(31));
            let length = _mm512_sub_epi32(consumed, size);
            let mut from_value = _mm512_sllv_epi32(bits[v], length);
            let (mut is_value, mut place) = (is_dc[v], zero);
            if AC {
                place = _mm512_mask_sub_epi32(zero, is_kept[v], next_k[v], one);
                let has_size = _mm512_mask_test_epi32_mask(is_kept[v], size, size);
                let last = _mm512_permutexvar_epi32(block, last);
                let within = _mm512_mask_cmple_epu32_mask(has_size, place, last);
                let place_bit = _mm512_sllv_epi32(one, place);
                let kept_bits = _mm512_permutexvar_epi32(block, kept_of);
                is_value |= _mm512_mask_test_epi32_mask(within, kept_bits, place_bit);
                let unknown = _mm512_mask_cmpgt_epu32_mask(is_value, consumed, all(KNOWN_BITS));
                if unknown != 0 {
                    let value_position = _mm512_add_epi32(state.position[v], length);
                    let words = distant(unknown, value_position, data);
                    from_value = _mm512_mask_mov_epi32(from_value, unknown, words);
                }
            }
            let magnitude = _mm512_srlv_epi32(from_value, _mm512_sub_epi32(all(32), size));
            let is_negative = _mm512_cmpge_epi32_mask(from_value, zero);
            let highest = _mm512_sub_epi32(_mm512_sllv_epi32(one, size), one);
            let value = _mm512_mask_sub_epi32(magnitude, is_negative, magnitude, highest);
            let mut to = state.place[v];
            if AC {
                let of_kinds = _mm512_permutex2var_epi32(places_of[0], place, places_of[1]);
                let of_kind = _mm512_srlv_epi32(of_kinds, _mm512_permutexvar_epi32(block, shifts));
                let within = _mm512_and_si512(of_kind, all(255));
                to = _mm512_mask_add_epi32(to, is_kept[v], to, within);
            }
            let to = _mm512_maskz_compress_epi32(is_value, to);
            store(to, &mut places[count..]);
            let value = _mm512_maskz_compress_epi32(is_value, value);
            store(value, &mut values_found[count..]);
            count += is_value.count_ones() as usize;
        }
        for v in 0..VECTORS {
            state.position[v] = _mm512_add_epi32(state.position[v], consumed[v]);
            state.k[v] = _mm512_maskz_mov_epi32(!ends[v], next_k[v]);
            let block = state.block[v];
            state.block[v] = _mm512_mask_permutexvar_epi32(block, ends[v], block, next);
            let count = if AC {
                _mm512_permutexvar_epi32(block, counts)
            } else {
                one
            };
            state.place[v] = _mm512_mask_add_epi32(state.place[v], ends[v], state.place[v], count);
        }
    }
    for (&place, &value) in places[..count].iter().zip(&*values_found) {
        values[place as usize] = value as i16;
    }
    for v in 0..VECTORS {
        let from = v * WIDE;
        store(state.position[v], &mut streams.position[from..]);
        store(state.k[v], &mut streams.k[from..]);
        store(state.block[v], &mut streams.block[from..]);
        store(state.mcus[v], &mut streams.mcus[from..]);
        store(state.mcu_start[v], &mut streams.mcu_start[from..]);
        store(state.place[v], &mut streams.place[from..]);
    }
}

/// Extracts from each table entry how far it advances the coefficient index.
#[inline]
#[target_feature(enable = "avx512f")]
fn advance(entries: __m512i) -> __m512i {
    _mm512_and_si512(_mm512_srli_epi32::<5>(entries), all(31))
}

/// Loads one field of all streams.
#[inline]
#[target_feature(enable = "avx512f")]
fn both(words: &[u32; STREAMS]) -> [__m512i; VECTORS] {
    [load(words), load(&words[WIDE..])]
}

impl State {
    /// Records an event for each stream of vector `v` that is set in `mask`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn note(&self, mask: u16, v: usize, events: &mut Vec<Event>) {
        note(
            mask,
            v,
            [self.position[v], self.mcus[v], self.place[v]],
            events,
        );
    }
}

/// Appends an event to `events` for each stream in vector `v` whose bit in `mask` is set. `vectors` are the positions,
/// MCU counts and output indices of these streams, passed by value because a state whose address is taken cannot stay in
/// registers.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn note(mask: u16, v: usize, vectors: [__m512i; 3], events: &mut Vec<Event>) {
    let [mut positions, mut mcus, mut places] = [[0; WIDE]; 3];
    store(vectors[0], &mut positions);
    store(vectors[1], &mut mcus);
    store(vectors[2], &mut places);
    for number in (0..WIDE).filter(|number| mask >> number & 1 == 1) {
        events.push(Event {
            stream: v * WIDE + number,
            position: positions[number],
            mcus: mcus[number],
            place: places[number],
        });
    }
}

/// Loads the bits from `positions` on, for the streams that are set in `mask`.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn distant(mask: u16, positions: __m512i, data: &[u8]) -> __m512i {
    let (mut at, mut words) = ([0; WIDE], [0; WIDE]);
    store(positions, &mut at);
    for number in (0..WIDE).filter(|number| mask >> number & 1 == 1) {
        words[number] = super::bits_at(data, at[number]);
    }
    load(&words)
}
