//! Measurements of a source's pixels that are needed before a request for it can be planned. They run on a worker
//! thread, once for all requests that need them, and are remembered by the state of the source. The same applies to
//! indexes of the offsets in its file at which parts of the image can be decoded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Entry, Key, Life};
use andon_pixels::{Cores, Cost, CpuTime, Interrupt};
use bytes::Bytes;

use super::{Allowance, Maker};
use crate::admission::{Admission, CancelToken, Kind, Work};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::results::caching::{flight_error, source_path};
use crate::sources::rendering::{Planned, Prepared};

/// A task that measures or indexes a source's pixels.
struct Task<H> {
    bytes: Bytes,
    /// Key of the source's bytes; `None` if no other request can need the same measurement or index.
    source: Option<Key>,
    deadline: Deadline,
    /// Keeps the memory of the source's bytes reserved.
    holds: Arc<H>,
}

impl Maker {
    /// Plans a prepared request, after measuring the source's pixels if that is needed. `source` is the key of the
    /// source's bytes, or `None` if no other request uses them. `holds` keeps their memory reserved until the
    /// measurement is complete.
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
        let mut measuring_time = CpuTime::default();
        let measured = match key.and_then(|key| self.results.measured.get(&key)) {
            Some(finding) => finding?,
            None => {
                measuring_time = cost.into();
                allowance.check(&self.engine, measuring_time, bytes)?;
                let (start, deadline) = (Instant::now(), &allowance.deadline);
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
                    let measure = move |bytes: &[u8], cores: &dyn Cores, cancel: &dyn Interrupt| {
                        engine.measure(&measurement, bytes, cores, cancel)
                    };
                    task.run(&admission, kind, cost, measure).await
                };
                let measured = match key {
                    Some(key) => (self.results.measured).get_or(key, deadline, measure).await,
                    None => measure(deadline.clone()).await,
                }?;
                stages.push(("measure", start.elapsed()));
                measured
            }
        };
        let engine = self.engine.clone();
        let plan = move || Planned::new(&engine, ingredients, Some(&measured));
        let planned = (self.headers)
            .read(source, false, holds.clone(), plan)
            .await?;
        // The limit applies to the measurement, which is complete, together with the plan, which has not started.
        allowance.check(&self.engine, measuring_time + planned.plan().cpu(), bytes)?;
        Ok(planned)
    }

    /// Plans again with an index of the source (the offsets at which its parts can be decoded), if the plan can use
    /// one. The index is made once for all requests, and cached like a result. For a source that cannot have an index,
    /// an empty one is cached.
    pub(super) async fn with_index<H: Send + Sync + 'static>(
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
        if let Some(note) = results.cache.get_note(&key).await {
            let index = note.body.clone();
            planned = self.through(planned, source, index, holds).await?;
            if note.body.is_empty() {
                return Ok(planned);
            }
        }
        // The plan still wants an index if the cached one is of an earlier release and not valid.
        let Some(cost) = planned.plan().indexing() else {
            return Ok(planned);
        };
        let start = Instant::now();
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
                let index = move |bytes: &[u8], cores: &dyn Cores, cancel: &dyn Interrupt| {
                    engine.index(bytes, cores, cancel)
                };
                let result = task.run(&admission, kind, cost, index).await;
                let index = Bytes::from(result.map_err(Error::shared)?.unwrap_or_default());
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
        let outcome = results.indexes.run(key, deadline, work).await;
        let index = outcome.map_err(flight_error)?.value?;
        stages.push(("measure", start.elapsed()));
        self.through(planned, source, index, holds).await
    }

    /// Plans again with `index`, the offsets at which parts of the source can be decoded, and records how much of the
    /// source the plan reads.
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

/// How long the number of bytes that were read for a part of an image is remembered, to predict how many the next
/// request for the image reads: clients that view one part of an image tend to view others.
const LIKELY: Duration = Duration::from_secs(600);

impl<H: Send + Sync + 'static> Task<H> {
    /// Admits this task, and then calls `look` with the source's bytes on a worker thread.
    ///
    /// # Errors
    /// The errors of admission and of `look`.
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
        let cancel = Arc::new(CancelToken::until(deadline));
        let job = {
            let cancel = cancel.clone();
            move |cores: &dyn Cores, _| {
                let _until_done = holds;
                Ok(look(&bytes, cores, &*cancel)?)
            }
        };
        admission.run_with(admitted, work, cancel, None, job).await
    }
}
