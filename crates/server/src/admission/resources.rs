//! Logs in one line at the start which resources the server has found on the machine or in its container, and the
//! consequences.

use std::num::NonZero;
use std::thread;

use super::cgroup;
use super::shares::Shares;
use crate::config::{Bytes, Config};

/// Logs the resources that were found, and their consequences for this configuration.
pub(crate) fn report(config: &Config) {
    let shares = Shares::of(config);
    let memory = cgroup::memory();
    let quota = cgroup::cpu_quota();
    let workers = config.workers();
    tracing::info!(
        workers,
        cpus = thread::available_parallelism().map_or(1, NonZero::get),
        cpu_quota = quota.map(to_cpus),
        memory_bytes = memory.map(|memory| memory.bytes),
        memory_limited_by = memory.map(|memory| memory.by),
        budget_bytes = shares.work(),
        cache_bytes = shares.cache,
        "{}",
        consequence(workers, quota, shares)
    );
}

/// Returns the log message, which says how much processor time the workers leave unused or lack under the `quota`, in
/// thousandths of a CPU.
fn consequence(workers: usize, quota: Option<u64>, shares: Shares) -> String {
    let budget = Bytes(shares.work());
    let threads = match workers {
        1 => "1 worker".to_owned(),
        many => format!("{many} workers"),
    };
    let plan = format!("resources: {threads}, {budget} for work on images");
    let needed = 1000 * workers as u64;
    match quota {
        Some(quota) if needed < quota => format!(
            "{plan}; of {} CPUs (cpu.max) {} remain for connections: a worker takes a whole one",
            to_cpus(quota),
            to_cpus(quota - needed)
        ),
        Some(quota) if needed > quota => format!(
            "{plan}; with {} CPUs (cpu.max) the kernel stops all threads for a part of each period",
            to_cpus(quota)
        ),
        _ => plan,
    }
}

fn to_cpus(thousandths: u64) -> f64 {
    thousandths as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_a_processor_is_told() {
        let mut config = Config::default();
        config.memory_budget.0 = 400 << 20;
        let shares = Shares::of(&config);
        let told = |workers, quota| consequence(workers, quota, shares);
        let plan = "resources: 1 worker, 400.0 MiB for work on images";
        assert_eq!(told(1, None), plan);
        assert_eq!(told(1, Some(1000)), plan);
        assert_eq!(
            told(1, Some(1500)),
            format!(
                "{plan}; of 1.5 CPUs (cpu.max) 0.5 remain for connections: a worker takes a whole one"
            )
        );
        assert!(told(1, Some(500)).contains("with 0.5 CPUs"));
    }
}
