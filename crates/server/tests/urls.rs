//! Absolute URLs of several hosts, from a list of those that are served.

use crate::common::hostile::Hostile;
use crate::common::origin::Origin;
use crate::common::{House, sample};

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

/// A server on which the URLs that begin with these are served.
fn house(urls: &[String], keys: &str) -> House {
    House::with(&format!(
        "[imgproxy]\nprefix = \"/ip\"\n[thumbor]\nprefix = \"/th\"\n[weserv]\nprefix = \"/ws\"\n\
         [cloudflare]\nprefix = \"/cf\"\n[imgix]\nprefix = \"/ix\"\n[iiif]\nprefix = \"/iiif\"\n\
         [ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n{keys}\n\
         [[origin]]\nhttp.urls = {urls:?}\nallow = [\"127.0.0.0/8\"]\n"
    ))
}

/// A URL as each dialect that takes one has it, and the status of one that is not served.
fn targets(url: &str) -> Vec<(String, u16)> {
    let escaped = url.replace(':', "%3A").replace('/', "%2F");
    vec![
        (format!("/r/exact:40x30/{url}"), 403),
        (format!("/ip/insecure/rs:force:40:30/plain/{url}"), 404),
        (format!("/th/unsafe/40x30/{url}"), 400),
        (format!("/cf/width=40,height=30,fit=squeeze/{url}"), 403),
        (format!("/ws/?w=40&h=30&fit=fill&url={url}"), 404),
        (format!("/ix/{escaped}?w=40&h=30&fit=scale"), 403),
        (format!("/iiif/{escaped}/full/40,30/0/default.jpg"), 403),
        (format!("/_ipx/s_40x30/{url}"), 403),
        (format!("/_image?w=40&h=30&fit=fill&href={url}"), 403),
    ]
}

#[test]
fn urls_of_several_hosts_are_served_in_every_dialect_that_takes_them() {
    let (one, other) = (
        Origin::start(image_file(), ""),
        Origin::start(image_file(), ""),
    );
    let base = |origin: &Origin, path: &str| format!("http://127.0.0.1:{}{path}", origin.port());
    let house = house(&[base(&one, "/photos/"), base(&other, "/")], "");
    for url in [base(&one, "/photos/a.jpg"), base(&other, "/b/a.jpg")] {
        for (target, _) in targets(&url) {
            let reply = house.get(&target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.text());
            assert_eq!(reply.size(), (40, 30), "{target}");
        }
    }
    assert!(one.asked() > 0 && other.asked() > 0);
    // What stands below `/` is still there.
    assert_eq!(house.get("/r/exact:40x30/a.jpg").status, 200);
}

#[test]
fn what_is_not_on_the_list_is_refused_in_each_dialects_way_and_nobody_is_asked() {
    let (listed, other) = (
        Origin::start(image_file(), ""),
        Origin::start(image_file(), ""),
    );
    let house = house(&[format!("http://127.0.0.1:{}/photos/", listed.port())], "");
    for url in [
        format!("http://127.0.0.1:{}/photos/a.jpg", other.port()),
        format!("http://127.0.0.1:{}/private/a.jpg", listed.port()),
        format!(
            "http://127.0.0.1:{}/photos/%252e%252e%252fa.jpg",
            listed.port()
        ),
        format!("http://localhost:{}/photos/a.jpg", listed.port()),
        format!("https://127.0.0.1:{}/photos/a.jpg", listed.port()),
    ] {
        for (target, status) in targets(&url) {
            let reply = house.get(&target);
            // Where such a path leads is nobody's to say.
            let is_refused =
                matches!(reply.status, 400 | 404) || reply.text().starts_with("Server Error: ");
            let is_dotted = url.contains("%252e") && is_refused;
            assert!(
                is_dotted || reply.status == status,
                "{target}: {} {}",
                reply.status,
                reply.text()
            );
        }
    }
    assert_eq!((listed.asked(), other.asked()), (0, 0));
    let missing = format!("http://127.0.0.1:{}/photos/a.jpg", listed.port());
    listed.answers(404, "", Vec::new());
    for (target, _) in targets(&missing) {
        assert_eq!(house.get(&target).status, 404, "{target}");
    }
}

