//! `andon shadow` with two running servers.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::common::program;
use crate::common::said::{Said, said as run};
use crate::common::{Served, sample};
use tempfile::TempDir;

const QUIET: &str = "[log]\nformat = \"off\"\n[[origin]]\nfs.root = \"root\"\n";

/// Starts a server with these samples under these names.
fn serve(folder: &Path, files: &[(&str, &str)], config: &str) -> Served {
    let root = folder.join("root");
    fs::create_dir_all(&root).unwrap();
    for (name, from) in files {
        fs::copy(sample(from), root.join(name)).unwrap();
    }
    Served::start(folder, &format!("{QUIET}{config}"))
}

/// Writes `access.log` with these requests.
fn write_log(folder: &Path, requests: &[&str]) {
    let line = |request: &&str| {
        format!(
            "10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] \"{request} HTTP/1.1\" 200 1 \"-\" \"-\"\n"
        )
    };
    let log: String = requests.iter().map(line).collect();
    fs::write(folder.join("access.log"), log).unwrap();
}

struct Pair {
    folder: TempDir,
    old: Served,
    new: Served,
}

impl Pair {
    fn new(old: &[(&str, &str)], new: &[(&str, &str)], config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        Self {
            old: serve(&one, old, ""),
            new: serve(&two, new, config),
            folder,
        }
    }

    /// Writes a log with these requests, and replays it against both servers with `andon shadow` and the further
    /// arguments `more`.
    fn shadow(&self, requests: &[&str], more: &str) -> Said {
        write_log(self.folder.path(), requests);
        let (old, new) = (&self.old.address, &self.new.address);
        let words = format!("shadow access.log --old http://{old} --new http://{new} {more}");
        run(program(), self.folder.path(), &words)
    }
}

const SAME: &str = "GET /small_light(dw=40,q=90)/a.jpg";
const OTHER: &str = "GET /small_light(dw=60,of=png)/b.jpg";
const GONE: &str = "GET /small_light(dw=40)/c.jpg?v='1'";

#[test]
fn servers_that_answer_alike_are_said_to() {
    let files = [("a.jpg", "jpeg/420.jpg"), ("b.jpg", "photos/wren.jpg")];
    let pair = Pair::new(
        &files,
        &files,
        "[[cache.rule]]\nprefix = \"/\"\ncache_control = \"no-cache\"\n",
    );
    let said = pair
        .shadow(&[SAME, OTHER, SAME, "POST /x", "HEAD /a.jpg"], "")
        .ending(0);
    for part in [
        "2 distinct URLs of 3 requests were compared",
        "1 requests left out: HEAD",
        "1 requests left out: neither GET nor HEAD",
        "2 are the same to the byte",
        "bytes, new / old: 1.00 (median)",
        "Cache-Control",
        "`no-cache`",
        "No reply differs (SSIM at least 0.95).",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}

#[test]
fn differences_are_listed_the_worst_first_and_shown_side_by_side() {
    let old = [
        ("a.jpg", "jpeg/420.jpg"),
        ("b.jpg", "photos/wren.jpg"),
        ("c.jpg", "jpeg/422.jpg"),
    ];
    let new = [("a.jpg", "jpeg/444.jpg"), ("b.jpg", "photos/otter.jpg")];
    let pair = Pair::new(&old, &new, "");
    let said = pair
        .shadow(&[SAME, SAME, SAME, OTHER, GONE], "--html differences.html")
        .ending(1);
    let place = |part: &str| {
        said.out
            .rfind(part)
            .unwrap_or_else(|| panic!("{part}: {}", said.out))
    };
    assert!(
        place("status: 200 and 404") < place("size in px: 60x"),
        "{}",
        said.out
    );
    assert!(said.out.contains("SSIM"), "{}", said.out);
    assert!(
        said.out
            .ends_with("2 of 3 URLs differ, 40.0 % of the requests.\n"),
        "{}",
        said.out
    );
    let page = fs::read_to_string(pair.folder.path().join("differences.html")).unwrap();
    assert_eq!(
        page.matches("data:image/jpeg;base64,").count(),
        1,
        "one was there"
    );
    assert_eq!(page.matches("data:image/png;base64,").count(), 2);
    assert!(page.contains("/c.jpg?v=&#39;1&#39;</h2>"));

    let few = pair
        .shadow(&[SAME, SAME, OTHER, GONE], "--limit 1 --rate 100")
        .ending(0);
    assert!(
        few.out.contains("2 requests left out: less frequent"),
        "{}",
        few.out
    );
    let strict = pair.shadow(&[SAME], "--ssim 1").ending(1);
    assert!(strict.out.contains("pixels: SSIM 0."), "{}", strict.out);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let files = [("a.jpg", "jpeg/420.jpg")];
    let pair = Pair::new(&files, &files, "");
    let line =
        "10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] \"GET /a.jpg HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    fs::write(pair.folder.path().join("log"), line).unwrap();
    let address = &pair.old.address;
    let words = format!("shadow log --old http://{address} --new unix:/nobody");
    let said = run(program(), pair.folder.path(), &words).ending(1);
    assert!(
        said.err.contains("--new unix:/nobody: cannot connect"),
        "{}",
        said.err
    );
    fs::write(pair.folder.path().join("log"), "").unwrap();
    let words = format!("shadow log --old http://{address} --new http://{address}");
    let said = run(program(), pair.folder.path(), &words).ending(1);
    assert!(said.err.contains("log has no GET"), "{}", said.err);
}

#[test]
fn an_old_server_that_speaks_tls_is_compared_by_its_certificates_name_or_by_any() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["shop.example".to_owned()];
    let issued = rcgen::generate_simple_self_signed(names).unwrap();
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    put("cert.pem", issued.cert.pem());
    put("key.pem", issued.signing_key.serialize_pem());
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::copy(sample("jpeg/420.jpg"), root.join("a.jpg")).unwrap();
    let tls = "[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    put(
        "old.toml",
        format!("listen = [\"127.0.0.1:0\"]\n{tls}{QUIET}"),
    );
    write_log(folder.path(), &[SAME]);
    let mut command = Command::new(program());
    command
        .args(["serve", "--config", "old.toml"])
        .current_dir(folder.path());
    let old = Served::listening(command);
    let new = Served::start(
        &folder.path().join("root"),
        "[log]\nformat = \"off\"\n[[origin]]\nfs.root = \".\"\n",
    );
    let at = old.secure.clone().unwrap();
    let shadow = |more: &str| {
        let words = format!(
            "shadow access.log --old https://{at} --new http://{} {more}",
            new.address
        );
        run(program(), folder.path(), &words)
    };
    let said = shadow("--insecure").ending(0);
    assert!(
        said.out.contains("1 are the same to the byte"),
        "{}",
        said.out
    );
    let said = shadow("").ending(1);
    assert!(
        said.err.contains(&format!("has to be of {at} "))
            && said.err.contains("--insecure takes any certificate"),
        "{}",
        said.err
    );
    // The certificate is signed by no authority, whatever its name.
    let said = shadow("-H Host:shop.example").ending(1);
    assert!(
        said.err.contains("has to be of shop.example "),
        "{}",
        said.err
    );
    let plain = format!(
        "shadow access.log --old https://{0} --new http://{0}",
        new.address
    );
    let said = run(program(), folder.path(), &plain).ending(1);
    assert!(said.err.contains("--old https://"), "{}", said.err);
}

