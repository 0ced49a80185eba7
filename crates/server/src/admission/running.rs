//! How a worker thread runs the jobs that it took from the queue, alone or with one decode for several.

use std::sync::Arc;
use std::time::Instant;

use andon_pixels::{Cores, Decoded, Task};

use super::job::{Job, Taken};
use super::pool::Pool;
use super::shared_decode;
use crate::error::Error;

/// What a job starts from.
enum Beginning {
    /// The source file: the job decodes what it needs.
    Source,
    /// A frame that was decoded for this job alone, and when that decode began.
    Own(Result<Decoded, Error>, Instant),
    /// A frame that was decoded for other jobs as well, or came from the cache.
    Shared(Decoded),
}

impl Pool {
    /// Runs a job, which decodes its source itself unless `beginning` has a decoded frame.
    fn run(&self, (id, job): Taken, beginning: Beginning) {
        let Job {
            work, opening, run, ..
        } = job;
        let (decoded, began) = match beginning {
            Beginning::Source => (None, Some(Instant::now())),
            Beginning::Own(decoded, began) => (Some(decoded), Some(began)),
            // A part of the work tells nothing about the whole.
            Beginning::Shared(decoded) => (Some(Ok(decoded)), None),
        };
        let alone = began.is_some();
        if alone && opening.is_some_and(|opening| !opening.plan.is_copy()) {
            self.lock().counters.decodes += 1;
        }
        let finished = run(self, decoded);
        let took = began.map(|began| (&work, began.elapsed()));
        self.finish(id, took, finished.outcome);
        (finished.tell)();
    }

    /// Runs jobs that were taken from the queue together. Those whose frames are not cached share one decode if
    /// possible, and idle threads are lent the jobs that they can take over.
    pub(super) fn run_together(self: &Arc<Self>, jobs: Vec<Taken>) {
        let (mut begun, mut others) = (Vec::new(), Vec::new());
        for taken in jobs {
            let opening = taken.1.opening.as_ref();
            match opening.and_then(|opening| self.frames.get(opening)) {
                Some(decoded) => begun.push((taken, decoded)),
                None => others.push(taken),
            }
        }
        if !begun.is_empty() {
            self.lock().counters.frame_hits += begun.len() as u64;
        }
        match self.decode_for(&others) {
            Some(decoded) => begun.extend(others.into_iter().zip(decoded)),
            None => {
                for taken in others {
                    let beginning = self.begin_alone(&taken.1);
                    self.run(taken, beginning);
                }
            }
        }
        let mut parts: Vec<Task> = begun
            .into_iter()
            .map(|(taken, decoded)| {
                let pool = self.clone();
                Box::new(move || pool.run(taken, Beginning::Shared(decoded))) as Task
            })
            .collect();
        // One stays on this thread: waking another one for it would only delay it.
        let own = parts.pop();
        let kept: Vec<Task> = parts
            .into_iter()
            .filter_map(|part| self.lend(part))
            .collect();
        for part in kept.into_iter().chain(own) {
            part();
        }
    }

    /// Decodes once for all `jobs`, and caches the frames that are worth it. Returns `None` if each job has to decode
    /// by itself.
    fn decode_for(&self, jobs: &[Taken]) -> Option<Vec<Decoded>> {
        let members: Vec<_> = jobs.iter().filter_map(|(_, job)| job.member()).collect();
        let decoded = shared_decode::decode(&members, self)?;
        for (member, decoded) in members.iter().zip(&decoded) {
            self.frames.put(member.opening, decoded);
        }
        let mut state = self.lock();
        state.counters.decodes += 1;
        state.counters.decodes_shared += decoded.len() as u64 - 1;
        Some(decoded)
    }

    /// Decodes the source of a job that shares its decode with no other job now, if the frame is to be cached.
    fn begin_alone(&self, job: &Job) -> Beginning {
        let began = Instant::now();
        let member = job.member();
        match member.filter(|member| self.frames.wants(member.opening)) {
            None => Beginning::Source,
            Some(member) => {
                let opening = member.opening;
                let decoded = shared_decode::decode_alone(member, self);
                if let Ok(decoded) = &decoded {
                    self.frames.put(opening, decoded);
                }
                Beginning::Own(decoded, began)
            }
        }
    }
}
