//! A worker process, which receives jobs, calls codecs and sends answers.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use andon_pixels::{
    Alone, Codec, Decode, Error, FrameReader, FrameWriter, Interrupt, Limits, Result, STACK, Timed,
    buffers,
};
use rustix::io::pread;
use rustix::net::{RecvFlags, recv};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::channel::{Channel, NoTimeout};
use crate::confine;
use crate::job::{Answer, Call, Hello, How, Job, Kind, VERSION};
use crate::wire::{List, Output, Wire};

/// Runs a worker process: answers jobs until the socket is closed. `memory` is each job's memory limit in bytes. Up to
/// `buffer_bytes` bytes of free buffers are kept for the next job.
pub(super) fn run(
    codecs: &'static [&'static dyn Codec],
    adopt: fn(File) -> io::Result<()>,
    [memory, buffer_bytes]: [u64; 2],
) -> io::Result<()> {
    // When memory runs out, the system should kill workers before the server.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let statm = File::open("/proc/self/statm")?;
    let shared = super::shared_file()?;
    // The shared file counts as well: all of it may be mapped into the address space.
    let shared_bytes = match &shared {
        Some(file) => file.metadata()?.len(),
        None => 0,
    };
    buffers::allow(buffer_bytes.min(KEPT_BUFFERS));
    shared.map_or(Ok(()), adopt)?;
    // The recursion limits of codecs were measured with this stack size.
    let handle = thread::Builder::new().stack_size(STACK).spawn(move || {
        let base = size_of_process(&statm)?.0.saturating_add(shared_bytes);
        limit(Resource::Core, 0, Some(0))?;
        let most = space(base, memory);
        limit(Resource::As, most, Some(most))?;
        let confinement_error = confine::process().err().map(|error| error.to_string());
        let worker = Worker {
            codecs,
            socket,
            statm,
            base,
        };
        let hello = Hello {
            version: VERSION,
            formats: List(codecs.iter().map(|codec| codec.name().to_owned()).collect()),
            confinement_error,
        };
        let mut channel = worker.channel();
        channel.send(Kind::Hello, &Output::of(&hello))?;
        worker.serve(&mut channel)
    })?;
    handle
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("it panicked")))
}

/// Memory of a worker that has not run a job yet, in bytes.
pub const BARE: u64 = 16 << 20;

/// Maximum memory of a worker between jobs, in bytes: its program and free buffers.
pub const AT_REST: u64 = BARE + KEPT_BUFFERS;

/// Maximum bytes of free buffers that a worker keeps, wiped, for its next image.
const KEPT_BUFFERS: u64 = 80 << 20;

struct Worker {
    codecs: &'static [&'static dyn Codec],
    socket: OwnedFd,
    /// The file `/proc/self/statm`, in which the system reports this process's memory.
    statm: File,
    /// Bytes of the process's address space before the first job, plus the size of the shared file.
    base: u64,
}

type Socket<'a> = Channel<'a, NoTimeout>;

