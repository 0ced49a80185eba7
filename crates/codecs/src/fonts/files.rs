//! Search for font files in folders.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::bytes::FontFile;
use super::{FontError, FontSettings};

/// Extensions of font files, compared without regard to case.
const EXTENSIONS: [&str; 4] = ["ttf", "otf", "ttc", "otc"];

/// Folders of the system's fonts, and of fonts in the user's home.
const SYSTEM: [&str; 4] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
];
const OF_USER: [&str; 3] = [".local/share/fonts", ".fonts", "Library/Fonts"];

/// Maximum depth of nested folders that are searched.
const DEEPEST: usize = 16;

/// Maximum total number of bytes of all files, which are kept in memory.
const MOST_BYTES: u64 = 1 << 30;

/// Reads all font files, sorted by folder in the given order and by path within each. Each file is read once.
pub(super) fn load(settings: &FontSettings) -> Result<(Vec<PathBuf>, Vec<FontFile>), FontError> {
    let mut visited = BTreeSet::new();
    let mut paths = Vec::new();
    for folder in &settings.folders {
        let fonts = font_files(folder).map_err(|error| {
            wrong(
                "folders",
                format!("{} cannot be read: {error}", folder.display()),
            )
        })?;
        paths.extend(fonts.into_iter().filter(|path| is_new(path, &mut visited)));
    }
    if settings.system {
        for folder in system_folders() {
            // Most machines have only some of these folders.
            let fonts = font_files(&folder).unwrap_or_default();
            paths.extend(fonts.into_iter().filter(|path| is_new(path, &mut visited)));
        }
    }
    let mut files = Vec::with_capacity(paths.len());
    let mut left = MOST_BYTES;
    for path in &paths {
        let bytes = fs::read(path)
            .map_err(|error| wrong("folders", format!("{}: {error}", path.display())))?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            let most = MOST_BYTES >> 30;
            let why = format!("the fonts in these folders take more than {most} GiB, which are kept in memory; name folders with fewer");
            wrong("folders", why)
        })?;
        files.push(FontFile::in_memory(bytes));
    }
    Ok((paths, files))
}

fn is_new(path: &Path, visited: &mut BTreeSet<PathBuf>) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    visited.insert(real)
}

fn system_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let user_folders = home
        .iter()
        .flat_map(|home| OF_USER.map(|user_folders| home.join(user_folders)));
    SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain(user_folders)
        .collect()
}

/// Returns the font files in a folder and its subfolders, sorted by their paths.
fn font_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut fonts = Vec::new();
    collect(folder, DEEPEST, &mut fonts)?;
    fonts.sort();
    Ok(fonts)
}

fn collect(folder: &Path, depth: usize, fonts: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if depth > 0 {
                // A subfolder that this user may not read is skipped.
                let _ = collect(&path, depth - 1, fonts);
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_font = extension.is_some_and(|extension| {
            let mut extensions = EXTENSIONS.iter();
            extensions.any(|extensions| extension.eq_ignore_ascii_case(extensions))
        });
        if is_font && path.is_file() {
            fonts.push(path);
        }
    }
    Ok(())
}

fn wrong(setting: &str, why: String) -> FontError {
    FontError {
        setting: setting.to_owned(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BUNDLED, Fonts};
    use super::*;

    #[test]
    fn broken_files_in_a_folder_are_left_out_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        fs::create_dir(folder.path().join("deeper")).unwrap();
        write("deeper/whole.TTF", BUNDLED);
        write("cut.ttf", &BUNDLED[..5000]);
        write("empty.otf", b"");
        write("text.ttc", b"no font");
        write("readme.txt", b"no font either");
        let mut flipped = BUNDLED.to_vec();
        flipped[12..300].fill(0xff);
        write("flipped.ttf", &flipped);
        let settings = FontSettings {
            folders: vec![folder.path().to_owned()],
            ..FontSettings::default()
        };
        let fonts = Fonts::load(&settings).unwrap();
        assert_eq!(fonts.count(), 2);
        let ignored = fonts.ignored().iter();
        let names: Vec<_> = ignored
            .filter_map(|path| path.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["cut.ttf", "empty.otf", "flipped.ttf", "text.ttc"]);
    }
}
