//! Forest plot: the ratios of the variants' metrics to the baseline's, with their intervals, and the band within which
//! variants count as the same.

use super::figure::Figure;
use super::scale::Scale;
use super::svg::{Anchor, FOOT, Svg, WIDTH};
use crate::analysis::Role;
use crate::record::Arm;
use crate::report::outcome::{Tone, quotable};
use crate::report::{ReportInput, units};

/// Height of a row, which holds a label and an interval, in units of the view box.
const ROW: f64 = 50.0;
const TOP: f64 = 6.0;
const EDGE: f64 = 36.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let rows: Vec<_> = (input.analysis.comparisons.iter())
        .filter(|it| it.arm != Arm::Again || it.role == Role::Primary)
        .filter_map(|it| Some((it, quotable(it)?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let within = input.run.header.scenario.design.same_within.0;
    let (mut low, mut high) = (1.0 - 2.0 * within, 1.0 + 2.0 * within);
    for (_, estimate) in &rows {
        // An extremely wide interval is cut off, so that the others stay legible.
        low = low.min(estimate.interval_95.low.max(estimate.ratio / 3.0));
        high = high.max(estimate.interval_95.high.min(estimate.ratio * 3.0));
    }
    let scale = Scale::log(low.max(1e-3) * 0.99, high * 1.01, EDGE, WIDTH - EDGE);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(
        WIDTH,
        bottom + FOOT,
        "Ratios to the baseline with intervals",
    );
    let (left, right) = (scale.at(1.0 - within), scale.at(1.0 + within));
    svg.rect("band", left, TOP, right - left, bottom - TOP);
    let ticks = scale.ticks(5).into_iter();
    svg.columns(
        ticks.map(|tick| (scale.at(tick), units::ratio_tick(tick))),
        (TOP, bottom),
    );
    svg.line("one", (scale.at(1.0), TOP), (scale.at(1.0), bottom));
    for (at, (comparison, estimate)) in rows.iter().enumerate() {
        let top = TOP + ROW * at as f64;
        let y = top + 38.0;
        let class = Tone::of(&comparison.verdict).class();
        let primary = comparison.role == Role::Primary;
        let label = format!(
            "{} {} {} {}",
            comparison.name,
            comparison.metric.name(),
            units::ratio(estimate.ratio),
            comparison.verdict.word()
        );
        svg.text(
            if primary { "strong" } else { "" },
            4.0,
            top + 21.0,
            Anchor::Start,
            &label,
        );
        let interval = estimate.interval_95;
        let (from, to) = ((scale.at(interval.low), y), (scale.at(interval.high), y));
        svg.line(&format!("line {class}"), from, to);
        let point = std::iter::once((scale.at(estimate.ratio), y));
        svg.dots(
            &format!("{} {class}", if primary { "spots" } else { "dots full" }),
            point,
        );
    }
    Some(Figure {
        title: "Ratios to the baseline",
        caption: format!(
            "Points with 95 % intervals, log scale. Band: ±{}, within which variants count as the same. Left of ×1 is less.",
            units::percent(within)
        ),
        legend: Vec::new(),
        body: svg.finish(),
    })
}
