//! System calls per request in the style of `strace -c`, with the variants side by side.

use std::collections::BTreeMap;

use super::units::{self, fixed};
use super::{Format, ReportInput, Table};
use crate::record::{Pass, SyscallRow};

pub(super) const FORMAT: Format = Format {
    name: "strace",
    file: "strace.txt",
    about: "system calls per request, in the words of strace -c",
    print: |input| {
        let text: Vec<String> = tables(input).iter().map(Table::text).collect();
        if text.is_empty() {
            return Ok(b"No counting pass was made: set [sample] syscalls = 50.\n".to_vec());
        }
        Ok(text.join("\n").into_bytes())
    },
};

/// Returns the tables of the passes that counted system calls or instructions. Empty if there was no such pass.
pub(super) fn tables(input: &ReportInput<'_>) -> Vec<Table> {
    let passes: Vec<&Pass> = input.run.passes.iter().collect();
    let counted_passes: Vec<&Pass> = passes
        .iter()
        .copied()
        .filter(|it| !it.syscalls.is_empty())
        .collect();
    let mut tables = Vec::new();
    if !counted_passes.is_empty() {
        tables.push(calls(input, &counted_passes));
        tables.extend(differences(input, &counted_passes));
    }
    if !passes.is_empty() {
        tables.push(overview(input, &passes));
    }
    tables
}

/// Table of the calls per request by system call, the most frequent first.
fn calls(input: &ReportInput<'_>, passes: &[&Pass]) -> Table {
    let name = |pass: &Pass| input.variant_name(pass.variant).to_owned();
    let mut table = Table::new("strace-like: per request, children included, in a pass of its own")
        .words(["syscall"]);
    for (at, pass) in passes.iter().enumerate() {
        table = table.figures([format!("{} calls/req", name(pass))]);
        if at > 0 {
            table = table.figures(["ratio".to_owned()]);
        }
        table = table.figures(["errors/req", "usecs/call", "% time"]);
    }
    for syscall in names(passes) {
        let mut row = vec![syscall.to_owned()];
        let baseline = find(passes[0], syscall).map_or(0.0, |it| it.calls);
        for (at, pass) in passes.iter().enumerate() {
            let counts = find(pass, syscall);
            let calls = counts.map_or(0.0, |it| it.calls);
            row.push(fixed(Some(calls), 2));
            if at > 0 {
                row.push(if baseline > 0.0 {
                    units::ratio(calls / baseline)
                } else {
                    "new".to_owned()
                });
            }
            row.push(fixed(counts.map(|it| it.errors).filter(|it| *it > 0.0), 2));
            row.push(fixed(
                counts.map(|it| it.microseconds).filter(|it| *it > 0.0),
                1,
            ));
            let all: f64 = pass.syscalls.iter().map(time).sum();
            let share = counts
                .filter(|_| all > 0.0)
                .map(|it| 100.0 * time(it) / all);
            row.push(fixed(share, 1));
        }
        table.row(row);
    }
    table
}

/// Tables of the system calls that each variant makes more or less often than the first one, the largest difference
/// first.
fn differences(input: &ReportInput<'_>, passes: &[&Pass]) -> Vec<Table> {
    let Some((baseline, others)) = passes.split_first() else {
        return Vec::new();
    };
    let all = names(passes);
    let of = |pass: &Pass, name: &str| find(pass, name).map_or(0.0, |it| it.calls);
    let table = |other: &&Pass| {
        let (first, second) = (
            input.variant_name(baseline.variant),
            input.variant_name(other.variant),
        );
        let mut table = Table::new(format!("What differs per request: {second} beside {first}"))
            .words(["syscall"])
            .figures([first, second, "difference"]);
        let mut differing: Vec<(f64, &str)> = (all.iter())
            .map(|name| (of(other, name) - of(baseline, name), *name))
            .filter(|(difference, _)| difference.abs() >= LEAST)
            .collect();
        differing.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        for (difference, name) in &differing {
            table.row([
                (*name).to_owned(),
                fixed(Some(of(baseline, name)), 2),
                fixed(Some(of(other, name)), 2),
                format!("{difference:+.2}"),
            ]);
        }
        if differing.is_empty() {
            table.note(format!("Nothing by {LEAST} calls per request or more."));
        }
        table
    };
    others.iter().map(table).collect()
}

/// Smallest difference in calls per request that is reported. Smaller ones come from timers and the like that fired
/// while the calls of one variant were counted.
const LEAST: f64 = 0.05;

/// Table of the passes that counted system calls or instructions, with the method, requests, slowdown, and calls and
/// instructions per request.
fn overview(input: &ReportInput<'_>, passes: &[&Pass]) -> Table {
    let mut table = Table::new("Counting passes")
        .words(["variant", "method"])
        .figures(["requests", "slowdown", "calls/req", "instructions/req"]);
    for pass in passes {
        let calls: f64 = pass.syscalls.iter().map(|it| it.calls).sum();
        table.row([
            input.variant_name(pass.variant).to_owned(),
            pass.method.clone(),
            pass.requests.to_string(),
            if pass.slowdown > 0.0 {
                units::ratio(pass.slowdown)
            } else {
                units::UNKNOWN.to_owned()
            },
            fixed((!pass.syscalls.is_empty()).then_some(calls), 1),
            fixed(pass.instructions, 0),
        ]);
    }
    table.note("Slowdown: time per request while counting through that without. None of it is in the timed blocks.");
    table
}

/// Returns the names of all system calls, sorted by the highest number of calls per request that any of the passes
/// counted.
pub(super) fn names<'a>(passes: &[&'a Pass]) -> Vec<&'a str> {
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for row in passes.iter().flat_map(|pass| &pass.syscalls) {
        let calls = most.entry(&row.name).or_default();
        *calls = calls.max(row.calls);
    }
    let mut names: Vec<(&str, f64)> = most.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names.into_iter().map(|(name, _)| name).collect()
}

/// Finds the counts of the system call `name` in a counting pass.
pub(super) fn find<'a>(pass: &'a Pass, name: &str) -> Option<&'a SyscallRow> {
    pass.syscalls.iter().find(|it| it.name == name)
}

fn time(row: &SyscallRow) -> f64 {
    row.calls * row.microseconds
}
