//! What /proc told: the machine once, the server and the system per block.

use serde::{Deserialize, Serialize};

/// The machine a run was made on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -sr`.
    pub kernel: String,
    /// The processor's name for itself.
    pub cpu: String,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory: u64,
    /// The kernel's clock source, e.g. `tsc`; empty if it does not tell.
    pub clock: String,
    /// The frequency governor; empty if there is none to be seen.
    pub governor: String,
    /// Sources of samples that this machine does not offer, each with the reason.
    pub missing: Vec<String>,
}

impl Machine {
    /// Eight letters that stand for its processor, their number and its memory: what figures can be compared on.
    /// Kernels keep a little memory for themselves, so only whole GiB count.
    #[must_use]
    pub fn key(&self) -> String {
        let memory = (self.memory as f64 / f64::from(1 << 30)).round();
        let text = format!("{}\n{}\n{memory}", self.cpu, self.cpus);
        blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
    }
}

/// What the server's process tree used within the measured window. Children that ended are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCost {
    /// CPU seconds, user mode.
    pub user_seconds: f64,
    /// CPU seconds, kernel mode.
    pub system_seconds: f64,
    /// Seconds its threads waited for a CPU (run queue); 0 where schedstat is missing.
    pub run_queue_seconds: f64,
    /// Most threads seen at once.
    pub threads_peak: u32,
    /// Most processes seen at once.
    pub processes_peak: u32,
    /// Most resident bytes seen at once, summed over the tree (shared pages count in each process).
    pub rss_peak: u64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// Bytes read from and written to storage.
    pub storage_bytes: u64,
}

impl ServerCost {
    /// Were its processes seen at all? Those of a server that somebody else started may not be known.
    #[must_use]
    pub fn known(&self) -> bool {
        self.threads_peak > 0
    }

    /// CPU seconds, both modes.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

/// What the whole machine did within the measured window; shares of all CPUs, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemLoad {
    /// User mode, nice included.
    pub user: f64,
    /// Kernel mode, interrupts included.
    pub system: f64,
    /// Idle with storage outstanding: unreliable, as everywhere.
    pub iowait: f64,
    /// Taken by other machines on the same host.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
    /// Runnable tasks, mean of the instantaneous counts: what a load average would show without its decay.
    pub runnable: f64,
    /// Blocked tasks, mean.
    pub blocked: f64,
    /// One-minute load average at the window's end: a decayed figure, comparable for equal windows only.
    pub load_1: f64,
    /// Context switches per second.
    pub context_switches: f64,
    /// Processes created per second.
    pub forks: f64,
    /// Share of time in which some task waited for a CPU (PSI); `None` where the kernel has none.
    pub pressure: Option<f64>,
    /// TCP segments sent again, in the window.
    pub retransmits: u64,
}

/// One sample of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Seconds since the run began.
    pub at: f64,
    /// Shares of all CPUs since the sample before.
    pub user: f64,
    /// Kernel mode.
    pub system: f64,
    /// Waiting for storage.
    pub iowait: f64,
    /// Stolen.
    pub steal: f64,
    /// Runnable tasks now.
    pub runnable: u32,
    /// One-minute load average.
    pub load_1: f64,
    /// CPUs that the server's tree used since the sample before, e.g. 1.7.
    pub server_cpus: f64,
    /// Resident bytes of the server's tree.
    pub server_rss: u64,
    /// Threads of the server's tree.
    pub server_threads: u32,
    /// CPUs that the client used.
    pub client_cpus: f64,
    /// How late this sample was taken, in seconds.
    pub late: f64,
}
