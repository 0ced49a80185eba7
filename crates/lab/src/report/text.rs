//! The first screen: what was compared, what came of it, how far to trust it.

use std::fmt::Write as _;

use super::outcome::{Outcome, Tone, quotable};
use super::table::harmless;
use super::{Format, Material, ab, units};
use crate::analysis::{Finding, Role, Severity};

pub(super) const FORMAT: Format = Format {
    name: "text",
    file: "report.txt",
    about: "verdicts, the ab-like table, the experiment's weaknesses",
    print: |material| Ok(print(material).into_bytes()),
};

fn print(material: &Material<'_>) -> String {
    let mut out = format!("{}\n", name(material));
    for line in head(material) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    verdicts(&mut out, material);
    out.push('\n');
    for table in ab::tables(material) {
        out += &table.text();
        out.push('\n');
    }
    for line in trust(material) {
        let _ = writeln!(out, "{line}");
    }
    findings(&mut out, material);
    missing(&mut out, material);
    out
}

/// The experiment's name.
pub(super) fn name(material: &Material<'_>) -> String {
    match material.run.header.scenario.name.as_str() {
        "" => "experiment".to_owned(),
        name => harmless(name),
    }
}

/// What was compared, where, when.
pub(super) fn head(material: &Material<'_>) -> Vec<String> {
    let header = &material.run.header;
    let design = &header.scenario.design;
    let blocks = material.run.blocks.len() as u32;
    let machine = &header.machine;
    let memory = match machine.memory {
        0 => String::new(),
        memory => units::bytes(memory as f64),
    };
    let known = [
        units::count(machine.cpus, "CPU"),
        machine.cpu.clone(),
        memory,
        machine.kernel.clone(),
        header.program.clone(),
        header.started.clone(),
    ];
    let known: Vec<String> = known.into_iter().filter(|it| !it.is_empty()).collect();
    vec![
        harmless(&format!(
            "{}, {}, primary metric {}, same means within ±{}",
            units::count(header.variants.len() as u32, "variant"),
            units::count(blocks, "block"),
            design.primary.name(),
            units::percent(design.same_within.0),
        )),
        harmless(&known.join(" · ")),
    ]
}

fn verdicts(out: &mut String, material: &Material<'_>) {
    let outcomes = Outcome::all(material.analysis);
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
    let mut primary = true;
    out.push_str("Verdicts (ratio to the baseline, 95 % interval)\n");
    for it in &outcomes {
        if primary && it.role == Role::Secondary {
            primary = false;
            out.push_str("Beside them (p values adjusted for their number)\n");
        }
        let start = format!(
            "  {:who$}  {:metric$}  {:ratio$} {:interval$}  {:>pairs$}  ",
            harmless(&it.who),
            it.metric,
            it.ratio,
            it.interval,
            it.pairs
        );
        let verdict = harmless(&it.verdict);
        let verdict = paint(material, it.tone.ansi(), &verdict);
        let _ = writeln!(out, "{start}{verdict}");
    }
}

/// How far the figures can be trusted: noise floor, blocks lost.
pub(super) fn trust(material: &Material<'_>) -> Vec<String> {
    let analysis = material.analysis;
    let mut lines = Vec::new();
    lines.push(match &analysis.noise_floor {
        Some(floor) => format!(
            "Noise floor: the baseline against itself {} {}: effects below ±{} cannot be told from nothing{}",
            units::ratio(floor.ratio),
            units::interval(floor.interval.low, floor.interval.high),
            units::percent(floor.half_width),
            if floor.suspect {
                "; it differs from itself, so this run is suspect"
            } else {
                ""
            }
        ),
        None => "Noise floor: unknown, since the baseline was not compared with itself".to_owned(),
    });
    let discards = &analysis.discards;
    let mut line = format!(
        "Discards: {} tried, {} disturbed, {} failed",
        units::count(discards.tried, "pair"),
        discards.discarded,
        discards.failed
    );
    for (reason, blocks) in &discards.reasons {
        let _ = write!(
            line,
            "; {}: {}",
            harmless(reason),
            units::count(*blocks, "block")
        );
    }
    lines.push(line);
    let with_discarded = analysis.primary().filter_map(|it| {
        let with = quotable(it).and(it.with_discarded.as_ref())?;
        Some(format!(
            "  with discarded blocks, {} / {} would be {} {}",
            harmless(&it.name),
            harmless(&it.baseline),
            units::ratio(with.ratio),
            units::interval(with.interval_95.low, with.interval_95.high)
        ))
    });
    lines.extend(with_discarded);
    lines.extend(failures(material));
    lines.extend(stability(material));
    lines.extend(work(material));
    lines
}

/// A variant can be as fast on average, and less dependable.
fn stability(material: &Material<'_>) -> impl Iterator<Item = String> {
    material.analysis.primary().filter_map(|it| {
        let stability = quotable(it).and(it.stability.as_ref())?;
        let (baseline, own) = stability.longest_wait;
        Some(format!(
            "Stability: {} / {}: spread between blocks {} (p {:.3}), longest wait {} against {}",
            harmless(&it.name),
            harmless(&it.baseline),
            units::ratio(stability.spread_ratio),
            stability.p,
            units::duration(own),
            units::duration(baseline)
        ))
    })
}

/// Are the replies the same work? Differences by URL, so many of them.
fn work(material: &Material<'_>) -> Vec<String> {
    let judged = &material.judged.work;
    let different: Vec<_> = judged.iter().filter(|it| !it.same).collect();
    if judged.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![match different.len() {
        0 => format!("Same work: all of {} replies", judged.len()),
        some => format!(
            "Same work: {some} of {} replies differ or are wrong",
            judged.len()
        ),
    }];
    lines.extend(different.iter().take(MOST_DIFFERENCES).map(|it| {
        let name = material.variant_name(it.variant);
        harmless(&format!("  {name} {}: {}", it.url, it.detail))
    }));
    if different.len() > MOST_DIFFERENCES {
        lines.push(format!("  and {} more", different.len() - MOST_DIFFERENCES));
    }
    lines
}

/// More of them would push everything else off the screen.
const MOST_DIFFERENCES: usize = 6;

/// Each distinct reason why blocks failed, once.
fn failures(material: &Material<'_>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for block in &material.run.blocks {
        if let Some(why) = &block.failure {
            let line = format!("  {}: {}", harmless(material.name(block)), harmless(why));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn findings(out: &mut String, material: &Material<'_>) {
    let findings = &material.analysis.findings;
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
        let word = paint(material, tone(finding).ansi(), severity(finding.severity));
        let sentence = harmless(&finding.sentence);
        let _ = writeln!(out, "  {word} {}: {sentence}", finding.name);
        let _ = writeln!(out, "      -> {}", finding.advice);
    }
}

fn missing(out: &mut String, material: &Material<'_>) {
    let missing = &material.run.header.machine.missing;
    if !missing.is_empty() {
        out.push_str("\nNot available on this machine\n");
        for source in missing {
            let _ = writeln!(out, "  {}", harmless(source));
        }
    }
}

/// A severity as a word.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Grave => "GRAVE",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// How a finding sounds.
pub(super) fn tone(finding: &Finding) -> Tone {
    match finding.severity {
        Severity::Grave => Tone::Bad,
        Severity::Warning => Tone::Unsure,
        Severity::Note => Tone::Calm,
    }
}

fn paint(material: &Material<'_>, ansi: &str, text: &str) -> String {
    if material.colour {
        format!("{ansi}{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}
