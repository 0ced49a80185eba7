//! An HDR histogram log (V2) for HdrHistogram's log processors and plotters. It has one interval per block that counts,
//! tagged with the name of its variant.

use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::input::window_start;
use super::jtl::unix_milliseconds;
use super::{Format, ReportInput};

pub(super) const FORMAT: Format = Format {
    name: "hdr",
    file: "latencies.hlog",
    about: "HDR histogram log, one interval per block that counts",
    print,
};

fn print(input: &ReportInput<'_>) -> Result<Vec<u8>, String> {
    let header = &input.run.header;
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let began = unix_milliseconds(&header.started).and_then(|it| u64::try_from(it).ok());
    let began = SystemTime::UNIX_EPOCH + Duration::from_millis(began.unwrap_or(0));
    let wrong = |error: std::io::Error| error.to_string();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment(&format!(
            "{}: response times in ns, largest in ms",
            header.program
        ))
        .with_start_time(began)
        .with_base_time(began)
        .with_max_value_divisor(1e6);
    let mut log = builder
        .begin_log_with(&mut out, &mut serializer)
        .map_err(wrong)?;
    for block in input.run.blocks.iter().filter(|it| it.counts()) {
        let name = tag(input.name(block));
        let at = seconds(window_start(block).unwrap_or(0.0));
        let length = seconds(block.load.seconds);
        log.write_histogram(block.load.total.histogram(), at, length, Tag::new(&name))
            .map_err(|error| format!("histogram log: {error}"))?;
    }
    drop(log);
    Ok(out)
}

/// Turns a name into a tag. Commas, white space and control characters are not allowed there and become `_`.
fn tag(name: &str) -> String {
    let safe = |c: char| {
        if c == ',' || c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    name.chars().map(safe).collect()
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
