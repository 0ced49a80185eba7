//! Rate and latency against the number of connections. They show at what point more connections no longer help and
//! requests begin to wait.

use super::units::{self, fixed};
use super::{Format, ReportInput, Table};
use crate::analysis::Summary;
use crate::variant::Variant;

pub(super) const FORMAT: Format = Format {
    name: "levels",
    file: "levels.txt",
    about: "rate and latency against connections",
    print: |input| {
        let series = series(input);
        if series.is_empty() {
            let how = "Only one level of connections ran: give several with -c 1,2,5,10, `connections` of [[variant]] or `\"load.connections\"` of [matrix].\n";
            return Ok(how.into());
        }
        Ok(table(&series).text().into_bytes())
    },
};

/// One server at several numbers of connections, the lowest first.
pub(super) struct Series<'a> {
    /// Name of the series, taken from its first variant.
    pub(super) name: String,
    pub(super) levels: Vec<Level<'a>>,
}

/// The result for one number of connections.
pub(super) struct Level<'a> {
    pub(super) connections: u32,
    pub(super) rate: f64,
    pub(super) summary: &'a Summary,
}

/// Groups variants that differ only in their number of connections. Servers that ran with a single number are left out.
pub(super) fn series<'a>(input: &ReportInput<'a>) -> Vec<Series<'a>> {
    let header = &input.run.header;
    let mut all: Vec<(Variant, Series<'a>)> = Vec::new();
    for summary in input.variants() {
        let Some(variant) = header.variants.get(summary.variant as usize) else {
            continue;
        };
        if summary.seconds <= 0.0 {
            continue;
        }
        let level = Level {
            connections: variant.load(&header.scenario.load).connections,
            rate: summary.completed as f64 / summary.seconds,
            summary,
        };
        let mut key = variant.clone();
        key.name.clear();
        key.connections = None;
        match all.iter_mut().find(|(other_key, _)| *other_key == key) {
            Some((_, series)) => series.levels.push(level),
            None => {
                let name = variant.name.clone();
                let levels = vec![level];
                all.push((key, Series { name, levels }));
            }
        }
    }
    let mut all: Vec<Series<'a>> = all.into_iter().map(|(_, series)| series).collect();
    for series in &mut all {
        series.levels.sort_by_key(|level| level.connections);
    }
    all.retain(|series| {
        let ends = series.levels.first().zip(series.levels.last());
        ends.is_some_and(|(first, last)| first.connections != last.connections)
    });
    all
}

/// Returns a table with one row for each number of connections (a level) of each series.
pub(super) fn table(series: &[Series<'_>]) -> Table {
    let mut table = Table::new("Rate against connections")
        .words(["variant"])
        .figures([
            "connections",
            "in flight",
            "requests/s",
            "of linear",
            "50% [ms]",
            "99% [ms]",
            "server CPUs",
            "client busy",
        ]);
    for series in series {
        let first = series.levels.first();
        let each = first.map_or(0.0, |it| it.rate / f64::from(it.connections.max(1)));
        for level in &series.levels {
            let it = level.summary;
            let linear = each * f64::from(level.connections.max(1));
            // A quantile is shown only if at least ten replies lie beyond it.
            let tail = (it.total.count() >= 1000).then(|| it.total.quantile(0.99) * 1e3);
            table.row([
                it.name.clone(),
                level.connections.to_string(),
                fixed(Some(it.in_flight), 1),
                fixed(Some(level.rate), 1),
                if linear > 0.0 {
                    units::percent((level.rate / linear * 100.0).round() / 100.0)
                } else {
                    units::UNKNOWN.to_owned()
                },
                fixed(Some(it.total.quantile(0.5) * 1e3), 3),
                fixed(tail, 3),
                fixed(it.server_cpus(), 2),
                units::percent((it.client.busy * 100.0).round() / 100.0),
            ]);
        }
    }
    table.note("Of linear: through the rate that the fewest connections would have, multiplied.");
    table
}
