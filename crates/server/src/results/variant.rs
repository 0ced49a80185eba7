//! A cache of the meanings of targets, so that the key under which a hit is looked up is computed only once.
//!
//! Parsing a target, settling its format and computing the key of its result depend on the target, on the
//! configuration, on the headers that the target's dialect reads, and on `Accept` if the target leaves the format open.
//! None of this changes while a configuration is in force.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use andon_cache::{Entry, Key, Table};
use andon_dialects::{Fault, ImageRequest, Refusal};
use andon_recipe::FormatName;
use hyper::{HeaderMap, Uri};

use super::caching::{ClientSide, Resolved};
use super::head::Head;
use super::making::Maker;
use super::served_file::ServedFile;
use crate::config::TagHeader;
use crate::error::Error;
use crate::operations::clock;
use crate::request::negotiation::{Choice, Negotiation, SettledRequest};

/// A request whose format is settled, with the keys of its result and the parts of responses that do not depend on the
/// result.
#[derive(Debug)]
pub(crate) struct RequestVariant {
    pub(crate) asked: SettledRequest,
    /// Key under which the facts of the source are stored.
    pub(crate) facts: Key,
    /// Key by which requests share the computation of the result until the recipe is resolved to whole pixels.
    pub(crate) unresolved: Key,
    /// The canonical recipe; `None` for a file that is served unchanged.
    pub(crate) recipe: Option<Arc<str>>,
    /// Whether the source is fetched over a network.
    pub(crate) is_remote: bool,
    /// The target, for the log.
    pub(crate) uri: Uri,
    /// Headers for CDNs that name the tags of the result.
    tag_headers: Vec<TagHeader>,
    /// The `Cache-Control` of the operator's rule for the source.
    words: Option<String>,
    /// The resolved request as last computed, and the number of purges at that time.
    resolution: Mutex<Option<(u64, Arc<Resolved>)>>,
    head: Mutex<Option<Arc<Head>>>,
    /// The file that was last served unchanged for this request.
    served_file: Mutex<Option<Arc<ServedFile>>>,
}

/// The targets that were requested most recently, with their meanings.
#[derive(Debug)]
pub(crate) struct TargetCache(Table<Arc<str>, TargetEntry>);

