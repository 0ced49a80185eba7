//! Seals, which distinguish objects that were written by nodes with the same secret from everything else in the bucket.
//!
//! ```text
//! magic 8 | seal 32 | key 32 | position 8 | stored at 8 | head length 4 | head: the entry's fields | body
//! ```
//! The seal is a keyed BLAKE3 digest of all bytes that follow it. The key of the digest is derived from the secret and
//! the revision of results, and the result's own key is among the sealed bytes. So an object with another name or
//! revision, or with a single bit changed, is not accepted.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::bucket::MOST_BYTES;
use crate::clock::Moment;
use crate::entry::Stored;
use crate::fields::{self, Reader, put_u64};
use crate::freshness::{Stamp, millis};
use crate::key::Key;

/// The keys with which seals (keyed digests of objects) are made. They cannot be printed, because this type has no
/// `Debug`.
#[derive(Clone)]
pub(crate) struct Sealer {
    results: [u8; 32],
    purges: [u8; 32],
}

impl Sealer {
    pub(crate) fn new(secret: &[u8], revision: &str) -> Self {
        let of_results = [
            &(secret.len() as u64).to_le_bytes(),
            secret,
            revision.as_bytes(),
        ];
        Self {
            results: blake3::derive_key("andon shared results 1", &of_results.concat()),
            // Purges are about the results of all revisions.
            purges: blake3::derive_key("andon shared purges 1", secret),
        }
    }

    /// Encodes a result as the object to store in the bucket, with a seal (a keyed digest) that proves that a node with
    /// the same secret wrote it. Returns `None` if the object would be too large.
    pub(crate) fn seal(&self, key: &Key, stored: &Stored) -> Option<Bytes> {
        let head = fields::encode(&stored.entry);
        let length = START + head.len() + stored.entry.body.len();
        if head.len() > fields::LONGEST || length > MOST_BYTES {
            return None;
        }
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[0; SEAL]);
        bytes.extend_from_slice(key.as_bytes());
        put_u64(&mut bytes, stored.position);
        put_u64(&mut bytes, stored.stamp.wall);
        bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&stored.entry.body);
        put_seal(&self.results, &mut bytes);
        Some(bytes.into())
    }

    /// Checks the seal of an object read from the bucket, and decodes the result in it. Returns `None` if the object
    /// was not sealed for this key, or if its time is further in the future than the clocks of nodes may differ.
    pub(crate) fn open(&self, key: &Key, object: Bytes, now: &Moment) -> Option<Stored> {
        let mut reader = Reader(verify(&self.results, &object)?);
        if reader.take(Key::BYTES)? != key.as_bytes() {
            return None;
        }
        let (position, wall) = (reader.u64()?, reader.u64()?);
        let length = reader.u32()? as usize;
        let mut entry = fields::decode(reader.take(length)?)?;
        // Copied to a buffer of its own, because entries are charged by the length of their bodies.
        entry.body = Bytes::copy_from_slice(reader.0);
        let latest = millis(now.wall.saturating_add(SKEW));
        (wall <= latest).then(|| Stored {
            entry: Arc::new(entry),
            stamp: Stamp::of_other_node(wall.min(millis(now.wall)), now),
            generation: 0,
            position,
        })
    }

    /// Returns the object to store in the bucket for the encoded purge log: the log with its seal (a keyed digest).
    pub(crate) fn seal_purges(&self, log: &[u8]) -> Bytes {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[0; SEAL]);
        bytes.extend_from_slice(log);
        put_seal(&self.purges, &mut bytes);
        bytes.into()
    }

    /// Checks the object of the purge log and returns the log. `None` if its seal is not valid.
    pub(crate) fn open_purges<'a>(&self, object: &'a [u8]) -> Option<&'a [u8]> {
        verify(&self.purges, object)
    }
}

fn put_seal(key: &[u8; 32], bytes: &mut [u8]) {
    let seal = blake3::keyed_hash(key, &bytes[MAGIC.len() + SEAL..]);
    bytes[MAGIC.len()..][..SEAL].copy_from_slice(seal.as_bytes());
}

/// Returns the bytes after the seal, if the seal is valid.
fn verify<'a>(key: &[u8; 32], object: &'a [u8]) -> Option<&'a [u8]> {
    let contents = object.strip_prefix(MAGIC)?;
    let (seal, rest) = contents.split_at_checked(SEAL)?;
    let seal = blake3::Hash::from_bytes(seal.try_into().ok()?);
    // `blake3::Hash` compares in constant time.
    (blake3::keyed_hash(key, rest) == seal).then_some(rest)
}

