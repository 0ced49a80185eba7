//! Loads the fonts of a configuration, for this process and its worker processes.

use std::fs::File;

use andon_codecs::{FontSettings, Fonts};
use andon_server::ConfigError;
use andon_server::config::FontsConfig;
use anyhow::Context;

/// Loads the fonts of a configuration and installs them for this process. Does nothing for the default configuration.
///
/// # Errors
/// If a folder cannot be read or a font family is missing.
pub(crate) fn install(config: &FontsConfig) -> Result<(), ConfigError> {
    if *config != FontsConfig::default() {
        load(config)?.install();
    }
    Ok(())
}

/// Loads and installs the fonts like [`install`], and returns a file from which worker processes read them. Returns
/// `None` for the default configuration, because workers have the bundled font.
///
/// # Errors
/// If a folder cannot be read, a font family is missing, or the system cannot create the file.
pub(crate) fn share(config: &FontsConfig) -> anyhow::Result<Option<File>> {
    if *config == FontsConfig::default() {
        return Ok(None);
    }
    let fonts = load(config)?;
    let file = andon_isolation::sealed(|file| fonts.write(file))
        .context("cannot make the file of fonts that worker processes read")?;
    // From now on this process also reads fonts from that file, and has only those in memory that text is drawn with.
    let copy = file.try_clone().and_then(Fonts::read);
    copy.context("cannot read the file of fonts")?.install();
    Ok(Some(file))
}

fn load(config: &FontsConfig) -> Result<Fonts, ConfigError> {
    let families = [
        &config.sans_serif,
        &config.serif,
        &config.monospace,
        &config.cursive,
        &config.fantasy,
    ];
    let settings = FontSettings {
        folders: config.folders.clone(),
        system: config.system,
        families: families.map(Clone::clone),
        fallback: config.fallback.clone(),
    };
    let loaded = Fonts::load(&settings);
    let fonts =
        loaded.map_err(|error| ConfigError::new(format!("fonts.{}", error.setting), error.why))?;
    for path in fonts.ignored() {
        tracing::warn!(
            "{} is left out: it is no font that can be read",
            path.display()
        );
    }
    tracing::info!(
        fonts = fonts.count(),
        bytes = fonts.bytes(),
        set = fonts.name(),
        "fonts loaded"
    );
    Ok(fonts)
}
