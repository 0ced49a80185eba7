//! Encoding of all fields of an entry except the body, each with its length. Files on disk and objects in the shared
//! store both use it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::entry::Entry;
use crate::freshness::{Life, millis};
use crate::key::Key;
use crate::purge::Selector;

/// Largest size of the encoded fields in bytes. An entry with longer ones is never written, but URLs and tags are far
/// shorter.
pub(crate) const LONGEST: usize = 1 << 20;

pub(crate) fn encode(entry: &Entry) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    put_bytes(&mut head, entry.media_type.as_bytes());
    put_bytes(&mut head, entry.etag.as_bytes());
    put_bytes(&mut head, entry.source.as_bytes());
    put_bytes(&mut head, &entry.notes);
    put_u64(&mut head, entry.last_modified.map_or(0, seconds_plus_one));
    put_u64(&mut head, millis(entry.life.fresh_for));
    put_u64(&mut head, millis(entry.life.stale_while_revalidate));
    put_u64(&mut head, millis(entry.life.stale_if_error));
    put_u64(&mut head, entry.tags.len() as u64);
    entry
        .tags
        .iter()
        .for_each(|tag| put_bytes(&mut head, tag.as_bytes()));
    head
}

/// Decodes an entry without its body. `None` unless `head` consists of exactly the fields of an entry.
pub(crate) fn decode(head: &[u8]) -> Option<Entry> {
    let mut head = Reader(head);
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
        tags: (0..head.u64()?)
            .map(|_| head.text())
            .collect::<Option<_>>()?,
    };
    head.0.is_empty().then_some(entry)
}

/// Appends one byte for the selector's kind, then the key or text that it selects.
pub(crate) fn put_selector(to: &mut Vec<u8>, selector: &Selector) {
    let (kind, value): (u8, &[u8]) = match selector {
        Selector::Key(key) => (b'k', key.as_bytes()),
        Selector::Source(source) => (b's', source.as_bytes()),
        Selector::Prefix(prefix) => (b'p', prefix.as_bytes()),
        Selector::Tag(tag) => (b't', tag.as_bytes()),
        Selector::Everything => (b'*', &[]),
    };
    to.push(kind);
    to.extend_from_slice(value);
}

/// Decodes what `put_selector` appended. `None` if it is malformed.
pub(crate) fn selector(bytes: &[u8]) -> Option<Selector> {
    let (kind, value) = bytes.split_first()?;
    let text = || Some(std::str::from_utf8(value).ok()?.to_owned());
    Some(match kind {
        b'k' => Selector::Key(Key::from_bytes(value.try_into().ok()?)),
        b's' => Selector::Source(text()?),
        b'p' => Selector::Prefix(text()?),
        b't' => Selector::Tag(text()?),
        b'*' => Selector::Everything,
        _ => return None,
    })
}

pub(crate) fn put_u64(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Reads fields from the front of a slice. The methods return `None` if too few bytes are left.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
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

/// Encodes a time as seconds since 1970, plus one, because zero stands for "none".
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
