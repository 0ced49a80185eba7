//! Prints the comparison of two runs: what differs in their set-ups, and their metrics.

use super::Table;
use super::units::{self, fixed};
use crate::analysis::Verdict;
use crate::between::{Between, Figure, How};
use crate::record::Run;
use crate::scenario::Metric;

impl Between {
    /// Returns what a reader must know before looking at the metrics of the two runs, one sentence per entry.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        let mut lines = vec![match self.seconds_apart {
            Some(seconds) => format!(
                "These runs were not interleaved: {} lie between their starts, and what changed on the machine \
                 meanwhile is part of every plain figure.",
                time_span(seconds.abs())
            ),
            None => "These runs were not interleaved: what changed on the machine meanwhile is part of every plain figure.".to_owned(),
        }];
        if self.seconds_apart.is_some_and(|seconds| seconds < 0.0) {
            lines.push("The run called new is the older one.".to_owned());
        }
        lines.push(match self.probe {
            Some(probe) => format!(
                "The CPU calibration, a fixed piece of work, took {} as long in the new run: intervals of plain figures are \
                 widened by that on both sides.",
                units::ratio(probe)
            ),
            None => "Without a CPU calibration in both runs nobody knows how much the machine itself changed.".to_owned(),
        });
        if let Some(why) = &self.obstacle {
            lines.push(format!("No verdict: {why}."));
        }
        lines.extend(self.alone.iter().map(|it| format!("Not compared: {it}.")));
        lines
    }

    /// Returns two tables: the differences between the runs' set-ups, and the metrics of both runs.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        vec![self.differing(), self.compared()]
    }

    fn differing(&self) -> Table {
        let mut table = Table::new("What differs").words(["part", "key", "old", "new"]);
        for it in &self.differences {
            table.row([it.part.name(), &it.key, &it.old, &it.new]);
        }
        if self.differences.is_empty() {
            table.note("Nothing: machine, questions, servers and programs are the same.");
        }
        table
    }

    fn compared(&self) -> Table {
        let mut table = Table::new("New run through old run")
            .words(["variant", "metric"])
            .figures([
                "old",
                "new",
                "ratio",
                "95 % interval",
                "p by ranks",
                "blocks",
            ])
            .words(["verdict"]);
        for it in &self.figures {
            let (old, new) = it.means;
            table.row([
                it.name.clone(),
                match it.how {
                    How::Plainly => it.metric.name().to_owned(),
                    How::BesideBaseline => format!("{} / baseline's", it.metric.name()),
                },
                value(it, old),
                value(it, new),
                it.ratio
                    .map_or_else(|| units::UNKNOWN.to_owned(), units::ratio),
                it.interval_95
                    .map(|it| units::interval(it.low, it.high))
                    .unwrap_or_default(),
                fixed(it.rank_sum_p, 3),
                format!("{} / {}", it.counts.0, it.counts.1),
                verdict(&it.verdict),
            ]);
        }
        table.note("/ baseline's: compared by the ratio to a baseline that both runs measured, interleaved in each.");
        table
    }
}

/// Describes a run in one line.
#[must_use]
pub fn title(run: &Run) -> String {
    let header = &run.header;
    let name = match header.scenario.name.as_str() {
        "" => "experiment",
        name => name,
    };
    format!(
        "{name}, {}, {}, {}",
        header.started,
        units::count(run.blocks.len() as u32, "block"),
        header.program
    )
}

/// Formats a verdict between two runs. It never asks for more pairs, since separate runs have none.
#[must_use]
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Undecided {
            half_width: Some(half),
            within,
            ..
        } => format!(
            "UNDECIDED: interval ±{}, target ±{}",
            units::percent(*half),
            units::percent(*within)
        ),
        Verdict::Undecided { .. } => "UNDECIDED: too few blocks".to_owned(),
        other => other.to_string(),
    }
}

fn value(figure: &Figure, value: f64) -> String {
    if value <= 0.0 {
        return units::UNKNOWN.to_owned();
    }
    match (figure.how, figure.metric) {
        (How::BesideBaseline, _) => units::ratio(value),
        (How::Plainly, Metric::Throughput) => format!("{}/s", units::number(value)),
        (How::Plainly, Metric::Rss) => units::bytes(value),
        (How::Plainly, _) => units::duration(value),
    }
}

/// Formats a time span: `3 minutes`, `26 hours`, `12 days`.
fn time_span(seconds: f64) -> String {
    let (size, unit) = match seconds {
        it if it < 100.0 => (1.0, "second"),
        it if it < 6000.0 => (60.0, "minute"),
        it if it < 48.0 * 3600.0 => (3600.0, "hour"),
        _ => (86400.0, "day"),
    };
    units::count((seconds / size).round() as u32, unit)
}
