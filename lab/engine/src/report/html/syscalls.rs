//! Bar chart of system calls per request, with the variants below each other.

use super::figure::{Figure, colour, variants};
use super::scale::Scale;
use super::svg::{Anchor, Svg, WIDTH};
use crate::record::Pass;
use crate::report::strace::{find, names};
use crate::report::{ReportInput, units};

/// Largest number of system calls shown; the most frequent ones are chosen.
const MOST: usize = 16;
const BAR: f64 = 20.0;
const LABEL: f64 = 32.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 100.0;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let passes: Vec<&Pass> = (input.run.passes.iter())
        .filter(|it| !it.syscalls.is_empty())
        .collect();
    let mut names = names(&passes);
    names.truncate(MOST);
    let calls = |pass: &Pass, name: &str| find(pass, name).map_or(0.0, |it| it.calls);
    let most = passes
        .iter()
        .flat_map(|pass| pass.syscalls.iter().map(|it| it.calls))
        .fold(0.0, f64::max);
    if names.is_empty() {
        return None;
    }
    let x = Scale::linear(0.0, most, LEFT, WIDTH - RIGHT);
    let row = LABEL + BAR * passes.len() as f64;
    let mut svg = Svg::new(
        WIDTH,
        row * names.len() as f64 + 8.0,
        "System calls per request",
    );
    for (at, name) in names.iter().enumerate() {
        let top = row * at as f64;
        svg.text("strong", LEFT, top + 23.0, Anchor::Start, name);
        for (at, pass) in passes.iter().enumerate() {
            let (count, y) = (calls(pass, name), top + LABEL + BAR * at as f64);
            let class = format!("fill {}", colour(pass.variant));
            svg.rect(&class, LEFT, y, (x.at(count) - LEFT).max(1.0), BAR - 3.0);
            svg.text(
                "",
                x.at(count) + 8.0,
                y + 14.0,
                Anchor::Start,
                &units::number(count),
            );
        }
    }
    let methods: Vec<String> = (passes.iter())
        .map(|pass| format!("{} by {}", input.variant_name(pass.variant), pass.method))
        .collect();
    Some(Figure {
        title: "System calls per request",
        caption: format!(
            "Children included, counted in a pass of its own ({}).",
            methods.join(", ")
        ),
        legend: variants(input),
        body: svg.finish(),
    })
}
