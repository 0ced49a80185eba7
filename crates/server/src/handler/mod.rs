//! The handling of one request from beginning to end.

mod app;
mod board;
mod doors;
mod fallback;
mod fast_path;
mod fill;
mod local;
mod monitoring;
mod page;
mod play;
mod readiness;
mod record;
pub(crate) mod upload;
mod welcome;

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::Selector;
use andon_dialects::{Ask, OWN_ERRORS};
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
use crate::error::Error;
use crate::net::Peer;
use crate::origins::Identity;
use crate::request::conditional;
use crate::request::forwarded::Visitor;
use crate::request::negotiation::{self, SettledRequest};
use crate::request::priority;
use crate::request::purge::{self, Purge};
use crate::request::route::{Part, Purpose, Route};
use crate::response::ranges;
use crate::response::{self, Reply};
use crate::results::caching::{Terms, source_path};
use crate::results::making::{Allowance, Answer, Task};
use crate::results::served_file::ServedFile;
use crate::results::variant::RequestVariant;
use crate::trace;

impl App {
    /// Returns the route of a path at an address of this purpose, as far as the client may use it.
    pub(crate) fn route(
        &self,
        purpose: Purpose,
        path: &str,
        visitor: Visitor,
        headers: &HeaderMap,
    ) -> Route {
        Route::of(purpose, path, |part| match part {
            Part::Metrics => self.admits(self.metrics_allow, visitor, headers),
            Part::Board => self.has_board(purpose),
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
            Err(error) => record.failed(&error),
        };
        let negative = self.maker.results.config.negative.0;
        response::limit_fault(&mut reply, negative);
        self.cors.apply(&head.headers, &mut reply);
        response::add_headers(&mut reply, &self.further_headers);
        record.answered(&reply);
        reply
    }

    /// Answers a request with an error, whatever it asks for.
    pub(crate) fn refuse<B>(&self, request: &Request<B>, peer: Peer, error: &Error) -> Reply {
        let mut record = RequestRecord::begin(&self.log, request, peer);
        let reply = record.failed(error);
        record.answered(&reply);
        reply
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
        let answer = self.look_up(target, head, deadline, record);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Err(_) => Err(Error::Late(self.timeout)),
            Ok(Err(error)) if is_interrupted(&error) => Err(Error::Late(self.timeout)),
            Ok(answer) => answer,
        }
    }

    /// Answers a request that is neither GET nor HEAD: with an error, or with permission for a CORS preflight if the
    /// dialect is open to pages of all sites.
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

    async fn look_up(
        &self,
        target: &str,
        head: &Parts,
        deadline: Instant,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let (maker, negotiation) = (&self.maker, &self.negotiation);
        let known = self
            .targets
            .understand(target, &head.headers, &[], maker, negotiation)?;
        record.asks_for(&known.asked.request, known.recipe.as_ref());

        let request = &known.asked.request;
        if let Ask::Text { media_type, text } = &request.ask {
            return Ok(response::text(media_type, text.clone()));
        }
        // With options in the query every path is an image's, and this one is nobody's.
        if !request.is_file()
            && !request.style.exact
            && !known.is_remote
            && maker.resolver.is_root(request)
        {
            return self.welcome(&head.headers, deadline).await;
        }
        // Files in folders are the system's to keep in memory; everything else is ours.
        let mut reply = if !known.asked.request.is_file() || known.is_remote {
            let best = self.best(target, known.clone(), &head.headers, deadline, record);
            match best.await {
                Ok(reply) => reply,
                Err(error) => {
                    return self
                        .fall_back(target, &known, error, deadline, record)
                        .await;
                }
            }
        } else {
            self.file(&known, &head.headers, deadline, record).await?
        };
        if conditional::is_another(&head.headers, reply.headers()) {
            response::precondition_failed(&mut reply);
        }
        ranges::apply(head, &mut reply);
        Ok(reply)
    }

    /// Answers with a result in the best format that does not take too long to write now.
    async fn best(
        &self,
        target: &str,
        mut known: Arc<RequestVariant>,
        headers: &HeaderMap,
        deadline: Instant,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let (maker, negotiation) = (&self.maker, &self.negotiation);
        let mut without = Vec::new();
        loop {
            let result = self.result(&known, headers, deadline, record).await;
            match result {
                Err(error) if matches!(error.root(), Error::Postponed) => {
                    let Some(resolved) = maker.resolve_known(&known).await else {
                        return Err(error);
                    };
                    let mut formats = negotiation.formats().map(|(name, _)| name);
                    match formats.any(|name| name.as_str() == resolved.format) {
                        true => without.extend(andon_recipe::FormatName::new(&resolved.format)),
                        // Its own format, which no other is preferred to.
                        false => without.extend(negotiation.formats().map(|(name, _)| name)),
                    }
                }
                Ok(mut reply) => {
                    if let Some(format) = without.first() {
                        response::set_instead_of(&mut reply, format.as_str());
                    }
                    return Ok(reply);
                }
                error => return error,
            }
            let targets = &self.targets;
            known = targets.understand(target, headers, &without, maker, negotiation)?;
            record.asks_for(&known.asked.request, known.recipe.as_ref());
        }
    }

