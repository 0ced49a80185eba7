//! Where the images of `render` and `explain` are: a folder, or a server's configuration.

use std::path::PathBuf;

pub(crate) use andon_dialects::translate::target;
use andon_pixels::Engine;
use andon_server::negotiation::Background;
use andon_server::{Config, ConfigError, Resolver};
use clap::Args;

/// A folder or a configuration; the current folder when neither is given.
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
    /// What a server here would be configured with.
    pub(crate) fn config(&self) -> Result<Config, ConfigError> {
        match (&self.root, &self.config) {
            (_, Some(file)) => Config::read(file),
            (Some(root), None) => Ok(Config::for_folder(root)),
            (None, None) => Ok(Config::default()),
        }
    }

    /// What a server here would resolve targets and make images with.
    pub(crate) fn open(&self) -> Result<(Resolver, Engine, Background), ConfigError> {
        Self::of(&self.config()?)
    }

    /// What a server with this configuration would resolve targets and make images with.
    pub(crate) fn of(config: &Config) -> Result<(Resolver, Engine, Background), ConfigError> {
        let engine = Engine::new(andon_codecs::ALL, config.limits.pixels());
        let background = Background::new(config.background.0, andon_codecs::ALL);
        let resolver = Resolver::new(config, andon_codecs::ALL)?;
        Ok((resolver, engine, background))
    }
}
