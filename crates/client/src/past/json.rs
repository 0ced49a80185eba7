//! Parses log lines in JSON: those of Andon; the default formats of Caddy, Traefik, the load balancers of Google and
//! Azure, Cloudflare, Fastly, CloudFront and imgproxy; nginx with keys named after its variables; the Elastic Common
//! Schema; and text lines that a container runtime has wrapped in JSON.

use serde_json::Value;

use super::line::{Entry, day, rfc_3339, zoned};
use super::w3c;

/// JSON pointers to the method; the first one that matches is used.
const METHOD: [&str; 10] = [
    "/method",
    "/request/method",
    "/RequestMethod",
    "/request_method",
    "/ClientRequestMethod",
    "/httpRequest/requestMethod",
    "/http/request/method",
    "/http.request.method",
    "/http_method",
    "/properties/httpMethod",
];

/// JSON pointers to the request target (path and query) or the absolute URL; the first one that matches is used.
const TARGET: [&str; 12] = [
    "/target",
    "/request/uri",
    "/RequestPath",
    "/request_uri",
    "/ClientRequestURI",
    "/httpRequest/requestUrl",
    "/url/original",
    "/url.original",
    "/url",
    "/uri",
    "/path",
    "/properties/requestUri",
];

/// JSON pointers to the query string, for log formats that record it apart from the path.
const QUERY: [&str; 4] = ["/args", "/query_string", "/query", "/url/query"];

/// JSON pointers to the status; the first one that matches is used.
const STATUS: [&str; 10] = [
    "/status",
    "/DownstreamStatus",
    "/EdgeResponseStatus",
    "/httpRequest/status",
    "/http/response/status_code",
    "/http.response.status_code",
    "/response_status",
    "/status_code",
    "/statusCode",
    "/properties/httpStatusCode",
];

/// JSON pointers to the time of a request; the first one that matches is used.
const TIME: [&str; 10] = [
    "/time",
    "/StartUTC",
    "/time_iso8601",
    "/time_local",
    "/timestamp",
    "/@timestamp",
    "/ts",
    "/msec",
    "/EdgeStartTimestamp",
    "/date",
];

/// Parses a line of JSON. If it is a text line that a container runtime has wrapped in JSON, `text` parses that. The
/// time of Andon's own lines is the end of the response, so their duration (`total_ms`) is subtracted from it.
pub(super) fn parse(line: &str, text: impl Fn(&str) -> Option<Entry>) -> Option<Entry> {
    let line: Value = serde_json::from_str(line).ok()?;
    if line.get("cs-uri-stem").is_some() {
        return w3c::entry(|name| line.get(name)?.as_str());
    }
    let wrapped = line.get("log").and_then(Value::as_str);
    if let Some(inner) = wrapped {
        return text(inner.trim_end());
    }
    let words = |keys: &[&str]| keys.iter().find_map(|key| line.pointer(key)?.as_str());
    // nginx writes numbers as strings, too.
    let number = |keys: &[&str]| {
        keys.iter().find_map(|key| match line.pointer(key)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_f64(),
        })
    };
    let first_line = |word| words(&["/request"])?.split(' ').nth(word);
    // In the examples of Apache's documentation `request` is only the path.
    let path_only = || words(&["/request"]).filter(|request| request.starts_with('/'));
    let method = words(&METHOD).or_else(|| first_line(0))?;
    // imgproxy's message ends with the path.
    let path_in_message = || {
        words(&["/message", "/msg"])?
            .rsplit(' ')
            .find(|word| word.starts_with('/'))
    };
    let target = words(&TARGET)
        .or_else(|| first_line(1))
        .or_else(path_only)
        .or_else(path_in_message)?;
    let query = words(&QUERY).filter(|query| !query.is_empty() && !target.contains('?'));
    let moment = TIME.iter().find_map(|key| moment(line.pointer(key)?))?;
    let took = number(&["/total_ms"]).map(|took| took / 1e3);
    Some(Entry {
        began: moment - took.unwrap_or_default(),
        whole_second: moment.fract() == 0.0 && took.is_none(),
        method: method.to_owned(),
        target: match query {
            Some(query) => format!("{target}?{}", query.trim_start_matches('?')),
            None => target.to_owned(),
        },
        status: number(&STATUS)? as u16,
    })
}

/// Returns a time in seconds since 1970. The unit of a number (seconds, milliseconds, microseconds or nanoseconds)
/// follows from its magnitude.
fn moment(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => {
            let date = rfc_3339(text).or_else(|| zoned(text)).or_else(|| day(text));
            match date {
                Some(date) => return Some(date),
                None => text.parse().ok()?,
            }
        }
        value => value.as_f64()?,
    };
    let unit = match number {
        ..1e11 => 1.0,
        ..1e14 => 1e3,
        ..1e17 => 1e6,
        _ => 1e9,
    };
    Some(number / unit)
}
