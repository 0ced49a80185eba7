//! What an origin says about how long its reply may be used: `Cache-Control`, `Expires` and `Age`, read as a shared
//! cache has to (RFC 9111, and RFC 5861 for the use of stale replies).

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use serde::{Deserialize, Serialize};

/// How long an origin lets its reply be used. A field is `None` where the origin says nothing; then the configuration
/// decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// How long from now on the reply is used without asking the origin. Zero: it is asked each time.
    pub fresh_for: Option<Duration>,
    /// How long after `fresh_for` the reply is still used while the origin is being asked.
    pub stale_while_revalidate: Option<Duration>,
    /// How long after `fresh_for` the reply is still used if asking the origin fails.
    pub stale_if_error: Option<Duration>,
    /// Upper bound of the time without asking, also where the configuration decides: afterwards a redirect on the way
    /// to the reply may lead elsewhere.
    pub at_most: Option<Duration>,
    /// Whether the origin says `no-store` or `private`: the reply must not be kept for others at all.
    pub not_shared: bool,
    /// The caching directives that clients are told.
    pub told: Told,
}

/// The caching directives of an origin that are passed on to clients. Lifetimes are seconds from the arrival of the
/// reply.
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
    /// Whether only the client that asked may keep a reply, or nobody.
    pub(crate) fn is_closed(&self) -> bool {
        self.private || self.no_store
    }

    /// Returns the lifetime in shared caches, in seconds; 0 where the origin said nothing.
    pub(crate) fn seconds(&self) -> u64 {
        self.shared_max_age.or(self.max_age).unwrap_or_default()
    }

    /// Returns the `Cache-Control` of a reply, or `None` where the origin said nothing.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.no_store {
            return Some("no-store".to_owned());
        }
        let seconds = |name: &str, span: Option<u64>| span.map(|span| format!("{name}={span}"));
        let word = |said: bool, name: &str| said.then(|| name.to_owned());
        let directives = [
            word(self.private, "private"),
            word(self.public && !self.private, "public"),
            word(self.no_cache, "no-cache"),
            seconds("max-age", self.max_age),
            seconds("s-maxage", self.shared_max_age.filter(|_| !self.private)),
            word(self.must_revalidate, "must-revalidate"),
            word(self.immutable, "immutable"),
        ];
        let said: Vec<_> = directives.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// Combines the directives of two replies so that the result is allowed by both.
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
    /// Returns the freshness of this reply when it was reached by way of `redirect`. A redirect that says nothing about
    /// caching is good for as long as its target.
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

    /// Whether the origin has to be asked each time.
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

    /// Returns this freshness as it is after `span` has passed.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let seconds = span.as_secs();
        let later = |said: Option<u64>| said.map(|said| said.saturating_sub(seconds));
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

    /// Reads the headers of a reply that arrived at `now`.
    #[must_use]
    pub fn of(headers: &HeaderMap, now: SystemTime) -> Self {
        let said = Directives::of(headers, &header::CACHE_CONTROL);
        let ours = Directives::ours(headers, said);
        let age = text(headers, &header::AGE)
            .and_then(delta_seconds)
            .unwrap_or(Duration::ZERO);
        let expiry = || until_expiry(headers, now).map(|span| span.saturating_sub(age));
        let left = |span: Option<Duration>| {
            span.map(|span| span.saturating_sub(age).min(LONGEST).as_secs())
        };
        let fresh_for = match (ours.always_ask, ours.shared_max_age.or(ours.max_age)) {
            (true, _) => Some(Duration::ZERO),
            (false, Some(span)) => Some(span.saturating_sub(age)),
            (false, None) => expiry(),
        };
        let stale = |span: Option<Duration>| match ours.never_stale || ours.always_ask {
            true => Some(Duration::ZERO),
            // RFC 9111, 5.2.2.10: with a lifetime for shared caches none of them uses it longer, unless it says so.
            false if ours.shared_max_age.is_some() => Some(span.unwrap_or_default().min(LONGEST)),
            false => span.map(|span| span.min(LONGEST)),
        };
        Self {
            fresh_for: fresh_for.map(|span| span.min(LONGEST)),
            stale_while_revalidate: stale(ours.stale_while_revalidate),
            stale_if_error: stale(ours.stale_if_error),
            at_most: None,
            not_shared: ours.private || ours.no_store,
            told: Told {
                max_age: left(said.max_age)
                    .or_else(|| expiry().map(|span| span.min(LONGEST).as_secs())),
                shared_max_age: left(
                    ours.shared_max_age
                        .or(ours.max_age.filter(|_| ours != said)),
                ),
                public: said.public,
                private: said.private,
                no_store: said.no_store,
                no_cache: said.always_ask,
                must_revalidate: said.must_revalidate,
                immutable: said.immutable,
            },
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
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
        let mut said = Self::default();
        for value in headers.get_all(name) {
            // What cannot be read is no permission.
            match value.to_str() {
                Ok(text) => said.read(text),
                Err(_) => said.always_ask = true,
            }
        }
        said
    }

    /// Returns the directives for this cache, where `said` are those for all caches.
    fn ours(headers: &HeaderMap, said: Self) -> Self {
        // RFC 9213: what is meant for caches between an origin and its clients goes before what is meant for all.
        let targeted = HeaderName::from_static("cdn-cache-control");
        let mut ours = match headers.contains_key(&targeted) {
            true => Self::of(headers, &targeted),
            false => said,
        };
        // RFC 9111, 4.1: what depends on more than a request says fits no other one.
        let varies = headers.get_all(header::VARY).iter();
        ours.always_ask |= varies
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .any(|name| name.trim_ascii() == b"*");
        ours
    }

    fn read(&mut self, list: &str) {
        for directive in items(list) {
            let (name, value) = match directive.split_once('=') {
                Some((name, value)) => (name.trim(), value.trim().trim_matches('"')),
                None => (directive.trim(), ""),
            };
            // Said twice, the shorter counts; a number that is none is as good as zero.
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

/// Splits a list at its commas, except those in quoted strings.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    list.split(move |letter| {
        let is_end = letter == ',' && !quoted;
        quoted ^= letter == '"' && !escaped;
        escaped = quoted && letter == '\\' && !escaped;
        is_end
    })
}

/// Parses digits as a number of seconds. Numbers above 2^31 become 2^31 (RFC 9111, 1.2.2). `None` for everything else:
/// signs, fractions, an empty text.
fn delta_seconds(text: &str) -> Option<Duration> {
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse().unwrap_or(OVERFLOW).min(OVERFLOW);
    Some(Duration::from_secs(seconds))
}

/// Returns the time until `Expires`, counted from the origin's own `Date` where it sends one, so that a wrong clock on
/// either side does not matter. It is zero for a date that cannot be read.
fn until_expiry(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let expires = text(headers, &header::EXPIRES)?;
    let Ok(expires) = httpdate::parse_http_date(expires) else {
        // `Expires: 0` and its like: gone already.
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

/// One year: no result is used for longer without asking, whatever the origin says.
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
