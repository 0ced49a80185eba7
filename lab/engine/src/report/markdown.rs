//! The report as Markdown, for pull requests and wikis.

use std::fmt::Write as _;

use super::outcome::Outcome;
use super::table::markdown;
use super::{Format, ReportInput, Table, ab, jmeter, result, sar, strace, text, trust};

pub(super) const FORMAT: Format = Format {
    name: "md",
    file: "report.md",
    about: "verdicts and all tables as Markdown",
    print: |input| Ok(print(input).into_bytes()),
};

fn print(input: &ReportInput<'_>) -> String {
    let mut out = format!("## {}\n\n", markdown(&text::name(input)));
    let _ = writeln!(out, "**{}**\n", markdown(&result::sentence(input)));
    for line in text::head(input) {
        let _ = writeln!(out, "{}\n", markdown(&line));
    }
    out += &verdicts(input).markdown();
    out.push('\n');
    for line in trust::lines(input) {
        let _ = writeln!(out, "- {}", markdown(line.trim()));
    }
    for finding in &input.analysis.findings {
        let _ = writeln!(
            out,
            "- **{}** {}: {} *{}*",
            text::severity(finding.severity),
            finding.name,
            markdown(&finding.sentence),
            markdown(finding.advice)
        );
    }
    for source in &input.run.header.machine.missing {
        let _ = writeln!(out, "- Not available: {}", markdown(source));
    }
    let mut tables = ab::tables(input);
    tables.push(jmeter::table(input, jmeter::MOST_URLS));
    tables.push(sar::averages(input));
    tables.extend(strace::tables(input));
    for table in tables.iter().filter(|it| !it.rows.is_empty()) {
        let _ = write!(out, "\n{}", table.markdown());
    }
    out
}

/// Returns the verdicts as a table.
fn verdicts(input: &ReportInput<'_>) -> Table {
    let mut table = Table::new("Verdicts")
        .words(["compared", "metric"])
        .figures(["ratio", "95 % interval", "pairs", "ranks p"])
        .words(["verdict"]);
    for it in Outcome::all(input.analysis) {
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
