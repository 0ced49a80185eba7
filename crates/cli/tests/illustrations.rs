//! The images of docs/reference.md show the results of the recipes next to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::common::{andon, printed, python, sample};

/// Python script that prints by how much two images differ, as Pillow decodes them: the mean difference in levels (0 to
/// 255) of red, green, blue or opacity, whichever is largest.
const COMPARE: &str = "\
import sys
from PIL import Image, ImageChops, ImageStat
a, b = (Image.open(path).convert('RGBA') for path in sys.argv[1:])
assert a.size == b.size, (a.size, b.size)
print(max(ImageStat.Stat(ImageChops.difference(a, b)).mean))";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns the recipe and the file name of each image in docs/reference.md.
fn illustrations() -> Vec<(String, String)> {
    let page = fs::read_to_string(docs().join("reference.md")).unwrap();
    let image = Regex::new(r"!\[`([^`]+)`\]\(images/reference/([a-z0-9-]+\.webp)\)").unwrap();
    let images = image.captures_iter(&page);
    images
        .map(|it| (it[1].to_owned(), it[2].to_owned()))
        .collect()
}

/// Applies `recipe` to a sample photo, and returns the path of the result in `folder`.
fn make(recipe: &str, folder: &Path) -> PathBuf {
    let recipe = format!("{recipe},as:webp,q:80");
    let (photo, icons) = (sample("photos/otter.jpg"), sample("icons"));
    let (photo, icons, out) = (photo.display(), icons.display(), folder.display());
    let (photo, icons, out) = (photo.to_string(), icons.to_string(), out.to_string());
    let args = ["convert", &recipe, "--overlays", &icons, &photo, "-o", &out];
    printed(andon(&args, &[]));
    folder.join("otter.webp")
}

/// With `ANDON_BLESS=1` the test writes the images.
#[test]
fn every_image_of_the_reference_is_what_its_recipe_makes() {
    let folder = docs().join("images/reference");
    let bless = std::env::var_os("ANDON_BLESS").is_some();
    if bless {
        fs::create_dir_all(&folder).unwrap();
    }
    let all = illustrations();
    assert!(all.len() > 30, "{all:?}");
    for (recipe, file) in &all {
        let made = tempfile::tempdir().unwrap();
        let made = make(recipe, made.path());
        let kept = folder.join(file);
        if bless {
            fs::copy(&made, &kept).unwrap();
        }
        let difference: f64 = python(COMPARE, &[&made, &kept]).trim().parse().unwrap();
        assert!(
            difference < 0.5,
            "{file}: {difference} levels: run this test with ANDON_BLESS=1"
        );
    }
    let named: BTreeSet<_> = all.into_iter().map(|(_, file)| file).collect();
    let kept = fs::read_dir(&folder).unwrap();
    let kept = kept.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert_eq!(kept.collect::<BTreeSet<_>>(), named);
}

#[test]
fn every_image_of_the_reference_shows_a_change_of_its_own() {
    let folder = docs().join("images/reference");
    let files = illustrations().into_iter().map(|(_, file)| file);
    let mut seen = BTreeSet::new();
    for file in files {
        let bytes = fs::read(folder.join(&file)).unwrap();
        assert!(seen.insert(bytes), "{file} looks like another one");
    }
}
