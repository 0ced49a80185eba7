//! `[sandbox]`: what the server gives up at its start, by the kernel.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Span};

/// `[sandbox]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Whether the sandbox is on, off, or on where the kernel can.
    pub mode: SandboxMode,
    /// Which formats are read and written by processes of their own.
    pub processes: Processes,
    /// How long a file is refused that ended two of those.
    pub suspect: Span,
    /// Files and folders that may be read beside those that other keys name.
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

/// Which formats are read and written by processes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// Those whose code is of others and cannot be bounded or interrupted from inside.
    #[default]
    ThirdParty,
    /// Every codec works in a process of its own.
    All,
    /// Every codec works in the server's process.
    None,
}

impl FromStr for Processes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::ThirdParty, Self::All, Self::None];
        let named = all.into_iter().find(|it| it.name() == text);
        named.ok_or_else(|| format!("{text:?} is none of third-party, all and none"))
    }
}

impl Processes {
    /// As it is written in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirdParty => "third-party",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

/// Whether there is a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// As far as the kernel supports it; the log says what it does not.
    #[default]
    Auto,
    /// The server does not start without it.
    Required,
    /// There is no sandbox.
    Off,
}

impl SandboxMode {
    /// As it is written in the file.
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

    /// Looks for what cannot be permitted, because it is not there.
    ///
    /// # Errors
    /// Naming the path.
    pub(crate) fn check_read(&self) -> Result<(), ConfigError> {
        let missing = self.read.iter().find(|path| !path.exists());
        check(missing.is_none(), "sandbox.read", || {
            let missing = missing.map_or_else(String::new, |path| path.display().to_string());
            format!("{missing} does not exist; create it before the start, or leave it out")
        })
    }
}
