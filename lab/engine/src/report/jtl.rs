//! JMeter's own file formats: a JTL for its listeners, and the CSV that its aggregate report saves.
//!
//! The JTL contains an evenly taken *sample* of the replies (the one of the scatter figure), since not every reply is
//! recorded. Its `responseMessage` tells how many replies each entry stands for, and means and quantiles derived from
//! it are estimates. The aggregate is computed from the histograms of all replies.

use super::csv::line;
use super::input::window_start;
use super::jmeter::Line;
use super::{Format, ReportInput};
use crate::record::{Block, Point};

pub(super) const SAMPLE: Format = Format {
    name: "jtl",
    file: "sample.jtl",
    about: "JMeter JTL (CSV) of a sample of the replies",
    print: |input| Ok(sample(input).into_bytes()),
};

pub(super) const AGGREGATE: Format = Format {
    name: "jtl-aggregate",
    file: "aggregate.csv",
    about: "JMeter's aggregate report as CSV, from all replies",
    print: |input| Ok(aggregate(input).into_bytes()),
};

const SAMPLE_HEADS: [&str; 15] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "Connect",
];

fn sample(input: &ReportInput<'_>) -> String {
    let began = unix_milliseconds(&input.run.header.started).unwrap_or(0);
    let mut out = line(SAMPLE_HEADS.iter().map(|&head| head.to_owned()));
    for block in input.run.blocks.iter().filter(|it| it.failure.is_none()) {
        let Some(start) = window_start(block) else {
            continue;
        };
        for point in &block.load.points {
            let sent = (start + point.at - point.latency) * 1e3;
            out += &reply(input, block, point, began + sent as i64);
        }
    }
    out
}

fn reply(input: &ReportInput<'_>, block: &Block, point: &Point, time: i64) -> String {
    let load = &block.load;
    let url = load.urls.get(point.url as usize);
    let path = url.map_or("", |it| it.url.as_str());
    let bytes = url
        .filter(|it| it.completed > 0)
        .map_or(0, |it| it.bytes_body / it.completed);
    let replies = load.completed + load.failures.all();
    let stands_for = replies.div_ceil((load.points.len() as u64).max(1));
    let elapsed = (point.latency * 1e3).round();
    let threads = load.connections.to_string();
    let status = input.run.header.scenario.check.status;
    let fields = [
        time.to_string(),
        elapsed.to_string(),
        format!("{} {path}", input.name(block)),
        // The sample of replies does not contain the status of failed ones.
        if point.good {
            status.to_string()
        } else {
            String::new()
        },
        format!("sampled: 1 of {stands_for}"),
        format!("block {}", block.index),
        "bin".to_owned(),
        point.good.to_string(),
        if point.good {
            String::new()
        } else {
            "not as expected".to_owned()
        },
        bytes.to_string(),
        threads.clone(),
        threads,
        path.to_owned(),
        elapsed.to_string(),
        "0".to_owned(),
    ];
    line(fields.into_iter())
}

const AGGREGATE_HEADS: [&str; 13] = [
    "Label",
    "# Samples",
    "Average",
    "Median",
    "90% Line",
    "95% Line",
    "99% Line",
    "Min",
    "Maximum",
    "Error %",
    "Throughput",
    "Received KB/sec",
    "Std. Dev.",
];

fn aggregate(input: &ReportInput<'_>) -> String {
    let mut out = line(AGGREGATE_HEADS.iter().map(|&head| head.to_owned()));
    for summary in input.variants() {
        let urls = Line::urls(summary).filter(|_| summary.urls.len() > 1);
        for it in urls.chain([Line::all(summary)]) {
            let times = it.times;
            let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
            let mut fields = vec![it.label.clone(), it.samples().to_string(), ms(times.mean())];
            fields.extend([0.50, 0.90, 0.95, 0.99].map(|share| ms(times.quantile(share))));
            fields.extend([ms(times.min()), ms(times.max())]);
            fields.push(format!("{:.3}%", it.errors().unwrap_or(0.0) * 100.0));
            let per_second = |count: f64| format!("{:.3}", it.per_second(count).unwrap_or(0.0));
            fields.push(per_second(it.samples() as f64));
            fields.push(per_second(it.bytes as f64 / 1024.0));
            fields.push(ms(times.deviation()));
            out += &line(fields.into_iter());
        }
    }
    out
}

/// Converts a UTC time such as `2015-03-13T00:00:00Z` to milliseconds since 1970.
pub(super) fn unix_milliseconds(rfc3339: &str) -> Option<i64> {
    let (date, time) = rfc3339.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char| -> Option<[i64; 3]> {
        let all: Vec<i64> = text
            .split(by)
            .map(|it| it.parse().ok())
            .collect::<Option<_>>()?;
        all.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    // Years are counted from March, so that the leap day is the last day of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let seconds = (days - DAYS_TO_1970) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * 1000)
}

/// Days from 1 March of year 0 to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_1970() {
        assert_eq!(unix_milliseconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            unix_milliseconds("2015-03-13T12:30:05Z"),
            Some(1_426_249_805_000)
        );
        assert_eq!(
            unix_milliseconds("2024-02-29T00:00:00Z"),
            Some(1_709_164_800_000)
        );
        assert_eq!(unix_milliseconds("yesterday"), None);
        assert_eq!(unix_milliseconds("2015-99-13T12:30:05Z"), None);
    }
}
