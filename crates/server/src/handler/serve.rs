//! The steps of answering a request for an image, from its target to its reply. [`App::serve`] takes them in their
//! order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::{Ask, ImageRequest};
use andon_recipe::FormatName;
use hyper::HeaderMap;
use hyper::http::request::Parts;

use super::{App, RequestRecord};
use crate::error::Error;
use crate::origins::Identity;
use crate::request::conditional::{self, Validators};
use crate::request::priority;
use crate::response::varying::Varying;
use crate::response::{self, Reply, ranges};
use crate::results::caching::Terms;
use crate::results::making::{Allowance, Answer, ObtainedResult};
use crate::results::served_file::ServedFile;
use crate::results::variant::RequestVariant;

/// A GET or HEAD request for an image while it is answered.
pub(super) struct Exchange<'a, 'log> {
    /// Path and query as received.
    pub(super) target: &'a str,
    pub(super) head: &'a Parts,
    pub(super) deadline: Instant,
    pub(super) record: &'a mut RequestRecord<'log>,
}

impl App {
    /// Answers a request for an image. The steps of a miss continue in [`Maker::obtain`] and, once for all clients that
    /// want the same, in [`Maker::make`].
    ///
    /// [`Maker::obtain`]: crate::results::making::Maker::obtain
    /// [`Maker::make`]: crate::results::making::Maker::make
    pub(super) async fn serve(&self, exchange: &mut Exchange<'_, '_>) -> Result<Reply, Error> {
        // Parse the target, and settle the format by what the client accepts.
        let variant = self.parse(exchange, &[])?;
        let request = &variant.asked.request;
        let mut reply = if let Ask::Text { media_type, text } = &request.ask {
            return Ok(response::text(media_type, text.clone()));
        } else if self.is_root(&variant) {
            return self
                .welcome(&exchange.head.headers, exchange.deadline)
                .await;
        } else if request.is_file() && !variant.is_remote {
            // The system caches files of folders in memory; this server caches everything else.
            self.file(exchange, &variant).await?
        } else {
            // Look up, join, fetch, admit, plan, render and store.
            match self.best(exchange, variant.clone()).await {
                Ok(reply) => reply,
                Err(error) => return self.fall_back(exchange, &variant, error).await,
            }
        };
        // Preconditions and the requested range.
        if conditional::is_another(&exchange.head.headers, reply.headers()) {
            response::precondition_failed(&mut reply);
        }
        ranges::apply(exchange.head, &mut reply);
        Ok(reply)
    }

    /// Parses the target and settles the format, which is none of those in `without`.
    fn parse(
        &self,
        exchange: &mut Exchange<'_, '_>,
        without: &[FormatName],
    ) -> Result<Arc<RequestVariant>, Error> {
        let headers = &exchange.head.headers;
        let (maker, negotiation) = (&self.maker, &self.negotiation);
        let variant =
            (self.targets).understand(exchange.target, headers, without, maker, negotiation)?;
        let record = &mut exchange.record;
        record.asks_for(&variant.asked.request, variant.recipe.as_ref());
        Ok(variant)
    }

    /// Whether the request is for an image at the root of a served folder, such as `/` with options in the query. No
    /// such image exists, so the welcome page is sent.
    fn is_root(&self, variant: &RequestVariant) -> bool {
        let request = &variant.asked.request;
        let may_be = !request.is_file() && !request.style.exact && !variant.is_remote;
        may_be && self.maker.resolver.is_root(request)
    }

