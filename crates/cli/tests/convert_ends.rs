//! How runs of `andon convert` end that do not make every image.

use std::fs;
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
    // The list is read before it is written again.
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
    let args = [RECIPE, "many", "-o", "out", "--manifest", "m.jsonl"];
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
    let (code, said) = convert(&house, &args);
    assert_eq!((code, lines()), (Some(0), 400), "{said}");
    assert_eq!(files(&house.path().join("out")).len(), 400);
}
