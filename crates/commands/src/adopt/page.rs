//! The result as one HTML page.

use std::fmt::Write;

use andon_client::escape;

use super::outcome::Outcome;
use super::{proxy, summary};
use crate::shadow::page::{END, head, pairs, preformatted};

pub(super) fn page(outcome: &Outcome<'_>) -> String {
    let mut html = head("andon adopt");
    let logs: Vec<String> = outcome
        .logs
        .iter()
        .map(|log| log.display().to_string())
        .collect();
    let _ = writeln!(
        html,
        "<p><strong>{}</strong></p>\n<p>{} beside {}</p>",
        escape(&outcome.verdict()),
        escape(&logs.join(", ")),
        escape(&outcome.report.args.old)
    );
    let text = [
        summary::recognised(outcome),
        summary::unread(outcome),
        summary::measured(outcome),
        summary::costs(outcome),
    ];
    for text in text.iter().filter(|text| !text.is_empty()) {
        html += &preformatted(text.trim_start());
    }
    html += "<h2>To switch</h2>\n";
    html += &preformatted(&proxy::nginx(&outcome.found));
    html += "<h2>Differences, the worst first</h2>\n";
    html += &preformatted(&crate::shadow::summary::text(&outcome.report));
    html += &pairs(&outcome.report);
    html += END;
    html
}
