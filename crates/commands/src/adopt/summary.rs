//! The result as text.

use std::fmt::Write;

use super::outcome::{Count, Outcome};
use super::{prices, proxy};
use crate::shadow::summary;

/// Number of URLs that are listed as not recognised.
const LISTED: usize = 40;

pub(super) fn text(outcome: &Outcome<'_>) -> String {
    let mut text = recognised(outcome);
    text += &unread(outcome);
    text += "\nReplayed\n";
    text += &indented(&summary::text(&outcome.report));
    text.push('\n');
    text += &measured(outcome);
    text.push('\n');
    text += &costs(outcome);
    text += "\nTo switch\n";
    text += &indented(&proxy::nginx(&outcome.found));
    let written = match outcome.is_written {
        true => "written",
        false => "as it was",
    };
    let _ = writeln!(
        text,
        "\nconfiguration  {} ({written})\npage           {}\n\n{}",
        outcome.file.display(),
        outcome.page.display(),
        outcome.verdict()
    );
    text
}

pub(super) fn recognised(outcome: &Outcome<'_>) -> String {
    let sorted = &outcome.sorted;
    let mut text = String::from("Recognised\n");
    for group in &sorted.groups {
        let _ = writeln!(
            text,
            "  {:<16}{:<28}{:>7} URLs {:>9} requests",
            group.name, group.place, group.urls, group.requests
        );
    }
    let all = sorted.read.urls + sorted.sealed.urls + sorted.unread.len();
    let _ = writeln!(
        text,
        "  {:.2} % of {all} image URLs",
        (sorted.share() * 1e4).floor() / 1e2
    );
    let mut line = |count: Count, what: &str| {
        if count.urls > 0 {
            let _ = writeln!(
                text,
                "  {} URLs, {} requests: {what}",
                count.urls, count.requests
            );
        }
    };
    line(
        sorted.sealed,
        "their sources are encrypted, so that they can be tried with the key only",
    );
    line(
        sorted.files,
        "files as they are, which may stay with the old server",
    );
    line(sorted.pages, "no images");
    text
}

/// Returns the URLs that are not recognised, with the reasons.
pub(super) fn unread(outcome: &Outcome<'_>) -> String {
    let sorted = &outcome.sorted;
    let mut text = String::new();
    if !sorted.unread.is_empty() {
        text += "\nNot recognised\n";
    }
    for unread in sorted.unread.iter().take(LISTED) {
        let _ = writeln!(
            text,
            "  {}\n      {} requests; {}",
            unread.target, unread.requests, unread.why
        );
    }
    if sorted.unread.len() > LISTED {
        let _ = writeln!(text, "  and {} more", sorted.unread.len() - LISTED);
    }
    if !sorted.unasked.is_empty() {
        let _ = writeln!(
            text,
            "\nNot known to be images or not, as the old server was not asked (--ask): {} URLs, such as {}",
            sorted.unasked.len(),
            sorted.unasked[0].0
        );
    }
    text
}

/// Returns times, bytes and processor time of both servers.
pub(super) fn measured(outcome: &Outcome<'_>) -> String {
    let mut text = format!(
        "{:<28}{:>12}{:>12}{:>12}\n",
        "Measured", "old", "new", "new again"
    );
    for (name, share) in [("p50, ms", 0.5), ("p99, ms", 0.99)] {
        let times = outcome.seconds_at(share).map(milliseconds);
        let _ = writeln!(
            text,
            "  {name:<26}{:>12}{:>12}{:>12}",
            times[0], times[1], times[2]
        );
    }
    let bytes = outcome.bytes().map(|bytes| format!("{:.1}", bytes / 1e3));
    let _ = writeln!(
        text,
        "  {:<26}{:>12}{:>12}",
        "bytes together, kB", bytes[0], bytes[1]
    );
    let images = outcome.report.rows.len().max(1) as f64;
    let each = |seconds: Option<f64>| milliseconds(seconds.map(|seconds| seconds / images));
    let _ = writeln!(
        text,
        "  {:<26}{:>12}{:>12}",
        "processor time, ms a URL",
        each(outcome.processor.old),
        each(outcome.processor.new)
    );
    text += "  The new server made every image; the old one may have had it in a cache. \"Again\" is from the new server's cache.\n";
    if outcome.processor.old.is_none() {
        text += "  The old server's processor time is known if --old-pid names its process, and that runs here.\n";
    }
    text
}

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or("unknown".to_owned(), |seconds| {
        format!("{:.1}", seconds * 1e3)
    })
}

/// Returns what services would cost, by their price lists.
pub(super) fn costs(outcome: &Outcome<'_>) -> String {
    let usage = outcome.usage();
    let mut text = format!(
        "A month at public prices, as read on {}: {:.0} distinct images made once, {:.0} requests, {:.2} GB sent\n",
        prices::READ,
        usage.made,
        usage.sent,
        usage.sent_bytes / 1e9
    );
    text += match outcome.months() == 1.0 {
        true => "  (the log's requests, as it spans less than an hour)\n",
        false => {
            "  (the log's requests at their rate for 30.4 days; images that appear later are not counted)\n"
        }
    };
    for price in prices::ALL {
        let cost = match (price.cost)(&usage) {
            None => "by contract".to_owned(),
            Some((low, high)) if format!("{low:.2}") == format!("{high:.2}") => {
                format!("${low:.2}")
            }
            Some((low, high)) => format!("${low:.2} to ${high:.2}"),
        };
        let _ = writeln!(
            text,
            "  {:<20}{cost:>22}  {}\n{:44}{}",
            price.service, price.terms, "", price.source
        );
    }
    text
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("  {line}\n"),
    });
    lines.collect()
}
