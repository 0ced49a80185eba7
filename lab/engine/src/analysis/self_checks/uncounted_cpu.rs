//! Check `uncounted-cpu`: the server's process tree explains little of the CPU time that was used. In report 4 of
//! `lab/docs/field-reports.md`, the server without its child processes would have explained only 8 % of it.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;

/// Minimum share of the CPU time (without the client's) that the server's process tree should explain.
const EXPLAINED: f64 = 0.50;
/// Share of the machine that must be busy for the check to apply.
const BUSY: f64 = 0.10;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "uncounted-cpu",
    about: "the server's process tree explains little of the CPU time that was used",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let cpus = f64::from(evidence.run.header.machine.cpus.max(1));
    evidence.each(|subject| {
        let share = subject.median(|block| explained(block, cpus))?;
        (share < EXPLAINED).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: the server's processes, children included, explain {:.0} % of the CPU time that was used \
                 beside the client's.",
                subject.name(),
                share * 100.0
            ),
            advice: "look for work done outside of its tree (another service, the kernel), or for other \
                     programs on the machine; CPU per request is too low",
        })
    })
}

fn explained(block: &Block, cpus: f64) -> Option<f64> {
    let all = cpus * block.load.seconds;
    let busy = (block.system.user + block.system.system) * all - block.client.cpu_seconds;
    (block.server.is_known() && all > 0.0 && busy > BUSY * all)
        .then(|| block.server.cpu_seconds() / busy)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::ServerCost;

    #[test]
    fn a_server_that_explains_eight_percent_is_told() {
        let run = fixture::run(1, 4, |block| {
            let busy = (block.system.user + block.system.system) * 2.0 * block.load.seconds;
            block.server.user_seconds = 0.08 * (busy - block.client.cpu_seconds);
            block.server.system_seconds = 0.0;
        });
        assert!(sentence(&CHECK, &run).contains("explain 8 %"));
    }

    #[test]
    fn a_server_that_was_never_looked_at_explains_nothing() {
        let run = fixture::run(1, 4, |block| block.server = ServerCost::default());
        assert!(found(&CHECK, &run).is_empty());
    }

    #[test]
    fn an_idle_machine_has_nothing_to_explain() {
        let run = fixture::run(1, 4, |block| {
            (block.system.user, block.system.system) = (0.05, 0.02);
            block.server.user_seconds = 0.01;
            block.server.system_seconds = 0.0;
        });
        assert!(found(&CHECK, &run).is_empty());
    }
}
