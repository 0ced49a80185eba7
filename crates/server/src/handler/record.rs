//! What is recorded about one request while it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use andon_dialects::{ErrorStyle, ImageRequest, OWN_ERRORS};
use hyper::{Method, Request, StatusCode, Uri};

use crate::error::{Error, Fault};
use crate::net::Peer;
use crate::operations::access_log::AccessLog;
use crate::operations::entry::{Entry, Stages};
use crate::response::{self, Reply};
use crate::trace::Trace;

/// The record of one request. Its log line is written when the record is dropped, whether or not the request was
/// answered.
pub(super) struct RequestRecord<'a> {
    log: &'a AccessLog,
    start: Instant,
    entry: Entry,
    /// The style in which errors are reported to the client.
    errors: ErrorStyle,
    /// Whether the image came with the request, so that a fault in it is the client's.
    is_upload: bool,
}

impl<'a> RequestRecord<'a> {
    pub(super) fn begin<B>(log: &'a AccessLog, request: &Request<B>, peer: Peer) -> Self {
        let (method, target) = (request.method().clone(), request.uri().clone());
        let trace = Trace::of(request.headers());
        Self::since(Instant::now(), log, method, target, peer, trace)
    }

    /// Starts the record of a request that arrived at `start`.
    pub(super) fn since(
        start: Instant,
        log: &'a AccessLog,
        method: Method,
        target: Uri,
        peer: Peer,
        trace: Option<Arc<Trace>>,
    ) -> Self {
        Self {
            log,
            start,
            entry: Entry {
                time: SystemTime::now(),
                client: Some(peer),
                method,
                target,
                status: client_left(),
                bytes: 0,
                source_bytes: 0,
                total: Duration::ZERO,
                stages: Vec::new(),
                recipe: None,
                request: None,
                error: None,
                trace,
            },
            errors: OWN_ERRORS,
            is_upload: false,
        }
    }

    /// Returns the trace that the request belongs to.
    pub(super) fn trace(&self) -> Option<Arc<Trace>> {
        self.entry.trace.clone()
    }

    /// Records that the image comes with the request.
    pub(super) fn is_upload(&mut self) {
        self.is_upload = true;
    }

    /// Records the parsed request and its canonical recipe.
    pub(super) fn asks_for(&mut self, request: &Arc<ImageRequest>, recipe: Option<&Arc<str>>) {
        self.entry.request = Some(request.clone());
        self.entry.recipe = recipe.cloned();
        self.errors = request.style.errors;
    }

    /// Sets the style in which errors are reported to the client.
    pub(super) fn answers_in(&mut self, errors: ErrorStyle) {
        self.errors = errors;
    }

    /// Records the size in bytes of what the result was made from.
    pub(super) fn is_made_of(&mut self, source_bytes: u64) {
        self.entry.source_bytes = source_bytes;
    }

    /// Records the duration of a finished stage of the answer, such as `decode`.
    pub(super) fn took(&mut self, stage: &'static str, time: Duration) {
        self.entry.stages.push((stage, time));
    }

    /// Replaces all recorded stages of the answer.
    pub(super) fn took_all(&mut self, stages: Stages) {
        self.entry.stages = stages;
    }

    /// Returns the stages of the answer that have been recorded so far, with their durations.
    pub(super) fn stages(&self) -> &[(&'static str, Duration)] {
        &self.entry.stages
    }

    /// Records an error and returns the reply for it.
    pub(super) fn error_reply(&mut self, error: &Error) -> Reply {
        self.error_reply_with(error, None)
    }

    /// Records an error and returns the reply for it, with a further sentence for a client that reads plain text.
    pub(super) fn error_reply_with(&mut self, error: &Error, hint: Option<&str>) -> Reply {
        let fault = match error.fault() {
            Fault::Origin if self.is_upload => Fault::Client,
            fault => fault,
        };
        self.entry.error = Some((error.label(), fault.label(), error.to_string()));
        let errors = match error {
            Error::Target(refusal) => refusal.errors,
            Error::Moved { errors, .. } => *errors,
            _ => self.errors,
        };
        let own_status = error.status();
        let status = match error.root() {
            // Overload is reported as such, whatever statuses the dialect prescribes.
            _ if own_status == StatusCode::SERVICE_UNAVAILABLE => own_status,
            Error::Moved { .. } => own_status,
            _ => {
                let (kind, own_code) = (error.kind(), own_status.as_u16());
                let status = match error.answered() {
                    Some(origin_status) => errors.0.of_origin(origin_status, kind, own_code),
                    None => errors.0.status(kind, own_code),
                };
                StatusCode::from_u16(status).unwrap_or(own_status)
            }
        };
        response::error_with(error, status, errors, hint)
    }

    /// Records the finished reply.
    pub(super) fn finish(&mut self, reply: &Reply) {
        self.finish_with(reply.status(), reply.body().length());
    }

    /// Records the status of the finished reply, and the length of its body in bytes unless the request is HEAD.
    pub(super) fn finish_with(&mut self, status: StatusCode, bytes: u64) {
        self.entry.status = status;
        if self.entry.method != Method::HEAD {
            self.entry.bytes = bytes;
        }
    }
}

impl Drop for RequestRecord<'_> {
    fn drop(&mut self) {
        self.entry.total = self.start.elapsed();
        self.log.record(&self.entry);
    }
}

/// Returns the status 499, which is never sent. In the log, it marks a request whose client left before the reply.
fn client_left() -> StatusCode {
    StatusCode::from_u16(499).unwrap_or(StatusCode::REQUEST_TIMEOUT)
}
