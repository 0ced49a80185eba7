//! Recognizes replies: a body is first compared with the known ones of its URL, and hashed only if it matches none.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::record::{BodySeen, Reply};
use crate::scenario::BodyCheck;

use super::connection::Head;

/// The distinct replies to every URL.
pub(super) struct Replies {
    how: BodyCheck,
    urls: Vec<Vec<DistinctReply>>,
    bodies: BTreeMap<String, Bytes>,
    /// Total size of the stored bodies in bytes.
    bytes: usize,
}

struct DistinctReply {
    reply: Reply,
    /// The body itself, if bodies are hashed and there was room to keep it.
    body: Option<Bytes>,
    count: u64,
}

impl Replies {
    pub(super) fn new(how: BodyCheck, urls: usize) -> Self {
        Self {
            how,
            urls: (0..urls).map(|_| Vec::new()).collect(),
            bodies: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Returns the index of a reply among the distinct ones of its URL, adding it if it is new.
    pub(super) fn index_of(&mut self, url: usize, head: &Head, body: &[u8]) -> usize {
        let same_head = |entry: &DistinctReply| {
            entry.reply.status == head.status
                && entry.reply.length == body.len() as u64
                && entry.reply.media_type == head.media_type
        };
        let is_hashed = matches!(self.how, BodyCheck::Hash | BodyCheck::Decode);
        let index = self.urls[url].iter().position(|entry| {
            same_head(entry)
                && match &entry.body {
                    _ if !is_hashed => true,
                    Some(stored) => stored.as_ref() == body,
                    None => false,
                }
        });
        if let Some(index) = index {
            return index;
        }
        let hash = if is_hashed {
            blake3::hash(body).to_hex().to_string()
        } else {
            String::new()
        };
        let by_hash =
            |entry: &DistinctReply| is_hashed && same_head(entry) && entry.reply.hash == hash;
        if let Some(index) = self.urls[url].iter().position(by_hash) {
            return index;
        }
        let length = body.len() as u64;
        let body = is_hashed.then(|| self.keep(&hash, body)).flatten();
        self.urls[url].push(DistinctReply {
            reply: Reply {
                status: head.status,
                media_type: head.media_type.clone(),
                length,
                hash,
            },
            body,
            count: 0,
        });
        self.urls[url].len() - 1
    }

    fn keep(&mut self, hash: &str, body: &[u8]) -> Option<Bytes> {
        if let Some(stored) = self.bodies.get(hash) {
            return Some(stored.clone());
        }
        if self.bytes + body.len() > ROOM {
            return None;
        }
        self.bytes += body.len();
        let stored = Bytes::copy_from_slice(body);
        self.bodies.insert(hash.to_owned(), stored.clone());
        Some(stored)
    }

    /// Counts a reply that belongs to the measured window.
    pub(super) fn count(&mut self, url: usize, reply: usize) {
        self.urls[url][reply].count += 1;
    }

    /// Returns the length in bytes of the first reply to a URL.
    pub(super) fn first_length(&self, url: usize) -> Option<u64> {
        self.urls[url].first().map(|entry| entry.reply.length)
    }

    /// Returns the distinct replies that were counted in the measured window.
    pub(super) fn counted_bodies(&self) -> Vec<BodySeen> {
        let all = self.urls.iter().enumerate();
        all.flat_map(|(url, entries)| {
            entries
                .iter()
                .filter(|entry| entry.count > 0)
                .map(move |entry| BodySeen {
                    url: url as u32,
                    reply: entry.reply.clone(),
                    count: entry.count,
                })
        })
        .collect()
    }

    pub(super) fn bodies(&self) -> BTreeMap<String, Bytes> {
        self.bodies.clone()
    }
}

/// Maximum total size in bytes of the reply bodies stored during one block. Bodies beyond it are hashed each time and
/// never decoded.
const ROOM: usize = 256 << 20;
