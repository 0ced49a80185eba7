//! Tracing by the kernel's tracepoints at the beginning and the end of every system call, read through tracefs.
//!
//! They are enabled in a tracer instance that is created for this purpose and removed afterwards, so that other tracing
//! is not touched, and only for the server's threads and whatever these start. Unlike with ptrace, no thread is ever
//! stopped: the slowdown is that of writing two records per call. On a 64-bit kernel, calls of 32-bit programs have no
//! such tracepoints.

mod line;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::trace::{Counts, Trace, Watch};
use crate::launch::{Attached, Guard};
use crate::proc::{self, Pid};

/// The kernel's tracepoints, after checks that they are usable.
pub(super) struct Tracepoints {
    /// Folder in which new tracer instances are created.
    instances: PathBuf,
    kernel: String,
}

/// A server whose tracepoints are enabled. Dropping the value disables them.
pub(super) struct Watching {
    // This field is dropped before `instance`, which cannot be removed while it is read.
    reader: Attached,
    trace: Trace,
    instance: Instance,
    marks: Cell<u32>,
}

/// Factor by which the time-outs of a server traced by tracepoints are extended.
pub(super) const PATIENCE: f64 = 5.0;

impl Tracepoints {
    /// Finds the tracepoints, or returns the reason why they cannot be used.
    pub(super) fn find() -> Result<Self, String> {
        let instances = instances(&ROOTS.map(Path::new))?;
        // The tracer uses process ids of the initial namespace, so in another namespace it would trace other processes.
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        if namespace != Path::new(FIRST_NAMESPACE) {
            return Err("in a container, the kernel's process ids are not known".into());
        }
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Ok(Self {
            instances,
            kernel: kernel.trim().to_owned(),
        })
    }

    /// Returns the method's name, reported beside the counts.
    pub(super) fn method(&self) -> String {
        format!("tracepoints (Linux {})", self.kernel)
    }

    /// Enables the tracepoints for all threads of the processes in `tree` and everything that they start from now on.
    /// When this returns, every call is being counted.
    pub(super) fn watch(
        &self,
        guard: &Guard,
        tree: &dyn Fn() -> Vec<Pid>,
    ) -> Result<Watching, String> {
        let instance = Instance::new(&self.instances)?;
        // The reader's guard starts first: if the laboratory is killed from now on, the guard removes the instance.
        let words = vec!["cat".to_owned(), instance.path("trace_pipe")];
        let reader = Attached::start(guard, words, vec![instance.0.clone()])?;
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &buffer_kilobytes().to_string())?;
        instance.set("options/event-fork", "1")?;
        instance.follow(tree)?;
        let file = File::open(reader.output());
        let file = file.map_err(|error| format!("no file for the trace: {error}"))?;
        let watching = Watching {
            trace: Trace::of(file, line::parse),
            reader,
            instance,
            marks: Cell::new(0),
        };
        watching.instance.set("events/syscalls/enable", "1")?;
        watching.mark()?;
        Ok(watching)
    }
}

impl Watching {
    /// Writes a marker into the kernel's trace and waits until it arrives in the file, by which time all earlier calls
    /// are there, too. Returns the length of the file in bytes up to the marker's end.
    fn mark(&self) -> Result<u64, String> {
        let number = self.marks.get() + 1;
        self.marks.set(number);
        let from = self.trace.length();
        self.instance.set("trace_marker", &line::mark(number))?;
        let start = Instant::now();
        while start.elapsed() < LONGEST {
            if let Some(end) = self.end_of_mark(number, from)? {
                return Ok(end);
            }
            thread::sleep(POLL);
        }
        let why = self.reader.last_word();
        Err(format!("the kernel's trace does not come ({why})"))
    }

