//! Writes the comparison of two servers as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use andon_client::{median, quantile};

use super::compare::Kind;
use super::tolerance::largest_difference;
use super::{Report, Row};

/// Number of URLs and requests with a kind of difference, and the first example.
#[derive(Default)]
struct Counted<'a> {
    urls: usize,
    requests: u64,
    example: &'a str,
}

pub(crate) fn text(report: &Report<'_>) -> String {
    let mut text = head(report);
    let (differ, same) = counts(report);
    for (title, kinds) in [("Differences", differ), ("Not counted", same)] {
        if kinds.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "\n{title:<28}{:>7} {:>9}  such as, old and new",
            "URLs", "requests"
        );
        for (kind, count) in kinds {
            let Counted {
                urls,
                requests,
                example,
            } = count;
            let share = share(requests, report.requests);
            let _ = writeln!(text, "  {:<26}{urls:>7} {share:>9}  {example}", kind.name());
        }
    }
    text += &rounding(report);
    text += &redirects(report);
    let notes = notes(report);
    if !notes.is_empty() {
        text += "\nNotes of the new server\n";
    }
    for (note, (urls, example)) in notes {
        let of = counted(urls as u64, "URL");
        let _ = writeln!(text, "  {note}\n      {of}, such as {example}");
    }
    let mut rows = report.differing();
    let worst: Vec<&Row> = rows.by_ref().take(report.args.show).collect();
    if !worst.is_empty() {
        text += "\nThe worst\n";
    }
    for row in worst {
        let _ = writeln!(text, "  {}\n      {}", row.target, differences(row));
    }
    match rows.count() {
        0 => {}
        more => {
            _ = writeln!(
                text,
                "  and {more} more; --show {} lists them",
                report.args.show + more
            )
        }
    }
    let _ = writeln!(text, "\n{}", verdict(report));
    text
}

/// Returns a number with the noun in singular or plural.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

/// Returns a hint on the option that tolerates rounding differences; empty if there are no such differences.
fn rounding(report: &Report<'_>) -> String {
    let differ = report.differing().filter(|row| {
        let all = &row.compared.differences;
        all.iter().any(|it| it.kind == Kind::Size)
    });
    let sizes = differ.filter_map(|row| row.compared.sizes);
    let near = sizes.filter(|sizes| largest_difference(*sizes) == 1);
    let (urls, are) = match near.count() {
        0 => return String::new(),
        1 => (1, "is"),
        more => (more, "are"),
    };
    format!(
        "  The size of {} {are} 1 px apart, as servers round in their own ways; --size-tolerance 1 compares such images at one size\n",
        counted(urls as u64, "URL")
    )
}

/// Returns a hint on which address to use for the old server, if it redirects most of the URLs to one site; empty
/// otherwise.
fn redirects(report: &Report<'_>) -> String {
    let mut sites: BTreeMap<&str, usize> = BTreeMap::new();
    for site in report
        .rows
        .iter()
        .filter_map(|row| row.compared.moved_to.as_deref())
    {
        *sites.entry(site).or_default() += 1;
    }
    match sites.into_iter().max_by_key(|(_, urls)| *urls) {
        Some((site, urls)) if 2 * urls > report.rows.len() => format!(
            "  the old server redirects {urls} of the URLs to {site}: name that as the old server, or its address there with -H 'Host: NAME'\n"
        ),
        _ => String::new(),
    }
}

/// Returns the new server's notes on what it has omitted or done differently, each with the number of URLs and one of
/// them.
pub(crate) fn notes<'a>(report: &'a Report<'_>) -> BTreeMap<&'a str, (usize, &'a str)> {
    let mut all = BTreeMap::new();
    for row in &report.rows {
        for note in &row.compared.notes {
            let (urls, _) = all.entry(&**note).or_insert((0, &*row.target));
            *urls += 1;
        }
    }
    all
}

/// Describes what was compared, how similar the images are, and how large the bodies are.
pub(crate) fn head(report: &Report<'_>) -> String {
    let mut text = format!(
        "old  {}\nnew  {}\n{} distinct URLs of {} requests were compared\n",
        report.args.old,
        report.args.new,
        report.rows.len(),
        report.requests
    );
    for (why, count) in &report.left_out {
        let _ = writeln!(text, "{count} requests left out: {why}");
    }
    let same = report
        .rows
        .iter()
        .filter(|row| row.compared.same_bytes)
        .count();
    let ssims: Vec<f64> = report
        .rows
        .iter()
        .filter_map(|row| row.compared.ssim)
        .collect();
    if same > 0 {
        let _ = writeln!(text, "{same} are the same to the byte");
    }
    if let (Some(median), Some(least)) = (median(&ssims), quantile(&ssims, 0.0)) {
        let _ = writeln!(
            text,
            "{} are other files of images of the same size{}: SSIM {median:.4} (median), {least:.4} (least)",
            ssims.len(),
            match report.args.tolerance.size_tolerance {
                0 => String::new(),
                px => format!(", within {px} px"),
            }
        );
    }
    let both: Vec<[f64; 2]> = report
        .rows
        .iter()
        .filter_map(|row| row.compared.bytes)
        .map(|bytes| bytes.map(|count| count as f64))
        .collect();
    let ratios: Vec<f64> = both
        .iter()
        .filter(|[old, _]| *old > 0.0)
        .map(|[old, new]| new / old)
        .collect();
    if let (Some(median), Some(low), Some(high)) = (
        median(&ratios),
        quantile(&ratios, 0.1),
        quantile(&ratios, 0.9),
    ) {
        let sum = |which: usize| both.iter().map(|pair| pair[which]).sum::<f64>() / 1e3;
        let _ = writeln!(
            text,
            "bytes, new / old: {median:.2} (median), {low:.2} to {high:.2} (from 10 to 90 %); together {:.1} and {:.1} kB",
            sum(0),
            sum(1)
        );
    }
    text
}

/// Returns the result of the comparison in one line.
pub(crate) fn verdict(report: &Report<'_>) -> String {
    let urls = report.differing().count();
    let requests = report.differing().map(|row| row.count).sum();
    match urls {
        0 => format!(
            "No reply differs (SSIM at least {}).",
            report.args.tolerance.ssim
        ),
        urls => format!(
            "{urls} of {} URLs differ, {} of the requests.",
            report.rows.len(),
            share(requests, report.requests)
        ),
    }
}

/// Describes all differences of a URL in one line.
pub(crate) fn differences(row: &Row) -> String {
    let texts = row.compared.differences.iter();
    let texts: Vec<String> = texts
        .map(|it| format!("{}: {}", it.kind.name(), it.what))
        .collect();
    texts.join("; ")
}

/// Counts URLs and requests by kind of difference. Returns the kinds that clients would notice, and the others.
fn counts<'a>(
    report: &'a Report<'_>,
) -> (BTreeMap<Kind, Counted<'a>>, BTreeMap<Kind, Counted<'a>>) {
    let mut kinds: BTreeMap<Kind, Counted<'a>> = BTreeMap::new();
    for row in &report.rows {
        for difference in &row.compared.differences {
            let count = kinds.entry(difference.kind).or_default();
            count.urls += 1;
            count.requests += row.count;
            if count.example.is_empty() {
                count.example = &difference.what;
            }
        }
    }
    kinds.into_iter().partition(|(kind, _)| kind.matters())
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 / whole.max(1) as f64 * 100.0)
}