#[test]
fn pages_of_the_old_server_are_left_out_unless_all_replies_are_pages() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let old = serve(&one, &[("a.jpg", "jpeg/420.jpg")], "fs.files = \"all\"\n");
    let new = serve(&two, &[("a.jpg", "jpeg/420.jpg")], "");
    fs::write(one.join("root/page.html"), "<p>a shop").unwrap();
    let shadow = |requests: &[&str]| {
        write_log(folder.path(), requests);
        let words = format!(
            "shadow access.log --old http://{} --new http://{}",
            old.address, new.address
        );
        run(program(), folder.path(), &words)
    };
    let said = shadow(&["GET /page.html", "GET /page.html", SAME]).ending(0);
    for part in [
        "1 distinct URLs of 1 requests were compared",
        "2 requests left out: pages (text/html) of the old server",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let said = shadow(&["GET /page.html"]).ending(1);
    assert!(
        said.err.contains("answers all 1 URLs with a page"),
        "{}",
        said.err
    );
}

/// Starts a server that redirects every request to the same path of `site`, and returns its address.
fn redirecting(site: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while let Some(Ok(line)) = lines.next() {
                if line.is_empty() {
                    let reply = format!(
                        "HTTP/1.1 301 Moved\r\nLocation: {site}/a\r\nContent-Length: 0\r\n\r\n"
                    );
                    (&stream).write_all(reply.as_bytes()).unwrap();
                }
            }
        }
    });
    address
}

#[test]
fn a_site_that_only_redirects_is_told_with_where_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let new = serve(folder.path(), &[("a.jpg", "jpeg/420.jpg")], "");
    write_log(folder.path(), &[SAME]);
    let words = format!(
        "shadow access.log --old http://{} --new http://{}",
        redirecting("https://shop.example"),
        new.address
    );
    let said = run(program(), folder.path(), &words).ending(1);
    assert!(
        said.out.contains(
            "redirects 1 of the URLs to https://shop.example: name that as the old server"
        ),
        "{}",
        said.out
    );
}
