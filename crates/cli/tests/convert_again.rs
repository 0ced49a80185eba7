//! What a second run of `andon convert` makes: from a list of failures, and from a manifest whose results are missing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tempfile::TempDir;

use crate::common::sample;
use crate::convert_folders::{RECIPE, convert, files, house};

/// Copies a JPEG or PNG sample, depending on the name, or writes an invalid image if the name contains `broken`.
fn image(house: &TempDir, name: &str) {
    let path = house.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if name.contains("broken") {
        return fs::write(path, "none").unwrap();
    }
    let from = match Path::new(name).extension().is_some_and(|it| it == "png") {
        true => "png/alpha.png",
        false => "jpeg/420.jpg",
    };
    fs::copy(sample(from), path).unwrap();
}

fn list(house: &TempDir) -> Vec<String> {
    let list = fs::read_to_string(house.path().join("failed")).unwrap();
    list.lines().map(str::to_owned).collect()
}

/// Returns all results with their bytes.
fn results(house: &TempDir) -> Vec<(String, Vec<u8>)> {
    let out = house.path().join("out");
    let names = files(&out).into_iter();
    names
        .map(|name| (name.clone(), fs::read(out.join(name)).unwrap()))
        .collect()
}

#[test]
fn no_list_of_failures_leads_to_the_loss_of_a_result() {
    let to = ["-o", "out", "--failures", "failed"];
    for manifest in [&[][..], &["--manifest", "m.jsonl"]] {
        // The recipe names the format of results, or the images do.
        for (recipe, names, left) in [
            ("fit:20x20,as:gif", ["a.jpg", "a.png", "broken.jpg"], 1),
            ("fit:20x20", ["x/a.jpg", "y/a.jpg", "y/broken.jpg"], 1),
            (
                "fit:20x20,as:gif",
                ["broken.jpg", "broken2.jpg", "a.jpg"],
                0,
            ),
        ] {
            let house = house();
            names.iter().for_each(|name| image(&house, name));
            let (code, said) = convert(&house, &[&[recipe], &names[..], &to, manifest].concat());
            assert_eq!(code, Some(1), "{said}");
            let failed = names.into_iter().filter(|name| name.contains("broken"));
            assert_eq!(list(&house), failed.collect::<Vec<_>>(), "{said}");
            let note = format!("without {left} whose result");
            assert_eq!(said.contains(&note), left > 0, "{said}");
            let before = results(&house);
            for name in list(&house) {
                fs::copy(sample("jpeg/gray.jpg"), house.path().join(name)).unwrap();
            }
            let again = [&[recipe, "--from", "failed"][..], &to, manifest].concat();
            let (code, said) = convert(&house, &again);
            assert_eq!((code, list(&house).len()), (Some(0), 0), "{said}");
            let after = results(&house);
            assert!(before.iter().all(|result| after.contains(result)), "{said}");
            assert!(after.len() > before.len(), "{said}");
        }
    }
}

#[test]
fn an_image_that_is_broken_is_listed_only_if_its_result_is_nobodys() {
    // If the image were a JPEG, its result would have another name than that of the PNG.
    for (recipe, listed) in [
        ("fit:20x20,as:gif", &[][..]),
        ("fit:20x20", &["broken.jpg"]),
        ("fit:20x20,as:auto", &["broken.jpg"]),
    ] {
        let house = house();
        image(&house, "broken.jpg");
        let good = house.path().join("broken.png");
        fs::copy(sample("png/alpha.png"), good).unwrap();
        let images = ["broken.jpg", "broken.png"];
        let to = ["-o", "out", "--failures", "failed"];
        let (code, said) = convert(&house, &[&[recipe], &images[..], &to].concat());
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(list(&house), listed, "{recipe}: {said}");
    }
}

#[test]
fn a_run_that_stops_lists_what_is_left_without_loss() {
    for recipe in ["fit:20x20,as:jpeg", "fit:20x20"] {
        let house = house();
        let names = [
            "x/a.jpg",
            "y/a.jpg",
            "x/full.jpg",
            "z/a.jpg",
            "x/b.jpg",
            "y/b.jpg",
        ];
        names.iter().for_each(|name| image(&house, name));
        let out = house.path().join("out");
        fs::create_dir(&out).unwrap();
        std::os::unix::fs::symlink("/dev/full", out.join("full.jpg.part")).unwrap();
        let to = ["-o", "out", "--failures", "failed", "--threads", "1"];
        let (code, said) = convert(&house, &[&[recipe], &names[..], &to].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("no space left"), "{said}");
        // If two remaining images share a result, the next run makes one of them.
        assert_eq!(list(&house), ["x/full.jpg", "x/b.jpg", "y/b.jpg"], "{said}");
        assert!(said.contains("lists 3 images, without 2 whose"), "{said}");
    }
}