    /// Answers with a result, obtained in the quickest possible way.
    async fn result(
        &self,
        known: &Arc<RequestVariant>,
        headers: &HeaderMap,
        deadline: Instant,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let maker = &self.maker;
        // Hits cost nothing that somebody else could need.
        let turn = match priority::is_idle(headers, self.token.as_ref()) {
            Ok(false) => None,
            _ if maker.has_fresh(known).await => None,
            is_idle => {
                is_idle?;
                Some(maker.idle_turn(deadline).await?)
            }
        };
        let obtained = match maker
            .obtain(known, headers, turn.as_ref(), deadline)
            .await?
        {
            Answer::Result(obtained) => obtained,
            Answer::Unchanged(validators) => {
                let mut reply = response::not_modified(&validators);
                let canonical = known.canonical();
                let request = &known.asked.request;
                response::add_remarks(reply.headers_mut(), request, canonical.as_deref());
                if known.asked.negotiated {
                    response::vary(&mut reply, "Accept");
                }
                let terms = Terms::of_file(&maker.results.config, &request.source.place());
                let text = (terms.client).text(&terms.life, Duration::ZERO, &request.style);
                if let Some(text) = text {
                    response::set_cache_control(&mut reply, &text);
                }
                return Ok(reply);
            }
        };
        record.took_all(obtained.stages);
        let entry = &obtained.entry;
        let style = &known.asked.request.style;
        let kept = known.head(entry);
        let mut reply = kept.reply(headers, &entry.body);
        response::set_cache_status(&mut reply, obtained.status);
        response::set_timing(&mut reply, record.stages());
        if let Some(text) = kept.client.text(&entry.life, obtained.age, style) {
            response::set_cache_control(&mut reply, &text);
        }
        if let Some(age) = kept.client.age(obtained.age, obtained.status) {
            reply.headers_mut().insert(header::AGE, age.into());
        }
        Ok(reply)
    }

    /// Answers with a file of a folder, unchanged.
    async fn file(
        &self,
        known: &RequestVariant,
        headers: &HeaderMap,
        deadline: Instant,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let began = Instant::now();
        let (maker, asked) = (&self.maker, &known.asked);
        let terms = Terms::of_file(&maker.results.config, &asked.request.source.place());
        let found = match maker.open(&asked.request).await {
            Err(Error::Missing { .. }) if maker.resolver.is_root(&asked.request) => {
                return self.welcome(headers, deadline).await;
            }
            found => found?,
        };
        let validators = found.validators("");
        let identity = found.same_again();
        let is_unchanged = validators.unchanged(headers);
        let mut reply = if is_unchanged {
            response::not_modified(&validators)
        } else {
            let task = Task {
                asked,
                deadline,
                began,
                allowance: Allowance::default(),
            };
            let served = maker.serve(&task, found).await?;
            record.took("fetch", began.elapsed());
            response::found(served.body, served.media_type, &served.validators)
        };
        response::add_remarks(reply.headers_mut(), &asked.request, None);
        if !is_unchanged {
            let is_new = |identity: &Identity| {
                let served = known.served();
                served.is_none_or(|served| served.identity != *identity)
            };
            let end = reply.body().length();
            // What got an end that the file lacks is not sent from the file.
            let identity = identity.filter(|identity| end <= identity.size);
            if let Some(identity) = identity.filter(is_new) {
                let headers = reply.headers().clone();
                let wire = self.wire(headers, end);
                known.serves(ServedFile::new(identity, end, wire));
            }
            response::set_timing(&mut reply, record.stages());
        }
        if let Some(text) = terms
            .client
            .text(&terms.life, Duration::ZERO, &asked.request.style)
        {
            response::set_cache_control(&mut reply, &text);
        }
        Ok(reply)
    }

    /// Purges from the cache what the administrator's request names.
    async fn purge<B>(&self, head: &Parts, body: B) -> Result<Reply, Error>
    where
        B: Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        if head.method != Method::POST {
            return Err(Error::PostOnly(head.method.clone()));
        }
        let token = self.token.as_ref().ok_or(Error::NoPurges)?;
        if !token.opens(&head.headers) {
            return Err(Error::Unauthorized);
        }
        let reading = tokio::time::timeout(self.timeout, purge::read(body)).await;
        let order = reading
            .map_err(|_| Error::Late(self.timeout))?
            .map_err(Error::PurgeRequest)?;
        let (selector, of_sources) = match order.checked()? {
            Purge::Results(selector) => (selector.clone(), selector),
            Purge::Url(url) => self.selectors_of(&url).await?,
        };
        // They are made again in no time: not worth telling which of them are meant.
        self.maker.admission.clear_frames();
        if let Some(pool) = andon_isolation::installed() {
            pool.forgive();
        }
        let purged = self.maker.results.purge(selector, of_sources).await;
        Ok(response::purged(purged))
    }
}

impl App {
    /// Returns the selectors that purge the results of a URL and its source. The results are selected by what the URL
    /// resolves to or, if that is no longer known, by their source as a whole.
    async fn selectors_of(&self, url: &str) -> Result<(Selector, Selector), Error> {
        let results = &self.maker.results;
        // Whoever may purge needs no signature.
        let mut request = self.maker.resolver.read(url)?;
        negotiation::settle_without_accept(&mut request, self.negotiation.background());
        let asked = SettledRequest {
            request: Arc::new(request),
            negotiated: false,
            is_open: false,
        };
        let resolved = match asked.request.is_file() {
            true => Some(results.names.file(&asked)),
            false => {
                let key = results.names.facts(&asked.request);
                let facts = results.facts.get(&key, &results.cache).await;
                facts.and_then(|known| results.names.resolve(&asked, &known.facts).ok())
            }
        };
        let source = Selector::Source(source_path(&asked.request));
        Ok(match resolved {
            Some(resolved) => (Selector::Tag(resolved.tag), source),
            None => (source.clone(), source),
        })
    }
}

fn is_interrupted(error: &Error) -> bool {
    matches!(
        error.root(),
        Error::Pixels(andon_pixels::Error::Interrupted)
    )
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
