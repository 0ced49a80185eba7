//! Determines the image format that a file name stands for.

use andon_server::media_type;
use anyhow::bail;

/// Returns the format that the extension of `output` stands for, or `None` if it is no image's extension.
///
/// # Errors
/// If the format cannot be written.
pub(crate) fn format_of(output: &str) -> anyhow::Result<Option<&'static str>> {
    let promised = media_type::by_name(andon_codecs::ALL, output);
    let encoders = || {
        andon_codecs::ALL
            .iter()
            .filter(|codec| codec.encoder().is_some())
    };
    let codec = encoders().find(|codec| promised == Some(codec.format().media_type));
    match (codec, promised) {
        (None, Some(promised)) if promised.starts_with("image/") => {
            let formats: Vec<&str> = encoders().map(|codec| codec.name()).collect();
            bail!(
                "{output}: {promised} cannot be written; formats are {}",
                formats.join(", ")
            )
        }
        (codec, _) => Ok(codec.map(|codec| codec.name())),
    }
}
