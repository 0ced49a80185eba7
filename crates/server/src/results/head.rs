//! The head of replies to cache hits: what is the same in every reply with one entry, written once.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use andon_cache::Entry;
use andon_dialects::AnswerStyle;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use crate::config::TagHeader;
use crate::request::conditional::Validators;
use crate::request::negotiation::SettledRequest;
use crate::response::cache_status::CacheStatus;
use crate::response::varying::Varying;
use crate::response::{self, Reply};
use crate::results::caching::{self, ClientSide, Notes};

/// The head of replies with one cache entry.
#[derive(Debug)]
pub(crate) struct Head {
    entry: Weak<Entry>,
    /// What clients are told about keeping the result.
    client: ClientSide,
    /// Size in bytes of what the result was made from; 0 if that is unknown.
    pub(crate) source_bytes: u64,
    validators: Validators,
    /// Headers of a reply with the body; `unchanged` has those of a 304 reply.
    found: HeaderMap,
    unchanged: HeaderMap,
    /// The head of a reply with the body, in the form in which it is sent.
    wire: OnceLock<Bytes>,
}

impl Head {
    /// Creates the head of replies to `asked` with `entry`. `canonical` is the canonical target, if that is another
    /// than the requested one, and `words` is what the operator's rule for the source tells clients today.
    pub(crate) fn of(
        entry: &Arc<Entry>,
        asked: &SettledRequest,
        canonical: Option<&str>,
        tag_headers: &[TagHeader],
        words: Option<&str>,
    ) -> Self {
        let validators = caching::validators(entry);
        let notes = Notes::of(entry);
        let headers = |mut reply: Reply| {
            response::add_remarks(reply.headers_mut(), &asked.request, canonical);
            response::add_notes(reply.headers_mut(), &notes.image);
            if let Some(plan) = &notes.plan {
                response::set_plan(&mut reply, plan);
            }
            if asked.negotiated {
                response::vary(&mut reply, "Accept");
            }
            reply.into_parts().0.headers
        };
        let mut found = response::found(Bytes::new(), &entry.media_type, &validators);
        response::cdn_tags::set(found.headers_mut(), entry, tag_headers);
        Self {
            entry: Arc::downgrade(entry),
            found: headers(found),
            unchanged: headers(response::not_modified(&validators)),
            client: notes.client.under(words),
            source_bytes: notes.source_bytes,
            validators,
            wire: OnceLock::new(),
        }
    }

    /// Returns the head of a reply with the body as text. It is written by `write` when it is first asked for.
    pub(crate) fn wire(&self, write: impl FnOnce() -> Bytes) -> &[u8] {
        self.wire.get_or_init(write)
    }

    /// Returns the headers of a reply that has the entry, kept for `age`, after these stages.
    pub(crate) fn varying<'a>(
        &self,
        (entry, style): (&Entry, &AnswerStyle),
        (age, status): (Duration, CacheStatus),
        stages: &'a [(&'static str, Duration)],
    ) -> Varying<'a> {
        Varying {
            cache_status: Some(status),
            stages,
            cache_control: self.client.text(&entry.life, age, style),
            age: self.client.age(age, status),
        }
    }

    /// Whether this head belongs to this very entry. As long as the head lives, no other entry can have the same
    /// address.
    pub(crate) fn is_of(&self, entry: &Arc<Entry>) -> bool {
        std::ptr::eq(self.entry.as_ptr(), Arc::as_ptr(entry))
    }

    /// Returns the reply with the entry's `body`, or a 304 without it if the client already has it.
    pub(crate) fn reply(&self, asked: &HeaderMap, body: &Bytes) -> Reply {
        let (status, headers, body) = match self.validators.unchanged(asked) {
            true => (StatusCode::NOT_MODIFIED, &self.unchanged, Bytes::new()),
            false => (StatusCode::OK, &self.found, body.clone()),
        };
        let mut reply = Reply::new(body.into());
        *reply.status_mut() = status;
        *reply.headers_mut() = headers.clone();
        reply
    }
}
