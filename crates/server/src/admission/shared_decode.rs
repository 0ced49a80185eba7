//! Shared decodes: an image is decoded once for all waiting jobs that begin with it.
//!
//! A page may request one photograph in five sizes at once. The job that gets a thread first takes the others along.
//! The file is decoded once, at the largest scale that any of them needs, and each plan continues from a frame of its
//! own scale. The smaller frames are made from the coefficients of the larger one, not from its pixels, and each is
//! exactly what its job would have decoded alone: a result's entity tag identifies its bytes, so it must not depend on
//! which jobs happened to wait together. The price is that a decode can only be shared where the codec supports this:
//! at equal scale for every format, and for JPEG at all reduced scales. A JPEG that is also needed in full is decoded
//! once more for that.
//!
//! **Memory.** [`SharedPeak`](andon_pixels::SharedPeak) says what the jobs hold together. All of it is given back when
//! the last of them is done. If each has to decode alone after all, they do so one after the other within the same
//! memory.
//!
//! **Interruption.** The decode is abandoned when none of the jobs is wanted any more. After it, each job ends by its
//! own deadline and client. If the decode fails, each job tries alone and fails in its own way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use andon_cache::Key;
use andon_pixels::{Cores, Decoded, Engine, Interrupt, Plan};
use bytes::Bytes;

use super::cancel::CancelToken;
use crate::error::Error;

/// What a job decodes first, which other jobs may share.
pub(crate) struct DecodeInput {
    /// Identifies the exact bytes of the source; `None` if no other job can have them.
    pub(crate) source: Option<Key>,
    pub(crate) bytes: Bytes,
    pub(crate) plan: Arc<Plan>,
    pub(crate) engine: Engine,
}

/// One of several jobs that share a decode.
pub(super) struct Member<'a> {
    pub(super) opening: &'a DecodeInput,
    pub(super) wanted: Arc<CancelToken>,
}

impl DecodeInput {
    /// Whether one decode can serve both jobs.
    pub(super) fn joins(&self, other: &Self) -> bool {
        self.source.is_some() && self.source == other.source && self.plan.decodes_with(&other.plan)
    }
}

/// Decodes once for all members and returns their frames in the same order. Returns `None` if each has to decode by
/// itself, as a single member does.
pub(super) fn decode(members: &[Member<'_>], cores: &dyn Cores) -> Option<Vec<Decoded>> {
    members.get(1)?;
    catch_unwind(AssertUnwindSafe(|| decoded(members, cores)))
        .ok()?
        .ok()?
}

/// Decodes for a single job whose frame is to be cached.
pub(super) fn decode_alone(member: Member<'_>, cores: &dyn Cores) -> Result<Decoded, Error> {
    let decode = || decoded(&[member], cores);
    let decoded = catch_unwind(AssertUnwindSafe(decode)).map_err(|_| Error::Panicked)??;
    let missing = || andon_pixels::Error::Internal("a plan began with no frame".to_owned());
    let first = decoded.and_then(|decoded| decoded.into_iter().next());
    Ok(first.ok_or_else(missing)?)
}

fn decoded(
    members: &[Member<'_>],
    cores: &dyn Cores,
) -> andon_pixels::Result<Option<Vec<Decoded>>> {
    let Some(Member { opening: first, .. }) = members.first() else {
        return Ok(None);
    };
    let anybody = Anybody(members.iter().map(|member| &*member.wanted).collect());
    let plans: Vec<&Plan> = members.iter().map(|member| &*member.opening.plan).collect();
    let engine = &first.engine;
    engine.decode_at_once(cores, &plans, &first.bytes, &anybody)
}

/// The members' cancel tokens. It interrupts the shared decode once none of the members is wanted any more.
struct Anybody<'a>(Vec<&'a CancelToken>);

impl Interrupt for Anybody<'_> {
    fn interrupted(&self) -> bool {
        self.0.iter().all(|wanted| wanted.interrupted())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_decode_goes_on_while_anybody_waits() {
        let later = Instant::now() + Duration::from_secs(60);
        let (gone, here) = (CancelToken::until(later), CancelToken::until(later));
        let late = CancelToken::until(Instant::now());
        gone.forget();
        assert!(!Anybody(vec![&gone, &here, &late]).interrupted());
        here.forget();
        assert!(Anybody(vec![&gone, &here, &late]).interrupted());
    }
}
