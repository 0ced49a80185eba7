//! The bytes of an entry's file.
//!
//! ```text
//! magic 8 | check 16 | key 32 | era 8 | generation 8 | position 8 | stamp 24 | head length 4 | body length 8
//! head: the entry's fields, each with its length
//! body: exactly as served
//! ```
//! Numbers are little-endian. `check` covers all bytes that follow it, so a file that was changed by a disk fault, a
//! crash or another program is detected and never served. `era` is that of the purge log, which begins a new one if
//! purges were lost. `generation` and `position` are the numbers of the last purges, of this node and of all nodes,
//! that were known when making the entry began. `stamp` is the time at which the entry was stored.

use std::sync::Arc;

use bytes::Bytes;

use crate::entry::Stored;
use crate::fields::{self, LONGEST as LONGEST_HEAD, Reader, put_u64};
use crate::freshness::Stamp;
use crate::key::Key;

const MAGIC: &[u8; 8] = b"andon\x00c3";
const CHECK: usize = 16;
const CHECKED_FROM: usize = MAGIC.len() + CHECK;
/// Length in bytes of the part of an entry's file before the head, which contains the entry's fields.
pub(crate) const PREAMBLE: usize = CHECKED_FROM + Key::BYTES + 8 + 8 + 8 + 24 + 4 + 8;

/// Returns the bytes that precede the body in an entry's file. `None` if the entry's other fields take more than
/// [`LONGEST_HEAD`] bytes.
pub(crate) fn encode(key: &Key, era: u64, stored: &Stored) -> Option<Vec<u8>> {
    let entry = &*stored.entry;
    let head = fields::encode(entry);
    if head.len() > LONGEST_HEAD {
        return None;
    }

    let mut bytes = Vec::with_capacity(PREAMBLE + head.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; CHECK]);
    bytes.extend_from_slice(key.as_bytes());
    let Stamp {
        wall,
        since_boot,
        boot,
    } = stored.stamp;
    for number in [
        era,
        stored.generation,
        stored.position,
        wall,
        since_boot,
        boot,
    ] {
        put_u64(&mut bytes, number);
    }
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    put_u64(&mut bytes, entry.body.len() as u64);
    bytes.extend_from_slice(&head);
    let check = check(&[&bytes[CHECKED_FROM..], &entry.body]);
    bytes[MAGIC.len()..CHECKED_FROM].copy_from_slice(&check);
    Some(bytes)
}

/// Checks and decodes a whole file. `None` unless `encode` wrote exactly these bytes, for this key and for the purge log
/// with this `era` (a random number that each new log gets). The body shares the buffer of `file`.
pub(crate) fn decode(key: &Key, era: u64, file: Vec<u8>) -> Option<Stored> {
    let file = Bytes::from(file);
    if check(&[file.get(CHECKED_FROM..)?]) != file[MAGIC.len()..CHECKED_FROM] {
        return None;
    }
    let (mut stored, body_len) = decode_start(key, era, &file)?;
    let body_at = file.len().checked_sub(usize::try_from(body_len).ok()?)?;
    if body_at != PREAMBLE + head_len(&file)? {
        return None;
    }
    Arc::get_mut(&mut stored.entry)?.body = file.slice(body_at..);
    Some(stored)
}

/// Decodes an entry without its body, and the body's length, **without verifying the checksum**. This is enough to
/// compare the entry with purges. `start` is the beginning of the file and must contain all fields of the entry.
/// Returns `None` if it does not, or if the file does not belong to this key and to the purge log with this `era` (a
/// random number that each new log gets).
pub(crate) fn decode_start(key: &Key, era: u64, start: &[u8]) -> Option<(Stored, u64)> {
    let mut reader = Reader(start);
    let matches = reader.take(MAGIC.len())? == MAGIC
        && reader.take(CHECK).is_some()
        && reader.take(Key::BYTES)? == key.as_bytes()
        && reader.u64()? == era;
    if !matches {
        return None;
    }
    let generation = reader.u64()?;
    let position = reader.u64()?;
    let stamp = Stamp {
        wall: reader.u64()?,
        since_boot: reader.u64()?,
        boot: reader.u64()?,
    };
    let head_len = reader.u32()? as usize;
    let body_len = reader.u64()?;
    let entry = fields::decode(reader.take(head_len)?)?;
    let stored = Stored {
        entry: Arc::new(entry),
        stamp,
        generation,
        position,
    };
    Some((stored, body_len))
}

