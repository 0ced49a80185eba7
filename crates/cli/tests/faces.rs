//! Faces in a real photo: crops keep them, and they are blurred.

mod common;

use std::path::Path;

use common::{Reply, Served, andon, printed, python, sample};

/// Eyes and mouth in the portrait of 512 × 512 px, marked by hand: left, top, right and bottom.
const FACE: [u32; 4] = [196, 86, 256, 150];

const CONFIG: &str = "\
[[origin]]
prefix = '/'
fs.root = 'photos'
[imgproxy]
prefix = '/imgproxy'
[imgix]
prefix = '/imgix'
[cloudflare]
prefix = '/cdn-cgi/image'
";

/// Python script that writes variants of the portrait: stored in each orientation, cut through the chin, and to the
/// left of another image that attracts the crop.
const WRITTEN: &str = "\
import sys
from PIL import Image
portrait, otter, folder = sys.argv[1:]
portrait = Image.open(portrait)
ways = [None, Image.FLIP_LEFT_RIGHT, Image.ROTATE_180, Image.FLIP_TOP_BOTTOM,
        Image.TRANSPOSE, Image.ROTATE_90, Image.TRANSVERSE, Image.ROTATE_270]
for number, way in enumerate(ways, 1):
    exif = Image.Exif()
    exif[0x112] = number
    stored = portrait if way is None else portrait.transpose(way)
    stored.save(f'{folder}/turned-{number}.jpg', quality=90, exif=exif)
portrait.crop((0, 0, 512, 155)).save(folder + '/cut.png')
wide = Image.new('RGB', (1500, 512), (120, 130, 140))
wide.paste(portrait, (0, 0))
wide.paste(Image.open(otter).resize((900, 512)), (600, 0))
wide.save(folder + '/wide.jpg', quality=90)
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let photos = folder.path().join("photos");
    std::fs::create_dir(&photos).expect("a folder");
    let (portrait, otter) = (sample("faces/astronaut.jpg"), sample("photos/otter.jpg"));
    python(WRITTEN, &[&portrait, &otter, &photos]);
    for (from, to) in [(portrait, "portrait.jpg"), (otter, "otter.jpg")] {
        std::fs::copy(from, photos.join(to)).expect("a sample");
    }
    folder
}

/// Returns the recipe for a URL as `andon explain` prints it, in whole pixels.
fn recipe(folder: &Path, target: &str) -> String {
    let config = folder.join("andon.toml");
    std::fs::write(&config, CONFIG).expect("writes");
    let config = config.display().to_string();
    let told = printed(andon(&["explain", target, "--config", &config], &[]));
    let line = told.lines().find_map(|line| line.strip_prefix("recipe"));
    line.expect(&told).trim().to_owned()
}

/// Returns left, top, width and height of the crop in a recipe.
fn crop(recipe: &str) -> [u32; 4] {
    let crop = recipe
        .split(',')
        .find_map(|step| step.strip_prefix("crop:"));
    let numbers: Vec<u32> = crop
        .expect(recipe)
        .split([':', 'x'])
        .map(|number| number.parse().expect(recipe))
        .collect();
    numbers.try_into().expect(recipe)
}

/// Whether a crop contains this part of the image.
fn holds([x, y, w, h]: [u32; 4], [left, top, right, bottom]: [u32; 4]) -> bool {
    x <= left && y <= top && x + w >= right && y + h >= bottom
}

#[test]
fn crops_keep_the_face_however_the_photo_is_stored() {
    let folder = folder();
    let turned =
        (1..=8).map(|number| format!("orient,focus:faces,crop:120x120/turned-{number}.jpg"));
    let others = ["portrait.jpg", "wide.jpg", "cut.png"];
    let others = others.map(|name| format!("focus:faces,crop:120x120/{name}"));
    for target in turned.chain(others) {
        let crop = crop(&recipe(folder.path(), &format!("/r/{target}")));
        assert!(holds(crop, FACE), "{target}: {crop:?}");
    }
    let smart = crop(&recipe(
        folder.path(),
        "/r/focus:smart,crop:120x120/wide.jpg",
    ));
    assert!(!holds(smart, FACE), "nobody would need faces: {smart:?}");
}

