//! The HTTP client for origins: a pool of connections for each origin, only to permitted addresses, and limits for each
//! GET. A response is either complete or an error.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

use super::body;
use super::coding::Coding;
use super::connect::{Connector, pool};
use super::redirect;
use crate::config::{OriginTimeouts, Store, UrlPattern};
use crate::error::{Error, Late, OriginError, RedirectError};
use crate::net::Guard;
use crate::origins::advice::{ErrorResponse, Reader};
use crate::origins::budget::Budget;
use crate::origins::freshness::Freshness;
use crate::origins::metrics::Line;
use crate::origins::pace::Pace;
use crate::origins::source::{Fetched, Source, SourceValidators};
use crate::permits::Permits;
use crate::trace;

/// The HTTP client of one origin.
#[derive(Debug)]
pub(crate) struct Client {
    http: legacy::Client<Connector, Empty<Bytes>>,
    rules: Rules,
    retries: AtomicU64,
}

/// Limits for the requests to one origin.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) timeouts: OriginTimeouts,
    /// Maximum number of requests to the origin at a time.
    pub(crate) fetches: usize,
    /// Permits for requests to the origin. Each request takes one of them. They are kept across reloads, so their
    /// number may differ from `fetches` until they are resized.
    pub(crate) slots: Permits,
    /// Rate limiter for requests to the origin; `None` if their number per second is not limited.
    pub(crate) pace: Option<Arc<Pace>>,
    pub(crate) most_bytes: u64,
    pub(crate) redirects: u32,
    pub(crate) retries: u32,
}

/// One request to an origin.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    /// The name of the source in messages to clients.
    pub(crate) path: &'a str,
    /// The name that distinguishes the source from all others. It never contains a signature.
    pub(crate) name: &'a str,
    /// The request URI, which is sent unchanged: no segment is resolved and nothing is escaped.
    pub(crate) uri: Uri,
    /// Headers for the origin itself. They are not sent to other hosts to which it redirects.
    pub(crate) headers: &'a HeaderMap,
    /// Makes further headers for the origin itself each time the request is sent.
    pub(crate) authorize: Option<&'a dyn Authorize>,
    /// Validators of the state that the caller has of the source. If the source has not changed, its bytes are not sent
    /// again.
    pub(crate) validators: Option<&'a SourceValidators>,
    /// Patterns that the targets of redirects have to match, if there are any.
    pub(crate) patterns: &'a [UrlPattern],
    /// The kind of object store that receives the request; `None` for a web server. Errors of stores are explained in
    /// the log.
    pub(crate) store: Option<Store>,
}

/// Makes headers that authorize a request with credentials that expire.
pub(crate) trait Authorize: fmt::Debug + Send + Sync {
    /// Returns the headers for a GET of this URL that is sent right now.
    fn authorize<'a>(&'a self, uri: &'a Uri) -> Authorizing<'a>;
}

/// The future of [`Authorize::authorize`].
pub(crate) type Authorizing<'a> =
    Pin<Box<dyn Future<Output = Result<HeaderMap, OriginError>> + Send + 'a>>;

impl Client {
    /// Creates a client that connects only to addresses that `guard` permits. `ca` is a PEM file of further trusted
    /// certificates.
    ///
    /// # Errors
    /// A message about the file.
    pub(crate) fn new(ca: Option<&Path>, guard: Guard, rules: Rules) -> Result<Self, String> {
        let connector = Connector::new(guard, ca, rules.timeouts.connect.0)?;
        let http = pool(rules.fetches)
            .http1_max_buf_size(MOST_HEADER_BYTES)
            .build(connector);
        Ok(Self {
            http,
            rules,
            retries: AtomicU64::new(0),
        })
    }

    /// Returns the permits for requests to the origin. Each request takes one of them.
    pub(crate) fn slots(&self) -> &Permits {
        &self.rules.slots
    }

    /// Returns the rate limiter, if the number of requests per second is limited.
    pub(crate) fn pace(&self) -> Option<&Arc<Pace>> {
        self.rules.pace.as_ref()
    }

