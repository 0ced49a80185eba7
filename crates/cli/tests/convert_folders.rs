//! `andon convert` with folders of images, and with the name of one result.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use andon_pixels::{Engine, Limits};
use tempfile::TempDir;

use crate::common::sample;
use crate::s3::S3;

/// Creates a folder `photos` with images in folders, and other files.
pub(super) fn house() -> TempDir {
    let house = tempfile::tempdir().unwrap();
    for (name, from) in [
        ("a.jpg", "jpeg/420.jpg"),
        ("trip/b.PNG", "png/alpha.png"),
        ("trip/far/without an extension", "webp/lossy.webp"),
        ("trip/.hidden.jpg", "jpeg/420.jpg"),
        (".thumbnails/a.jpg", "jpeg/420.jpg"),
        ("trip/notes.txt", "README.md"),
    ] {
        let path = house.path().join("photos").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(sample(from), path).unwrap();
    }
    house
}

/// Runs `andon convert` in the folder `house`. Returns its exit code, and its standard output and standard error.
pub(super) fn convert(house: &TempDir, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
    let run = command.arg("convert").args(args).current_dir(house.path());
    let output = run.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Returns the files below a folder.
pub(super) fn files(folder: &Path) -> BTreeSet<String> {
    fn add(folder: &Path, below: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(below).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(folder, &path, found),
                false => {
                    let name = path.strip_prefix(folder).unwrap();
                    found.insert(name.to_str().unwrap().to_owned());
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    add(folder, folder, &mut found);
    found
}

fn format(path: &Path) -> &'static str {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    engine.probe(&fs::read(path).unwrap()).unwrap().format
}

pub(super) const RECIPE: &str = "fit:40x40,as:webp,q:80";

#[test]
fn all_images_below_a_folder_are_converted_and_keep_their_folders() {
    let house = house();
    let (code, said) = convert(&house, &[RECIPE, "photos", "-o", "out"]);
    assert_eq!(code, Some(0), "{said}");
    let expected = [
        "a.webp",
        "trip/b.webp",
        "trip/far/without an extension.webp",
    ];
    let expected: BTreeSet<String> = expected.map(str::to_owned).into();
    assert_eq!(files(&house.path().join("out")), expected);
    let left_out = "photos/trip/notes.txt is no image and left out";
    assert!(said.contains(left_out), "{said}");
    // Results below the folder are not images of the next run.
    for _ in 0..2 {
        let (code, said) = convert(&house, &[RECIPE, "photos/", "-o", "photos/small"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(files(&house.path().join("photos/small")), expected);
    }
}

#[test]
fn a_link_to_a_folder_above_does_not_lead_in_circles() {
    let house = house();
    let photos = house.path().join("photos");
    std::os::unix::fs::symlink(&photos, photos.join("trip/up")).unwrap();
    std::os::unix::fs::symlink(photos.join("a.jpg"), photos.join("linked.jpg")).unwrap();
    let (code, said) = convert(&house, &[RECIPE, "photos", "-o", "out"]);
    assert_eq!(code, Some(0), "{said}");
    let made = files(&house.path().join("out"));
    assert_eq!(made.len(), 4, "{made:?}");
    assert!(made.contains("linked.webp"), "{made:?}");
}

#[test]
fn an_image_of_a_folder_that_fails_is_named_and_the_others_are_made() {
    let house = house();
    fs::write(house.path().join("photos/trip/empty.jpg"), "").unwrap();
    let (code, said) = convert(&house, &[RECIPE, "photos", "-o", "out"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("photos/trip/empty.jpg: "), "{said}");
    assert!(said.contains("1 of 4 images failed"), "{said}");
    assert_eq!(files(&house.path().join("out")).len(), 3);
    fs::create_dir(house.path().join("nothing")).unwrap();
    let (code, said) = convert(&house, &[RECIPE, "nothing", "-o", "out"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no image below nothing"), "{said}");
}

#[test]
fn of_images_that_share_a_result_the_first_has_it() {
    let house = house();
    let photos = house.path().join("photos");
    for name in ["a.png", "trip/b.jpg"] {
        fs::copy(sample("jpeg/420.jpg"), photos.join(name)).unwrap();
    }
    let list = "photos/trip/b.jpg\0photos/a.png\0photos/a.jpg\0photos/trip/b.PNG\0";
    fs::write(house.path().join("list"), list).unwrap();
    for _ in 0..2 {
        let (code, said) = convert(&house, &["fit:40x40,as:gif", "--from", "list", "-o", "out"]);
        assert_eq!(code, Some(1), "{said}");
        for line in [
            "photos/a.jpg: out/a.gif is the result of photos/a.png already",
            "photos/trip/b.PNG: out/b.gif is the result of photos/trip/b.jpg already",
        ] {
            assert!(said.contains(line), "{said}");
        }
    }
    let results = ["a.gif", "b.gif"].map(str::to_owned);
    assert_eq!(files(&house.path().join("out")), results.into());
}

#[test]
fn images_of_a_list_keep_their_folders_below_the_one_that_is_named() {
    let house = house();
    let list = "photos/a.jpg\n./photos/trip/b.PNG\n";
    fs::write(house.path().join("list"), list).unwrap();
    let arguments = [
        "fit:40x40,as:gif",
        "--from",
        "list",
        "-o",
        "out",
        "--relative-to",
    ];
    for (folder, results) in [
        ("photos", ["a.gif", "trip/b.gif"]),
        ("./photos/", ["a.gif", "trip/b.gif"]),
        (".", ["photos/a.gif", "photos/trip/b.gif"]),
    ] {
        let (code, said) = convert(&house, &[&arguments[..], &[folder]].concat());
        assert_eq!(code, Some(0), "{said}");
        let out = house.path().join("out");
        assert_eq!(files(&out), results.map(str::to_owned).into(), "{folder}");
        fs::remove_dir_all(out).unwrap();
    }
    fs::write(
        house.path().join("list"),
        "photos/a.jpg\nphotos/trip/../../list\n",
    )
    .unwrap();
    for folder in ["photos", "photos/trip", "/photos"] {
        let (code, said) = convert(&house, &[&arguments[..], &[folder]].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("it is not below"), "{said}");
        assert!(!house.path().join("out").exists(), "nothing is made");
    }
}

#[test]
fn one_image_may_have_the_name_of_its_result() {
    let house = house();
    for (recipe, output, expected) in [
        ("fit:40x40", "x.webp", "webp"),
        ("fit:40x40,as:auto", "deep/x.png", "png"),
        ("fit:40x40,as:jpeg", "x.jpg", "jpeg"),
        ("original", "same.jpg", "jpeg"),
    ] {
        let (code, said) = convert(&house, &[recipe, "photos/a.jpg", "-o", output]);
        assert_eq!(code, Some(0), "{output}: {said}");
        assert_eq!(format(&house.path().join(output)), expected);
    }
    let (code, said) = convert(&house, &[RECIPE, "photos/a.jpg", "-o", "y.jpg/"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(house.path().join("y.jpg/a.webp").exists());
    // The name is a folder now.
    let (code, said) = convert(&house, &["fit:9x9", "photos/a.jpg", "-o", "y.jpg"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(house.path().join("y.jpg/a.jpg").exists());
}

#[test]
fn a_name_that_cannot_be_that_of_the_result_is_refused_before_anything_is_read() {
    let house = house();
    let before = files(house.path());
    for (recipe, inputs, output, said) in [
        (RECIPE, "photos/a.jpg", "x.jpg", "as:webp"),
        (
            "fit:9x9,q:80",
            "photos/a.jpg",
            "x.png",
            "png has no such option",
        ),
        (
            "fit:9x9",
            "photos",
            "x.jpg",
            "there are 3 images; x.jpg/ would be a folder",
        ),
        ("fit:9x9", "photos/a.jpg", "x.psd", "cannot be written"),
        (
            "fit:9x9",
            "photos/a.jpg",
            "x.jgp",
            "x.jgp/ would be a folder",
        ),
        ("fit:9x9", "-", "out", "/dev/stdin is an image"),
        (
            "original",
            "photos/trip/b.PNG",
            "x.jpg",
            "its result is a png",
        ),
        (
            "fit:9x9",
            "photos/a.jpg",
            "photos/a.jpg",
            "would overwrite the input",
        ),
    ] {
        let (code, told) = convert(&house, &[recipe, inputs, "-o", output]);
        assert_eq!(code, Some(1), "{recipe} {output}: {told}");
        assert!(told.contains(said), "{said}: {told}");
    }
    assert_eq!(files(house.path()), before);
}

#[test]
fn a_mistyped_recipe_ends_the_command_before_the_first_image() {
    let house = house();
    for (recipe, said) in [
        ("fitt:9x9", "did you mean `fit`"),
        ("fit:9x9,as:jpge", "did you mean `jpeg`"),
        ("as:png,q:80", "png has no such option"),
    ] {
        let (code, told) = convert(&house, &[recipe, "photos", "-o", "out"]);
        assert_eq!(code, Some(2), "{told}");
        assert_eq!(told.matches(said).count(), 1, "{told}");
    }
    assert!(!house.path().join("out").exists());
}

/// Returns the lines below "Examples:" in the help of `andon convert`.
fn examples() -> Vec<String> {
    let (_, help) = convert(&house(), &["--help"]);
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let examples = examples.lines().take_while(|line| !line.is_empty());
    examples.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn the_examples_of_its_help_work_as_they_are_printed() {
    let (house, s3) = (house(), S3::start());
    let copy = |from: &str, to: &Path| {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(sample(from), to).unwrap();
    };
    for name in ["one.jpg", "site/trip/a.jpg", "site/trip/b.jpg"] {
        copy("jpeg/420.jpg", &house.path().join(name));
    }
    copy("png/alpha.png", &house.path().join("photo.png"));
    copy("jpeg/420.jpg", &s3.folder.path().join("photos/2026/a.jpg"));
    fs::write(house.path().join("list.txt"), "/trip/a.jpg\n").unwrap();
    let config = "[[origin]]\nfs.root = \"site\"\n[store]\nfs.root = \"store\"\nsecret_env = \"ANDON_STORE_SECRET\"\n";
    fs::write(house.path().join("andon.toml"), config).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_andon")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let examples = examples();
    assert!(examples.len() > 4, "{examples:?}");
    for example in examples {
        let mut shell = Command::new("sh");
        let run = shell
            .args(["-c", &example])
            .current_dir(house.path())
            .env("PATH", &path)
            .env("HOME", house.path())
            .env("ANDON_STORE_SECRET", "a secret of sixteen bytes and more")
            .env("AWS_ENDPOINT_URL", s3.endpoint())
            .env("AWS_ACCESS_KEY_ID", env!("CARGO_PKG_NAME"))
            .env("AWS_SECRET_ACCESS_KEY", env!("CARGO_PKG_VERSION"));
        let output = run.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(output.status.success(), "{example}: {said}");
    }
    for made in [
        "small/one.webp",
        "thumbs/trip/b.jpg",
        "square.jpg",
        "800.jsonl",
    ] {
        assert!(house.path().join(made).exists(), "{made}");
    }
    assert!(s3.folder.path().join("results/800/a.avif").exists());
}

#[test]
fn limits_are_those_of_the_configuration_that_is_named() {
    let house = house();
    let config = "[[origin]]\nfs.root = \"photos\"\n[limits]\nresult_side = 100\n";
    fs::write(house.path().join("andon.toml"), config).unwrap();
    let args = ["exact:200x200", "photos/a.jpg", "-o", "out.png"];
    let (code, said) = convert(&house, &args);
    assert_eq!(code, Some(0), "{said}");
    fs::remove_file(house.path().join("out.png")).unwrap();
    let within = ["--config", "andon.toml"];
    let (code, said) = convert(&house, &[&args[..], &within].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("result_side"), "{said}");
    assert!(!house.path().join("out.png").exists());
}

/// Runs `andon convert` for `images` with a manifest, and returns its exit code and output.
fn resumed(house: &TempDir, recipe: &str, images: &str, out: &str) -> (Option<i32>, String) {
    convert(house, &[recipe, images, "-o", out, "--manifest", "m.jsonl"])
}

#[test]
fn what_another_recipe_has_replaced_is_made_again() {
    let house = house();
    let width = || {
        let engine = Engine::new(andon_codecs::ALL, Limits::default());
        let made = fs::read(house.path().join("out/a.webp")).unwrap();
        engine.probe(&made).unwrap().width
    };
    for side in [40, 20, 40, 40, 30, 20] {
        let recipe = format!("fit:{side}x{side},as:webp");
        let (code, said) = resumed(&house, &recipe, "photos/a.jpg", "out");
        assert_eq!((code, width()), (Some(0), side), "{said}");
    }
    let (_, said) = resumed(&house, "fit:20x20,as:webp", "photos/a.jpg", "out");
    assert!(said.contains("1 done by an earlier run"), "{said}");
}

#[test]
fn a_manifest_knows_images_and_folders_by_any_spelling_of_their_paths() {
    let house = house();
    let full = |name: &str| house.path().join(name).to_str().unwrap().to_owned();
    let (code, said) = resumed(&house, RECIPE, "photos", "out");
    assert_eq!(code, Some(0), "{said}");
    for (images, out) in [
        ("./photos", "out/"),
        ("photos/", "./out"),
        (&*full("photos"), "out"),
        ("photos", &*full("out")),
    ] {
        let (code, said) = resumed(&house, RECIPE, images, out);
        assert_eq!(code, Some(0), "{said}");
        assert!(
            said.contains("0 done, 0 failed, 3 done by an earlier run"),
            "{said}"
        );
    }
}

#[test]
fn a_result_belongs_to_its_image_as_long_as_that_is_there() {
    let house = house();
    let photos = house.path().join("photos");
    resumed(&house, RECIPE, "photos/a.jpg", "out");
    fs::copy(sample("png/alpha.png"), photos.join("a.png")).unwrap();
    // With another recipe, too.
    for recipe in [RECIPE, "fit:20x20,as:webp"] {
        let (code, said) = resumed(&house, recipe, "photos/a.png", "out");
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("is the result of photos/a.jpg already"),
            "{said}"
        );
    }
    fs::remove_file(photos.join("a.jpg")).unwrap();
    let (code, said) = resumed(&house, RECIPE, "photos/a.png", "out");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn names_that_are_no_text_are_different_images_of_a_manifest() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let house = house();
    let names = [&b"M\xfcller.jpg"[..], b"M\xf6ller.jpg"];
    let folder = house.path().join("names");
    fs::create_dir(&folder).unwrap();
    let [first, second] = names.map(|name| folder.join(OsStr::from_bytes(name)));
    fs::copy(sample("jpeg/420.jpg"), &first).unwrap();
    let (code, said) = resumed(&house, RECIPE, "names", "out");
    assert_eq!(code, Some(0), "{said}");
    // A link to the first file, so with the same length and date.
    fs::hard_link(&first, &second).unwrap();
    let (code, said) = resumed(&house, RECIPE, "names", "out");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("1 done, 0 failed, 1 done by an earlier run"),
        "{said}"
    );
    assert_eq!(fs::read_dir(house.path().join("out")).unwrap().count(), 2);
    let lines = fs::read_to_string(house.path().join("m.jsonl")).unwrap();
    assert!(lines.contains(r"names/M\\xFCller.jpg"), "{lines}");
}

#[test]
fn a_link_to_nothing_is_an_image_that_cannot_be_read() {
    let house = house();
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, house.path().join("photos").join(name)).unwrap();
    };
    link("a.jpg", "same.jpg");
    link("/no/disk/b.jpg", "trip/dead.jpg");
    link("../.cache/xx", "b ä.jpg");
    link("/no/notes", "notes");
    let args = [
        "fit:20x20,as:jpeg",
        "photos",
        "-o",
        "made",
        "--failures",
        "failed.txt",
    ];
    let (status, said) = convert(&house, &args);
    assert_eq!(status, Some(1), "{said}");
    for part in [
        "photos/trip/dead.jpg: cannot be read: No such file",
        "photos/b ä.jpg: cannot be read: No such file",
        "photos/notes, photos/trip/notes.txt are no images and left out",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(house.path().join("made/same.jpg").exists());
    let failed = fs::read_to_string(house.path().join("failed.txt")).unwrap();
    assert_eq!(failed, "photos/b ä.jpg\nphotos/trip/dead.jpg\n");
}

#[test]
fn many_files_that_are_no_images_are_counted_by_their_extensions() {
    let house = house();
    for (extension, files) in [("txt", 9), ("jp2", 4), ("db", 2)] {
        for file in 0..files {
            let name = format!("photos/trip/{file}-x.{extension}");
            fs::write(house.path().join(name), "no image").unwrap();
        }
    }
    let (status, said) = convert(&house, &["fit:20x20,as:jpeg", "photos", "-o", "made"]);
    assert_eq!(status, Some(0), "{said}");
    let note = said
        .lines()
        .find(|line| line.starts_with("note: "))
        .expect(&said);
    assert!(note.contains(" and 6 more ("), "{note}");
    assert!(note.ends_with(") are no images and left out"), "{note}");
}