impl Worker {
    fn channel(&self) -> Socket<'_> {
        Channel::new(&self.socket, NoTimeout)
    }

    fn serve(&self, channel: &mut Socket<'_>) -> io::Result<()> {
        loop {
            let (kind, lengths) = match channel.next() {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                other => other?,
            };
            match kind {
                Kind::Job => {
                    let mut job: Job<'_> = channel.value(lengths, u64::MAX)?;
                    limit(Resource::As, space(self.base, job.memory), None)?;
                    limit_processor_time(job.seconds)?;
                    self.run(channel, &job)?;
                    job.bytes.to_mut().fill(0);
                    drop(job);
                    buffers::wipe();
                }
                // Arrives after an animation has failed, which is then no longer open.
                Kind::Close => {}
                _ => return Err(io::Error::other("no job")),
            }
        }
    }

    fn run(&self, channel: &mut Socket<'_>, job: &Job<'_>) -> io::Result<()> {
        let Some(codec) = self.codecs.iter().find(|codec| codec.name() == job.format) else {
            let unknown = Error::Internal(format!("this worker knows no {}", job.format));
            return self.answer::<()>(channel, || Err(unknown));
        };
        let interrupt = Cancellation::new(&self.socket);
        let decode = |how: &How| decode(how, &job.limits, &interrupt);
        let bytes = &*job.bytes;
        match &job.call {
            Call::Probe => self.answer(channel, || codec.probe(bytes)),
            Call::Decode(info, how) => {
                self.answer(channel, || codec.decode(bytes, info, &decode(how)))
            }
            Call::Salvage(info, how) => {
                self.answer(channel, || codec.salvage(bytes, info, &decode(how)))
            }
            Call::Draw(info, how, window) => self.answer(channel, || {
                require(codec.vector())?.draw(bytes, info, &decode(how), window)
            }),
            Call::Extent(info, how) => {
                self.answer(channel, || codec.extent(bytes, info, &decode(how)))
            }
            Call::End(how) => self.answer(channel, || codec.end(bytes, &decode(how))),
            Call::DecodeAtOnce(info, how, List(scales)) => self.answer(channel, || {
                let decoder = require(codec.many_scales())?;
                let images = decoder.decode_at_once(bytes, info, &decode(how), scales)?;
                Ok(images.map(List))
            }),
            Call::Index(info, how) => self.answer(channel, || {
                require(codec.parts())?.index(bytes, info, &decode(how))
            }),
            Call::Part(info, index, area) => self.answer(channel, || {
                Ok(require(codec.parts())?.part(bytes, info, index, *area))
            }),
            Call::DecodePart(info, how, index, area) => self.answer(channel, || {
                require(codec.parts())?.decode_part(bytes, info, &decode(how), index, *area)
            }),
            Call::GainMap(info) => self.answer(channel, || {
                Ok(require(codec.gain_maps())?.gain_map(bytes, info))
            }),
            Call::DecodeGainMap(how) => self.answer(channel, || {
                require(codec.gain_maps())?.decode_gain_map(bytes, &decode(how))
            }),
            Call::Recodes(info, to) => self.answer(channel, || {
                Ok(require(codec.recoder())?.recodes(bytes, info, to))
            }),
            Call::Recode(info, to, how) => self.answer(channel, || {
                require(codec.recoder())?.recode(bytes, info, to, &decode(how))
            }),
            Call::Open(info, how) => {
                let how = decode(how);
                self.read_frames(channel, || {
                    require(codec.animation())?.open(bytes, info, &how)
                })
            }
            Call::Encode(image, how) => self.answer(channel, || {
                require(codec.encoder())?.encode(image, how, &interrupt)
            }),
            Call::Write(head, how) => {
                let encoder = || require(codec.encoder().and_then(|encoder| encoder.animation()));
                let begin = || encoder()?.writer(head, how, &interrupt);
                self.write_frames(channel, begin)
            }
        }
    }

    /// Opens an animation and sends its frames one by one, on request.
    fn read_frames<'a>(
        &self,
        channel: &mut Socket<'_>,
        open: impl FnOnce() -> Result<Box<dyn FrameReader + 'a>>,
    ) -> io::Result<()> {
        let mut reader: Option<Box<dyn FrameReader + 'a>> = None;
        self.answer(channel, || {
            let animation = open()?;
            let metadata = animation.metadata();
            reader = Some(animation);
            Ok(metadata)
        })?;
        let Some(mut reader) = reader else {
            return Ok(());
        };
        loop {
            match channel.next()?.0 {
                Kind::Next => {
                    self.answer(channel, || reader.next())?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Begins an animation and adds frames one by one as they arrive.
    fn write_frames<'a>(
        &self,
        channel: &mut Socket<'_>,
        begin: impl FnOnce() -> Result<Box<dyn FrameWriter + 'a>>,
    ) -> io::Result<()> {
        let mut writer = None;
        self.answer(channel, || {
            writer = Some(begin()?);
            Ok(())
        })?;
        let Some(mut writer) = writer else {
            return Ok(());
        };
        loop {
            let (kind, lengths) = channel.next()?;
            match kind {
                Kind::Push => {
                    let timed: Timed = channel.value(lengths, u64::MAX)?;
                    self.answer(channel, || {
                        writer.push(timed)?;
                        Ok(writer.written())
                    })?;
                }
                Kind::Finish => return self.answer(channel, || writer.finish()),
                _ => return Ok(()),
            }
        }
    }

    /// Runs `work` and sends its result. After a panic the state of the process cannot be trusted, so the worker exits.
    ///
    /// # Errors
    /// If the answer cannot be sent, or `work` panicked.
    fn answer<T: Wire>(
        &self,
        channel: &mut Socket<'_>,
        work: impl FnOnce() -> Result<T>,
    ) -> io::Result<()> {
        let (result, panicked) = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => (result, false),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                let text = text.unwrap_or("a panic").to_owned();
                (Err(Error::Internal(text)), true)
            }
        };
        let answer = Answer {
            resident: size_of_process(&self.statm)?.1,
            panicked,
            result,
        };
        channel.send(Kind::Answer, &Output::of(&answer))?;
        match panicked {
            true => Err(io::Error::other("a codec panicked")),
            false => Ok(()),
        }
    }
}

