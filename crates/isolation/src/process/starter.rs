//! The starter, a process that starts and ends workers, and the server's side of the connection to it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::{Program, STARTER, WORKER, keep_descriptors};

/// The server's side of the connection to the starter.
#[derive(Debug)]
pub(crate) struct Starter {
    socket: UnixStream,
    /// The starter process. It ends when the socket is closed, and is never waited for.
    _process: Child,
}

/// Request to start a worker. Like every request to the starter, this byte is followed by the process id of a worker,
/// which this request ignores.
const START: u8 = b'S';
/// Request to kill a worker, and to report its exit status.
const KILL: u8 = b'K';
/// Request to wait until a worker ends whose socket was closed on either side, and to report its exit status. The
/// worker is killed after [`ENDING`].
const WAIT: u8 = b'W';

/// Time that a worker has to exit after its socket was closed; after it, the worker is killed.
const ENDING: Duration = Duration::from_millis(200);

impl Starter {
    /// Starts the starter, whose workers run `program`. `memory` is the maximum memory of a worker in bytes, and the
    /// bytes of free buffers that it keeps between jobs. All workers can read `shared`.
    ///
    /// # Errors
    /// If the system cannot start a process.
    pub(crate) fn new(
        program: &Program,
        memory: [u64; 2],
        shared: Option<&File>,
    ) -> io::Result<Self> {
        keep_descriptors();
        let (ours, theirs) = UnixStream::pair()?;
        let process = program
            .command(STARTER, OwnedFd::from(theirs).into(), duplicate(shared)?)
            .args(memory.map(|bytes| bytes.to_string()))
            .arg(&program.path)
            .args(&program.arguments)
            // A separate process group, so that signals from a terminal (Ctrl-C) reach only the server.
            .process_group(0)
            .spawn()?;
        Ok(Self {
            socket: ours,
            _process: process,
        })
    }

    /// Starts a worker and returns its process id and the socket to it.
    ///
    /// # Errors
    /// If no worker could be started, or the starter is gone.
    pub(crate) fn start(&mut self) -> io::Result<(u32, OwnedFd)> {
        self.ask(START, 0)?;
        let mut number = [0; 4];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let reply = recvmsg(
            &self.socket,
            &mut [IoSliceMut::new(&mut number)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL,
        )?;
        if reply.bytes != number.len() {
            return Err(starter_gone());
        }
        let descriptors = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        });
        let socket = descriptors.flatten().next();
        socket
            .map(|socket| (u32::from_le_bytes(number), socket))
            .ok_or_else(|| io::Error::other("no worker process could be started"))
    }

    /// Kills a worker and returns how it ended.
    ///
    /// # Errors
    /// If the starter is gone.
    pub(crate) fn kill(&mut self, worker: u32) -> io::Result<ExitStatus> {
        self.ask(KILL, worker)?;
        self.status()
    }

    /// Waits until a worker ends whose socket was closed on either side, and returns how it ended.
    ///
    /// # Errors
    /// If the starter is gone.
    pub(crate) fn wait(&mut self, worker: u32) -> io::Result<ExitStatus> {
        self.ask(WAIT, worker)?;
        self.status()
    }

    fn ask(&mut self, command: u8, worker: u32) -> io::Result<()> {
        let [a, b, c, d] = worker.to_le_bytes();
        self.socket.write_all(&[command, a, b, c, d])
    }

    fn status(&mut self) -> io::Result<ExitStatus> {
        let mut raw = [0; 4];
        self.socket.read_exact(&mut raw)?;
        Ok(ExitStatus::from_raw(i32::from_le_bytes(raw)))
    }
}

fn starter_gone() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the process that starts workers is gone",
    )
}

/// Runs the starter: carries out requests until the server closes the socket, then kills the remaining workers.
/// `memory` is as for [`Starter::new`].
pub(super) fn run(program: &Program, memory: [u64; 2]) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let shared = super::shared_file()?;
    let mut children = HashMap::new();
    let worker = WorkerProgram {
        program,
        memory,
        shared: shared.as_ref(),
    };
    let result = serve(&mut socket, &worker, &mut children);
    for child in children.values_mut() {
        let _ = child.kill();
    }
    result
}

/// How workers are started: program, memory limits and shared file.
struct WorkerProgram<'a> {
    program: &'a Program,
    memory: [u64; 2],
    shared: Option<&'a File>,
}

fn duplicate(file: Option<&File>) -> io::Result<Option<OwnedFd>> {
    file.map(|file| file.as_fd().try_clone_to_owned())
        .transpose()
}

fn serve(
    socket: &mut UnixStream,
    worker: &WorkerProgram<'_>,
    children: &mut HashMap<u32, Child>,
) -> io::Result<()> {
    loop {
        let mut request = [0; 5];
        match socket.read_exact(&mut request) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let [command, number @ ..] = request;
        let number = u32::from_le_bytes(number);
        match command {
            START => start(socket, worker, children)?,
            _ => {
                let status = children.remove(&number).map_or(0, |mut child| {
                    if command == KILL {
                        let _ = child.kill();
                    }
                    wait_or_kill(&mut child).map_or(0, ExitStatus::into_raw)
                });
                socket.write_all(&status.to_le_bytes())?;
            }
        }
    }
}

/// Starts a worker and sends its process id and its socket to the server, or only a process id of 0 if it could not be
/// started.
fn start(
    socket: &UnixStream,
    worker: &WorkerProgram<'_>,
    children: &mut HashMap<u32, Child>,
) -> io::Result<()> {
    let result = UnixStream::pair().and_then(|(ours, theirs)| {
        let shared = duplicate(worker.shared)?;
        let socket = Stdio::from(OwnedFd::from(theirs));
        let mut command = worker.program.command(WORKER, socket, shared);
        let child = command
            .args(worker.memory.map(|bytes| bytes.to_string()))
            .spawn()?;
        Ok((child, ours))
    });
    let (number, worker) = match result {
        Ok((child, worker)) => {
            let number = child.id();
            children.insert(number, child);
            (number, Some(worker))
        }
        Err(_) => (0, None),
    };
    let descriptors: Vec<_> = worker.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let number = number.to_le_bytes();
    sendmsg(
        socket,
        &[IoSlice::new(&number)],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Waits for a process that is about to end, and kills it after [`ENDING`].
fn wait_or_kill(child: &mut Child) -> io::Result<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < ENDING {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()
}
