//! The head of a hit's reply: what is the same in every reply with one entry, written once.

use std::sync::{Arc, OnceLock, Weak};

use andon_cache::Entry;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use crate::config::TagHeader;
use crate::request::conditional::Validators;
use crate::request::negotiation::SettledRequest;
use crate::response::{self, Reply};
use crate::results::caching::{self, ClientSide, Notes};

/// The head of replies with an entry.
#[derive(Debug)]
pub(crate) struct Head {
    entry: Weak<Entry>,
    /// What clients are told about keeping it.
    pub(crate) client: ClientSide,
    validators: Validators,
    /// With the body, and without it (304).
    found: HeaderMap,
    unchanged: HeaderMap,
    /// With the body, as it goes over the wire.
    wire: OnceLock<Bytes>,
}

impl Head {
    /// The head of what answers `asked`, whose canonical target is another.
    pub(crate) fn of(
        entry: &Arc<Entry>,
        asked: &SettledRequest,
        canonical: Option<&str>,
        tag_headers: &[TagHeader],
    ) -> Self {
        let validators = caching::validators(entry);
        let notes = Notes::of(entry);
        let headers = |mut reply: Reply| {
            response::add_remarks(reply.headers_mut(), &asked.request, canonical);
            response::add_notes(reply.headers_mut(), &notes.picture);
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
            client: notes.client,
            validators,
            wire: OnceLock::new(),
        }
    }

    /// The head with the body as text, which is written when it is first asked for.
    pub(crate) fn wire(&self, write: impl FnOnce() -> Bytes) -> &[u8] {
        self.wire.get_or_init(write)
    }

    /// Is it this very entry's? As long as this head lives, nothing else can be where the entry was.
    pub(crate) fn is_of(&self, entry: &Arc<Entry>) -> bool {
        std::ptr::eq(self.entry.as_ptr(), Arc::as_ptr(entry))
    }

    /// The reply with its entry's body, or without it if the client has it already.
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
