//! How `andon convert` ends if it does not make every image.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::sample;
use crate::convert_folders::{RECIPE, convert, files, house};

#[test]
fn images_that_fail_are_listed_for_the_next_run() {
    let house = house();
    let broken = house.path().join("photos/trip/broken one.jpg");
    fs::write(&broken, "\u{fffd}").unwrap();
    fs::write(house.path().join("photos/empty.jpg"), "").unwrap();
    let all = [
        RECIPE,
        "photos",
        "--relative-to",
        "photos",
        "-o",
        "out",
        "--failures",
        "failed",
    ];
    let (code, said) = convert(&house, &all);
    assert_eq!(code, Some(1), "{said}");
    let failed = fs::read_to_string(house.path().join("failed")).unwrap();
    let mut failed: Vec<&str> = failed.lines().collect();
    failed.sort_unstable();
    assert_eq!(failed, ["photos/empty.jpg", "photos/trip/broken one.jpg"]);
    fs::copy(sample("jpeg/420.jpg"), broken).unwrap();
    // The list is read before it is replaced.
    let again = [
        RECIPE,
        "--from",
        "failed",
        "--relative-to",
        "photos",
        "-o",
        "out",
        "--failures",
        "failed",
    ];
    let (code, said) = convert(&house, &again);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("1 of 2 images failed"), "{said}");
    let left = fs::read_to_string(house.path().join("failed")).unwrap();
    assert_eq!(left, "photos/empty.jpg\n");
    assert!(files(&house.path().join("out")).contains("trip/broken one.webp"));
}

