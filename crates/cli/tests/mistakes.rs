//! The program's messages for typical mistakes of new users: what was wrong, and the remedy.

use std::fs;
use std::path::Path;

use crate::common::said::{Said, said};
use crate::common::{Served, free_address, one_image, program};

fn run(folder: &Path, words: &str) -> Said {
    said(program(), folder, words)
}

#[test]
fn help_begins_with_what_the_program_is_and_three_examples() {
    let folder = one_image();
    let help = run(folder.path(), "--help").ending(0).out;
    let mut lines = help.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("Andon resizes and converts images"),
        "{help}"
    );
    let examples: Vec<&str> = lines.skip(2).take(3).collect();
    for (example, command) in examples.iter().zip(["serve", "convert", "explain"]) {
        assert!(
            example.starts_with(&format!("  andon {command} ")),
            "{help}"
        );
    }
}

#[test]
fn a_listen_address_is_no_url() {
    let folder = one_image();
    let error = run(folder.path(), "serve . --listen http://127.0.0.1:9000/")
        .ending(2)
        .err;
    assert!(
        error.contains("write host and port without `http://`: 127.0.0.1:9000"),
        "{error}"
    );
}

#[test]
fn a_pattern_in_double_quotes_is_told_of_single_ones() {
    let folder = one_image();
    let keys = "[[rewrite]]\nfrom = \"^/a/(\\d+)\"\nto = \"/$1\"\n";
    fs::write(folder.path().join("andon.toml"), keys).unwrap();
    let error = run(folder.path(), "config check andon.toml").ending(1).err;
    assert!(
        error.contains("line 2") && error.contains("in single quotes"),
        "{error}"
    );
}

#[test]
fn a_word_of_the_configuration_that_is_none_names_those_that_are() {
    let folder = one_image();
    fs::write(folder.path().join("andon.toml"), "upload.allow = true\n").unwrap();
    let error = run(folder.path(), "config check andon.toml").ending(1).err;
    assert!(
        error.contains("expected one of \"off\", \"local\", \"all\", not true"),
        "{error}"
    );
}

