//! The HTML page that holds the figures, verdicts and tables of a report.

use std::fmt::Write as _;

use super::figure::Figure;
use super::{
    boxes, contact, forest, heat, levels, percentiles, scatter, slopes, syscalls, timeline,
};
use crate::record::Purpose;
use crate::report::outcome::Outcome;
use crate::report::{ReportInput, ab, jmeter, result, sar, strace, text, trust};

/// All figures in the order of the page. A figure without data is left out.
const FIGURES: &[fn(&ReportInput<'_>) -> Option<Figure>] = &[
    forest::draw,
    slopes::draw,
    levels::draw,
    percentiles::draw,
    timeline::draw,
    boxes::draw,
    scatter::draw,
    heat::draw,
    syscalls::draw,
    contact::draw,
];

const STYLE: &str = include_str!("style.css");

/// Returns the whole HTML file.
pub(super) fn print(input: &ReportInput<'_>) -> String {
    let name = text::name(input);
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\"/>\n";
    let _ = writeln!(out, "<title>{} – lab report</title>", escape(&name));
    let _ = writeln!(out, "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>");
    let _ = writeln!(out, "<h1>{}</h1>", escape(&name));
    let _ = writeln!(
        out,
        "<p class=\"result\">{}</p>",
        escape(&result::sentence(input))
    );
    for line in text::head(input) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&line));
    }
    findings(&mut out, input);
    if input.run.header.purpose == Purpose::Comparison {
        verdicts(&mut out, input);
    }
    missing_sources(&mut out, input);
    if let Some(why) = input.nothing_measured() {
        let _ = writeln!(out, "<p>{why}</p>");
    }
    for figure in FIGURES.iter().filter_map(|draw| draw(input)) {
        out += &figure.html();
    }
    tables(&mut out, input);
    out += "</main>\n</body>\n</html>\n";
    out
}

/// Writes the verdicts as cards, which are readable at any width, and the secondary metrics as a table.
fn verdicts(out: &mut String, input: &ReportInput<'_>) {
    out.push_str("<section>\n<h2>Verdicts</h2>\n");
    let outcomes = Outcome::all(input.analysis);
    let (primary, others): (Vec<&Outcome>, Vec<_>) =
        outcomes.iter().partition(|it| it.is_primary());
    if primary.is_empty() {
        out.push_str("<p>Only one variant ran, so that there is nothing to compare.</p>\n");
    }
    out.push_str("<div class=\"cards\">\n");
    for it in primary {
        let word = it.verdict.split_inclusive(':').next().unwrap_or_default();
        let rest = it.verdict.get(word.len()..).unwrap_or_default().trim();
        let _ = writeln!(
            out,
            "<div class=\"card {}\"><p class=\"who\">{}</p><p class=\"word\">{}</p><p class=\"ratio\">{} <small>{}</small></p><p class=\"note\">{}{}{}{}</p></div>",
            it.tone.class(),
            escape(&it.who),
            escape(word.trim_end_matches(':')),
            escape(&it.ratio),
            escape(&it.interval),
            escape(it.metric),
            escape(&prefixed(", ", &it.pairs)),
            escape(&prefixed(", ranks p ", &it.ranks)),
            escape(&prefixed(". ", rest)),
        );
    }
    out.push_str("</div>\n");
    if !others.is_empty() {
        out.push_str(
            "<div class=\"wide\"><table>\n<caption>Secondary metrics</caption>\n<thead><tr>",
        );
        for head in [
            "compared",
            "metric",
            "ratio",
            "95 % interval",
            "pairs",
            "ranks p",
            "verdict",
        ] {
            let _ = write!(out, "<th scope=\"col\">{head}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for it in others {
            let cells = [
                it.who.as_str(),
                it.metric,
                &it.ratio,
                &it.interval,
                &it.pairs,
                &it.ranks,
            ];
            out.push_str("<tr>");
            for cell in cells {
                let _ = write!(out, "<td>{}</td>", escape(cell));
            }
            let (class, verdict) = (it.tone.class(), escape(&it.verdict));
            let _ = writeln!(out, "<td class=\"{class}\"><b>{verdict}</b></td></tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
    for line in trust::lines(input) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(line.trim()));
    }
    out.push_str("</section>\n");
}

fn findings(out: &mut String, input: &ReportInput<'_>) {
    let findings = &input.analysis.findings;
    if findings.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Warnings</h2>\n<ul class=\"findings\">\n");
    for finding in findings {
        let _ = writeln!(
            out,
            "<li class=\"{}\"><b>{}</b> <code>{}</code> {} <span class=\"note\">{}</span></li>",
            text::tone(finding).class(),
            text::severity(finding.severity),
            escape(finding.name),
            escape(&finding.sentence),
            escape(finding.advice)
        );
    }
    out.push_str("</ul>\n</section>\n");
}

/// Lists the sources of data that this machine lacks. No figure is wrong because of that.
fn missing_sources(out: &mut String, input: &ReportInput<'_>) {
    for source in &input.run.header.machine.missing {
        let _ = writeln!(
            out,
            "<p class=\"note\">Not available on this machine: {}</p>",
            escape(source)
        );
    }
}

fn tables(out: &mut String, input: &ReportInput<'_>) {
    out.push_str("<section>\n<h2>Tables</h2>\n");
    let mut all = ab::tables(input);
    all.push(jmeter::table(input, jmeter::MOST_URLS));
    all.push(sar::averages(input));
    all.extend(strace::tables(input));
    for table in all.iter().filter(|it| !it.rows.is_empty()) {
        out.push_str(&table.html());
    }
    out.push_str("<details><summary>Every block</summary>\n");
    out.push_str(&sar::blocks(input).html());
    out.push_str("</details>\n</section>\n");
}

fn prefixed(prefix: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{prefix}{text}")
    }
}

pub use andon_client::escape;
