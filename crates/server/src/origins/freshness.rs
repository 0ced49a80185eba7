//! How long an origin allows its response to be used: `Cache-Control`, `Expires` and `Age`, interpreted as a shared
//! cache has to (RFC 9111, and RFC 5861 for stale responses).

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use serde::{Deserialize, Serialize};

/// How long an origin allows its response to be used. A field is `None` if the origin says nothing about it. In that
/// case the configuration decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// How long from now the response is used without a request to the origin. Zero means that every use needs one.
    pub fresh_for: Option<Duration>,
    /// How long after `fresh_for` the response is still used while it is revalidated.
    pub stale_while_revalidate: Option<Duration>,
    /// How long after `fresh_for` the response is still used if revalidation fails.
    pub stale_if_error: Option<Duration>,
    /// Maximum time that the response is used without a request to the origin, whatever the configuration says: a
    /// redirect that led to the response may lead elsewhere after that time.
    pub at_most: Option<Duration>,
    /// Whether the origin says `no-store` or `private`, so that the response must not be stored for other clients at
    /// all.
    pub not_shared: bool,
    /// The caching directives that are passed on to clients.
    pub told: Told,
}

/// Caching directives that an origin sent and that are passed on to clients. Lifetimes are in seconds from the arrival
/// of the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Lifetime for all caches, in seconds.
    max_age: Option<u64>,
    /// Lifetime for shared caches, in seconds.
    shared_max_age: Option<u64>,
    public: bool,
    private: bool,
    no_store: bool,
    no_cache: bool,
    must_revalidate: bool,
    immutable: bool,
}

impl Told {
    /// Whether only the cache of the requesting client may store the response, or no cache at all.
    pub(crate) fn is_closed(&self) -> bool {
        self.private || self.no_store
    }

    /// Returns the lifetime in shared caches, in seconds; 0 if the origin says nothing.
    pub(crate) fn seconds(&self) -> u64 {
        self.shared_max_age.or(self.max_age).unwrap_or_default()
    }

    /// Returns the `Cache-Control` header for clients, or `None` if the origin says nothing.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.no_store {
            return Some("no-store".to_owned());
        }
        let seconds = |name: &str, span: Option<u64>| span.map(|span| format!("{name}={span}"));
        let word = |is_set: bool, name: &str| is_set.then(|| name.to_owned());
        let directives = [
            word(self.private, "private"),
            word(self.public && !self.private, "public"),
            word(self.no_cache, "no-cache"),
            seconds("max-age", self.max_age),
            seconds("s-maxage", self.shared_max_age.filter(|_| !self.private)),
            word(self.must_revalidate, "must-revalidate"),
            word(self.immutable, "immutable"),
        ];
        let text: Vec<_> = directives.into_iter().flatten().collect();
        (!text.is_empty()).then(|| text.join(", "))
    }

    /// Combines the directives of two responses so that both allow the result.
    pub(crate) fn and(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            max_age: least(self.max_age, other.max_age),
            shared_max_age: least(self.shared_max_age, other.shared_max_age),
            public: self.public && other.public,
            private: self.private || other.private,
            no_store: self.no_store || other.no_store,
            no_cache: self.no_cache || other.no_cache,
            must_revalidate: self.must_revalidate || other.must_revalidate,
            immutable: self.immutable && other.immutable,
        }
    }
}

impl Freshness {
    /// Returns the freshness of this response if it was reached through `redirect`. A redirect that says nothing about
    /// caching does not limit it.
    #[must_use]
    pub fn behind(self, redirect: Self) -> Self {
        if redirect == Self::default() {
            return self;
        }
        let most = self.at_most.into_iter().chain(redirect.fresh_for).min();
        let never = redirect.stale_if_error == Some(Duration::ZERO);
        let stale = |span: Option<Duration>| if never { Some(Duration::ZERO) } else { span };
        Self {
            at_most: most,
            stale_while_revalidate: stale(self.stale_while_revalidate),
            stale_if_error: stale(self.stale_if_error),
            not_shared: self.not_shared || redirect.not_shared,
            told: match self.told == Told::default() {
                true => redirect.told,
                false => self.told.and(redirect.told),
            },
            ..self
        }
    }

    /// Whether every use needs a request to the origin.
    #[must_use]
    pub fn always_asks(&self) -> bool {
        self.fresh_for == Some(Duration::ZERO) && self.stale_if_error == Some(Duration::ZERO)
    }

    /// Returns this freshness, or `former` if the origin says nothing.
    #[must_use]
    pub fn or(self, former: Self) -> Self {
        if self == Self::default() {
            former
        } else {
            self
        }
    }

