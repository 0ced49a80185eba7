//! Access rules for the sources that a request resolves to, whichever URL names them.
//!
//! A signature is checked over the text of a target, as its dialect defines. Which source the text leads to is known
//! only after escapes, rewrites, and the dialect's own ways to name a source. So everything else is decided here, once
//! for all dialects, over the resolved paths of the source, of every overlay image and of the image that a URL names as
//! a fallback:
//!
//! - paths with dot segments are refused;
//! - a dialect that is closed answers signed URLs only ([`doors`]);
//! - a signature for the beginning of a target opens the sources that the beginning names, and nothing else
//!   ([`named`]);
//! - unsigned URLs may ask only for what `[permitted]` lists ([`crate::permitted`]);
//! - a source that a `[[secure_link]]` guards is opened by a URL whose `secure_link` signature names it, or by a URL
//!   that is signed with a key of `[signing]`.

mod doors;
mod named;

use std::sync::Arc;

use andon_recipe::Rules;

pub use doors::Door;
pub(crate) use doors::Doors;

use crate::dialect::{HeadersRead, Target};
use crate::dots::{has_dots, path_of_url};
use crate::errors::{Fault, OWN_ERRORS};
use crate::refusal::Refusal;
use crate::request::{Ask, Fallback, ImageRequest, Source, relative};
use crate::signing::{SecureLink, SignedPart, uri};
use crate::{Dialects, Headers, NoHeaders};
use named::NamedSources;

/// Where the server finds sources. Dialects do not know the origins, so the server implements this.
pub trait Places {
    /// Returns the path at which an origin serves a URL, whatever the URL's query is; `None` if no origin does.
    fn path_of_url(&self, url: &str) -> Option<String>;

    /// Whether a path is taken literally, as keys of buckets are, so that dot segments in it have no meaning.
    fn is_literal(&self, path: &str) -> bool;

    /// Returns the paths at which origins also serve the file `name` of the folder of overlay images; empty if none
    /// does.
    fn paths_of_overlay(&self, name: &str) -> Vec<String>;
}

/// Places without HTTP origins and buckets: no URL has a path, and dot segments always count.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere;

impl Places for Nowhere {
    fn path_of_url(&self, _: &str) -> Option<String> {
        None
    }

    fn is_literal(&self, _: &str) -> bool {
        false
    }

    fn paths_of_overlay(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// What parsing a target has shown about its sender's rights: signatures, `[[secure_link]]` rules and rewrite rules.
#[derive(Clone, Debug)]
pub(crate) struct Evidence<'a> {
    /// The target without the signature in front of it.
    pub(crate) target: Target<'a>,
    pub(crate) signed_part: SignedPart<'a>,
    /// The `[[secure_link]]` rules whose location contains the target: index of the rule, and whether the target has a
    /// valid signature for it.
    pub(crate) links: Vec<(usize, bool)>,
    /// Index of the dialect that read the target; `None` if the target is the path of a plain file.
    pub(crate) door: Option<usize>,
    /// The target that a rewrite rule with `opens = true` made, without the request's query. Such a rule may lead to
    /// dialects that are closed to unsigned URLs, and to sources that a `[[secure_link]]` guards.
    pub(crate) opened_by_rule: Option<String>,
}

/// Paths of the source and of the other images that a request would open.
#[derive(Debug, Default)]
struct Paths {
    source: Option<String>,
    /// Paths of overlay images and of the fallback. An overlay image that has no path is listed by its URL.
    others: Vec<String>,
}

impl Paths {
    fn of(request: &ImageRequest, places: &dyn Places) -> Self {
        let path = |source: &Source| path_of(source, places);
        let fallback = match &request.style.fallback {
            Some(Fallback::Image(source)) => path(source),
            Some(Fallback::Redirect(_)) | None => None,
        };
        let overlays = request.rules.overlays().into_iter();
        let overlays = overlays.flat_map(|name| Self::of_overlay(&name, places));
        let fallback = fallback.as_deref().map(absolute);
        Self {
            source: path(&request.source).as_deref().map(absolute),
            others: fallback.into_iter().chain(overlays).collect(),
        }
    }

