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
    /// Total size of the kept bodies in bytes.
    kept: usize,
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
            kept: 0,
        }
    }

    /// Returns the index of a reply among the distinct ones of its URL, adding it if it is new.
    pub(super) fn know(&mut self, url: usize, head: &Head, body: &[u8]) -> usize {
        let same_head = |known: &DistinctReply| {
            known.reply.status == head.status
                && known.reply.length == body.len() as u64
                && known.reply.media_type == head.media_type
        };
        let hashed = matches!(self.how, BodyCheck::Hash | BodyCheck::Decode);
        let known = self.urls[url].iter().position(|known| {
            same_head(known)
                && match &known.body {
                    _ if !hashed => true,
                    Some(kept) => kept.as_ref() == body,
                    None => false,
                }
        });
        if let Some(known) = known {
            return known;
        }
        let hash = if hashed {
            blake3::hash(body).to_hex().to_string()
        } else {
            String::new()
        };
        let by_hash =
            |known: &DistinctReply| hashed && same_head(known) && known.reply.hash == hash;
        if let Some(known) = self.urls[url].iter().position(by_hash) {
            return known;
        }
        let length = body.len() as u64;
        let body = hashed.then(|| self.keep(&hash, body)).flatten();
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
        if let Some(kept) = self.bodies.get(hash) {
            return Some(kept.clone());
        }
        if self.kept + body.len() > ROOM {
            return None;
        }
        self.kept += body.len();
        let kept = Bytes::copy_from_slice(body);
        self.bodies.insert(hash.to_owned(), kept.clone());
        Some(kept)
    }

    /// Counts a reply that belongs to the window.
    pub(super) fn count(&mut self, url: usize, known: usize) {
        self.urls[url][known].count += 1;
    }

    /// Returns the length in bytes of the first reply to a URL.
    pub(super) fn first_length(&self, url: usize) -> Option<u64> {
        self.urls[url].first().map(|known| known.reply.length)
    }

    /// Returns the distinct replies that were counted in the window.
    pub(super) fn seen(&self) -> Vec<BodySeen> {
        let all = self.urls.iter().enumerate();
        all.flat_map(|(url, known)| {
            known
                .iter()
                .filter(|known| known.count > 0)
                .map(move |known| BodySeen {
                    url: url as u32,
                    reply: known.reply.clone(),
                    count: known.count,
                })
        })
        .collect()
    }

    pub(super) fn bodies(&self) -> BTreeMap<String, Bytes> {
        self.bodies.clone()
    }
}

/// Room for bodies per block, in bytes. Bodies beyond it are hashed each time and never decoded.
const ROOM: usize = 256 << 20;
