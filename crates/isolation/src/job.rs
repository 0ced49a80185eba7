//! The jobs that are sent to a worker process, and its answers.

use std::borrow::Cow;
use std::io;

use andon_pixels::{Encode, Head, Image, Info, Limits, Scales, Window};
use andon_recipe::Area;

use crate::wire::{Input, List, Output, Wire, fields, variants};

/// Version of the protocol between the server and its workers. When the server starts, both are of the same version, so
/// a worker with another version was started from a file that has been replaced since.
pub(crate) const VERSION: u32 = 1;

/// First message of a worker.
#[derive(Debug)]
pub(crate) struct Hello {
    pub(crate) version: u32,
    /// Names of the formats that the worker can process.
    pub(crate) formats: List<String>,
    /// Why the system calls of the worker could not be restricted; `None` if they are restricted.
    pub(crate) confinement_error: Option<String>,
}

fields!(Hello {
    version,
    formats,
    confinement_error
});

/// Kind of a message; its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the server: a [`Hello`].
    Hello = b'H',
    /// To the worker: a [`Job`].
    Job = b'J',
    /// To the worker: request for the next frame of the open animation.
    Next = b'N',
    /// To the worker: a frame to add to the animation that is being written.
    Push = b'P',
    /// To the worker: no more frames follow; request for the finished file.
    Finish = b'F',
    /// To the worker: the open animation is closed, and no more of its frames are needed.
    Close = b'E',
    /// To the worker: stop the current job, because its answer is no longer needed. A worker that has already sent the
    /// answer ignores this.
    Cancel = b'C',
    /// To the server: an [`Answer`].
    Answer = b'A',
}

impl Kind {
    pub(crate) fn of(byte: u8) -> Option<Self> {
        let all = [
            Self::Hello,
            Self::Job,
            Self::Next,
            Self::Push,
            Self::Finish,
            Self::Close,
            Self::Cancel,
            Self::Answer,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// One call of a codec, as it is sent to a worker.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// Name of the codec's format.
    pub(crate) format: String,
    pub(crate) limits: Limits,
    /// Bytes of memory that the job may allocate.
    pub(crate) memory: u64,
    /// Seconds of processor time that the job may use.
    pub(crate) seconds: u64,
    /// Content of the file to read; empty if the job reads none.
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) call: Call,
}

fields!(Job<'_> { format, limits, memory, seconds, bytes, call });

/// The part of [`andon_pixels::Decode`] that is sent with a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) scales: Scales,
    pub(crate) keep_metadata: bool,
}

fields!(How {
    scales,
    keep_metadata
});

/// A call of a method of [`andon_pixels::Codec`], or of one of its capabilities, with the arguments.
#[derive(Debug)]
pub(crate) enum Call {
    Probe,
    Decode(Box<Info>, How),
    Extent(Box<Info>, How),
    End(How),
    DecodeAtOnce(Box<Info>, How, List<Scales>),
    Index(Box<Info>, How),
    Part(Box<Info>, Vec<u8>, Area),
    DecodePart(Box<Info>, How, Vec<u8>, Area),
    GainMap(Box<Info>),
    DecodeGainMap(How),
    Recodes(Box<Info>, String),
    Recode(Box<Info>, String, How),
    Open(Box<Info>, How),
    Encode(Box<Image>, Encode),
    Write(Box<Head>, Encode),
    Draw(Box<Info>, How, Window),
    Salvage(Box<Info>, How),
}

variants!(Call {
    0 => Probe,
    1 => Decode(info, how),
    2 => Extent(info, how),
    3 => End(how),
    4 => DecodeAtOnce(info, how, scales),
    5 => Index(info, how),
    6 => Part(info, index, area),
    7 => DecodePart(info, how, index, area),
    8 => GainMap(info),
    9 => DecodeGainMap(how),
    10 => Recodes(info, to),
    11 => Recode(info, to, how),
    12 => Open(info, how),
    13 => Encode(image, how),
    14 => Write(head, how),
    15 => Draw(info, how, window),
    16 => Salvage(info, how),
});

/// Answer of a worker to a call.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    /// Resident memory of the worker, in bytes.
    pub(crate) resident: u64,
    /// Whether the call panicked. The worker exits after such an answer.
    pub(crate) panicked: bool,
    pub(crate) result: andon_pixels::Result<T>,
}

impl<T: Wire> Wire for Answer<T> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        self.resident.put(output);
        self.panicked.put(output);
        self.result.put(output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok(Self {
            resident: Wire::take(input)?,
            panicked: Wire::take(input)?,
            result: Wire::take(input)?,
        })
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        (**self).put(output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        T::take(input).map(Self::new)
    }
}

impl Wire for Cow<'_, [u8]> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.extend((self.len() as u64).to_le_bytes());
        output.blobs.push(self);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Vec::take(input).map(Self::Owned)
    }
}
