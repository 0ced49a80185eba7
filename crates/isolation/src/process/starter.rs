//! The process that starts and ends workers, and what the server sees of it.

use std::collections::HashMap;
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

/// The server's side.
#[derive(Debug)]
pub(crate) struct Starter {
    socket: UnixStream,
    /// It ends when the socket is closed, and nobody waits for it.
    _process: Child,
}

/// Requests to the starter. Each is followed by the number of a process.
const START: u8 = b'S';
const KILL: u8 = b'K';
const WAIT: u8 = b'W';

/// How long a worker whose socket was closed may take to end.
const ENDING: Duration = Duration::from_millis(200);

impl Starter {
    /// Starts the starter. Its workers are of `program` and never have more than the first of these numbers of bytes, and keep the second between
    /// their jobs.
    ///
    /// # Errors
    /// Where the system starts no process.
    pub(crate) fn new(program: &Program, memory: [u64; 2]) -> io::Result<Self> {
        keep_descriptors();
        let (ours, theirs) = UnixStream::pair()?;
        let process = program
            .command(STARTER, OwnedFd::from(theirs).into())
            .args(memory.map(|bytes| bytes.to_string()))
            .arg(&program.path)
            .args(&program.arguments)
            // What a terminal sends to the server is not for them.
            .process_group(0)
            .spawn()?;
        Ok(Self {
            socket: ours,
            _process: process,
        })
    }

    /// Starts a worker: its number, and the socket to it.
    ///
    /// # Errors
    /// Where none could be started, or the starter is gone.
    pub(crate) fn start(&mut self) -> io::Result<(u32, OwnedFd)> {
        self.ask(START, 0)?;
        let mut number = [0; 4];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &self.socket,
            &mut [IoSliceMut::new(&mut number)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL,
        )?;
        if received.bytes != number.len() {
            return Err(gone());
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

    /// Ends a worker at once, and says how it ended.
    ///
    /// # Errors
    /// Where the starter is gone.
    pub(crate) fn kill(&mut self, worker: u32) -> io::Result<ExitStatus> {
        self.ask(KILL, worker)?;
        self.status()
    }

    /// Says how a worker ended that has closed its socket.
    ///
    /// # Errors
    /// Where the starter is gone.
    pub(crate) fn wait(&mut self, worker: u32) -> io::Result<ExitStatus> {
        self.ask(WAIT, worker)?;
        self.status()
    }

    fn ask(&mut self, what: u8, worker: u32) -> io::Result<()> {
        let [a, b, c, d] = worker.to_le_bytes();
        self.socket.write_all(&[what, a, b, c, d])
    }

    fn status(&mut self) -> io::Result<ExitStatus> {
        let mut raw = [0; 4];
        self.socket.read_exact(&mut raw)?;
        Ok(ExitStatus::from_raw(i32::from_le_bytes(raw)))
    }
}

fn gone() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the process that starts workers is gone",
    )
}

/// The starter's side: does what it is told until nobody is there to tell it.
pub(super) fn run(program: &Program, memory: [u64; 2]) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut children = HashMap::new();
    let served = serve(&mut socket, program, memory, &mut children);
    for child in children.values_mut() {
        let _ = child.kill();
    }
    served
}

fn serve(
    socket: &mut UnixStream,
    program: &Program,
    memory: [u64; 2],
    children: &mut HashMap<u32, Child>,
) -> io::Result<()> {
    loop {
        let mut asked = [0; 5];
        match socket.read_exact(&mut asked) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let [what, number @ ..] = asked;
        let number = u32::from_le_bytes(number);
        match what {
            START => start(socket, program, memory, children)?,
            _ => {
                let status = children.remove(&number).map_or(0, |mut child| {
                    if what == KILL {
                        let _ = child.kill();
                    }
                    ended(&mut child).map_or(0, ExitStatus::into_raw)
                });
                socket.write_all(&status.to_le_bytes())?;
            }
        }
    }
}

/// Starts a worker and sends its number and socket; a number alone where there is none.
fn start(
    socket: &UnixStream,
    program: &Program,
    memory: [u64; 2],
    children: &mut HashMap<u32, Child>,
) -> io::Result<()> {
    let started = UnixStream::pair().and_then(|(ours, theirs)| {
        let mut command = program.command(WORKER, Stdio::from(OwnedFd::from(theirs)));
        let child = command
            .args(memory.map(|bytes| bytes.to_string()))
            .spawn()?;
        Ok((child, ours))
    });
    let (number, worker) = match started {
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

/// Waits for the end of a process that is about to end; one that is not is killed.
fn ended(child: &mut Child) -> io::Result<ExitStatus> {
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
