//! Resolves requests to whole pixels, by what is known of the source or by the source's header.

use std::sync::{Arc, Mutex, PoisonError};

use andon_cache::{Deadline, Ticket};
use andon_pixels::Error as PixelError;
use bytes::Bytes;

use super::{Maker, RequestContext};
use crate::error::Error;
use crate::origins::Blocking;
use crate::response::body::{MOST_WHOLE, PIECE};
use crate::results::caching::{Header, KeptFacts, Resolved, SourceFacts, fallen, source_path};
use crate::results::variant::RequestVariant;
use crate::sources::resolver::OpenSource;

impl Maker {
    /// Resolves a request by what is already known of its source; `None` if that is not enough.
    pub(crate) async fn resolve_known(&self, known: &RequestVariant) -> Option<Arc<Resolved>> {
        let (results, purges) = (&self.results, self.results.purges());
        if let Some(resolved) = known.resolved(purges) {
            return Some(resolved);
        }
        if known.asked.request.is_file() {
            return self.resolved(known, None, purges).ok();
        }
        let facts = results.facts.get(&known.facts, &results.cache).await?;
        self.resolved(known, Some(&facts), purges).ok()
    }

    /// Resolves a request for the file that was found. If the header is not known it is read, which brings the file
    /// into memory.
    pub(super) async fn resolve(
        self: &Arc<Self>,
        ctx: &RequestContext,
        found: OpenSource,
    ) -> Result<(OpenSource, Arc<Resolved>), Error> {
        let known = &ctx.variant;
        let (results, purges) = (&self.results, self.results.purges());
        let facts = results.facts.get(&known.facts, &results.cache).await;
        let (found, facts) = match facts.filter(|facts| facts.version == found.version()) {
            Some(facts) => (found, facts),
            None => self.read_header(ctx, found).await?,
        };
        Ok((found, self.resolved(known, Some(&facts), purges)?))
    }

    /// Resolves a request for a source that was fetched. Also returns what was found out about the source for that.
    /// Other requests learn of neither before they are published.
    pub(super) async fn resolve_fetched(
        &self,
        known: &RequestVariant,
        found: &OpenSource,
        bytes: Bytes,
    ) -> Result<(Arc<Resolved>, Option<SourceFacts>), Error> {
        let results = &self.results;
        if known.asked.request.is_file() {
            return Ok((self.derived(known, None)?, None));
        }
        let version = found.version();
        let facts = results.facts.get(&known.facts, &results.cache).await;
        if let Some(facts) = facts.filter(|facts| facts.version == version) {
            return Ok((self.derived(known, Some(&facts))?, None));
        }
        let (engine, is_short) = (self.engine.clone(), self.engine.probes_at_once(&bytes));
        let (name, holds) = (Some(found.source_key()), found.source_alone());
        let read = move || Ok(engine.facts(&bytes)?);
        let facts = self.headers.read(name, is_short, holds, read).await?;
        let facts = SourceFacts { version, facts };
        Ok((self.derived(known, Some(&facts))?, Some(facts)))
    }

    /// Tells all later requests what this request resolves to, and the facts of its source. The facts are also kept on
    /// disk and for other nodes if `shared` has a ticket.
    pub(super) fn publish(
        &self,
        known: &RequestVariant,
        resolved: &Arc<Resolved>,
        facts: Option<SourceFacts>,
        shared: Option<Ticket>,
    ) {
        if let Some(facts) = facts {
            self.remember(known, facts, shared);
        }
        known.resolves_to(resolved, self.results.purges());
    }

    pub(super) fn resolved(
        &self,
        known: &RequestVariant,
        facts: Option<&SourceFacts>,
        purges: u64,
    ) -> Result<Arc<Resolved>, Error> {
        let resolved = self.derived(known, facts)?;
        known.resolves_to(&resolved, purges);
        Ok(resolved)
    }

    fn derived(
        &self,
        known: &RequestVariant,
        facts: Option<&SourceFacts>,
    ) -> Result<Arc<Resolved>, Error> {
        let names = &self.results.names;
        let resolved = match facts {
            None => names.file(&known.asked),
            Some(facts) => names
                .resolve(&known.asked, &facts.facts)
                .map_err(PixelError::of_rules)?,
        };
        Ok(Arc::new(resolved))
    }

    /// Reads a file's header, once for all requests that want to know it.
    async fn read_header(
        self: &Arc<Self>,
        ctx: &RequestContext,
        found: OpenSource,
    ) -> Result<(OpenSource, Arc<SourceFacts>), Error> {
        let results = &self.results;
        let flight = results.flight(&found.source_key(), "header");
        if let Some(fault) = results.faults.get(&flight) {
            return Err(fault.into());
        }
        let work = {
            let (maker, ctx, alone) = (self.clone(), ctx.clone(), found.source_alone());
            move |deadline: Deadline| async move {
                let header = maker.header(alone, &deadline).await;
                let (mut found, facts) = header.map_err(|error| maker.note_fault(flight, error))?;
                Ok(Header {
                    facts: maker.remember(&ctx.variant, facts, Some(ctx.ticket)),
                    cached: found.cached(),
                    admitted: Arc::new(Mutex::new(found.admitted.take())),
                })
            }
        };
        let deadline = &ctx.allowance.deadline;
        let landed = results.headers.run(flight, deadline, work).await;
        let header = landed.map_err(fallen)?.value?;
        let mut found = match header.cached {
            Some(cached) => found.filled(cached),
            None => found,
        };
        // No code panics while it holds the lock.
        let admitted = header.admitted.lock();
        found.admitted = admitted.unwrap_or_else(PoisonError::into_inner).take();
        Ok((found, header.facts))
    }

    async fn header(
        &self,
        mut found: OpenSource,
        deadline: &Deadline,
    ) -> Result<(OpenSource, SourceFacts), Error> {
        match self.admit(&mut found, deadline) {
            Ok(admitted) => found.admitted = Some(admitted),
            // What is no image is refused for that under load, too. The header of a small file costs no more than the
            // refusal; whoever makes something of the file is refused after it.
            Err(refusal) if found.size() > MOST_WHOLE => {
                return Err(match self.is_no_image(&found) {
                    true => PixelError::UnknownFormat.into(),
                    false => refusal,
                });
            }
            Err(_) => {}
        }
        let found = self.source_cache.fill(found, &self.fetcher).await?;
        let (found, source) = self.read(found).await?;
        let engine = self.engine.clone();
        let (name, is_short) = (found.source_key(), engine.probes_at_once(&source.source));
        let read = move || {
            let (version, facts) = (found.version(), engine.facts(&source.source)?);
            Ok((found, SourceFacts { version, facts }))
        };
        (self.headers)
            .read(Some(name), is_short, source.hold, read)
            .await
    }

    /// Whether the system has the beginning of the file in memory, and that is of no known format.
    fn is_no_image(&self, found: &OpenSource) -> bool {
        let head = found.begin(PIECE, Blocking::Refused);
        head.is_ok_and(|head| !self.codecs.iter().any(|codec| codec.sniff(&head.beginning)))
    }

    fn remember(
        &self,
        known: &RequestVariant,
        facts: SourceFacts,
        shared: Option<Ticket>,
    ) -> Arc<SourceFacts> {
        let (facts, results) = (Arc::new(facts), &self.results);
        let kept = shared.map(|ticket| KeptFacts {
            cache: &results.cache,
            ticket,
            source: source_path(&known.asked.request),
            is_remote: known.is_remote,
        });
        results.facts.remember(known.facts, facts.clone(), kept);
        facts
    }
}
