//! What of a folder is served where nothing is configured but the folder: images, and nothing else.

use crate::common;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{House, Reply};

const SECRET: &str = "the secret";

/// Starts a server with a folder of images, other files and hidden files at `/shop`. Its origin has the default
/// settings, apart from these keys; another folder is at `/`.
fn house(keys: &str) -> House {
    let keys = format!("[[origin]]\nprefix = \"/shop\"\nfs.root = \"shop\"\n{keys}\n");
    House::furnished(&keys, |folder| {
        let shop = folder.join("shop");
        for inside in ["", ".git", ".well-known", "sub/.hidden"] {
            std::fs::create_dir_all(shop.join(inside)).unwrap();
        }
        for name in [
            ".env",
            ".git/config",
            "config.php",
            "index.html",
            "sub/notes.txt",
            "empty.jpg",
            "page.jpg",
        ] {
            std::fs::write(shop.join(name), SECRET).unwrap();
        }
        std::fs::write(shop.join("empty.jpg"), "").unwrap();
        let image = common::sample("jpeg/420.jpg");
        for name in [
            "a.jpg",
            "misnamed.txt",
            ".a.jpg",
            "sub/.hidden/a.jpg",
            ".well-known/a.jpg",
        ] {
            std::fs::copy(&image, shop.join(name)).unwrap();
        }
        std::fs::copy(&image, folder.join("outside.jpg")).unwrap();
        symlink("../outside.jpg", shop.join("out.jpg")).unwrap();
        symlink(Path::new("..").join("root"), shop.join("folder")).unwrap();
    })
}

fn ask(house: &House, path: &str) -> Reply {
    let reply = house.get(path);
    assert!(!reply.text().contains(SECRET), "{path}");
    reply
}

#[test]
fn images_are_served_by_their_content_and_nothing_else_is() {
    let house = house("");
    for path in ["/shop/a.jpg", "/shop/misnamed.txt"] {
        let reply = ask(&house, path);
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.header("content-type"), Some("image/jpeg"), "{path}");
    }
    for path in [
        "/shop/.env",
        "/shop/.git/config",
        "/shop/%2Egit/config",
        "/shop//.git//config",
        "/shop/config.php",
        "/shop/index.html",
        "/shop/",
        "/shop/sub/notes.txt",
        "/shop/empty.jpg",
        "/shop/page.jpg",
    ] {
        let reply = ask(&house, path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        // Not even that it is there.
        let told = house.request("HEAD", path, &[("If-None-Match", "*")]);
        assert_eq!(told.status, 404, "{path}");
        assert_eq!(told.header("etag"), None, "{path}");
    }
}

#[test]
fn what_is_not_served_is_answered_like_what_is_not_there_but_for_a_file_that_was_taken_for_an_image()
 {
    let without_date = |mut reply: Reply| {
        reply.headers.retain(|(name, _)| name != "date");
        (reply.status, reply.headers, reply.body)
    };
    let no_images = ["config.php", "page.jpg", "empty.jpg", "sub/notes.txt"];
    for keys in ["", "[small_light]\ncompat = \"strict\"\n"] {
        let house = house(keys);
        for options in [
            "",
            "/small_light(dw=10)",
            "/small_light()",
            "/r/fit:10x10",
            "/small_light(of=png,embedicon=x)",
        ] {
            for (there, missing) in [
                ("config.php", "nothin.php"),
                (".env", ".enx"),
                (".a.jpg", ".b.jpg"),
                (".git/config", ".gix/config"),
                ("page.jpg", "pagx.jpg"),
                ("empty.jpg", "emptx.jpg"),
                ("out.jpg", "ouX.jpg"),
                ("sub/notes.txt", "sub/notxs.txt"),
                ("sub", "suX"),
            ] {
                let answer = |name: &str| ask(&house, &format!("{options}/shop/{name}"));
                let mut reply = answer(there);
                if !options.is_empty() && no_images.contains(&there) {
                    if keys.is_empty() {
                        assert_eq!(reply.status, 415, "{options} {there}");
                    }
                    for header in ["etag", "last-modified"] {
                        assert_eq!(reply.header(header), None, "{options} {there}");
                    }
                    continue;
                }
                reply.body = reply.text().replace(there, missing).into_bytes();
                let reply = without_date(reply);
                assert_eq!(reply, without_date(answer(missing)), "{options} {there}");
                if keys.is_empty() {
                    assert_eq!(reply.0, 404, "{options} {there}");
                }
            }
        }
    }
}

