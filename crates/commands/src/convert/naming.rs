//! The template for the file names of results.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The template for a result's file name without the extension of its format. `{name}` is the image's name without its
/// extension, and `{ext}` is that extension.
#[derive(Clone, Debug)]
pub(super) struct Naming(String);

impl Naming {
    /// Parses a template.
    ///
    /// # Errors
    /// If the template lacks `{name}`, so that all results would have one name, or if it contains an unknown
    /// placeholder, a slash or a NUL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let rest = text.replace("{name}", "").replace("{ext}", "");
        match () {
            () if !text.contains("{name}") => {
                Err("it has no {name} in it, which is the name of the image".to_owned())
            }
            () if rest.contains(['{', '}']) => Err("{name} and {ext} are known".to_owned()),
            () if rest.contains(['/', '\0']) => {
                Err("it names files; folders are named by --output and --relative-to".to_owned())
            }
            () => Ok(Self(text.to_owned())),
        }
    }

    /// Whether results keep the names of their images, apart from the extension.
    pub(super) fn keeps_names(&self) -> bool {
        self.0 == "{name}"
    }

    /// Returns the destination as a manifest records it: the folder, plus the template unless it is the default.
    pub(super) fn place_in(&self, folder: &str) -> String {
        match self.keeps_names() {
            true => folder.to_owned(),
            false => format!("{}/{}", folder.trim_end_matches('/'), self.0),
        }
    }

    /// Returns the file name for the result of `image`. `None` if the image's path has no file name.
    pub(super) fn of(&self, image: &Path, extension: &str) -> Option<OsString> {
        let stem = image.file_stem()?;
        let own_extension = image.extension().unwrap_or_default();
        let mut name = OsString::new();
        // Without an extension, the dot before `{ext}` is omitted, too.
        let text = match own_extension.is_empty() {
            true => self.0.replace(".{ext}", ""),
            false => self.0.clone(),
        };
        for (index, part) in text.split("{name}").enumerate() {
            if index > 0 {
                name.push(stem);
            }
            join(&mut name, part, own_extension);
        }
        name.push(".");
        name.push(extension);
        Some(name)
    }
}

/// Appends a part of the template, with `{ext}` replaced by the image's extension.
fn join(name: &mut OsString, part: &str, extension: &OsStr) {
    for (index, text) in part.split("{ext}").enumerate() {
        if index > 0 {
            name.push(extension);
        }
        name.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_put_where_they_are_named() {
        for (text, image, result) in [
            ("{name}", "x/a.b.png", "a.b.webp"),
            ("{name}.{ext}", "x/a.PNG", "a.PNG.webp"),
            ("{name}-256", "x/{ext}", "{ext}-256.webp"),
            ("{ext}_{name}", "a", "_a.webp"),
            ("{name}.{ext}", "a", "a.webp"),
        ] {
            let named = Naming::parse(text).unwrap().of(Path::new(image), "webp");
            assert_eq!(named.unwrap(), result);
        }
        for text in ["256", "{name}{width}", "{name", "a/{name}"] {
            assert!(Naming::parse(text).is_err(), "{text}");
        }
    }
}
