//! Box plot of the response times of every block in the order of the run, which shows drift and outlying blocks.

use super::figure::{Figure, colour, variants};
use super::scale::Scale;
use super::svg::{FOOT, LEFT, RIGHT, Svg, WIDTH};
use crate::report::{ReportInput, units};

const TOP: f64 = 10.0;
const BOTTOM: f64 = 290.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let blocks: Vec<_> = (input.run.blocks.iter())
        .filter(|it| it.failure.is_none() && it.load.total.count() > 0)
        .collect();
    let last = blocks.iter().map(|it| it.index).max()?;
    let ends = |share: f64| blocks.iter().map(move |it| it.load.total.quantile(share));
    let low = ends(0.05).fold(f64::INFINITY, f64::min);
    let high = ends(0.95).fold(0.0, f64::max);
    let y = Scale::log(low * 0.9, high * 1.1, BOTTOM, TOP);
    let x = Scale::linear(-0.5, f64::from(last) + 0.5, LEFT, WIDTH - RIGHT);
    let half = ((x.at(1.0) - x.at(0.0)) * 0.36).min(14.0);
    let mut svg = Svg::new(WIDTH, BOTTOM + FOOT, "Response times of each block");
    svg.rows(&y, 5, units::tick_duration);
    let ticks = x
        .ticks(6)
        .into_iter()
        .filter(|tick| tick.fract() == 0.0 && *tick >= 0.0);
    svg.columns(
        ticks.map(|tick| (x.at(tick), format!("{tick:.0}"))),
        (BOTTOM, BOTTOM),
    );
    for block in blocks {
        let at = |share: f64| y.at(block.load.total.quantile(share));
        let middle = x.at(f64::from(block.index));
        let class = colour(block.variant);
        let pale = if block.counts() { "" } else { " pale" };
        svg.line(
            &format!("thin {class}{pale}"),
            (middle, at(0.05)),
            (middle, at(0.95)),
        );
        let (top, bottom) = (at(0.75), at(0.25));
        svg.rect(
            &format!("box {class}{pale}"),
            middle - half,
            top,
            2.0 * half,
            bottom - top,
        );
        let median = at(0.5);
        let (from, to) = ((middle - half, median), (middle + half, median));
        svg.line(&format!("line {class}{pale}"), from, to);
    }
    Some(Figure {
        title: "Blocks in the order in which they ran",
        caption: "Response times: box from 25 % to 75 % with the median, line from 5 % to 95 %; log scale, number of the block below. Pale: discarded.".into(),
        legend: variants(input),
        body: svg.finish(),
    })
}
