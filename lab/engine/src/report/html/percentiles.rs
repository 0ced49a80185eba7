//! HDR plot: latency by percentile, with the axis stretched towards the slowest requests.

use super::figure::{Figure, colour, variants};
use super::scale::Scale;
use super::svg::{FOOT, LEFT, RIGHT, Svg, WIDTH};
use crate::record::Latencies;
use crate::report::{ReportInput, units};

const TOP: f64 = 10.0;
const BOTTOM: f64 = 330.0;
/// Number of points of a curve from one tick of the percentile axis to the next (90 %, 99 %, 99.9 %…).
const STEPS: f64 = 40.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let summaries: Vec<_> = input.variants().filter(|it| it.total.count() > 0).collect();
    let most = summaries.iter().map(|it| it.total.count()).max()?;
    let low = summaries
        .iter()
        .map(|it| it.total.quantile(0.01))
        .fold(f64::INFINITY, f64::min);
    let high = summaries
        .iter()
        .map(|it| it.total.max())
        .fold(0.0, f64::max);
    let y = Scale::log(low * 0.9, high * 1.1, BOTTOM, TOP);
    // The position x stands for one slower request in x: from 1 (all requests are slower) to the number of requests.
    let x = Scale::log(1.0, (most as f64).max(100.0), LEFT, WIDTH - RIGHT);
    let mut svg = Svg::new(WIDTH, BOTTOM + FOOT, "Response times by percentile");
    let ticks = [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %")];
    let finer = [(1e3, "99.9 %"), (1e4, "99.99 %"), (1e5, "99.999 %")];
    let ticks = ticks
        .into_iter()
        .chain(finer)
        .filter(|(odds, _)| *odds <= most as f64);
    svg.columns(
        ticks.map(|(odds, label)| (x.at(odds), label.to_owned())),
        (TOP, BOTTOM),
    );
    svg.rows(&y, 6, units::tick_duration);
    let mut open = false;
    for summary in summaries {
        let class = colour(summary.variant);
        let (reliable, unreliable) = curve(&summary.total, &x, &y);
        svg.polyline(&format!("line {class}"), &reliable);
        svg.polyline(&format!("line dash {class}"), &unreliable);
        let lag = summary.send_lag.count() > 0 && summary.send_lag.max() > 1e-3;
        if lag && summary.service.count() > 0 {
            open = true;
            let (reliable, _) = curve(&summary.service, &x, &y);
            svg.polyline(&format!("thin {class}"), &reliable);
        }
    }
    let mut caption = "Response time that a share of the requests does not exceed; both axes log. Dashed: fewer than ten requests lie beyond.".to_owned();
    if open {
        caption += " Thin: counted from when the client really sent, which hides its waiting (coordinated omission).";
    }
    Some(Figure {
        title: "Response times by percentile",
        caption,
        legend: variants(input),
        body: svg.finish(),
    })
}

/// Points of a curve, as positions in the drawing.
type Curve = Vec<(f64, f64)>;

/// Returns the part of a curve with at least ten requests beyond each point, and the rest.
fn curve(times: &Latencies, x: &Scale, y: &Scale) -> (Curve, Curve) {
    let count = times.count() as f64;
    let steps = (count.log10() * STEPS).floor().max(0.0) as u32;
    let points = (0..=steps).map(|step| {
        let odds = 10_f64.powf(f64::from(step) / STEPS);
        (odds, (x.at(odds), y.at(times.quantile(1.0 - 1.0 / odds))))
    });
    let (reliable, mut unreliable): (Vec<_>, Vec<_>) =
        points.partition(|(odds, _)| count / odds >= 10.0);
    if let Some(last) = reliable.last() {
        unreliable.insert(0, *last);
    }
    let places =
        |points: Vec<(f64, (f64, f64))>| -> Curve { points.into_iter().map(|it| it.1).collect() };
    (places(reliable), places(unreliable))
}
