//! Timeline of the run: CPU use, run queue, rate and response times on one time axis, as ksar draws them.

use super::figure::{Figure, colour, variants};
use super::scale::Scale;
use super::svg::{Anchor, FOOT, LEFT, RIGHT, Svg, WIDTH};
use crate::record::{Bin, PhaseKind, Tick};
use crate::report::input::window_start;
use crate::report::{ReportInput, units};
use crate::scenario::Metric;

/// Largest number of samples drawn over the whole width. Neighbouring samples are merged.
const MOST: usize = 450;
/// Height of one strip of the timeline in units of the view box, without the title above it.
const STRIP: f64 = 118.0;
const TITLE: f64 = 28.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let run = input.run;
    let phases = || run.blocks.iter().flat_map(|block| &block.phases);
    let ticks = thinned(run.blocks.iter().flat_map(|block| &block.timeline));
    let end = phases()
        .map(|it| it.to)
        .chain(ticks.iter().map(|it| it.at))
        .fold(0.0, f64::max);
    let binned = run.blocks.iter().any(|block| !block.load.bins.is_empty());
    if end <= 0.0 || (ticks.is_empty() && !binned) {
        return None;
    }
    let x = Scale::linear(0.0, end, LEFT, WIDTH - RIGHT);
    let bottom = 4.0 * (STRIP + TITLE);
    let mut svg = Svg::new(
        WIDTH,
        bottom + FOOT,
        "Processors, run queue, rate and response times over the run",
    );
    shade(&mut svg, input, &x, bottom);
    let places = x
        .ticks(5)
        .into_iter()
        .map(|tick| (x.at(tick), units::tick_duration(tick)));
    svg.columns(places, (TITLE, bottom));
    processors(&mut svg, &ticks, &x, 0.0);
    queue(&mut svg, &ticks, &x, STRIP + TITLE);
    let rate = Strip {
        title: "Requests per second",
        log: false,
        label: |it| units::tick_metric(Metric::Throughput, it),
    };
    rate.draw(&mut svg, input, &x, 2.0 * (STRIP + TITLE), |bin| {
        (bin.seconds > 0.0).then(|| bin.completed as f64 / bin.seconds)
    });
    let p99 = Strip {
        title: "99 % of replies within",
        log: true,
        label: units::tick_duration,
    };
    p99.draw(&mut svg, input, &x, 3.0 * (STRIP + TITLE), |bin| {
        (bin.p99 > 0.0).then_some(bin.p99)
    });
    let parts = [
        ("user", "user"),
        ("system", "system"),
        ("iowait", "waiting for storage"),
        ("steal", "stolen"),
    ];
    let parts = parts.map(|(class, name)| (class.to_owned(), format!("CPU: {name}")));
    Some(Figure {
        title: "The run's course",
        caption: "Time since the run began. Shaded in a variant's colour: its measured windows; grey: ramp and warm-up. The load average lags behind the tasks that are runnable.".into(),
        legend: variants(input).into_iter().chain(parts).collect(),
        body: svg.finish(),
    })
}

fn shade(svg: &mut Svg, input: &ReportInput<'_>, x: &Scale, bottom: f64) {
    for block in &input.run.blocks {
        for phase in &block.phases {
            let (from, to) = (x.at(phase.from), x.at(phase.to));
            let class = match phase.kind {
                PhaseKind::Measure => format!("fill window {}", colour(block.variant)),
                PhaseKind::Ramp | PhaseKind::Warmup => "shade".to_owned(),
                PhaseKind::Start | PhaseKind::Stop => continue,
            };
            for strip in 0..4 {
                let top = TITLE + f64::from(strip) * (STRIP + TITLE);
                let height = STRIP.min(bottom - top);
                svg.rect(&class, from, top, to - from, height);
            }
        }
    }
}

/// Selects from a sample one part of the CPU time: user, system, I/O wait or steal.
type Share = fn(&Tick) -> f64;

