//! The scenario: one TOML file that says everything about an experiment. Every key has a default except the
//! server's command; unknown keys are errors that name the nearest known one.

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

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format: 1.
    #[serde(default = "one")]
    pub schema: u32,
    /// Names the run's folder and its reports.
    #[serde(default)]
    pub name: String,
    /// Fixes the order of blocks, the weights of URLs and the arrivals.
    #[serde(default)]
    pub seed: u64,
    /// What is started.
    pub server: Server,
    /// Names with their values; the cross product becomes variants. `skip` removes cells, `load.connections`
    /// varies the load.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub matrix: BTreeMap<String, Vec<toml::Value>>,
    /// Variants in words; the first is the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<VariantEntry>,
    /// The load on the server.
    #[serde(default)]
    pub load: Load,
    /// What a reply must be.
    #[serde(default)]
    pub check: Check,
    /// What is read meanwhile.
    #[serde(default)]
    pub sample: Sample,
    /// How blocks are laid out and when it is enough.
    #[serde(default)]
    pub design: Design,
    /// When `andon-lab gate` fails.
    #[serde(default)]
    pub gate: Gate,
    /// The folder that relative paths start from: the scenario file's. Not part of the file.
    #[serde(skip)]
    pub dir: PathBuf,
}

impl Scenario {
    /// Reads and checks a scenario file that is to run here.
    ///
    /// # Errors
    /// The first thing that is wrong, with file, line, key and what would do.
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

    /// Reads and checks a scenario's text; relative paths in it start from `dir`.
    ///
    /// # Errors
    /// The first thing that is wrong, with line, key and what would do.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, ScenarioError> {
        let mut scenario: Self = ScenarioError::reading(text, &[], |text| toml::from_str(text))?;
        scenario.dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        scenario.validate().map_err(|error| error.located(text))?;
        Ok(scenario)
    }

    /// A path of the scenario as the file system knows it.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }
}

/// One `[[variant]]`: what differs from `[server]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VariantEntry {
    /// Unique; may not be empty.
    pub name: String,
    /// Replaces the first word of the command.
    pub bin: Option<String>,
    /// Replaces the whole command.
    pub cmd: Option<Vec<String>>,
    /// Appended to the command.
    pub args: Vec<String>,
    /// Added to the environment; an empty value removes the name.
    pub env: BTreeMap<String, String>,
    /// Keys of the configuration (TOML files) or placeholders `{key}` (other files) with their values.
    pub set: BTreeMap<String, toml::Value>,
    /// Keys removed from TOML files.
    pub unset: Vec<String>,
    /// Replaces the URL list.
    pub urls: Option<String>,
    /// What must be true for the variant to have been exercised.
    #[serde(alias = "witness")]
    pub assert: Vec<BTreeMap<String, String>>,
    /// The way in which the variant's responses must compare with the baseline's.
    pub expect: Option<Expect>,
    /// Replaces `load.connections`.
    pub connections: Option<u32>,
}

fn one() -> u32 {
    1
}
