//! Description of the machine on which a run is made.

use std::fs;
use std::thread;

use crate::record::Machine;

impl Machine {
    /// Reads the machine's description from `/proc` and `/sys`, and lists the sources of samples that it lacks.
    #[must_use]
    pub fn read() -> Self {
        let line = |path: &str| {
            fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let kernel = ["/proc/sys/kernel/ostype", "/proc/sys/kernel/osrelease"]
            .map(line)
            .join(" ");
        let missing_sources = SOURCES.iter().filter_map(|(path, gives)| {
            let error = fs::read(path).err()?;
            Some(format!("{path} ({gives}): {error}"))
        });
        Self {
            kernel: kernel.trim().to_owned(),
            cpu: value(
                &line("/proc/cpuinfo"),
                &["model name", "Model", "cpu model"],
            ),
            cpus: thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
            memory: kibibytes(&line("/proc/meminfo"), "MemTotal").unwrap_or(0) * 1024,
            clock: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            governor: line(GOVERNOR),
            missing: missing_sources.collect(),
        }
    }
}

/// Returns the value of the first of these keys that occurs in a text of `key : value` lines, or an empty text.
fn value(text: &str, keys: &[&str]) -> String {
    let pairs = || text.lines().filter_map(|line| line.split_once(':'));
    let line = keys
        .iter()
        .find_map(|key| pairs().find(|(name, _)| name.trim() == *key));
    line.map_or(String::new(), |(_, value)| value.trim().to_owned())
}

fn kibibytes(text: &str, key: &str) -> Option<u64> {
    value(text, &[key]).split(' ').next()?.parse().ok()
}

const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/// Files from which samples are read, each with what is missing if it cannot be read.
const SOURCES: [(&str, &str); 7] = [
    ("/proc/stat", "CPU states"),
    ("/proc/loadavg", "load average"),
    ("/proc/pressure/cpu", "waiting for CPUs"),
    ("/proc/net/snmp", "TCP retransmits"),
    ("/proc/self/schedstat", "run-queue wait, client CPU"),
    ("/proc/self/io", "storage bytes"),
    (GOVERNOR, "frequency governor"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells_its_kernel_and_its_memory() {
        let machine = Machine::read();
        assert!(machine.kernel.starts_with("Linux "), "{}", machine.kernel);
        assert!(machine.cpus > 0 && machine.memory > 1 << 20);
        for source in &machine.missing {
            assert!(source.contains("): "), "without a reason: {source}");
        }
    }
}
