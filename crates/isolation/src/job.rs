//! What a worker process is asked to do, and how it answers.

use std::borrow::Cow;
use std::io;

use andon_pixels::{Encode, Head, Image, Info, Limits, Scales, Window};
use andon_recipe::Area;

use crate::wire::{Input, List, Output, Wire, fields, variants};

/// The version of what is said between the server and its workers, which are the same program: a worker of another one was
/// started from a file that has been replaced.
pub(crate) const VERSION: u32 = 1;

/// What a worker says first.
#[derive(Debug)]
pub(crate) struct Hello {
    pub(crate) version: u32,
    /// The formats that it knows.
    pub(crate) formats: List<String>,
    /// Why it may do more than compute, if it may.
    pub(crate) unconfined: Option<String>,
}

fields!(Hello {
    version,
    formats,
    unconfined
});

/// What one message is about; its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the server: a [`Hello`].
    Hello = b'H',
    /// To the worker: a [`Job`].
    Job = b'J',
    /// To the worker: the next frame of the animation that is open.
    Next = b'N',
    /// To the worker: a frame for the animation that is being written.
    Push = b'P',
    /// To the worker: no more frames; the file is wanted.
    Finish = b'F',
    /// To the worker: no more frames are wanted.
    Close = b'E',
    /// To the worker: nobody wants the answer any more. It may come too late, and means nothing then.
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

/// One call of a codec.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// Which codec's.
    pub(crate) format: String,
    pub(crate) limits: Limits,
    /// Bytes that it may allocate.
    pub(crate) memory: u64,
    /// Seconds of processor time that it may take.
    pub(crate) seconds: u64,
    /// The file, if one is read.
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) call: Call,
}

fields!(Job<'_> { format, limits, memory, seconds, bytes, call });

/// The part of [`andon_pixels::Decode`] that is sent with each call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) scales: Scales,
    pub(crate) keep_metadata: bool,
}

fields!(How {
    scales,
    keep_metadata
});

/// The methods of [`andon_pixels::Codec`] that look at a file or write one.
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

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    /// Bytes of memory that the worker has.
    pub(crate) resident: u64,
    /// The call panicked: the worker ends.
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