    /// Sets the number of permits for requests to the configured one (`fetches`).
    pub(crate) fn resize(&self) {
        self.rules.slots.resize_to(self.rules.fetches);
    }

    /// Returns the number of fetches under way, their maximum, and the number of retries.
    pub(crate) fn line(&self) -> Line {
        let slots = self.rules.fetches;
        Line {
            busy: slots.saturating_sub(self.rules.slots.available()),
            slots,
            retries: self.retries.load(Ordering::Relaxed),
        }
    }

    /// Sends the request, follows redirects, and reads the whole response.
    ///
    /// # Errors
    /// `Missing` or `Forbidden` if the server responds that there is no such source or that it may not be read;
    /// `Pixels(Limit)` for a response that is too large; `Origin` for any other failure, such as an error status, a
    /// time-out or a broken connection.
    pub(crate) async fn get(&self, ask: &Ask<'_>, budget: &Budget) -> Result<Fetched, Error> {
        let start = Instant::now();
        let total = self.rules.timeouts.total.0;
        let mut url = Url::parse(&ask.uri.to_string()).map_err(|_| OriginError::Garbled)?;
        let turn = self.turn(start, budget.deadline.at().into())?;
        let fetch = async {
            let _slot = self.rules.slots.acquire(1).await;
            let mut way = Vec::new();
            let (reply, secure) = self.reply(ask, &mut url, &mut way).await?;
            self.read(ask, reply, secure, &way, budget).await
        };
        let late = Late::Whole;
        let in_turn = async {
            if let Some(turn) = turn {
                sleep_until(turn).await;
            }
            let slow = |_| Err(OriginError::Slow { late, after: total }.into());
            timeout(total, fetch).await.unwrap_or_else(slow)
        };
        let answer = tokio::select! {
            biased;
            answer = in_turn => answer,
            () = budget.is_spent() => {
                let after = Duration::from_millis(start.elapsed().as_millis() as u64);
                Err(OriginError::Slow { late, after }.into())
            }
        };
        answer.map_err(|error| match error {
            Error::Origin(error) => {
                let place = place(&url, &error, ask.store);
                Error::Origin(error).at(|| place)
            }
            error => error,
        })
    }

