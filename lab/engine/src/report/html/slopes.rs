//! Slope graph of the primary metric: each pair of blocks as a line from the baseline's value to the other block's. If
//! all lines lean the same way, the verdict is no accident.

use super::figure::{Figure, colour};
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use crate::analysis::{contrasts, pairs};
use crate::record::Arm;
use crate::report::{ReportInput, units};

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 250.0;
const SIDE: f64 = 84.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 205.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let run = input.run;
    let metric = run.header.scenario.design.primary;
    let mut body = String::new();
    for contrast in contrasts(run) {
        let values: Vec<(bool, f64, f64)> = pairs(run, contrast)
            .iter()
            .filter(|pair| pair.measured())
            .filter_map(|pair| {
                Some((
                    pair.counts(),
                    metric.of(pair.baseline)?,
                    metric.of(pair.other)?,
                ))
            })
            .collect();
        let all = || values.iter().flat_map(|(_, a, b)| [*a, *b]);
        let (low, high) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        );
        if values.is_empty() {
            continue;
        }
        let room = (high - low).max(high * 0.01) * 0.08;
        let y = Scale::linear(low - room, high + room, BOTTOM, TOP);
        let name = if contrast.arm == Arm::Again {
            "again"
        } else {
            input.variant_name(contrast.variant)
        };
        let baseline = input.variant_name(0);
        let mut svg = Svg::new(WIDTH, HEIGHT, format!("Pairs of {name} and {baseline}"));
        for tick in y.ticks(4) {
            svg.line("grid", (SIDE, y.at(tick)), (WIDTH - 30.0, y.at(tick)));
            svg.text(
                "",
                SIDE - 6.0,
                y.at(tick) + 5.0,
                Anchor::End,
                &units::tick_metric(metric, tick),
            );
        }
        let class = match contrast.arm {
            Arm::Again => colour(0),
            Arm::Baseline | Arm::Variant => colour(contrast.variant),
        };
        for (counts, a, b) in &values {
            let line = [(SIDE + 20.0, y.at(*a)), (WIDTH - 50.0, y.at(*b))];
            let pale = if *counts { "" } else { " dash pale" };
            svg.polyline(&format!("thin {class}{pale}"), &line);
            svg.dots(&format!("dots full {class}{pale}"), line.into_iter());
        }
        svg.text(
            "strong",
            SIDE,
            BOTTOM + 28.0,
            Anchor::Start,
            &short(baseline),
        );
        svg.text("strong", WIDTH, BOTTOM + 28.0, Anchor::End, &short(name));
        body += &svg.finish();
    }
    if body.is_empty() {
        return None;
    }
    Some(Figure {
        title: "Pairs",
        caption: format!(
            "One line per pair of neighbouring blocks, {}: the baseline at the left. Dashed and pale: discarded.",
            metric.name()
        ),
        legend: Vec::new(),
        body: format!("<div class=\"panels\">\n{body}</div>\n"),
    })
}

/// Shortens a name so that it fits beside another one.
fn short(name: &str) -> String {
    if name.chars().count() <= 16 {
        return name.to_owned();
    }
    let start: String = name.chars().take(15).collect();
    format!("{start}…")
}
