//! Log records: the server's own log lines, which are `tracing` events, and, if `otlp.access_log` is set, one record
//! for each request.

use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::outbox::Outbox;
use super::spans;
use super::values::{double, integer, nanoseconds, natural, scope, text};
use crate::operations::entry::Entry;
use crate::trace::{self, Trace};

/// The queues that events of this process are put into: one for each running server that exports its log. Nothing is
/// logged while they are locked, because that would lock them again.
static QUEUES: RwLock<Vec<Arc<Outbox>>> = RwLock::new(Vec::new());

/// Puts the events of this process into a queue from now on.
pub(super) fn attach(queue: &Arc<Outbox>) {
    let mut queues = QUEUES.write().unwrap_or_else(PoisonError::into_inner);
    queues.push(queue.clone());
}

/// Puts no further events into a queue.
pub(super) fn detach(queue: &Arc<Outbox>) {
    let mut queues = QUEUES.write().unwrap_or_else(PoisonError::into_inner);
    queues.retain(|entry| !Arc::ptr_eq(entry, queue));
}

/// A layer of `tracing` that puts each event into the queues of the exporters as a log record.
pub(crate) struct Events;

impl<S: Subscriber> Layer<S> for Events {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let queues = || QUEUES.read().unwrap_or_else(PoisonError::into_inner);
        if queues().is_empty() {
            return;
        }
        // Formatting a field may run any code, which may log, so no lock is held meanwhile.
        let record = of_event(event);
        for queue in &*queues() {
            queue.push(vec![record.clone()], 1);
        }
    }
}

fn of_event(event: &Event<'_>) -> Value {
    let meta = event.metadata();
    let mut fields = Fields {
        message: String::new(),
        attributes: vec![text("target", meta.target())],
    };
    event.record(&mut fields);
    let (number, level) = severity(*meta.level());
    let mut record = record(SystemTime::now(), (number, level), &fields.message);
    record["attributes"] = json!(fields.attributes);
    if let Some(trace) = trace::current() {
        belong_to(&mut record, &trace);
    }
    record
}

/// Returns the log record of a request: its line of the access log as text, and the values of the line as attributes.
pub(super) fn of_request(entry: &Entry) -> Value {
    let line = entry.text();
    let mut record = record(entry.time, severity(Level::INFO), line.trim_end());
    let mut attributes = spans::attributes(entry);
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    attributes.push(double("andon.total_ms", millis(entry.total)));
    for (stage, time) in &entry.stages {
        attributes.push(double(&format!("andon.stages_ms.{stage}"), millis(*time)));
    }
    record["attributes"] = json!(attributes);
    if let Some(trace) = &entry.trace {
        belong_to(&mut record, trace);
    }
    record
}

fn record(time: SystemTime, (number, level): (u8, &str), body: &str) -> Value {
    json!({
        "timeUnixNano": nanoseconds(time),
        "observedTimeUnixNano": nanoseconds(SystemTime::now()),
        "severityNumber": number,
        "severityText": level,
        "body": { "stringValue": shorten(body) },
    })
}

fn belong_to(record: &mut Value, trace: &Trace) {
    record["traceId"] = json!(trace.id());
    record["spanId"] = json!(trace.span());
    record["flags"] = json!(u8::from(trace.is_sampled()));
}

/// Returns the number and the name of a level. The numbers are those of OTLP's specification.
fn severity(level: Level) -> (u8, &'static str) {
    let number = match level {
        Level::TRACE => 1,
        Level::DEBUG => 5,
        Level::INFO => 9,
        Level::WARN => 13,
        Level::ERROR => 17,
    };
    (number, level.as_str())
}

/// The fields of an event.
struct Fields {
    message: String,
    attributes: Vec<Value>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.attributes.push(text(name, &shorten(value))),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.attributes.push(integer(field.name(), value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.attributes.push(natural(field.name(), value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.attributes.push(double(field.name(), value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        let attribute = json!({ "key": field.name(), "value": { "boolValue": value } });
        self.attributes.push(attribute);
    }
}

/// Cuts a text to `LONGEST_TEXT` characters: thousands of records may wait in memory.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the OTLP message that holds these records.
pub(super) fn message(resource: &Value, records: Vec<Value>) -> Value {
    json!({
        "resourceLogs": [{
            "resource": resource,
            "scopeLogs": [{ "scope": scope(), "logRecords": records }],
        }],
    })
}

/// Maximum number of characters of a text in a record: more than a line of the access log has.
const LONGEST_TEXT: usize = 4096;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    /// A layer of `tracing` that collects the log records of all events, for a test to examine.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<Value>>>);

    impl<S: Subscriber> Layer<S> for Kept {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.0.lock().unwrap().push(of_event(event));
        }
    }

    #[tokio::test]
    async fn an_event_is_a_record_with_its_fields_and_trace() {
        let kept = Kept::default();
        let log = tracing_subscriber::registry().with(kept.clone());
        let guard = tracing::subscriber::set_default(log);
        let trace = Trace::of_value(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let span = trace.as_ref().unwrap().span().to_owned();
        trace::within(trace, async {
            let error = "disk\nfull";
            tracing::warn!(count = 3u64, %error, share = 0.5, ready = true, below = -1i64, "it {}", "failed");
        })
        .await;
        tracing::debug!(huge = u64::MAX, nan = f64::NAN, "{}", "x".repeat(9000));
        drop(guard);
        let records = kept.0.lock().unwrap().clone();
        let [warning, long] = &records[..] else {
            panic!("{records:?}");
        };
        assert_eq!(warning["severityNumber"], 13);
        assert_eq!(warning["body"]["stringValue"], "it failed");
        assert_eq!(warning["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(
            (&warning["spanId"], &warning["flags"]),
            (&span.into(), &1.into())
        );
        let attribute = |record: &Value, key: &str| {
            let all = record["attributes"].as_array().unwrap();
            all.iter().find(|it| it["key"] == key).unwrap()["value"].clone()
        };
        for (key, value) in [
            ("count", json!({ "intValue": "3" })),
            ("error", json!({ "stringValue": "disk\nfull" })),
            ("share", json!({ "doubleValue": 0.5 })),
            ("ready", json!({ "boolValue": true })),
            ("below", json!({ "intValue": "-1" })),
            ("target", json!({ "stringValue": module_path!() })),
        ] {
            assert_eq!(attribute(warning, key), value, "{key}");
        }
        assert_eq!(long["severityText"], "DEBUG");
        assert!(long.get("traceId").is_none());
        let body = long["body"]["stringValue"].as_str().unwrap();
        assert_eq!(body.chars().count(), LONGEST_TEXT + 1);
        let huge = json!({ "stringValue": u64::MAX.to_string() });
        assert_eq!(attribute(long, "huge"), huge);
        assert_eq!(attribute(long, "nan"), json!({ "stringValue": "NaN" }));
    }
}
