//! `andon convert` from and to a bucket of a real S3 server, with a manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::sample;
use crate::s3::S3;
use tempfile::TempDir;

/// A bucket `photos` with images in two folders, and a bucket `results`.
struct House {
    s3: S3,
    folder: TempDir,
}

impl House {
    fn new() -> Self {
        let house = Self {
            s3: S3::start(),
            folder: tempfile::tempdir().unwrap(),
        };
        house.put("2025/a.jpg", "jpeg/420.jpg");
        house.put("2026/a.jpg", "photos/otter.jpg");
        house.put("2026/trip/b c.jpg", "jpeg/420.jpg");
        house
    }

    fn put(&self, key: &str, from: &str) {
        let path = self.s3.folder.path().join("photos").join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(sample(from), path).unwrap();
    }

    fn result(&self, key: &str) -> PathBuf {
        self.s3.folder.path().join("results").join(key)
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
        command
            .arg("convert")
            .args(args)
            .env("AWS_ENDPOINT_URL", self.s3.endpoint())
            .env("AWS_ACCESS_KEY_ID", env!("CARGO_PKG_NAME"))
            .env("AWS_SECRET_ACCESS_KEY", env!("CARGO_PKG_VERSION"));
        command
    }

    fn convert(&self, args: &[&str]) -> (Option<i32>, String) {
        said(self.command(args).output().unwrap())
    }
}

fn said(output: Output) -> (Option<i32>, String) {
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Returns the files below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => _ = found.insert(path),
        }
    }
    found
}

const RECIPE: &str = "fit:40x40,as:webp,q:80";

