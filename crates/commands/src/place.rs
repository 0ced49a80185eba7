//! Finds the images for `render` and `explain`, which are in a folder or in the origins of a server's configuration.

use std::path::{Path, PathBuf};

pub(crate) use andon_dialects::translate::target;
use andon_pixels::Engine;
use andon_server::config::Overrides;
use andon_server::negotiation::Background;
use andon_server::{Config, ConfigError, Resolver};
use clap::Args;

use crate::fonts;

/// The folder or the server's configuration in which a command looks for images; the current folder if neither is
/// given.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct Place {
    /// The folder that the server would serve
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The server's configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Place {
    /// Returns the configuration in the given file, with the keys that environment variables override, or a default
    /// configuration that serves the given or the current folder.
    pub(crate) fn config(&self) -> Result<Config, ConfigError> {
        match (&self.root, &self.config) {
            (_, Some(file)) => Overrides::of_process().read(Some(file)),
            (root, None) => Ok(Config::for_folder(
                root.as_deref().unwrap_or(Path::new(".")),
            )),
        }
    }

    /// Returns the components of a server for this folder or configuration: those that resolve targets, make images,
    /// and choose the background of formats without transparency.
    pub(crate) fn open(&self) -> Result<(Resolver, Engine, Background), ConfigError> {
        Self::of(&self.config()?)
    }

    /// Returns the components of a server with this configuration: those that resolve targets, make images, and choose
    /// the background of formats without transparency. Installs the configuration's fonts.
    pub(crate) fn of(config: &Config) -> Result<(Resolver, Engine, Background), ConfigError> {
        fonts::install(&config.fonts)?;
        let engine = Engine::new(andon_codecs::ALL, config.limits.pixels());
        let background = Background::new(config.background.0, andon_codecs::ALL);
        let resolver = Resolver::new(config, andon_codecs::ALL)?;
        Ok((resolver, engine, background))
    }
}
