//! The report as Markdown, for pull requests and wikis.

use std::fmt::Write as _;

use super::outcome::Outcome;
use super::table::markdown;
use super::{Format, Material, Table, ab, jmeter, result, sar, strace, text, trust};

pub(super) const FORMAT: Format = Format {
    name: "md",
    file: "report.md",
    about: "verdicts and all tables as Markdown",
    print: |material| Ok(print(material).into_bytes()),
};

fn print(material: &Material<'_>) -> String {
    let mut out = format!("## {}\n\n", markdown(&text::name(material)));
    let _ = writeln!(out, "**{}**\n", markdown(&result::sentence(material)));
    for line in text::head(material) {
        let _ = writeln!(out, "{}\n", markdown(&line));
    }
    out += &verdicts(material).markdown();
    out.push('\n');
    for line in trust::lines(material) {
        let _ = writeln!(out, "- {}", markdown(line.trim()));
    }
    for finding in &material.analysis.findings {
        let _ = writeln!(
            out,
            "- **{}** {}: {} *{}*",
            text::severity(finding.severity),
            finding.name,
            markdown(&finding.sentence),
            markdown(finding.advice)
        );
    }
    for source in &material.run.header.machine.missing {
        let _ = writeln!(out, "- Not available: {}", markdown(source));
    }
    let mut tables = ab::tables(material);
    tables.push(jmeter::table(material, jmeter::MOST_URLS));
    tables.push(sar::averages(material));
    tables.extend(strace::tables(material));
    for table in tables.iter().filter(|it| !it.rows.is_empty()) {
        let _ = write!(out, "\n{}", table.markdown());
    }
    out
}

/// The verdicts as a table.
fn verdicts(material: &Material<'_>) -> Table {
    let mut table = Table::new("Verdicts")
        .words(["compared", "metric"])
        .figures(["ratio", "95 % interval", "pairs", "ranks p"])
        .words(["verdict"]);
    for it in Outcome::all(material.analysis) {
        table.row([
            it.who,
            it.metric.to_owned(),
            it.ratio,
            it.interval,
            it.pairs,
            it.ranks,
            it.verdict,
        ]);
    }
    table
}
