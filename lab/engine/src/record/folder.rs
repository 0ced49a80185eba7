//! A run's folder: it is written block by block and read back as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::saved_bodies::Finding;
use super::{Block, Findings, Header, Run, SCHEMA, SavedBodies};

/// A run's folder on disk.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Why a run could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file system operation failed.
    #[error("{path}: {error}")]
    Io {
        /// Path of the file or folder that the operation failed for.
        path: PathBuf,
        /// The error that the operating system returned.
        error: io::Error,
    },
    /// A file does not have the expected content, or a new run would overwrite another.
    #[error("{path}: {why}")]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with the content.
        why: String,
    },
    /// The run cannot be judged, because it was saved without its replies and without findings about them.
    #[error(
        "{path}: its replies were not kept, nor {JUDGED} with what was found about them, so that they cannot be \
         compared again; report.html has what was found"
    )]
    NotKept {
        /// The run's folder.
        path: PathBuf,
    },
    /// Only the run's reports were saved, so that nothing can be reported or judged again.
    #[error(
        "{path}: its blocks were not saved (blocks.jsonl or blocks.jsonl.gz); report.txt has what was concluded"
    )]
    NoBlocks {
        /// The run's folder.
        path: PathBuf,
    },
}

impl Folder {
    /// Creates a folder for a run and writes the header into it.
    ///
    /// # Errors
    /// The folder cannot be created, or there is a run in it already.
    pub fn create(path: &Path, header: &Header) -> Result<Self, FolderError> {
        let folder = Self {
            path: path.to_owned(),
        };
        let file = folder.path.join(HEADER);
        if file.exists() && !folder.is_a_beginning() {
            return Err(FolderError::Content {
                path: file,
                why: "there is a run here already; give another folder with -o".to_owned(),
            });
        }
        fs::create_dir_all(folder.path.join(BODIES)).map_err(folder.io(&folder.path))?;
        let text =
            serde_json::to_vec_pretty(header).map_err(|error| folder.content(HEADER, &error))?;
        write_whole(&file, &text).map_err(folder.io(&file))?;
        Ok(folder)
    }

