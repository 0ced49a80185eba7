//! The destination of results as the user wrote it: a folder, or a single file.

use std::path::{self, Component, Path};

use andon_recipe::{FormatName, Recipe};
use anyhow::{Context, bail};

use super::buckets::SCHEME;
use super::names::folder_of;
use crate::format_of::format_of;

/// The destination of results.
pub(super) struct Target {
    /// A folder's path, or `s3://BUCKET/FOLDER`.
    pub(super) folder: String,
    /// The name of the only result file in the folder, if the user named one.
    pub(super) file: Option<File>,
}

/// A result file that the user named.
pub(super) struct File {
    pub(super) name: String,
    /// The format that the file's extension stands for.
    pub(super) format: &'static str,
}

impl Target {
    /// Parses a destination. A name with an image's extension is a file, unless it ends with a slash or is an existing
    /// folder.
    ///
    /// # Errors
    /// If the extension stands for a format that cannot be written, or if the destination is standard output.
    pub(super) fn of(output: &str) -> anyhow::Result<Self> {
        anyhow::ensure!(
            output != "-",
            "-o -: results are files in a folder; `andon render URL --root FOLDER -o -` prints an image"
        );
        let is_bucket = output
            .strip_prefix(SCHEME)
            .is_some_and(|rest| !rest.contains('/'));
        let (folder, name) = match output.rsplit_once('/') {
            _ if is_bucket => (output, ""),
            Some(("", name)) => ("/", name),
            Some(parts) => parts,
            None => ("", output),
        };
        let format = match name.is_empty() || Path::new(output).is_dir() {
            true => None,
            false => format_of(name)?,
        };
        Ok(match format {
            Some(format) => Self {
                folder: folder.to_owned(),
                file: Some(File {
                    name: name.to_owned(),
                    format,
                }),
            },
            None => Self {
                folder: output.to_owned(),
                file: None,
            },
        })
    }

    /// If the output is a named file, sets the recipe's format to that file's format, unless the recipe has one.
    /// Otherwise returns the recipe unchanged.
    ///
    /// # Errors
    /// If the recipe has another format than the named file.
    pub(super) fn completed(&self, mut recipe: Recipe) -> anyhow::Result<Recipe> {
        let Some(File { name, format }) = &self.file else {
            return Ok(recipe);
        };
        recipe.output.without_accept();
        match &recipe.output.format {
            // The result of `original` always has the format of its source.
            None if recipe.is_original() => {}
            None => recipe.output.format = Some(FormatName::new(format)?),
            Some(recipe_format) => {
                let is_asked = |codec: &&&dyn andon_pixels::Codec| {
                    let format = codec.format();
                    format.name == recipe_format.as_str()
                        || format.aliases.contains(&recipe_format.as_str())
                };
                let codec = andon_codecs::ALL.iter().find(is_asked);
                if codec.is_some_and(|codec| codec.name() != *format) {
                    bail!(
                        "the recipe says as:{recipe_format}, and {name} is the name of a {format}; leave as: out, or give the file another extension"
                    );
                }
            }
        }
        Ok(recipe)
    }

    /// Checks that this number of images fits the destination.
    ///
    /// # Errors
    /// If the destination is one file and there is more than one image, or if it looks like a file name with the
    /// extension of no image format.
    pub(super) fn holds(&self, images: usize) -> anyhow::Result<()> {
        let folder = Path::new(&self.folder);
        let is_name = |extension: &std::ffi::OsStr| {
            let letters = extension.as_encoded_bytes();
            letters.len() <= 4 && letters.iter().all(u8::is_ascii_alphabetic)
        };
        match &self.file {
            None if images == 1
                && !self.folder.ends_with('/')
                && !folder.exists()
                && folder.extension().is_some_and(is_name) =>
            {
                bail!(
                    "{}: its extension is that of no image format; {}/ would be a folder",
                    self.folder,
                    self.folder
                )
            }
            Some(File { name, .. }) if images > 1 => bail!(
                "{name} is the name of one file, and there are {images} images; {name}/ would be a folder"
            ),
            _ => Ok(()),
        }
    }
}

/// Creates the parent folder of `file`, the value of the command-line option `option`, if that folder is `results` or
/// below it. Does nothing if the folder exists.
///
/// # Errors
/// If the folder is missing and not below `results`, or cannot be created.
pub(super) fn make_folder_of(
    option: &str,
    file: &Path,
    results: Option<&Path>,
) -> anyhow::Result<()> {
    let folder = folder_of(file);
    if folder.is_dir() {
        return Ok(());
    }
    let name = format!("{option} {}", file.display());
    let is_below = |results: &Path| {
        let (folder, results) = (path::absolute(folder)?, path::absolute(results)?);
        let goes_up = folder.components().any(|part| part == Component::ParentDir);
        Ok::<_, std::io::Error>(!goes_up && folder.starts_with(results))
    };
    if !results.is_some_and(|results| is_below(results).unwrap_or(false)) {
        bail!("{name}: there is no folder {}", folder.display());
    }
    let result = std::fs::create_dir_all(folder);
    result.with_context(|| format!("{name}: cannot make the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(output: &str) -> (String, Option<(String, &'static str)>) {
        let target = Target::of(output).unwrap();
        (target.folder, target.file.map(|it| (it.name, it.format)))
    }

    #[test]
    fn a_name_with_an_images_extension_is_a_file_and_any_other_a_folder() {
        let file =
            |folder: &str, name: &str, format| (folder.to_owned(), Some((name.to_owned(), format)));
        assert_eq!(parts("x.jpg"), file("", "x.jpg", "jpeg"));
        assert_eq!(parts("/x.TIF"), file("/", "x.TIF", "tiff"));
        assert_eq!(parts("a.png/x.webp"), file("a.png", "x.webp", "webp"));
        assert_eq!(parts("s3://b/x.jpg"), file("s3://b", "x.jpg", "jpeg"));
        for folder in [
            "small",
            "x.jpg/",
            "x.txt",
            "s3://b",
            "s3://b.jpg",
            "s3://b/2026",
            ".",
        ] {
            assert_eq!(parts(folder), (folder.to_owned(), None));
        }
        let error = Target::of("x.psd").map(drop).unwrap_err().to_string();
        assert!(error.contains("cannot be written"), "{error}");
    }

    #[test]
    fn the_extension_is_the_format_unless_the_recipe_says_another() {
        let target = Target::of("x.jpg").unwrap();
        let completed = |text: &str| target.completed(text.parse().unwrap());
        for (recipe, expected) in [
            ("fit:9x9", "fit:9x9,as:jpeg"),
            ("fit:9x9,as:auto", "fit:9x9,as:jpeg"),
            ("fit:9x9,as:jpg", "fit:9x9,as:jpg"),
            ("original", "original"),
        ] {
            assert_eq!(completed(recipe).unwrap().to_string(), expected);
        }
        let error = completed("as:webp").unwrap_err().to_string();
        assert!(
            error.contains("as:webp") && error.contains("x.jpg"),
            "{error}"
        );
    }
}
