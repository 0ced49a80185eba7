//! The overlay images of a batch, read from a folder.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use andon_batch::Overlays;
use anyhow::{Context, bail};

/// Reads the overlay images of these names, which lie in `folder`.
pub(super) fn read(folder: Option<&Path>, names: Vec<String>) -> anyhow::Result<Overlays> {
    let mut files = BTreeMap::new();
    for name in names {
        let folder = folder.with_context(|| {
            format!("`{name}` is laid over the images; name its folder with --materials")
        })?;
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(&name).components().all(inside) {
            bail!("`{name}` is not below the folder {}", folder.display());
        }
        let path = folder.join(&name);
        let file = std::fs::read(&path);
        let file = file.with_context(|| format!("{} cannot be read", path.display()))?;
        files.insert(name, file);
    }
    Ok(Overlays::new(files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_outside_the_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let read = |folder, name: &str| read(folder, vec![name.to_owned()]).map(drop);
        let outside = read(Some(folder.path()), "../a.png").unwrap_err();
        assert!(outside.to_string().contains("`../a.png`"), "{outside}");
        let missing = read(Some(folder.path()), "a.png").unwrap_err();
        assert!(missing.to_string().contains("a.png"), "{missing}");
        let nowhere = read(None, "a.png").unwrap_err();
        assert!(nowhere.to_string().contains("--materials"), "{nowhere}");
    }
}
