//! Whether a block counts. Noise measurements (steal, CPU use of other processes, CPU probes) decide this, by limits
//! that the scenario declares before the run (`[design.discard]`); the block's result never does.

use crate::record::{Block, Noise, Run};
use crate::scenario::Discard;
use crate::stats::median;

/// Returns why this block does not count; `None` if no noise measurement exceeds its limit.
pub(super) fn reason(rules: &Discard, noise: &Noise, run: &Run) -> Option<String> {
    let steal = rules.steal.0.0;
    if noise.steal > steal {
        return Some(format!("steal > {}", rules.steal.0));
    }
    if noise.foreign > rules.foreign_cpu.0.0 {
        return Some(format!("foreign CPU > {}", rules.foreign_cpu.0));
    }
    let usual: Vec<f64> = run.blocks.iter().flat_map(probes).collect();
    let probes = [noise.probe.before, noise.probe.after];
    // After few blocks the usual speed is not known yet, so only the block's own two probes are compared.
    let usual = match median(&usual) {
        Some(usual_speed) if usual.len() >= ENOUGH => usual_speed,
        _ => probes[0].min(probes[1]),
    };
    let off = probes
        .iter()
        .map(|probe| (probe / usual - 1.0).abs())
        .fold(0.0, f64::max);
    (usual > 0.0 && off > rules.probe.0.0)
        .then(|| format!("probe off by more than {}", rules.probe.0))
}

fn probes(block: &Block) -> [f64; 2] {
    [block.noise.probe.before, block.noise.probe.after]
}

/// Number of CPU probes in a run that are needed before their median counts as the machine's usual speed.
const ENOUGH: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Probe;

    fn noise(steal: f64, foreign: f64, before: f64, after: f64) -> Noise {
        Noise {
            steal,
            foreign,
            probe: Probe { before, after },
            ..Noise::default()
        }
    }

    fn said(noise: &Noise) -> Option<String> {
        let scenario =
            crate::scenario::Scenario::parse("[server]\ncmd = [\"true\"]\n", ".".as_ref());
        let run = Run {
            header: crate::record::Header {
                schema: 1,
                program: String::new(),
                purpose: Default::default(),
                started: String::new(),
                scenario: scenario.expect("a scenario"),
                variants: Vec::new(),
                machine: Default::default(),
                programs: Vec::new(),
            },
            blocks: Vec::new(),
            passes: Vec::new(),
        };
        reason(&Discard::default(), noise, &run)
    }

    #[test]
    fn a_calm_block_counts() {
        assert_eq!(said(&noise(0.0, 0.01, 0.02, 0.0205)), None);
    }

    #[test]
    fn each_signal_disqualifies_by_itself() {
        for (noise, word) in [
            (noise(0.2, 0.0, 0.02, 0.02), "steal"),
            (noise(0.0, 0.5, 0.02, 0.02), "foreign"),
            (noise(0.0, 0.0, 0.02, 0.03), "probe"),
        ] {
            assert!(said(&noise).is_some_and(|why| why.contains(word)), "{word}");
        }
    }
}
