//! Check `reply-bytes`: replies for one URL differ in size, so that variants may not do the same work. In report 3 of
//! `lab/docs/field-reports.md`, replies of the same quality had 44 KB and 14 KB.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Largest difference in size, as a share, between two variants' replies for one URL.
const ALLOWED: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "reply-bytes",
    about: "replies of one URL differ in size between variants",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (baseline, other) in evidence.versus_baseline() {
        let per_reply = |it: &crate::record::UrlResult| {
            (it.completed > 0).then(|| it.bytes_body as f64 / it.completed as f64)
        };
        let sizes = baseline.summary.urls.iter().zip(&other.summary.urls);
        let differing: Vec<_> = sizes
            .filter(|(a, b)| a.url == b.url)
            .filter_map(|(a, b)| Some((&a.url, per_reply(a)?, per_reply(b)?)))
            .filter(|(_, a, b)| (b - a).abs() > ALLOWED * a.max(*b))
            .collect();
        let Some((url, a, b)) = differing.first() else {
            continue;
        };
        remarks.push(Remark {
            severity: Severity::Warning,
            sentence: format!(
                "Replies differ in size at {} of {} URLs: {url} has {:.1} KB from {} and {:.1} KB from {}.",
                differing.len(),
                baseline.summary.urls.len(),
                a / 1000.0,
                baseline.name(),
                b / 1000.0,
                other.name()
            ),
            advice: "compare what is in them (expect = \"same-pixels\" or \"ssim >= 0.98\") before speeds",
        });
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Arm;

    #[test]
    fn fourteen_kilobytes_are_not_the_work_of_forty_four() {
        let with_size = |bytes: u64| {
            fixture::run(2, 4, |block| {
                let each = if block.arm == Arm::Variant {
                    bytes
                } else {
                    44_000
                };
                block.load.urls[0].bytes_body = block.load.completed * each;
            })
        };
        let text = sentence(&CHECK, &with_size(14_000));
        assert!(
            text.contains("44.0 KB from v0 and 14.0 KB from v1"),
            "{text}"
        );
        assert!(found(&CHECK, &with_size(43_000)).is_empty());
    }
}
