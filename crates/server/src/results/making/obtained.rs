//! Results of requests, with the way in which they were obtained.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Entry, FlightError, FlightResult, Hit, Role};

use super::Made;
use crate::error::{Error, SharedError};
use crate::operations::entry::Stages;
use crate::request::conditional::Validators;
use crate::response::cache_status::CacheStatus;
use crate::results::caching::flight_error;

/// A result for one request, and how it was obtained.
pub(crate) struct ObtainedResult {
    pub(crate) entry: Arc<Entry>,
    /// Time since the result was stored.
    pub(crate) age: Duration,
    pub(crate) status: CacheStatus,
    /// The stages in which this request spent its time.
    pub(crate) stages: Stages,
}

/// The outcome of a request for a result.
pub(crate) enum Answer {
    Result(ObtainedResult),
    /// The client already has the current result, which therefore need not be made.
    Unchanged(Validators),
}

impl ObtainedResult {
    /// Returns a cached result, which may be used for the time `remaining`, for a request whose processing began at
    /// `start`.
    pub(crate) fn hit(hit: &Hit, remaining: Duration, start: Instant) -> Self {
        Self {
            entry: hit.entry.clone(),
            age: hit.age,
            status: CacheStatus::Hit { ttl: remaining },
            stages: vec![("cache", start.elapsed())],
        }
    }

    pub(crate) fn stale(hit: &Hit, start: Instant) -> Self {
        Self {
            status: CacheStatus::Stale,
            ..Self::hit(hit, Duration::ZERO, start)
        }
    }

    /// Returns the result of a computation. `stale` says whether the cache had a stale result.
    pub(crate) fn from_flight(
        outcome: Result<FlightResult<Result<Made, SharedError>>, FlightError>,
        stale: bool,
        start: Instant,
    ) -> Result<Self, Error> {
        let FlightResult { value, role } = outcome.map_err(flight_error)?;
        let result = value?;
        let collapsed = role == Role::Follower;
        Ok(Self {
            entry: result.entry,
            age: result.reuse.map_or(Duration::ZERO, |reuse| reuse.age),
            status: match result.reuse {
                Some(reuse) if reuse.from_store => CacheStatus::Shared {
                    ttl: reuse.remaining,
                },
                Some(reuse) => CacheStatus::Hit {
                    ttl: reuse.remaining,
                },
                None => CacheStatus::Forwarded {
                    stale,
                    not_modified: result.not_modified,
                    stored: result.stored,
                    collapsed,
                },
            },
            stages: match collapsed {
                true => vec![("wait", start.elapsed())],
                false => result.stages.to_vec(),
            },
        })
    }
}