    /// Takes the next turn of the rate limiter, and returns when the request may be sent; `None` if the number of
    /// requests per second is not limited.
    ///
    /// # Errors
    /// `Paced` if the turn would be after `until`.
    fn turn(&self, now: Instant, until: Instant) -> Result<Option<Instant>, Error> {
        let Some(pace) = &self.rules.pace else {
            return Ok(None);
        };
        let turn = pace.turn(now, until).map_err(|wait| {
            let error = OriginError::Paced {
                per_second: pace.per_second().get(),
                seconds: u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX),
            };
            // This error must not be remembered, because the next request may get a turn.
            Error::Unkept(Box::new(error.into()))
        });
        turn.map(Some)
    }

    /// Returns the response at the end of all redirects with its body unread, and whether it came over TLS. `url`
    /// becomes the URL of the last request, and `way` collects the freshness of each redirect.
    async fn reply(
        &self,
        ask: &Ask<'_>,
        url: &mut Url,
        way: &mut Vec<Freshness>,
    ) -> Result<(Response<Incoming>, bool), OriginError> {
        let own_origin = url.origin();
        let mut uri = ask.uri.clone();
        for _ in 0..=self.rules.redirects {
            let reply = self.persist(&uri, ask, url.origin() == own_origin).await?;
            let has_way = ask.store.is_none() || reply.headers().contains_key(header::LOCATION);
            // A redirect of a store without a `Location` names the right region in its body.
            if !redirect::is_one(reply.status()) || !has_way {
                return Ok((reply, url.scheme() == "https"));
            }
            way.push(Freshness::of(reply.headers(), SystemTime::now()));
            *url = redirect::next(url, reply.headers(), ask.patterns)?;
            uri = target(url)?;
        }
        Err(redirect::too_many(self.rules.redirects))
    }

    /// Sends the request, and repeats it while the connection fails before any response and retries are left.
    async fn persist(
        &self,
        uri: &Uri,
        ask: &Ask<'_>,
        is_own_origin: bool,
    ) -> Result<Response<Incoming>, OriginError> {
        let mut retries = self.rules.retries;
        loop {
            match self.send(uri, ask, is_own_origin).await {
                Err(error) if error.may_pass() && retries > 0 => {
                    retries -= 1;
                    self.retries.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(jitter()).await;
                }
                other => return other,
            }
        }
    }

    async fn send(
        &self,
        uri: &Uri,
        ask: &Ask<'_>,
        is_own_origin: bool,
    ) -> Result<Response<Incoming>, OriginError> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = headers(ask, is_own_origin);
        if let (Some(authorize), true) = (ask.authorize, is_own_origin) {
            for (name, value) in &authorize.authorize(uri).await? {
                request.headers_mut().insert(name, value.clone());
            }
        }
        let after = self.rules.timeouts.first_byte.0;
        match timeout(after, self.http.request(request)).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(trouble(&error)),
            Err(_) => Err(OriginError::Slow {
                late: Late::Head,
                after,
            }),
        }
    }

    /// Reads the body if the status says that it is the source. Returns `NotModified` for a 304, and the error for any
    /// other status.
    async fn read(
        &self,
        ask: &Ask<'_>,
        reply: Response<Incoming>,
        secure: bool,
        way: &[Freshness],
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (head, body) = reply.into_parts();
        let freshness = Freshness::of(&head.headers, SystemTime::now());
        let freshness = way.iter().copied().fold(freshness, Freshness::behind);
        match head.status {
            StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => {}
            StatusCode::NOT_MODIFIED if ask.validators.is_some() => {
                return Ok(Fetched::NotModified(freshness));
            }
            status => {
                let refusal = refusal(status, &head.headers, ask.path);
                let refusal = match explain(ask, status, &head.headers, body).await {
                    Some(why) => refusal.at(|| format!("{}: {why}", ask.name)),
                    None => refusal,
                };
                let may_be_kept = !freshness.not_shared && !freshness.always_asks();
                return Err(match may_be_kept {
                    true => refusal,
                    false => Error::Unkept(Box::new(refusal)),
                });
            }
        }
        let coding = Coding::of(&head.headers)?;
        // TLS marks the end of a connection. If the mark is missing, hyper reports an error.
        let bounded = secure || body.size_hint().exact().is_some() || is_chunked(&head.headers);
        let (most, idle) = (self.rules.most_bytes, self.rules.timeouts.idle.0);
        let (packed, mut hold) = body::whole(body, most, idle, coding, &budget.held).await?;
        let bytes = coding.decode(packed, most).await?;
        hold.shrink_to(bytes.len() as u64);
        let media_type = head.headers.get(header::CONTENT_TYPE);
        Ok(Fetched::Body(Source {
            validators: SourceValidators::of_reply(ask.name, &head.headers, &bytes),
            media_type: media_type.and_then(|value| value.to_str().ok().map(str::to_owned)),
            bytes,
            freshness,
            bounded,
            hold: Arc::new(hold),
        }))
    }
}

/// Returns an explanation of a store's error, and which setting to check.
async fn explain(
    ask: &Ask<'_>,
    status: StatusCode,
    headers: &HeaderMap,
    body: Incoming,
) -> Option<String> {
    let reader = Reader::Operator(ask.store?);
    let body = timeout(ERROR, body::beginning(body, MOST_ERROR_BYTES)).await;
    reader.on_reply(&ErrorResponse {
        status,
        headers,
        body: &String::from_utf8_lossy(&body.unwrap_or_default()),
    })
}

