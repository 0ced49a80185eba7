//! Where the pictures of `render` and `explain` are: a folder, or a server's configuration.

use std::path::PathBuf;

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
    /// What a server here would resolve targets and make pictures with.
    pub(crate) fn open(&self) -> Result<(Resolver, Engine, Background), ConfigError> {
        let config = match (&self.root, &self.config) {
            (_, Some(file)) => Config::read(file)?,
            (Some(root), None) => Config::for_folder(root),
            (None, None) => Config::default(),
        };
        let engine = Engine::new(andon_codecs::ALL, config.limits.pixels());
        let background = Background::new(config.background.0, andon_codecs::ALL);
        let resolver = Resolver::new(&config, andon_codecs::ALL)?;
        Ok((resolver, engine, background))
    }
}

/// What would stand in the request line for what was typed: a leading slash is easy to lose, and a whole
/// URL is easy to paste.
pub(crate) fn target(typed: &str) -> String {
    let after_scheme = ["http://", "https://"]
        .iter()
        .find_map(|scheme| typed.strip_prefix(scheme));
    let path = match after_scheme {
        Some(url) => url.split_once('/').map_or("", |(_, path)| path),
        None => typed.strip_prefix('/').unwrap_or(typed),
    };
    format!("/{path}")
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn a_path_may_be_typed_without_its_slash_or_with_its_whole_url() {
        for typed in [
            "/a/b.jpg?c",
            "a/b.jpg?c",
            "http://127.0.0.1:8080/a/b.jpg?c",
            "https://pictures.example/a/b.jpg?c",
        ] {
            assert_eq!(target(typed), "/a/b.jpg?c", "{typed}");
        }
        assert_eq!(target("//a"), "//a");
        assert_eq!(target("http://x"), "/");
    }
}
