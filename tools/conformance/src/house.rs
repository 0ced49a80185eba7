//! The server from which the images of all rows of the manifest are requested. It is restarted if it ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use anyhow::Result;

use crate::rows::Row;
use crate::server::Server;
use crate::verdict::Verdict;
use crate::{alone, served};

/// A running server, with the settings for starting another.
pub(crate) struct House {
    program: PathBuf,
    server: RwLock<Server>,
    exits: AtomicUsize,
}

impl House {
    /// Starts a server: the program `andon` if given, otherwise the one in the folder of this program.
    pub(crate) fn open(set: &Path, andon: Option<&Path>) -> Result<Self> {
        let program = match andon {
            Some(program) => program.to_owned(),
            None => std::env::current_exe()?.with_file_name("andon"),
        };
        Ok(Self {
            server: RwLock::new(Server::start(&program, set)?),
            program,
            exits: AtomicUsize::new(0),
        })
    }

    /// Judges a row (a file and the expected answer) by the responses of the server. A row that ends the server is missed.
    pub(crate) fn judge(&self, row: &Row, set: &Path) -> Result<Verdict> {
        // The server uses its own fonts. Only the decoders can use those of the set.
        if row.needs_fonts() {
            let verdict = alone::judge_in_process(row, set)?;
            if verdict.missed() {
                return Ok(verdict);
            }
        }
        {
            let server = self.server.read().unwrap_or_else(PoisonError::into_inner);
            let verdict = served::judge(row, set, &server);
            if server.lives() {
                return Ok(verdict);
            }
        }
        // Another row may have ended the server, so this one is judged once more, alone.
        let mut server = self.server.write().unwrap_or_else(PoisonError::into_inner);
        if !server.lives() {
            *server = Server::start(&self.program, set)?;
        }
        let verdict = served::judge(row, set, &server);
        if server.lives() {
            return Ok(verdict);
        }
        self.exits.fetch_add(1, Ordering::Relaxed);
        *server = Server::start(&self.program, set)?;
        Ok(Verdict::Missed("the server ended".to_owned()))
    }

    /// Returns a sentence that states how many times the server and its worker processes have ended.
    pub(crate) fn summary(&self) -> Result<String> {
        let server = self.server.read().unwrap_or_else(PoisonError::into_inner);
        Ok(format!(
            "the server ended {} times; worker processes ended in the midst of their work {} times",
            self.exits.load(Ordering::Relaxed),
            server.deaths()?
        ))
    }
}