    /// Returns the paths at which origins serve the overlay image of this name or, if the name is a URL that no origin
    /// serves, the URL.
    fn of_overlay(name: &str, places: &dyn Places) -> Vec<String> {
        let Some(overlay) = Source::of_overlay(name) else {
            let paths = places.paths_of_overlay(&plain(name));
            return paths.iter().map(|path| absolute(path)).collect();
        };
        vec![match path_of(&overlay, places) {
            Some(path) => absolute(&path),
            None => overlay.as_str().to_owned(),
        }]
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.source.iter().chain(&self.others)
    }
}

impl Dialects {
    /// Parses a target, and checks that its sender may have what it asks for. Calls `resolve` last, with the parsed
    /// request, to find the sources.
    ///
    /// # Errors
    /// Those of [`Dialects::parse`] and of `resolve`, and a refusal of a request that its sender may not make.
    pub fn parse_for<E: From<Refusal>>(
        &self,
        raw_target: &str,
        headers: &dyn Headers,
        places: &dyn Places,
        resolve: impl FnOnce(ImageRequest) -> Result<ImageRequest, E>,
    ) -> Result<ImageRequest, E> {
        let raw_target = crate::dialect::with_slash(raw_target);
        let headers = HeadersRead::new(headers);
        let (mut request, evidence) = self.understand(&raw_target, &headers)?;
        refuse_dots(&request, places)?;
        self.admit(&request, &evidence, &headers, places)?;
        request.style.dialect = self.doors.name(evidence.door);
        if let Some(permitted) = &self.permitted
            && (permitted.holds_signed() || !self.is_all_signed(&request, &evidence, &headers))
        {
            permitted.limit(&mut request, evidence.door);
        }
        self.hints.apply(&mut request, evidence.door, &headers);
        if headers.has_any() {
            request.stated = self.stated(&raw_target, &request);
        }
        request.style.reads = headers.names();
        resolve(request)
    }

    /// Parses the target without the request's headers, and returns its rules if the headers made a difference.
    fn stated(&self, raw_target: &str, request: &ImageRequest) -> Option<Arc<dyn Rules>> {
        let none = HeadersRead::new(&NoHeaders);
        let (headerless, _) = self.understand(raw_target, &none).ok()?;
        (headerless.rules.text() != request.rules.text()).then_some(headerless.rules)
    }

    fn admit(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Result<(), Refusal> {
        // A fixed text shows no image, so that everybody may have it.
        if matches!(request.ask, Ask::Text { .. }) {
            return Ok(());
        }
        let may_enter = || {
            self.is_signed(request, evidence, headers)
                || self.is_all_from_a_rule(request, evidence, headers)
        };
        if let Some(why) = self
            .doors
            .closing_reason(evidence.door)
            .filter(|_| !may_enter())
        {
            return Err(evidence.refuse(why));
        }
        if self.links.is_empty() && !matches!(evidence.signed_part, SignedPart::Beginning(_)) {
            return Ok(());
        }
        let paths = Paths::of(request, places);
        let named_sources = match evidence.signed_part {
            SignedPart::Nothing | SignedPart::Whole => None,
            SignedPart::Beginning(beginning) => {
                let sources =
                    NamedSources::by_beginning(self, beginning, evidence.door, headers, places);
                // A signature of the dialect's own covers the whole target, the source included.
                if !request.is_signed && !sources.covers(&request.source, &paths) {
                    let why = "its signature is for the beginning of the URL, and that names another source";
                    return Err(evidence.refuse(why));
                }
                Some(sources)
            }
        };
        let by_link = |link: &SecureLink| {
            let part = link.signed_part(&evidence.target);
            NamedSources::of_target(self, &part, headers, places)
        };
        let claim = Claim {
            evidence,
            paths,
            named_sources,
        };
        let mut links = self.links.iter().enumerate();
        links.try_for_each(|(index, link)| claim.check(index, link, by_link))
    }
}

impl Evidence<'_> {
    fn refuse(&self, why: impl Into<String>) -> Refusal {
        Refusal {
            errors: OWN_ERRORS,
            ..Refusal::of(Fault::Signature, self.target.path, why)
        }
    }
}

/// What a request would open, and the evidence that its sender may.
struct Claim<'a> {
    evidence: &'a Evidence<'a>,
    paths: Paths,
    /// What the signed beginning of the target names, if a key of `[signing]` signs only the beginning.
    named_sources: Option<NamedSources>,
}

