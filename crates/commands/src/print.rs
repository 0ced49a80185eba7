//! Standard output of the commands that end: `println!` would panic when it is closed or full.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;

/// Writes all of it. A reader that left, such as `head`, has read enough: that is no failure.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
