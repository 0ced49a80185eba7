//! How long a result is fresh on this server, and the caching headers that clients get. The operator's rule takes
//! precedence over the origin's directives, and these take precedence over the defaults.

use std::time::Duration;

use andon_cache::{Entry, Life};
use andon_dialects::AnswerStyle;
use serde::{Deserialize, Serialize};

use super::notes::Notes;
use crate::config::CacheConfig;
use crate::operations::clock;
use crate::origins::{Freshness, Told};
use crate::response::cache_status::CacheStatus;
use crate::sources::overlays::OpenOverlays;

/// How long a result may be used here and by clients, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) life: Life,
    pub(crate) client: ClientSide,
    /// Whether the result may be given to clients other than the one that requested it.
    pub(crate) shared: bool,
    /// Whether the dates and sizes of the result's files, rather than its age, decide whether the result is current.
    pub(crate) by_date: bool,
}

/// Explanation for users why a result is not cached that may be given only to the client that requested it.
pub(crate) const NOT_SHARED: &str = "its origin says private or no-store";

/// What clients are told about caching a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClientSide {
    /// Nothing: clients may send conditional requests with the entity tag at any time.
    #[default]
    Silence,
    /// Clients may cache the result while it is fresh on this server.
    AsHere,
    /// The directives of the origin apply to clients, too.
    AsTheOrigin(Told),
    /// The `Cache-Control` header is exactly this text.
    Words(String),
}

impl Terms {
    /// Returns the caching terms for a result of a file in a folder. The file's date and size decide whether the result
    /// is current, not its age.
    pub(crate) fn of_file(config: &CacheConfig, source: &str) -> Self {
        let words = ClientSide::words(config, source);
        Self {
            life: Life::fresh_for(UNLIMITED),
            client: words.map_or(ClientSide::Silence, ClientSide::Words),
            shared: true,
            by_date: true,
        }
    }

    /// Returns the caching terms for a result of a truncated or damaged source, which may be complete the next time it
    /// is read.
    pub(crate) fn of_damaged(config: &CacheConfig) -> Self {
        Self {
            life: Life::fresh_for(config.negative.0),
            client: ClientSide::AsHere,
            shared: true,
            by_date: false,
        }
    }

    /// Returns the caching terms for a source that its origin reports as unchanged. If the origin says nothing about
    /// caching now, its earlier directives apply again (RFC 9111, 4.3.4).
    pub(crate) fn after_revalidation(
        config: &CacheConfig,
        source: &str,
        freshness: Freshness,
        old: &Entry,
    ) -> Self {
        let terms = Self::of_origin(config, source, freshness);
        let is_ruled = config.rule(source).is_some_and(|rule| rule.ttl.is_some());
        match freshness == Freshness::default() && !is_ruled {
            true => Self {
                life: old.life,
                client: Notes::of(old).client,
                ..terms
            },
            false => terms,
        }
    }

    /// Returns the caching terms for a result of a source from an origin, given the origin's caching directives.
    pub(crate) fn of_origin(config: &CacheConfig, source: &str, freshness: Freshness) -> Self {
        let rule = config.rule(source);
        let ttl = rule.and_then(|rule| rule.ttl);
        let words = ClientSide::words(config, source);
        let shared = ttl.is_some() || !freshness.not_shared;
        let client = match words {
            Some(words) => ClientSide::Words(words),
            None if ttl.is_some() => ClientSide::AsHere,
            None if freshness.told == Told::default() => ClientSide::Silence,
            None => ClientSide::AsTheOrigin(freshness.told),
        };
        let by_origin = || {
            let span = freshness.fresh_for.unwrap_or(config.ttl.0);
            freshness.at_most.map_or(span, |most| span.min(most))
        };
        Self {
            life: Life {
                fresh_for: ttl.map_or_else(by_origin, |span| span.0),
                stale_while_revalidate: freshness
                    .stale_while_revalidate
                    .unwrap_or(config.stale_while_revalidate.0),
                stale_if_error: freshness.stale_if_error.unwrap_or(config.stale_if_error.0),
            },
            client,
            shared,
            by_date: false,
        }
    }
}

