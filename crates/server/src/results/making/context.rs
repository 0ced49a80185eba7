//! What a computation is made for, and within which bounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Ticket};
use andon_dialects::ImageRequest;
use andon_pixels::{CpuTime, Engine};

use super::Maker;
use super::idle::IdleTurn;
use crate::error::Error;
use crate::results::variant::RequestVariant;

/// A request whose format is settled, on its way to a result. Computations that several clients share have a copy of
/// the first one's, with a deadline of their own.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) variant: Arc<RequestVariant>,
    /// The moment at which the request was taken up.
    pub(crate) began: Instant,
    /// Cache ticket that was taken before anything was looked up for the request.
    pub(crate) ticket: Ticket,
    pub(crate) allowance: Allowance,
}

/// Until when, and with how much processor time, something is made.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) deadline: Deadline,
    /// Maximum time for encoding, if another format can answer the request as well.
    pub(crate) patience: Option<Duration>,
    /// Whether nobody waits for the result, so that `limits.cpu` does not apply.
    pub(crate) is_idle: bool,
}

impl RequestContext {
    /// Returns the request.
    pub(crate) fn request(&self) -> &Arc<ImageRequest> {
        &self.variant.asked.request
    }

    /// Returns the context of a computation that is shared with other requests until `deadline`.
    pub(super) fn shared(&self, deadline: Deadline) -> Self {
        Self {
            allowance: Allowance {
                deadline,
                ..self.allowance.clone()
            },
            ..self.clone()
        }
    }

    /// Returns the part of a computation's key that distinguishes requests that wait for slow formats from those that
    /// do not.
    pub(super) fn state(&self) -> &'static str {
        match self.allowance.patience {
            Some(_) => "",
            None => "patient",
        }
    }
}

impl Allowance {
    /// Returns the allowance of a request that no other format can answer.
    pub(crate) fn until(deadline: impl Into<Deadline>) -> Self {
        Self {
            deadline: deadline.into(),
            patience: None,
            is_idle: false,
        }
    }

    /// Refuses work on a source of `bytes` that is planned to take longer than `limits.cpu` allows, unless it is done
    /// at idle priority.
    pub(super) fn check(&self, engine: &Engine, planned: CpuTime, bytes: u64) -> Result<(), Error> {
        match self.is_idle {
            true => Ok(()),
            false => Ok(engine.limits().check_cpu(planned, bytes)?),
        }
    }
}

impl Maker {
    /// Returns the context of a request that is taken up now.
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

    /// Returns the allowance of a client's request. One that has waited for its `turn` may take the time for every
    /// format.
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
