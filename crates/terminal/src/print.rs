//! Writes the output of a command to standard output. Unlike `println!`, it does not panic if standard output is closed
//! or full.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;

/// Writes all of `bytes` to standard output. If the reader, such as `head`, has closed the pipe, that is not an error.
///
/// # Errors
/// If standard output cannot be written to, for example because the disk is full.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