    /// Returns whether the folder holds only the beginning of a run that ended before anything was measured. Such a
    /// folder may be overwritten by a new run.
    fn is_a_beginning(&self) -> bool {
        let is_empty =
            |path: PathBuf| fs::read_dir(path).is_ok_and(|mut names| names.next().is_none());
        fs::read_dir(&self.path).is_ok_and(|entries| {
            entries.flatten().all(|entry| {
                let name = entry.file_name();
                name == HEADER || (name == BODIES && is_empty(entry.path()))
            })
        })
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a block or a pass and waits until it is on disk.
    ///
    /// # Errors
    /// The entry cannot be written.
    pub fn append<T: Serialize>(&self, kind: Kind, entry: &T) -> Result<(), FolderError> {
        let name = kind.file();
        let path = self.path.join(name);
        let line = self.line(name, entry)?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let write = |mut file: File| {
            file.write_all(&line)?;
            file.sync_data()
        };
        file.and_then(write).map_err(self.io(&path))
    }

    /// Saves the reply bodies that are not in the folder yet. `bodies` has them by their hash.
    ///
    /// # Errors
    /// A body cannot be written.
    pub fn save_bodies(&self, bodies: &BTreeMap<String, Bytes>) -> Result<(), FolderError> {
        for (hash, body) in bodies {
            let path = self.path.join(BODIES).join(hash);
            if !path.exists() {
                write_whole(&path, body).map_err(self.io(&path))?;
            }
        }
        Ok(())
    }

    /// Reads a whole run back. A last line that a crash cut short is left out.
    ///
    /// # Errors
    /// There is no run in the folder, or its files are not valid for this version.
    pub fn read(path: &Path) -> Result<(Self, Run), FolderError> {
        let folder = Self {
            path: path.to_owned(),
        };
        let file = folder.path.join(HEADER);
        let text = fs::read(&file).map_err(folder.io(&file))?;
        let header: Header =
            serde_json::from_slice(&text).map_err(|error| folder.content(HEADER, &error))?;
        if header.schema != SCHEMA {
            return Err(FolderError::Content {
                path: file,
                why: format!(
                    "its format is {}, this program reads {SCHEMA}",
                    header.schema
                ),
            });
        }
        let mut blocks: Vec<Block> = folder.entries(Kind::Block.file())?;
        blocks.iter_mut().for_each(forget_negative_times);
        let run = Run {
            header,
            blocks,
            passes: folder.entries(Kind::Pass.file())?,
        };
        Ok((folder, run))
    }

    /// Writes the findings about the reply bodies, so that the bodies themselves need not be kept.
    pub fn save_findings(&self, findings: &Findings) -> Result<(), FolderError> {
        let path = self.path.join(JUDGED);
        let mut text = Vec::new();
        for finding in findings.entries() {
            text.extend(self.line(JUDGED, &finding)?);
        }
        write_whole(&path, &text).map_err(self.io(&path))
    }

    /// Reads the saved reply bodies and the findings about them. A body whose hash is not its file name is left out.
    pub fn saved_bodies(&self) -> Result<SavedBodies, FolderError> {
        let findings = match self.path.join(JUDGED).exists() {
            true => Some(self.entries::<Finding>(JUDGED)?.into_iter().collect()),
            false => None,
        };
        Ok(SavedBodies {
            bodies: self.bodies()?,
            findings,
        })
    }

    fn bodies(&self) -> Result<BTreeMap<String, Bytes>, FolderError> {
        let path = self.path.join(BODIES);
        let mut bodies = BTreeMap::new();
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(bodies),
            entries => entries.map_err(self.io(&path))?,
        };
        for entry in entries {
            let entry = entry.map_err(self.io(&path))?;
            let body = fs::read(entry.path()).map_err(self.io(&entry.path()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if blake3::hash(&body).to_hex().as_str() == name {
                bodies.insert(name, body.into());
            }
        }
        Ok(bodies)
    }

    /// Reads the lines of a file, or of its compressed copy with `.gz` added to the name. Returns an empty list if
    /// there is neither.
    fn entries<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, FolderError> {
        let Some((path, file)) = self.open(name)? else {
            return Ok(Vec::new());
        };
        let lines: Vec<String> = BufReader::new(file)
            .lines()
            .collect::<io::Result<_>>()
            .map_err(self.io(&path))?;
        let last = lines.len();
        let mut entries = Vec::with_capacity(last);
        for (number, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(entry) => entries.push(entry),
                Err(error) if number + 1 == last && error.is_eof() => {}
                Err(error) => {
                    return Err(FolderError::Content {
                        path,
                        why: format!("line {}: {error}", number + 1),
                    });
                }
            }
        }
        Ok(entries)
    }

    fn open(&self, name: &str) -> Result<Option<Opened>, FolderError> {
        let plain = self.path.join(name);
        let packed = self.path.join(format!("{name}.gz"));
        for path in [plain, packed] {
            match File::open(&path) {
                Ok(file) if path.extension().is_some_and(|it| it == "gz") => {
                    return Ok(Some((path, Box::new(MultiGzDecoder::new(file)))));
                }
                Ok(file) => return Ok(Some((path, Box::new(file)))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.io(&path)(error)),
            }
        }
        Ok(None)
    }

    fn line<T: Serialize>(&self, name: &str, entry: &T) -> Result<Vec<u8>, FolderError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.content(name, &error))?;
        line.push(b'\n');
        Ok(line)
    }

    fn io(&self, path: &Path) -> impl FnOnce(io::Error) -> FolderError + use<> {
        let path = path.to_owned();
        move |error| FolderError::Io { path, error }
    }

    fn content(&self, name: &str, error: &serde_json::Error) -> FolderError {
        FolderError::Content {
            path: self.path.join(name),
            why: error.to_string(),
        }
    }
}

/// Path of an opened file, and a reader of its uncompressed content.
type Opened = (PathBuf, Box<dyn Read>);

/// The kind of an entry that is appended to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A [`super::Block`].
    Block,
    /// A [`super::Pass`].
    Pass,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Self::Block => "blocks.jsonl",
            Self::Pass => "passes.jsonl",
        }
    }
}

/// Writes a file under another name first and then renames it, so that a crash leaves nothing half-written under the
/// right name.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary_path = path.with_extension("new");
    let mut file = File::create(&temporary_path)?;
    file.write_all(content)?;
    file.sync_data()?;
    fs::rename(temporary_path, path)
}

const HEADER: &str = "run.json";
const BODIES: &str = "bodies";
const JUDGED: &str = "judged.jsonl";
/// Replaces negative CPU times of the client by NaN, since the true ones are not known. Runs recorded before 22
/// November 2026, 12:00 UTC, lost the CPU time of client threads that had ended before the window closed.
fn forget_negative_times(block: &mut Block) {
    if block.client.cpu_seconds < 0.0 {
        (block.client.cpu_seconds, block.client.busy) = (f64::NAN, f64::NAN);
    }
}