impl Claim<'_> {
    /// Whether a key of `[signing]` signs the whole target, or a beginning that names `path`, or a folder above `path`
    /// for which `is_guarded` is true.
    fn is_named(&self, path: &str, is_guarded: &dyn Fn(&str) -> bool) -> bool {
        match &self.named_sources {
            None => self.evidence.signed_part == SignedPart::Whole,
            Some(named) => named.is_within(path, is_guarded),
        }
    }

    /// Checks the request against one `[[secure_link]]` rule, `link`, whose index in the configuration is `index`.
    /// `by_link` returns the sources that are named in the part of the target that the rule's signature covers.
    ///
    /// # Errors
    /// A target below the rule's location without a valid signature, and a path that the rule guards and that no
    /// signature or rewrite rule opens.
    fn check(
        &self,
        index: usize,
        link: &SecureLink,
        by_link: impl Fn(&SecureLink) -> NamedSources,
    ) -> Result<(), Refusal> {
        let evidence = self.evidence;
        let entry = evidence
            .links
            .iter()
            .find(|(link_index, _)| *link_index == index);
        if let Some((_, false)) = entry {
            let at = uri(evidence.target.path)?;
            if !self.is_named(&at, &|path| path.starts_with(link.location())) {
                return Err(evidence.refuse("its signature does not match"));
            }
        }
        let is_guarded = |path: &str| link.guards(path);
        let mut guarded_paths = self.paths.all().filter(|path| is_guarded(path)).peekable();
        if guarded_paths.peek().is_none() {
            return Ok(());
        }
        let by_link = match entry {
            Some((_, true)) => by_link(link),
            _ => NamedSources::default(),
        };
        let opens_source = |path: &String| {
            let goes_beyond = |sources: &NamedSources| sources.goes_beyond(path);
            evidence.opened_by_rule.is_some()
                || self.named_sources.as_ref().is_some_and(goes_beyond)
        };
        let open = |path: &String| {
            let is_source = self.paths.source.as_ref() == Some(path);
            by_link.is(path) || self.is_named(path, &is_guarded) || is_source && opens_source(path)
        };
        match guarded_paths.all(open) {
            true => Ok(()),
            false => Err(evidence.refuse(format!(
                "it leads to what the [[secure_link]] of {} guards: only URLs signed so open it, and those \
                 signed with a key of [signing]",
                link.location()
            ))),
        }
    }
}

impl Dialects {
    /// Checks an upload, which has no URL whose signature could open a guarded overlay image, and limits its rules to
    /// what `[permitted]` lists. If `is_entitled`, there is no such limit, and all of the folder of overlay images is
    /// open.
    ///
    /// # Errors
    /// An overlay image that a `[[secure_link]]` guards.
    pub fn check_upload(
        &self,
        request: &mut ImageRequest,
        places: &dyn Places,
        is_entitled: bool,
    ) -> Result<(), Refusal> {
        if let (Some(permitted), false) = (&self.permitted, is_entitled) {
            permitted.limit(request, None);
        }
        let is_checked = |name: &String| !is_entitled || Source::of_overlay(name).is_some();
        let overlays = request.rules.overlays().into_iter().filter(is_checked);
        let overlays: Vec<String> = overlays
            .flat_map(|name| Paths::of_overlay(&name, places))
            .collect();
        let guards = |link: &&SecureLink| overlays.iter().any(|path| link.guards(path));
        match self.links.iter().find(guards) {
            None => Ok(()),
            Some(link) => {
                let why = format!(
                    "it names an overlay image that the [[secure_link]] of {} guards",
                    link.location()
                );
                Err(Refusal {
                    errors: OWN_ERRORS,
                    ..Refusal::of(Fault::Signature, &request.rules.text(), why)
                })
            }
        }
    }

    /// Whether a valid signature covers the target, or at least its beginning. Such a target may use dialects that are
    /// closed to unsigned URLs.
    fn is_signed(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
    ) -> bool {
        matches!(evidence.signed_part, SignedPart::Beginning(_))
            || self.is_all_signed(request, evidence, headers)
    }

    /// Whether a signature covers all that the target asks for. A signature for the beginning of a target does not: it
    /// leaves the rest, such as a size in the query, to the sender.
    fn is_all_signed(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
    ) -> bool {
        request.is_signed
            || evidence.signed_part == SignedPart::Whole
            || self.is_all_signed_by_a_link(request, evidence, headers)
    }

