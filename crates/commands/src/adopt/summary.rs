//! Writes the result of `andon adopt` as text.

use std::fmt::Write;

use super::outcome::{Count, Outcome, Sorted, Unread};
use super::prices::{Price, Usage};
use super::{prices, proxy};
use crate::shadow::summary::{self, counted};

/// Maximum number of unrecognised URLs that are listed.
pub(super) const LISTED: usize = 40;

pub(super) fn text(outcome: &Outcome<'_>) -> String {
    let mut text = recognition(outcome);
    text += &unread_text(outcome);
    text += "\nReplayed\n";
    text += &indented(&summary::text(&outcome.report));
    text.push('\n');
    text += &measurement_table(outcome);
    text.push('\n');
    text += &costs(outcome);
    text += "\nTo switch\n";
    text += &indented(&to_switch(outcome));
    let status = match outcome.is_written {
        true => "written",
        false => "as it was",
    };
    let _ = writeln!(
        text,
        "\nconfiguration  {} ({status})\npage           {}\n\n{}",
        outcome.file.display(),
        outcome.page.display(),
        outcome.verdict()
    );
    text
}

fn recognition(outcome: &Outcome<'_>) -> String {
    let sorted = &outcome.sorted;
    let mut text = String::from("Recognised\n");
    for group in &sorted.groups {
        let _ = writeln!(
            text,
            "  {:<16}{:<28}{:>7} URLs {:>9} requests",
            group.name, group.place, group.urls, group.requests
        );
    }
    for line in shares(sorted) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Returns one sentence on the share of image URLs that are recognised, and one on each other category.
pub(super) fn shares(sorted: &Sorted) -> Vec<String> {
    let percent = (sorted.share() * 1e4).floor() / 1e2;
    let all = counted(sorted.images() as u64, "image URL");
    let mut lines = vec![format!("{percent:.2} % of {all}")];
    let others = [
        (
            sorted.sealed,
            "their sources are encrypted, so that they can be tried with the key only",
        ),
        (
            sorted.compared,
            "files as they are, which the configuration answers",
        ),
        (
            sorted.files,
            "files as they are, which may stay with the old server",
        ),
        (sorted.pages, "no images"),
    ];
    let others = others.iter().filter(|(count, _)| count.urls > 0);
    lines.extend(others.map(|(Count { urls, requests }, what)| {
        let urls = counted(*urls as u64, "URL");
        format!("{urls}, {}: {what}", counted(*requests, "request"))
    }));
    lines
}

/// Returns the lists of unrecognised URLs, with the reasons.
fn unread_text(outcome: &Outcome<'_>) -> String {
    let sorted = &outcome.sorted;
    let mut text = String::new();
    for (title, list) in unread_lists(sorted) {
        let _ = writeln!(text, "\n{title}");
        let items = &list[..list.len().min(LISTED)];
        for alike in items.chunk_by(|a, b| a.why == b.why) {
            for unread in alike {
                let requests = counted(unread.requests, "request");
                let _ = writeln!(text, "  {} ({requests})", unread.target);
            }
            let _ = writeln!(text, "      {}", alike[0].why);
        }
        if list.len() > LISTED {
            let _ = writeln!(text, "  and {} more", list.len() - LISTED);
        }
    }
    if !sorted.unasked.is_empty() {
        let _ = writeln!(
            text,
            "\nNot known to be images or not, as the old server was not asked (--ask): {}, such as {}",
            counted(sorted.unasked.len() as u64, "URL"),
            sorted.unasked[0].0
        );
    }
    text
}

/// Returns the non-empty lists of unrecognised URLs, each with its title.
pub(super) fn unread_lists(sorted: &Sorted) -> impl Iterator<Item = (&'static str, &[Unread])> {
    let lists = [
        ("Not recognised", &*sorted.unread),
        (
            "Not recognised: the old server may resize these",
            &sorted.sized,
        ),
    ];
    lists.into_iter().filter(|(_, list)| !list.is_empty())
}

/// Returns the nginx configuration for the switch to the new server, or what to do instead, and the dialects that
/// answer unsigned URLs.
pub(super) fn to_switch(outcome: &Outcome<'_>) -> String {
    let mut text = lines_to_switch(outcome);
    if !outcome.unsigned.is_empty() {
        let _ = writeln!(
            text,
            "Answered without a signature: {}. Whoever reaches the server can ask it for any size; docs/signing.md\n\
             says how to sign URLs, and [permitted] which images unsigned ones may ask for.",
            outcome.unsigned.join(", ")
        );
    }
    text
}

fn lines_to_switch(outcome: &Outcome<'_>) -> String {
    let mut text = String::new();
    if !outcome.entries.is_empty() || !outcome.rules.is_empty() {
        text += &proxy::nginx(&outcome.entries, &outcome.rules, &outcome.address);
    }
    let which = match (text.is_empty(), outcome.others) {
        (false, 0) => return text,
        (false, _) => "The others",
        (true, _) => "All recognised URLs",
    };
    let file = outcome.file.display();
    text += &match outcome.sorted.read.urls + outcome.sorted.compared.urls {
        0 => format!("Nothing moves: {file} answers no URL of the log.\n"),
        _ => format!(
            "{which} are those of the configuration: let the locations that answer them today\n\
             pass them on to Andon (proxy_pass {}).\n",
            outcome.address
        ),
    };
    text
}

fn measurement_table(outcome: &Outcome<'_>) -> String {
    let mut text = format!(
        "{:<28}{:>12}{:>12}{:>12}\n",
        "Measured", "old", "new", "new again"
    );
    for [name, old, new, repeat] in measurements(outcome) {
        let line = format!("  {name:<26}{old:>12}{new:>12}{repeat:>12}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for note in measuring_notes(outcome) {
        let _ = writeln!(text, "  {note}");
    }
    text
}

/// Returns rows with response times, bytes and processor time: a label, and the values of the old server, of the new
/// server, and of the new server on the second request.
pub(super) fn measurements(outcome: &Outcome<'_>) -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    for (name, share) in [("p50, ms", 0.5), ("p99, ms", 0.99)] {
        let [old, new, repeat] = outcome.seconds_at(share).map(milliseconds);
        rows.push([name.to_owned(), old, new, repeat]);
    }
    let [old, new] = outcome.bytes().map(|bytes| match bytes > 0.0 {
        true => format!("{:.1}", bytes / 1e3),
        false => UNKNOWN.to_owned(),
    });
    let name = "bytes together, kB".to_owned();
    rows.push([name, old, new, String::new()]);
    let images = outcome.report.rows.len().max(1) as f64;
    let each = |seconds: Option<f64>| milliseconds(seconds.map(|seconds| seconds / images));
    let [old, new] = [outcome.processor.old, outcome.processor.new].map(each);
    rows.push([
        "processor time, ms a URL".to_owned(),
        old,
        new,
        String::new(),
    ]);
    rows
}

/// Returns notes that explain the measurements, one line each.
pub(super) fn measuring_notes(outcome: &Outcome<'_>) -> Vec<&'static str> {
    let cache_note = "The new server made every image; the old one may have had it in a cache. \"Again\" is from the new server's cache.";
    let unknown = "The old server's processor time is known if --old-pid names its process, and that runs here.";
    let accept = "No Accept header was sent, so that only formats that URLs name were compared: -H 'Accept: image/avif,image/webp,*/*' asks as browsers do.";
    let is_unknown = outcome.processor.old.is_none();
    let is_accept = |header: &String| header.to_ascii_lowercase().starts_with("accept:");
    let has_accept = outcome.report.args.header.iter().any(is_accept);
    std::iter::once(cache_note)
        .chain(is_unknown.then_some(unknown))
        .chain((!has_accept).then_some(accept))
        .collect()
}

/// Shown for a value that was not measured.
const UNKNOWN: &str = "unknown";

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or(UNKNOWN.to_owned(), |seconds| {
        format!("{:.1}", seconds * 1e3)
    })
}

fn costs(outcome: &Outcome<'_>) -> String {
    let usage = outcome.usage();
    let mut text = format!("{}\n  {}\n", month(&usage), rate(outcome));
    for price in prices::ALL {
        let _ = writeln!(
            text,
            "  {:<20}{:>22}  {}\n{:44}{}",
            price.service,
            cost(price, &usage),
            price.terms,
            "",
            price.source
        );
    }
    text
}

/// Describes the usage of a service in a month.
pub(super) fn month(usage: &Usage) -> String {
    format!(
        "A month at public prices, as read on {}: {:.0} distinct images made once, {:.0} requests, {:.2} GB sent",
        prices::READ,
        usage.made,
        usage.sent,
        usage.sent_bytes / 1e9
    )
}

/// Describes how a month's requests were extrapolated from those of the log.
pub(super) fn rate(outcome: &Outcome<'_>) -> &'static str {
    match outcome.months() == 1.0 {
        true => "(the log's requests, as it spans less than an hour)",
        false => {
            "(the log's requests at their rate for 30.4 days; images that appear later are not counted)"
        }
    }
}

/// Returns the dollars that a service would charge, as text.
pub(super) fn cost(price: &Price, usage: &Usage) -> String {
    match (price.cost)(usage) {
        None => "by contract".to_owned(),
        Some((low, high)) if format!("{low:.2}") == format!("{high:.2}") => format!("${low:.2}"),
        Some((low, high)) => format!("${low:.2} to ${high:.2}"),
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("  {line}\n"),
    });
    lines.collect()
}