#[test]
fn names_that_begin_with_a_dot_are_never_served_not_even_as_images() {
    for keys in ["", "fs.files = \"all\""] {
        let house = house(keys);
        for path in [
            "shop/.a.jpg",
            "shop/sub/.hidden/a.jpg",
            "shop/.well-known/a.jpg",
        ] {
            for target in [format!("/{path}"), format!("/small_light(dw=10)/{path}")] {
                assert_eq!(ask(&house, &target).status, 404, "{target}");
            }
        }
    }
}

#[test]
fn every_other_file_is_served_where_a_key_says_so() {
    let house = house("fs.files = \"all\"");
    for path in ["/shop/config.php", "/shop/index.html", "/shop/"] {
        assert_eq!(house.get(path).text(), SECRET, "{path}");
    }
    assert_eq!(house.get("/shop/.env").status, 404);
}

#[test]
fn links_that_lead_out_are_followed_only_where_a_key_says_so() {
    let paths = ["shop/out.jpg", "shop/folder/a.jpg"];
    for (keys, status) in [("", 404), ("fs.outside_links = true", 200)] {
        let house = house(keys);
        for path in paths {
            assert_eq!(house.get(&format!("/{path}")).status, status, "{path}");
            let target = format!("/small_light(dw=10)/{path}");
            assert_eq!(house.get(&target).status, status, "{target}");
        }
        assert_eq!(house.get("/shop/../shop/../../etc/hostname").status, 400);
    }
}

#[test]
fn the_root_explains_how_an_image_is_requested_with_a_url_that_works() {
    let house = House::furnished("", |folder| {
        let root = folder.join("root");
        std::fs::remove_file(root.join("a.jpg")).unwrap();
        std::fs::create_dir_all(root.join("b ü")).unwrap();
        let image = common::sample("jpeg/420.jpg");
        std::fs::write(root.join("aa-private.txt"), SECRET).unwrap();
        let whole = std::fs::read(&image).unwrap();
        std::fs::write(root.join("ab-private.jpg"), &whole[..whole.len() / 2]).unwrap();
        std::fs::copy(&image, root.join(".hidden.jpg")).unwrap();
        std::fs::copy(&image, root.join("b ü/c d.jpg")).unwrap();
    });
    let page = house.get("/");
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(
        !text.contains("private") && !text.contains("hidden"),
        "{text}"
    );
    let targets: Vec<&str> = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("http://test"))
        .collect();
    assert_eq!(targets.len(), 3, "{text}");
    assert_eq!(targets[0], "/b%20%C3%BC/c%20d.jpg");
    for target in targets {
        let reply = house.get(target);
        assert_eq!(reply.header("content-type"), Some("image/jpeg"), "{target}");
    }
    let query = House::with("[small_light]\ngetparam_mode = true\n")
        .get("/")
        .text();
    assert!(query.contains("http://test/a.jpg?dw="), "{query}");
    house.put("index.html", "an index of its own");
    assert_eq!(house.get("/").text(), "an index of its own");
    let empty = House::furnished("", |folder| {
        std::fs::remove_file(folder.join("root/a.jpg")).unwrap();
    });
    let text = empty.get("/").text();
    assert!(
        text.contains("No image") && text.contains("small_light("),
        "{text}"
    );
}

#[test]
fn an_svg_that_is_opened_as_a_page_runs_no_scripts() {
    let house = House::new();
    house.put_sample("chart.svg", "svg/chart.svg");
    for target in ["/chart.svg", "/chart.svg"] {
        let reply = house.get(target);
        assert_eq!(reply.header("content-type"), Some("image/svg+xml"));
        let policy = reply.header("content-security-policy").expect("a policy");
        assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
    let drawn = house.get("/small_light(dw=20)/chart.svg");
    assert_eq!(drawn.header("content-type"), Some("image/png"));
    assert_eq!(drawn.header("content-security-policy"), None);
}
