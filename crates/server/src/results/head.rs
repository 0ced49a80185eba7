//! The head of responses to cache hits: the headers that all responses with one entry share, prepared once.

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

/// The head of responses with one cache entry.
#[derive(Debug)]
pub(crate) struct Head {
    entry: Weak<Entry>,
    /// What clients are told about caching the result.
    client: ClientSide,
    /// Size in bytes of the files that the result was made from; 0 if that is unknown.
    pub(crate) source_bytes: u64,
    validators: Validators,
    /// Headers of a response with the body.
    full_headers: HeaderMap,
    /// Headers of a 304 response.
    unchanged_headers: HeaderMap,
    /// The head of a response with the body, in wire format.
    wire: OnceLock<Bytes>,
}

impl Head {
    /// Creates the head of responses to `asked` with `entry`. `canonical` is the canonical target if it differs from
    /// the requested one, and `words` is the `Cache-Control` of the operator's rule for the source in the current
    /// configuration, which may differ from that under which `entry` was stored.
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
        let mut full = response::found(Bytes::new(), &entry.media_type, &validators);
        response::cdn_tags::set(full.headers_mut(), entry, tag_headers);
        Self {
            entry: Arc::downgrade(entry),
            full_headers: headers(full),
            unchanged_headers: headers(response::not_modified(&validators)),
            client: notes.client.under(words),
            source_bytes: notes.source_bytes,
            validators,
            wire: OnceLock::new(),
        }
    }

    /// Returns the head of a response with the body in wire format. The first call obtains it from `write`.
    pub(crate) fn wire(&self, write: impl FnOnce() -> Bytes) -> &[u8] {
        self.wire.get_or_init(write)
    }

    /// Returns the headers that differ between responses with the entry: `age` is the time since it was stored, and
    /// `stages` where the request spent its time.
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

    /// Whether this head belongs to this very entry. While the head exists, no other entry can have the same address,
    /// because the head has a weak reference.
    pub(crate) fn is_of(&self, entry: &Arc<Entry>) -> bool {
        std::ptr::eq(self.entry.as_ptr(), Arc::as_ptr(entry))
    }

    /// Returns the response with the entry's `body`, or a 304 without it if the request headers say that the client
    /// already has it.
    pub(crate) fn reply(&self, request_headers: &HeaderMap, body: &Bytes) -> Reply {
        let (status, headers, body) = match self.validators.unchanged(request_headers) {
            true => (
                StatusCode::NOT_MODIFIED,
                &self.unchanged_headers,
                Bytes::new(),
            ),
            false => (StatusCode::OK, &self.full_headers, body.clone()),
        };
        let mut reply = Reply::new(body.into());
        *reply.status_mut() = status;
        *reply.headers_mut() = headers.clone();
        reply
    }
}
