//! The text report, whose first screen tells what was compared, what the result is and how far it can be trusted.

use std::fmt::Write as _;

use super::outcome::{Outcome, Tone};
use super::table::harmless;
use super::{Format, ReportInput, ab, result, trust, units};
use crate::analysis::{Finding, Role, Severity};
use crate::record::Purpose;

pub(super) const FORMAT: Format = Format {
    name: "text",
    file: "report.txt",
    about: "verdicts, the ab-like table, the experiment's weaknesses",
    print: |input| Ok(print(input).into_bytes()),
};

fn print(input: &ReportInput<'_>) -> String {
    let mut out = format!("{}\n", name(input));
    let _ = writeln!(out, "{}", harmless(&result::sentence(input)));
    for line in head(input) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    if input.run.header.purpose == Purpose::Comparison {
        verdicts(&mut out, input);
        out.push('\n');
    }
    for table in ab::tables(input) {
        out += &table.text();
        out.push('\n');
    }
    for line in trust::lines(input) {
        let _ = writeln!(out, "{line}");
    }
    findings(&mut out, input);
    missing_sources(&mut out, input);
    out
}

/// Returns the experiment's name, or `experiment` if it has none.
pub(super) fn name(input: &ReportInput<'_>) -> String {
    match input.run.header.scenario.name.as_str() {
        "" => "experiment".to_owned(),
        name => harmless(name),
    }
}

/// Returns the lines that tell what was compared, on which machine and when.
pub(super) fn head(input: &ReportInput<'_>) -> Vec<String> {
    let header = &input.run.header;
    let design = &header.scenario.design;
    let blocks = input.run.blocks.len() as u32;
    let machine = &header.machine;
    let memory = match machine.memory {
        0 => String::new(),
        memory => units::bytes(memory as f64),
    };
    let facts = [
        units::count(machine.cpus, "CPU"),
        machine.cpu.clone(),
        memory,
        machine.kernel.clone(),
        header.program.clone(),
        header.started.clone(),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|it| !it.is_empty()).collect();
    vec![
        harmless(&format!(
            "{}, {}, primary metric {}, same means within ±{}",
            units::count(header.variants.len() as u32, "variant"),
            units::count(blocks, "block"),
            design.primary.name(),
            units::percent(design.same_within.0),
        )),
        harmless(&facts.join(" · ")),
    ]
}

fn verdicts(out: &mut String, input: &ReportInput<'_>) {
    let outcomes = Outcome::all(input.analysis);
    if outcomes.is_empty() {
        out.push_str("Verdicts: none, since there is nothing to compare\n");
        return;
    }
    let width = |of: fn(&Outcome) -> &str| {
        let widths = outcomes.iter().map(|it| of(it).chars().count());
        widths.max().unwrap_or(0)
    };
    let (who, metric, ratio) = (
        width(|it| &it.who),
        width(|it| it.metric),
        width(|it| &it.ratio),
    );
    let (interval, pairs) = (width(|it| &it.interval), width(|it| &it.pairs));
    let ranks = width(|it| &it.ranks);
    let mut primary = true;
    let interim = match input.analysis.interim_analyses {
        1 => String::new(),
        count => format!(", adjusted for {count} interim analyses"),
    };
    let _ = writeln!(
        out,
        "Verdicts (ratio to the baseline, 95 % interval{interim}, pairs, p of signed ranks)"
    );
    for it in &outcomes {
        if primary && it.role == Role::Secondary {
            primary = false;
            out.push_str("Secondary metrics (intervals and p values adjusted for their number)\n");
        }
        let start = format!(
            "  {:who$}  {:metric$}  {:ratio$} {:interval$}  {:>pairs$}  {:>ranks$}  ",
            harmless(&it.who),
            it.metric,
            it.ratio,
            it.interval,
            it.pairs,
            it.ranks
        );
        let verdict = harmless(&it.verdict);
        let verdict = paint(input, it.tone.ansi(), &verdict);
        let _ = writeln!(out, "{start}{verdict}");
    }
}

/// Appends to `out` what the checks of the experiment itself have found.
pub(super) fn findings(out: &mut String, input: &ReportInput<'_>) {
    let findings = &input.analysis.findings;
    if findings.is_empty() {
        out.push_str("Self-checks: nothing found\n");
        return;
    }
    let _ = writeln!(
        out,
        "\nSelf-checks: {}",
        units::count(findings.len() as u32, "finding")
    );
    for finding in findings {
        let word = paint(input, tone(finding).ansi(), severity(finding.severity));
        let sentence = harmless(&finding.sentence);
        let _ = writeln!(out, "  {word} {}: {sentence}", finding.name);
        let _ = writeln!(out, "      -> {}", finding.advice);
    }
}

fn missing_sources(out: &mut String, input: &ReportInput<'_>) {
    let missing_sources = &input.run.header.machine.missing;
    if !missing_sources.is_empty() {
        out.push_str("\nNot available on this machine\n");
        for source in missing_sources {
            let _ = writeln!(out, "  {}", harmless(source));
        }
    }
}

/// Returns a severity as a word.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Returns the tone in which a finding is shown, by its severity.
pub(super) fn tone(finding: &Finding) -> Tone {
    match finding.severity {
        Severity::Critical => Tone::Bad,
        Severity::Warning => Tone::Unsure,
        Severity::Note => Tone::Calm,
    }
}

fn paint(input: &ReportInput<'_>, ansi: &str, text: &str) -> String {
    if input.colour {
        format!("{ansi}{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}