    /// Answers with a result in the best format whose encoding does not take too long now.
    async fn best(
        &self,
        exchange: &mut Exchange<'_, '_>,
        mut variant: Arc<RequestVariant>,
    ) -> Result<Reply, Error> {
        let mut without = Vec::new();
        loop {
            let headers = &exchange.head.headers;
            match self.result(exchange, &variant, headers).await {
                Err(error) if matches!(error.root(), Error::Postponed) => {
                    let Some(resolution) = self.maker.resolve_known(&variant).await else {
                        return Err(error);
                    };
                    let mut formats = self.negotiation.formats().map(|(name, _)| name);
                    match formats.any(|name| name.as_str() == resolution.format) {
                        true => without.extend(FormatName::new(&resolution.format)),
                        // Its own format, which no other is preferred to.
                        false => without.extend(self.negotiation.formats().map(|(name, _)| name)),
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
            variant = self.parse(exchange, &without)?;
        }
    }

    /// Answers with a result, obtained in the quickest possible way, or with 304 if `headers` say that the client has it
    /// already.
    pub(super) async fn result(
        &self,
        exchange: &mut Exchange<'_, '_>,
        variant: &Arc<RequestVariant>,
        headers: &HeaderMap,
    ) -> Result<Reply, Error> {
        let (maker, deadline) = (&self.maker, exchange.deadline);
        // A hit takes no resources that other requests need, so an idle request for one does not wait either.
        let turn = match priority::is_idle(headers, self.token.as_ref()) {
            Ok(false) => None,
            _ if maker.has_fresh(variant).await => None,
            is_idle => {
                is_idle?;
                Some(maker.idle_turn(deadline).await?)
            }
        };
        let allowance = maker.allowance(variant, turn.as_ref(), deadline);
        let ctx = maker.context(variant.clone(), allowance);
        match maker.obtain(&ctx, headers).await? {
            Answer::Result(result) => Ok(reply_with(exchange, variant, headers, result)),
            Answer::Unchanged(validators) => Ok(self.unchanged(variant, &validators)),
        }
    }

    /// Returns the reply with status 304 to a client that has the result already.
    fn unchanged(&self, variant: &RequestVariant, validators: &Validators) -> Reply {
        let request = &variant.asked.request;
        let mut reply = response::not_modified(validators);
        let canonical = variant.canonical();
        response::add_remarks(reply.headers_mut(), request, canonical.as_deref());
        if variant.asked.negotiated {
            response::vary(&mut reply, "Accept");
        }
        if let Some(text) = self.lifetime(request) {
            response::set_cache_control(&mut reply, &text);
        }
        reply
    }

    /// Returns the `Cache-Control` of a file of a folder, or of a result that was just made from it; `None` if the
    /// header is not sent.
    pub(super) fn lifetime(&self, request: &ImageRequest) -> Option<String> {
        let terms = Terms::of_file(&self.maker.results.config, &request.source.place());
        (terms.client).text(&terms.life, Duration::ZERO, &request.style)
    }

    /// Answers with a file of a folder, unchanged.
    async fn file(
        &self,
        exchange: &mut Exchange<'_, '_>,
        variant: &Arc<RequestVariant>,
    ) -> Result<Reply, Error> {
        let (maker, request) = (&self.maker, &variant.asked.request);
        let headers = &exchange.head.headers;
        let ctx = maker.context(variant.clone(), Allowance::until(exchange.deadline));
        let file = match maker.open_file(request).await {
            Err(error)
                if matches!(error.root(), Error::Missing { .. })
                    && maker.resolver.is_root(request) =>
            {
                return self.welcome(headers, exchange.deadline).await;
            }
            file => file?,
        };
        let validators = file.validators("");
        let identity = file.same_again();
        let is_unchanged = validators.unchanged(headers);
        let mut reply = if is_unchanged {
            response::not_modified(&validators)
        } else {
            let served_file = maker.serve(&ctx, file).await?;
            exchange.record.took("fetch", ctx.began.elapsed());
            response::found(
                served_file.body,
                served_file.media_type,
                &served_file.validators,
            )
        };
        response::add_remarks(reply.headers_mut(), request, None);
        if !is_unchanged {
            self.remember_file(variant, identity, &reply);
        }
        let varying = Varying {
            stages: if is_unchanged {
                &[]
            } else {
                exchange.record.stages()
            },
            cache_control: self.lifetime(request),
            ..Varying::default()
        };
        varying.set(reply.headers_mut());
        Ok(reply)
    }

    /// Records, for the fast path, that this reply was sent for the file in the state `identity`; does nothing for
    /// `None`, and for a body to which the end marker that the image lacks was appended.
    fn remember_file(&self, variant: &RequestVariant, identity: Option<Identity>, reply: &Reply) {
        let is_new = |identity: &Identity| {
            let served_file = variant.served();
            served_file.is_none_or(|file| file.identity != *identity)
        };
        let end = reply.body().length();
        // The body is longer than the file if a missing end was added; the fast path cannot send that from the file.
        let identity = identity.filter(|identity| end <= identity.size);
        if let Some(identity) = identity.filter(is_new) {
            let wire = self.wire(reply.headers().clone(), end);
            variant.serves(ServedFile::new(identity, end, wire));
        }
    }
}

/// Returns the reply with a result, and records the stages in which it was obtained.
fn reply_with(
    exchange: &mut Exchange<'_, '_>,
    variant: &RequestVariant,
    headers: &HeaderMap,
    result: ObtainedResult,
) -> Reply {
    exchange.record.took_all(result.stages);
    let (entry, style) = (&result.entry, &variant.asked.request.style);
    let head = variant.head(entry);
    exchange.record.is_made_of(head.source_bytes);
    let mut reply = head.reply(headers, &entry.body);
    let varying = head.varying(
        (entry, style),
        (result.age, result.status),
        exchange.record.stages(),
    );
    varying.set(reply.headers_mut());
    reply
}
