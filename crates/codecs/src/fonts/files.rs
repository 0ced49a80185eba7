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
    let mut seen = BTreeSet::new();
    let mut paths = Vec::new();
    for folder in &settings.folders {
        let found = below(folder).map_err(|error| {
            wrong(
                "folders",
                format!("{} cannot be read: {error}", folder.display()),
            )
        })?;
        paths.extend(found.into_iter().filter(|path| is_new(path, &mut seen)));
    }
    if settings.system {
        for folder in system_folders() {
            // Most machines have only some of these folders.
            let found = below(&folder).unwrap_or_default();
            paths.extend(found.into_iter().filter(|path| is_new(path, &mut seen)));
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
        files.push(FontFile::held(bytes));
    }
    Ok((paths, files))
}

fn is_new(path: &Path, seen: &mut BTreeSet<PathBuf>) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    seen.insert(real)
}

fn system_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let own = home
        .iter()
        .flat_map(|home| OF_USER.map(|own| home.join(own)));
    SYSTEM.iter().map(PathBuf::from).chain(own).collect()
}

/// Returns the font files in a folder and its subfolders, sorted by their paths.
fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, DEEPEST, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if depth > 0 {
                // A subfolder that this user may not read is skipped.
                let _ = collect(&path, depth - 1, found);
            }
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_font = extension.is_some_and(|extension| {
            let mut known = EXTENSIONS.iter();
            known.any(|known| extension.eq_ignore_ascii_case(known))
        });
        if is_font && path.is_file() {
            found.push(path);
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
