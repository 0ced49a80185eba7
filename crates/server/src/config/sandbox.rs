//! The `[sandbox]` table: which privileges the server gives up at its start, which the kernel then enforces.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Span};

/// The `[sandbox]` table: which privileges the server gives up at its start, and which codecs run in processes of their
/// own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Whether the sandbox is required, off, or used as far as the kernel supports it.
    pub mode: SandboxMode,
    /// Which codecs run in worker processes.
    pub processes: Processes,
    /// How long a file is refused after jobs for it have brought down two worker processes.
    pub suspect: Span,
    /// Files and folders that may be read in addition to those that other keys name.
    pub read: Vec<PathBuf>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            mode: SandboxMode::default(),
            processes: Processes::default(),
            suspect: Span(Duration::from_secs(3600)),
            read: Vec::new(),
        }
    }
}

/// Which codecs run in worker processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// Codecs with third-party code that cannot be bounded or interrupted from inside.
    #[default]
    ThirdParty,
    /// All codecs.
    All,
    /// No codecs: all of them run in the server's process.
    None,
}

impl FromStr for Processes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let values = [Self::ThirdParty, Self::All, Self::None];
        let value = values.into_iter().find(|it| it.name() == text);
        value.ok_or_else(|| format!("{text:?} is none of third-party, all and none"))
    }
}

impl Processes {
    /// Returns the value as it is written in the configuration file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirdParty => "third-party",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

/// Whether the sandbox is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// The sandbox is used as far as the kernel supports it. The log says what is not supported.
    #[default]
    Auto,
    /// The sandbox is required: the server does not start if the kernel does not support it.
    Required,
    /// The sandbox is not used.
    Off,
}

impl SandboxMode {
    /// Returns the value as it is written in the configuration file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Required => "required",
            Self::Off => "off",
        }
    }
}

impl SandboxConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        for path in &mut self.read {
            *path = folder.join(&path);
        }
    }

    /// Checks that the files and folders in `read` exist, because the kernel can permit only existing ones.
    ///
    /// # Errors
    /// `ConfigError` naming the path that is missing.
    pub(crate) fn check_read(&self) -> Result<(), ConfigError> {
        let missing = self.read.iter().find(|path| !path.exists());
        check(missing.is_none(), "sandbox.read", || {
            let missing = missing.map_or_else(String::new, |path| path.display().to_string());
            format!("{missing} does not exist; create it before the start, or leave it out")
        })
    }
}
