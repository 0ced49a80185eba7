//! Rate and latency against the number of connections, one above the other with the same axis.

use super::figure::{Figure, colour};
use super::scale::Scale;
use super::svg::{FOOT, LEFT, RIGHT, Svg, WIDTH};
use crate::report::levels::{Level, Series, series, table};
use crate::report::{ReportInput, units};

const TOP: f64 = 10.0;
const BOTTOM: f64 = 250.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let series = series(input);
    let levels = || series.iter().flat_map(|it| &it.levels);
    let most = levels().map(|it| it.connections).max()?;
    let least = levels().map(|it| it.connections).min()?;
    let x = Scale::log(
        f64::from(least.max(1)) * 0.9,
        f64::from(most.max(1)) * 1.1,
        LEFT,
        WIDTH - RIGHT,
    );
    let highest = levels().map(|it| it.rate).fold(0.0, f64::max);
    let rate = Scale::linear(0.0, highest * 1.1, BOTTOM, TOP);
    let rates = panel(
        &x,
        &rate,
        &series,
        "Requests per second",
        units::tick,
        &[("line", |it| it.rate)],
    );
    let ends = |share: f64| levels().map(move |it| it.summary.total.quantile(share));
    let low = ends(0.5).fold(f64::INFINITY, f64::min);
    let high = ends(0.99).fold(0.0, f64::max);
    let time = Scale::log(low * 0.9, high * 1.1, BOTTOM, TOP);
    let times = panel(
        &x,
        &time,
        &series,
        "Response times",
        units::tick_duration,
        &[
            ("line", |it| it.summary.total.quantile(0.5)),
            ("thin dash", |it| it.summary.total.quantile(0.99)),
        ],
    );
    let legend = series
        .iter()
        .enumerate()
        .map(|(at, it)| (colour(at as u32), it.name.clone()));
    Some(Figure {
        title: "Rate and latency against connections",
        caption: "Above: replies per second. Below: median (solid) and 99th percentile (dashed) of response times. Number of connections below, log scale.".into(),
        legend: legend.collect(),
        body: format!("{rates}{times}{}", table(&series).html()),
    })
}

/// CSS class of a line and the value that it shows.
type Line = (&'static str, fn(&Level<'_>) -> f64);

fn panel(
    x: &Scale,
    y: &Scale,
    series: &[Series<'_>],
    label: &str,
    tick: impl Fn(f64) -> String,
    lines: &[Line],
) -> String {
    let mut svg = Svg::new(WIDTH, BOTTOM + FOOT, label);
    svg.rows(y, 5, tick);
    let mut values: Vec<u32> = series
        .iter()
        .flat_map(|it| it.levels.iter().map(|level| level.connections))
        .collect();
    values.sort_unstable();
    values.dedup();
    let ticks = values
        .into_iter()
        .map(|level| (x.at(f64::from(level)), level.to_string()));
    svg.columns(ticks, (TOP, BOTTOM));
    for (at, series) in series.iter().enumerate() {
        let class = colour(at as u32);
        for (style, value) in lines {
            let points: Vec<(f64, f64)> = (series.levels.iter())
                .map(|level| (x.at(f64::from(level.connections)), y.at(value(level))))
                .collect();
            svg.polyline(&format!("{style} {class}"), &points);
            svg.dots(&format!("dots full {class}"), points.into_iter());
        }
    }
    svg.finish()
}
