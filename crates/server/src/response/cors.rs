//! Cross-origin requests (CORS): which web pages may read replies in a browser.

use andon_dialects::ErrorStyle;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};

use crate::config::CorsConfig;
use crate::response::body::Body;
use crate::response::{self, Reply};

/// The web pages that may read replies.
#[derive(Debug)]
pub(crate) struct Cors {
    is_open: bool,
    origins: Vec<String>,
    max_age: u64,
}

impl Cors {
    pub(crate) fn new(config: &CorsConfig) -> Self {
        Self {
            is_open: config.origins.iter().any(|origin| origin == "*"),
            origins: config.origins.clone(),
            max_age: config.max_age.0.as_secs(),
        }
    }

    /// Returns the reply to a CORS preflight request; `None` if the request is not one, or no page may read replies.
    pub(crate) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Reply> {
        let is_preflight = *method == Method::OPTIONS
            && headers.contains_key(header::ORIGIN)
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.origins.is_empty() {
            return None;
        }
        Some(self.permission(self.allowed_origin(headers).is_some()))
    }

    /// Returns the reply to a CORS preflight request for a URL dialect whose errors any page may read: any page may
    /// then read the dialect's other replies, too. Returns `None` for other dialects.
    pub(crate) fn preflight_of(
        &self,
        errors: ErrorStyle,
        request_headers: &HeaderMap,
    ) -> Option<Reply> {
        let name = header::ACCESS_CONTROL_ALLOW_ORIGIN;
        let mut headers = errors.0.headers().iter();
        let (_, origins) = headers.find(|(header, _)| *header == name.as_str())?;
        let mut reply = self.permission(true);
        let origins = HeaderValue::from_static(origins);
        let out = reply.headers_mut();
        out.insert(name, origins);
        // Allow all request headers that the page names, because viewers add headers of their own.
        if let Some(names) = request_headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        Some(reply)
    }

    fn permission(&self, is_granted: bool) -> Reply {
        let mut reply = Response::new(Body::default());
        *reply.status_mut() = StatusCode::NO_CONTENT;
        if is_granted {
            let out = reply.headers_mut();
            let mut insert = |name: HeaderName, value| out.insert(name, value);
            let methods = HeaderValue::from_static("GET, HEAD, OPTIONS");
            insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            let names = HeaderValue::from_static("Range, If-Range, If-None-Match");
            insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
            insert(header::ACCESS_CONTROL_MAX_AGE, self.max_age.into());
        }
        reply
    }

    /// Adds the headers that tell the browser whether the page may read this reply.
    pub(crate) fn apply(&self, headers: &HeaderMap, reply: &mut Reply) {
        if self.origins.is_empty() {
            return;
        }
        if !self.is_open {
            response::vary(reply, "Origin");
        }
        if let Some(origin) = self.allowed_origin(headers) {
            let out = reply.headers_mut();
            out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            out.insert(
                header::ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static(
                    "ETag, Cache-Status, Server-Timing, Content-Range, Andon-Plan",
                ),
            );
        }
    }

    fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if self.is_open {
            return Some(HeaderValue::from_static("*"));
        }
        let origin = headers.get(header::ORIGIN)?;
        let is_same = |candidate: &String| candidate.as_bytes() == origin.as_bytes();
        self.origins.iter().any(is_same).then(|| origin.clone())
    }
}