#[test]
fn an_interrupted_run_says_what_is_left_and_the_next_one_makes_it() {
    let house = house();
    let many = house.path().join("many");
    fs::create_dir(&many).unwrap();
    fs::copy(sample("jpeg/420.jpg"), many.join("0.jpg")).unwrap();
    for number in 1..400 {
        fs::hard_link(many.join("0.jpg"), many.join(format!("{number}.jpg"))).unwrap();
    }
    let names: Vec<String> = (0..400)
        .map(|number| format!("many/{number}.jpg\n"))
        .collect();
    fs::write(house.path().join("todo"), names.concat()).unwrap();
    let args = [
        RECIPE,
        "--from",
        "todo",
        "--failures",
        "todo",
        "-o",
        "out",
        "--manifest",
        "m.jsonl",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
    command.arg("convert").args(args).current_dir(house.path());
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut run = run.unwrap();
    let lines = || {
        fs::read_to_string(house.path().join("m.jsonl"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    while lines() < 3 && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let done = lines();
    let told = format!("{done} done, 0 failed, 0 done by an earlier run");
    assert!(said.contains(&told), "{said}");
    let left = format!("interrupted: {} of 400 images left", 400 - done);
    assert!(said.contains(&left), "{said}");
    // The list has the remaining images in their order.
    let todo = fs::read_to_string(house.path().join("todo")).unwrap();
    assert_eq!(todo.lines().count(), 400 - done, "{todo}");
    let (code, said) = convert(&house, &args);
    assert_eq!((code, lines()), (Some(0), 400), "{said}");
    assert_eq!(fs::read(house.path().join("todo")).unwrap(), b"");
    assert_eq!(files(&house.path().join("out")).len(), 400);
}

#[test]
fn a_full_disk_ends_the_run_and_space_lets_it_go_on() {
    let house = house();
    let many = house.path().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..40 {
        fs::copy(sample("jpeg/420.jpg"), many.join(format!("{number}.jpg"))).unwrap();
    }
    // There is no space left for the temporary file of the first result.
    let out = house.path().join("out");
    fs::create_dir(&out).unwrap();
    std::os::unix::fs::symlink("/dev/full", out.join("0.webp.part")).unwrap();
    let args = [
        RECIPE,
        "many",
        "-o",
        "out",
        "--threads",
        "1",
        "--manifest",
        "m.jsonl",
    ];
    let (code, said) = convert(&house, &args);
    assert_eq!(code, Some(1), "{said}");
    let stopped = "no space left for results: 39 of 40 images left";
    assert!(said.contains(stopped), "{said}");
    let (code, said) = convert(&house, &args);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("40 done, 0 failed"), "{said}");
}

#[test]
fn a_list_of_failures_keeps_names_of_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let house = house();
    let names = [&b"M\xfcller.jpg"[..], br"M\xFCller.jpg", b"two\nlines.jpg"];
    let folder = house.path().join("names");
    fs::create_dir(&folder).unwrap();
    for name in names {
        fs::write(folder.join(OsStr::from_bytes(name)), "no image").unwrap();
    }
    let recipe = [
        "fit:20x20,as:gif",
        "-o",
        "out",
        "--failures",
        "failed",
        "--manifest",
        "m.jsonl",
    ];
    let (code, said) = convert(&house, &[&recipe[..], &["names"]].concat());
    assert_eq!(code, Some(1), "{said}");
    let failed = fs::read(house.path().join("failed")).unwrap();
    assert_eq!(failed.iter().filter(|byte| **byte == 0).count(), 3);
    for name in names {
        fs::copy(sample("jpeg/420.jpg"), folder.join(OsStr::from_bytes(name))).unwrap();
    }
    fs::write(house.path().join("list"), &failed).unwrap();
    for done in ["3 done, 0 failed, 0 done by", "0 done, 0 failed, 3 done by"] {
        let (code, said) = convert(&house, &[&recipe[..], &["--from", "list"]].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(done), "{said}");
    }
    for name in names {
        let made = [&name[..name.len() - 3], b"gif"].concat();
        assert!(
            house
                .path()
                .join("out")
                .join(OsStr::from_bytes(&made))
                .exists(),
            "{}",
            made.escape_ascii()
        );
    }
}

#[test]
fn results_are_named_as_the_user_wants() {
    let house = house();
    fs::copy(sample("png/alpha.png"), house.path().join("photos/a.png")).unwrap();
    let named = |template: &str| {
        let args = [
            "fit:20x20,as:gif",
            "photos",
            "-o",
            "out",
            "--manifest",
            "m.jsonl",
            "--name",
            template,
        ];
        convert(&house, &args)
    };
    let (code, said) = named("{name}");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--name {name}.{ext}"), "{said}");
    // Other names mean other results, which no earlier run has made.
    for _ in 0..2 {
        let (code, said) = named("{name}.{ext}-20");
        assert_eq!(code, Some(0), "{said}");
    }
    let out = files(&house.path().join("out"));
    for name in ["a.jpg-20.gif", "a.png-20.gif", "trip/b.PNG-20.gif"] {
        assert!(out.contains(name), "{out:?}");
    }
    for template in ["same", "{name}{size}", "x/{name}"] {
        let (code, said) = named(template);
        assert_eq!(code, Some(2), "{said}");
    }
}

#[test]
fn results_are_put_among_their_images_where_a_manifest_tells_them_apart() {
    let house = house();
    let photos = || files(&house.path().join("photos"));
    let before = photos();
    for (args, said) in [
        (&["fit:20x20", "photos"][..], "could overwrite"),
        (
            &["fit:20x20", "./photos/a.jpg", "photos/trip"],
            "could overwrite",
        ),
        (
            &["fit:20x20", "photos", "--manifest", "m.jsonl"],
            "could overwrite",
        ),
        (&["fit:20x20,as:gif", "photos"], "add --manifest"),
        (
            &["fit:20x20", "photos", "--name", "{name}-20"],
            "add --manifest",
        ),
    ] {
        let (code, told) = convert(&house, &[args, &["-o", "photos"]].concat());
        assert_eq!(code, Some(1), "{args:?}: {told}");
        assert!(told.contains(said), "{args:?}: {told}");
    }
    assert_eq!(photos(), before);
    // An image that the user names is not considered a result.
    let (code, said) = convert(
        &house,
        &["fit:20x20,as:gif", "photos/a.jpg", "-o", "photos"],
    );
    assert_eq!(code, Some(0), "{said}");
    fs::remove_file(house.path().join("photos/a.gif")).unwrap();
    // Run two recipes twice: no result is treated as an image, whichever recipe made it.
    for side in ["20", "30", "20", "30"] {
        let (recipe, name) = (format!("fit:{side}x{side}"), format!("{{name}}-{side}"));
        let args = [
            &recipe,
            "photos",
            "-o",
            "./photos/",
            "--name",
            &name,
            "--manifest",
            "m.jsonl",
        ];
        let (code, said) = convert(&house, &args);
        assert_eq!(code, Some(0), "{said}");
    }
    assert_eq!(photos().len(), before.len() + 6, "{:?}", photos());
}

#[test]
fn an_image_that_fails_leaves_its_result_to_another_one() {
    let house = house();
    let path = |name: &str| house.path().join(name);
    fs::create_dir(path("mixed")).unwrap();
    fs::write(path("mixed/a.jpg"), b"\xff\xd8\xff and no more").unwrap();
    fs::write(path("mixed/b.jpg"), "").unwrap();
    fs::write(path("mixed/a.json"), "{}").unwrap();
    for name in ["a.png", "b.png", "c.png"] {
        fs::copy(sample("png/alpha.png"), path("mixed").join(name)).unwrap();
    }
    fs::copy(sample("jpeg/420.jpg"), path("mixed/c.jpg")).unwrap();
    for recipe in ["fit:20x20,as:gif", "fit:20x20"] {
        let (code, said) = convert(&house, &[recipe, "mixed", "-o", "out", "--threads", "1"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("mixed/a.jpg: ") && said.contains("mixed/b.jpg: it is empty"),
            "{said}"
        );
        assert!(said.contains("a.json is no image"), "{said}");
    }
    let out = files(&path("out"));
    let results = [
        "a.gif", "a.png", "b.gif", "b.png", "c.gif", "c.jpg", "c.png",
    ];
    assert_eq!(out, results.map(str::to_owned).into());
    let (_, said) = convert(&house, &["fit:20x20,as:gif", "mixed", "-o", "out"]);
    // Of two valid images the first one gets the result.
    assert!(
        said.contains("mixed/c.png: out/c.gif is the result of mixed/c.jpg already"),
        "{said}"
    );
    assert!(said.contains("3 of 6 images failed"), "{said}");
}

#[test]
fn lists_and_manifests_replace_no_other_files() {
    let house = house();
    let path = |name: &str| house.path().join(name);
    fs::write(path("notes.txt"), "one\ntwo\n").unwrap();
    fs::write(path("broken"), "an image by its place in the job").unwrap();
    let before = files(house.path());
    for (option, file, said) in [
        ("--failures", "photos/a.jpg", "this is an image"),
        (
            "--failures",
            "photos/trip/far/without an extension",
            "this is an image",
        ),
        ("--failures", "broken", "this is an image"),
        ("--failures", "photos", "this is no file"),
        ("--failures", "none/failed", "there is no folder none"),
        ("--manifest", "notes.txt", "without a line of a manifest"),
    ] {
        let (code, told) = convert(
            &house,
            &[
                "fit:9x9",
                "broken",
                "photos/trip/b.PNG",
                "-o",
                "out",
                option,
                file,
            ],
        );
        assert_eq!(code, Some(1), "{file}: {told}");
        assert!(told.contains(said), "{file}: {told}");
    }
    let mut after = files(house.path());
    after.retain(|name| !name.starts_with("out/"));
    assert_eq!(after, before);
    assert_eq!(fs::read(path("notes.txt")).unwrap(), b"one\ntwo\n");
    let both = [
        "fit:9x9",
        "photos",
        "-o",
        "out",
        "--manifest",
        "m",
        "--failures",
    ];
    let (_, said) = convert(&house, &[&both[..], &["f"]].concat());
    assert!(said.contains("3 done"), "{said}");
    let (code, said) = convert(&house, &[&both[..], &["m"]].concat());
    assert_eq!(
        (code, said.contains("this is the manifest")),
        (Some(1), true),
        "{said}"
    );
}

#[test]
fn a_pipe_among_the_images_is_no_file_and_that_of_a_shell_is_one() {
    let house = house();
    let made = Command::new("mkfifo")
        .arg(house.path().join("pipe.jpg"))
        .status()
        .unwrap();
    assert!(made.success());
    let (code, said) = convert(
        &house,
        &["fit:9x9", "pipe.jpg", "photos/a.jpg", "-o", "out"],
    );
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("pipe.jpg: cannot be read: it is no file"),
        "{said}"
    );
    assert!(house.path().join("out/a.jpg").exists());
    let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
    command
        .args(["convert", "fit:9x9", "/dev/stdin", "-o", "in.png"])
        .current_dir(house.path());
    let mut run = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let photo = fs::read(sample("jpeg/420.jpg")).unwrap();
    run.stdin.take().unwrap().write_all(&photo).unwrap();
    assert!(run.wait().unwrap().success());
    assert!(house.path().join("in.png").exists());
}
