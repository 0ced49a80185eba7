//! The purge log of the shared store: one object with the purges of all nodes. A node adds a purge by replacing the
//! object, on condition that no other node has replaced it meanwhile.
//!
//! Purges are numbered consecutively. An entry carries the number of the last purge that its node knew when making the
//! entry began, and is purged if a later purge matches it: numbers, not the clocks of the nodes, decide what came
//! first. A new log starts at the current time in milliseconds, so that its numbers are beyond those of a log that was
//! lost.

use crate::entry::Stored;
use crate::fields::{self, Reader, put_bytes, put_u64};
use crate::key::Key;
use crate::purge::{Mark, Rules, Selector};

/// The contents of the shared purge log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedLog {
    /// The purges of this log have consecutive numbers above this one.
    pub(crate) start: u64,
    /// The log has dropped the purges up to this number. An entry whose making began when fewer purges were known
    /// cannot be compared with them, and counts as purged.
    pub(crate) floor: u64,
    /// The number of the last purge that was added to the log.
    pub(crate) last: u64,
    /// The purges, oldest first.
    pub(crate) marks: Vec<Mark>,
}

impl SharedLog {
    pub(crate) fn new(start: u64) -> Self {
        Self {
            start,
            floor: start,
            last: start,
            marks: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, selector: Selector) {
        self.last += 1;
        match selector {
            Selector::Everything => self.marks.clear(),
            _ => self.marks.retain(|mark| mark.selector != selector),
        }
        self.marks.push(Mark {
            generation: self.last,
            selector,
        });
        if self.marks.len() > MOST {
            let last_dropped = self.marks.drain(..MOST / 2).next_back();
            self.floor = last_dropped.map_or(self.floor, |mark| mark.generation);
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [self.start, self.floor, self.last] {
            put_u64(&mut bytes, number);
        }
        for mark in &self.marks {
            let mut record = mark.generation.to_le_bytes().to_vec();
            fields::put_selector(&mut record, &mark.selector);
            put_bytes(&mut bytes, &record);
        }
        bytes
    }

    /// Decodes a log. `None` if it is malformed.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let mut log = Self {
            start: reader.u64()?,
            floor: reader.u64()?,
            last: reader.u64()?,
            marks: Vec::new(),
        };
        while !reader.0.is_empty() {
            let mut record = Reader(reader.bytes()?);
            log.marks.push(Mark {
                generation: record.u64()?,
                selector: fields::selector(record.0)?,
            });
        }
        Some(log)
    }
}

/// A purge log in a form in which entries are quickly compared with it.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    start: u64,
    floor: u64,
    last: u64,
    rules: Rules,
}

impl Judge {
    pub(crate) fn of(log: &SharedLog) -> Self {
        let mut rules = Rules::default();
        for mark in &log.marks {
            rules.add(mark.clone());
        }
        Self {
            start: log.start,
            floor: log.floor,
            last: log.last,
            rules,
        }
    }

    /// Returns the number of the last known purge, or 0 if no log has been read.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn rules(&self) -> usize {
        self.rules.len()
    }

    /// Returns whether an entry that this node made is purged. Until a log has been read, no entry is. If this node
    /// began to make the entry before it first read a log, the entry is purged if any purge of the log matches it, or
    /// if the log has dropped purges.
    pub(crate) fn kills(&self, key: &Key, stored: &Stored) -> bool {
        match (self.last, stored.position) {
            (0, _) => false,
            (_, 0) => self.floor > self.start || self.rules.kills(key, &stored.entry, self.start),
            (_, position) => self.kills_since(key, stored, position),
        }
    }

    /// Returns whether an entry from the store is purged. Until a log has been read, every entry is.
    pub(crate) fn kills_shared(&self, key: &Key, stored: &Stored) -> bool {
        self.last == 0 || self.kills_since(key, stored, stored.position)
    }

    fn kills_since(&self, key: &Key, stored: &Stored, position: u64) -> bool {
        position < self.floor
            || position > self.last
            || self.rules.kills(key, &stored.entry, position)
    }
}

/// Largest number of purges in the log. At about 60 bytes each, a node reads at most 250 KB after a purge.
const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry;

    fn stored(position: u64) -> Stored {
        Stored {
            position,
            ..entry::stored("/a.jpg", 0)
        }
    }

    fn source(path: &str) -> Selector {
        Selector::Source(path.into())
    }

    #[test]
    fn what_is_written_reads_back_and_half_of_it_does_not() {
        let mut log = SharedLog::new(1000);
        log.add(source("/a.jpg"));
        log.add(Selector::Prefix("/trip/".into()));
        log.add(Selector::Tag("行灯".into()));
        log.add(Selector::Key(Key::of(&["k"])));
        let bytes = log.encode();
        assert_eq!(SharedLog::decode(&bytes), Some(log));
        assert_eq!(SharedLog::decode(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn an_entry_is_dead_if_a_purge_names_it_that_its_node_had_not_read() {
        let key = Key::of(&["k"]);
        let mut log = SharedLog::new(1000);
        log.add(source("/other.jpg"));
        log.add(source("/a.jpg"));
        let judge = Judge::of(&log);
        for (position, dead) in [(999, true), (1000, true), (1001, true), (1002, false)] {
            let stored = stored(position);
            assert_eq!(judge.kills(&key, &stored), dead, "{position}");
            assert_eq!(judge.kills_shared(&key, &stored), dead, "{position}");
        }
        // From a log that was lost.
        assert!(judge.kills_shared(&key, &stored(1003)));
        // Made before the log was read, and named by a purge; the next is not.
        assert!(judge.kills(&key, &stored(0)));
        assert!(!Judge::of(&SharedLog::new(1000)).kills(&key, &stored(0)));
    }

    #[test]
    fn until_a_log_was_read_nothing_of_the_store_is_alive_and_all_that_was_made_here() {
        let (judge, key) = (Judge::default(), Key::of(&["k"]));
        assert!(judge.kills_shared(&key, &stored(5)));
        assert!(!judge.kills(&key, &stored(5)));
        assert!(!judge.kills(&key, &stored(0)));
    }

    #[test]
    fn the_same_purge_again_takes_no_room_and_too_many_leave_a_floor() {
        let key = Key::of(&["k"]);
        let mut log = SharedLog::new(10);
        for _ in 0..3 {
            log.add(source("/b.jpg"));
        }
        assert_eq!((log.marks.len(), log.last, log.floor), (1, 13, 10));
        let before = stored(13);
        for number in 0..MOST {
            log.add(source(&number.to_string()));
        }
        assert_eq!(log.marks.len(), MOST / 2 + 1);
        assert!(Judge::of(&log).kills(&key, &before));
        assert!(Judge::of(&log).kills(&key, &stored(0)));
        assert!(!Judge::of(&log).kills(&key, &stored(log.last)));
        log.add(Selector::Everything);
        assert_eq!(log.marks.len(), 1);
        assert!(Judge::of(&log).kills(&key, &stored(log.last - 1)));
    }
}
