//! Many distinct photos, generated from a few. Their sizes range from 1.5 to 20 megapixels, one in six has the largest
//! size, and half of them are progressive. The same sources give the same files every time.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::engines::{engine, render};
use crate::photos::Folder;

/// A folder of photos next to this program. Reuses files of an earlier run.
#[derive(Serialize)]
pub(super) struct PhotoSet {
    #[serde(skip)]
    pub(super) path: PathBuf,
    #[serde(skip)]
    pub(super) names: Vec<String>,
    /// Megapixels of each photo, in the order of the names.
    megapixels: Vec<f64>,
    bytes: u64,
}

impl PhotoSet {
    /// Generates `count` photos.
    pub(super) fn make(photos: &Folder, count: usize) -> Result<Self> {
        let path = env::current_exe()?.with_file_name("bench-photos");
        fs::create_dir_all(&path)?;
        let mut set = Self {
            path,
            names: Vec::new(),
            megapixels: Vec::new(),
            bytes: 0,
        };
        for number in 0..count {
            set.add(photos, number)?;
        }
        Ok(set)
    }

    fn add(&mut self, photos: &Folder, number: usize) -> Result<()> {
        let photo = &photos.names[number % photos.names.len()];
        let original = photos.read(photo)?;
        let info = engine().probe(&original)?;
        let megapixels = megapixels(number);
        let pixels = f64::from(info.width) * f64::from(info.height);
        let scale = (megapixels * 1e6 / pixels).sqrt();
        let side = |length: u32| (f64::from(length) * scale).ceil();
        let progressive = if number % 4 < 2 { "" } else { ",progressive" };
        let recipe = format!(
            "fit:{}x{}:enlarge,as:jpeg,q:{}{progressive}",
            side(info.width),
            side(info.height),
            80 + number % 13
        );
        let name = format!("{number:03}-{megapixels}-{photo}");
        let file = self.path.join(&name);
        if !file.is_file() {
            let body = render(&recipe, &original)?;
            // The file is renamed when it is complete, so that an interrupted run leaves no partial file under its
            // name.
            let unfinished = file.with_extension("unfinished");
            fs::write(&unfinished, body).with_context(|| name.clone())?;
            fs::rename(&unfinished, &file)?;
        }
        self.bytes += fs::metadata(&file)?.len();
        self.megapixels.push(megapixels);
        self.names.push(name);
        Ok(())
    }

    /// Returns the path of request `number`. Each round of requests goes through all photos, with another width for
    /// each photo than in the round before. Once all photos were requested in all widths, the quality changes.
    pub(super) fn url(&self, number: usize) -> String {
        let (photo, round) = (number % self.names.len(), number / self.names.len());
        let width = WIDTHS[(photo + round) % WIDTHS.len()];
        let quality = 60 + round / WIDTHS.len() % QUALITIES;
        let name = &self.names[photo];
        format!("/small_light(dw={width},q={quality},of=jpg)/{name}")
    }

    /// Returns the number of distinct requests.
    pub(super) fn requests(&self) -> usize {
        self.names.len() * WIDTHS.len() * QUALITIES
    }
}

/// Returns the size in megapixels of photo `number`: 20 for one in six, and values spread evenly from 1.5 to 12.5 for
/// the others.
fn megapixels(number: usize) -> f64 {
    match number % 6 {
        0 => 20.0,
        _ => 1.0 + (number * 7 % 24) as f64 / 2.0,
    }
}

/// Widths in px that a page's `srcset` typically requests.
const WIDTHS: [u32; 7] = [160, 320, 480, 640, 960, 1280, 1920];

const QUALITIES: usize = 35;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_request_is_like_another_until_all_were_made() {
        let set = PhotoSet {
            path: PathBuf::new(),
            names: (0..96).map(|number| format!("{number}.jpg")).collect(),
            megapixels: Vec::new(),
            bytes: 0,
        };
        let requests = set.requests();
        let urls: HashSet<_> = (0..requests).map(|number| set.url(number)).collect();
        assert_eq!(urls.len(), 96 * 7 * 35);
    }

    #[test]
    fn one_in_six_is_large_and_none_is_smaller_than_a_megapixel() {
        let all: Vec<_> = (0..96).map(megapixels).collect();
        assert_eq!(all.iter().filter(|one| **one >= 20.0).count(), 16);
        assert!(all.iter().all(|one| (1.0..=20.0).contains(one)));
    }
}
