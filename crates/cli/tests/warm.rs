//! `andon warm` against a running server: the requested results are in the cache afterwards.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use crate::common::{Served, andon, sample};
use tempfile::TempDir;

const TOKEN: &str = "a token of sixteen bytes and more";
const CONFIG: &str = "[admin]\ntoken_env = \"ANDON_TOKEN\"\n[[origin]]\nfs.root = \"root\"\n";

struct House {
    folder: TempDir,
    served: Served,
}

impl House {
    fn new() -> Self {
        Self::with("[log]\nformat = \"off\"\n")
    }

    fn with(keys: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root/trip");
        std::fs::create_dir_all(&root).unwrap();
        for name in ["a.jpg", "b c.jpg"] {
            std::fs::copy(sample("jpeg/420.jpg"), root.join(name)).unwrap();
        }
        let served = Served::start_with(folder.path(), &format!("{CONFIG}{keys}"), |command| {
            command.env("ANDON_TOKEN", TOKEN);
        });
        Self { folder, served }
    }

    fn put(&self, name: &str, text: &str) -> String {
        put(self.folder.path(), name, text)
    }

    fn warm(&self, args: &[&str]) -> (Option<i32>, String) {
        warm(&self.served.address, args, TOKEN)
    }
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn warm(server: &str, args: &[&str], token: &str) -> (Option<i32>, String) {
    let args = [&["warm", "--server", server], args].concat();
    let Output {
        status,
        stdout,
        stderr,
    } = andon(&args, &[("ANDON_TOKEN", token)]);
    let said = [stdout, stderr].concat();
    (status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn what_a_list_names_is_made_once_and_is_a_hit_for_clients() {
    let house = House::new();
    let urls = "/r/fit:20x20/trip/a.jpg\nhttps://img.example/r/fit:30x30/trip/b%20c.jpg\n/r/fit:20x20/trip/a.jpg\n";
    let list = house.put("urls.txt", urls);
    let (code, said) = house.warm(&[&list]);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "0 hit, 2 made, 0 failed\n")
    );
    for target in ["/r/fit:20x20/trip/a.jpg", "/r/fit:30x30/trip/b%20c.jpg"] {
        assert!(house.served.get(target).is_hit(), "{target}");
    }
    let (code, said) = house.warm(&[&list, "-c", "8"]);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "2 hit, 0 made, 0 failed\n")
    );
}

#[test]
fn failures_are_listed_and_tried_again_by_the_next_run_which_leaves_out_what_is_done() {
    let house = House::new();
    let list = house.put(
        "urls.txt",
        "/r/fit:20x20/trip/a.jpg\n/r/fit:20x20/trip/new.jpg\n/r/fitt:1x1/trip/a.jpg\n",
    );
    let done = house.folder.path().join("done");
    let args = [list.as_str(), "--done", done.to_str().unwrap()];
    let (code, said) = house.warm(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("0 hit, 1 made, 2 failed\n"), "{said}");
    assert!(
        said.contains("failed: /r/fit:20x20/trip/new.jpg: 404: "),
        "{said}"
    );
    assert!(said.contains("did you mean `fit`?"), "{said}");
    // As if the next run was stopped in the middle of a line.
    let mut text = std::fs::read_to_string(&done).unwrap();
    assert_eq!(text, "/r/fit:20x20/trip/a.jpg\n");
    text.push_str("/r/fit:20x20/trip/n");
    std::fs::write(&done, text).unwrap();
    let new = house.folder.path().join("root/trip/new.jpg");
    std::fs::copy(sample("jpeg/420.jpg"), new).unwrap();
    house.put(
        "urls.txt",
        "/r/fit:20x20/trip/a.jpg\n/r/fit:20x20/trip/new.jpg\n",
    );
    // The server caches for a while that the file was missing.
    let purge = ["purge", "--server", &house.served.address, "--prefix", "/"];
    assert!(andon(&purge, &[("ANDON_TOKEN", TOKEN)]).status.success());
    let (code, said) = house.warm(&args);
    let expected = "0 hit, 1 made, 0 failed, 1 done by an earlier run\n";
    assert_eq!((code, said.as_str()), (Some(0), expected));
    let (code, said) = house.warm(&args);
    let expected = "0 hit, 0 made, 0 failed, 2 done by an earlier run\n";
    assert_eq!((code, said.as_str()), (Some(0), expected));
}

