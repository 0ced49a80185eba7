//! Text that commands read.

use std::fs;
use std::io;
use std::path::Path;

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    match path == Path::new("-") {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(path),
    }
}
