//! What a request target means, and which files it needs: everything about a request but its sockets
//! and its pixels. Opening and reading may wait for a disk; they belong on a thread that may wait.

use andon_dialects::{Dialects, Wish};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::conditional::Validators;
use crate::config::{Config, ConfigError};
use crate::error::Error;
use crate::materials::{LoadedMaterials, MaterialFolder, OpenMaterials};
use crate::origins::{Entry, OpenFile, Origins};

/// From targets to wishes, and from wishes to files.
#[derive(Debug)]
pub struct Resolver {
    dialects: Dialects,
    origins: Origins,
    materials: MaterialFolder,
    most_bytes: u64,
}

/// A wish whose files are open.
#[derive(Debug)]
pub struct Found {
    /// The path of the file, below `/`: the wish's source, or the index of a folder.
    pub path: String,
    /// What a client may hold its copy against.
    pub validators: Validators,
    file: OpenFile,
    materials: OpenMaterials,
    most_bytes: u64,
}

/// A wish's files, read.
#[derive(Debug)]
pub struct Read {
    /// The source's bytes.
    pub source: Vec<u8>,
    /// What it is composed with.
    pub materials: LoadedMaterials,
}

impl Resolver {
    /// Opens every folder of the configuration and compiles its dialects.
    ///
    /// # Errors
    /// Naming what cannot be opened or compiled.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            dialects: config.dialects()?,
            origins: Origins::open(&config.origin)?,
            materials: MaterialFolder::open(config.small_light.material_dir.as_deref())?,
            most_bytes: config.limits.source_bytes.0,
        })
    }

    /// What `target` asks for: path and query as they stand in the request line.
    ///
    /// # Errors
    /// `Wish`.
    pub fn wish(&self, target: &str) -> Result<Wish, Error> {
        self.dialects.wish(target).map_err(Error::Wish)
    }

    /// Opens the files that a wish needs, without reading them.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Moved`, `Io`, and `Pixels` naming a missing material.
    pub fn open(&self, wish: &Wish) -> Result<Found, Error> {
        let (path, file) = match self.origins.entry(&wish.source)? {
            Entry::File(file) => (wish.source.clone(), file),
            Entry::Folder if wish.transformed => {
                return Err(Error::Missing {
                    path: wish.source.clone(),
                });
            }
            Entry::Folder => self.index(&wish.source)?,
        };
        let materials = self.materials.open_for(&wish.recipe)?;
        let recipe = match wish.transformed {
            true => wish.recipe.to_string(),
            false => String::new(),
        };
        Ok(Found {
            validators: Validators::new(&recipe, &file.identity, &materials.identities()),
            path,
            file,
            materials,
            most_bytes: self.most_bytes,
        })
    }

    /// A folder's index; a folder whose path lacks its last slash has moved there, because links in
    /// the index would miss otherwise.
    fn index(&self, folder: &str) -> Result<(String, OpenFile), Error> {
        let path = format!("{}/{INDEX}", folder.trim_end_matches('/'));
        let path = path.trim_start_matches('/').to_owned();
        // Named with the index, because what is missing is not the folder.
        let missing = || Error::Missing { path: path.clone() };
        let Entry::File(file) = self.origins.entry(&path).map_err(|_| missing())? else {
            return Err(missing());
        };
        match folder.rsplit('/').next() {
            Some(last) if !last.is_empty() => Err(Error::Moved {
                to: format!("./{}/", utf8_percent_encode(last, NON_ALPHANUMERIC)),
            }),
            _ => Ok((path, file)),
        }
    }
}

impl Found {
    /// Bytes of all its files.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.file
            .identity
            .size
            .saturating_add(self.materials.size())
    }

    /// Reads them.
    ///
    /// # Errors
    /// `Pixels(Limit)`, `Changing`, `Io`.
    pub fn read(&self) -> Result<Read, Error> {
        Ok(Read {
            source: self.file.read(self.most_bytes)?,
            materials: self.materials.read(self.most_bytes)?,
        })
    }
}

const INDEX: &str = "index.html";
