//! What a signed text names by itself: found by reading it without what anybody may append to it.

use super::{Paths, Places, absolute};
use crate::Dialects;
use crate::dialect::{HeadersRead, Target};
use crate::request::Source;

/// The sources that a signed text names. Whoever has the signature may ask for these.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// As paths from a slash on, or URLs: each of them, and what is below it.
    sources: Vec<String>,
    /// Overlay images and fallbacks that the text itself brings along.
    others: Vec<String>,
    /// Does it name no source at all, and leave it to the client to append one?
    leaves_open: bool,
}

/// A segment that is appended to what may be the beginning of a source. It is a word in no language.
const MARK: &str = "andon-appended-segment";

/// A query with which languages that need one read a path.
const QUERY: &str = "w=1";

impl Named {
    /// What all of a target names.
    pub(super) fn exactly(
        dialects: &Dialects,
        target: &str,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Self {
        let target = Target::new(target).with_headers(headers);
        let Ok(read) = dialects.read(target) else {
            return Self::default();
        };
        let paths = Paths::of(&read.request, places);
        Self {
            sources: paths.source.into_iter().collect(),
            others: paths.others,
            leaves_open: false,
        }
    }

    /// What the beginning of a target names, in the language that read all of it. Another one might have read the same
    /// beginning otherwise, so it names nothing there.
    pub(super) fn by_beginning(
        dialects: &Dialects,
        beginning: &str,
        door: Option<usize>,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Self {
        let mut named = Self::default();
        let beginning = beginning.trim_end_matches('/');
        for appended in [format!("/{MARK}"), String::new()] {
            for query in ["", QUERY] {
                let question = if query.is_empty() { "" } else { "?" };
                let whole = format!("{beginning}{appended}{question}{query}");
                let target = Target::new(&whole).with_headers(headers);
                let Some(read) = dialects.read(target).ok().filter(|it| it.door == door) else {
                    continue;
                };
                named.others.extend(Paths::of(&read.request, places).others);
                let source = &read.request.source;
                let is_path = !matches!(source, Source::Url(_));
                let text = text(source, places);
                match text.strip_suffix(MARK) {
                    // The root of a web server is a place.
                    Some("/") if is_path => named.leaves_open = true,
                    Some(before) => named.sources.push(before.trim_end_matches('/').to_owned()),
                    None => named.sources.push(text.trim_end_matches('/').to_owned()),
                }
            }
        }
        named.sources.retain(|source| !source.is_empty());
        named
    }

    /// Are these the source that is named, or below it, and the other images among those that are? A source above it is
    /// one whose name is all signed: what is signed beyond it was the request's.
    pub(super) fn covers(&self, source: &Source, paths: &Paths) -> bool {
        let text = match (&paths.source, source) {
            (Some(path), _) => path,
            (None, source) => source.as_str(),
        };
        let is_named = |named: &String| is_at_or_below(named, text) || is_at_or_below(text, named);
        if self.leaves_open {
            return true;
        }
        let others = || paths.others.iter();
        let below = |path: &String| {
            self.others.contains(path) || self.sources.iter().any(|it| is_at_or_below(it, path))
        };
        self.sources.iter().any(is_named) && others().all(below)
    }

    /// Is this path named, and what names it guarded itself? A signature for a folder above says nothing of it.
    pub(super) fn is_within(&self, path: &str, guarded: &dyn Fn(&str) -> bool) -> bool {
        let names = |named: &String| {
            is_at_or_below(named, path) && (guarded(named) || guarded(&format!("{named}/")))
        };
        self.sources.iter().any(names) || self.others.iter().any(|it| it == path)
    }

    /// Is all of this source named, and more of the target? Then nothing that is appended can change it.
    pub(super) fn goes_beyond(&self, source: &str) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|named| is_at_or_below(source, named))
    }

    /// Is it this very path that is named?
    pub(super) fn is(&self, path: &str) -> bool {
        let mut all = self.sources.iter().chain(&self.others);
        all.any(|named| named == path)
    }
}

/// A source as texts are compared.
fn text(source: &Source, places: &dyn Places) -> String {
    match source {
        Source::Path(_) | Source::Escaped(_) => absolute(&source.place()),
        Source::Url(url) => match places.path_of_url(url) {
            Some(path) => absolute(&path),
            None => url.clone(),
        },
    }
}

/// Is a path the same as another one, or below it, whole segments counted?
fn is_at_or_below(above: &str, path: &str) -> bool {
    path.strip_prefix(above.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
