//! The handling of one request from beginning to end.

mod app;
mod board;
mod doors;
mod exporting;
mod fallback;
mod fast_path;
mod fill;
mod folder;
mod local;
mod monitoring;
mod page;
mod play;
mod purge;
mod readiness;
mod record;
mod serve;
pub(crate) mod upload;
mod welcome;

use std::time::Instant;

use andon_dialects::{Fault, OWN_ERRORS};
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Uri, Version, header};

pub(crate) use self::app::App;
pub use self::app::check;
pub use self::doors::{doors, warnings};
pub use self::fill::{Filled, Filler};
use self::play::Play;
use self::record::RequestRecord;
use self::serve::Exchange;
use crate::error::Error;
use crate::net::Peer;
use crate::request::forwarded::Visitor;
use crate::request::route::{Part, Purpose, Route};
use crate::response::{self, Reply};
use crate::trace;

impl App {
    /// Returns the part of the server that answers a request for `path`, received at an address that serves `purpose`.
    /// Paths of parts that the client may not use are routed like any other path.
    pub(crate) fn route(
        &self,
        purpose: Purpose,
        path: &str,
        visitor: Visitor,
        headers: &HeaderMap,
    ) -> Route {
        Route::of(purpose, path, |part| match part {
            Part::Metrics => self.admits(self.metrics_allow, visitor, headers),
            Part::Board => self.has_board(purpose) || self.is_own_user(visitor, headers),
            Part::Folder => self.admits(self.folder_allow, visitor, headers),
            Part::Play => {
                let allow = self.play.as_ref().map(Play::allow).unwrap_or_default();
                self.admits(allow, visitor, headers)
            }
        })
    }

    /// Dispatches a request by its route; never fails.
    pub(crate) async fn dispatch(
        &self,
        route: Route,
        purpose: Purpose,
        request: Request<Incoming>,
        visitor: Visitor,
    ) -> Reply {
        match route {
            Route::Upload => self.upload(request, visitor).await,
            Route::Board => self.show_board(&request, purpose, visitor),
            Route::Play => self.play(request, visitor).await,
            Route::Folder => self.show_folder(request, visitor).await,
            Route::Ready | Route::Metrics | Route::Nothing => {
                self.monitoring(route, &request, purpose, visitor)
            }
            Route::Health if purpose == Purpose::Metrics => {
                self.monitoring(route, &request, purpose, visitor)
            }
            Route::Health | Route::Purge | Route::Image => {
                self.answer(route, request, visitor.peer).await
            }
        }
    }

    /// Answers a request for an image, for a purge or for health.
    async fn answer<B>(&self, route: Route, request: Request<B>, peer: Peer) -> Reply
    where
        B: Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let mut record = RequestRecord::begin(&self.log, &request, peer);
        let (head, body) = request.into_parts();
        let trace = record.trace();
        let replying = self.reply(route, &head, body, &mut record);
        let mut reply = match trace::within(trace, replying).await {
            Ok(reply) => reply,
            Err(error) => {
                let hint = self.hint(&error, &head.uri);
                record.error_reply_with(&error, hint.as_deref())
            }
        };
        let negative = self.maker.results.config.negative.0;
        response::limit_fault(&mut reply, negative);
        self.dress(&head.headers, &mut reply);
        record.finish(&reply);
        reply
    }

    /// Adds the headers that every reply with an image, or with an error about one, has: the permission for pages to read
    /// it (CORS), and the operator's headers.
    fn dress(&self, request_headers: &HeaderMap, reply: &mut Reply) {
        self.cors.apply(request_headers, reply);
        response::add_headers(reply, &self.further_headers);
    }

    /// Logs a request of any kind, and returns the reply with this error.
    pub(crate) fn refuse<B>(&self, request: &Request<B>, peer: Peer, error: &Error) -> Reply {
        let mut record = RequestRecord::begin(&self.log, request, peer);
        let reply = record.error_reply(error);
        record.finish(&reply);
        reply
    }

    /// Returns a hint about the target, such as which URL dialect would read it, if the error is a missing file or a
    /// URL that was not understood.
    fn hint(&self, error: &Error, uri: &Uri) -> Option<String> {
        let is_unread = matches!(error.kind(), Fault::Missing | Fault::Url);
        let target = target(uri).ok().filter(|_| is_unread)?;
        self.maker.resolver.hint(target)
    }

    async fn reply<B>(
        &self,
        route: Route,
        head: &Parts,
        body: B,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error>
    where
        B: Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        check_host(head.version, &head.headers)?;
        if let Some(reply) = self.cors.preflight(&head.method, &head.headers) {
            return Ok(reply);
        }
        let target = target(&head.uri)?;
        if route == Route::Purge {
            return self.purge(head, body).await;
        }
        if route == Route::Health {
            check_method(&head.method)?;
            return Ok(response::healthy());
        }
        if let Err(error) = check_method(&head.method) {
            return self.other_method(target, head, error, record);
        }
        let deadline = Instant::now() + self.timeout;
        let mut exchange = Exchange {
            target,
            head,
            deadline,
            record,
        };
        let answer = self.serve(&mut exchange);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Err(_) => Err(Error::Late(self.timeout)),
            Ok(Err(error)) if error.is_interrupted() => Err(Error::Late(self.timeout)),
            Ok(answer) => answer,
        }
    }

    /// Answers a request that is neither GET nor HEAD: with an error, or with permission for a CORS preflight if the
    /// target's URL dialect is open to pages of all sites.
    fn other_method(
        &self,
        target: &str,
        head: &Parts,
        error: Error,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let errors = match self.maker.resolver.parse_with(target, &head.headers) {
            Ok(request) => request.style.errors,
            Err(Error::Target(refusal)) => refusal.errors,
            Err(Error::Moved { errors, .. }) => errors,
            Err(_) => OWN_ERRORS,
        };
        if head.method == Method::OPTIONS
            && let Some(reply) = self.cors.preflight_of(errors, &head.headers)
        {
            return Ok(reply);
        }
        record.answers_in(errors);
        Err(error)
    }
}

/// Longest request target in bytes. Longer ones are answered with 414.
const MOST_TARGET_BYTES: usize = 16 << 10;

/// Checks that a request has exactly one `Host` header (HTTP/1.0: at most one). The server itself does not depend on
/// the host, but a proxy in front may. With two `Host` headers or none, proxy and server could interpret the same
/// request differently.
fn check_host(version: Version, headers: &HeaderMap) -> Result<(), Error> {
    let hosts = headers.get_all(header::HOST).iter().count();
    match (version, hosts) {
        (Version::HTTP_2 | Version::HTTP_11, 1) | (Version::HTTP_10, 0 | 1) => Ok(()),
        _ => Err(Error::Host),
    }
}

pub(crate) fn check_method(method: &Method) -> Result<(), Error> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Error::Method(method.clone())),
    }
}

/// Returns path and query as received, not decoded, or an error if they are too long.
fn target(uri: &Uri) -> Result<&str, Error> {
    let target = uri
        .path_and_query()
        .map_or("/", hyper::http::uri::PathAndQuery::as_str);
    if target.len() > MOST_TARGET_BYTES {
        return Err(Error::TargetTooLong {
            length: target.len(),
            limit: MOST_TARGET_BYTES,
        });
    }
    Ok(target)
}
