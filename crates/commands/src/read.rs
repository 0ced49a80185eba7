//! Reads files for commands.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Reads the text of a file, or of standard input if the path is `-`.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    match path == Path::new("-") {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(path),
    }
}

/// Reads the bytes of a file, or of standard input if the path is `-`.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    match path == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        false => fs::read(path),
    }
}