    /// Returns this freshness after the time `span` has passed.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let seconds = span.as_secs();
        let later = |span: Option<u64>| span.map(|span| span.saturating_sub(seconds));
        Self {
            fresh_for: self
                .fresh_for
                .map(|fresh_for| fresh_for.saturating_sub(span)),
            at_most: self.at_most.map(|most| most.saturating_sub(span)),
            told: Told {
                max_age: later(self.told.max_age),
                shared_max_age: later(self.told.shared_max_age),
                ..self.told
            },
            ..self
        }
    }

    /// Reads the freshness from the headers of a response that arrived at `now`.
    #[must_use]
    pub fn of(headers: &HeaderMap, now: SystemTime) -> Self {
        let header_directives = Directives::of(headers, &header::CACHE_CONTROL);
        let directives = Directives::for_this_cache(headers, header_directives);
        let age = text(headers, &header::AGE)
            .and_then(delta_seconds)
            .unwrap_or(Duration::ZERO);
        let expiry = || until_expiry(headers, now).map(|span| span.saturating_sub(age));
        let remaining = |span: Option<Duration>| {
            span.map(|span| span.saturating_sub(age).min(LONGEST).as_secs())
        };
        let fresh_for = match (
            directives.always_ask,
            directives.shared_max_age.or(directives.max_age),
        ) {
            (true, _) => Some(Duration::ZERO),
            (false, Some(span)) => Some(span.saturating_sub(age)),
            (false, None) => expiry(),
        };
        let stale = |span: Option<Duration>| match directives.never_stale || directives.always_ask {
            true => Some(Duration::ZERO),
            // RFC 9111, 5.2.2.10: a response with a lifetime for shared caches is not used longer by any of them,
            // unless a directive allows it.
            false if directives.shared_max_age.is_some() => {
                Some(span.unwrap_or_default().min(LONGEST))
            }
            false => span.map(|span| span.min(LONGEST)),
        };
        Self {
            fresh_for: fresh_for.map(|span| span.min(LONGEST)),
            stale_while_revalidate: stale(directives.stale_while_revalidate),
            stale_if_error: stale(directives.stale_if_error),
            at_most: None,
            not_shared: directives.private || directives.no_store,
            told: Told {
                max_age: remaining(header_directives.max_age)
                    .or_else(|| expiry().map(|span| span.min(LONGEST).as_secs())),
                shared_max_age: remaining(
                    directives.shared_max_age.or(directives
                        .max_age
                        .filter(|_| directives != header_directives)),
                ),
                public: header_directives.public,
                private: header_directives.private,
                no_store: header_directives.no_store,
                no_cache: header_directives.always_ask,
                must_revalidate: header_directives.must_revalidate,
                immutable: header_directives.immutable,
            },
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
/// The directives of one or more `Cache-Control` headers.
struct Directives {
    max_age: Option<Duration>,
    shared_max_age: Option<Duration>,
    stale_while_revalidate: Option<Duration>,
    stale_if_error: Option<Duration>,
    always_ask: bool,
    never_stale: bool,
    must_revalidate: bool,
    private: bool,
    no_store: bool,
    public: bool,
    immutable: bool,
}

impl Directives {
    fn of(headers: &HeaderMap, name: &HeaderName) -> Self {
        let mut directives = Self::default();
        for value in headers.get_all(name) {
            // A value that cannot be read must not permit anything.
            match value.to_str() {
                Ok(text) => directives.read(text),
                Err(_) => directives.always_ask = true,
            }
        }
        directives
    }

    /// Returns the directives that apply to this cache: those of `CDN-Cache-Control` if the response has this header,
    /// otherwise `header_directives`, which are those of `Cache-Control`. With `Vary: *`, every use needs a request to
    /// the origin.
    fn for_this_cache(headers: &HeaderMap, header_directives: Self) -> Self {
        // RFC 9213: directives for caches between an origin and its clients override those for all caches.
        let targeted = HeaderName::from_static("cdn-cache-control");
        let mut directives = match headers.contains_key(&targeted) {
            true => Self::of(headers, &targeted),
            false => header_directives,
        };
        // RFC 9111, 4.1: a response that varies on more than the request headers matches no other request.
        let varies = headers.get_all(header::VARY).iter();
        directives.always_ask |= varies
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .any(|name| name.trim_ascii() == b"*");
        directives
    }

    fn read(&mut self, list: &str) {
        for directive in items(list) {
            let (name, value) = match directive.split_once('=') {
                Some((name, value)) => (name.trim(), value.trim().trim_matches('"')),
                None => (directive.trim(), ""),
            };
            // Of repeated lifetimes the shortest counts. An invalid number counts as zero.
            let span = || delta_seconds(value).unwrap_or(Duration::ZERO);
            let shorter = |old: &mut Option<Duration>| {
                *old = Some(old.map_or(span(), |old| old.min(span())));
            };
            match name.to_ascii_lowercase().as_str() {
                "max-age" => shorter(&mut self.max_age),
                "s-maxage" => shorter(&mut self.shared_max_age),
                "stale-while-revalidate" => shorter(&mut self.stale_while_revalidate),
                "stale-if-error" => shorter(&mut self.stale_if_error),
                "no-cache" => self.always_ask = true,
                "must-revalidate" => (self.never_stale, self.must_revalidate) = (true, true),
                "proxy-revalidate" => self.never_stale = true,
                "private" => self.private = true,
                "no-store" => self.no_store = true,
                "public" => self.public = true,
                "immutable" => self.immutable = true,
                _ => {}
            }
        }
    }
}

/// Splits a list at its commas, except those inside quoted strings.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    list.split(move |letter| {
        let is_end = letter == ',' && !quoted;
        quoted ^= letter == '"' && !escaped;
        escaped = quoted && letter == '\\' && !escaped;
        is_end
    })
}

