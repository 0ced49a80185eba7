//! Writes to standard output for commands that end. `println!` would panic if standard output is closed or full.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;

/// Writes all of `bytes` to standard output. If the reader, such as `head`, has stopped reading, this is no failure.
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
