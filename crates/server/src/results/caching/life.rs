//! How long a result is fresh here, and what clients are told about keeping it: the operator's rule goes first, then
//! what the origin says, then the defaults.

use std::time::Duration;

use andon_cache::{Entry, Life};
use andon_dialects::AnswerStyle;
use serde::{Deserialize, Serialize};

use super::notes::Notes;
use crate::config::CacheConfig;
use crate::operations::clock;
use crate::origins::{Freshness, Told};
use crate::response::cache_status::CacheStatus;
use crate::sources::materials::OpenMaterials;

/// The terms on which a result is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) life: Life,
    pub(crate) client: ClientSide,
    /// Whether the result may be given to clients other than the one that requested it.
    pub(crate) shared: bool,
    /// Whether the state of its files decides whether the result is current, and not a clock.
    pub(crate) by_date: bool,
}

/// Why a result whose terms are not `shared` is not kept.
pub(crate) const NOT_SHARED: &str = "its origin says private or no-store";

/// What clients are told about keeping a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClientSide {
    /// Nothing: they may ask again with the entity tag at any time.
    #[default]
    Silence,
    /// To keep the result for as long as it is fresh here.
    AsHere,
    /// The directives of the origin.
    AsTheOrigin(Told),
    /// Exactly this text.
    Words(String),
}

impl Terms {
    /// Returns the terms for a file in a folder. Whether it is current is decided by its date and size and not by a
    /// clock.
    pub(crate) fn of_file(config: &CacheConfig, source: &str) -> Self {
        let words = ClientSide::words(config, source);
        Self {
            life: Life::fresh_for(AS_LONG_AS_THERE_IS_ROOM),
            client: words.map_or(ClientSide::Silence, ClientSide::Words),
            shared: true,
            by_date: true,
        }
    }

    /// Returns the terms for a result of a truncated or damaged source, which may be complete the next time.
    pub(crate) fn of_damaged(config: &CacheConfig) -> Self {
        Self {
            life: Life::fresh_for(config.negative.0),
            client: ClientSide::AsHere,
            shared: true,
            by_date: false,
        }
    }

    /// Returns the terms for a source that its origin says is unchanged. If the origin says nothing about caching, what
    /// it said before holds again (RFC 9111, 4.3.4).
    pub(crate) fn again(config: &CacheConfig, source: &str, said: Freshness, old: &Entry) -> Self {
        let terms = Self::of_origin(config, source, said);
        let is_ruled = config.rule(source).is_some_and(|rule| rule.ttl.is_some());
        match said == Freshness::default() && !is_ruled {
            true => Self {
                life: old.life,
                client: Notes::of(old).client,
                ..terms
            },
            false => terms,
        }
    }

    /// Returns the terms for a source from an origin, given what the origin said about caching.
    pub(crate) fn of_origin(config: &CacheConfig, source: &str, said: Freshness) -> Self {
        let rule = config.rule(source);
        let ruled = rule.and_then(|rule| rule.ttl);
        let words = ClientSide::words(config, source);
        let shared = ruled.is_some() || !said.not_shared;
        let client = match words {
            Some(words) => ClientSide::Words(words),
            None if ruled.is_some() => ClientSide::AsHere,
            None if said.told == Told::default() => ClientSide::Silence,
            None => ClientSide::AsTheOrigin(said.told),
        };
        let by_origin = || {
            let span = said.fresh_for.unwrap_or(config.ttl.0);
            said.at_most.map_or(span, |most| span.min(most))
        };
        Self {
            life: Life {
                fresh_for: ruled.map_or_else(by_origin, |span| span.0),
                stale_while_revalidate: said
                    .stale_while_revalidate
                    .unwrap_or(config.stale_while_revalidate.0),
                stale_if_error: said.stale_if_error.unwrap_or(config.stale_if_error.0),
            },
            client,
            shared,
            by_date: false,
        }
    }
}

impl Terms {
    /// Returns the terms for a result that is composed with overlay images: what all of them allow.
    pub(crate) fn with_overlays(self, config: &CacheConfig, overlays: &OpenMaterials) -> Self {
        overlays.fetched().fold(self, |terms, (from, said)| {
            terms.and(&Self::of_origin(config, &from.place(), said))
        })
    }

