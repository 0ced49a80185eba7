//! Resolves requests to whole pixels, with the known facts of the source or with the source's header.

use std::sync::{Arc, Mutex, PoisonError};

use andon_cache::{Deadline, Ticket};
use andon_pixels::Error as PixelError;
use bytes::Bytes;

use super::{Maker, RequestContext};
use crate::error::Error;
use crate::origins::Blocking;
use crate::response::body::{MOST_WHOLE, PIECE};
use crate::results::caching::{
    Header, Persistence, Resolved, SourceFacts, flight_error, source_path,
};
use crate::results::variant::RequestVariant;
use crate::sources::resolver::OpenSource;

impl Maker {
    /// Resolves a request with the facts of its source that are known already; `None` if they do not suffice.
    pub(crate) async fn resolve_known(&self, variant: &RequestVariant) -> Option<Arc<Resolved>> {
        let (results, purges) = (&self.results, self.results.purges());
        if let Some(resolved) = variant.resolution(purges) {
            return Some(resolved);
        }
        if variant.asked.request.is_file() {
            return self.resolve_with(variant, None, purges).ok();
        }
        let facts = results.facts.get(&variant.facts, &results.cache).await?;
        self.resolve_with(variant, Some(&facts), purges).ok()
    }

    /// Resolves a request for the file that was opened. If the facts of the file are not known, its header is read,
    /// which brings the file into memory.
    pub(super) async fn resolve(
        self: &Arc<Self>,
        ctx: &RequestContext,
        input: OpenSource,
    ) -> Result<(OpenSource, Arc<Resolved>), Error> {
        let variant = &ctx.variant;
        let (results, purges) = (&self.results, self.results.purges());
        let facts = results.facts.get(&variant.facts, &results.cache).await;
        let (input, facts) = match facts.filter(|facts| facts.version == input.version()) {
            Some(facts) => (input, facts),
            None => self.read_header(ctx, input).await?,
        };
        Ok((input, self.resolve_with(variant, Some(&facts), purges)?))
    }

    /// Resolves a request for a source that was fetched. Also returns the facts of the source, if its header was read
    /// for that. Other requests see neither until [`Maker::publish`].
    pub(super) async fn resolve_fetched(
        &self,
        variant: &RequestVariant,
        input: &OpenSource,
        bytes: Bytes,
    ) -> Result<(Arc<Resolved>, Option<SourceFacts>), Error> {
        let results = &self.results;
        if variant.asked.request.is_file() {
            return Ok((self.derive(variant, None)?, None));
        }
        let version = input.version();
        let facts = results.facts.get(&variant.facts, &results.cache).await;
        if let Some(facts) = facts.filter(|facts| facts.version == version) {
            return Ok((self.derive(variant, Some(&facts))?, None));
        }
        let (engine, is_short) = (self.engine.clone(), self.engine.probes_at_once(&bytes));
        let (name, holds) = (Some(input.source_key()), input.source_alone());
        let read = move || Ok(engine.facts(&bytes)?);
        let facts = self.headers.read(name, is_short, holds, read).await?;
        let facts = SourceFacts { version, facts };
        Ok((self.derive(variant, Some(&facts))?, Some(facts)))
    }

    /// Publishes to later requests what this request resolves to, and the facts of its source. If `shared` is given,
    /// the facts are also stored on disk and for other nodes.
    pub(super) fn publish(
        &self,
        variant: &RequestVariant,
        resolved: &Arc<Resolved>,
        facts: Option<SourceFacts>,
        shared: Option<Ticket>,
    ) {
        if let Some(facts) = facts {
            self.remember(variant, facts, shared);
        }
        variant.resolves_to(resolved, self.results.purges());
    }

    /// Resolves a request with these facts, and stores the outcome in the variant.
    pub(super) fn resolve_with(
        &self,
        variant: &RequestVariant,
        facts: Option<&SourceFacts>,
        purges: u64,
    ) -> Result<Arc<Resolved>, Error> {
        let resolved = self.derive(variant, facts)?;
        variant.resolves_to(&resolved, purges);
        Ok(resolved)
    }