#[test]
fn files_of_a_folder_are_read_by_the_urls_of_their_site_and_nobody_is_asked() {
    let own = "https://shop.test/media/";
    // The server of such a URL would be on the list, too, and is not asked.
    let house = House::with(&format!(
        "[imgproxy]\nprefix = \"/ip\"\n[thumbor]\nprefix = \"/th\"\n[weserv]\nprefix = \"/ws\"\n\
         [cloudflare]\nprefix = \"/cf\"\n[imgix]\nprefix = \"/ix\"\n[iiif]\nprefix = \"/iiif\"\n\
         [ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n\
         [[secure_link]]\nlocation = \"/shop/secure/\"\nsecure_link = \"$arg_md5,$arg_expires\"\n\
         secure_link_md5 = \"$secure_link_expires$uri swordfish\"\n\
         [[origin]]\nprefix = \"/shop\"\nfs.root = \"root\"\nfs.urls = [{own:?}, \"http://shop.test/media\"]\n\
         [[origin]]\nhttp.urls = [\"https://shop.test/\"]\n"
    ));
    for name in ["trip/große a.jpg", "secure/a.jpg", ".hidden/a.jpg"] {
        house.put_sample(name, "jpeg/420.jpg");
    }
    let statuses = |url: &str| {
        let all = targets(url).into_iter();
        let replies = all.map(|(target, _)| (house.get(&target), target));
        replies
            .map(|(reply, target)| (reply.status, format!("{target}: {}", reply.text())))
            .collect::<Vec<_>>()
    };
    for url in [
        format!("{own}a.jpg"),
        "http://shop.test/media/a.jpg".to_owned(),
        format!("{own}trip/gro%C3%9Fe%20a.jpg"),
    ] {
        for (status, told) in statuses(&url) {
            assert_eq!(status, 200, "{told}");
        }
    }
    for url in [
        format!("{own}secure/a.jpg"),
        format!("{own}.hidden/a.jpg"),
        format!("{own}trip/%252e%252e/secure/a.jpg"),
        format!("{own}none.jpg"),
        "http://other.test/media/a.jpg".to_owned(),
    ] {
        for (status, told) in statuses(&url) {
            assert!(status >= 400 && !matches!(status, 502 | 504), "{told}");
        }
    }
    let of = |url: &str| house.get(&format!("/ws/?w=40&h=30&fit=fill&output=png&url={url}"));
    let (by_path, by_url) = (of("/shop/a.jpg"), of(&format!("{own}a.jpg%3Fv=2")));
    assert_eq!(by_url.status, 200, "{}", by_url.text());
    assert!(by_path.header("etag").is_some());
    assert_eq!(by_url.header("etag"), by_path.header("etag"), "one file");
}

#[test]
fn of_several_folders_the_one_with_the_longest_url_has_a_file_and_prefixes_go_before() {
    let small = |name: &str| format!("/r/fit:8x8,as:json/{name}");
    let house = House::furnished(
        "[[origin]]\nprefix = \"/long/site\"\nfs.root = \"site\"\nfs.urls = [\"https://two.test/\"]\n\
         [[origin]]\nprefix = \"/m\"\nfs.root = \"media\"\nfs.urls = [\"https://two.test/media/\"]\n\
         [[origin]]\nprefix = \"/long/site/far\"\nfs.root = \"far\"\n",
        |folder| {
            for (name, from) in [
                ("site/media/a.jpg", "jpeg/444.jpg"),
                ("site/b.jpg", "jpeg/444.jpg"),
                ("site/far/c.jpg", "jpeg/444.jpg"),
                ("media/a.jpg", "photos/otter.jpg"),
                ("far/c.jpg", "photos/otter.jpg"),
            ] {
                let path = folder.join(name);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                std::fs::copy(sample(from), path).expect("a sample");
            }
        },
    );
    let facts = |name: &str| house.get(&small(name)).text();
    let by_url = |path: &str| facts(&format!("https://two.test{path}"));
    assert_eq!(by_url("/media/a.jpg"), facts("m/a.jpg"));
    assert_ne!(facts("m/a.jpg"), facts("long/site/media/a.jpg"));
    assert_eq!(by_url("/b.jpg"), facts("long/site/b.jpg"));
    // At its path is another origin's file, so that the URL names none.
    let hidden = house.get(&small("https://two.test/far/c.jpg"));
    assert_eq!(hidden.status, 403, "{}", hidden.text());
}

