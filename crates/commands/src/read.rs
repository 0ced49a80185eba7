//! Reads text files for commands.

use std::fs;
use std::io;
use std::path::Path;

/// Reads the text of a file, or of standard input if the path is `-`.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    match path == Path::new("-") {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(path),
    }
}
