//! Messages over a socket. A message starts with its kind (1 byte) and two lengths (8 bytes each). The small values
//! (the head) and the large values follow.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, read, write};

use crate::job::Kind;
use crate::wire::{Input, Output, Wire, garbled_message};

/// Bytes of a message before its head: the kind (1) and two lengths (8 each).
pub(crate) const START: usize = 17;

/// Maximum length in bytes of a message's head, which contains values such as image properties, errors and recipe
/// options.
const LONGEST_HEAD: u64 = 1 << 20;

/// What a channel does while the other side is not ready to send or receive. An error aborts the transfer.
pub(crate) trait Waiting {
    fn waiting(&mut self) -> io::Result<()>;
}

/// Waits without a time limit.
pub(crate) struct NoTimeout;

impl Waiting for NoTimeout {
    fn waiting(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One end of a socket. While the other side is not ready, the channel calls `waiting` between its attempts to send or
/// receive.
pub(crate) struct Channel<'a, W> {
    socket: &'a OwnedFd,
    waiting: W,
}

impl<'a, W: Waiting> Channel<'a, W> {
    pub(crate) fn new(socket: &'a OwnedFd, waiting: W) -> Self {
        Self { socket, waiting }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the other side is gone, or `waiting` returns an error.
    pub(crate) fn send(&mut self, kind: Kind, message: &Output<'_>) -> io::Result<()> {
        let mut start = Vec::with_capacity(START + message.head.len());
        start.push(kind as u8);
        start.extend((message.head.len() as u64).to_le_bytes());
        start.extend(message.blob_bytes().to_le_bytes());
        start.extend(&message.head);
        self.write_all(&start)?;
        message
            .blobs
            .iter()
            .try_for_each(|blob| self.write_all(blob))
    }

    /// Returns the kind of the next message and its lengths. Cancellations of jobs that are already answered are
    /// skipped.
    ///
    /// # Errors
    /// Those of [`Channel::send`]; `UnexpectedEof` if there are no more messages; `InvalidData` if the kind is unknown.
    pub(crate) fn next(&mut self) -> io::Result<(Kind, Lengths)> {
        loop {
            let mut start = [0; START];
            self.read_exact(&mut start)?;
            let kind =
                Kind::of(start[0]).ok_or_else(|| garbled_message("it is of an unknown kind"))?;
            let lengths = Lengths {
                head: number(&start[1..9]),
                blobs: number(&start[9..]),
            };
            if kind != Kind::Cancel {
                return Ok((kind, lengths));
            }
        }
    }

    /// Reads the value of a message whose large values have at most `most` bytes in total.
    ///
    /// # Errors
    /// Those of [`Channel::send`]; `InvalidData` for a message that does not contain such a value.
    pub(crate) fn value<T: Wire>(&mut self, lengths: Lengths, most: u64) -> io::Result<T> {
        if lengths.head > LONGEST_HEAD || lengths.blobs > most {
            return Err(garbled_message("it is longer than it may be"));
        }
        let mut head = vec![0; lengths.head as usize];
        self.read_exact(&mut head)?;
        let mut input = Input::new(&head, self, lengths.blobs);
        let value = T::take(&mut input)?;
        input.check_end()?;
        Ok(value)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match write(self.socket.as_fd(), bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.waiting.waiting()?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl<W: Waiting> Read for Channel<'_, W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match read(self.socket.as_fd(), &mut *into) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.waiting.waiting()?,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Lengths of a message's head and of its large values, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    head: u64,
    blobs: u64,
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
