//! The report as JSON: header, analysis, passes and what was judged of the replies. Blocks are in the run's own
//! files.

use serde_json::json;

use super::{Format, Material};

pub(super) const FORMAT: Format = Format {
    name: "json",
    file: "report.json",
    about: "header, analysis and judgement of replies",
    print,
};

fn print(material: &Material<'_>) -> Result<Vec<u8>, String> {
    let typical: Vec<_> = (material.judged.typical.iter())
        .map(|(variant, url, reply)| json!({ "variant": variant, "url": url, "reply": reply }))
        .collect();
    let all = json!({
        "header": material.run.header,
        "analysis": material.analysis,
        "passes": material.run.passes,
        "judged": { "work": material.judged.work, "typical": typical },
    });
    let mut text = serde_json::to_vec_pretty(&all).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(text)
}