    /// Whether the part of the target that a `[[secure_link]]` signs, parsed without the rest, gives the same request
    /// as the whole target.
    fn is_all_signed_by_a_link(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
    ) -> bool {
        let links = evidence.links.iter().filter(|(_, is_signed)| *is_signed);
        let mut links = links.filter_map(|(index, _)| self.links.get(*index));
        links.any(|link| {
            let part = link.signed_part(&evidence.target);
            let result = self.read(Target::new(&part).with_headers(headers));
            result.is_ok_and(|parsed| asks_the_same(&parsed.request, request))
        })
    }

    /// Whether the target that a rewrite rule with `opens = true` made, parsed without the request's query, gives the
    /// same request. It does not if the client appended something that matters, such as another size.
    fn is_all_from_a_rule(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
    ) -> bool {
        let target = evidence.opened_by_rule.as_deref();
        let parse = |target| self.read_rewritten(Target::new(target).with_headers(headers));
        target
            .is_some_and(|target| parse(target).is_ok_and(|it| asks_the_same(&it.request, request)))
    }
}

/// Returns the path of a source; `None` for a colour, and for a URL that no origin serves.
fn path_of(source: &Source, places: &dyn Places) -> Option<String> {
    match source {
        _ if source.colour().is_some() => None,
        Source::Url(url) => places.path_of_url(url),
        path => Some(path.place().into_owned()),
    }
}

/// Returns a path in its form for comparisons: with a leading slash, and without repeated ones.
fn absolute(path: &str) -> String {
    format!("/{}", plain(path))
}

/// Returns a path without leading or repeated slashes. Backslashes become slashes, since some web servers treat them
/// so.
fn plain(path: &str) -> String {
    relative(&path.replace('\\', "/"))
}

/// Whether both requests ask for the same image of the same source, with the same fallback.
fn asks_the_same(one: &ImageRequest, other: &ImageRequest) -> bool {
    one.ask == other.ask
        && one.source == other.source
        && one.rules.text() == other.rules.text()
        && one.style.fallback == other.style.fallback
}

/// Whether the host of a URL has percent escapes, on which URL parsers disagree.
fn has_escapes_in_its_host(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    host.contains('%')
}

/// Checks the paths and URLs of overlay images in a request that was not parsed from a URL, such as an upload. No
/// sender is exempt.
///
/// # Errors
/// A path with dot segments, or a URL that parsers may read differently.
pub fn check_overlays(request: &ImageRequest, places: &dyn Places) -> Result<(), Refusal> {
    refuse_dots(request, places)
}

/// Refuses URLs that parsers may read differently, and paths with dot segments, except paths that are taken literally,
/// as keys of buckets are.
fn refuse_dots(request: &ImageRequest, places: &dyn Places) -> Result<(), Refusal> {
    let refusal = |text: &str, why: &str| Refusal {
        errors: request.style.errors,
        ..Refusal::new(text, why)
    };
    let check = |source: &Source| match unclear(source, places) {
        Some(why) => Err(refusal(&source.place(), why)),
        None => Ok(()),
    };
    check(&request.source)?;
    if let Some(Fallback::Image(source)) = &request.style.fallback {
        check(source)?;
    }
    let mut overlays = request.rules.overlays().into_iter();
    overlays.try_for_each(|name| match Source::of_overlay(&name) {
        Some(source) => check(&source),
        None if has_dots(&name) => Err(refusal(&name, DOTS)),
        None => Ok(()),
    })
}

const DOTS: &str = "a path may not have the segments `.` and `..`, however they are escaped";

/// Returns why this server and an origin might interpret the path or URL of a source differently; `None` if they agree.
fn unclear(source: &Source, places: &dyn Places) -> Option<&'static str> {
    match source {
        _ if source.as_str().contains('\0') => Some("no file's name holds a NUL (`%00`)"),
        Source::Path(_) | Source::Escaped(_) => {
            let path = source.place();
            (has_dots(&path) && !places.is_literal(&path)).then_some(DOTS)
        }
        Source::Url(url) if has_dots(path_of_url(url)) => Some(DOTS),
        Source::Url(url) if has_escapes_in_its_host(url) => {
            Some("the host of a URL has no escapes")
        }
        // URL parsers drop some control characters, and take a backslash for a slash.
        Source::Url(url) if url.contains(|it: char| it.is_control() || it == '\\') => {
            Some("a URL has neither backslashes nor control characters")
        }
        Source::Url(_) => None,
    }
}

#[cfg(test)]
mod tests;
