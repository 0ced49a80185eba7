//! Runs a program of this repository in a folder of its own, and captures its output.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The output and the exit code of a command.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub fn ending(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

/// Runs `program` with these arguments, split as by a shell.
pub fn said(program: impl AsRef<Path>, folder: &Path, words: &str) -> Said {
    let output = command(program, folder, words).output();
    output.expect("the program runs").into()
}

/// Returns the command `program` with these arguments, not yet started. Its state goes to `folder/state`, temporary
/// files to `folder/tmp`.
pub fn command(program: impl AsRef<Path>, folder: &Path, words: &str) -> Command {
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).expect("a folder");
    let mut command = Command::new(program.as_ref());
    command
        .args(words.split_whitespace())
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("TMPDIR", temporary)
        .current_dir(folder);
    command
}
