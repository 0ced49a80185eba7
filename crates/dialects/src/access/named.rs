//! The sources that a signed text (the part of a target that a signature covers) names by itself. They are found by
//! parsing the text without what the client appended.

use super::{Paths, Places, absolute};
use crate::Dialects;
use crate::dialect::{HeadersRead, Target};
use crate::request::Source;

/// The sources that a signed text (the part of a target that a signature covers) names, and that a sender with the
/// signature may therefore ask for.
#[derive(Debug, Default)]
pub(super) struct NamedSources {
    /// Paths with a leading slash, or URLs. Each stands for itself and for everything below it.
    sources: Vec<String>,
    /// Overlay images and fallbacks that the signed text itself names.
    others: Vec<String>,
    /// Whether the signed text names no source at all and leaves it to the client to append one.
    leaves_open: bool,
}

/// Path segment that is appended to the signed beginning of a target, to see whether it would continue a source's name.
/// It has no meaning in any dialect.
const MARK: &str = "andon-appended-segment";

/// A query that is appended to the signed beginning of a target, because some dialects read a path only if it has a
/// query.
const QUERY: &str = "w=1";

impl NamedSources {
    /// Returns the sources that a whole target names; none if the target cannot be parsed.
    pub(super) fn of_target(
        dialects: &Dialects,
        target: &str,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Self {
        let target = Target::new(target).with_headers(headers);
        let Ok(parsed) = dialects.read(target) else {
            return Self::default();
        };
        let paths = Paths::of(&parsed.request, places);
        Self {
            sources: paths.source.into_iter().collect(),
            others: paths.others,
            leaves_open: false,
        }
    }

    /// Returns the sources that the beginning of a target names in the dialect that read the whole target. Other
    /// dialects, which might read the same beginning differently, are not tried.
    pub(super) fn by_beginning(
        dialects: &Dialects,
        beginning: &str,
        door: Option<usize>,
        headers: &HeadersRead<'_>,
        places: &dyn Places,
    ) -> Self {
        let mut result = Self::default();
        let beginning = beginning.trim_end_matches('/');
        for appended in [format!("/{MARK}"), String::new()] {
            for query in ["", QUERY] {
                let question = if query.is_empty() { "" } else { "?" };
                let whole = format!("{beginning}{appended}{question}{query}");
                let target = Target::new(&whole).with_headers(headers);
                let Some(parsed) = dialects.read(target).ok().filter(|it| it.door == door) else {
                    continue;
                };
                result
                    .others
                    .extend(Paths::of(&parsed.request, places).others);
                let source = &parsed.request.source;
                let is_path = !matches!(source, Source::Url(_));
                let text = text(source, places);
                match text.strip_suffix(MARK) {
                    // The root alone names no source: the client appends one. For a URL, the root of its server is a
                    // source.
                    Some("/") if is_path => result.leaves_open = true,
                    Some(before) => result.sources.push(before.trim_end_matches('/').to_owned()),
                    None => result.sources.push(text.trim_end_matches('/').to_owned()),
                }
            }
        }
        result.sources.retain(|source| !source.is_empty());
        result
    }

    /// Whether the signed text names every overlay and fallback image of the request, and its source or a folder above
    /// it. A source whose whole name the signed text contains is covered even if the text goes on after it. A text that
    /// names no source, but leaves it to the client to append one, covers every request.
    pub(super) fn covers(&self, source: &Source, paths: &Paths) -> bool {
        let text = match (&paths.source, source) {
            (Some(path), _) => path,
            (None, source) => source.as_str(),
        };
        let is_named = |entry: &String| is_at_or_below(entry, text) || is_at_or_below(text, entry);
        if self.leaves_open {
            return true;
        }
        let others = || paths.others.iter();
        let is_named_or_below = |path: &String| {
            self.others.contains(path) || self.sources.iter().any(|it| is_at_or_below(it, path))
        };
        self.sources.iter().any(is_named) && others().all(is_named_or_below)
    }

    /// Whether the signed text names `path`, or a folder above it for which `is_guarded` is true. A signature for a
    /// folder further up, which is not guarded itself, does not open the path.
    pub(super) fn is_within(&self, path: &str, is_guarded: &dyn Fn(&str) -> bool) -> bool {
        let names = |source: &String| {
            is_at_or_below(source, path)
                && (is_guarded(source) || is_guarded(&format!("{source}/")))
        };
        self.sources.iter().any(names) || self.others.iter().any(|it| it == path)
    }

    /// Whether the signed text contains the whole path `source`, and perhaps more of the target, so that nothing that
    /// is appended can change the source.
    pub(super) fn goes_beyond(&self, source: &str) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|signed_source| is_at_or_below(source, signed_source))
    }

    /// Whether the signed text names exactly this path.
    pub(super) fn is(&self, path: &str) -> bool {
        let mut all = self.sources.iter().chain(&self.others);
        all.any(|entry| entry == path)
    }
}

/// Returns a source in its form for comparisons: a path with a leading slash, or else the URL.
fn text(source: &Source, places: &dyn Places) -> String {
    match source {
        Source::Path(_) | Source::Escaped(_) => absolute(&source.place()),
        Source::Url(url) => match places.path_of_url(url) {
            Some(path) => absolute(&path),
            None => url.clone(),
        },
    }
}

/// Whether `path` is `above` or lies below it, compared by whole segments.
fn is_at_or_below(above: &str, path: &str) -> bool {
    path.strip_prefix(above.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
