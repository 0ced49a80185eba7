//! The values of OTLP in the JSON of protobuf: 64-bit integers are text, and ids hexadecimal digits.

use std::time::SystemTime;

use serde_json::{Value, json};

/// An attribute whose value is a text.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// An attribute whose value is a whole number.
pub(super) fn integer(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

/// An attribute whose value is a whole number. A number that is too large for the signed 64-bit integers of OTLP is a
/// text.
pub(super) fn natural(key: &str, value: u64) -> Value {
    match i64::try_from(value) {
        Ok(value) => integer(key, value),
        Err(_) => text(key, &value.to_string()),
    }
}

/// An attribute whose value is a floating-point number. Infinities and NaN, which JSON numbers cannot express, are
/// text.
pub(super) fn double(key: &str, value: f64) -> Value {
    match value.is_finite() {
        true => json!({ "key": key, "value": { "doubleValue": value } }),
        false => text(key, &value.to_string()),
    }
}

/// Returns nanoseconds since 1970 as text, because JSON numbers cannot express all 64-bit integers exactly.
pub(super) fn nanoseconds(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_nanos().to_string()
}

/// OTLP's instrumentation scope: the name and version of the program that the telemetry is from.
pub(super) fn scope() -> Value {
    json!({ "name": "andon", "version": env!("CARGO_PKG_VERSION") })
}
