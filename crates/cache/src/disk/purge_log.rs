//! The purge log on disk: one record is appended per purge, so that purges survive a restart.
//!
//! ```text
//! header: magic 8 | era 8 | generation 8 | check 16
//! record: length 8 | generation 8 | kind of the selector 1 | its value … | check 16
//! ```
//! The log is either valid as a whole or discarded: if one purge were missing, purged images would be served again. So
//! if anything is wrong with the log, a new *era* begins, and the entries of the old era are discarded, too. That
//! empties the cache, but no purged image is ever served.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::format::check;
use crate::fields::{self, Reader, put_bytes, put_u64};
use crate::purge::Mark;

const MAGIC: &[u8; 8] = b"andon\x00p1";
const CHECK: usize = 16;

/// The contents of a purge log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PurgeLog {
    pub(crate) era: u64,
    /// Generation number of the newest purge, even if that purge is no longer in the log.
    pub(crate) generation: u64,
    pub(crate) marks: Vec<Mark>,
}

impl PurgeLog {
    /// Creates an empty purge log with a new random `era`. Cache entries with another `era` are not valid, so the cache
    /// starts empty.
    pub(crate) fn new_era() -> Self {
        // The hasher's keys are the standard library's own randomness.
        let era = RandomState::new().hash_one(std::process::id());
        Self {
            era,
            generation: 0,
            marks: Vec::new(),
        }
    }

    /// Encodes the log as the contents of a new file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put_u64(&mut bytes, self.era);
        put_u64(&mut bytes, self.generation);
        let header_check = check(&[&bytes]);
        bytes.extend_from_slice(&header_check);
        for mark in &self.marks {
            bytes.extend_from_slice(&encode_record(self.era, mark));
        }
        bytes
    }

    /// Decodes the contents of a log file. `None` if any byte of it is wrong.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let header = reader.take(MAGIC.len() + 16)?;
        if reader.take(CHECK)? != check(&[header]) || !header.starts_with(MAGIC) {
            return None;
        }
        let mut fields = Reader(&header[MAGIC.len()..]);
        let era = fields.u64()?;
        let mut log = Self {
            era,
            generation: fields.u64()?,
            marks: Vec::new(),
        };
        while !reader.0.is_empty() {
            let record = reader.bytes()?;
            if reader.take(CHECK)? != check(&[&era.to_le_bytes(), record]) {
                return None;
            }
            let mark = decode_record(record)?;
            log.generation = log.generation.max(mark.generation);
            log.marks.push(mark);
        }
        Some(log)
    }
}

/// Encodes one purge as a record to append to the log that has the random number `era`. Other logs do not accept it.
pub(crate) fn encode_record(era: u64, mark: &Mark) -> Vec<u8> {
    let mut record = mark.generation.to_le_bytes().to_vec();
    fields::put_selector(&mut record, &mark.selector);
    let mut bytes = Vec::with_capacity(record.len() + 8 + CHECK);
    put_bytes(&mut bytes, &record);
    // The check covers the era, so that a record of another log is never accepted.
    bytes.extend_from_slice(&check(&[&era.to_le_bytes(), &record]));
    bytes
}

fn decode_record(record: &[u8]) -> Option<Mark> {
    let mut reader = Reader(record);
    let generation = reader.u64()?;
    let selector = fields::selector(reader.0)?;
    Some(Mark {
        generation,
        selector,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::purge::Selector;

    fn log() -> PurgeLog {
        let selectors = [
            Selector::Key(Key::of(&["k"])),
            Selector::Source("a/b.jpg".into()),
            Selector::Prefix(String::new()),
            Selector::Tag("行灯".into()),
            Selector::Everything,
        ];
        let marks = (5..).zip(selectors).map(|(generation, selector)| Mark {
            generation,
            selector,
        });
        PurgeLog {
            era: 77,
            generation: 9,
            marks: marks.collect(),
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        assert_eq!(PurgeLog::decode(&log().encode()), Some(log()));
    }

    #[test]
    fn an_appended_record_counts_and_raises_the_generation() {
        let mark = Mark {
            generation: 12,
            selector: Selector::Tag("x".into()),
        };
        let mut bytes = log().encode();
        bytes.extend(encode_record(77, &mark));
        let read = PurgeLog::decode(&bytes).expect("a good log");
        assert_eq!((read.generation, read.marks.last()), (12, Some(&mark)));
    }

    #[test]
    fn any_changed_bit_makes_it_worthless() {
        let good = log().encode();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            assert_eq!(PurgeLog::decode(&bad), None, "byte {at}");
        }
    }

    #[test]
    fn a_record_cut_short_or_of_another_era_makes_it_worthless() {
        let mark = Mark {
            generation: 12,
            selector: Selector::Everything,
        };
        let (record, stray) = (encode_record(77, &mark), encode_record(78, &mark));
        let with = |end: &[u8]| PurgeLog::decode(&[&log().encode(), end].concat());
        assert!((1..record.len()).all(|cut| with(&record[..cut]).is_none()));
        assert_eq!(with(&stray), None);
    }

    #[test]
    fn eras_differ() {
        assert_ne!(PurgeLog::new_era(), PurgeLog::new_era());
    }
}
