//! Large image files to request: the photos at their own size and enlarged, both as JPEG and as PNG.

use std::env;
use std::fs;
use std::path::PathBuf;

use andon_pixels::Run;
use anyhow::{Context, Result};

use crate::engines::engine;
use crate::photos::Folder;

/// A folder of large images. It is removed when this is dropped.
pub(super) struct Images {
    pub(super) path: PathBuf,
    pub(super) names: Vec<String>,
    /// Size of the largest image, in megapixels.
    pub(super) megapixels: f64,
}

impl Images {
    /// Writes the files, from the first 5 photos (2 if `quick`).
    pub(super) fn make(photos: &Folder, quick: bool) -> Result<Self> {
        let path = env::temp_dir().join(format!("andon-bench-memory-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        let mut images = Self {
            path,
            names: Vec::new(),
            megapixels: 0.0,
        };
        let count = if quick { 2 } else { 5 };
        for photo in photos.names.iter().take(count) {
            let bytes = photos.read(photo)?;
            images.add("as-it-is.jpg", photo, "as:jpeg,q:90", &bytes)?;
            images.add("large.jpg", photo, &format!("{LARGE},as:jpeg,q:90"), &bytes)?;
            images.add("as-it-is.png", photo, "as:png", &bytes)?;
            images.add("large.png", photo, &format!("{LARGE},as:png"), &bytes)?;
        }
        Ok(images)
    }

    fn add(&mut self, ending: &str, photo: &str, recipe: &str, bytes: &[u8]) -> Result<()> {
        let engine = engine();
        let plan = engine.plan(&recipe.parse::<andon_recipe::Recipe>()?, bytes)?;
        let rendered = engine.run(&plan, Run::of(bytes))?;
        let name = format!("{}-{ending}", photo.trim_end_matches(".jpg"));
        let body = rendered.bytes(bytes);
        fs::write(self.path.join(&name), body).with_context(|| name.clone())?;
        let megapixels = f64::from(rendered.width) * f64::from(rendered.height) / 1e6;
        self.megapixels = self.megapixels.max(megapixels);
        self.names.push(name);
        Ok(())
    }

    /// Returns the index of the file that request `number` is for.
    pub(super) fn file(&self, number: usize) -> usize {
        number % self.names.len()
    }

    /// Returns the path of request `number`. No two requests of a run are equal: they differ in file, size or quality.
    pub(super) fn url(&self, number: usize) -> String {
        let name = &self.names[self.file(number)];
        let side = 400 + number % 401;
        let quality = 60 + number / 401 % 35;
        format!("/small_light(dw={side},dh={side},da=l,q={quality},of=jpg)/{name}")
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        // An error is harmless: the folder is below the system's temporary folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Recipe step that enlarges a 3:2 photo to 24 megapixels.
const LARGE: &str = "fit:6000x4000:enlarge";
