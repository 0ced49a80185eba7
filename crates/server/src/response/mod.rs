//! Replies and their headers.

pub(crate) mod body;
pub(crate) mod cache_status;
pub(crate) mod cdn_tags;
pub(crate) mod cors;
pub(crate) mod ranges;
pub(crate) mod varying;

use std::time::Duration;

use andon_cache::Purged;
use andon_dialects::{AnswerStyle, ErrorStyle, Fault, ImageRequest, Told};
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::watch;

use crate::error::Error;
use crate::request::conditional::Validators;
use crate::response::body::Body;

/// An HTTP response of this server.
pub(crate) type Reply = Response<Body>;

/// A reply with status 200 and an image or a file.
pub(crate) fn found(body: impl Into<Body>, media_type: &str, validators: &Validators) -> Reply {
    let mut reply = with_type(StatusCode::OK, body, media_type);
    set_validators(&mut reply, validators);
    reply
}

/// A reply with status 304: the client's copy is still good.
pub(crate) fn not_modified(validators: &Validators) -> Reply {
    let mut reply = Response::new(Body::default());
    *reply.status_mut() = StatusCode::NOT_MODIFIED;
    set_validators(&mut reply, validators);
    reply
}

/// A reply with an error, as one plain sentence or in the format of the URL's dialect.
pub(crate) fn error(error: &Error, status: StatusCode, style: ErrorStyle) -> Reply {
    error_with(error, status, style, None)
}