#[test]
fn each_url_has_results_of_its_own() {
    let small = std::fs::read(sample("jpeg/444.jpg")).expect("a sample");
    let origin = Origin::start(image_file(), "");
    let house = house(&[format!("http://127.0.0.1:{}", origin.port())], "");
    let base = format!("http://127.0.0.1:{}", origin.port());
    let get = |url: &str| house.get(&format!("/r/exact:40x30,as:png/{url}")).body;
    let first = get(&format!("{base}/a.jpg"));
    origin.answers(200, "", small);
    assert_eq!(get(&format!("{base}/a.jpg")), first, "it is remembered");
    let dotted = house.get(&format!("/r/exact:40x30,as:png/{base}/x/%252e%252e/a.jpg"));
    assert_eq!(dotted.status, 400, "it is no other spelling of it");
    let asked = origin.asked();
    for other in ["/a.jpg%3Fv=2", "/b.jpg", "/a.jpg%253Fv=2"] {
        assert_ne!(get(&format!("{base}{other}")), first, "{other}");
    }
    assert_eq!(origin.asked(), asked + 3);
}

#[test]
fn an_address_that_is_not_public_is_asked_only_where_a_key_allows_it() {
    let origin = Origin::start(image_file(), "");
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{}/", origin.port());
        let house = House::with(&format!("[[origin]]\nhttp.urls = [{url:?}]\n"));
        let reply = house.get(&format!("/r/exact:40x30/{url}a.jpg"));
        assert_eq!(reply.status, 502, "{url}");
        assert!(
            reply.text().contains("may not be asked"),
            "{}",
            reply.text()
        );
    }
    assert_eq!(origin.asked(), 0);
}

#[test]
fn redirects_stay_on_the_list() {
    let outer = Origin::start(Vec::new(), "");
    let inner = Origin::start(image_file(), "");
    let list = [
        format!("http://127.0.0.1:{}/", outer.port()),
        format!("http://127.0.0.1:{}/photos/", inner.port()),
    ];
    let house = house(&list, "");
    for (place, status) in [
        (
            format!("http://127.0.0.1:{}/photos/a.jpg", inner.port()),
            200,
        ),
        (
            format!("http://127.0.0.1:{}/private/a.jpg", inner.port()),
            502,
        ),
        (
            format!("http://localhost:{}/photos/a.jpg", inner.port()),
            502,
        ),
    ] {
        outer.answers(302, &format!("Location: {place}\r\n"), Vec::new());
        let before = inner.asked();
        let target = format!(
            "/r/exact:40x30/http://127.0.0.1:{}/{status}{}",
            outer.port(),
            place.len()
        );
        let reply = house.get(&target);
        assert_eq!(reply.status, status, "{place}: {}", reply.text());
        assert_eq!(inner.asked() > before, status == 200, "{place}");
        assert!(
            status == 200 || reply.text().contains("`http.urls`"),
            "{}",
            reply.text()
        );
    }
}

#[test]
fn headers_go_to_the_host_of_the_url_and_no_client_can_add_its_own() {
    let origin = Hostile::start(image_file());
    let house = House::with(&format!(
        "[[origin]]\nhttp.urls = [\"{}\"]\nhttp.bearer_env = \"CARGO_PKG_NAME\"\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    let target = format!("/r/exact:40x30/{}/good.jpg", origin.base());
    let reply = house.request("GET", &target, &[("Cookie", "a=b")]);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let head = origin.seen().concat().to_ascii_lowercase();
    assert!(
        head.contains("authorization: bearer andon-server"),
        "{head}"
    );
    assert!(!head.contains("cookie"), "{head}");
}

#[test]
fn an_origin_has_either_a_base_or_urls() {
    let parse = |keys: &str| {
        let text = format!("[[origin]]\n{keys}\n");
        let parsed = andon_server::Config::parse(&text, std::path::Path::new("/"));
        parsed.map_err(|error| error.to_string())
    };
    for (keys, why) in [
        (
            "fs.root = \"/\"\nfs.urls = [\"https://*.shop.test/\"]",
            "write each host by itself",
        ),
        ("http.redirects = 1", "either `base`"),
        (
            "http.base = \"http://a.test\"\nhttp.urls = [\"http://b.test\"]",
            "either `base`",
        ),
        (
            "prefix = \"/x\"\nhttp.urls = [\"http://b.test\"]",
            "the prefix \"/x\" means nothing",
        ),
        ("http.urls = [\"http://*/\"]", "first label"),
    ] {
        let error = parse(keys).expect_err(keys);
        assert!(error.contains(why), "{keys}: {error}");
    }
    assert!(parse("http.urls = [\"http://b.test\"]").is_ok());
}
