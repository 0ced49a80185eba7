//! The Markdown page of results: tables, and every missed row with its reason.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::misses::Misses;
use crate::rows::{KINDS, Row};
use crate::verdict::Verdict;

type Judged<'a> = (&'a Row, &'a Verdict);

/// The number of rows of the manifest by outcome.
#[derive(Default)]
struct Count {
    rows: usize,
    passed: usize,
    partly: usize,
    sure: usize,
    sure_passed: usize,
}

impl Count {
    fn add(&mut self, row: &Row, verdict: &Verdict) {
        let passed = usize::from(!verdict.missed());
        self.rows += 1;
        self.passed += passed;
        self.partly +=
            usize::from(matches!(verdict, Verdict::Passed { gaps, .. } if !gaps.is_empty()));
        if row.sure() {
            self.sure += 1;
            self.sure_passed += passed;
        }
    }

    fn line(&self, name: &str) -> String {
        let sure = match self.sure {
            0 => "–".to_owned(),
            sure => format!(
                "{} of {sure} ({:.1} %)",
                self.sure_passed,
                100.0 * self.sure_passed as f64 / sure as f64
            ),
        };
        format!(
            "| {name} | {} | {} | {sure} | {} | {} |\n",
            self.rows,
            self.passed,
            self.rows - self.passed,
            self.partly
        )
    }
}

const HEAD: &str = "| rows | passed | of those that are agreed | missed | partly judged |\n|---|---|---|---|---|---|\n";

/// Returns one table of results by file format and one by the kind of the manifest's rows, as Markdown.
pub(crate) fn tables(judged: &[Judged<'_>]) -> String {
    let mut formats: BTreeMap<(&str, &str), Count> = BTreeMap::new();
    let mut kinds: BTreeMap<usize, Count> = BTreeMap::new();
    let mut all = Count::default();
    for (row, verdict) in judged {
        formats
            .entry((row.folder(), &row.format))
            .or_default()
            .add(row, verdict);
        let kind = KINDS
            .iter()
            .position(|kind| *kind == row.kind())
            .unwrap_or(0);
        kinds.entry(kind).or_default().add(row, verdict);
        all.add(row, verdict);
    }
    let mut text = format!("\n| files {HEAD}");
    for ((folder, format), count) in &formats {
        text += &count.line(&match folder == format {
            true => (*format).to_owned(),
            false => format!("{folder}: {format}"),
        });
    }
    text += &all.line("all");
    let _ = write!(text, "\n| what is asked {HEAD}");
    for (kind, count) in &kinds {
        text += &count.line(KINDS[*kind]);
    }
    text
}

/// Returns the whole page as Markdown.
pub(crate) fn write(judged: &[Judged<'_>], misses: &Misses) -> String {
    let mut text = String::from(INTRODUCTION);
    text += &tables(judged);
    text += "\n## What is missed\n";
    let mut reasons: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    for row in judged.iter().filter(|(_, verdict)| verdict.missed()) {
        let why = misses.why(&row.0.path).unwrap_or("not explained yet");
        reasons.entry(why).or_default().push(row);
    }
    for (why, rows) in reasons {
        let _ = write!(text, "\n**{why}** ({}):\n\n", rows.len());
        for (row, verdict) in rows {
            if let Verdict::Missed(what) = verdict {
                let _ = writeln!(text, "- `{}`: {what}", row.path);
            }
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Conformance

Written by `./dev conformance --write`; not to be edited. A server with the default limits, but 40 s of `limits.cpu` and
waits of a minute, is asked over HTTP for every file of the conformance set: for the image at its own size as PNG (all
frames as APNG), which is held against the answer beside it, and then for the same at half the size, for single frames, in
the file's own format where Andon writes that, and by a URL of imgproxy's, which are held against the first. A server that
ends is a missed row. Text of an SVG needs the set's fonts, which only the decoder can be given: it is judged there. So are
the exact planes of AV1, by `./dev conformance --decoders`. *Agreed* rows are those whose answer several decoders give, or
the suite itself. *Partly judged* means that something of the row's answer has nothing in Andon to hold it against yet (`-v`
says what). *refuse*: the file has to be refused with a 413, 415 or 422, and the server lives on. Images in sRGB may be 3
levels off lcms2's in the mean. 415 passes for TIFF samples that are documented as not read (float, signed, more than 16
bits), and for HEIC. Why a row is missed is explained in `tools/conformance/misses.txt`.
";