impl Terms {
    /// Returns the caching terms for a result that is composed with overlay images: the strictest terms of the source
    /// and of all overlays.
    pub(crate) fn with_overlays(self, config: &CacheConfig, overlays: &OpenOverlays) -> Self {
        overlays
            .fetched_overlays()
            .fold(self, |terms, (from, freshness)| {
                terms.and(&Self::of_origin(config, &from.place(), freshness))
            })
    }

    fn and(self, overlay: &Self) -> Self {
        let (life_of_source, life_of_overlay) = (self.life, overlay.life);
        let life = match self.by_date {
            // The overlay images of such a result are checked as often as its file.
            true => life_of_source,
            false => Life {
                fresh_for: life_of_source.fresh_for.min(life_of_overlay.fresh_for),
                stale_while_revalidate: life_of_source
                    .stale_while_revalidate
                    .min(life_of_overlay.stale_while_revalidate),
                stale_if_error: life_of_source
                    .stale_if_error
                    .min(life_of_overlay.stale_if_error),
            },
        };
        Self {
            life,
            client: self.client.and(&overlay.client),
            shared: self.shared && overlay.shared,
            by_date: self.by_date,
        }
    }
}

impl ClientSide {
    /// Returns the `cache_control` of the operator's rule for a source, if there is one.
    pub(crate) fn words(config: &CacheConfig, source: &str) -> Option<String> {
        config.rule(source)?.cache_control.clone()
    }

    /// Returns what clients are told about a result that was cached under an earlier configuration. `words` is the text
    /// of today's rule for its source. Results that this server limits by itself, such as those of damaged sources,
    /// keep their limit.
    pub(crate) fn under(self, words: Option<&str>) -> Self {
        match (self, words) {
            (Self::AsHere, _) => Self::AsHere,
            (_, Some(words)) => Self::Words(words.to_owned()),
            (Self::Words(_), None) => Self::Silence,
            (directives, None) => directives,
        }
    }

    /// Returns what clients are told about a result that is composed with an overlay image, given what they would be
    /// told about the overlay. The operator's text for the source takes precedence.
    fn and(self, overlay: &Self) -> Self {
        let Self::AsTheOrigin(overlay_directives) = overlay else {
            return self;
        };
        match self {
            Self::AsTheOrigin(source_directives) => {
                Self::AsTheOrigin(source_directives.and(*overlay_directives))
            }
            // The directives `public` and `immutable` apply to the overlay image only.
            Self::Silence => Self::AsTheOrigin(overlay_directives.and(Told::default())),
            Self::AsHere if overlay_directives.is_closed() => {
                Self::AsTheOrigin(*overlay_directives)
            }
            Self::AsHere | Self::Words(_) => self,
        }
    }

    /// Returns the `Age` header in seconds of a result that was cached for `age`, or `None` if the header is not sent:
    /// for a result that was just made, as `status` says, and unless clients get the origin's directives, which count
    /// from the arrival of the source.
    pub(crate) fn age(&self, age: Duration, status: CacheStatus) -> Option<u64> {
        let is_kept = !matches!(status, CacheStatus::Forwarded { .. });
        (is_kept && matches!(self, Self::AsTheOrigin(_))).then_some(age.as_secs())
    }

    /// Returns the `Cache-Control` header for a result of this age, or `None` if the header is not sent. `style`
    /// contains what the URL says about caching: a default lifetime, limits of the lifetime, and the time at which the
    /// URL expires.
    pub(crate) fn text(&self, life: &Life, age: Duration, style: &AnswerStyle) -> Option<String> {
        let text = match self {
            Self::Words(words) => Some(words.clone()),
            Self::AsHere => Some(match life.fresh_for.saturating_sub(age).as_secs() {
                0 => "no-cache".to_owned(),
                remaining => format!("max-age={remaining}"),
            }),
            Self::AsTheOrigin(directives) if style.keeping.is_some() && !directives.is_closed() => {
                Some(style.cached_for(directives.seconds()))
            }
            Self::AsTheOrigin(directives) => directives.text(),
            Self::Silence => {
                let seconds = style.max_age.or(style.keeping.map(|keeping| keeping.least));
                seconds.map(|seconds| style.cached_for(seconds))
            }
        };
        match style.expires {
            None => text,
            Some(moment) => {
                let remaining = moment.saturating_sub(clock::now());
                Some(at_most(remaining, &text.unwrap_or_default()))
            }
        }
    }
}

