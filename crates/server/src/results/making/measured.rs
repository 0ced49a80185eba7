//! What a source's pixels tell, before a request for it can be planned: measured on a worker thread, once for all
//! who want to know, and remembered with the state of the source.

use std::sync::Arc;
use std::time::Instant;

use andon_cache::Key;
use andon_pixels::{Cores, Engine, Measurement};
use andon_recipe::Measured;
use bytes::Bytes;

use super::Maker;
use crate::admission::{Admission, CancelToken, Work};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::sources::rendering::{Planned, Prepared};

/// A measurement to be made.
struct Task<H> {
    measurement: Measurement,
    bytes: Bytes,
    /// Names the bytes, where others may ask the same of them.
    source: Option<Key>,
    deadline: Instant,
    /// Counts the bytes.
    holds: Arc<H>,
}

impl Maker {
    /// Plans what is prepared, after it was measured if it has to be. `source` names its bytes, unless they are
    /// nobody else's; `holds` counts them until the measurement is done.
    pub(crate) async fn planned<H: Send + Sync + 'static>(
        &self,
        prepared: Prepared,
        source: Option<Key>,
        holds: &Arc<H>,
        deadline: Instant,
        stages: &mut Stages,
    ) -> Result<Planned, Error> {
        let (ingredients, measurement) = match prepared {
            Prepared::Planned(planned) => return Ok(*planned),
            Prepared::Unmeasured(ingredients, measurement) => (*ingredients, measurement),
        };
        let key = source.map(|source| Key::of(&[source.to_string(), measurement.to_string()]));
        let measured = match key.and_then(|key| self.results.measured.get(&key)) {
            Some(known) => known?,
            None => {
                let began = Instant::now();
                let task = Task {
                    measurement,
                    bytes: ingredients.source.clone(),
                    source,
                    deadline,
                    holds: holds.clone(),
                };
                let (admission, engine) = (self.admission.clone(), self.engine.clone());
                let measure = move || async move { measure(&admission, engine, task).await };
                let measured = match key {
                    Some(key) => self.results.measured.get_or(key, measure).await,
                    None => measure().await,
                }?;
                stages.push(("measure", began.elapsed()));
                measured
            }
        };
        let engine = self.engine.clone();
        self.fetcher
            .run(move || Planned::new(&engine, ingredients, Some(&measured)))
            .await
    }
}

/// Measures on a worker thread, admitted as all work is.
async fn measure<H: Send + Sync + 'static>(
    admission: &Admission,
    engine: Engine,
    task: Task<H>,
) -> Result<Measured, Error> {
    let Task {
        measurement,
        bytes,
        source,
        deadline,
        holds,
    } = task;
    let admitted = admission.enter(bytes.len() as u64, source, deadline)?;
    let work = Work::measuring(&measurement, bytes.len() as u64);
    let wanted = Arc::new(CancelToken::until(deadline));
    let job = {
        let wanted = wanted.clone();
        move |cores: &dyn Cores, _| {
            let _until_done = holds;
            Ok(engine.measure(&measurement, &bytes, cores, &*wanted)?)
        }
    };
    admission.run_with(admitted, work, wanted, None, job).await
}
