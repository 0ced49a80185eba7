//! The report as JSON: header, analysis, the passes that counted system calls or instructions, and the judgement of
//! replies. The blocks are in the run's own files.

use serde_json::json;

use super::{Format, ReportInput};

pub(super) const FORMAT: Format = Format {
    name: "json",
    file: "report.json",
    about: "header, analysis and judgement of replies",
    print,
};

fn print(input: &ReportInput<'_>) -> Result<Vec<u8>, String> {
    let typical: Vec<_> = (input.judgement.typical.iter())
        .map(|(variant, url, reply)| json!({ "variant": variant, "url": url, "reply": reply }))
        .collect();
    let all = json!({
        "header": input.run.header,
        "analysis": input.analysis,
        "passes": input.run.passes,
        "judged": { "work": input.judgement.work, "typical": typical },
    });
    let mut text = serde_json::to_vec_pretty(&all).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(text)
}