    fn end_of_mark(&self, number: u32, from: u64) -> Result<Option<u64>, String> {
        let mut bytes = Vec::new();
        let read = self.trace.part(from, u64::MAX);
        let read = read.and_then(|mut part| part.read_to_end(&mut bytes));
        read.map_err(|error| format!("the trace cannot be read: {error}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.split_inclusive('\n');
        let ends = lines.scan(from, |at, line| {
            *at += line.len() as u64;
            Some((line, *at))
        });
        Ok(ends
            .filter(|(line, _)| line::is_mark(line, number))
            .map(|(_, end)| end)
            .next())
    }
}

impl Watch for Watching {
    fn settled(&self) -> Result<u64, String> {
        self.trace.rested();
        self.mark()
    }

    fn counts(&self, from: u64, to: u64) -> Result<Counts, String> {
        self.trace.counts(from, to)
    }
}

/// An instance of the kernel's tracer, which is a folder in tracefs. Dropping the value removes it.
struct Instance(PathBuf);

impl Instance {
    fn new(instances: &Path) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("andon-lab-")
            .tempdir_in(instances);
        // The kernel fills the folder with its own files, so it is removed as a whole, not file by file.
        let folder = folder.map(tempfile::TempDir::keep);
        let instance = folder.map_err(|error| format!("the kernel gives no tracer: {error}"))?;
        Ok(Self(instance))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Writes a value to a file of the instance. The file is opened for appending, so that other values in it are kept.
    fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let file = OpenOptions::new().append(true).open(self.0.join(name));
        file.and_then(|mut file| file.write_all(value.as_bytes()))
            .map_err(|error| format!("the kernel's tracer refuses {name}: {error}"))
    }

    /// Registers all threads of the processes in `tree` with the tracer. The kernel registers threads that are started
    /// by registered ones, so the registration is complete once a pass over the processes finds no unregistered thread.
    fn follow(&self, tree: &dyn Fn() -> Vec<Pid>) -> Result<(), String> {
        for _ in 0..LOOKS {
            let registered = fs::read_to_string(self.0.join("set_event_pid")).unwrap_or_default();
            let registered: BTreeSet<Pid> = (registered.split_whitespace())
                .filter_map(|pid| pid.parse().ok())
                .collect();
            let threads = tree().into_iter().filter_map(proc::threads).flatten();
            let unregistered: Vec<String> = threads
                .filter(|thread| !registered.contains(thread))
                .map(|thread| thread.to_string())
                .collect();
            if unregistered.is_empty() {
                return match registered.is_empty() {
                    true => Err("no process of the server is there".into()),
                    false => Ok(()),
                };
            }
            self.set("set_event_pid", &format!("{}\n", unregistered.join(" ")))?;
        }
        Err("the server starts threads faster than they can be named to the kernel".into())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // If this fails, the guard removes the instance when the laboratory ends.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the folder for tracer instances in the first usable tracefs, or the reason why there is none.
fn instances(roots: &[&Path]) -> Result<PathBuf, String> {
    let mut why = "tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing)";
    for root in roots {
        let instances = root.join("instances");
        match fs::read_dir(&instances) {
            Ok(_) if root.join("events/syscalls/enable").exists() => return Ok(instances),
            Ok(_) => why = "this kernel has none at system calls",
            Err(error) if error.kind() == ErrorKind::PermissionDenied => why = "they need root",
            Err(_) => {}
        }
    }
    Err(why.into())
}

/// Returns the size of the trace buffer per CPU in KiB. It must hold what is written while the reader gets no CPU time.
fn buffer_kilobytes() -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (64 * 1024 / cpus).clamp(1024, 16 * 1024)
}

/// Paths at which tracefs may be mounted.
const ROOTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Target of `/proc/self/ns/pid` for a process in the initial PID namespace, whose number is fixed in the kernel.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Maximum number of passes over the processes of a server that keeps starting threads.
const LOOKS: u32 = 20;

/// Time within which a marker written to the kernel's trace must be read back. Otherwise counting fails.
const LONGEST: Duration = Duration::from_secs(20);

const POLL: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_there_are_none_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = instances(&[folder.path()]);
        assert!(said.is_err_and(|why| why.contains("mount -t tracefs")));
        fs::create_dir(folder.path().join("instances")).expect("a folder");
        let said = instances(&[folder.path()]);
        assert!(said.is_err_and(|why| why.contains("system calls")));
        let events = folder.path().join("events/syscalls");
        fs::create_dir_all(&events).expect("a folder");
        fs::write(events.join("enable"), "0").expect("writes");
        let found = instances(&[Path::new("/nowhere"), folder.path()]);
        assert_eq!(found, Ok(folder.path().join("instances")));
    }
}
