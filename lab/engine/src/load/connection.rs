//! Prepares requests, sends them and reads replies to their last byte.

use std::time::Instant;

use andon_client::{Connection, Error};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};

use super::RequestTemplate;
use crate::scenario::{HttpVersion, Load};

/// A request that is built once and sent many times.
pub(super) struct Prepared {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Prepared {
    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }

    /// Returns whether the request may be sent again when it is not known whether the first attempt arrived: its method
    /// is idempotent.
    pub(super) fn repeatable(&self) -> bool {
        self.method.is_idempotent()
    }
}

/// Builds the requests of a load from their templates, one from each.
pub(super) fn prepare(
    templates: &[RequestTemplate],
    host: &str,
    load: &Load,
) -> Result<Vec<Prepared>, Error> {
    templates
        .iter()
        .map(|template| prepare_one(template, host, load))
        .collect()
}

fn prepare_one(template: &RequestTemplate, host: &str, load: &Load) -> Result<Prepared, Error> {
    let wrong = |what: &str, why: &dyn std::fmt::Display| Error::InvalidRequest {
        what: what.to_owned(),
        why: why.to_string(),
    };
    let target = match load.http {
        HttpVersion::One => template.target.clone(),
        // HTTP/2 has no Host; its authority is part of the URI.
        HttpVersion::Two => format!("http://{host}{}", template.target),
    };
    let uri: Uri = target.parse().map_err(|why| wrong(&target, &why))?;
    let method = Method::from_bytes(template.method.as_bytes())
        .map_err(|why| wrong(&template.method, &why))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &template.headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|why| wrong(name, &why))?;
        headers.append(
            key,
            HeaderValue::from_str(value).map_err(|why| wrong(value, &why))?,
        );
    }
    if load.http == HttpVersion::One {
        if !headers.contains_key(HOST) {
            headers.insert(
                HOST,
                HeaderValue::from_str(host).map_err(|why| wrong(host, &why))?,
            );
        }
        if !load.keepalive {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
    Ok(Prepared {
        method,
        uri,
        headers,
        body: template.body.clone(),
    })
}

/// The head of a reply and the time at which it arrived.
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) media_type: String,
    pub(super) at: Instant,
    /// Approximate size of the head in bytes: status line, names, values and separators.
    pub(super) bytes: u64,
}

/// Sends a request and reads the whole reply body into `body`. Returns the head of the reply.
pub(super) async fn ask(
    connection: &mut Connection,
    prepared: &Prepared,
    body: &mut Vec<u8>,
) -> hyper::Result<Head> {
    body.clear();
    let reply = connection.send(prepared.request()).await?;
    let head = head(&reply);
    let mut incoming = reply.into_body();
    while let Some(frame) = incoming.frame().await {
        if let Some(data) = frame?.data_ref() {
            body.extend_from_slice(data);
        }
    }
    Ok(head)
}

fn head(reply: &Response<Incoming>) -> Head {
    let fields = reply.headers().iter();
    let media_type = reply.headers().get(CONTENT_TYPE);
    let media_type = media_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default();
    Head {
        status: reply.status().as_u16(),
        media_type: media_type.trim().to_ascii_lowercase(),
        at: Instant::now(),
        // 19 bytes are `HTTP/1.1 200 OK`, its line end and the empty line.
        bytes: 19
            + fields
                .map(|(name, value)| name.as_str().len() + value.len() + 4)
                .sum::<usize>() as u64,
    }
}
