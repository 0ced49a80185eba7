//! Encoding of values for a socket: a head of small values, followed by the large ones as they are in memory.
//!
//! Both ends are of the same version of Andon, so values are encoded without version numbers. A message may come from a
//! process that a crafted image has taken over, so every length is checked against the announced number of bytes before
//! memory is allocated.

mod image;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// A message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Output<'a> {
    /// The encoded small values of the message, such as numbers and texts.
    pub(crate) head: Vec<u8>,
    /// The large values of the message, such as files and samples, which follow the head.
    pub(crate) blobs: Vec<&'a [u8]>,
}

/// A message that is being read.
pub(crate) struct Input<'a> {
    /// The small values that have not been read yet.
    head: &'a [u8],
    /// Stream from which the large values are read.
    stream: &'a mut dyn Read,
    /// Bytes that the remaining large values may have in total.
    remaining: u64,
}

/// A value that can be sent in a message.
pub(crate) trait Wire: Sized {
    /// Adds the value to a message.
    fn put<'a>(&'a self, output: &mut Output<'a>);

    /// Reads a value from a message.
    ///
    /// # Errors
    /// If the message does not contain such a value, or the stream ends.
    fn take(input: &mut Input<'_>) -> io::Result<Self>;
}

impl Output<'_> {
    /// Creates a message that contains one value.
    pub(crate) fn of<T: Wire>(value: &T) -> Output<'_> {
        let mut output = Output::default();
        value.put(&mut output);
        output
    }

    /// Returns the total length of the large values in bytes.
    pub(crate) fn blob_bytes(&self) -> u64 {
        self.blobs.iter().map(|blob| blob.len() as u64).sum()
    }
}

impl<'a> Input<'a> {
    /// Creates a message with this head, and large values of at most `remaining` bytes in total from `stream`.
    pub(crate) fn new(head: &'a [u8], stream: &'a mut dyn Read, remaining: u64) -> Self {
        Self {
            head,
            stream,
            remaining,
        }
    }

    fn bytes(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (bytes, rest) = self
            .head
            .split_at_checked(length)
            .ok_or_else(|| garbled_message("it ends too early"))?;
        self.head = rest;
        Ok(bytes)
    }

    /// Reads the next large value into `into`.
    fn blob(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.reserve(into.len() as u64)?;
        self.stream.read_exact(into)
    }

    /// Subtracts the length in bytes of a large value from the announced bytes.
    ///
    /// # Errors
    /// If the value is longer than the bytes that remain.
    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        self.remaining = self
            .remaining
            .checked_sub(bytes)
            .ok_or_else(|| garbled_message("it is longer than it may be"))?;
        Ok(())
    }

    /// Checks that the whole message has been read.
    ///
    /// # Errors
    /// If bytes of it are left.
    pub(crate) fn check_end(&self) -> io::Result<()> {
        match (self.head.is_empty(), self.remaining) {
            (true, 0) => Ok(()),
            _ => Err(garbled_message("it is longer than its value")),
        }
    }
}

/// Creates an error for an invalid message.
pub(crate) fn garbled_message(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("garbled message: {why}"),
    )
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Wire for $number {
            fn put<'a>(&'a self, output: &mut Output<'a>) {
                output.head.extend(self.to_le_bytes());
            }

            fn take(input: &mut Input<'_>) -> io::Result<Self> {
                let bytes = input.bytes(size_of::<Self>())?;
                bytes.try_into().map(Self::from_le_bytes).map_err(|_| garbled_message("a number is cut"))
            }
        }
    )* };
}

numbers!(u8, u32, u64, f64);

/// Implements `Wire` for a structure: its fields, one after the other.
macro_rules! fields {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl crate::wire::Wire for $name {
            fn put<'a>(&'a self, output: &mut crate::wire::Output<'a>) {
                let Self { $($field),* } = self;
                $($field.put(output);)*
            }

            fn take(input: &mut crate::wire::Input<'_>) -> std::io::Result<Self> {
                Ok(Self { $($field: crate::wire::Wire::take(input)?),* })
            }
        }
    };
}

