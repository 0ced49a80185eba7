//! Environment variables as keys of the configuration, and `andon healthcheck`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use crate::common::said::{Said, command};
use crate::common::{Served, andon, program, sample};

/// Creates a folder with an image in `photos`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let photos = folder.path().join("photos");
    fs::create_dir(&photos).unwrap();
    fs::copy(sample("jpeg/420.jpg"), photos.join("a.jpg")).unwrap();
    folder
}

#[test]
fn variables_override_the_file_and_arguments_override_them() {
    let folder = folder();
    let text = "workers = 1\n[native]\nprefix = \"/file\"\n[[origin]]\nfs.root = \"nowhere\"\n";
    let variables = [
        (
            "ANDON_ROOT",
            folder.path().join("photos").display().to_string(),
        ),
        ("ANDON_NATIVE__PREFIX", "/env".to_owned()),
        ("ANDON_LISTEN", "256.0.0.1:1".to_owned()),
    ];
    // The address is an argument, and the folder `nowhere` in the file does not exist.
    let served = Served::start_with(folder.path(), text, |command| {
        command.envs(variables.iter().map(|(name, value)| (name, value)));
    });
    assert_eq!(served.get("/env/fit:9x9/a.jpg").status, 200);
    assert_eq!(served.get("/file/fit:9x9/a.jpg").status, 404);
}

#[test]
fn a_wrong_variable_stops_the_start_and_the_check_and_names_the_right_one() {
    let folder = folder();
    for words in ["serve --listen 127.0.0.1:0", "config check andon.toml"] {
        fs::write(
            folder.path().join("andon.toml"),
            "[[origin]]\nfs.root = \"photos\"\n",
        )
        .unwrap();
        let run = |name: &str, value: &str| -> Said {
            let mut command = command(program(), folder.path(), words);
            command.env(name, value).output().unwrap().into()
        };
        let said = run("ANDON_CACHE_MEMORY", "1GiB").ending(1);
        assert!(
            said.err.contains("did you mean ANDON_CACHE__MEMORY?"),
            "{}",
            said.err
        );
        let said = run("ANDON_CACHE__MEMORY", "lots").ending(1);
        assert!(said.err.contains("ANDON_CACHE__MEMORY: "), "{}", said.err);
    }
    let mut show = command(program(), folder.path(), "config show andon.toml");
    let said = Said::from(show.env("ANDON_QUEUE", "77").output().unwrap()).ending(0);
    assert!(said.out.contains("queue = 77"), "{}", said.out);
    assert!(
        said.err
            .contains("the environment variable ANDON_QUEUE applies"),
        "{}",
        said.err
    );
}

#[test]
fn healthcheck_finds_the_server_by_url_by_variable_and_by_file() {
    let folder = folder();
    let served = Served::start(folder.path(), "[[origin]]\nfs.root = \"photos\"\n");
    let url = format!("http://{}", served.address);
    let file = folder.path().join("of-check.toml");
    fs::write(&file, format!("listen = [\"{}\"]\n", served.address)).unwrap();
    let file = file.display().to_string();
    for (args, env) in [
        (vec!["healthcheck", &url], vec![]),
        (
            vec!["healthcheck"],
            vec![("ANDON_LISTEN", served.address.as_str())],
        ),
        (vec!["healthcheck", "--config", &file], vec![]),
    ] {
        let said = Said::from(andon(&args, &env)).ending(0);
        assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""), "{args:?}");
    }
    let said = Said::from(andon(&["healthcheck", &format!("{url}/missing.jpg")], &[])).ending(1);
    assert!(said.err.contains("status 404"), "{}", said.err);
    drop(served);
    Said::from(andon(&["healthcheck", &url], &[])).ending(1);
}

#[test]
fn healthcheck_does_not_wait_longer_than_it_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut check = Command::new(program());
    let child = check.args(["healthcheck", &url, "--timeout", "0.2"]);
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // A server that accepts a connection and sends half a line, but never the rest.
    let (mut stream, _) = listener.accept().unwrap();
    assert!(stream.read(&mut [0; 1 << 10]).unwrap() > 0);
    stream.write_all(b"HTTP/1.1 2").unwrap();
    let said = Said::from(child.wait_with_output().unwrap()).ending(1);
    assert!(said.err.contains("no answer within 200ms"), "{}", said.err);
}
