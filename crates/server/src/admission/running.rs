//! Runs the jobs that a worker thread has taken from the queue, alone or with one decode for several.

use std::sync::Arc;
use std::time::Instant;

use andon_pixels::{Cores, Decoded, Task};

use super::job::{Job, NumberedJob};
use super::pool::Pool;
use super::shared_decode;
use crate::error::Error;

/// The data that a job starts from.
enum StartPoint {
    /// The source file, from which the job decodes the parts that it needs.
    Source,
    /// A frame that was decoded for this job alone, and the time at which that decode started.
    Own(Result<Decoded, Error>, Instant),
    /// A frame that was decoded for other jobs as well, or comes from the cache.
    Shared(Decoded),
}

impl Pool {
    /// Runs a job, which decodes its source itself unless `start_point` has a decoded frame.
    fn run(&self, (id, job): NumberedJob, start_point: StartPoint) {
        let Job {
            work,
            input: decode_input,
            run,
            ..
        } = job;
        let (decoded, start) = match start_point {
            StartPoint::Source => (None, Some(Instant::now())),
            StartPoint::Own(decoded, start) => (Some(decoded), Some(start)),
            // The time of a part of the work must not be compared with the plan of the whole.
            StartPoint::Shared(decoded) => (Some(Ok(decoded)), None),
        };
        let alone = start.is_some();
        if alone && decode_input.is_some_and(|decode_input| !decode_input.plan.is_copy()) {
            self.lock().counters.decodes += 1;
        }
        let end = run(self, decoded);
        let measurement = start.map(|start| (&work, start.elapsed()));
        self.finish(id, measurement, end.outcome);
        (end.send)();
    }

    /// Runs jobs that were taken from the queue together. Those whose frames are not cached share one decode if
    /// possible, and idle threads may take over some of the jobs.
    pub(super) fn run_together(self: &Arc<Self>, jobs: Vec<NumberedJob>) {
        let (mut decoded_jobs, mut others) = (Vec::new(), Vec::new());
        for job in jobs {
            let input = job.1.input.as_ref();
            match input.and_then(|input| self.frames.get(input)) {
                Some(decoded) => decoded_jobs.push((job, decoded)),
                None => others.push(job),
            }
        }
        if !decoded_jobs.is_empty() {
            self.lock().counters.frame_hits += decoded_jobs.len() as u64;
        }
        match self.decode_for(&others) {
            Some(decoded) => decoded_jobs.extend(others.into_iter().zip(decoded)),
            None => {
                for job in others {
                    let start_point = self.begin_alone(&job.1);
                    self.run(job, start_point);
                }
            }
        }
        let mut parts: Vec<Task> = decoded_jobs
            .into_iter()
            .map(|(job, decoded)| {
                let pool = self.clone();
                Box::new(move || pool.run(job, StartPoint::Shared(decoded))) as Task
            })
            .collect();
        // One job stays on this thread, because waking another thread for it would only delay it.
        let last = parts.pop();
        let rest: Vec<Task> = parts
            .into_iter()
            .filter_map(|part| self.lend(part))
            .collect();
        for part in rest.into_iter().chain(last) {
            part();
        }
    }

    /// Decodes once for all `jobs`, and caches the frames that are worth it. Returns `None` if each job has to decode
    /// its image itself.
    fn decode_for(&self, jobs: &[NumberedJob]) -> Option<Vec<Decoded>> {
        let members: Vec<_> = jobs.iter().filter_map(|(_, job)| job.member()).collect();
        let decoded = shared_decode::decode(&members, self)?;
        for (member, decoded) in members.iter().zip(&decoded) {
            self.frames.put(member.input, decoded);
        }
        let mut state = self.lock();
        state.counters.decodes += 1;
        state.counters.decodes_shared += decoded.len() as u64 - 1;
        Some(decoded)
    }

    /// Decodes the source of a job that shares its decode with no other job at the moment, if the frame is to be
    /// cached.
    fn begin_alone(&self, job: &Job) -> StartPoint {
        let start = Instant::now();
        let member = job.member();
        match member.filter(|member| self.frames.wants(member.input)) {
            None => StartPoint::Source,
            Some(member) => {
                let input = member.input;
                let decoded = shared_decode::decode_alone(member, self);
                if let Ok(decoded) = &decoded {
                    self.frames.put(input, decoded);
                }
                StartPoint::Own(decoded, start)
            }
        }
    }
}