/// Returns the capability of a codec that a job needs.
///
/// # Errors
/// `Internal` if the codec lacks it, because the server's codec and the worker's differ.
fn require<T>(capability: Option<T>) -> Result<T> {
    capability.ok_or_else(|| Error::Internal("this worker's codec cannot do this".to_owned()))
}

fn decode<'a>(how: &How, limits: &'a Limits, interrupt: &'a dyn Interrupt) -> Decode<'a> {
    Decode {
        scales: how.scales,
        limits,
        interrupt,
        cores: &Alone,
        keep_metadata: how.keep_metadata,
    }
}

/// Interrupt that fires if the server has sent a message or closed the socket before the answer: the result is then no
/// longer needed.
struct Cancellation<'a> {
    socket: &'a OwnedFd,
    /// When the socket was last checked, and the result; cached because each check is a system call.
    last_check: Mutex<(Instant, bool)>,
}

impl<'a> Cancellation<'a> {
    fn new(socket: &'a OwnedFd) -> Self {
        Self {
            socket,
            last_check: Mutex::new((Instant::now(), false)),
        }
    }
}

impl Interrupt for Cancellation<'_> {
    fn interrupted(&self) -> bool {
        let Ok(mut last_check) = self.last_check.lock() else {
            return true;
        };
        if last_check.0.elapsed() >= CHECK_INTERVAL {
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            let waiting = recv(self.socket.as_fd(), &mut [0_u8; 1], flags);
            *last_check = (Instant::now(), waiting.is_ok());
        }
        last_check.1
    }
}

const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Returns the size in bytes of this process's address space, and of its resident memory.
fn size_of_process(statm: &File) -> io::Result<(u64, u64)> {
    let mut text = [0; 128];
    let length = pread(statm, &mut text, 0)?;
    let text = String::from_utf8_lossy(&text[..length]);
    let page = rustix::param::page_size() as u64;
    let mut pages = text
        .split_ascii_whitespace()
        .map(|word| word.parse::<u64>());
    match (pages.next(), pages.next()) {
        (Some(Ok(all)), Some(Ok(resident))) => Ok((all * page, resident * page)),
        _ => Err(io::Error::other("/proc/self/statm has no numbers")),
    }
}

/// Returns the limit in bytes on the address space of a process during a job that may allocate `memory` bytes. `base`
/// is the size of its address space without the memory of jobs, in bytes.
fn space(base: u64, memory: u64) -> u64 {
    base.saturating_add(memory).saturating_add(SLACK)
}

/// Bytes of address space for the allocator's overhead and for kept buffers.
const SLACK: u64 = (64 << 20) + KEPT_BUFFERS;

/// Sets a limit on the processor time of this process that leaves at least `seconds` seconds for the next job, in
/// addition to the time that the process has used so far.
fn limit_processor_time(seconds: u64) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.max(0) as u64;
    // The limit is in whole seconds, so one more covers the second that has begun. The kernel compares the limit with time
    // counted in ticks, which for a process with short jobs may be half or twice the time that its clock reports.
    let soft = (2 * used).saturating_add(seconds).saturating_add(1);
    limit(Resource::Cpu, soft, None)
}

/// Sets a resource limit of this process. A `hard` limit cannot be raised later; without one, the present hard limit is
/// kept.
fn limit(resource: Resource, soft: u64, hard: Option<u64>) -> io::Result<()> {
    let maximum = hard.or_else(|| rustix::process::getrlimit(resource).maximum);
    let current = Some(maximum.map_or(soft, |hard| hard.min(soft)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}
