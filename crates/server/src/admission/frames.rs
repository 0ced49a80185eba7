//! A cache of decoded frames: another size of an image that starts with the same frame needs no decode.
//!
//! A cached frame is bit for bit the one that its plan would have decoded, so results do not depend on the state of the
//! cache. GreedyDual-Size decides which frames stay (Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms", 1997): a
//! frame is worth the decoding time that each of its bytes saves, plus the age of the cache when the frame was last
//! used. A SIEVE table would ignore the decoding time, which differs by a factor of a thousand among frames of the same
//! size.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use andon_cache::Key;
use andon_pixels::{DecodeKey, Decoded, Plan};

use super::shared_decode::DecodeInput;

/// The cached frames, limited to a total number of bytes.
#[derive(Debug, Default)]
pub(super) struct Frames(Mutex<Entries>);

/// Identifies a frame: the key of its source, and how it was decoded.
type Name = (Key, DecodeKey);

#[derive(Debug, Default)]
struct Entries {
    /// Maximum total bytes of all frames.
    most: u64,
    bytes: u64,
    frames: HashMap<Name, Frame>,
    /// Names in the order of eviction: the first frame is evicted next.
    order: BTreeMap<Rank, Name>,
    /// The age of the cache: the worth of the frame that was evicted last.
    age: u64,
    /// Number of uses so far. Among frames of equal worth, the least recently used is evicted first.
    uses: u64,
}

/// The sort key for eviction: a frame's worth, and the number of its last use.
type Rank = (u64, u64);

#[derive(Debug)]
struct Frame {
    decoded: Decoded,
    bytes: u64,
    /// Picoseconds of decoding that each byte of the frame saves.
    saving: u64,
    rank: Rank,
}

impl Frames {
    /// Creates a cache of up to `most` bytes of samples.
    pub(super) fn new(most: u64) -> Self {
        let frames = Self::default();
        frames.lock().most = most;
        frames
    }

    /// Changes the limit to `most` bytes of samples.
    pub(super) fn resize(&self, most: u64) {
        let mut entries = self.lock();
        entries.most = most;
        entries.make_room(0);
    }

    /// Removes all frames.
    pub(super) fn clear(&self) {
        let mut entries = self.lock();
        let most = entries.most;
        *entries = Entries {
            most,
            ..Entries::default()
        };
    }

    /// Returns the bytes of all cached frames.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// Returns the cached frame that a job starts with.
    pub(super) fn get(&self, input: &DecodeInput) -> Option<Decoded> {
        let name = name(input)?;
        let mut entries = self.lock();
        let rank = {
            let frame = entries.frames.get(&name)?;
            entries.rank(frame.saving)
        };
        entries.uses += 1;
        let frame = entries.frames.get_mut(&name)?;
        let old_rank = std::mem::replace(&mut frame.rank, rank);
        let mut decoded = frame.decoded.clone();
        decoded.time = Duration::ZERO;
        entries.order.remove(&old_rank);
        entries.order.insert(rank, name);
        Some(decoded)
    }

    /// Whether the frame that a job starts with is cached.
    pub(super) fn has(&self, input: &DecodeInput) -> bool {
        name(input).is_some_and(|name| self.lock().frames.contains_key(&name))
    }

    /// Whether the frame that a job starts with would be cached after decoding it.
    pub(super) fn wants(&self, input: &DecodeInput) -> bool {
        let most = self.lock().most;
        name(input).is_some() && is_worth_it(&input.plan, most)
    }

    /// Caches the decoded frame that a job started with, if decoding it takes long enough and it leaves room for
    /// others.
    pub(super) fn put(&self, input: &DecodeInput, decoded: &Decoded) {
        let bytes = decoded.bytes().max(1);
        let mut entries = self.lock();
        let Some(name) = name(input).filter(|_| is_worth_it(&input.plan, entries.most)) else {
            return;
        };
        if bytes > entries.most || entries.frames.contains_key(&name) {
            return;
        }
        entries.make_room(bytes);
        let saving = input.plan.decode_nanos().saturating_mul(1000) / bytes;
        let rank = entries.rank(saving);
        entries.uses += 1;
        entries.bytes += bytes;
        entries.order.insert(rank, name);
        let decoded = decoded.clone();
        let frame = Frame {
            decoded,
            bytes,
            saving,
            rank,
        };
        entries.frames.insert(name, frame);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Returns the rank of a frame that is used now and whose cached bytes save `saving` picoseconds each.
    fn rank(&self, saving: u64) -> Rank {
        (self.age.saturating_add(saving), self.uses)
    }

    /// Evicts frames until `bytes` more fit.
    fn make_room(&mut self, bytes: u64) {
        while self.bytes.saturating_add(bytes) > self.most {
            let Some(((worth, _), name)) = self.order.pop_first() else {
                return;
            };
            self.age = worth;
            if let Some(frame) = self.frames.remove(&name) {
                self.bytes -= frame.bytes;
            }
        }
    }
}

fn name(input: &DecodeInput) -> Option<Name> {
    input.source.zip(input.plan.decode_key())
}

/// Whether the frame that a plan starts with is worth caching: decoding takes long enough, and the frame is small
/// enough to leave room for others in a cache of `most` bytes.
fn is_worth_it(plan: &Plan, most: u64) -> bool {
    plan.decode_nanos() >= LEAST_DECODE.as_nanos() as u64
        && plan.holding().frame <= most / LARGEST_SHARE
}

/// Minimum time that decoding a frame takes for the frame to be cached.
const LEAST_DECODE: Duration = Duration::from_micros(500);

/// The size of the cache divided by this is the maximum size of a frame.
const LARGEST_SHARE: u64 = 8;