    fn and(self, overlay: &Self) -> Self {
        let (own, other) = (self.life, overlay.life);
        let life = match self.by_date {
            // Its overlay images are looked at as often as its file.
            true => own,
            false => Life {
                fresh_for: own.fresh_for.min(other.fresh_for),
                stale_while_revalidate: own
                    .stale_while_revalidate
                    .min(other.stale_while_revalidate),
                stale_if_error: own.stale_if_error.min(other.stale_if_error),
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
    /// Returns the text that the operator's rule for a source has, if it has one.
    pub(crate) fn words(config: &CacheConfig, source: &str) -> Option<String> {
        config.rule(source)?.cache_control.clone()
    }

    /// Returns what clients are told of a result that was kept under another configuration, where today's rule for its
    /// source has these words. What is kept for a time of our own choice, such as a result of a damaged source, stays so.
    pub(crate) fn under(self, words: Option<&str>) -> Self {
        match (self, words) {
            (Self::AsHere, _) => Self::AsHere,
            (_, Some(words)) => Self::Words(words.to_owned()),
            (Self::Words(_), None) => Self::Silence,
            (told, None) => told,
        }
    }

    /// Returns what clients are told of a result, given what they would be told of its overlay image. The operator's
    /// text for the source goes first.
    fn and(self, overlay: &Self) -> Self {
        let Self::AsTheOrigin(other) = overlay else {
            return self;
        };
        match self {
            Self::AsTheOrigin(own) => Self::AsTheOrigin(own.and(*other)),
            // Only the overlay image is said to be public and never to change.
            Self::Silence => Self::AsTheOrigin(other.and(Told::default())),
            Self::AsHere if other.is_closed() => Self::AsTheOrigin(*other),
            Self::AsHere | Self::Words(_) => self,
        }
    }

    /// Returns the `Age` in seconds of a result that was kept for `age`, or `None` if it is not sent. It is needed only
    /// with the origin's directives, which count from the arrival of the source.
    pub(crate) fn age(&self, age: Duration, status: CacheStatus) -> Option<u64> {
        let is_kept = !matches!(status, CacheStatus::Forwarded { .. });
        (is_kept && matches!(self, Self::AsTheOrigin(_))).then_some(age.as_secs())
    }

    /// Returns the `Cache-Control` for a result of this age, in a reply of this style.
    pub(crate) fn text(&self, life: &Life, age: Duration, style: &AnswerStyle) -> Option<String> {
        let text = match self {
            Self::Words(words) => Some(words.clone()),
            Self::AsHere => Some(match life.fresh_for.saturating_sub(age).as_secs() {
                0 => "no-cache".to_owned(),
                left => format!("max-age={left}"),
            }),
            Self::AsTheOrigin(told) if style.keeping.is_some() && !told.is_closed() => {
                Some(style.cached_for(told.seconds()))
            }
            Self::AsTheOrigin(told) => told.text(),
            Self::Silence => {
                let seconds = style.max_age.or(style.keeping.map(|keeping| keeping.least));
                seconds.map(|seconds| style.cached_for(seconds))
            }
        };
        match style.expires {
            None => text,
            Some(moment) => {
                let left = moment.saturating_sub(clock::now());
                Some(at_most(left, &text.unwrap_or_default()))
            }
        }
    }
}

/// Returns a `Cache-Control` that allows no cache to keep a reply for longer than `left` seconds.
fn at_most(left: u64, text: &str) -> String {
    let mut limited = false;
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
                limited |= name == "max-age";
                format!("{name}={}", seconds.min(left))
            }
            // A reply may be used after its time, which an expired one must not.
            ("stale-while-revalidate" | "stale-if-error" | "immutable", _) => continue,
            _ => {
                limited |= ["no-store", "no-cache"].contains(&name);
                directive.to_owned()
            }
        });
    }
    if !limited {
        directives.push(format!("max-age={left}"));
    }
    directives.join(", ")
}

/// Ten years: entries are removed when the cache is full, not at a date.
const AS_LONG_AS_THERE_IS_ROOM: Duration = Duration::from_secs(10 * 365 * 86_400);

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use hyper::HeaderMap;
    use hyper::header::CACHE_CONTROL;

    use super::*;
    use crate::config::{CacheRule, Span};

    const MINUTE: Duration = Duration::from_secs(60);

    fn told(config: &CacheConfig, said: Freshness) -> (Duration, Option<String>, bool) {
        let terms = Terms::of_origin(config, "shop/a.jpg", said);
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
        let said = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, text.parse().unwrap());
            Freshness::of(&headers, SystemTime::now())
        };
        let (minute, private) = (said("max-age=60"), said("no-store"));
        let text = |text: &str| Some(text.to_owned());
        let plain = CacheConfig::default();
        assert_eq!(told(&plain, silent), (plain.ttl.0, None, true));
        assert_eq!(told(&plain, minute), (MINUTE, text("max-age=60"), true));
        assert_eq!(
            told(&plain, private),
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
        assert_eq!(told(&ruled, minute), (2 * MINUTE, words.clone(), true));
        assert_eq!(told(&ruled, private), (2 * MINUTE, words, true));
    }

    #[test]
    fn nothing_is_kept_for_longer_than_its_url_is_good() {
        for (usual, told) in [
            ("", "max-age=50"),
            ("public, max-age=20", "public, max-age=20"),
            ("max-age=90, s-maxage=80", "max-age=50, s-maxage=50"),
            ("public, stale-while-revalidate=90", "public, max-age=50"),
            ("no-store", "no-store"),
        ] {
            assert_eq!(at_most(50, usual), told);
        }
    }
}
