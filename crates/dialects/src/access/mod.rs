//! Who may have what: rules about the sources that a request comes to, whichever URL names them.
//!
//! A signature is checked over the text of a target, as its language defines. What that text leads to is known later:
//! after escapes, rewrites, and the language's own ways to name a source. So everything else is decided here, once for all
//! languages, over the resolved paths of the source, of every overlay image and of the image that a URL names as a
//! fallback:
//!
//! - dot segments lead nowhere;
//! - a language that is closed answers signed URLs only ([`doors`]);
//! - a signature for the beginning of a target opens what that beginning names, and nothing elsewhere ([`named`]);
//! - what a `[[secure_link]]` guards is opened by a URL that its signature names, or by one that is signed with a key of
//!   `[signing]`.

mod doors;
mod named;

pub use doors::Door;
pub(crate) use doors::Doors;

use crate::dialect::{HeadersRead, Refusal, Target};
use crate::dots::{has_dots, path_of_url};
use crate::errors::{Fault, OWN_ERRORS};
use crate::request::{Ask, Fallback, ImageRequest, Source, relative};
use crate::signing::{SecureLink, Signed, uri};
use crate::{Dialects, Headers};
use named::Named;

/// Where sources are: what a language does not know, and the server does.
pub trait Places {
    /// The path of a URL, if an origin that has a path is at it, whatever its query is.
    fn path_of_url(&self, url: &str) -> Option<String>;

    /// Is this path a name that nobody resolves, as keys of buckets are?
    fn is_literal(&self, path: &str) -> bool;

    /// The paths at which an overlay image from the folder of overlay images can be had, too.
    fn paths_of_overlay(&self, name: &str) -> Vec<String>;
}

/// What was found out while a target was read.
#[derive(Clone, Debug)]
pub(crate) struct Evidence<'a> {
    /// Behind its signature.
    pub(crate) target: Target<'a>,
    pub(crate) signed: Signed<'a>,
    /// The rules whose location it is in: which one, and is it signed so?
    pub(crate) links: Vec<(usize, bool)>,
    /// The language that read it; `None`: it is a file's path.
    pub(crate) door: Option<usize>,
    /// What a rewrite made of it, without the request's query, if that may lead to what is closed.
    pub(crate) opened_by_rule: Option<String>,
}

/// What a request would open, by path.
#[derive(Debug, Default)]
struct Paths {
    source: Option<String>,
    others: Vec<String>,
}

impl Paths {
    fn of(request: &ImageRequest, places: &dyn Places) -> Self {
        let path = |source: &Source| match source {
            _ if source.colour().is_some() => None,
            Source::Url(url) => places.path_of_url(url),
            path => Some(path.place().into_owned()),
        };
        let mut others: Vec<String> = match &request.style.fallback {
            Some(Fallback::Picture(source)) => path(source).into_iter().collect(),
            Some(Fallback::Redirect(_)) | None => Vec::new(),
        };
        for name in request.rules.materials() {
            match name.strip_prefix('/') {
                Some(path) => others.push(path.to_owned()),
                None => others.extend(places.paths_of_overlay(&plain(&name))),
            }
        }
        Self {
            source: path(&request.source).as_deref().map(absolute),
            others: others.iter().map(|path| absolute(path)).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.source.iter().chain(&self.others)
    }
}

impl Dialects {
    /// What a target asks for, if its sender may have that; `resolve` finds its sources.
    ///
    /// # Errors
    /// As [`Dialects::parse`], those of `resolve`, and a request that is not for everybody.
    pub fn parse_for<E: From<Refusal>>(
        &self,
        raw_target: &str,
        headers: &dyn Headers,
        places: &dyn Places,
        resolve: impl FnOnce(ImageRequest) -> Result<ImageRequest, E>,
    ) -> Result<ImageRequest, E> {
        let raw_target = crate::with_slash(raw_target);
        let headers = HeadersRead::new(headers);
        let (mut request, evidence) = self.understand(&raw_target, &headers)?;
        refuse_dots(&request, places)?;
        self.admit(&request, &evidence, &headers, places)?;
        request.style.reads = headers.names();
        resolve(request)
    }

