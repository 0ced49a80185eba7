//! The images that a batch's recipe lays over its pictures: each is read once, and decoded once.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError};

use andon_pixels::{Error, Image, Materials, Result};
use anyhow::{Context, bail};

/// Files by the names that the recipe has for them.
pub(super) struct Overlays {
    files: BTreeMap<String, Vec<u8>>,
    decoded: Mutex<BTreeMap<String, Image>>,
}

impl Overlays {
    /// Reads those of these names, which lie in `folder`.
    pub(super) fn read<'a>(
        folder: Option<&Path>,
        names: impl Iterator<Item = &'a str>,
    ) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        for name in names {
            let folder = folder.with_context(|| {
                format!("`{name}` is laid over the pictures; name its folder with --materials")
            })?;
            let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
            if !Path::new(name).components().all(inside) {
                bail!("`{name}` is not below the folder {}", folder.display());
            }
            let path = folder.join(name);
            let file = std::fs::read(&path);
            let file = file.with_context(|| format!("{} cannot be read", path.display()))?;
            files.insert(name.to_owned(), file);
        }
        Ok(Self {
            files,
            decoded: Mutex::default(),
        })
    }

    fn file(&self, name: &str) -> Result<&Vec<u8>> {
        self.files.get(name).ok_or_else(|| Error::Recipe {
            piece: name.to_owned(),
            why: "it was not read with the recipe".to_owned(),
        })
    }
}

impl Materials for Overlays {
    fn load(&self, name: &str) -> Result<Vec<u8>> {
        self.file(name).cloned()
    }

    /// Who wants one that is being decoded waits for it.
    fn picture(&self, name: &str, decode: &dyn Fn(&[u8]) -> Result<Image>) -> Result<Image> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = decoded.get(name) {
            return Ok(image.clone());
        }
        let image = decode(self.file(name)?)?;
        decoded.insert(name.to_owned(), image.clone());
        Ok(image)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use andon_pixels::frame::{Frame, Grid, Model, Plane};

    use super::*;

    #[test]
    fn an_overlay_is_decoded_once_for_all_pictures() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.png"), "a").unwrap();
        let overlays = Overlays::read(Some(folder.path()), ["a.png"].into_iter()).unwrap();
        let times = Cell::new(0);
        let decode = |bytes: &[u8]| {
            times.set(times.get() + 1);
            assert_eq!(bytes, b"a");
            let plane = Plane::U8(Grid::filled(1, 1, 0));
            Ok(Image::still(
                Frame::new(Model::Gray, 1, 1, vec![plane], None).unwrap(),
            ))
        };
        for _ in 0..3 {
            assert!(overlays.picture("a.png", &decode).is_ok());
        }
        assert_eq!(times.get(), 1);
    }

    #[test]
    fn what_is_missing_or_outside_the_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let read = |folder, name| Overlays::read(folder, [name].into_iter()).map(drop);
        let outside = read(Some(folder.path()), "../a.png").unwrap_err();
        assert!(outside.to_string().contains("`../a.png`"), "{outside}");
        let missing = read(Some(folder.path()), "a.png").unwrap_err();
        assert!(missing.to_string().contains("a.png"), "{missing}");
        let nowhere = read(None, "a.png").unwrap_err();
        assert!(nowhere.to_string().contains("--materials"), "{nowhere}");
    }

    #[test]
    fn a_batch_needs_neither_the_server_nor_tokio() {
        let files = [
            include_str!("../convert.rs"),
            include_str!("outputs.rs"),
            include_str!("overlays.rs"),
        ];
        let used =
            |line: &str| line.starts_with("use andon_server") || line.starts_with("use tokio");
        assert!(!files.iter().flat_map(|file| file.lines()).any(used));
    }
}
