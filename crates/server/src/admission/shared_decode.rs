//! Jobs that wait together and begin with the same image: it is decoded once for all of them.
//!
//! A page asks for one photograph in five sizes at once. Whichever of them gets a thread first takes the
//! others along; the file is gone through once, at the largest scale that any of them needs, and each
//! plan goes on from a frame of its own scale. The smaller frames are made of the larger one's
//! coefficients, not of its pixels, and each is what its job would have decoded alone: a result's entity
//! tag says which bytes it is, so it must not depend on who happened to wait beside it. The price is that
//! only decodes whose codec can do that are shared, which are those of equal scale for every format, and
//! all reduced scales of a JPEG; a JPEG that is also wanted in full is gone through once more for that.
//!
//! **Memory.** What they hold together is told in [`SharedPeak`](andon_pixels::SharedPeak); all of it is given back when the last of
//! them is done. Should each have to decode alone after all, one after the other does, within the same.
//!
//! **Interruption.** The decode is given up when nobody of them is wanted any more; afterwards each ends
//! by its own deadline and client. If the decode fails, each tries alone and fails in its own way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use andon_cache::Key;
use andon_pixels::{Cores, Decoded, Engine, Interrupt, Plan};
use bytes::Bytes;

use super::CancelToken;
use crate::error::Error;

/// How a job begins, where others may begin with it.
pub(crate) struct DecodeInput {
    /// Names the very bytes of the source; `None`: nobody else has them.
    pub(crate) source: Option<Key>,
    pub(crate) bytes: Bytes,
    pub(crate) plan: Arc<Plan>,
    pub(crate) engine: Engine,
}

/// One of several jobs that begin together.
pub(super) struct Member<'a> {
    pub(super) opening: &'a DecodeInput,
    pub(super) wanted: Arc<CancelToken>,
}

impl DecodeInput {
    /// Can one decode serve both?
    pub(super) fn joins(&self, other: &Self) -> bool {
        self.source.is_some() && self.source == other.source && self.plan.decodes_with(&other.plan)
    }
}

/// Decodes once for all members, in their order; `None`: each has to do it alone.
pub(super) fn decode(members: &[Member<'_>], cores: &dyn Cores) -> Option<Vec<Decoded>> {
    members.get(1)?;
    catch_unwind(AssertUnwindSafe(|| decoded(members, cores)))
        .ok()?
        .ok()?
}

/// Decodes for one whose frame is kept afterwards.
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

/// Interrupted when nobody waits any more.
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