#[test]
fn a_wrong_recipe_is_refused_before_the_first_image_with_the_nearest_word_only() {
    let folder = one_image();
    for (recipe, word) in [
        ("fitt:100x100", "fit"),
        ("resize:100x100", "fit:250x250"),
        ("w:100", "fit:250x"),
        ("thumbnail:100x100", "cover:150x150"),
    ] {
        let words = format!("convert {recipe} a.jpg missing.jpg -o out");
        let error = run(folder.path(), &words).ending(2).err;
        assert!(
            error.contains(&format!("did you mean `{word}`?")),
            "{error}"
        );
        assert!(
            error.len() < 300 && !error.contains("missing.jpg"),
            "{error}"
        );
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn american_spelling_and_names_of_colours_are_read() {
    let folder = one_image();
    let done = run(
        folder.path(),
        "convert cover:90x90:center,grey,canvas:120x120:white,as:png a.jpg -o out",
    );
    assert_eq!(done.ending(0).err, "");
    let same = run(
        folder.path(),
        "convert cover:90x90,gray,canvas:120x120:ffffff,as:png a.jpg -o again",
    );
    same.ending(0);
    let read = |name: &str| fs::read(folder.path().join(name).join("a.png")).unwrap();
    assert_eq!(read("out"), read("again"));
}

#[test]
fn an_image_in_place_of_the_recipe_is_told_of_the_order() {
    let folder = one_image();
    let error = run(folder.path(), "convert a.jpg fit:9x9 -o out")
        .ending(2)
        .err;
    assert!(error.contains("the recipe comes first"), "{error}");
    let absolute = folder.path().join("a.jpg").display().to_string();
    let error = run(folder.path(), &format!("convert {absolute} fit:9x9 -o out"))
        .ending(2)
        .err;
    assert!(error.contains("the recipe comes first"), "{error}");
    let error = run(folder.path(), "convert . fit:9x9 -o out").ending(2).err;
    assert!(
        error.contains("a folder: the recipe comes first"),
        "{error}"
    );
}

#[test]
fn a_size_without_its_step_and_a_result_without_its_file_are_told_what_to_write() {
    let folder = one_image();
    let error = run(folder.path(), "convert 30x20 a.jpg -o out")
        .ending(2)
        .err;
    assert!(
        error.contains("`fit:30x20`") && error.contains("`cover:30x20`"),
        "{error}"
    );
    let error = run(folder.path(), "convert fit:9x9 a.jpg -o -")
        .ending(1)
        .err;
    assert!(error.contains("andon render"), "{error}");
    assert!(!folder.path().join("-").exists());
}

#[test]
fn convert_ends_with_what_it_wrote() {
    let folder = one_image();
    let done = run(folder.path(), "convert fit:40x40,as:webp a.jpg -o out").ending(0);
    let length = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len() as f64;
    let from = format!("{:.1} kB", length("a.jpg") / 1000.0);
    assert!(
        done.out.starts_with(&format!("1 written, {from} → ")),
        "{}",
        done.out
    );
    assert_eq!(done.out.lines().count(), 1);
}

#[test]
fn a_signature_may_be_good_for_a_time_with_a_unit() {
    let folder = one_image();
    let keys = "signing.keys = [\"0123456789abcdef0123456789abcdef\"]\n";
    fs::write(folder.path().join("andon.toml"), keys).unwrap();
    let signed = run(folder.path(), "sign /r/fit:9x9/a.jpg --expires 1h")
        .ending(0)
        .out;
    assert!(signed.starts_with("/~"), "{signed}");
    let error = run(folder.path(), "sign /r/fit:9x9/a.jpg --expires soon")
        .ending(2)
        .err;
    assert!(error.contains("`1h`"), "{error}");
}

#[test]
fn commands_that_need_the_token_name_the_variable() {
    let folder = one_image();
    let error = run(folder.path(), "purge --source /a.jpg --token-env NOT_SET")
        .ending(1)
        .err;
    assert_eq!(
        error,
        "andon: set the environment variable NOT_SET to the token of the server's [admin] table\n"
    );
    fs::write(folder.path().join("urls.txt"), "/r/fit:9x9/a.jpg\n").unwrap();
    let error = run(folder.path(), "warm urls.txt --token-env NOT_SET")
        .ending(1)
        .err;
    assert!(
        error.contains("set the environment variable NOT_SET"),
        "{error}"
    );
    assert!(error.contains("or warm with --priority normal"), "{error}");
}

#[test]
fn warm_names_the_other_priority_where_there_is_no_administrator() {
    let folder = one_image();
    let served = Served::without_config(folder.path(), &[]);
    fs::write(folder.path().join("urls.txt"), "/r/fit:9x9/a.jpg\n").unwrap();
    let words = format!("warm urls.txt --server {} --token-env PATH", served.address);
    let told = run(folder.path(), &words).ending(1).out;
    assert!(told.contains("or warm with --priority normal"), "{told}");
}

#[test]
fn shadow_reads_the_log_first_and_then_names_the_server_that_is_not_there() {
    let folder = one_image();
    let server = format!("http://{}", free_address());
    let words = format!("shadow access.log --old {server} --new {server}");
    let error = run(folder.path(), &words).ending(1).err;
    assert!(error.contains("access.log"), "{error}");
    let line = "192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] \"GET /a.jpg HTTP/1.1\" 200 5\n";
    fs::write(folder.path().join("access.log"), line).unwrap();
    let error = run(folder.path(), &words).ending(1).err;
    let address = server.trim_start_matches("http://");
    let expected =
        format!("andon: --old {server}: cannot connect to {address}: connection refused\n");
    assert_eq!(error, expected);
}

#[test]
fn import_takes_text_only_and_goes_on_without_a_file_that_is_missing() {
    let folder = one_image();
    let done = run(folder.path(), "import a.jpg").ending(1);
    assert_eq!(
        (done.out.as_str(), done.err.as_str()),
        ("", "andon: a.jpg is not text, so no configuration\n")
    );
    let site = "http { include mime.types; server { listen 80; root /srv;\nlocation /t/ { image_filter resize 100 -; } } }\n";
    fs::write(folder.path().join("nginx.conf"), site).unwrap();
    let done = run(folder.path(), "import nginx.conf").ending(0);
    assert!(
        done.err
            .contains("nginx.conf:1 includes mime.types, which does not exist"),
        "{}",
        done.err
    );
    assert!(
        done.out.contains("image_filter(resize,100,-"),
        "{}",
        done.out
    );
}

#[test]
fn reference_prints_one_word() {
    let folder = one_image();
    let fit = run(folder.path(), "reference fit").ending(0).out;
    assert!(fit.starts_with("fit:WIDTHxHEIGHT"), "{fit}");
    assert!(fit.lines().count() < 12, "{fit}");
    let other = run(folder.path(), "reference resize").ending(1).err;
    assert!(other.contains("did you mean `fit:250x250`?"), "{other}");
}

#[test]
fn all_lines_of_the_log_have_the_same_form_of_time() {
    let folder = one_image();
    let served = Served::without_config(folder.path(), &[]);
    assert_eq!(served.get("/r/fit:9x9/a.jpg").status, 200);
    let log = served.stop();
    assert!(log.contains(" GET /r/fit:9x9/a.jpg 200 "), "{log}");
    let mut lines = 0;
    for line in log.lines() {
        let (time, _) = line.split_once(' ').expect(line);
        let (seconds, rest) = time.split_once('.').expect(line);
        assert_eq!(
            (seconds.len(), rest.len(), &rest[3..]),
            (19, 4, "Z"),
            "{line}"
        );
        lines += 1;
    }
    assert!(lines > 5, "{log}");
}
