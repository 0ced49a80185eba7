//! Loads the fonts of a configuration, for this process and its worker processes.

use std::fs::File;

use andon_codecs::{FontSettings, Fonts};
use andon_server::ConfigError;
use andon_server::config::FontsConfig;
use anyhow::Context;

/// Loads the fonts and installs them for this process.
///
/// # Errors
/// If a folder cannot be read or a family is not there.
pub(crate) fn install(config: &FontsConfig) -> Result<(), ConfigError> {
    if *config != FontsConfig::default() {
        load(config)?.install();
    }
    Ok(())
}

/// Does the same, and returns the file from which worker processes read the fonts. `None` if they need none, because
/// they have the bundled font.
///
/// # Errors
/// As for `install`, and if the system cannot make such a file.
pub(crate) fn share(config: &FontsConfig) -> anyhow::Result<Option<File>> {
    if *config == FontsConfig::default() {
        return Ok(None);
    }
    let fonts = load(config)?;
    let file = andon_isolation::sealed(|file| fonts.write(file))
        .context("cannot make the file of fonts that worker processes read")?;
    // From now on this process reads that file, too, and holds only fonts that text is drawn with.
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