/// What the cache stores for a target.
#[derive(Clone, Debug)]
enum TargetEntry {
    /// The request that the target means.
    Meaning(Arc<ParsedTarget>),
    /// The meaning depends on these request headers. It is stored in another entry, for the target with the headers'
    /// values.
    DependsOn(Arc<[&'static str]>),
}

/// A parsed target. If the format depends on `Accept`, it has a variant for each set of formats that clients accept,
/// otherwise a single variant.
#[derive(Debug)]
struct ParsedTarget {
    request: ImageRequest,
    variants: Variants,
}

#[derive(Debug)]
enum Variants {
    Settled(OnceLock<Arc<RequestVariant>>),
    /// The variant for each set of formats that clients have accepted. Few different sets occur.
    Open(RwLock<Vec<(Choice, Arc<RequestVariant>)>>),
}

impl Default for TargetCache {
    fn default() -> Self {
        Self(Table::new(MOST))
    }
}

impl TargetCache {
    /// Returns the variant of a target for a client with these headers. The formats in `without` are not used.
    ///
    /// # Errors
    /// `Target` for an invalid or expired target, or one that is not open to everybody; `Moved` for a redirect.
    pub(crate) fn understand(
        &self,
        target: &str,
        headers: &HeaderMap,
        without: &[FormatName],
        maker: &Maker,
        negotiation: &Negotiation,
    ) -> Result<Arc<RequestVariant>, Error> {
        let meaning = match self.meaning(target, headers) {
            Some(meaning) => meaning,
            None => {
                let request = maker.resolver.parse_with(target, headers)?;
                let meaning = Arc::new(ParsedTarget::new(request, negotiation));
                self.remember(target, headers, &meaning);
                meaning
            }
        };
        meaning.check_expiry(target)?;
        let settle = |choice| {
            let asked = negotiation.settle(meaning.request.clone(), choice);
            Arc::new(RequestVariant::new(target, asked, maker))
        };
        Ok(match &meaning.variants {
            Variants::Settled(variant) => variant.get_or_init(|| settle(None)).clone(),
            Variants::Open(_) => {
                let choice = negotiation.choose(headers, without);
                meaning.variant(choice).unwrap_or_else(|| {
                    let variant = settle(Some(choice));
                    meaning.learn(choice, &variant);
                    variant
                })
            }
        })
    }

    fn meaning(&self, target: &str, headers: &HeaderMap) -> Option<Arc<ParsedTarget>> {
        let entry = match self.0.get(target)? {
            TargetEntry::DependsOn(names) => {
                self.0.get(with_values(target, &names, headers).as_str())?
            }
            meaning => meaning,
        };
        match entry {
            TargetEntry::Meaning(meaning) => Some(meaning),
            TargetEntry::DependsOn(_) => None,
        }
    }

    fn remember(&self, target: &str, headers: &HeaderMap, meaning: &Arc<ParsedTarget>) {
        let names = &meaning.request.style.reads;
        let full = with_values(target, names, headers);
        if full.len() > LONGEST {
            return;
        }
        let entry = TargetEntry::Meaning(meaning.clone());
        self.0.insert(full.into(), entry);
        if !names.is_empty() {
            let depends = TargetEntry::DependsOn(names.as_slice().into());
            self.0.insert(target.into(), depends);
        }
    }

    /// Returns the variant of a target that was parsed before. `headers` is only called if the variant depends on
    /// `Accept`.
    pub(crate) fn understood(
        &self,
        target: &str,
        headers: impl FnOnce() -> HeaderMap,
        negotiation: &Negotiation,
    ) -> Option<Arc<RequestVariant>> {
        let TargetEntry::Meaning(meaning) = self.0.get(target)? else {
            return None;
        };
        meaning.check_expiry(target).ok()?;
        match &meaning.variants {
            Variants::Settled(variant) => variant.get().cloned(),
            Variants::Open(_) => meaning.variant(negotiation.choose(&headers(), &[])),
        }
    }
}

impl ParsedTarget {
    fn new(request: ImageRequest, negotiation: &Negotiation) -> Self {
        let variants = match negotiation.is_open(&request) {
            true => Variants::Open(RwLock::default()),
            false => Variants::Settled(OnceLock::new()),
        };
        Self { request, variants }
    }

    /// Returns the cached variant for this set of accepted formats, if it was computed before. Always `None` for a
    /// target whose result does not depend on the `Accept` header.
    fn variant(&self, choice: Choice) -> Option<Arc<RequestVariant>> {
        let Variants::Open(variants) = &self.variants else {
            return None;
        };
        // No code panics while it holds the lock.
        let variants = variants.read().unwrap_or_else(PoisonError::into_inner);
        let entry = variants.iter().find(|(of, _)| *of == choice);
        entry.map(|(_, variant)| variant.clone())
    }

    fn learn(&self, choice: Choice, variant: &Arc<RequestVariant>) {
        if let Variants::Open(variants) = &self.variants {
            let mut variants = variants.write().unwrap_or_else(PoisonError::into_inner);
            if variants.iter().all(|(of, _)| *of != choice) {
                variants.push((choice, variant.clone()));
            }
        }
    }

    /// Checks that a URL with a limited lifetime has not expired. To be called whenever the URL is used.
    fn check_expiry(&self, target: &str) -> Result<(), Error> {
        let style = &self.request.style;
        match style.expires {
            Some(moment) if moment <= clock::now() => Err(Error::Target(Refusal {
                errors: style.expired,
                ..Refusal::of(Fault::Expired, target, "the URL has expired")
            })),
            _ => Ok(()),
        }
    }
}

/// Returns a target followed by the values of these headers, separated by line breaks, which no value contains.
fn with_values(target: &str, names: &[&'static str], headers: &HeaderMap) -> String {
    let mut text = target.to_owned();
    for name in names {
        text.push('\n');
        let value = headers.get(*name).and_then(|value| value.to_str().ok());
        text.push_str(value.unwrap_or_default());
    }
    text
}

impl RequestVariant {
    pub(crate) fn new(target: &str, asked: SettledRequest, maker: &Maker) -> Self {
        let request = &asked.request;
        Self {
            facts: maker.results.names.facts(request),
            unresolved: maker.results.names.unresolved(&asked),
            recipe: (!request.is_file()).then(|| request.rules.text().into()),
            is_remote: maker.resolver.is_remote(request),
            uri: Uri::try_from(target).unwrap_or_default(),
            tag_headers: maker.results.config.tag_headers.clone(),
            words: ClientSide::words(&maker.results.config, &asked.request.source.place()),
            resolution: Mutex::default(),
            head: Mutex::default(),
            served_file: Mutex::default(),
            asked,
        }
    }

    /// Returns the resolved request as last computed, unless there was a purge since: the facts of sources at the time
    /// of a purge decide what is purged.
    pub(crate) fn resolution(&self, purges: u64) -> Option<Arc<Resolved>> {
        // No code panics while it holds the lock.
        let last = self.resolution.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        let (then, resolved) = last.as_ref()?;
        (*then == purges).then(|| Arc::clone(resolved))
    }

    /// Stores what the request resolves to now.
    pub(crate) fn resolves_to(&self, resolved: &Arc<Resolved>, purges: u64) {
        let last = self.resolution.lock();
        *last.unwrap_or_else(PoisonError::into_inner) = Some((purges, Arc::clone(resolved)));
    }

    /// Returns the file that was last served unchanged for this request.
    pub(crate) fn served(&self) -> Option<Arc<ServedFile>> {
        // No code panics while it holds the lock.
        let last = self.served_file.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the file that is now served for this request.
    pub(crate) fn serves(&self, file: ServedFile) {
        let last = self.served_file.lock();
        *last.unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(file));
    }

    /// Returns the canonical target, if it differs from the requested one or depends on the source.
    pub(crate) fn canonical(&self) -> Option<String> {
        // No code panics while it holds the lock.
        let last = self.resolution.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        let of_source = last.as_ref().and_then(|(_, last)| last.canonical.clone());
        of_source.or_else(|| self.asked.request.style.canonical.clone())
    }

    /// Returns the head of responses with an entry. The head is computed again only when the entry changes.
    pub(crate) fn head(&self, entry: &Arc<Entry>) -> Arc<Head> {
        // No code panics while it holds the lock.
        let mut last = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(head) if head.is_of(entry) => head.clone(),
            _ => {
                let head = Head::of(
                    entry,
                    &self.asked,
                    self.canonical().as_deref(),
                    &self.tag_headers,
                    self.words.as_deref(),
                );
                let head = Arc::new(head);
                *last = Some(head.clone());
                head
            }
        }
    }
}

/// Maximum number of targets in the cache: at about 2 KB each, they take 16 MB at most.
const MOST: u64 = 8192;

/// Maximum length in bytes of a target that is stored. Longer ones are rare, and could take up too much memory.
const LONGEST: usize = 512;
