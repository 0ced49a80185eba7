//! The predicted costs of a job: those of its plan, and those after calibration for this machine.

use std::time::Duration;

use andon_pixels::{Cost, Plan};

/// The kind of a piece of work: usually the formats of its source and its result.
pub type Kind = (&'static str, &'static str);

/// The planned costs of a piece of work, which calibration corrects for this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(super) kind: Kind,
    pub(super) nanos: u64,
    /// Planned time of decoding in nanoseconds, which `nanos` includes.
    pub(super) decode_nanos: u64,
    /// Planned peak memory in bytes without the source file, which is counted separately.
    pub(super) peak_bytes: u64,
    pub(super) source_bytes: u64,
}

impl Work {
    /// Returns the planned work of `plan` on a source of `source_bytes` bytes. The memory of the source is counted
    /// separately.
    pub(crate) fn of(plan: &Plan, source_bytes: u64) -> Self {
        Self {
            kind: match plan.is_copy() {
                true => (plan.info().format, "copy"),
                false => (plan.info().format, plan.format()),
            },
            nanos: plan.cost().nanos,
            decode_nanos: plan.decode_nanos(),
            peak_bytes: plan.peak_bytes().saturating_sub(plan.holding().file),
            source_bytes: source_bytes.saturating_sub(plan.unread()),
        }
    }

    /// Returns the planned work of only reading the pixels of a source of `source_bytes` bytes, without making an
    /// image. `kind` says for which purpose. The memory of the source is counted separately.
    pub(crate) fn look(kind: Kind, cost: Cost, source_bytes: u64) -> Self {
        Self {
            kind,
            nanos: cost.nanos,
            decode_nanos: cost.nanos,
            peak_bytes: cost.scratch,
            source_bytes,
        }
    }
}

/// The predicted costs of a job on this machine.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// Predicted time of the job on one worker thread, without help from idle ones.
    pub time: Duration,
    /// The part of `time` that decoding takes. Jobs that share a decode spend it only once.
    pub decode: Duration,
    /// Planned peak memory in bytes.
    pub bytes: u64,
}

impl Price {
    /// Returns the price without decoding, for a job whose decode is already done or counted elsewhere.
    pub(super) fn without_decode(self) -> Self {
        Self {
            time: self.time.saturating_sub(self.decode),
            decode: Duration::ZERO,
            ..self
        }
    }
}
