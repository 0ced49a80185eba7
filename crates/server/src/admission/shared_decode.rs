//! Shared decodes: an image is decoded once for all waiting jobs that start with it.
//!
//! A page may request one photo in five sizes at once. The first of these jobs that gets a thread takes the others
//! along. The file is decoded once, at the largest scale that any of them needs, and each plan continues with a frame
//! of its own scale. The smaller frames are made from the coefficients of the larger one, not from its pixels, and each
//! is exactly the frame that its job would have decoded alone: a result's entity tag identifies its bytes, so these
//! must not depend on which jobs happened to wait together. The price is that a decode can only be shared if the codec
//! supports this: at equal scale for every format, and for JPEG at all reduced scales. A JPEG that is also needed at
//! full scale is decoded once more for that.
//!
//! **Memory.** [`SharedPeak`](andon_pixels::SharedPeak) computes the memory that the jobs take together. All of it is
//! released when the last of them ends. If each job has to decode alone after all, they do so one after the other
//! within the same memory.
//!
//! **Interruption.** The decode is abandoned when all of the jobs are cancelled. After the decode, each job ends by its
//! own deadline and client. If the decode fails, each job decodes alone and fails in its own way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use andon_cache::Key;
use andon_pixels::{Cores, Decoded, Engine, Interrupt, Plan};
use bytes::Bytes;

use super::cancel::CancelToken;
use crate::error::Error;

/// The input of a job's decode, which other jobs may share.
pub(crate) struct DecodeInput {
    /// Key of the exact bytes of the source; `None` if no other job can have the same.
    pub(crate) source: Option<Key>,
    pub(crate) bytes: Bytes,
    pub(crate) plan: Arc<Plan>,
    pub(crate) engine: Engine,
}

/// One of several jobs that share a decode.
pub(super) struct Member<'a> {
    pub(super) input: &'a DecodeInput,
    pub(super) cancel: Arc<CancelToken>,
}

impl DecodeInput {
    /// Whether one decode can serve both jobs.
    pub(super) fn joins(&self, other: &Self) -> bool {
        self.source.is_some() && self.source == other.source && self.plan.decodes_with(&other.plan)
    }
}

/// Decodes once for all members and returns their frames in the same order. Returns `None` if each has to decode its
/// image itself, as a single member does.
pub(super) fn decode(members: &[Member<'_>], cores: &dyn Cores) -> Option<Vec<Decoded>> {
    members.get(1)?;
    catch_unwind(AssertUnwindSafe(|| decode_members(members, cores)))
        .ok()?
        .ok()?
}

/// Decodes for a single job whose frame is to be cached.
pub(super) fn decode_alone(member: Member<'_>, cores: &dyn Cores) -> Result<Decoded, Error> {
    let decode = || decode_members(&[member], cores);
    let decoded = catch_unwind(AssertUnwindSafe(decode)).map_err(|_| Error::Panicked)??;
    let missing = || andon_pixels::Error::Internal("a plan began with no frame".to_owned());
    let first = decoded.and_then(|decoded| decoded.into_iter().next());
    Ok(first.ok_or_else(missing)?)
}

/// Decodes once for all members; `None` if their plans do not start with a decode that can be shared.
fn decode_members(
    members: &[Member<'_>],
    cores: &dyn Cores,
) -> andon_pixels::Result<Option<Vec<Decoded>>> {
    let Some(Member { input: first, .. }) = members.first() else {
        return Ok(None);
    };
    let tokens = AllTokens(members.iter().map(|member| &*member.cancel).collect());
    let plans: Vec<&Plan> = members.iter().map(|member| &*member.input.plan).collect();
    let engine = &first.engine;
    engine.decode_at_once(cores, &plans, &first.bytes, &tokens)
}

/// The cancel tokens of all jobs that share a decode, which is interrupted when all of them are cancelled.
struct AllTokens<'a>(Vec<&'a CancelToken>);

impl Interrupt for AllTokens<'_> {
    fn interrupted(&self) -> bool {
        self.0.iter().all(|token| token.interrupted())
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
        gone.cancel();
        assert!(!AllTokens(vec![&gone, &here, &late]).interrupted());
        here.cancel();
        assert!(AllTokens(vec![&gone, &here, &late]).interrupted());
    }
}
