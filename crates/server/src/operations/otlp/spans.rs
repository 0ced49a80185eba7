//! Spans of a request: one for the server, and below it one for each stage.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::values::{nanoseconds, natural, text};
use crate::operations::entry::Entry;
use crate::trace::{Trace, new_span};

/// Returns the spans of a request in this trace. Only the durations of its stages are known, so they are placed one
/// after the other.
pub(super) fn of(entry: &Entry, trace: &Trace) -> Vec<Value> {
    let mut server = span(trace, trace.span(), trace.parent(), entry.time, entry.total);
    server["name"] = json!(entry.method.as_str());
    server["kind"] = json!(SERVER);
    server["attributes"] = json!(attributes(entry));
    if entry.status.is_server_error() {
        server["status"] = json!({ "code": FAILED });
    }
    let mut spans = vec![server];
    let mut begins = entry.time;
    for (name, time) in &entry.stages {
        let mut stage = span(trace, &new_span(), trace.span(), begins, *time);
        stage["name"] = json!(name);
        stage["kind"] = json!(INTERNAL);
        spans.push(stage);
        begins += *time;
    }
    spans
}

fn span(trace: &Trace, id: &str, parent: &str, begins: SystemTime, time: Duration) -> Value {
    json!({
        "traceId": trace.id(),
        "spanId": id,
        "parentSpanId": parent,
        "startTimeUnixNano": nanoseconds(begins),
        "endTimeUnixNano": nanoseconds(begins + time),
    })
}

/// Returns the attributes of a request, named by OpenTelemetry's conventions for HTTP or by our own.
pub(super) fn attributes(entry: &Entry) -> Vec<Value> {
    let mut attributes = vec![
        text("http.request.method", entry.method.as_str()),
        text("url.path", &entry.shortened_target()),
        natural("http.response.status_code", entry.status.as_u16().into()),
        natural("http.response.body.size", entry.bytes),
    ];
    if let Some(client) = entry.client {
        attributes.push(text("client.address", &client.to_string()));
    }
    if let Some((label, ..)) = &entry.error {
        attributes.push(text("error.type", label));
    }
    if let Some(recipe) = &entry.recipe {
        attributes.push(text("andon.recipe", recipe));
    }
    attributes
}

/// Returns the OTLP message that holds these spans.
pub(super) fn message(resource: &Value, spans: Vec<Value>) -> Value {
    json!({
        "resourceSpans": [{
            "resource": resource,
            "scopeSpans": [{ "scope": super::values::scope(), "spans": spans }],
        }],
    })
}

/// OTLP kind of a span for an internal operation, here a stage of the answer to a request.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;

/// OTLP status code of a span that failed.
const FAILED: u8 = 2;
