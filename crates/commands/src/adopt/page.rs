//! Writes the result of `andon adopt` as a single HTML page.

use std::fmt::Write;

use andon_client::escape;

use super::outcome::Outcome;
use super::prices;
use super::summary::{self, LISTED};
use crate::shadow::page::{END, head, pairs, preformatted};
use crate::shadow::summary::counted;

pub(super) fn page(outcome: &Outcome<'_>) -> String {
    let mut html = head("andon adopt");
    html += &verdict(outcome);
    html += &recognition(outcome);
    html += &unread_tables(outcome);
    html += &measurement_table(outcome);
    html += &costs(outcome);
    html += "<h2>To switch</h2>\n";
    html += &preformatted(&summary::to_switch(outcome));
    html += "<h2>Differences, the worst first</h2>\n";
    html += &preformatted(&crate::shadow::summary::text(&outcome.report));
    html += &pairs(&outcome.report);
    html += END;
    html
}

/// Returns whether it is safe to switch to the new server, with each obstacle on a line of its own.
fn verdict(outcome: &Outcome<'_>) -> String {
    let mut html = match &*outcome.obstacles() {
        [] => "<p><strong>Safe to switch.</strong></p>\n".to_owned(),
        obstacles => {
            let lines = obstacles
                .iter()
                .map(|it| format!("<li>{}</li>", escape(it)));
            let lines: String = lines.collect();
            format!("<p><strong>Not safe to switch yet:</strong></p>\n<ul>{lines}</ul>\n")
        }
    };
    let logs: Vec<String> = outcome
        .logs
        .iter()
        .map(|log| log.display().to_string())
        .collect();
    let _ = writeln!(
        html,
        "<p>{} beside {}; the configuration is {}</p>",
        escape(&logs.join(", ")),
        escape(&outcome.report.args.old),
        escape(&outcome.file.display().to_string())
    );
    html
}

fn recognition(outcome: &Outcome<'_>) -> String {
    let rows = outcome.sorted.groups.iter().map(|group| {
        [
            escape(&group.name),
            format!("<code>{}</code>", escape(&group.place)),
            group.urls.to_string(),
            group.requests.to_string(),
        ]
    });
    let mut html = "<h2>Recognised</h2>\n".to_owned();
    html += &table(&["language", "place", "URLs", "requests"], rows);
    for line in summary::shares(&outcome.sorted) {
        let _ = writeln!(html, "<p>{}</p>", escape(&line));
    }
    html
}

fn unread_tables(outcome: &Outcome<'_>) -> String {
    let sorted = &outcome.sorted;
    let mut html = String::new();
    for (title, list) in summary::unread_lists(sorted) {
        let rows = list.iter().take(LISTED).map(|unread| {
            [
                format!("<code>{}</code>", escape(&unread.target)),
                escape(&unread.why),
                unread.requests.to_string(),
            ]
        });
        let _ = writeln!(html, "<h2>{title}</h2>");
        html += &table(&["URL", "why", "requests"], rows);
        if list.len() > LISTED {
            let _ = writeln!(html, "<p>and {} more</p>", list.len() - LISTED);
        }
    }
    if let Some((target, _)) = sorted.unasked.first() {
        let _ = writeln!(
            html,
            "<p>Not known to be images or not, as the old server was not asked (--ask): {}, such as <code>{}</code></p>",
            counted(sorted.unasked.len() as u64, "URL"),
            escape(target)
        );
    }
    html
}

fn measurement_table(outcome: &Outcome<'_>) -> String {
    let rows = summary::measurements(outcome);
    let rows = rows.iter().map(|row| row.each_ref().map(|it| escape(it)));
    let mut html = "<h2>Measured</h2>\n".to_owned();
    html += &table(&["", "old", "new", "new again"], rows);
    for note in summary::measuring_notes(outcome) {
        let _ = writeln!(html, "<p>{}</p>", escape(note));
    }
    html
}

fn costs(outcome: &Outcome<'_>) -> String {
    let usage = outcome.usage();
    let rows = prices::ALL.iter().map(|price| {
        let source = escape(price.source);
        [
            escape(price.service),
            escape(&summary::cost(price, &usage)),
            format!("{} <br><small>{source}</small>", escape(price.terms)),
        ]
    });
    let mut html = format!(
        "<h2>Costs elsewhere</h2>\n<p>{} {}</p>\n",
        escape(&summary::month(&usage)),
        escape(summary::rate(outcome))
    );
    html += &table(&["service", "a month", "terms"], rows);
    html
}

/// Returns an HTML table. Cells contain HTML; those that begin with a digit are aligned as numbers.
fn table<const N: usize>(names: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut html = "<table>\n<tr>".to_owned();
    for name in names {
        let _ = write!(html, "<th>{name}</th>");
    }
    html += "</tr>\n";
    for row in rows {
        html += "<tr>";
        for cell in row {
            let is_number = cell.starts_with(|first: char| first.is_ascii_digit());
            let class = if is_number { " class=\"number\"" } else { "" };
            let _ = write!(html, "<td{class}>{cell}</td>");
        }
        html += "</tr>\n";
    }
    html + "</table>\n"
}
