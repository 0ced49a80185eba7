//! The client for requests to metadata services, token services and identity endpoints. It follows no redirects and
//! trusts the public certificate authorities. Without TLS it only connects to addresses that are not public.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy;
use tokio::time::timeout;
use url::Url;

use crate::config::Environment;
use crate::error::OriginError;
use crate::net::Guard;
use crate::origins::http::client::trouble;
use crate::origins::http::connect::{Connector, pool};

type Http = legacy::Client<Connector, Full<Bytes>>;

/// The client for requests of credential providers.
pub(super) struct Client {
    secure: Http,
    local: Http,
    /// The URL to which requests for Amazon's token service are sent, if it is not the service's own.
    token_service: Option<Url>,
}

impl Client {
    /// Creates a client. If `environment` names another endpoint for Amazon's token service, requests to it go there.
    ///
    /// # Errors
    /// A message about a variable of the environment that cannot work.
    pub(super) fn new(environment: &Environment) -> Result<Self, String> {
        let of = |guard, connect| Connector::new(guard, None, connect);
        let endpoint = environment
            .get("AWS_ENDPOINT_URL_STS")
            .or_else(|| environment.get("AWS_ENDPOINT_URL"));
        let token_service = endpoint.map(|text| {
            Url::parse(text).map_err(|error| format!("AWS_ENDPOINT_URL_STS is no URL: {error}"))
        });
        Ok(Self {
            secure: pool(0).build(of(Guard::of_credentials(), CONNECT)?),
            local: pool(0).build(of(Guard::of_local_credentials(), CONNECT_LOCAL)?),
            token_service: token_service.transpose()?,
        })
    }

    /// Sends a request and reads the whole response, whatever its status.
    ///
    /// # Errors
    /// A message that names the URL, without its query.
    pub(super) async fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<Bytes>, String> {
        self.redirect_to_token_service(&mut request);
        let place = place(request.method().as_str(), request.uri());
        let client = match request.uri().scheme_str() {
            Some("https") => &self.secure,
            _ => &self.local,
        };
        let exchange = async {
            let (head, body) = client
                .request(request.map(Full::new))
                .await
                .map_err(|error| reason(&trouble(&error)))?
                .into_parts();
            let body = Limited::new(body, MOST_BYTES).collect().await;
            let body = body.map_err(|error| format!("its response broke off: {error}"))?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        let outcome = timeout(ANSWER, exchange).await;
        outcome
            .unwrap_or_else(|_| Err(format!("no response within {ANSWER:?}")))
            .map_err(|why: String| format!("{place}: {why}"))
    }

    /// Sends a request and returns the body of the response if its status is a success.
    ///
    /// # Errors
    /// The errors of [`Client::send`], and for any status that is not a success, a text with the beginning of the
    /// response.
    pub(super) async fn success(&self, request: Request<Bytes>) -> Result<Bytes, String> {
        let place = place(request.method().as_str(), request.uri());
        let response = self.send(request).await?;
        let status = response.status();
        let body = response.into_body();
        if status.is_success() {
            return Ok(body);
        }
        let message = String::from_utf8_lossy(&body);
        let message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let message: String = message.chars().take(MOST_MESSAGE).collect();
        Err(format!("{place}: status {}: {message}", status.as_u16()))
    }

    /// Redirects a request for Amazon's token service to the configured URL. The `Host` header stays as it was signed.
    fn redirect_to_token_service(&self, request: &mut Request<Bytes>) {
        let Some(service) = &self.token_service else {
            return;
        };
        let uri = request.uri();
        let host = uri.host().unwrap_or_default().to_owned();
        let is_token_service =
            uri.scheme_str() == Some("https") && host.starts_with("sts.") && uri.path() == "/";
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let base = service.as_str().trim_end_matches('/');
        if is_token_service
            && let Ok(target) = format!("{base}{target}").parse()
            && let Ok(host) = HeaderValue::from_str(&host)
        {
            *request.uri_mut() = target;
            request.headers_mut().entry(HOST).or_insert(host);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Returns the method and URL of a request as text for messages. Queries and user names are left out, because they may
/// be secret.
fn place(method: &str, uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    let host = uri.host().unwrap_or_default();
    let port = uri
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!("{method} {scheme}://{host}{port}{}", uri.path())
}

fn reason(error: &OriginError) -> String {
    match error {
        OriginError::UnknownName => "the name could not be resolved".to_owned(),
        OriginError::Denied(address) => {
            format!("{} is a public address, which needs https", address.ip())
        }
        OriginError::Unreachable(kind, address) => format!("no connection to {address}: {kind}"),
        OriginError::Insecure(why) => format!("no secure connection could be made: {why}"),
        OriginError::Slow { after, .. } => format!("no connection within {after:?}"),
        _ => "the connection broke off".to_owned(),
    }
}

/// Time limit for opening a connection with TLS, including the handshake.
const CONNECT: Duration = Duration::from_secs(3);

/// Time limit for opening a connection without TLS. Metadata services are on the machine itself or one network hop
/// away, and where there is none, connection attempts get no reply.
const CONNECT_LOCAL: Duration = Duration::from_secs(1);

/// Time limit for one request, until its whole response has arrived.
const ANSWER: Duration = Duration::from_secs(8);

/// Maximum characters of a response in an error.
const MOST_MESSAGE: usize = 300;

/// Maximum bytes of a response. Tokens have a few thousand.
const MOST_BYTES: usize = 1 << 20;