/// Draws the parts of the CPU time (user, system, I/O wait, steal) as stacked areas, as shares of all CPUs.
fn processors(svg: &mut Svg, ticks: &[Tick], x: &Scale, top: f64) {
    let y = Scale::linear(0.0, 1.0, top + TITLE + STRIP, top + TITLE);
    svg.text(
        "strong",
        LEFT,
        top + 20.0,
        Anchor::Start,
        "CPU, share of all",
    );
    if !ticks.is_empty() {
        svg.rows(&y, 4, units::percent);
    }
    let parts: [(&str, Share); 4] = [
        ("user", |it| it.user),
        ("system", |it| it.system),
        ("iowait", |it| it.iowait),
        ("steal", |it| it.steal),
    ];
    let mut below = vec![0.0; ticks.len()];
    for (class, part) in parts {
        let above: Vec<f64> = ticks
            .iter()
            .zip(&below)
            .map(|(tick, below)| below + part(tick))
            .collect();
        let places = |values: &[f64]| -> Vec<(f64, f64)> {
            let points = ticks.iter().zip(values);
            points
                .map(|(tick, value)| (x.at(tick.at), y.at(*value)))
                .collect()
        };
        svg.area(&format!("fill {class}"), &places(&above), &places(&below));
        below = above;
    }
}

fn queue(svg: &mut Svg, ticks: &[Tick], x: &Scale, top: f64) {
    let most = ticks
        .iter()
        .map(|it| f64::from(it.runnable).max(it.load_1))
        .fold(1.0, f64::max);
    let y = Scale::linear(0.0, most * 1.05, top + TITLE + STRIP, top + TITLE);
    svg.text(
        "strong",
        LEFT,
        top + 20.0,
        Anchor::Start,
        "Runnable tasks, load average (dashed)",
    );
    if !ticks.is_empty() {
        svg.rows(&y, 4, units::tick);
    }
    let line = |of: fn(&Tick) -> f64| -> Vec<(f64, f64)> {
        ticks
            .iter()
            .map(|tick| (x.at(tick.at), y.at(of(tick))))
            .collect()
    };
    svg.polyline("thin ink", &line(|it| f64::from(it.runnable)));
    svg.polyline("line dash soft", &line(|it| it.load_1));
}

/// A strip of the timeline that shows one metric of the client's time slices.
struct Strip {
    title: &'static str,
    log: bool,
    label: fn(f64) -> String,
}

impl Strip {
    fn draw(
        &self,
        svg: &mut Svg,
        input: &ReportInput<'_>,
        x: &Scale,
        top: f64,
        of: impl Fn(&Bin) -> Option<f64>,
    ) {
        let blocks = &input.run.blocks;
        let all = || {
            blocks
                .iter()
                .flat_map(|block| &block.load.bins)
                .filter_map(&of)
        };
        let (low, high) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        );
        let (from, to) = (top + TITLE + STRIP, top + TITLE);
        let y = if self.log {
            Scale::log(
                if low.is_finite() { low * 0.9 } else { 0.001 },
                high * 1.1,
                from,
                to,
            )
        } else {
            Scale::linear(0.0, high * 1.05, from, to)
        };
        svg.text("strong", LEFT, top + 20.0, Anchor::Start, self.title);
        if high > 0.0 {
            svg.rows(&y, 3, self.label);
        }
        for block in blocks {
            let Some(start) = window_start(block) else {
                continue;
            };
            let middle = |bin: &Bin| x.at(start + bin.at + bin.seconds / 2.0);
            let points = block
                .load
                .bins
                .iter()
                .filter_map(|bin| Some((middle(bin), y.at(of(bin)?))));
            let points: Vec<_> = points.collect();
            svg.polyline(&format!("line {}", colour(block.variant)), &points);
        }
    }
}

/// Merges neighbouring samples into their means, so that at most [`MOST`] are left.
fn thinned<'a>(ticks: impl Iterator<Item = &'a Tick>) -> Vec<Tick> {
    let mut all: Vec<Tick> = ticks.copied().collect();
    all.sort_by(|a, b| a.at.total_cmp(&b.at));
    let size = all.len().div_ceil(MOST).max(1);
    let mean_tick = |group: &[Tick]| {
        let mean = |of: fn(&Tick) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        Tick {
            at: mean(|it| it.at),
            user: mean(|it| it.user),
            system: mean(|it| it.system),
            iowait: mean(|it| it.iowait),
            steal: mean(|it| it.steal),
            runnable: mean(|it| f64::from(it.runnable)).round() as u32,
            load_1: mean(|it| it.load_1),
            ..group[0]
        }
    };
    all.chunks(size).map(mean_tick).collect()
}
