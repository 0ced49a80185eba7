//! One server for all rows, which is replaced if it ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use anyhow::Result;

use crate::rows::Row;
use crate::server::Server;
use crate::verdict::Verdict;
use crate::{alone, served};

/// A running server, and what is needed to start another.
pub(crate) struct House {
    program: PathBuf,
    server: RwLock<Server>,
    ended: AtomicUsize,
}

impl House {
    /// Starts a server: the program `andon` if given, otherwise the one beside this program.
    pub(crate) fn open(set: &Path, andon: Option<&Path>) -> Result<Self> {
        let program = match andon {
            Some(program) => program.to_owned(),
            None => std::env::current_exe()?.with_file_name("andon"),
        };
        Ok(Self {
            server: RwLock::new(Server::start(&program, set)?),
            program,
            ended: AtomicUsize::new(0),
        })
    }

    /// Judges a row by what the server answers. A row that ends the server is missed.
    pub(crate) fn judged(&self, row: &Row, set: &Path) -> Result<Verdict> {
        // A server has fonts of its own: only the decoders can be given those of the set.
        if row.needs_fonts() {
            let verdict = alone::judged(row, set)?;
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
        // Another row may have ended it: once more, alone.
        let mut server = self.server.write().unwrap_or_else(PoisonError::into_inner);
        if !server.lives() {
            *server = Server::start(&self.program, set)?;
        }
        let verdict = served::judge(row, set, &server);
        if server.lives() {
            return Ok(verdict);
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        *server = Server::start(&self.program, set)?;
        Ok(Verdict::Missed("the server ended".to_owned()))
    }

    /// Returns a sentence that says how many times the server and its worker processes have ended.
    pub(crate) fn fared(&self) -> Result<String> {
        let server = self.server.read().unwrap_or_else(PoisonError::into_inner);
        Ok(format!(
            "the server ended {} times; worker processes ended in the midst of their work {} times",
            self.ended.load(Ordering::Relaxed),
            server.deaths()?
        ))
    }
}
