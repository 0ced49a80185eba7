//! Measurements of a source's pixels that are needed before a request for it can be planned. They are made on a worker
//! thread, once for all requests that need them, and remembered by the state of the source. So are the places in its
//! file from which parts of it can be decoded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Entry, Key, Life};
use andon_pixels::{Cores, Cost, CpuTime, Interrupt};
use bytes::Bytes;

use super::{Allowance, Maker};
use crate::admission::{Admission, CancelToken, Kind, Work};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::results::caching::{fallen, source_path};
use crate::sources::rendering::{Planned, Prepared};

/// A task that inspects a source's pixels.
struct Task<H> {
    bytes: Bytes,
    /// Key of the bytes, if other requests may ask the same of them.
    source: Option<Key>,
    deadline: Deadline,
    /// Keeps the memory of the bytes reserved.
    holds: Arc<H>,
}

impl Maker {
    /// Plans a prepared request, after measuring the source's pixels if that is needed. `source` is the key of the
    /// source's bytes, or `None` if no other request uses them. `holds` keeps their memory reserved until the
    /// measurement is done.
    pub(crate) async fn planned<H: Send + Sync + 'static>(
        &self,
        prepared: Prepared,
        source: Option<Key>,
        holds: &Arc<H>,
        allowance: &Allowance,
        stages: &mut Stages,
    ) -> Result<Planned, Error> {
        let (ingredients, measurement) = match prepared {
            Prepared::Planned(planned) => return Ok(*planned),
            Prepared::Unmeasured(ingredients, measurement) => (*ingredients, measurement),
        };
        let key = source.map(|source| Key::of(&[source.to_string(), measurement.to_string()]));
        let (cost, bytes) = (measurement.cost(), ingredients.source.len() as u64);
        let mut looks = CpuTime::default();
        let measured = match key.and_then(|key| self.results.measured.get(&key)) {
            Some(known) => known?,
            None => {
                looks = cost.into();
                allowance.check(&self.engine, looks, bytes)?;
                let (began, deadline) = (Instant::now(), &allowance.deadline);
                let (bytes, holds) = (ingredients.source.clone(), holds.clone());
                let (admission, engine) = (self.admission.clone(), self.engine.clone());
                let kind = (measurement.format(), "measure");
                let measure = move |deadline| async move {
                    let task = Task {
                        bytes,
                        source,
                        deadline,
                        holds,
                    };
                    let measure = move |bytes: &[u8], cores: &dyn Cores, wanted: &dyn Interrupt| {
                        engine.measure(&measurement, bytes, cores, wanted)
                    };
                    task.run(&admission, kind, cost, measure).await
                };
                let measured = match key {
                    Some(key) => (self.results.measured).get_or(key, deadline, measure).await,
                    None => measure(deadline.clone()).await,
                }?;
                stages.push(("measure", began.elapsed()));
                measured
            }
        };
        let engine = self.engine.clone();
        let plan = move || Planned::new(&engine, ingredients, Some(&measured));
        let planned = (self.headers)
            .read(source, false, holds.clone(), plan)
            .await?;
        // Both together: what was looked at here is done, but what it was for is not begun.
        allowance.check(&self.engine, looks + planned.plan().cpu(), bytes)?;
        Ok(planned)
    }

    /// Plans again with an index of the source, if an index helps. It is made once for all requests and kept in the
    /// cache beside the results. For a source that cannot have an index, an empty one is kept.
    pub(super) async fn indexed<H: Send + Sync + 'static>(
        &self,
        mut planned: Planned,
        source: Key,
        holds: &Arc<H>,
        deadline: &Deadline,
        stages: &mut Stages,
    ) -> Result<Planned, Error> {
        let results = &self.results;
        if planned.plan().indexing().is_none() || !results.keeps_indexes() {
            return Ok(planned);
        }
        let key = Key::of(&[source.to_string().as_str(), "index"]);
        if let Some(known) = results.cache.get_note(&key).await {
            let index = known.body.clone();
            planned = self.through(planned, source, index, holds).await?;
            if known.body.is_empty() {
                return Ok(planned);
            }
        }
        // One of an earlier release is none.
        let Some(cost) = planned.plan().indexing() else {
            return Ok(planned);
        };
        let began = Instant::now();
        let work = {
            let (admission, engine, cache) = (
                self.admission.clone(),
                self.engine.clone(),
                results.cache.clone(),
            );
            let (ticket, path) = (cache.ticket(), source_path(planned.request()));
            let (bytes, holds) = (planned.source().clone(), holds.clone());
            let kind = (planned.plan().info().format, "index");
            move |deadline: Deadline| async move {
                let task = Task {
                    bytes,
                    source: Some(source),
                    deadline,
                    holds,
                };
                let index = move |bytes: &[u8], cores: &dyn Cores, wanted: &dyn Interrupt| {
                    engine.index(bytes, cores, wanted)
                };
                let made = task.run(&admission, kind, cost, index).await;
                let index = Bytes::from(made.map_err(Error::shared)?.unwrap_or_default());
                let entry = Entry {
                    body: index.clone(),
                    source: path,
                    life: Life::fresh_for(Duration::ZERO),
                    ..Entry::default()
                };
                cache.put(key, entry, ticket);
                Ok(index)
            }
        };
        let landed = results.indexes.run(key, deadline, work).await;
        let index = landed.map_err(fallen)?.value?;
        stages.push(("measure", began.elapsed()));
        self.through(planned, source, index, holds).await
    }

    async fn through<H: Send + Sync + 'static>(
        &self,
        planned: Planned,
        source: Key,
        index: Bytes,
        holds: &Arc<H>,
    ) -> Result<Planned, Error> {
        if index.is_empty() {
            return Ok(planned);
        }
        let engine = self.engine.clone();
        let through = move || planned.through(&engine, index);
        let planned = (self.headers)
            .read(Some(source), false, holds.clone(), through)
            .await?;
        let bytes = planned.source().len() as u64;
        let part = bytes.saturating_sub(planned.plan().unread());
        self.results.parts.insert_for(source, part, LIKELY);
        Ok(planned)
    }
}

/// The time for which clients that look at parts of an image are expected to look at others.
const LIKELY: Duration = Duration::from_secs(600);

impl<H: Send + Sync + 'static> Task<H> {
    /// Runs `look` over the bytes on a worker thread, admitted like all work.
    async fn run<T: Send + 'static>(
        self,
        admission: &Admission,
        kind: Kind,
        cost: Cost,
        look: impl FnOnce(&[u8], &dyn Cores, &dyn Interrupt) -> andon_pixels::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let Self {
            bytes,
            source,
            deadline,
            holds,
        } = self;
        let admitted = admission.enter(bytes.len() as u64, source, deadline.at())?;
        let work = Work::look(kind, cost, bytes.len() as u64);
        let wanted = Arc::new(CancelToken::until(deadline));
        let job = {
            let wanted = wanted.clone();
            move |cores: &dyn Cores, _| {
                let _until_done = holds;
                Ok(look(&bytes, cores, &*wanted)?)
            }
        };
        admission.run_with(admitted, work, wanted, None, job).await
    }
}
