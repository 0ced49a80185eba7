//! The scenario: one TOML file that describes an experiment completely. Every key has a default except the server's
//! command. Unknown keys are errors that name the nearest known key.

mod check;
pub mod cpus;
mod design;
mod load;
pub mod placeholders;
mod sample;
mod server;
pub mod urls;
mod validate;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use andon_recipe::{nearest, unknown};
pub use andon_settings::Error as ScenarioError;
use serde::{Deserialize, Serialize};

pub use andon_client::{HttpVersion, Seconds, Share};
pub use check::{AtLeast, BodyCheck, Check, Expect, SizeCheck};
pub use design::{Above, BlockOrder, Design, Discard, Gate, Metric, Pairs, Until, WarmupRule};
pub use load::{Arrivals, Load, Mode, UrlEntry, UrlOrder};
pub use sample::{CountBy, Sample};
pub use server::{Address, Fresh, Ready, Server, Stop};

/// The description of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario format: 1.
    #[serde(default = "one")]
    pub schema: u32,
    /// Name of the experiment, used for the run's folder and its reports.
    #[serde(default)]
    pub name: String,
    /// Seed that fixes the order of blocks, the choice of URLs and the arrivals of requests.
    #[serde(default)]
    pub seed: u64,
    /// The server under test.
    pub server: Server,
    /// Parameter names with their values, whose cross product becomes the variants. `skip` removes cells,
    /// `load.connections` varies the load.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub matrix: BTreeMap<String, Vec<toml::Value>>,
    /// Variants written out one by one. The first is the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<VariantEntry>,
    /// The load on the server.
    #[serde(default)]
    pub load: Load,
    /// Checks that every reply must pass.
    #[serde(default)]
    pub check: Check,
    /// Sampling of the machine and the server while blocks run, and the passes that count system calls and
    /// instructions.
    #[serde(default)]
    pub sample: Sample,
    /// How blocks are laid out and when enough of them have run.
    #[serde(default)]
    pub design: Design,
    /// The conditions under which `andon-lab gate` fails.
    #[serde(default)]
    pub gate: Gate,
    /// The folder that relative paths start from, which is the scenario file's. Not part of the file itself.
    #[serde(skip)]
    pub dir: PathBuf,
}

impl Scenario {
    /// Reads and checks a scenario file, including whether it can run on this machine.
    ///
    /// # Errors
    /// Up to 10 mistakes in the file's syntax, keys and types; if it has none, the first value that is invalid. Each
    /// comes with file, line and key, and what would be valid.
    pub fn read(file: &Path) -> Result<Self, ScenarioError> {
        let wrong = |error: ScenarioError| error.in_file(file);
        let text = fs::read_to_string(file)
            .map_err(|error| wrong(ScenarioError::new("", error.to_string())))?;
        let dir = match file.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        let mut scenario = Self::parse(&text, dir).map_err(wrong)?;
        let fits = scenario
            .fits_here()
            .and_then(|()| scenario.tells_the_address());
        fits.map_err(|error| wrong(error.located(&text)))?;
        if scenario.name.is_empty() {
            let stem = file.file_stem().unwrap_or_default();
            scenario.name = stem.to_string_lossy().into_owned();
        }
        Ok(scenario)
    }

    /// Reads and checks a scenario's text. Relative paths in it start from `dir`.
    ///
    /// # Errors
    /// Up to 10 mistakes in the text's syntax, keys and types; if it has none, the first value that is invalid. Each
    /// comes with line and key, and what would be valid.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, ScenarioError> {
        let mut scenario: Self =
            ScenarioError::reading(text, &andon_settings::Known::default(), |all| all.read())?;
        scenario.dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        scenario.validate().map_err(|error| error.located(text))?;
        Ok(scenario)
    }

    /// Resolves a path of the scenario against the scenario's folder.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }
}

/// One `[[variant]]`: the ways in which it differs from `[server]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VariantEntry {
    /// Name of the variant. Must be unique and not empty.
    pub name: String,
    /// Program that replaces the first word of the command.
    pub bin: Option<String>,
    /// Command that replaces the server's whole command.
    pub cmd: Option<Vec<String>>,
    /// Arguments appended to the command.
    pub args: Vec<String>,
    /// Variables added to the environment. An empty value removes the variable.
    pub env: BTreeMap<String, String>,
    /// Keys of the configuration (TOML files) or placeholders `{key}` (other files) with their values.
    pub set: BTreeMap<String, toml::Value>,
    /// Keys to remove from TOML files.
    pub unset: Vec<String>,
    /// File of URLs that replaces the scenario's list.
    pub urls: Option<String>,
    /// Assertions that must hold. Otherwise the variant's settings did not take effect in the server, and nothing was
    /// compared.
    #[serde(alias = "witness")]
    pub assert: Vec<BTreeMap<String, String>>,
    /// The way in which the variant's responses must compare with the baseline's.
    pub expect: Option<Expect>,
    /// Number of connections that replaces `load.connections`.
    pub connections: Option<u32>,
}

fn one() -> u32 {
    1
}
