//! `andon sign`, and every command of docs/signing.md: it prints what the page shows, and a server accepts its output.

use crate::common;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Served, python, sample};

const PAGE: &str = include_str!("../../../docs/signing.md");

/// Creates a folder with the images and the configuration of docs/signing.md. Returns the folder, and the text of the
/// configuration.
fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["trip/a.jpg", "secure/a.jpg"] {
        let file = folder.path().join("photos").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::copy(sample("jpeg/420.jpg"), file).unwrap();
    }
    let config = blocks("toml").concat();
    std::fs::write(folder.path().join("andon.toml"), &config).unwrap();
    (folder, config)
}

/// Returns the code blocks of docs/signing.md in one language, without the indentation of those in lists.
fn blocks(language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() == format!("```{language}") {
            let block = lines.by_ref().take_while(|line| line.trim() != "```");
            blocks.push(
                block
                    .map(|line| format!("{}\n", line.get(indent..).unwrap_or_default()))
                    .collect(),
            );
        }
    }
    blocks
}

fn run(program: &str, args: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .expect(program)
}

fn sign(args: &[&str], folder: &Path) -> Output {
    run(
        env!("CARGO_BIN_EXE_andon"),
        &[&["sign"], args].concat(),
        folder,
    )
}

#[test]
fn every_command_of_the_page_prints_what_it_says_and_the_server_takes_it() {
    let (folder, config) = folder();
    let mut printed = Vec::new();
    for block in blocks("console") {
        let (command, expected) = block.split_once('\n').unwrap();
        let command = command.strip_prefix("$ andon ").unwrap();
        let andon = format!("\"$0\" {command}");
        let output = run(
            "sh",
            &["-c", &andon, env!("CARGO_BIN_EXE_andon")],
            folder.path(),
        );
        assert_eq!(common::printed(output), expected, "{command}");
        printed.push(expected.to_owned());
    }
    let (programs, results) = (blocks("python"), blocks("text"));
    assert_eq!(programs.len(), results.len());
    for (program, expected) in programs.iter().zip(results) {
        assert_eq!(python(program, &[]), expected, "{program}");
        printed.push(expected);
    }
    let printed = printed.concat();
    assert_eq!(printed.lines().count(), 7);

    let served = Served::start(folder.path(), &config);
    for target in printed.lines() {
        let rest = if target.contains("/iiif/") {
            "/full/250,/0/default.jpg"
        } else {
            ""
        };
        let reply = served.get(&format!("{target}{rest}"));
        assert_eq!(reply.status, 200, "{target}");
        // Changing one letter of the signed text makes the signature invalid.
        let other = target.replace("a.jpg", "b.jpg");
        assert_eq!(
            served.get(&format!("{other}{rest}")).status,
            if target.contains("/thumbor/") {
                400
            } else {
                403
            },
            "{other}"
        );
    }
}

#[test]
fn a_signature_ends_with_its_time_and_with_its_key() {
    let (folder, config) = folder();
    let config = config.replacen("[signing]", "[signing]\nrequired = true", 1);
    let sign = |args: &[&str]| {
        let signed = common::printed(sign(
            &[&["/r/fit:50x50/trip/a.jpg"], args].concat(),
            folder.path(),
        ));
        signed.trim().to_owned()
    };
    let (hour, viewers) = (sign(&["--expires", "3600"]), sign(&["--key", "viewers"]));
    // The same signature with an expiry in the past.
    let past = "/~vSavJSZyZUXDPlzpNQ6C5xduTnACzkVgQQE52oez2Ow.1/r/fit:250x250/trip/a.jpg";
    let served = Served::start(folder.path(), &config);
    for (target, status) in [
        (&*hour, 200),
        (&*viewers, 200),
        (past, 410),
        ("/r/fit:50x50/trip/a.jpg", 403),
        (&hour.replace("50x50", "51x51"), 403),
        (&viewers.replace(".viewers", ".shop"), 403),
        (&viewers.replace(".viewers", ".nobody"), 403),
    ] {
        assert_eq!(served.get(target).status, status, "{target}");
    }
    drop(served);
    let viewers_key = "viewers = \"fedcba9876543210fedcba9876543210\"";
    let served = Served::start(
        folder.path(),
        &config.replace(viewers_key, "new = \"a key that nobody had before\""),
    );
    assert_eq!(
        served.get(&hour).status,
        200,
        "the other key is still there"
    );
    assert_eq!(served.get(&viewers).status, 403, "this one is gone");
}

#[test]
fn what_cannot_be_signed_is_an_error_with_the_way_out() {
    let (folder, _) = folder();
    for (args, why) in [
        (&["/r/same/a.jpg", "--key", "nobody"][..], "no key `nobody`"),
        (&["/r/same/a.jpg", "--key", "nobody"], "shop, viewers"),
        (&["/r/same/a.jpg", "--expires", "0"], "never be good"),
        (&["/r/same/a%2.jpg"], "%"),
        (&["/r/same/a.jpg", "--scope", "9"], "9 segments"),
        (&["/r/same/a.jpg", "--config", "none.toml"], "none.toml"),
    ] {
        let output = sign(args, folder.path());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains(why),
            "{args:?}: {error}"
        );
        assert!(output.stdout.is_empty());
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let output = sign(&["/r/same/a.jpg"], elsewhere.path());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("--config /etc/andon/andon.toml"), "{error}");
    std::fs::write(folder.path().join("andon.toml"), "").unwrap();
    let output = sign(&["/r/same/a.jpg"], folder.path());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no key in [signing]"), "{error}");
}

#[test]
fn a_name_as_it_is_typed_becomes_a_url_that_the_server_answers() {
    let (folder, config) = folder();
    let name = "Vögel & Bäume #1.jpg";
    std::fs::copy(
        sample("jpeg/420.jpg"),
        folder.path().join("photos").join(name),
    )
    .unwrap();
    let output = sign(&[&format!("/r/fit:50x50/{name}")], folder.path());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let signed = common::printed(output);
    assert!(
        signed.ends_with("/V%C3%B6gel%20&%20B%C3%A4ume%20%231.jpg\n"),
        "{signed}"
    );
    let served = Served::start(folder.path(), &config);
    assert_eq!(served.get(signed.trim()).status, 200, "{signed}");
}

#[test]
fn a_url_that_the_server_will_not_make_an_image_of_is_signed_with_a_note() {
    let (folder, _) = folder();
    for (target, note) in [
        ("/r/fitt:50x50/trip/a.jpg", "did you mean `fit`"),
        ("/r/fit:50x50px/trip/a.jpg", "`50px`"),
        ("/thumb/50x50/trip/a.jpg", "no dialect reads this URL"),
        ("/r/fit:50x50/trip/a.jpg", ""),
        ("/small_light(dw=50,dh=50)/trip/a.jpg", ""),
    ] {
        let output = sign(&[target], folder.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && said.contains(note),
            "{target}: {said}"
        );
        assert_eq!(said.is_empty(), note.is_empty(), "{target}: {said}");
    }
}
