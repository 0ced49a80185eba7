//! What targets mean, remembered: a hit is looked up under a name that was worked out once.
//!
//! Reading a target, settling its format and naming its result depend on the target, on the
//! configuration, and on `Accept` where the target leaves the format open; on nothing that changes
//! while a configuration is in force.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use andon_cache::{Entry, Key};
use andon_dialects::ImageRequest;
use andon_recipe::FormatName;
use hyper::{HeaderMap, Uri};

use super::caching::Resolved;
use super::head::Head;
use super::making::Maker;
use super::recent::Recent;
use crate::error::Error;
use crate::request::negotiation::{Negotiation, SettledRequest};

/// One result's name and all that is told about it beside the result itself.
#[derive(Debug)]
pub(crate) struct RequestVariant {
    pub(crate) asked: SettledRequest,
    /// What the facts of its source are kept under.
    pub(crate) facts: Key,
    /// What is made for it before anybody knows what it comes to.
    pub(crate) unresolved: Key,
    /// The canonical recipe, where one is applied.
    pub(crate) recipe: Option<Arc<str>>,
    /// Is the source asked for over a network?
    pub(crate) is_remote: bool,
    /// The target, for the log.
    pub(crate) uri: Uri,
    /// What it comes to, and how many purges there had been then.
    resolved: Mutex<Option<(u64, Arc<Resolved>)>>,
    head: Mutex<Option<Arc<Head>>>,
}

/// The targets that were asked for most recently.
#[derive(Debug)]
pub(crate) struct TargetCache(Recent<Arc<ParsedTarget>>);

/// A target's meaning for every choice of a format: a single one, if the target settles it.
#[derive(Debug)]
struct ParsedTarget {
    request: ImageRequest,
    is_open: bool,
    known: Box<[OnceLock<Arc<RequestVariant>>]>,
}

impl Default for TargetCache {
    fn default() -> Self {
        Self(Recent::new(MOST))
    }
}

impl TargetCache {
    /// What a target means for a client with these headers, where none of the formats in `without` will do.
    ///
    /// # Errors
    /// `Target`.
    pub(crate) fn understand(
        &self,
        target: &str,
        headers: &HeaderMap,
        without: &[FormatName],
        maker: &Maker,
        negotiation: &Negotiation,
    ) -> Result<Arc<RequestVariant>, Error> {
        let meaning = match self.0.get(target) {
            Some(meaning) => meaning,
            None => {
                let meaning = ParsedTarget::new(maker.resolver.parse(target)?, negotiation);
                let meaning = Arc::new(meaning);
                if target.len() <= LONGEST {
                    self.0.remember(target, meaning.clone());
                }
                meaning
            }
        };
        let choice = match meaning.is_open {
            true => negotiation.choose(headers, without),
            false => 0,
        };
        let known = meaning.known[choice].get_or_init(|| {
            let choice = meaning.is_open.then_some(choice);
            let asked = negotiation.settle(meaning.request.clone(), choice);
            Arc::new(RequestVariant::new(target, asked, maker))
        });
        Ok(known.clone())
    }

    /// The same for what was understood before. The headers are not looked at where they do not matter.
    pub(crate) fn understood(
        &self,
        target: &str,
        headers: impl FnOnce() -> HeaderMap,
        negotiation: &Negotiation,
    ) -> Option<Arc<RequestVariant>> {
        let meaning = self.0.get(target)?;
        let choice = match meaning.is_open {
            true => negotiation.choose(&headers(), &[]),
            false => 0,
        };
        meaning.known[choice].get().cloned()
    }
}

impl ParsedTarget {
    fn new(request: ImageRequest, negotiation: &Negotiation) -> Self {
        let is_open = negotiation.is_open(&request);
        let choices = if is_open { negotiation.choices() } else { 1 };
        Self {
            request,
            is_open,
            known: (0..choices).map(|_| OnceLock::new()).collect(),
        }
    }
}

impl RequestVariant {
    fn new(target: &str, asked: SettledRequest, maker: &Maker) -> Self {
        let request = &asked.request;
        Self {
            facts: maker.results.names.facts(request),
            unresolved: maker.results.names.unresolved(&asked),
            recipe: (!request.is_file()).then(|| request.rules.text().into()),
            is_remote: maker.resolver.is_remote(request),
            uri: Uri::try_from(target).unwrap_or_default(),
            resolved: Mutex::default(),
            head: Mutex::default(),
            asked,
        }
    }

    /// The format that was chosen for the client; another will do as well.
    pub(crate) fn chosen(&self) -> Option<&FormatName> {
        let format = self.asked.request.rules.output().format.as_ref();
        format.filter(|_| self.asked.negotiated)
    }

    /// What it came to last; not for longer than to the next purge, which goes by what is known of sources then.
    pub(crate) fn resolved(&self, purges: u64) -> Option<Arc<Resolved>> {
        // No code panics while it holds the lock.
        let last = self.resolved.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        let (then, resolved) = last.as_ref()?;
        (*then == purges).then(|| Arc::clone(resolved))
    }

    /// This is what it comes to now.
    pub(crate) fn resolves_to(&self, resolved: &Arc<Resolved>, purges: u64) {
        let last = self.resolved.lock();
        *last.unwrap_or_else(PoisonError::into_inner) = Some((purges, Arc::clone(resolved)));
    }

    /// The head of replies with an entry; the same one for as long as the entry is the same.
    pub(crate) fn head(&self, entry: &Arc<Entry>) -> Arc<Head> {
        // No code panics while it holds the lock.
        let mut last = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(head) if head.is_of(entry) => head.clone(),
            _ => {
                let head = Arc::new(Head::of(entry, &self.asked));
                *last = Some(head.clone());
                head
            }
        }
    }
}

/// At about 2 KB each, 16 MB at worst.
const MOST: usize = 8192;

/// Bytes of a target that is remembered; longer ones are rare, and would be what fills the memory.
const LONGEST: usize = 512;
