//! How long a result is good here, and what clients are told about keeping it: what the operator's rule
//! says goes first, then what the origin says, then the defaults.

use std::time::Duration;

use andon_cache::{Entry, Life};
use andon_dialects::AnswerStyle;
use serde::{Deserialize, Serialize};

use super::notes::Notes;
use crate::config::CacheConfig;
use crate::operations::clock;
use crate::origins::{Freshness, Told};
use crate::response::cache_status::CacheStatus;

/// The terms a result is kept on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) life: Life,
    pub(crate) client: ClientSide,
    /// May it be given to others than the one who asked?
    pub(crate) shared: bool,
}

/// Why a result is not kept whose terms are not `shared`.
pub(crate) const NOT_SHARED: &str = "its origin says private or no-store";

/// What clients are told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClientSide {
    /// Nothing: they ask again with the entity tag when they like.
    #[default]
    Silence,
    /// To keep it for as long as it is fresh here.
    AsHere,
    /// What the origin says.
    AsTheOrigin(Told),
    /// These very words.
    Words(String),
}

impl Terms {
    /// For a file in a folder, whose date and size are looked at instead of a clock.
    pub(crate) fn of_file(config: &CacheConfig, source: &str) -> Self {
        let words = config
            .rule(source)
            .and_then(|rule| rule.cache_control.clone());
        Self {
            life: Life::fresh_for(AS_LONG_AS_THERE_IS_ROOM),
            client: words.map_or(ClientSide::Silence, ClientSide::Words),
            shared: true,
        }
    }

    /// For what is left of a source that is cut or damaged: it may be whole the next time.
    pub(crate) fn of_damaged(config: &CacheConfig) -> Self {
        Self {
            life: Life::fresh_for(config.negative.0),
            client: ClientSide::AsHere,
            shared: true,
        }
    }

    /// For what an origin says is still what it was. Where it says no more than that, what it said before holds again
    /// (RFC 9111, 4.3.4).
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

    /// For what an origin sent, with what it said about it.
    pub(crate) fn of_origin(config: &CacheConfig, source: &str, said: Freshness) -> Self {
        let rule = config.rule(source);
        let ruled = rule.and_then(|rule| rule.ttl);
        let words = rule.and_then(|rule| rule.cache_control.clone());
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
        }
    }
}

impl ClientSide {
    /// Seconds for the `Age` of a result that was kept for so long: what its origin said counts from its arrival.
    pub(crate) fn age(&self, age: Duration, status: CacheStatus) -> Option<u64> {
        let is_kept = !matches!(status, CacheStatus::Forwarded { .. });
        (is_kept && matches!(self, Self::AsTheOrigin(_))).then_some(age.as_secs())
    }

    /// The `Cache-Control` of a result of this age, for a URL that is answered in this style.
    pub(crate) fn text(&self, life: &Life, age: Duration, style: &AnswerStyle) -> Option<String> {
        let text = match self {
            Self::Silence => style.max_age.map(|seconds| format!("max-age={seconds}")),
            Self::Words(words) => Some(words.clone()),
            Self::AsTheOrigin(told) => told.text(),
            Self::AsHere => Some(match life.fresh_for.saturating_sub(age).as_secs() {
                0 => "no-cache".to_owned(),
                left => format!("max-age={left}"),
            }),
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

/// A `Cache-Control` that allows no cache to keep a reply for longer than `left` seconds.
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

/// Ten years: the cache's size ends its entries, not a date.
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