/// Returns the place of an error for the log: scheme, host, port and path, the address if it is known, why there are no
/// credentials or no secure connection, and which setting of a store to check. The query is left out, since it may
/// contain a signature.
fn place(url: &Url, error: &OriginError, store: Option<Store>) -> String {
    let (scheme, host) = (url.scheme(), url.host_str().unwrap_or_default());
    let port = url.port_or_known_default().unwrap_or_default();
    let mut place = format!("{scheme}://{host}:{port}{}", url.path());
    if let Some(address) = error.address() {
        place.push_str(&format!(", address {address}"));
    }
    let advice = match (error, store) {
        (_, Some(store)) => Reader::Operator(store).on_origin_error(error),
        (OriginError::Credentials(why) | OriginError::Insecure(why), None) => Some(why.clone()),
        (OriginError::Redirect(RedirectError::Unlisted(to)), None) => Some(format!(
            "to {to}, which `http.urls` of an [[origin]] has to list"
        )),
        _ => None,
    };
    if let Some(advice) = advice {
        place.push_str(&format!(", {advice}"));
    }
    place
}

/// Returns the request URI of a URL, without its fragment.
///
/// # Errors
/// `Garbled` for a URL that cannot be sent in a request line.
pub(crate) fn target(url: &Url) -> Result<Uri, OriginError> {
    let mut url = url.clone();
    url.set_fragment(None);
    url.as_str().parse().map_err(|_| OriginError::Garbled)
}

fn headers(ask: &Ask<'_>, is_own_origin: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, HeaderValue::from_static(NAME));
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_static("image/*,*/*;q=0.1"),
    );
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
    let validators = [
        (
            header::IF_NONE_MATCH,
            ask.validators
                .and_then(|validators| validators.etag.as_deref()),
        ),
        (
            header::IF_MODIFIED_SINCE,
            ask.validators
                .and_then(|validators| validators.last_modified.as_deref()),
        ),
    ];
    for (name, value) in validators {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    if is_own_origin {
        if let Some(trace) = trace::current() {
            trace.tell(&mut headers);
        }
        for (name, value) in ask.headers {
            headers.insert(name, value.clone());
        }
    }
    headers
}

/// Returns the error for a status without an image.
fn refusal(status: StatusCode, headers: &HeaderMap, path: &str) -> Error {
    let path = path.to_owned();
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Error::Missing { path },
        StatusCode::FORBIDDEN | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => {
            Error::Forbidden { path }
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let status = status.as_u16();
            match retry_after(headers) {
                Some(seconds) => OriginError::Spared { status, seconds },
                None => OriginError::Status(status),
            }
            .into()
        }
        status => OriginError::Status(status.as_u16()).into(),
    }
}

/// Parses `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3), to seconds from now.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<u32> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = text.parse().ok();
    seconds.or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        let remaining = date.duration_since(SystemTime::now()).unwrap_or_default();
        Some(u32::try_from(remaining.as_secs()).unwrap_or(u32::MAX))
    })
}

/// Whether the body is chunked, so that its last chunk marks its end. With any other last transfer coding, the body
/// ends with its connection (RFC 9112, 6.3).
fn is_chunked(headers: &HeaderMap) -> bool {
    let codings = headers.get_all(header::TRANSFER_ENCODING);
    let last = codings.iter().next_back().map(HeaderValue::as_bytes);
    let last = last.and_then(|list| list.rsplit(|byte| *byte == b',').next());
    last.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

/// Converts an error of the HTTP client to the [`OriginError`] in its chain of causes if there is one, to `Garbled` if
/// hyper could not parse the response, and to `BrokenOff` otherwise.
pub(crate) fn trouble(error: &legacy::Error) -> OriginError {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(trouble) = error.downcast_ref::<OriginError>() {
            return trouble.clone();
        }
        if error
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse)
        {
            return OriginError::Garbled;
        }
        next = error.source();
    }
    OriginError::BrokenOff
}

/// Returns a random pause of about 50 ms, so that requests that failed together are not repeated together.
fn jitter() -> Duration {
    let random = RandomState::new().hash_one(0u8);
    Duration::from_millis(25 + random % 50)
}

const NAME: &str = concat!("andon/", env!("CARGO_PKG_VERSION"));

/// Time limit for reading the body of an error response, which is only read for the log.
const ERROR: Duration = Duration::from_secs(1);

/// Maximum bytes of the body of an error response that are read.
const MOST_ERROR_BYTES: usize = 4 << 10;

/// Maximum bytes of the status line and all headers of one response together.
const MOST_HEADER_BYTES: usize = 64 << 10;