/// Implements `Wire` for an enumeration: the number of a variant, followed by the values that it holds.
macro_rules! variants {
    ($name:ty { $($number:literal => $variant:ident $(($($value:ident),*))? $({$($field:ident),*})?),* $(,)? }) => {
        impl crate::wire::Wire for $name {
            fn put<'a>(&'a self, output: &mut crate::wire::Output<'a>) {
                match self {
                    $(Self::$variant $(($($value),*))? $({$($field),*})? => {
                        output.head.push($number);
                        $($($value.put(output);)*)?
                        $($($field.put(output);)*)?
                    })*
                }
            }

            fn take(input: &mut crate::wire::Input<'_>) -> std::io::Result<Self> {
                Ok(match u8::take(input)? {
                    $($number => {
                        $($(let $value = crate::wire::Wire::take(input)?;)*)?
                        $($(let $field = crate::wire::Wire::take(input)?;)*)?
                        Self::$variant $(($($value),*))? $({$($field),*})?
                    })*
                    _ => return Err(crate::wire::garbled_message("an unknown variant")),
                })
            }
        }
    };
}

pub(crate) use {fields, variants};

impl Wire for bool {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.push(u8::from(*self));
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok(u8::take(input)? != 0)
    }
}

impl Wire for () {
    fn put<'a>(&'a self, _output: &mut Output<'a>) {}

    fn take(_input: &mut Input<'_>) -> io::Result<Self> {
        Ok(())
    }
}

impl Wire for usize {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.extend((*self as u64).to_le_bytes());
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Self::try_from(u64::take(input)?).map_err(|_| garbled_message("a number is too large"))
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(output);
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        match bool::take(input)? {
            true => T::take(input).map(Some),
            false => Ok(None),
        }
    }
}

impl<T: Wire, E: Wire> Wire for Result<T, E> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.push(u8::from(self.is_ok()));
        match self {
            Ok(value) => value.put(output),
            Err(error) => error.put(output),
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok(match bool::take(input)? {
            true => Ok(T::take(input)?),
            false => Err(E::take(input)?),
        })
    }
}

/// A list of values other than bytes.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T: Wire> Wire for List<T> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.extend((self.0.len() as u64).to_le_bytes());
        for value in &self.0 {
            value.put(output);
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let count = usize::take(input)?;
        // Not allocated by `count`, which may be false. Every value takes at least one byte, so the loop ends at the latest
        // with the head.
        let mut values = Vec::new();
        for _ in 0..count {
            if input.head.is_empty() {
                return Err(garbled_message("a list ends too early"));
            }
            values.push(T::take(input)?);
        }
        Ok(Self(values))
    }
}

/// Sends bytes as a large value, without encoding.
impl Wire for Vec<u8> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        put_bytes(self, output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let length = usize::take(input)?;
        // Checked before the allocation, because the length may be false.
        input.reserve(length as u64)?;
        let mut bytes = vec![0; length];
        input.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Wire for Arc<[u8]> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        put_bytes(self, output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Vec::take(input).map(Into::into)
    }
}

fn put_bytes<'a>(bytes: &'a [u8], output: &mut Output<'a>) {
    output.head.extend((bytes.len() as u64).to_le_bytes());
    output.blobs.push(bytes);
}

impl Wire for String {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        put_text(self, output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let length = usize::take(input)?;
        let bytes = input.bytes(length)?;
        let text = str::from_utf8(bytes).map_err(|_| garbled_message("a text is no UTF-8"))?;
        Ok(text.to_owned())
    }
}

/// Sends names as text; the receiver interns them.
impl Wire for &'static str {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        put_text(self, output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok(intern(String::take(input)?))
    }
}

fn put_text(text: &str, output: &mut Output<'_>) {
    output.head.extend((text.len() as u64).to_le_bytes());
    output.head.extend(text.as_bytes());
}

impl Wire for BTreeMap<String, String> {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.extend((self.len() as u64).to_le_bytes());
        for (name, value) in self {
            name.put(output);
            value.put(output);
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let pairs: List<(String, String)> = List::take(input)?;
        Ok(pairs.0.into_iter().collect())
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        self.0.put(output);
        self.1.put(output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok((A::take(input)?, B::take(input)?))
    }
}

/// Interns a name. Formats and limits have few names, so the number of names and their lengths are limited; any further
/// name becomes `unknown`, because a hostile process may send many.
fn intern(name: String) -> &'static str {
    const MOST: usize = 256;
    const LONGEST: usize = 64;
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(intern) = names.get(name.as_str()) {
        return intern;
    }
    if names.len() >= MOST || name.len() > LONGEST {
        return "unknown";
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}
