//! Heat map of the median response time by URL and variant, coloured by the ratio to the baseline's.

use std::fmt::Write as _;

use super::figure::Figure;
use super::page::escape;
use crate::analysis::Summary;
use crate::report::{ReportInput, units};

/// Largest number of URLs shown. Those with the most good replies in the baseline are chosen.
const MOST: usize = 60;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let all: Vec<&Summary> = input.variants().collect();
    let baseline = *all.first()?;
    if !all.iter().any(|it| it.urls.len() > 1) {
        return None;
    }
    let mut order: Vec<usize> = (0..baseline.urls.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(baseline.urls[*at].completed));
    order.truncate(MOST);
    order.sort_unstable();

    let mut body = String::from(
        "<div class=\"wide\"><table class=\"heat\">\n<thead><tr><th scope=\"col\">URL</th>",
    );
    for summary in &all {
        let _ = write!(
            body,
            "<th scope=\"col\" class=\"n\">{}</th>",
            escape(&summary.name)
        );
    }
    body += "</tr></thead>\n<tbody>\n";
    for at in order {
        let url = &baseline.urls[at].url;
        let base = median(baseline, at);
        let _ = write!(body, "<tr><td>{}</td>", escape(url));
        for summary in &all {
            body += &cell(median(summary, at), base);
        }
        body += "</tr>\n";
    }
    body += "</tbody></table></div>\n";
    Some(Figure {
        title: "Median response time by URL and variant",
        caption: "Blue: faster than the baseline. Orange: slower; the stronger, the more, up to a factor of two.".into(),
        legend: Vec::new(),
        body,
    })
}

fn median(summary: &Summary, url: usize) -> Option<f64> {
    let times = &summary.urls.get(url)?.total;
    (times.count() > 0).then(|| times.quantile(0.5))
}

fn cell(time: Option<f64>, base: Option<f64>) -> String {
    let Some(time) = time else {
        return format!("<td class=\"n\">{}</td>", units::UNKNOWN);
    };
    let doublings = base
        .filter(|it| *it > 0.0)
        .map_or(0.0, |base| (time / base).log2());
    let strength = (doublings.abs().min(1.0) * 60.0).round();
    let colour = if doublings > 0.0 { "--c1" } else { "--c0" };
    format!(
        "<td class=\"n\" style=\"background: color-mix(in srgb, var({colour}) {strength}%, transparent)\">{}</td>",
        units::duration(time)
    )
}
