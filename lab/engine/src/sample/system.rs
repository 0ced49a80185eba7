//! What /proc says about the machine and about this process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime};

use super::samples::Sample;
use crate::proc::Stat;

/// The machine's files, kept open: reading again is a third of the work.
pub(super) struct System {
    stat: Option<File>,
    load: Option<File>,
    pressure: Option<File>,
    snmp: Option<File>,
    own: Option<File>,
    text: Vec<u8>,
}

impl System {
    pub(super) fn open() -> Self {
        Self {
            stat: File::open("/proc/stat").ok(),
            load: File::open("/proc/loadavg").ok(),
            pressure: File::open("/proc/pressure/cpu").ok(),
            snmp: File::open("/proc/net/snmp").ok(),
            own: File::open("/proc/self/stat").ok(),
            text: Vec::new(),
        }
    }

    /// `client`: CPU seconds of the client's threads.
    pub(super) fn read(&mut self, client: f64, sample: &mut Sample) {
        if let Some(text) = text(&mut self.text, self.stat.as_ref()) {
            stat(text, sample);
        }
        let totals = &mut sample.totals;
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        totals.wall = wall.unwrap_or_default().as_secs_f64();
        if let Some(text) = text(&mut self.text, self.load.as_ref()) {
            let first = text.split(' ').next();
            sample.load_1 = first.and_then(|load| load.parse().ok()).unwrap_or(0.0);
        }
        if let Some(total) = text(&mut self.text, self.pressure.as_ref()).and_then(pressure) {
            totals.pressure = total;
            sample.has_pressure = true;
        }
        if let Some(count) = text(&mut self.text, self.snmp.as_ref()).and_then(retransmits) {
            totals.retransmits = count;
        }
        if let Some(own) = text(&mut self.text, self.own.as_ref()).and_then(Stat::parse) {
            totals.own = (own.user + own.system) as f64 * tick();
        }
        totals.client = client;
    }
}

/// Seconds of a clock tick of /proc.
pub(super) fn tick() -> f64 {
    1.0 / rustix::param::clock_ticks_per_second().max(1) as f64
}

/// Shortest step seen between two readings of the clock, in seconds.
pub(super) fn clock_resolution() -> f64 {
    let steps = (0..100).filter_map(|_| {
        let first = Instant::now();
        // A clock that stands still for so long has no step worth telling.
        (0..100_000)
            .map(|_| first.elapsed())
            .find(|step| !step.is_zero())
    });
    steps.min().unwrap_or(Duration::from_secs(1)).as_secs_f64()
}

/// The file from its start, in a buffer that is used again.
fn text<'b>(buffer: &'b mut Vec<u8>, file: Option<&File>) -> Option<&'b str> {
    let file = file?;
    buffer.resize(buffer.len().max(16 << 10), 0);
    let mut length = 0;
    loop {
        // Files of /proc may come in several pieces.
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

/// `/proc/stat`. Guests are counted within user and nice.
fn stat(text: &str, sample: &mut Sample) {
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = || first_number(rest).unwrap_or(0.0);
        match name {
            "cpu" => cpu(rest, sample),
            "ctxt" => sample.totals.switches = number(),
            "processes" => sample.totals.forks = number(),
            // Without the sampler itself, which runs while it reads.
            "procs_running" => sample.runnable = (number() as u32).saturating_sub(1),
            "procs_blocked" => sample.blocked = number() as u32,
            _ => {}
        }
    }
}

fn cpu(text: &str, sample: &mut Sample) {
    let mut seconds = [0.0; 8];
    let numbers = text
        .split_ascii_whitespace()
        .map_while(|word| word.parse::<f64>().ok());
    for (place, ticks) in seconds.iter_mut().zip(numbers) {
        *place = ticks * tick();
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = seconds;
    let totals = &mut sample.totals;
    totals.all = seconds.iter().sum();
    totals.user = user + nice;
    totals.system = system + irq + softirq;
    totals.idle = idle;
    totals.iowait = iowait;
    totals.steal = steal;
}

/// `some … total=MICROSECONDS`, in seconds.
fn pressure(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split("total=").nth(1)?;
    Some(first_number(total)? / 1e6)
}

/// `Tcp: … RetransSegs …`: names in one line, numbers in the next.
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
        stat(
            "cpu  100 100 200 300 50 25 25 200 7 7\ncpu0 1 1\nctxt 999\nprocesses 12\n\
             procs_running 3\nprocs_blocked 1\n",
            &mut sample,
        );
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
