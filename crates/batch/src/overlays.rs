//! The overlay images of recipes. Each is decoded once, for all images that it is laid over.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use andon_pixels::{Error, Image, OverlaySource, Result};

/// Overlay image files, by the names that recipes use for them.
#[derive(Debug, Default)]
pub struct Overlays {
    files: BTreeMap<String, Vec<u8>>,
    decoded: Mutex<BTreeMap<String, Image>>,
}

impl Overlays {
    /// Creates a collection of these files, keyed by name.
    #[must_use]
    pub fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            files,
            decoded: Mutex::default(),
        }
    }

    pub(crate) fn file(&self, name: &str) -> Result<&Vec<u8>> {
        self.files.get(name).ok_or_else(|| Error::Recipe {
            piece: name.to_owned(),
            why: "there is no overlay image of this name".to_owned(),
        })
    }
}

impl OverlaySource for Overlays {
    fn load(&self, name: &str) -> Result<Vec<u8>> {
        self.file(name).cloned()
    }

    /// Returns the decoded overlay image. The first call decodes it and caches the result; meanwhile other threads
    /// wait.
    fn image(&self, name: &str, decode: &dyn Fn(&[u8]) -> Result<Image>) -> Result<Image> {
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
    fn an_overlay_is_decoded_once_for_all_images() {
        let files = BTreeMap::from([("a.png".to_owned(), b"a".to_vec())]);
        let overlays = Overlays::new(files);
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
            assert!(overlays.image("a.png", &decode).is_ok());
        }
        assert_eq!(times.get(), 1);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_it() {
        let error = Overlays::default().load("b.png").unwrap_err();
        assert!(error.to_string().contains("`b.png`"), "{error}");
    }
}