#[test]
fn an_original_is_never_overwritten_though_it_is_done_itself() {
    let house = house();
    for name in ["album/a.jpg", "album/a-20.jpg"] {
        image(&house, name);
    }
    let original = house.path().join("album/a-20.jpg");
    let before = fs::read(&original).unwrap();
    let to = ["fit:20x20", "-o", "album", "--name", "{name}-20"];
    let all = ["album", "--manifest", "m.jsonl", "--failures", "failed"];
    for _ in 0..2 {
        let (code, said) = convert(&house, &[&to[..], &all].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("would overwrite the input"), "{said}");
        assert_eq!(fs::read(&original).unwrap(), before);
        assert_eq!(list(&house), [""; 0], "{said}");
    }
}

#[test]
fn results_that_a_manifest_lists_and_that_are_gone_are_said() {
    let house = house();
    let to = [RECIPE, "photos", "-o", "out", "--manifest", "m.jsonl"];
    let (code, said) = convert(&house, &to);
    assert_eq!((code, said.contains("warning")), (Some(0), false), "{said}");
    let (_, said) = convert(&house, &to);
    assert!(!said.contains("warning"), "{said}");
    fs::remove_file(house.path().join("out/a.webp")).unwrap();
    let (code, said) = convert(&house, &to);
    assert_eq!(code, Some(0), "{said}");
    let one = "warning: m.jsonl lists 1 result that is not there or has another length, such as /";
    assert!(said.contains(one) && said.contains("out/a.webp"), "{said}");
    fs::remove_dir_all(house.path().join("out")).unwrap();
    let (code, said) = convert(&house, &to);
    assert!(
        said.contains("0 done, 0 failed, 3 done by an earlier run"),
        "{said}"
    );
    assert!(
        said.contains("lists 3 results that are not there or have another length"),
        "{said}"
    );
    assert_eq!(code, Some(0), "{said}");
    // Results of another recipe do not belong to this job.
    let other = ["fit:9x9", "photos", "-o", "other", "--manifest", "m.jsonl"];
    let (_, said) = convert(&house, &other);
    assert!(!said.contains("warning"), "{said}");
    // The suggested remedy.
    let verify = [&to[..], &["--verify"]].concat();
    let (_, said) = convert(&house, &verify);
    assert!(said.contains("3 done, 0 failed, 0 done by"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    fs::write(house.path().join("out/a.webp"), "").unwrap();
    let (_, said) = convert(&house, &to);
    assert!(said.contains(one), "{said}");
    let (_, said) = convert(&house, &verify);
    assert!(said.contains("1 done, 0 failed, 2 done by"), "{said}");
    let (_, said) = convert(&house, &verify);
    assert!(said.contains("0 done, 0 failed, 3 done by"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    for (out, manifest, why) in [
        ("out", &[][..], "--manifest"),
        ("s3://b/", &["--manifest", "m.jsonl"], "not looked up"),
    ] {
        let named = [RECIPE, "photos", "-o", out, "--verify"];
        let (code, said) = convert(&house, &[&named[..], manifest].concat());
        assert!(code != Some(0) && said.contains(why), "{said}");
    }
}

#[test]
fn names_that_are_not_utf_8_are_said_as_the_manifest_writes_them() {
    let house = house();
    let name = OsStr::from_bytes(b"photos/M\xFCller.jpg");
    fs::rename(house.path().join("photos/a.jpg"), house.path().join(name)).unwrap();
    let to = [RECIPE, "photos", "-o", "out", "--manifest", "m.jsonl"];
    let (code, said) = convert(&house, &to);
    assert_eq!(code, Some(0), "{said}");
    let note = r"note: 1 name is not UTF-8, such as photos/M\xFCller.jpg: ";
    assert!(said.contains(note), "{said}");
    let lines = fs::read_to_string(house.path().join("m.jsonl")).unwrap();
    assert!(
        lines.contains(r#""output":"out/M\\xFCller.webp""#),
        "{lines}"
    );
    let (_, said) = convert(&house, &to);
    assert!(said.contains("0 done, 0 failed, 3 done by"), "{said}");
}

#[test]
fn an_image_that_goes_bad_is_said_to_keep_the_result_of_its_earlier_version() {
    let house = house();
    let to = [RECIPE, "photos", "-o", "out", "--manifest", "m.jsonl"];
    convert(&house, &to);
    fs::write(house.path().join("photos/a.jpg"), [0xff, 0xd8, 0xff, 0xe0]).unwrap();
    let (code, said) = convert(&house, &to);
    assert_eq!(code, Some(1), "{said}");
    let one = "warning: m.jsonl lists 1 result of an image that has changed and was not made again, such as /";
    assert!(
        said.contains(one) && said.contains("out/a.webp: where"),
        "{said}"
    );
    // The suggested remedy: delete the result and its line.
    let manifest = house.path().join("m.jsonl");
    let lines = fs::read_to_string(&manifest).unwrap();
    let kept = lines.lines().filter(|line| !line.contains("photos/a.jpg"));
    fs::write(
        &manifest,
        kept.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    fs::remove_file(house.path().join("out/a.webp")).unwrap();
    let (code, said) = convert(&house, &to);
    assert_eq!((code, said.contains("warning")), (Some(1), false), "{said}");
}

#[test]
fn files_of_a_job_may_be_in_the_folder_that_it_makes() {
    for (out, folder) in [
        ("out", "out"),
        ("out/", "./out/lists/2026"),
        ("deep/out", "deep/out/x"),
    ] {
        let house = house();
        let [manifest, failures] = ["m.jsonl", "failed"].map(|name| format!("{folder}/{name}"));
        let to = ["-o", out, "--manifest", &manifest, "--failures", &failures];
        for _ in 0..2 {
            let (code, said) = convert(&house, &[&[RECIPE, "photos"], &to[..]].concat());
            assert_eq!(code, Some(0), "{said}");
        }
        assert!(house.path().join(failures).exists());
    }
    let house = house();
    let before = files(house.path());
    for (option, file, folder) in [
        ("--manifest", "none/m.jsonl", "none"),
        ("--manifest", "outer/m.jsonl", "outer"),
        ("--manifest", "out/../other/m.jsonl", "out/../other"),
        ("--manifest", "photos/a.jpg/m.jsonl", "photos/a.jpg"),
        ("--failures", "none/failed", "none"),
    ] {
        let (code, said) = convert(&house, &[RECIPE, "photos", "-o", "out", option, file]);
        assert_eq!(code, Some(1), "{said}");
        let told = format!("{option} {file}: there is no folder {folder}");
        assert!(said.contains(&told), "{said}");
    }
    assert_eq!(files(house.path()), before);
}

#[test]
fn mistakes_are_named_with_the_way_out() {
    let house = house();
    for threads in ["0", "-1", "many", "1.5"] {
        let option = format!("--threads={threads}");
        let (code, said) = convert(&house, &[RECIPE, "photos", "-o", "out", &option]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("one thread per core"), "{said}");
    }
    let urls =
        "https://example.org/a.jpg\nhttp://localhost/b.jpg\ngs://photos/c.jpg\nphotos/a.jpg\n";
    fs::write(house.path().join("list"), urls).unwrap();
    let (code, said) = convert(&house, &[RECIPE, "--from", "list", "-o", "out"]);
    assert_eq!(code, Some(1), "{said}");
    for scheme in ["https", "http", "gs"] {
        let told = format!("URLs that begin with {scheme}:// are not read here");
        assert!(said.contains(&told), "{said}");
    }
    assert!(!said.contains("os error"), "{said}");
    assert_eq!(results(&house).len(), 1);
    // Here this is the name of a file.
    image(&house, "http://localhost/b.jpg");
    let (code, said) = convert(&house, &[RECIPE, "http://localhost/b.jpg", "-o", "out"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn links_to_folders_that_are_left_out_are_named() {
    let house = house();
    let photos = house.path().join("photos");
    let link = |name: &str| std::os::unix::fs::symlink(&photos, photos.join(name)).unwrap();
    let to = [RECIPE, "photos", "-o", "photos/trip/small"];
    link("trip/up");
    let (code, said) = convert(&house, &to);
    assert_eq!(code, Some(0), "{said}");
    let one = "note: photos/trip/up is a link to a folder and left out";
    assert!(said.contains(one), "{said}");
    link("up");
    // A link to the results is skipped, as the results are.
    std::os::unix::fs::symlink(photos.join("trip/small"), photos.join("results")).unwrap();
    let (_, said) = convert(&house, &to);
    let two = "note: photos/trip/up, photos/up are 2 links to folders and left out";
    assert!(said.contains(two), "{said}");
}