#[test]
fn without_a_face_what_draws_the_eye_is_kept() {
    let folder = folder();
    let kept = |point| {
        let target = format!("/r/focus:{point},crop:300x300/otter.jpg");
        crop(&recipe(folder.path(), &target))
    };
    // The two are measured on images of different sizes, so their cells are not exactly the same.
    let apart = kept("faces").into_iter().zip(kept("smart"));
    let apart: Vec<u32> = apart.map(|(one, other)| one.abs_diff(other)).collect();
    assert!(apart.iter().all(|px| *px <= 4), "{apart:?}");
    assert_eq!(recipe(folder.path(), "/r/blur-faces/otter.jpg"), "same");
}

#[test]
fn the_words_of_other_servers_keep_the_same_part() {
    let folder = folder();
    let native = crop(&recipe(
        folder.path(),
        "/r/focus:faces,cover:256x256/wide.jpg",
    ));
    for target in [
        "/imgproxy/unsafe/rs:fill:256:256/g:obj:face/plain/local:///wide.jpg",
        "/imgix/wide.jpg?w=256&h=256&fit=crop&crop=faces",
        "/cdn-cgi/image/w=256,h=256,fit=cover,gravity=face/wide.jpg",
    ] {
        assert_eq!(crop(&recipe(folder.path(), target)), native, "{target}");
    }
}

/// Python script that prints by how much the gray levels of two versions of the portrait differ: the mean over eyes and
/// mouth, and the maximum outside of a rectangle around the head.
const DIFFERENCE: &str = "\
import sys
from PIL import Image, ImageChops, ImageStat
one, other = [Image.open(path).convert('L') for path in sys.argv[1:3]]
apart = ImageChops.difference(one, other)
print(ImageStat.Stat(apart.crop((196, 86, 256, 150))).mean[0])
apart.paste(0, (130, 20, 320, 220))
print(apart.getextrema()[1])
";

#[test]
fn a_face_is_blurred_and_nothing_else() {
    let folder = folder();
    let photo = folder.path().join("photos/portrait.jpg");
    let made = |name: &str, recipe: &str| {
        let out = folder.path().join(name);
        let args = ["convert", recipe, &photo.display().to_string(), "-o"].map(str::to_owned);
        let out_text = out.display().to_string();
        let args: Vec<&str> = args
            .iter()
            .map(String::as_str)
            .chain([&*out_text])
            .collect();
        printed(andon(&args, &[]));
        out.join("portrait.png")
    };
    let (plain, blurred) = (
        made("plain", "as:png"),
        made("blurred", "blur-faces,as:png"),
    );
    let told = python(DIFFERENCE, &[&plain, &blurred]);
    let numbers: Vec<f64> = told
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    let [in_the_face, elsewhere] = numbers[..] else {
        panic!("{told}");
    };
    assert!(in_the_face > 15.0, "{told}");
    assert!(elsewhere < 1.0, "{told}");
}

#[test]
fn faces_are_looked_for_once_for_all_results_of_a_source() {
    let folder = folder();
    let served = Served::start(folder.path(), CONFIG);
    let looked = |reply: &Reply| {
        assert_eq!(
            reply.status,
            200,
            "{}",
            String::from_utf8_lossy(&reply.body)
        );
        let timing = reply.headers.get("server-timing");
        timing.is_some_and(|timing| timing.contains("measure;"))
    };
    assert!(looked(&served.get("/r/focus:faces,cover:200x200/wide.jpg")));
    assert!(!looked(
        &served.get("/r/focus:faces,cover:100x100/wide.jpg")
    ));
    assert!(!looked(&served.get("/r/cover:100x100/wide.jpg")));
}