    /// Determines the result that a request variant stands for, given the facts of its source. Without facts, it is the
    /// unchanged file.
    fn derive(
        &self,
        variant: &RequestVariant,
        facts: Option<&SourceFacts>,
    ) -> Result<Arc<Resolved>, Error> {
        let names = &self.results.names;
        let resolved = match facts {
            None => names.file(&variant.asked),
            Some(facts) => names
                .resolve(&variant.asked, &facts.facts)
                .map_err(PixelError::of_rules)?,
        };
        Ok(Arc::new(resolved))
    }

    /// Reads a file's header, once for all requests that need its facts.
    async fn read_header(
        self: &Arc<Self>,
        ctx: &RequestContext,
        input: OpenSource,
    ) -> Result<(OpenSource, Arc<SourceFacts>), Error> {
        let results = &self.results;
        let flight = results.flight(&input.source_key(), "header");
        if let Some(fault) = results.faults.get(&flight) {
            return Err(fault.into());
        }
        let work = {
            let (maker, ctx, alone) = (self.clone(), ctx.clone(), input.source_alone());
            move |deadline: Deadline| async move {
                let header = maker.header(alone, &deadline).await;
                let (mut input, facts) = header.map_err(|error| maker.note_fault(flight, error))?;
                Ok(Header {
                    facts: maker.remember(&ctx.variant, facts, Some(ctx.ticket)),
                    cached: input.cached(),
                    admitted: Arc::new(Mutex::new(input.admitted.take())),
                })
            }
        };
        let deadline = &ctx.allowance.deadline;
        let outcome = results.headers.run(flight, deadline, work).await;
        let header = outcome.map_err(flight_error)?.value?;
        let mut input = match header.cached {
            Some(cached) => input.with_cached(cached),
            None => input,
        };
        // No code panics while it holds the lock.
        let admitted = header.admitted.lock();
        input.admitted = admitted.unwrap_or_else(PoisonError::into_inner).take();
        Ok((input, header.facts))
    }

    /// Reads the header of a file that has been opened. Returns the input with the file in memory.
    async fn header(
        &self,
        mut input: OpenSource,
        deadline: &Deadline,
    ) -> Result<(OpenSource, SourceFacts), Error> {
        match self.admit(&mut input, deadline) {
            Ok(admitted) => input.admitted = Some(admitted),
            // Under load, a file that is no image still gets the error for that. Reading the header of a small file
            // costs no more than the refusal; a request for a result of the file is refused later.
            Err(refusal) if input.size() > MOST_WHOLE => {
                return Err(match self.is_no_image(&input) {
                    true => PixelError::UnknownFormat.into(),
                    false => refusal,
                });
            }
            Err(_) => {}
        }
        let input = self.source_cache.fill(input, &self.fetcher).await?;
        let (input, source) = self.read(input).await?;
        let engine = self.engine.clone();
        let (name, is_short) = (input.source_key(), engine.probes_at_once(&source.source));
        let read = move || {
            let (version, facts) = (input.version(), engine.facts(&source.source)?);
            Ok((input, SourceFacts { version, facts }))
        };
        (self.headers)
            .read(Some(name), is_short, source.hold, read)
            .await
    }

    /// Whether the operating system has the beginning of the file in memory, and it is of no known format.
    fn is_no_image(&self, input: &OpenSource) -> bool {
        let head = input.begin(PIECE, Blocking::Refused);
        head.is_ok_and(|head| !self.codecs.iter().any(|codec| codec.sniff(&head.beginning)))
    }

    fn remember(
        &self,
        variant: &RequestVariant,
        facts: SourceFacts,
        shared: Option<Ticket>,
    ) -> Arc<SourceFacts> {
        let (facts, results) = (Arc::new(facts), &self.results);
        let persistence = shared.map(|ticket| Persistence {
            cache: &results.cache,
            ticket,
            source: source_path(&variant.asked.request),
            is_remote: variant.is_remote,
        });
        results
            .facts
            .remember(variant.facts, facts.clone(), persistence);
        facts
    }
}
