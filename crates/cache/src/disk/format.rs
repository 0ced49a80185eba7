//! The bytes of an entry's file.
//!
//! ```text
//! magic 8 | check 16 | key 32 | era 8 | generation 8 | stamp 24 | head length 4 | body length 8
//! head: the entry's fields, each with its length
//! body: exactly as served
//! ```
//! Numbers are little-endian. `check` covers all that follows it, so whatever a disk, a crash or a
//! stray hand did to a file, it is either what was written or it is refused.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::entry::{Entry, Stored};
use crate::freshness::{Life, Stamp, millis};
use crate::key::Key;

const MAGIC: &[u8; 8] = b"andon\x00c1";
const CHECK: usize = 16;
const CHECKED_FROM: usize = MAGIC.len() + CHECK;
/// Length of the part before the head.
pub(crate) const PREAMBLE: usize = CHECKED_FROM + Key::BYTES + 8 + 8 + 24 + 4 + 8;
/// A head longer than this was never written: URLs and tags are far shorter.
const LONGEST_HEAD: usize = 1 << 20;

/// What precedes the body in an entry's file; `None` if the entry's fields are absurdly long.
pub(crate) fn encode(key: &Key, era: u64, stored: &Stored) -> Option<Vec<u8>> {
    let entry = &*stored.entry;
    let mut head = Vec::with_capacity(256);
    put_bytes(&mut head, entry.media_type.as_bytes());
    put_bytes(&mut head, entry.etag.as_bytes());
    put_bytes(&mut head, entry.source.as_bytes());
    put_bytes(&mut head, &entry.notes);
    put_u64(&mut head, entry.last_modified.map_or(0, seconds_plus_one));
    put_u64(&mut head, millis(entry.life.fresh_for));
    put_u64(&mut head, millis(entry.life.stale_while_revalidate));
    put_u64(&mut head, millis(entry.life.stale_if_error));
    put_u64(&mut head, u64::from(entry.negative));
    put_u64(&mut head, entry.tags.len() as u64);
    entry
        .tags
        .iter()
        .for_each(|tag| put_bytes(&mut head, tag.as_bytes()));
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
    for number in [era, stored.generation, wall, since_boot, boot] {
        put_u64(&mut bytes, number);
    }
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    put_u64(&mut bytes, entry.body.len() as u64);
    bytes.extend_from_slice(&head);
    let check = check(&[&bytes[CHECKED_FROM..], &entry.body]);
    bytes[MAGIC.len()..CHECKED_FROM].copy_from_slice(&check);
    Some(bytes)
}

/// The whole file back, checked; `None` if it is anything but what `encode` wrote for this key in
/// this era. The body shares the buffer.
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

/// The entry without its body, **unchecked**, and the body's length: enough to hold against purges.
/// `start` must reach to the end of the head; `None` otherwise or if it is not of this key and era.
pub(crate) fn decode_start(key: &Key, era: u64, start: &[u8]) -> Option<(Stored, u64)> {
    let mut reader = Reader(start);
    let ours = reader.take(MAGIC.len())? == MAGIC
        && reader.take(CHECK).is_some()
        && reader.take(Key::BYTES)? == key.as_bytes()
        && reader.u64()? == era;
    if !ours {
        return None;
    }
    let generation = reader.u64()?;
    let stamp = Stamp {
        wall: reader.u64()?,
        since_boot: reader.u64()?,
        boot: reader.u64()?,
    };
    let head_len = reader.u32()? as usize;
    let body_len = reader.u64()?;
    let mut head = Reader(reader.take(head_len)?);
    let entry = Entry {
        body: Bytes::new(),
        media_type: head.text()?,
        etag: head.text()?,
        source: head.text()?,
        notes: Bytes::copy_from_slice(head.bytes()?),
        last_modified: time_from_seconds_plus_one(head.u64()?)?,
        life: Life {
            fresh_for: Duration::from_millis(head.u64()?),
            stale_while_revalidate: Duration::from_millis(head.u64()?),
            stale_if_error: Duration::from_millis(head.u64()?),
        },
        negative: head.u64()? != 0,
        tags: (0..head.u64()?)
            .map(|_| head.text())
            .collect::<Option<_>>()?,
    };
    let stored = Stored {
        entry: Arc::new(entry),
        stamp,
        generation,
    };
    head.0.is_empty().then_some((stored, body_len))
}

/// How many bytes of a file `decode_start` wants to see; `None` if it is not such a file.
pub(crate) fn start_len(preamble: &[u8]) -> Option<u64> {
    Some((PREAMBLE + head_len(preamble)?) as u64)
}

fn head_len(file: &[u8]) -> Option<usize> {
    let len = Reader(file.get(PREAMBLE - 12..)?).u32()? as usize;
    (len <= LONGEST_HEAD).then_some(len)
}

/// A digest of the parts put end to end, cut to a length that no accident matches.
pub(crate) fn check(parts: &[&[u8]]) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut check = [0; CHECK];
    check.copy_from_slice(&hasher.finalize().as_bytes()[..CHECK]);
    check
}

pub(crate) fn put_u64(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Takes fields from the front; `None` past the end.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u64()?).ok()?;
        self.take(len)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        Some(std::str::from_utf8(self.bytes()?).ok()?.to_owned())
    }
}

/// Zero is "none", so a time is written one second late.
fn seconds_plus_one(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs() + 1)
}

fn time_from_seconds_plus_one(seconds: u64) -> Option<Option<SystemTime>> {
    match seconds.checked_sub(1) {
        None => Some(None),
        Some(seconds) => UNIX_EPOCH
            .checked_add(Duration::from_secs(seconds))
            .map(Some),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ERA: u64 = 9;

    prop_compose! {
        fn stored()(
            body in prop::collection::vec(any::<u8>(), 0..300),
            texts in [".{0,9}", ".{0,9}", ".{0,9}"],
            tags in prop::collection::vec(".{0,9}", 0..4),
            modified in prop::option::of(0..1u64 << 40),
            life in any::<[u32; 3]>(),
            negative in any::<bool>(),
            notes in prop::collection::vec(any::<u8>(), 0..30),
            numbers in any::<[u64; 4]>(),
        ) -> Stored {
            let [media_type, etag, source] = texts;
            let span = |n: u32| Duration::from_millis(n.into());
            Stored {
                entry: Arc::new(Entry {
                    body: body.into(), media_type, etag, source, tags, negative,
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