/// A reply with an error, and with a further sentence in a line of its own unless the URL's dialect has a format for
/// errors.
pub(crate) fn error_with(
    error: &Error,
    status: StatusCode,
    style: ErrorStyle,
    hint: Option<&str>,
) -> Reply {
    let sentence = error.public();
    let report = Told {
        fault: error.kind(),
        code: error.code(),
        status: status.as_u16(),
        sentence: &sentence,
    };
    let plain = || {
        let hint = hint.map_or_else(String::new, |hint| format!("{hint}\n"));
        ("text/plain; charset=utf-8", format!("{sentence}\n{hint}"))
    };
    let (media_type, text) = style.0.body(&report).unwrap_or_else(plain);
    let mut reply = with_type(status, Bytes::from(text), media_type);
    let headers = reply.headers_mut();
    for (name, value) in style.0.headers() {
        let name = HeaderName::from_static(name);
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some((name, value)) = style.0.mark(status.as_u16()) {
        set(headers, HeaderName::from_static(name), &value);
    }
    // An error about a signature is temporary, because a newly signed URL may be valid at once. `kind` decides and not the
    // status, which is 415 in small_light's strict mode.
    let is_temporary = matches!(error.kind(), Fault::Signature | Fault::Expired);
    if is_temporary || error.status().is_server_error() || !error.may_be_kept() {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(seconds) = error.retry_after() {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    match error {
        Error::Method(_) => {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        Error::PostOnly(_) => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        Error::Moved { to, .. } => set(headers, header::LOCATION, to),
        _ => {}
    }
    reply
}

/// The reply to `/healthz`.
pub(crate) fn healthy() -> Reply {
    let mut reply = with_type(
        StatusCode::OK,
        Bytes::from_static(b"ok\n"),
        "text/plain; charset=utf-8",
    );
    let headers = reply.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// A reply with status 200 and a text.
pub(crate) fn text(media_type: &str, text: String) -> Reply {
    with_type(StatusCode::OK, Bytes::from(text), media_type)
}

/// A reply with a JSON document.
pub(crate) fn json(body: Bytes) -> Reply {
    with_type(StatusCode::OK, body, "application/json")
}

/// A reply with server-sent events. Whenever the client is ready for one, it is sent the newest.
pub(crate) fn events(updates: watch::Receiver<Bytes>) -> Reply {
    with_type(StatusCode::OK, Body::events(updates), "text/event-stream")
}

/// A reply with the welcome page, which is served at `/` where nothing else is.
pub(crate) fn welcome(text: String) -> Reply {
    let mut reply = with_type(
        StatusCode::OK,
        Bytes::from(text),
        "text/plain; charset=utf-8",
    );
    set_cache_control(&mut reply, "no-store");
    reply
}

/// The reply to a purge, in JSON: what was purged, and whether the purge survives a restart and reaches other nodes.
pub(crate) fn purged(outcome: Purged) -> Reply {
    let Purged {
        from_memory,
        has_disk,
        survives_restart,
        reaches_nodes,
    } = outcome;
    let disk = match has_disk {
        true => "purged as well, entries not counted",
        false => "none",
    };
    let nodes = reaches_nodes.map_or_else(String::new, |it| format!(",\"reaches_nodes\":{it}"));
    let text = format!(
        "{{\"purged\":true,\"entries_in_memory\":{from_memory},\"disk\":\"{disk}\",\
         \"survives_restart\":{survives_restart}{nodes}}}\n"
    );
    let mut reply = with_type(StatusCode::OK, Bytes::from(text), "application/json");
    set_cache_control(&mut reply, "no-store");
    reply
}

/// Sets the header `Andon-Plan`, which says how the image was made.
pub(crate) fn set_plan(reply: &mut Reply, plan: &str) {
    set(
        reply.headers_mut(),
        HeaderName::from_static("andon-plan"),
        plan,
    );
}

/// Adds the headers that a URL dialect sets for a request: an `Andon-Note` for each note, such as on an ignored option,
/// a `Link` to the `canonical` URL, headers of the dialect's own, and in `Vary` the request headers that it has read.
/// Notes contain text from the URL, so all but printable ASCII is escaped.
pub(crate) fn add_remarks(
    headers: &mut HeaderMap,
    request: &ImageRequest,
    canonical: Option<&str>,
) {
    let mut links = Vec::new();
    links.extend(canonical.map(|target| format!("<{target}>; rel=\"canonical\"")));
    let extension = headers.get(header::CONTENT_TYPE).and_then(extension);
    let placeholders = [AnswerStyle::EXTENSION, AnswerStyle::LONG_EXTENSION];
    for (name, value) in &request.style.headers {
        let value = match &extension {
            Some(extension) => value
                .replace(AnswerStyle::EXTENSION, extension)
                .replace(AnswerStyle::LONG_EXTENSION, longer(extension)),
            None if placeholders.iter().any(|it| value.contains(it)) => continue,
            None => value.clone(),
        };
        match (*name, HeaderValue::from_bytes(value.as_bytes())) {
            ("link", _) => links.push(value),
            // The policy of SVG images is stricter than any dialect's.
            ("content-security-policy", _)
                if headers.contains_key(header::CONTENT_SECURITY_POLICY) => {}
            (name, Ok(value)) => {
                headers.append(HeaderName::from_static(name), value);
            }
            (_, Err(_)) => {}
        }
    }
    if !links.is_empty() {
        set(headers, header::LINK, &links.join(", "));
    }
    // `Host` needs no `Vary`, as it is part of the URL, nor does `Via`, which only decides whether a request fails.
    let reads = request.style.reads.iter();
    for name in reads.filter(|name| !["host", "via"].contains(*name)) {
        add_vary(headers, name);
    }
    add_notes(headers, &request.notes);
}

/// Returns the usual file extension of an image media type.
fn extension(media_type: &HeaderValue) -> Option<String> {
    let subtype = media_type.to_str().ok()?.strip_prefix("image/")?;
    Some(match subtype {
        "jpeg" => "jpg".to_owned(),
        "svg+xml" => "svg".to_owned(),
        "x-icon" | "vnd.microsoft.icon" => "ico".to_owned(),
        other => other.to_owned(),
    })
}

/// Returns the longer of the usual extensions of a format.
fn longer(extension: &str) -> &str {
    match extension {
        "jpg" => "jpeg",
        other => other,
    }
}

/// Adds an `Andon-Note` for each of these notes.
pub(crate) fn add_notes(headers: &mut HeaderMap, notes: &[String]) {
    for note in notes.iter().take(MOST_NOTES) {
        let escape = |char: char| match char {
            ' '..='~' => char.to_string(),
            other => other.escape_default().to_string(),
        };
        let text: String = note.chars().map(escape).collect();
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.append(NOTE, value);
        }
    }
}

/// Marks a reply as a substitute for the `format` that the client prefers, which takes too long to encode. If the reply
/// may be cached, it may be cached only for a short time.
pub(crate) fn set_instead_of(reply: &mut Reply, format: &str) {
    let headers = reply.headers_mut();
    set(headers, HeaderName::from_static("andon-instead-of"), format);
    let is_restricted = (headers.get(header::CACHE_CONTROL))
        .and_then(|text| text.to_str().ok())
        .is_some_and(|text| ["no-", "private"].iter().any(|word| text.contains(word)));
    if !is_restricted {
        set_cache_control(reply, INSTEAD);
    }
}

/// Marks a reply as a fallback image that was sent because of the error with this label.
pub(crate) fn set_fallback(reply: &mut Reply, error: &str) {
    let name = HeaderName::from_static("andon-fallback");
    set(reply.headers_mut(), name, error);
}

/// The `Cache-Control` of a reply in a substitute format, sent while the client's preferred format is being encoded.
/// When it expires, the preferred format is ready, unless the server is busy.
const INSTEAD: &str = "max-age=30";

/// Sets `Cache-Control`.
pub(crate) fn set_cache_control(reply: &mut Reply, text: &str) {
    set(reply.headers_mut(), header::CACHE_CONTROL, text);
}

/// Adds a request header that the reply depends on to `Vary`.
pub(crate) fn vary(reply: &mut Reply, name: &'static str) {
    add_vary(reply.headers_mut(), name);
}

/// Adds a request header to `Vary`. All names stand in one line, because nginx before version 1.23 reads only the last
/// one.
fn add_vary(headers: &mut HeaderMap, name: &str) {
    let value = headers.get(header::VARY).and_then(|it| it.to_str().ok());
    let mut names: Vec<&str> = value.map(|it| it.split(", ").collect()).unwrap_or_default();
    if !names.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        names.push(name);
        let names = names.join(", ");
        set(headers, header::VARY, &names);
    }
}

/// Lets a reply with a 4xx status be cached for `span` at most, unless it already has a `Cache-Control`, because the cause
/// of the error may be fixed at any moment.
pub(crate) fn limit_fault(reply: &mut Reply, span: Duration) {
    let has_cache_control = reply.headers().contains_key(header::CACHE_CONTROL);
    if reply.status().is_client_error() && !has_cache_control {
        let text = match span.as_secs() {
            0 => "no-store".to_owned(),
            seconds => format!("max-age={seconds}"),
        };
        set_cache_control(reply, &text);
    }
}

/// Adds the operator's headers. Headers that the reply already has stay as they are.
pub(crate) fn add_headers(reply: &mut Reply, additional: &HeaderMap) {
    for (name, value) in additional {
        reply
            .headers_mut()
            .entry(name)
            .or_insert_with(|| value.clone());
    }
}

/// Turns the reply into one with status 412, for a client that requires the source to be in another state.
pub(crate) fn precondition_failed(reply: &mut Reply) {
    *reply.status_mut() = StatusCode::PRECONDITION_FAILED;
    *reply.body_mut() = Body::default();
    let headers = reply.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    set(headers, header::CACHE_CONTROL, "no-store");
}

fn with_type(status: StatusCode, body: impl Into<Body>, media_type: &str) -> Reply {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    set_media_type(headers, media_type);
    reply
}

/// Sets `Content-Type` and `X-Content-Type-Options`, so that browsers do not interpret the body as another type, and
/// for SVG images `Content-Security-Policy`, so that browsers run no scripts in them.
pub(crate) fn set_media_type(headers: &mut HeaderMap, media_type: &str) {
    set(headers, header::CONTENT_TYPE, media_type);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if media_type == "image/svg+xml" {
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(SVG_POLICY),
        );
    }
}

/// The `Content-Security-Policy` of SVG images. An SVG that is opened as a page of its own could run scripts as this
/// site, so it may draw and nothing else.
const SVG_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox";

fn set_validators(reply: &mut Reply, validators: &Validators) {
    set(reply.headers_mut(), header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        let modified = httpdate::fmt_http_date(modified);
        set(reply.headers_mut(), header::LAST_MODIFIED, &modified);
    }
}

const NOTE: HeaderName = HeaderName::from_static("andon-note");

/// Maximum number of notes in a reply: more would not be read, and the size of a response head is limited.
const MOST_NOTES: usize = 8;

/// Sets a header. A value that is not allowed in a header is left out, rather than failing the reply.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
