//! `andon config check`, and SIGHUP.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn check(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["config", "check"])
        .arg(file)
        .output()
        .unwrap()
}

#[test]
fn a_good_file_is_printed_with_all_its_keys_and_checks_as_good_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "workers = 3\n[timeouts]\nheader = \"4s\"\n").unwrap();
    let first = check(&file);
    let text = String::from_utf8(first.stdout).unwrap();
    assert_eq!(first.status.code(), Some(0));
    for key in [
        "workers = 3",
        "header = \"4s\"",
        "source_bytes = ",
        "[metrics]",
    ] {
        assert!(text.contains(key), "{key}: {text}");
    }
    std::fs::write(&file, &text).unwrap();
    assert_eq!(String::from_utf8(check(&file).stdout).unwrap(), text);
}

#[test]
fn a_wrong_file_is_named_with_its_line_and_the_nearest_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "queue = 3\nwokers = 3\n").unwrap();
    let wrong = check(&file);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    for part in ["andon.toml", "line 2", "`wokers`", "`workers`"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(
        check(&folder.path().join("none.toml")).status.code(),
        Some(1)
    );
}

#[test]
fn sighup_takes_a_good_file_and_refuses_a_wrong_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    let write = |keys: &str| {
        let listen = "listen = [\"unix:a.sock\"]\n";
        std::fs::write(&file, format!("{listen}{keys}")).unwrap();
    };
    write("[log]\nformat = \"off\"\n");
    let mut server = Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["serve", "--config"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut announced = String::new();
    BufReader::new(server.stdout.as_mut().unwrap())
        .read_line(&mut announced)
        .unwrap();
    let signal = |name: &str| {
        let done = Command::new("kill")
            .args([name, &server.id().to_string()])
            .status();
        assert!(done.unwrap().success());
    };
    let status = |request: &str| {
        let mut client = UnixStream::connect(folder.path().join("a.sock")).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        client.read_to_string(&mut reply).unwrap();
        reply.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let post =
        "POST /_andon/render HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(status(post), "403");

    write("[upload]\nallow = \"local\"\n[log]\nformat = \"off\"\n");
    signal("-HUP");
    assert!(lines.next().unwrap().unwrap().contains("was read again"));
    assert_eq!(status(post), "400", "allowed, and nothing named");

    write("[uplod]\n");
    signal("-HUP");
    let refused = lines.next().unwrap().unwrap();
    assert!(
        refused.contains("stays as it was") && refused.contains("`upload`"),
        "{refused}"
    );
    assert_eq!(status(post), "400");

    signal("-TERM");
    assert!(server.wait().unwrap().success());
}
