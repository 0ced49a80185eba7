//! `andon purge` against a running server: purged results are made again, and no others.

use crate::common::{Served, andon, sample};

const TOKEN: &str = "a token of sixteen bytes and more";
const SMALL: &str = "/small_light(dw=10)/trip/a.jpg";
const LARGE: &str = "/small_light(dw=20)/trip/a.jpg";
const OTHER: &str = "/small_light(dw=10)/trip/b.jpg";
const PLAIN: &str = "/small_light(dw=10,of=png)/c.jpg";

struct House {
    folder: tempfile::TempDir,
    served: Served,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("trip")).unwrap();
        for name in ["trip/a.jpg", "trip/b.jpg", "c.jpg"] {
            std::fs::copy(sample("jpeg/420.jpg"), root.join(name)).unwrap();
        }
        // Files are not revalidated, so only a purge causes a cache miss.
        let config = "metrics.allow = \"all\"\n[admin]\ntoken_env = \"ANDON_TOKEN\"\n[[origin]]\nfs.root = \"root\"\n\
                      [cache]\nfs_fresh = \"1h\"\ndisk.path = \"kept\"\ndisk.size = \"1MiB\"\n[log]\nformat = \"off\"\n";
        let served = Served::start_with(folder.path(), config, |command| {
            command.env("ANDON_TOKEN", TOKEN);
        });
        Self { folder, served }
    }

    /// Requests `SMALL`, `LARGE`, `OTHER` and `PLAIN` so that their results are cached, runs `andon purge` with these
    /// arguments, and returns which of these four are still cached, in the same order.
    fn left_after(&self, purge: &[&str]) -> [bool; 4] {
        let all = [SMALL, LARGE, OTHER, PLAIN];
        for target in all {
            self.served.get(target);
            assert!(self.served.get(target).is_hit(), "{target}");
        }
        let done = self.purge(purge, TOKEN);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        all.map(|target| {
            let reply = self.served.get(target);
            assert_eq!(reply.status, 200);
            reply.is_hit()
        })
    }

    fn purge(&self, what: &[&str], token: &str) -> std::process::Output {
        let args = [&["purge", "--server", &self.served.address], what].concat();
        andon(&args, &[("ANDON_TOKEN", token)])
    }
}

#[test]
fn what_is_purged_is_made_again_and_nothing_else_is() {
    let house = House::new();
    for (purge, left) in [
        (["--url", SMALL], [false, true, true, true]),
        (["--source", "/trip/a.jpg"], [false, false, true, true]),
        (["--prefix", "/trip/"], [false, false, false, true]),
        (["--tag", "type:image/png"], [true, true, true, false]),
        (["--source", "/nothing.jpg"], [true, true, true, true]),
        (["--source", "trip/a.jpg"], [false, false, true, true]),
    ] {
        assert_eq!(house.left_after(&purge), left, "{purge:?}");
    }
    let figures = String::from_utf8(house.served.get("/metrics").body).unwrap();
    assert!(figures.contains("andon_cache_purges_total 6"), "{figures}");
}

#[test]
fn a_purge_says_how_many_entries_it_met() {
    let house = House::new();
    for target in [SMALL, LARGE, OTHER] {
        house.served.get(target);
    }
    for (source, count) in [("/trip/a.jpg", 2), ("/trip/a.jpg", 0), ("/trip/b.jpg", 1)] {
        let done = house.purge(&["--source", source], TOKEN);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let expected = format!(
            "\"entries_in_memory\":{count},\"disk\":\"purged as well, entries not counted\""
        );
        assert!(said.contains(&expected), "{source}: {said}");
    }
}

#[test]
fn what_cannot_be_purged_is_refused_with_the_way_out() {
    let house = House::new();
    let said = |server: &str, what: [&str; 2]| {
        let args = [&["purge", "--server", server][..], &what].concat();
        let done = andon(&args, &[("ANDON_TOKEN", TOKEN)]);
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        (done.status.code(), said)
    };
    let (code, json) = said(
        &format!("http://{}/", house.served.address),
        ["--source", "/a.jpg"],
    );
    assert_eq!(code, Some(0), "{json}");
    let closed = Served::start(house.folder.path(), "[[origin]]\nfs.root = \"root\"\n");
    let here = &house.served.address;
    for (server, what, part) in [
        (here, ["--tag", "overlays:a.png"], "did you mean `overlay`?"),
        (here, ["--url", "http://x/a.jpg"], "the path alone"),
        (&closed.address, ["--prefix", "/"], "`[admin] token_env`"),
        (&"https://x".to_owned(), ["--prefix", "/"], "over HTTP"),
    ] {
        let (code, said) = said(server, what);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn without_the_token_nothing_is_purged() {
    let house = House::new();
    house.served.get(SMALL);
    let refused = house.purge(&["--source", "/trip/a.jpg"], "some other token, as long");
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("token"), "{said}");
    assert!(house.served.get(SMALL).is_hit());
}

#[test]
fn a_purge_outlives_the_server() {
    let house = House::new();
    house.left_after(&["--source", "/trip/a.jpg"]);
    // Results made after the purge stay; purge once more and send no request before the restart.
    assert!(
        house
            .purge(&["--source", "/trip/a.jpg"], TOKEN)
            .status
            .success()
    );
    let House { folder, served } = house;
    served.stop();
    let config = std::fs::read_to_string(folder.path().join("andon.toml")).unwrap();
    let again = Served::start_with(folder.path(), &config, |command| {
        command.env("ANDON_TOKEN", TOKEN);
    });
    assert!(!again.get(SMALL).is_hit());
    assert!(again.get(OTHER).is_hit(), "kept on disk, and not purged");
}

#[test]
fn all_nodes_are_purged_and_those_that_cannot_be_reached_are_named() {
    let (one, two) = (House::new(), House::new());
    for house in [&one, &two] {
        house.served.get(SMALL);
        assert!(house.served.get(SMALL).is_hit());
    }
    let purge = |nodes: &str| {
        let args = ["purge", "--source", "/trip/a.jpg", "--nodes", nodes];
        andon(&args, &[("ANDON_TOKEN", TOKEN)])
    };
    let both = format!("{},{}", one.served.address, two.served.address);
    let done = purge(&both);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}");
    assert_eq!(said.matches("\"entries_in_memory\":1").count(), 2, "{said}");
    assert!(!one.served.get(SMALL).is_hit() && !two.served.get(SMALL).is_hit());

    // One node has stopped; the other one is purged all the same.
    let gone = two.served.address.clone();
    drop(two);
    let done = purge(&format!("{gone},{}", one.served.address));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said.contains(&format!("{gone}: failed: cannot reach")),
        "{said}"
    );
    assert!(error.contains("1 of 2 nodes did not purge"), "{error}");
    assert!(!one.served.get(SMALL).is_hit());

    let named = one.served.address.replace("127.0.0.1", "dns:localhost");
    let done = purge(&named);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        said.contains(&format!("{}: {{", one.served.address)),
        "{said}"
    );
}
