//! Results as obtained for a request, and how they came about.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Entry, FlightError, FlightResult, Hit, Role};

use super::Made;
use crate::error::{Error, SharedError};
use crate::operations::entry::Stages;
use crate::request::conditional::Validators;
use crate::response::cache_status::CacheStatus;
use crate::results::caching::fallen;

/// A result for one request, and how it was obtained.
pub(crate) struct ObtainedResult {
    pub(crate) entry: Arc<Entry>,
    /// Time since the result was stored.
    pub(crate) age: Duration,
    pub(crate) status: CacheStatus,
    /// The stages in which this request spent its time.
    pub(crate) stages: Stages,
}

/// The outcome of asking for a result.
pub(crate) enum Answer {
    Result(ObtainedResult),
    /// The client already has this answer, and nothing had to be made to know that.
    Unchanged(Validators),
}

impl ObtainedResult {
    pub(crate) fn hit(hit: &Hit, left: Duration, began: Instant) -> Self {
        Self {
            entry: hit.entry.clone(),
            age: hit.age,
            status: CacheStatus::Hit { ttl: left },
            stages: vec![("cache", began.elapsed())],
        }
    }

    pub(crate) fn stale(hit: &Hit, began: Instant) -> Self {
        Self {
            status: CacheStatus::Stale,
            ..Self::hit(hit, Duration::ZERO, began)
        }
    }

    pub(crate) fn landed(
        landed: Result<FlightResult<Result<Made, SharedError>>, FlightError>,
        stale: bool,
        began: Instant,
    ) -> Result<Self, Error> {
        let FlightResult { value, role } = landed.map_err(fallen)?;
        let made = value?;
        let collapsed = role == Role::Follower;
        Ok(Self {
            entry: made.entry,
            age: made.reused.map_or(Duration::ZERO, |reuse| reuse.age),
            status: match made.reused {
                Some(reuse) if reuse.from_store => CacheStatus::Shared { ttl: reuse.left },
                Some(reuse) => CacheStatus::Hit { ttl: reuse.left },
                None => CacheStatus::Forwarded {
                    stale,
                    not_modified: made.not_modified,
                    stored: made.stored,
                    collapsed,
                },
            },
            stages: match collapsed {
                true => vec![("wait", began.elapsed())],
                false => made.stages.to_vec(),
            },
        })
    }
}