/// Returns the directives of `text`, restricted so that no cache stores the response for longer than `remaining`
/// seconds.
fn at_most(remaining: u64, text: &str) -> String {
    let mut has_limit = false;
    let mut directives: Vec<String> = Vec::new();
    for directive in text
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty())
    {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let seconds = value.parse::<u64>();
        directives.push(match (name, seconds) {
            ("max-age" | "s-maxage", Ok(seconds)) => {
                has_limit |= name == "max-age";
                format!("{name}={}", seconds.min(remaining))
            }
            // These would allow using a response after its time, which an expired one must not be.
            ("stale-while-revalidate" | "stale-if-error" | "immutable", _) => continue,
            _ => {
                has_limit |= ["no-store", "no-cache"].contains(&name);
                directive.to_owned()
            }
        });
    }
    if !has_limit {
        directives.push(format!("max-age={remaining}"));
    }
    directives.join(", ")
}

/// Lifetime of results of files, ten years: they are evicted when the cache is full, not when they reach an age.
const UNLIMITED: Duration = Duration::from_secs(10 * 365 * 86_400);

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use hyper::HeaderMap;
    use hyper::header::CACHE_CONTROL;

    use super::*;
    use crate::config::{CacheRule, Span};

    const MINUTE: Duration = Duration::from_secs(60);

    fn directives(config: &CacheConfig, freshness: Freshness) -> (Duration, Option<String>, bool) {
        let terms = Terms::of_origin(config, "shop/a.jpg", freshness);
        let text = terms.client.text(
            &terms.life,
            Duration::from_secs(10),
            &AnswerStyle::default(),
        );
        (terms.life.fresh_for, text, terms.shared)
    }

    #[test]
    fn the_rule_goes_before_the_origin_and_that_before_the_default() {
        let silent = Freshness::default();
        let freshness = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, text.parse().unwrap());
            Freshness::of(&headers, SystemTime::now())
        };
        let (minute, private) = (freshness("max-age=60"), freshness("no-store"));
        let text = |text: &str| Some(text.to_owned());
        let plain = CacheConfig::default();
        assert_eq!(directives(&plain, silent), (plain.ttl.0, None, true));
        assert_eq!(
            directives(&plain, minute),
            (MINUTE, text("max-age=60"), true)
        );
        assert_eq!(
            directives(&plain, private),
            (plain.ttl.0, text("no-store"), false)
        );

        let ruled = CacheConfig {
            rule: vec![CacheRule {
                prefix: "/shop".to_owned(),
                ttl: Some(Span(2 * MINUTE)),
                cache_control: Some("public, max-age=5".to_owned()),
            }],
            ..plain
        };
        let words = text("public, max-age=5");
        assert_eq!(
            directives(&ruled, minute),
            (2 * MINUTE, words.clone(), true)
        );
        assert_eq!(directives(&ruled, private), (2 * MINUTE, words, true));
    }

    #[test]
    fn nothing_is_kept_for_longer_than_its_url_is_good() {
        for (usual, directives) in [
            ("", "max-age=50"),
            ("public, max-age=20", "public, max-age=20"),
            ("max-age=90, s-maxage=80", "max-age=50, s-maxage=50"),
            ("public, stale-while-revalidate=90", "public, max-age=50"),
            ("no-store", "no-store"),
        ] {
            assert_eq!(at_most(50, usual), directives);
        }
    }
}
