//! Standard output of the commands that end: `println!` would panic when it is closed or full.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;

/// Writes all of `bytes` to standard output. A reader that left, such as `head`, has read enough: that is no failure.
///
/// # Errors
/// Standard output cannot be written to, for example because the disk is full.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
