//! One of our programs in a folder of its own, and what it said.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What a command said, and how it ended.
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

/// `program` with these words, as one types them.
pub fn said(program: impl AsRef<Path>, folder: &Path, words: &str) -> Said {
    let output = command(program, folder, words).output();
    output.expect("the program runs").into()
}

/// The command `program` with these words, not yet started. Its state goes into `folder/state`, temporary files into `folder/tmp`.
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