#[test]
fn all_below_a_folder_of_a_bucket_is_converted_into_a_folder_of_another_and_keeps_its_folders() {
    let house = House::new();
    let (code, said) = house.convert(&[RECIPE, "s3://photos/", "-o", "s3://results/small"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = house.convert(&[RECIPE, "s3://photos/2026/", "-o", &house.file("out")]);
    assert_eq!(code, Some(0), "{said}");
    for (of_both, of_2026) in [
        ("2026/a.webp", "a.webp"),
        ("2026/trip/b c.webp", "trip/b c.webp"),
    ] {
        let object = fs::read(house.result("small").join(of_both)).unwrap();
        let file = fs::read(house.folder.path().join("out").join(of_2026)).unwrap();
        assert_eq!(&object[8..12], b"WEBP");
        assert_eq!(object, file, "{of_both}");
    }
    assert!(house.result("small/2025/a.webp").exists());
    // One file and one object.
    let photo = sample("jpeg/420.jpg");
    let args = [
        RECIPE,
        photo.to_str().unwrap(),
        "s3://photos/2026/a.jpg",
        "-o",
        "s3://results",
    ];
    let (code, said) = house.convert(&args);
    assert_eq!(code, Some(0), "{said}");
    assert!(house.result("420.webp").exists() && house.result("a.webp").exists());
}

#[test]
fn a_manifest_leaves_out_what_is_done_and_what_has_changed_is_made_again() {
    let house = House::new();
    let manifest = house.file("manifest.jsonl");
    let args = [
        RECIPE,
        "s3://photos/",
        "-o",
        "s3://results/small",
        "--manifest",
        &manifest,
    ];
    let (code, said) = house.convert(&args);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("3 done, 0 failed, 0 done by an earlier run; 3 written, "),
        "{said}"
    );
    let lines = fs::read_to_string(&manifest).unwrap();
    for part in [
        "\"input\":\"s3://photos/2026/trip/b c.jpg\"",
        "\"output\":\"s3://results/small/2026/trip/b c.webp\"",
        "\"recipe\":\"fit:40x40,as:webp,q:80\"",
    ] {
        assert!(lines.contains(part), "{part} {lines}");
    }
    // Nothing is left to do, although a result was deleted in the meantime.
    let result = house.result("small/2025/a.webp");
    fs::remove_file(&result).unwrap();
    let (code, said) = house.convert(&args);
    let expected = "0 done, 0 failed, 3 done by an earlier run\n";
    assert_eq!((code, said.as_str()), (Some(0), expected));
    assert!(!result.exists());

    house.put("2025/a.jpg", "photos/otter.jpg");
    fs::write(house.s3.folder.path().join("photos/broken.jpg"), "no image").unwrap();
    let (code, said) = house.convert(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("1 done, 1 failed, 2 done by an earlier run"),
        "{said}"
    );
    assert!(said.contains("s3://photos/broken.jpg: "), "{said}");
    assert!(result.exists());
    // Another recipe is another job.
    let mut other = args;
    (other[0], other[3]) = ("fit:20x20,as:webp", "s3://results/smaller");
    let (_, said) = house.convert(&other);
    assert!(
        said.contains("3 done, 1 failed, 0 done by an earlier run"),
        "{said}"
    );
}

#[test]
fn a_job_that_was_killed_goes_on_and_makes_every_result_once() {
    let house = House::new();
    for number in 0..60 {
        house.put(&format!("many/{number}.jpg"), "jpeg/420.jpg");
    }
    let manifest = house.file("manifest.jsonl");
    let args = [
        RECIPE,
        "s3://photos/many/",
        "-o",
        "s3://results",
        "--manifest",
        &manifest,
    ];
    let mut killed = house.command(&args).stdout(Stdio::null()).spawn().unwrap();
    let lines = || fs::read_to_string(&manifest).unwrap_or_default();
    while lines().lines().count() < 3 && killed.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (code, said) = house.convert(&args);
    assert_eq!(code, Some(0), "{said}");
    let inputs: BTreeSet<String> = lines()
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("a whole line");
            line["input"].as_str().expect("an input").to_owned()
        })
        .collect();
    assert_eq!((inputs.len(), lines().lines().count()), (60, 60));
    let results: Vec<Vec<u8>> = files(&house.result(""))
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "webp"))
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert_eq!(results.len(), 60);
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn an_empty_object_fails_as_an_empty_file_does() {
    let house = House::new();
    let photos = house.s3.folder.path().join("photos");
    fs::write(photos.join("2026/empty.jpg"), "").unwrap();
    let file = house.file("empty.jpg");
    fs::write(&file, "").unwrap();
    let (code, of_folder) = house.convert(&[RECIPE, "s3://photos/2026/", "-o", "s3://results"]);
    assert_eq!(code, Some(1), "{of_folder}");
    let (_, of_file) = house.convert(&[RECIPE, &file, "-o", &house.file("out")]);
    let (_, why) = of_file.split_once("empty.jpg: ").expect(&of_file);
    let why = why.lines().next().unwrap();
    let said = format!("s3://photos/2026/empty.jpg: {why}\n");
    assert!(of_folder.contains(&said), "{said} {of_folder}");
    let (code, alone) = house.convert(&[
        RECIPE,
        "s3://photos/2026/empty.jpg",
        "-o",
        "s3://results/x.webp",
    ]);
    assert_eq!(code, Some(1), "{alone}");
    assert!(alone.contains(&said), "{said} {alone}");
    // A result may be named in a bucket, too.
    let (code, said) = house.convert(&[
        "fit:9x9",
        "s3://photos/2025/a.jpg",
        "-o",
        "s3://results/deep/x.webp",
    ]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        &fs::read(house.result("deep/x.webp")).unwrap()[8..12],
        b"WEBP"
    );
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let house = House::new();
    for (args, said) in [
        (
            ["s3://photos/none.jpg", "s3://results"],
            "there is no s3://photos/none.jpg",
        ),
        (
            ["s3://photos/none/", "s3://results"],
            "there is no object below s3://photos/none/",
        ),
        (["s3://nowhere/a.jpg", "s3://results"], "s3://nowhere/a.jpg"),
        (
            ["s3:///a.jpg", "s3://results"],
            "`s3:///a.jpg` names no bucket",
        ),
        (
            ["s3://photos/2025/a.jpg", "s3://photos/2025"],
            "would overwrite the input",
        ),
    ] {
        let recipe = match said.contains("overwrite") {
            true => "fit:40x40",
            false => RECIPE,
        };
        let (code, told) = house.convert(&[recipe, args[0], "-o", args[1]]);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(said), "{said}: {told}");
    }
    let mut strange = house.command(&[RECIPE, "s3://photos/", "-o", "s3://results"]);
    strange.env("AWS_SECRET_ACCESS_KEY", "another");
    let (code, told) = said(strange.output().unwrap());
    assert_eq!(code, Some(1));
    assert!(told.contains("s3://photos/"), "{told}");
}

#[test]
fn a_list_of_failures_leaves_out_what_would_replace_an_object() {
    let house = House::new();
    house.put("2026/trip/broken.jpg", "README.md");
    let list = house.file("failed");
    let images = [
        "s3://photos/2025/a.jpg",
        "s3://photos/2026/a.jpg",
        "s3://photos/2026/trip/broken.jpg",
    ];
    for recipe in [RECIPE, "fit:40x40"] {
        let to = ["-o", "s3://results/named", "--failures", &list];
        let (code, said) = house.convert(&[&[recipe], &images[..], &to].concat());
        assert_eq!(code, Some(1), "{said}");
        let failed = fs::read_to_string(&list).unwrap();
        assert_eq!(failed, "s3://photos/2026/trip/broken.jpg\n", "{said}");
    }
}