    fn admit(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Result<(), Refusal> {
        // A text is everybody's.
        if matches!(request.ask, Ask::Text { .. }) {
            return Ok(());
        }
        let refused = |why: String| Refusal {
            errors: OWN_ERRORS,
            ..Refusal::of(Fault::Signature, evidence.target.path, why)
        };
        let is_signed = || {
            request.is_signed
                || evidence.signed != Signed::Nothing
                || self.is_all_signed_by_a_link(request, evidence, headers)
        };
        let may_enter = || is_signed() || self.is_all_said_by_a_rule(request, evidence, headers);
        if let Some(why) = self.doors.closed(evidence.door).filter(|_| !may_enter()) {
            return Err(refused(why.to_owned()));
        }
        if self.links.is_empty() && !matches!(evidence.signed, Signed::Beginning(_)) {
            return Ok(());
        }
        let paths = Paths::of(request, places);
        let named = match evidence.signed {
            Signed::Nothing | Signed::Whole => None,
            Signed::Beginning(beginning) => {
                let named = Named::by_beginning(self, beginning, evidence.door, headers, places);
                // A signature of its language covers all of the target.
                if !request.is_signed && !named.covers(&request.source, &paths) {
                    let why = "its signature is for the beginning of the URL, and that names another source";
                    return Err(refused(why.to_owned()));
                }
                Some(named)
            }
        };
        // Whoever signs with a key of [signing] says what may be had, if the signature says what it is.
        let is_named = |path: &str, guarded: &dyn Fn(&str) -> bool| match &named {
            None => evidence.signed == Signed::Whole,
            Some(named) => named.is_within(path, guarded),
        };
        for (index, link) in self.links.iter().enumerate() {
            let guarded = |path: &str| link.guards(path);
            let found = evidence.links.iter().find(|(known, _)| *known == index);
            if let Some((_, false)) = found {
                let at = uri(evidence.target.path)?;
                if !is_named(&at, &|path| path.starts_with(link.location())) {
                    return Err(refused("its signature does not match".to_owned()));
                }
            }
            let mut closed = paths.all().filter(|path| guarded(path)).peekable();
            if closed.peek().is_none() {
                continue;
            }
            let by_link = match found {
                Some((_, true)) => {
                    let part = link.signed_part(&evidence.target);
                    Named::exactly(self, &part, headers, places)
                }
                _ => Named::default(),
            };
            let is_source = |path: &String| paths.source.as_ref() == Some(path);
            let opened_by_rule =
                |path: &String| evidence.opened_by_rule.is_some() && is_source(path);
            let named_and_more = |path: &String| {
                let goes_beyond = |named: &Named| named.goes_beyond(path);
                is_source(path) && named.as_ref().is_some_and(goes_beyond)
            };
            let open = |path: &&String| {
                opened_by_rule(path)
                    || by_link.is(path)
                    || is_named(path, &guarded)
                    || named_and_more(path)
            };
            if !closed.all(|path| open(&path)) {
                let why = format!(
                    "it leads to what the [[secure_link]] of {} guards: only URLs signed so open it, and those \
                     signed with a key of [signing]",
                    link.location()
                );
                return Err(refused(why));
            }
        }
        Ok(())
    }
}

impl Dialects {
    /// Refuses an upload that names overlays which a `[[secure_link]]` guards: there is no URL that could open them.
    ///
    /// # Errors
    /// Dot segments, and a guarded path.
    pub fn check_upload(&self, request: &ImageRequest, places: &dyn Places) -> Result<(), Refusal> {
        refuse_dots(request, places)?;
        let overlays = Paths::of(request, places).others;
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

    /// Does a `[[secure_link]]` sign all that makes the request what it is?
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
            let read = self.read(Target::new(&part).with_headers(headers));
            read.is_ok_and(|read| asks_the_same(&read.request, request))
        })
    }

    /// Does a rewrite that opens what it leads to say all that makes the request what it is? What a client appends, such as
    /// another size, is not the rule's.
    fn is_all_said_by_a_rule(
        &self,
        request: &ImageRequest,
        evidence: &Evidence<'_>,
        headers: &HeadersRead<'_>,
    ) -> bool {
        let said = evidence.opened_by_rule.as_deref();
        let read = |said| self.read_rewritten(Target::new(said).with_headers(headers));
        said.is_some_and(|said| read(said).is_ok_and(|it| asks_the_same(&it.request, request)))
    }
}

/// A path as all are compared, from a slash on.
fn absolute(path: &str) -> String {
    format!("/{}", plain(path))
}

/// A path without repeated slashes. Some web servers take a backslash for a slash.
fn plain(path: &str) -> String {
    relative(&path.replace('\\', "/"))
}

/// Do both ask for the same image of the same source, and name the same one in its place?
fn asks_the_same(one: &ImageRequest, other: &ImageRequest) -> bool {
    one.ask == other.ask
        && one.source == other.source
        && one.rules.text() == other.rules.text()
        && one.style.fallback == other.style.fallback
}

/// Parsers of URLs differ in what they make of it.
fn has_escapes_in_its_host(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    host.contains('%')
}

/// Nothing is looked for at a path with dot segments, unless they are part of a name.
fn refuse_dots(request: &ImageRequest, places: &dyn Places) -> Result<(), Refusal> {
    let refused = |text: &str, why: &str| {
        Err(Refusal {
            errors: request.style.errors,
            ..Refusal::new(text, why)
        })
    };
    let why = "a path may not have the segments `.` and `..`, however they are escaped";
    let fallback = match &request.style.fallback {
        Some(Fallback::Picture(source)) => Some(source),
        _ => None,
    };
    for source in fallback.into_iter().chain([&request.source]) {
        match source {
            Source::Path(_) | Source::Escaped(_) => {
                let path = source.place();
                if has_dots(&path) && !places.is_literal(&path) {
                    return refused(&path, why);
                }
            }
            Source::Url(url) if has_dots(path_of_url(url)) => return refused(url, why),
            Source::Url(url) if has_escapes_in_its_host(url) => {
                return refused(url, "the host of a URL has no escapes");
            }
            // URL parsers drop some of them, and take a backslash for a slash.
            Source::Url(url) if url.contains(|it: char| it.is_control() || it == '\\') => {
                return refused(url, "a URL has neither backslashes nor control characters");
            }
            _ => {}
        }
    }
    match request.rules.materials().iter().find(|name| has_dots(name)) {
        Some(name) => refused(name, why),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