#[test]
fn the_most_frequent_requests_of_a_servers_own_log_are_asked_for() {
    for format in ["text", "json"] {
        let yesterday = House::with(&format!("[log]\nformat = \"{format}\"\n"));
        let often = "/small_light(dw=20)/trip/a.jpg";
        for target in [often, "/r/fit:9x9/trip/a.jpg", "/none.jpg", often] {
            yesterday.served.get(target);
        }
        let House { served, .. } = yesterday;
        let today = House::new();
        let log = today.put("access.log", &served.stop());
        let (code, said) = today.warm(&["--from-log", &log, "--top", "1"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.starts_with("0 hit, 1 made, 0 failed\n"), "{said}");
        assert!(
            said.contains("1 requests of the log left out: answered with 404"),
            "{said}"
        );
        assert!(today.served.get(often).is_hit());
        assert!(!today.served.get("/r/fit:9x9/trip/a.jpg").is_hit());
    }
}

#[test]
fn a_manifest_is_every_source_in_every_variant() {
    let house = House::with("[negotiation]\nformats = [\"webp\"]\n[log]\nformat = \"off\"\n");
    house.put("sources.txt", "/trip/a.jpg\n/trip/b c.jpg\n");
    let manifest = house.put(
        "sizes.toml",
        "sources_from = \"sources.txt\"\nurls = [\"/r/fit:20x20,as:auto{source}\", \"/small_light(dw=30){source}\"]\n\
         accept = [\"image/webp\", \"\"]\n",
    );
    let (code, said) = house.warm(&["--manifest", &manifest, "-c", "1"]);
    assert_eq!(code, Some(0), "{said}");
    // The second URL names its format, so Accept has no effect on it.
    assert_eq!(said, "2 hit, 6 made, 0 failed\n");
    assert!(
        house
            .served
            .get("/r/fit:20x20,as:auto/trip/b%20c.jpg")
            .is_hit()
    );
}

#[test]
fn a_server_that_puts_requests_off_is_asked_again_when_it_says() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = std::thread::spawn(move || {
        let mut seen = Vec::new();
        // The first connection only checks whether a server is listening.
        for (stream, _) in std::iter::repeat_with(|| listener.accept().unwrap()) {
            let mut reader = BufReader::new(stream);
            loop {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
                if head.is_empty() {
                    break;
                }
                seen.push(head.to_ascii_lowercase());
                let (status, more) = match seen.len() {
                    1 => ("429 Too Many Requests", "Retry-After: 1\r\n"),
                    2 => ("503 Service Unavailable", "Retry-After: 1\r\n"),
                    _ => ("200 OK", "Cache-Status: andon; fwd=uri-miss; stored\r\n"),
                };
                let reply = format!("HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\n\r\n");
                reader.get_mut().write_all(reply.as_bytes()).unwrap();
                if seen.len() == 4 {
                    return seen;
                }
            }
        }
        seen
    });
    let folder = tempfile::tempdir().unwrap();
    let list = put(
        folder.path(),
        "urls.txt",
        "http://img.example/a.jpg\n/b.jpg\n",
    );
    let (code, said) = warm(
        &address,
        &[&list, "-c", "1", "--accept", "image/webp"],
        TOKEN,
    );
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "0 hit, 2 made, 0 failed\n")
    );
    let seen = served.join().unwrap();
    let targets: Vec<&str> = seen
        .iter()
        .filter_map(|head| head.split(' ').nth(1))
        .collect();
    assert_eq!(targets, ["/a.jpg", "/a.jpg", "/a.jpg", "/b.jpg"]);
    for part in [
        "host: img.example\r\n",
        "accept: image/webp\r\n",
        "andon-priority: idle\r\n",
        &format!("authorization: bearer {TOKEN}\r\n"),
    ] {
        assert!(seen[0].contains(part), "{part} {}", seen[0]);
    }
    assert!(
        seen[3].contains(&format!("host: {address}\r\n")),
        "{}",
        seen[3]
    );
}

#[test]
fn idle_requests_need_the_token_and_normal_ones_do_not() {
    let house = House::new();
    let list = house.put("urls.txt", "/r/fit:20x20/trip/a.jpg\n");
    let (code, said) = warm(
        &house.served.address,
        &[&list],
        "another token, as long as that",
    );
    assert_eq!(code, Some(1));
    assert!(said.contains("/trip/a.jpg: 401: "), "{said}");
    let many: String = (1..=100)
        .map(|width| format!("/r/fit:{width}x/trip/a.jpg\n"))
        .collect();
    let many = house.put("many.txt", &many);
    let (code, said) = warm(&house.served.address, &[&many, "-c", "1"], "another token");
    assert_eq!(code, Some(1));
    assert!(said.contains("20 failed, 80 not asked for\n"), "{said}");
    assert!(
        said.contains("stopped: the first 20 requests were all refused; the last reply: 401: "),
        "{said}"
    );
    let args = [list.as_str(), "--token-env", "ANDON_NO_SUCH_TOKEN"];
    let (code, said) = house.warm(&args);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("ANDON_NO_SUCH_TOKEN") && said.contains("or warm with --priority normal"),
        "{said}"
    );
    let (code, said) = house.warm(&[&args[..], &["--priority", "normal"]].concat());
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "0 hit, 1 made, 0 failed\n")
    );
}

#[test]
fn a_server_that_is_not_there_is_an_error_with_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let folder = tempfile::tempdir().unwrap();
    let list = put(folder.path(), "urls.txt", "/a.jpg\n");
    let (code, said) = warm(&address, &[&list], TOKEN);
    assert_eq!(code, Some(1));
    assert!(said.contains(&address), "{said}");
}
