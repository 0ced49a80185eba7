//! The format that the name of a result promises.

use andon_server::media_type;
use anyhow::bail;

use crate::reference::is_written;

/// The format that the extension of `output` means, if it is an image's.
///
/// # Errors
/// For a format that is not written.
pub(crate) fn format_of(output: &str) -> anyhow::Result<Option<&'static str>> {
    let promised = media_type::by_name(andon_codecs::ALL, output);
    let written = || andon_codecs::ALL.iter().filter(|codec| is_written(**codec));
    let codec = written().find(|codec| promised == Some(codec.format().media_type));
    match (codec, promised) {
        (None, Some(promised)) if promised.starts_with("image/") => {
            let formats: Vec<&str> = written().map(|codec| codec.name()).collect();
            bail!(
                "{output}: {promised} cannot be written; formats are {}",
                formats.join(", ")
            )
        }
        (codec, _) => Ok(codec.map(|codec| codec.name())),
    }
}
