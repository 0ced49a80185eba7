//! Metrics from `/proc` and `/sys`: about the machine once per run, about the server and the system once per block.

use serde::{Deserialize, Serialize};

/// The machine on which a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name and release of the kernel, as `uname -sr` prints them.
    pub kernel: String,
    /// Model name of the processor, as `/proc/cpuinfo` gives it.
    pub cpu: String,
    /// Number of CPUs that this process may use.
    pub cpus: u32,
    /// Total memory in bytes.
    pub memory: u64,
    /// The kernel's clock source, e.g. `tsc`; empty if unknown.
    pub clock: String,
    /// The CPU frequency governor; empty if the machine does not show one.
    pub governor: String,
    /// Sources of samples that are missing on this machine, each with the reason.
    pub missing: Vec<String>,
}

impl Machine {
    /// Returns eight hexadecimal digits derived from the processor's model, the number of CPUs and the memory. Figures
    /// are comparable between machines with the same key. Kernels reserve a little memory for themselves, so it is
    /// rounded to whole GiB.
    #[must_use]
    pub fn key(&self) -> String {
        let memory = (self.memory as f64 / f64::from(1 << 30)).round();
        let text = format!("{}\n{}\n{memory}", self.cpu, self.cpus);
        blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
    }
}

/// Resources that the server's process tree used within the measured window, including children that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCost {
    /// CPU seconds of the server in user mode.
    pub user_seconds: f64,
    /// CPU seconds of the server in kernel mode.
    pub system_seconds: f64,
    /// Seconds that the server's threads waited in the run queue for a CPU; 0 where schedstat is missing.
    pub run_queue_seconds: f64,
    /// Largest number of the server's threads seen at once.
    pub threads_peak: u32,
    /// Largest number of the server's processes seen at once.
    pub processes_peak: u32,
    /// Largest resident memory of the server seen at once, in bytes, summed over its processes (shared pages count in
    /// each of them).
    pub rss_peak: u64,
    /// Number of voluntary and involuntary context switches of the server's threads.
    pub context_switches: u64,
    /// Number of major page faults of the server.
    pub major_faults: u64,
    /// Bytes that the server read from and wrote to storage.
    pub storage_bytes: u64,
}

impl ServerCost {
    /// Returns whether the server's processes were seen at all. Those of a server that the laboratory did not start may
    /// be unknown.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.threads_peak > 0
    }

    /// Returns the CPU seconds of the server in user and kernel mode together.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

/// Load of the whole machine within the measured window. Times are shares of all CPUs, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemLoad {
    /// CPU time in user mode, including nice, as a share of all CPUs.
    pub user: f64,
    /// CPU time in kernel mode, including interrupts, as a share of all CPUs.
    pub system: f64,
    /// Idle CPU time with storage requests outstanding, as a share of all CPUs: unreliable, as on any machine.
    pub iowait: f64,
    /// CPU time taken by other virtual machines on the same host, as a share of all CPUs.
    pub steal: f64,
    /// Idle CPU time, as a share of all CPUs.
    pub idle: f64,
    /// Mean of the sampled numbers of runnable tasks: what a load average would show without its decay.
    pub runnable: f64,
    /// Mean of the sampled numbers of blocked tasks.
    pub blocked: f64,
    /// One-minute load average at the end of the window. It decays slowly, so it is comparable only between windows of
    /// equal length.
    pub load_1: f64,
    /// Context switches per second on the whole machine.
    pub context_switches: f64,
    /// Processes created per second on the whole machine.
    pub forks: f64,
    /// Share of time in which at least one task waited for a CPU (PSI); `None` where the kernel does not provide it.
    pub pressure: Option<f64>,
    /// TCP segments retransmitted within the window.
    pub retransmits: u64,
}

/// One sample of a block's timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Seconds since the run began.
    pub at: f64,
    /// CPU time in user mode since the previous sample, as a share of all CPUs, 0 to 1.
    pub user: f64,
    /// CPU time in kernel mode since the previous sample, as a share of all CPUs.
    pub system: f64,
    /// Idle CPU time with storage requests outstanding since the previous sample, as a share of all CPUs.
    pub iowait: f64,
    /// CPU time taken by other virtual machines since the previous sample, as a share of all CPUs.
    pub steal: f64,
    /// Number of tasks that were runnable at the time of the sample.
    pub runnable: u32,
    /// One-minute load average.
    pub load_1: f64,
    /// Number of CPUs that the server's process tree used since the previous sample, e.g. 1.7.
    pub server_cpus: f64,
    /// Resident memory of the server's process tree, in bytes.
    pub server_rss: u64,
    /// Number of threads of the server's process tree.
    pub server_threads: u32,
    /// Number of CPUs that the client's threads used since the previous sample.
    pub client_cpus: f64,
    /// How late this sample was taken, in seconds.
    pub late: f64,
}
