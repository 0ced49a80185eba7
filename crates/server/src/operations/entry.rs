//! One request, as the access log writes it and the metrics count it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use andon_dialects::ImageRequest;
use hyper::{Method, StatusCode, Uri};
use serde_json::{Map, Value, json};

use crate::error::Fault;
use crate::net::Peer;
use crate::operations::clock::Timestamp;
use crate::trace::Trace;

/// One request, as the access log records it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) time: SystemTime,
    /// The client's address; `None` if it is unknown.
    pub(crate) client: Option<Peer>,
    pub(crate) method: Method,
    pub(crate) target: Uri,
    pub(crate) status: StatusCode,
    /// Length of the reply's body in bytes.
    pub(crate) bytes: u64,
    /// Size in bytes of the source that the result was made from; 0 if it is unknown, and for replies other than results.
    pub(crate) source_bytes: u64,
    /// Time from the request's head to the reply, not including sending it.
    pub(crate) total: Duration,
    /// The time that each stage of the answer took.
    pub(crate) stages: Stages,
    /// The canonical recipe, once it is known.
    pub(crate) recipe: Option<Arc<str>>,
    /// The parsed request. Its notes say what the URL dialect ignored, or may have understood differently than
    /// intended.
    pub(crate) request: Option<Arc<ImageRequest>>,
    /// The error, if there was one: its label, who is at fault, and its text for the log.
    pub(crate) error: Option<(&'static str, &'static str, String)>,
    /// The trace that the request belongs to.
    pub(crate) trace: Option<Arc<Trace>>,
}

