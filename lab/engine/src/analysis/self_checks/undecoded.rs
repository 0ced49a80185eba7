//! Check `undecoded`: replies were not decoded, so that a broken or wrong image would pass unnoticed. This is so in all
//! five reports in `lab/docs/field-reports.md`.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::scenario::BodyCheck;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "undecoded",
    about: "replies were not decoded, or not even hashed",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    // A run with a single server compares no replies.
    if evidence.observes() {
        return Vec::new();
    }
    let looked_at = match evidence.run.header.scenario.check.body {
        BodyCheck::Decode => return Vec::new(),
        BodyCheck::Hash => "hashed, but not decoded",
        BodyCheck::Length => "compared by length only",
        BodyCheck::None => "not looked at",
    };
    vec![Remark {
        severity: Severity::Note,
        sentence: format!("Replies were {looked_at}: whether they are whole images is not known."),
        advice: "use check.body = \"hash-all, decode-distinct\" where replies are images",
    }]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::scenario::BodyCheck;

    #[test]
    fn replies_that_nobody_decoded_are_told() {
        let mut run = fixture::run(2, 4, |_| {});
        assert!(found(&CHECK, &run).is_empty());
        run.header.scenario.check.body = BodyCheck::Length;
        assert!(sentence(&CHECK, &run).contains("by length only"));
    }
}
