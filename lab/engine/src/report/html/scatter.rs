//! Scatter plot of single response times over the measured window, which shows steps, waves and stripes that a mean
//! hides.

use super::figure::{Figure, colour};
use super::scale::Scale;
use super::svg::{Anchor, FOOT, LEFT, RIGHT, Svg, WIDTH};
use crate::record::{Arm, Block, Point};
use crate::report::{ReportInput, units};

/// Largest number of sampled points per variant. Failures are drawn in addition.
const MOST: usize = 2500;
/// Largest number of variants shown.
const PANELS: usize = 8;
const PANEL: f64 = 190.0;
const TOP: f64 = 26.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let panels: Vec<(u32, &str, Vec<Point>)> = input
        .variants()
        .map(|it| (it.variant, it.name.as_str(), points(input, it.variant)))
        .filter(|(_, _, points)| !points.is_empty())
        .take(PANELS)
        .collect();
    let all = || panels.iter().flat_map(|(_, _, points)| points);
    let longest = all().map(|it| it.at).fold(0.0, f64::max);
    let low = all()
        .map(|it| it.latency)
        .filter(|it| *it > 0.0)
        .fold(f64::INFINITY, f64::min);
    let high = all().map(|it| it.latency).fold(0.0, f64::max);
    if panels.is_empty() || high <= 0.0 {
        return None;
    }
    let x = Scale::linear(0.0, longest, LEFT, WIDTH - RIGHT);
    let bottom = PANEL * panels.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + FOOT, "Single response times");
    let ticks = x
        .ticks(5)
        .into_iter()
        .map(|tick| (x.at(tick), units::tick_duration(tick)));
    svg.columns(ticks, (TOP, bottom));
    for (at, (variant, name, points)) in panels.iter().enumerate() {
        let top = PANEL * at as f64;
        let y = Scale::log(low * 0.9, high * 1.1, top + PANEL - 8.0, top + TOP + 4.0);
        svg.rows(&y, 3, units::tick_duration);
        svg.text("strong", LEFT, top + 20.0, Anchor::Start, name);
        let place = |point: &Point| (x.at(point.at), y.at(point.latency));
        let (good, bad): (Vec<&Point>, Vec<&Point>) = points.iter().partition(|it| it.good);
        svg.dots(
            &format!("dots {}", colour(*variant)),
            good.into_iter().map(place),
        );
        svg.dots("dots full bad", bad.into_iter().map(place));
    }
    Some(Figure {
        title: "Single response times",
        caption: "An even sample of all counted blocks, by the time since each window began; log scale. Red and larger: not as expected.".into(),
        legend: Vec::new(),
        body: svg.finish(),
    })
}

fn points(input: &ReportInput<'_>, variant: u32) -> Vec<Point> {
    let is_shown = |it: &&Block| it.counts() && it.arm != Arm::Again && it.variant == variant;
    let all: Vec<Point> = (input.run.blocks.iter())
        .filter(is_shown)
        .flat_map(|block| block.load.points.iter().copied())
        .collect();
    let step = all.len().div_ceil(MOST).max(1);
    // Failures are rare, so thinning keeps all of them.
    let keep = |(at, point): &(usize, Point)| at % step == 0 || !point.good;
    let points = all.into_iter().enumerate().filter(keep);
    points.map(|(_, point)| point).take(2 * MOST).collect()
}
