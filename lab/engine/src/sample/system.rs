//! Reads from `/proc` the values of the machine and of this process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime};

use procfs::{FromBufReadSI, FromRead, KernelStats, LoadAverage, ProcResult};

use super::samples::Sample;
use crate::proc::Stat;

/// The machine's files in `/proc`, kept open: reading an open file again takes a third of the time.
pub(super) struct System {
    stat: Option<File>,
    load: Option<File>,
    pressure: Option<File>,
    snmp: Option<File>,
    own_stat: Option<File>,
    text: Vec<u8>,
}

impl System {
    pub(super) fn open() -> Self {
        Self {
            stat: File::open("/proc/stat").ok(),
            load: File::open("/proc/loadavg").ok(),
            pressure: File::open("/proc/pressure/cpu").ok(),
            snmp: File::open("/proc/net/snmp").ok(),
            own_stat: File::open("/proc/self/stat").ok(),
            text: Vec::new(),
        }
    }

    /// Reads the machine's values into `sample`. `client` is the CPU time of the client's threads in seconds.
    pub(super) fn read(&mut self, client: f64, sample: &mut Sample) {
        let stats = text(&mut self.text, self.stat.as_ref());
        if let Some(Ok(stats)) = stats.map(kernel_stats) {
            stat(&stats, sample);
        }
        let totals = &mut sample.totals;
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        totals.wall = wall.unwrap_or_default().as_secs_f64();
        let load = text(&mut self.text, self.load.as_ref());
        if let Some(Ok(load)) = load.map(|text| LoadAverage::from_read(text.as_bytes())) {
            sample.load_1 = load.one.into();
        }
        if let Some(total) = text(&mut self.text, self.pressure.as_ref()).and_then(pressure) {
            totals.pressure = total;
            sample.has_pressure = true;
        }
        if let Some(count) = text(&mut self.text, self.snmp.as_ref()).and_then(retransmits) {
            totals.retransmits = count;
        }
        let stat = text(&mut self.text, self.own_stat.as_ref());
        if let Some(Ok(stat)) = stat.map(|text| Stat::from_read(text.as_bytes())) {
            totals.own = (stat.utime + stat.stime) as f64 * tick();
        }
        totals.client = client;
    }
}

/// Returns the length in seconds of the clock tick in which `/proc` counts CPU time.
pub(super) fn tick() -> f64 {
    1.0 / rustix::param::clock_ticks_per_second().max(1) as f64
}

/// Returns the shortest step observed between two readings of the monotonic clock ([`Instant`]), in seconds.
pub(super) fn clock_resolution() -> f64 {
    let steps = (0..100).filter_map(|_| {
        let first = Instant::now();
        // A clock that does not advance for this long gives no step.
        (0..100_000)
            .map(|_| first.elapsed())
            .find(|step| !step.is_zero())
    });
    steps.min().unwrap_or(Duration::from_secs(1)).as_secs_f64()
}

/// Reads a file from its start into a reused buffer.
fn text<'b>(buffer: &'b mut Vec<u8>, file: Option<&File>) -> Option<&'b str> {
    let file = file?;
    buffer.resize(buffer.len().max(16 << 10), 0);
    let mut length = 0;
    loop {
        // The kernel may return a file of `/proc` in several pieces.
        match file.read_at(&mut buffer[length..], length as u64).ok()? {
            0 => break,
            more => length += more,
        }
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
    }
    std::str::from_utf8(&buffer[..length]).ok()
}

/// Parses the text of `/proc/stat`.
fn kernel_stats(text: &str) -> ProcResult<KernelStats> {
    KernelStats::from_buf_read(text.as_bytes(), procfs::current_system_info())
}

/// Fills a sample with the values of `/proc/stat`. Guest time needs no extra treatment, since user and nice time
/// contain it.
fn stat(stats: &KernelStats, sample: &mut Sample) {
    // The sampler itself is running while it reads, and is subtracted.
    sample.runnable = stats.procs_running.unwrap_or(0).saturating_sub(1);
    sample.blocked = stats.procs_blocked.unwrap_or(0);
    let seconds = |ticks: u64| ticks as f64 * tick();
    let maybe = |ticks: Option<u64>| seconds(ticks.unwrap_or(0));
    let cpu = &stats.total;
    let totals = &mut sample.totals;
    totals.switches = stats.ctxt as f64;
    totals.forks = stats.processes as f64;
    totals.user = seconds(cpu.user + cpu.nice);
    totals.system = seconds(cpu.system) + maybe(cpu.irq) + maybe(cpu.softirq);
    totals.idle = seconds(cpu.idle);
    totals.iowait = maybe(cpu.iowait);
    totals.steal = maybe(cpu.steal);
    totals.all = totals.user + totals.system + totals.idle + totals.iowait + totals.steal;
}

/// Parses the total stall time in seconds from `/proc/pressure/cpu`, whose line is `some … total=MICROSECONDS`.
fn pressure(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split("total=").nth(1)?;
    Some(first_number(total)? / 1e6)
}

/// Parses the number of TCP retransmits from `/proc/net/snmp`, where one line `Tcp: … RetransSegs …` holds the names
/// and the next one the numbers.
fn retransmits(text: &str) -> Option<f64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let names = lines.next()?.split(' ');
    let mut both = names.zip(lines.next()?.split(' '));
    both.find(|(name, _)| *name == "RetransSegs")?
        .1
        .parse()
        .ok()
}

fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_machine_is_found() {
        let mut sample = Sample::default();
        let text = "cpu  100 100 200 300 50 25 25 200 7 7\ncpu0 1 1 1 1\nctxt 999\nbtime 1\nprocesses 12\n\
                    procs_running 3\nprocs_blocked 1\n";
        stat(&kernel_stats(text).expect("reads"), &mut sample);
        let totals = sample.totals;
        assert!((totals.all - 1000.0 * tick()).abs() < 1e-9);
        assert!((totals.user - 200.0 * tick()).abs() < 1e-9);
        assert!((totals.system - 250.0 * tick()).abs() < 1e-9);
        assert!((totals.steal - 200.0 * tick()).abs() < 1e-9);
        assert_eq!((totals.switches, totals.forks), (999.0, 12.0));
        assert_eq!((sample.runnable, sample.blocked), (2, 1));
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.0 total=0\n";
        assert_eq!(pressure(text), Some(2.5));
        let text = "Ip: A\nIp: 1\nTcp: InSegs RetransSegs X\nTcp: 7 42 -1\n";
        assert_eq!(retransmits(text), Some(42.0));
    }
}
