//! The kernel's own tracepoints at the beginning and the end of every system call, read through tracefs.
//!
//! They are switched on in an instance of the tracer that is made for this and removed afterwards, so that nobody
//! else's tracing is touched, and only for the server's threads and whatever these start. Unlike under ptrace no
//! thread is ever stopped; the slowdown is that of writing two records per call. Calls of 32-bit programs have
//! no such tracepoints on a 64-bit kernel.

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

/// Tracepoints that may be used.
pub(super) struct Tracepoints {
    /// Where new instances of the tracer are made.
    instances: PathBuf,
    kernel: String,
}

/// A server with its tracepoints on. Dropping it switches them off.
pub(super) struct Watching {
    // Before the instance, which cannot be removed while it is read.
    reader: Attached,
    trace: Trace,
    instance: Instance,
    marks: Cell<u32>,
}

/// A server whose calls are written down gets so many times as long.
pub(super) const PATIENCE: f64 = 5.0;

impl Tracepoints {
    /// Finds them, or says why they cannot be used.
    pub(super) fn find() -> Result<Self, String> {
        let instances = instances(&ROOTS.map(Path::new))?;
        // The tracer counts in process ids of the first namespace, and would watch others' processes.
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

    /// The method's name beside the counts.
    pub(super) fn method(&self) -> String {
        format!("tracepoints (Linux {})", self.kernel)
    }

    /// Switches them on for all threads of these processes and everything that they will start. When this returns,
    /// every call is being counted.
    pub(super) fn watch(
        &self,
        guard: &Guard,
        tree: &dyn Fn() -> Vec<Pid>,
    ) -> Result<Watching, String> {
        let instance = Instance::new(&self.instances)?;
        // Its guard comes first: a laboratory that is killed from here on leaves no instance that follows the server.
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
    /// Writes a word of its own between the calls, and waits for it to come: all calls before are written then.
    /// Gives the length of the trace up to its end.
    fn mark(&self) -> Result<u64, String> {
        let number = self.marks.get() + 1;
        self.marks.set(number);
        let from = self.trace.length();
        self.instance.set("trace_marker", &line::mark(number))?;
        let begun = Instant::now();
        while begun.elapsed() < LONGEST {
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

/// An instance of the kernel's tracer: a folder in tracefs. Dropping it removes it.
struct Instance(PathBuf);

impl Instance {
    fn new(instances: &Path) -> Result<Self, String> {
        let made = tempfile::Builder::new()
            .prefix("andon-lab-")
            .tempdir_in(instances);
        // What is in it are the kernel's files: it goes as a whole.
        let made = made.map(tempfile::TempDir::keep);
        let instance = made.map_err(|error| format!("the kernel gives no tracer: {error}"))?;
        Ok(Self(instance))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Writes a value, without taking others away where there may be several.
    fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let file = OpenOptions::new().append(true).open(self.0.join(name));
        file.and_then(|mut file| file.write_all(value.as_bytes()))
            .map_err(|error| format!("the kernel's tracer refuses {name}: {error}"))
    }

    /// Names all threads of these processes. A thread that is named has those that it starts named by the kernel,
    /// so this is done once a look at the processes finds none without a name.
    fn follow(&self, tree: &dyn Fn() -> Vec<Pid>) -> Result<(), String> {
        for _ in 0..LOOKS {
            let named = fs::read_to_string(self.0.join("set_event_pid")).unwrap_or_default();
            let named: BTreeSet<Pid> = (named.split_whitespace())
                .filter_map(|pid| pid.parse().ok())
                .collect();
            let threads = tree().into_iter().filter_map(proc::threads).flatten();
            let missing: Vec<String> = threads
                .filter(|thread| !named.contains(thread))
                .map(|thread| thread.to_string())
                .collect();
            if missing.is_empty() {
                return match named.is_empty() {
                    true => Err("no process of the server is there".into()),
                    false => Ok(()),
                };
            }
            self.set("set_event_pid", &format!("{}\n", missing.join(" ")))?;
        }
        Err("the server starts threads faster than they can be named to the kernel".into())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The guard removes it too if we vanish; there is nobody to tell that it could not be.
        let _ = fs::remove_dir(&self.0);
    }
}

/// The folder for instances in the first tracefs that may be used.
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

/// For each CPU. What is written while the reader does not get one must find room.
fn buffer_kilobytes() -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (64 * 1024 / cpus).clamp(1024, 16 * 1024)
}

/// Where tracefs is.
const ROOTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// What a process in the first namespace of process ids reads as its own: the kernel's fixed number.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// A server that starts threads meanwhile is looked at so often.
const LOOKS: u32 = 20;

/// All that was written comes within this, or something is wrong.
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
