//! The request for which a computation runs, and the limits of the computation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Ticket};
use andon_dialects::ImageRequest;
use andon_pixels::{CpuTime, Engine};

use super::Maker;
use super::idle::IdleTurn;
use crate::error::Error;
use crate::results::variant::RequestVariant;

/// A request whose format is settled, and the limits of making its result. A computation that several requests share
/// has a copy of the first request's context, with a deadline of its own.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) variant: Arc<RequestVariant>,
    /// The time at which processing the request started.
    pub(crate) began: Instant,
    /// Cache ticket that was taken before the first look-up for the request.
    pub(crate) ticket: Ticket,
    pub(crate) allowance: Allowance,
}

/// Limits on the time for making a result.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) deadline: Deadline,
    /// Maximum time for encoding if the client accepts other formats, too; `None` if only the deadline limits it.
    pub(crate) patience: Option<Duration>,
    /// Whether the result is made at idle priority, so that `limits.cpu` does not apply.
    pub(crate) is_idle: bool,
}

impl RequestContext {
    /// Returns the request.
    pub(crate) fn request(&self) -> &Arc<ImageRequest> {
        &self.variant.asked.request
    }

    /// Returns the context of a computation with this deadline that other requests may join.
    pub(super) fn shared(&self, deadline: Deadline) -> Self {
        Self {
            allowance: Allowance {
                deadline,
                ..self.allowance.clone()
            },
            ..self.clone()
        }
    }

    /// Returns the part of a computation's key that separates requests that wait for slow formats from those that do
    /// not.
    pub(super) fn state(&self) -> &'static str {
        match self.allowance.patience {
            Some(_) => "",
            None => "patient",
        }
    }
}

impl Allowance {
    /// Returns the allowance of a request that accepts no other format: only the deadline limits the time for encoding.
    pub(crate) fn until(deadline: impl Into<Deadline>) -> Self {
        Self {
            deadline: deadline.into(),
            patience: None,
            is_idle: false,
        }
    }

    /// Refuses work on a source of `bytes` bytes if its planned processor time exceeds `limits.cpu`, unless the work
    /// has idle priority.
    pub(super) fn check(&self, engine: &Engine, planned: CpuTime, bytes: u64) -> Result<(), Error> {
        match self.is_idle {
            true => Ok(()),
            false => Ok(engine.limits().check_cpu(planned, bytes)?),
        }
    }
}

impl Maker {
    /// Returns the context of a request whose processing starts now.
    pub(crate) fn context(
        &self,
        variant: Arc<RequestVariant>,
        allowance: Allowance,
    ) -> RequestContext {
        RequestContext {
            variant,
            began: Instant::now(),
            ticket: self.results.cache.ticket(),
            allowance,
        }
    }

    /// Returns the allowance of a client's request. With a `turn` at idle priority, only the deadline limits the time
    /// for encoding.
    pub(crate) fn allowance(
        &self,
        variant: &RequestVariant,
        turn: Option<&IdleTurn>,
        deadline: Instant,
    ) -> Allowance {
        Allowance {
            deadline: deadline.into(),
            patience: self.patience(variant).filter(|_| turn.is_none()),
            is_idle: turn.is_some(),
        }
    }
}