/// Returns how many bytes of a file `decode_start` needs, given at least its first [`PREAMBLE`] bytes. `None` if they
/// are not the beginning of an entry's file.
pub(crate) fn start_len(preamble: &[u8]) -> Option<u64> {
    Some((PREAMBLE + head_len(preamble)?) as u64)
}

fn head_len(file: &[u8]) -> Option<usize> {
    let len = Reader(file.get(PREAMBLE - 12..)?).u32()? as usize;
    (len <= LONGEST_HEAD).then_some(len)
}

/// Returns a digest of the concatenated parts, truncated to a length that is still enough to exclude accidental
/// matches.
pub(crate) fn check(parts: &[&[u8]]) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut check = [0; CHECK];
    check.copy_from_slice(&hasher.finalize().as_bytes()[..CHECK]);
    check
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;
    use crate::entry::Entry;
    use crate::freshness::Life;

    const ERA: u64 = 9;

    prop_compose! {
        fn stored()(
            body in prop::collection::vec(any::<u8>(), 0..300),
            texts in [".{0,9}", ".{0,9}", ".{0,9}"],
            tags in prop::collection::vec(".{0,9}", 0..4),
            modified in prop::option::of(0..1u64 << 40),
            life in any::<[u32; 3]>(),
            notes in prop::collection::vec(any::<u8>(), 0..30),
            numbers in any::<[u64; 5]>(),
        ) -> Stored {
            let [media_type, etag, source] = texts;
            let span = |n: u32| Duration::from_millis(n.into());
            Stored {
                entry: Arc::new(Entry {
                    body: body.into(), media_type, etag, source, tags,
                    notes: notes.into(),
                    last_modified: modified.map(|s| UNIX_EPOCH + Duration::from_secs(s)),
                    life: Life {
                        fresh_for: span(life[0]),
                        stale_while_revalidate: span(life[1]),
                        stale_if_error: span(life[2]),
                    },
                }),
                stamp: Stamp { wall: numbers[0], since_boot: numbers[1], boot: numbers[2] },
                generation: numbers[3],
                position: numbers[4],
            }
        }
    }

    fn file(key: &Key, stored: &Stored) -> Vec<u8> {
        let mut file = encode(key, ERA, stored).expect("short fields");
        file.extend_from_slice(&stored.entry.body);
        file
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(stored in stored()) {
            let key = Key::of(&["k"]);
            let file = file(&key, &stored);
            let start = start_len(&file).expect("a preamble") as usize;
            let (bare, body_len) = decode_start(&key, ERA, &file[..start]).expect("a start");
            prop_assert_eq!(body_len, stored.entry.body.len() as u64);
            prop_assert_eq!(&bare.entry.tags, &stored.entry.tags);
            prop_assert!(decode(&Key::of(&["other"]), ERA, file.clone()).is_none());
            prop_assert!(decode(&key, ERA + 1, file.clone()).is_none());
            prop_assert_eq!(decode(&key, ERA, file), Some(stored));
        }

        #[test]
        fn any_changed_bit_missing_end_or_added_byte_is_refused(
            stored in stored(), at in any::<prop::sample::Index>(), bit in 0..8u8, more in any::<u8>(),
        ) {
            let key = Key::of(&["k"]);
            let good = file(&key, &stored);
            let mut flipped = good.clone();
            flipped[at.index(good.len())] ^= 1 << bit;
            prop_assert!(decode(&key, ERA, flipped).is_none());
            prop_assert!(decode(&key, ERA, good[..at.index(good.len())].to_vec()).is_none());
            let mut longer = good;
            longer.push(more);
            prop_assert!(decode(&key, ERA, longer).is_none());
        }

        #[test]
        fn rubbish_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let key = Key::of(&["k"]);
            prop_assert!(decode_start(&key, ERA, &bytes).is_none());
            prop_assert!(decode(&key, ERA, bytes).is_none());
        }
    }
}