/// Parses digits as a number of seconds. Numbers above 2^31 become 2^31 (RFC 9111, 1.2.2). Returns `None` for
/// everything else: signs, fractions, empty text.
fn delta_seconds(text: &str) -> Option<Duration> {
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse().unwrap_or(OVERFLOW).min(OVERFLOW);
    Some(Duration::from_secs(seconds))
}

/// Returns the time until `Expires`, counted from the origin's own `Date` if it sends one, so that a wrong clock on
/// either side does not matter. The time is zero for a date that cannot be parsed.
fn until_expiry(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let expires = text(headers, &header::EXPIRES)?;
    let Ok(expires) = httpdate::parse_http_date(expires) else {
        // Values such as `Expires: 0` mean that the response has expired already.
        return Some(Duration::ZERO);
    };
    let from = text(headers, &header::DATE)
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now);
    Some(expires.duration_since(from).unwrap_or(Duration::ZERO))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

const OVERFLOW: u64 = 1 << 31;

/// Longest lifetime, one year, whatever the origin says.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use hyper::header::HeaderValue;

    use super::*;

    fn freshness(headers: &[(HeaderName, &str)]) -> Freshness {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        Freshness::of(&map, UNIX_EPOCH)
    }

    fn fresh_for(cache_control: &str) -> Option<u64> {
        freshness(&[(header::CACHE_CONTROL, cache_control)])
            .fresh_for
            .map(|span| span.as_secs())
    }

    #[test]
    fn silence_leaves_it_to_the_configuration() {
        assert_eq!(freshness(&[]), Freshness::default());
        assert_eq!(freshness(&[]).told.text(), None);
        assert_eq!(fresh_for("public, immutable"), None);
    }

    #[test]
    fn the_shared_age_goes_before_the_other_and_the_shorter_before_the_longer() {
        assert_eq!(fresh_for("max-age=60"), Some(60));
        assert_eq!(fresh_for("MAX-AGE=\"60\" , s-maxage=10"), Some(10));
        assert_eq!(fresh_for("max-age=60, max-age=20"), Some(20));
        assert_eq!(fresh_for("max-age=soon"), Some(0));
        assert_eq!(fresh_for("no-cache, max-age=60"), Some(0));
        let aged = [(header::CACHE_CONTROL, "max-age=60"), (header::AGE, "45")];
        assert_eq!(freshness(&aged).fresh_for, Some(Duration::from_secs(15)));
    }

    #[test]
    fn numbers_saturate_a_year_is_the_most_and_what_is_no_number_is_zero() {
        let year = Some(31_536_000);
        for text in [
            "31536000",
            "31536001",
            "2147483648",
            "99999999999",
            "18446744073709551616",
            "999999999999999999999999999999999999",
            "\"99999999999\"",
        ] {
            assert_eq!(fresh_for(&format!("max-age={text}")), year, "{text}");
            assert_eq!(fresh_for(&format!("s-maxage={text}")), year, "{text}");
        }
        assert_eq!(fresh_for("max-age=0060"), Some(60));
        for text in ["-1", "+1", "1.5", "1e3", "", "soon", "0x10", "60s", "\"\""] {
            assert_eq!(fresh_for(&format!("max-age={text}")), Some(0), "{text}");
        }
        let with_age = |max_age: &str, age: &str| {
            let value = format!("max-age={max_age}");
            let both = [(header::CACHE_CONTROL, &*value), (header::AGE, age)];
            freshness(&both).fresh_for.map(|span| span.as_secs())
        };
        assert_eq!(with_age("60", "99999999999999999999"), Some(0));
        assert_eq!(with_age("60", "-5"), Some(60));
        assert_eq!(with_age("60", "old"), Some(60));
        assert_eq!(
            with_age("99999999999999999999", "99999999999999999999"),
            Some(0)
        );
        let far = [
            (header::DATE, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (header::EXPIRES, "Thu, 06 Nov 2994 08:49:37 GMT"),
        ];
        assert_eq!(freshness(&far).fresh_for.map(|span| span.as_secs()), year);
        let stale = freshness(&[(header::CACHE_CONTROL, "stale-if-error=99999999999999999999")]);
        assert_eq!(stale.stale_if_error.map(|span| span.as_secs()), year);
    }

    #[test]
    fn expiry_counts_from_the_origins_own_clock_and_only_without_a_maximum_age() {
        let (date, expires) = (
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:50:37 GMT",
        );
        let both = [(header::DATE, date), (header::EXPIRES, expires)];
        assert_eq!(freshness(&both).fresh_for, Some(Duration::from_secs(60)));
        let older = [(header::DATE, expires), (header::EXPIRES, date)];
        assert_eq!(freshness(&older).fresh_for, Some(Duration::ZERO));
        assert_eq!(
            freshness(&[(header::EXPIRES, "0")]).fresh_for,
            Some(Duration::ZERO)
        );
        let three = [
            both[0].clone(),
            both[1].clone(),
            (header::CACHE_CONTROL, "max-age=5"),
        ];
        assert_eq!(freshness(&three).fresh_for, Some(Duration::from_secs(5)));
    }

    #[test]
    fn stale_uses_are_as_the_origin_says() {
        let stale = |text: &str| {
            let freshness = freshness(&[(header::CACHE_CONTROL, text)]);
            (freshness.stale_while_revalidate, freshness.stale_if_error)
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            stale("stale-while-revalidate=5, stale-if-error=9"),
            (seconds(5), seconds(9))
        );
        assert_eq!(stale("max-age=1"), (None, None));
        assert_eq!(
            stale("stale-if-error=9, must-revalidate"),
            (seconds(0), seconds(0))
        );
    }

    #[test]
    fn clients_are_told_what_is_meant_for_them_and_caches_what_is_meant_for_caches() {
        for (said, told) in [
            ("max-age=60", "max-age=60"),
            ("max-age=0, s-maxage=600", "max-age=0, s-maxage=600"),
            ("s-maxage=600", "s-maxage=600"),
            (
                "public, max-age=60, immutable",
                "public, max-age=60, immutable",
            ),
            (
                "public, no-cache, max-age=100",
                "public, no-cache, max-age=100",
            ),
            ("private, max-age=60, s-maxage=9", "private, max-age=60"),
            ("no-store, max-age=60", "no-store"),
            ("max-age=60, must-revalidate", "max-age=60, must-revalidate"),
            ("max-age=60, stale-while-revalidate=9", "max-age=60"),
        ] {
            let said = freshness(&[(header::CACHE_CONTROL, said)]);
            assert_eq!(said.told.text().as_deref(), Some(told));
        }
        let targeted = HeaderName::from_static("cdn-cache-control");
        let both = [
            (header::CACHE_CONTROL, "max-age=5"),
            (targeted, "max-age=600"),
        ];
        let both = freshness(&both);
        assert_eq!(both.fresh_for, Some(Duration::from_secs(600)));
        assert_eq!(both.told.text().as_deref(), Some("max-age=5, s-maxage=600"));
    }

    #[test]
    fn what_is_to_be_asked_each_time_is_never_used_stale() {
        let said = freshness(&[(header::CACHE_CONTROL, "no-cache")]);
        let never = Some(Duration::ZERO);
        assert_eq!(
            (said.stale_while_revalidate, said.stale_if_error),
            (never, never)
        );
    }

    #[test]
    fn what_is_private_is_not_shared() {
        for text in ["no-store", "private, max-age=60", "Private=\"x\""] {
            assert!(
                freshness(&[(header::CACHE_CONTROL, text)]).not_shared,
                "{text}"
            );
        }
        assert!(!freshness(&[(header::CACHE_CONTROL, "public")]).not_shared);
    }
}