/// Names and durations of the stages of one answer. Stages that did not take place are absent.
pub(crate) type Stages = Vec<(&'static str, Duration)>;

impl Entry {
    /// Returns the entry for input that could not be read as a request.
    pub(crate) fn malformed(client: Peer, status: StatusCode, sentence: String) -> Self {
        Self {
            time: SystemTime::now(),
            client: Some(client),
            method: Method::from_bytes(b"-").unwrap_or_default(),
            target: Uri::try_from("-").unwrap_or_default(),
            status,
            bytes: 0,
            source_bytes: 0,
            total: Duration::ZERO,
            stages: Vec::new(),
            recipe: None,
            request: None,
            error: Some(("malformed", Fault::Client.label(), sentence)),
            trace: None,
        }
    }

    /// Returns the client's address, `unix` for a Unix socket, or `-` if the client is unknown.
    fn client(&self) -> String {
        self.client
            .map_or("-".to_owned(), |client| client.to_string())
    }

    fn notes(&self) -> &[String] {
        self.request.as_ref().map_or(&[], |request| &request.notes)
    }

    /// Returns the target, cut to `LONGEST_TARGET` characters, because thousands of lines may wait in memory.
    pub(crate) fn shortened_target(&self) -> String {
        let mut target = self.target.to_string();
        if let Some((end, _)) = target.char_indices().nth(LONGEST_TARGET) {
            target.truncate(end);
            target.push('…');
        }
        target
    }

    pub(super) fn text(&self) -> String {
        let mut line = format!(
            "{} {} {} {} {} {}B {:.1}ms",
            Timestamp(self.time),
            self.client(),
            self.method,
            self.shortened_target().escape_debug(),
            self.status.as_u16(),
            self.bytes,
            millis(self.total),
        );
        // Writing to a String cannot fail.
        for (name, time) in &self.stages {
            let _ = write!(line, " {name}={:.1}", millis(*time));
        }
        if let Some(trace) = &self.trace {
            let _ = write!(line, " trace={} span={}", trace.id(), trace.span());
        }
        if let Some(recipe) = &self.recipe {
            let _ = write!(line, " recipe={}", quote(recipe));
        }
        for note in self.notes() {
            let _ = write!(line, " note={}", quote(note));
        }
        if let Some((label, fault, sentence)) = &self.error {
            let _ = write!(line, " error={label} fault={fault} {}", quote(sentence));
        }
        line.push('\n');
        line
    }

    pub(super) fn json(&self) -> String {
        let stages: Map<String, Value> = self
            .stages
            .iter()
            .map(|(name, time)| ((*name).to_owned(), json!(millis(*time))))
            .collect();
        let mut line = json!({
            "time": Timestamp(self.time).to_string(),
            "client": self.client(),
            "method": self.method.as_str(),
            "target": self.shortened_target(),
            "status": self.status.as_u16(),
            "bytes": self.bytes,
            "total_ms": millis(self.total),
            "stages_ms": stages,
        });
        if let Some(trace) = &self.trace {
            line["trace_id"] = json!(trace.id());
            line["span_id"] = json!(trace.span());
            line["parent_span_id"] = json!(trace.parent());
        }
        if let Some(recipe) = &self.recipe {
            line["recipe"] = json!(**recipe);
        }
        if !self.notes().is_empty() {
            line["notes"] = json!(self.notes());
        }
        if let Some((label, fault, sentence)) = &self.error {
            line["error"] = json!({ "label": label, "fault": fault, "message": sentence });
        }
        format!("{line}\n")
    }
}

/// Puts text into double quotes, with Rust's debug escapes for everything but `'`, so that it can end neither the
/// quotes nor the line.
fn quote(text: &str) -> String {
    let mut output = String::with_capacity(text.len() + 2);
    output.push('"');
    for letter in text.chars() {
        match letter {
            '\'' => output.push(letter),
            _ => output.extend(letter.escape_debug()),
        }
    }
    output.push('"');
    output
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

/// Maximum number of characters of a target that are logged.
const LONGEST_TARGET: usize = 2048;

#[cfg(test)]
mod tests {
    use andon_dialects::Source;

    use super::*;

    fn entry() -> Entry {
        Entry {
            time: SystemTime::UNIX_EPOCH,
            client: Some(Peer::Unix),
            method: Method::GET,
            target: Uri::from_static("/small_light(dw=10)/a.jpg"),
            status: StatusCode::OK,
            bytes: 123,
            source_bytes: 1000,
            total: Duration::from_micros(23_400),
            stages: vec![("fetch", Duration::from_micros(1200))],
            recipe: Some("fit:10x".into()),
            request: Some(Arc::new(ImageRequest {
                notes: vec!["`x` is no option".to_owned()],
                ..ImageRequest::file(Source::from_path("/a.jpg"))
            })),
            error: None,
            trace: None,
        }
    }

    #[test]
    fn a_text_line_reads_from_time_to_notes() {
        assert_eq!(
            entry().text(),
            "1970-01-01T00:00:00.000Z unix GET /small_light(dw=10)/a.jpg 200 123B 23.4ms fetch=1.2 recipe=\"fit:10x\" note=\"`x` is no option\"\n"
        );
    }

    #[test]
    fn a_line_names_its_trace_and_span() {
        let traced = Entry {
            trace: Trace::of_value(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ..entry()
        };
        let span = traced.trace.as_ref().unwrap().span().to_owned();
        let expected = format!(" trace=4bf92f3577b34da6a3ce929d0e0e4736 span={span} recipe=");
        assert!(traced.text().contains(&expected), "{}", traced.text());
        let line: Value = serde_json::from_str(&traced.json()).unwrap();
        assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(line["parent_span_id"], "00f067aa0ba902b7");
        assert_eq!(line["span_id"], *span);
    }

    #[test]
    fn a_request_cannot_forge_a_line() {
        let forged = Entry {
            request: Some(Arc::new(ImageRequest {
                notes: vec!["`\n2026 GET /b` is no option".to_owned()],
                ..ImageRequest::file(Source::from_path("/a.jpg"))
            })),
            recipe: Some("icon:\n2026 GET /c".into()),
            ..entry()
        };
        for line in [forged.text(), forged.json()] {
            assert_eq!(line.matches('\n').count(), 1, "{line}");
        }
    }

    #[test]
    fn a_json_line_is_json() {
        let failed = Entry {
            error: Some(("not_found", "client", "there is no file /\"a\"".to_owned())),
            ..entry()
        };
        let line: Value = serde_json::from_str(&failed.json()).unwrap();
        assert_eq!(line["stages_ms"]["fetch"], 1.2);
        assert_eq!(line["notes"][0], "`x` is no option");
        assert_eq!(line["error"]["label"], "not_found");
    }
}