const MAGIC: &[u8; 8] = b"andon\x00s2";
const SEAL: usize = 32;
/// Length in bytes of the part of an object before the head, which contains the entry's fields.
const START: usize = MAGIC.len() + SEAL + Key::BYTES + 8 + 8 + 4;
/// Largest difference between the clocks of nodes that is tolerated.
const SKEW: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::entry::Entry;
    use crate::freshness::Life;

    const NOW: Moment = Moment {
        wall: Duration::from_secs(1_000_000),
        since_boot: Duration::from_secs(50),
        boot: 7,
    };

    fn sealer() -> Sealer {
        Sealer::new(b"a secret of some length", "r1")
    }

    fn stored(body: Vec<u8>, source: &str) -> Stored {
        Stored {
            entry: Arc::new(Entry {
                body: body.into(),
                media_type: "image/webp".into(),
                etag: "\"e\"".into(),
                source: source.into(),
                tags: vec!["type:image/webp".into(), "url:x".into()],
                life: Life::fresh_for(Duration::from_secs(3600)),
                notes: Bytes::from_static(b"{}"),
                ..Entry::default()
            }),
            stamp: Stamp::of_other_node(999_000_000, &NOW),
            generation: 0,
            position: 12,
        }
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_for_its_key_alone(
            body in prop::collection::vec(any::<u8>(), 0..300), source in ".{0,9}",
        ) {
            let (key, stored) = (Key::of(&["k"]), stored(body, &source));
            let object = sealer().seal(&key, &stored).expect("a small one");
            prop_assert_eq!(sealer().open(&key, object.clone(), &NOW), Some(stored));
            prop_assert!(sealer().open(&Key::of(&["other"]), object, &NOW).is_none());
        }
    }

    #[test]
    fn another_secret_another_revision_or_another_kind_of_object_is_not_opened() {
        let key = Key::of(&["k"]);
        let object = sealer()
            .seal(&key, &stored(vec![1; 9], "a"))
            .expect("small");
        for other in [
            Sealer::new(b"a secret of some lengtH", "r1"),
            Sealer::new(b"a secret of some length", "r2"),
            Sealer::new(b"a secret of some lengthr", "1"),
        ] {
            assert!(other.open(&key, object.clone(), &NOW).is_none());
        }
        assert!(sealer().open_purges(&object).is_none());
        let purges = sealer().seal_purges(&object[MAGIC.len() + SEAL..]);
        assert!(sealer().open(&key, purges, &NOW).is_none());
    }

    #[test]
    fn what_was_stored_in_the_future_is_not_opened_but_for_clocks_that_differ_a_little() {
        let key = Key::of(&["k"]);
        for (ahead, opens) in [(0, true), (299_000, true), (301_000, false)] {
            let stamp = Stamp::of_other_node(millis(NOW.wall) + ahead, &NOW);
            let stored = Stored {
                stamp,
                ..stored(Vec::new(), "a")
            };
            let object = sealer().seal(&key, &stored).expect("small");
            let opened = sealer().open(&key, object, &NOW);
            assert_eq!(opened.is_some(), opens, "{ahead}");
            if let Some(opened) = opened {
                assert_eq!(opened.stamp.age(&NOW, &Life::default()), Duration::ZERO);
            }
        }
    }

    /// Tests a million objects that were not made with the secret: flipped bits, overwritten bytes, ends cut off or
    /// added, halves of two objects joined, objects moved to another name, and random bytes.
    #[test]
    fn of_a_million_planted_or_torn_objects_none_is_opened() {
        let sealer = sealer();
        let keys = [Key::of(&["one"]), Key::of(&["two"])];
        let good: Vec<Bytes> = (0..2)
            .map(|n| {
                let body = (0..97 + n).map(|i| (i * 7) as u8).collect();
                sealer
                    .seal(&keys[n], &stored(body, "a/b.jpg"))
                    .expect("small")
            })
            .collect();
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = move |below: usize| {
            // xorshift64*: the same objects in every run.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % below
        };
        for round in 0..1_000_000 {
            let mine = random(2);
            let mut object = good[mine].to_vec();
            let mut wanted = keys[mine];
            match round % 8 {
                0 => object[random(good[mine].len())] ^= 1 << random(8),
                1 => {
                    for _ in 0..1 + random(8) {
                        let at = random(object.len());
                        object[at] = object[at].wrapping_add(1 + random(255) as u8);
                    }
                }
                2 => object.truncate(random(good[mine].len())),
                3 => object.extend((0..1 + random(40)).map(|n| n as u8)),
                4 => {
                    let cut = 1 + random(good[mine].len() - 1);
                    object.truncate(cut);
                    object.extend_from_slice(&good[1 - mine][cut..]);
                }
                5 => wanted = keys[1 - mine],
                6 => {
                    // A sealed start with another key, position or time in it.
                    let at = MAGIC.len() + SEAL + random(START - MAGIC.len() - SEAL);
                    object[at] ^= 1 + random(255) as u8;
                }
                _ => {
                    let length = random(400);
                    let mut rubbish = MAGIC.to_vec();
                    rubbish.extend((0..length).map(|n| (n ^ random(256)) as u8));
                    object = rubbish;
                }
            }
            if object == good[mine] && wanted == keys[mine] {
                continue; // bytes that were changed and changed back
            }
            let opened = sealer.open(&wanted, object.into(), &NOW);
            assert!(opened.is_none(), "round {round}");
        }
        for n in 0..2 {
            assert!(sealer.open(&keys[n], good[n].clone(), &NOW).is_some());
        }
    }
}
