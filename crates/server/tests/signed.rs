//! Signed URLs over a socket: Andon's own signature in front of any dialect, and nginx's `secure_link`.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::common::House;
use andon_dialects::signature::{base64, md5};
use andon_dialects::signing::Signature;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn house(keys: &str) -> House {
    House::with(&format!("[signing]\nkeys = [\"{KEY}\"]\n{keys}"))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// Returns the target with a signature that is valid until `expires` (Unix time in seconds; 0: for ever) and covers the
/// first `scope` path segments (0: all of them and the query).
fn signed(expires: u64, scope: usize, target: &str) -> String {
    let signature = Signature {
        expires,
        scope,
        ..Signature::default()
    };
    signature.of(KEY.as_bytes(), target).unwrap()
}

#[test]
fn a_signature_opens_any_dialect_and_nothing_else() {
    let house = house("required = true\n[iiif]\nprefix = \"/iiif/3\"\n");
    for target in [
        "/r/fit:100x100/a.jpg",
        "/small_light(dw=100)/a.jpg",
        "/iiif/3/a.jpg/full/100,/0/default.jpg",
        "/a.jpg",
    ] {
        let good = signed(0, 0, target);
        assert_eq!(house.get(&good).status, 200, "{good}");
        assert_eq!(house.get(target).status, 403, "{target}");
        let other = good.replace("/a.jpg", "/b.jpg");
        assert_eq!(house.get(&other).status, 403, "{other}");
    }
    // A viewer builds the rest.
    let scoped = signed(0, 3, "/iiif/3/a.jpg/full/100,/0/default.jpg");
    assert_eq!(house.get(&scoped).status, 200);
    let another = scoped.replace("full/100,", "0,0,50,50/20,");
    assert_eq!(house.get(&another).status, 200, "{another}");
    let elsewhere = scoped.replace("a.jpg", "b.jpg");
    assert_eq!(house.get(&elsewhere).status, 403, "{elsewhere}");
}

#[test]
fn an_expired_url_is_gone_although_its_result_is_cached() {
    let house = house("");
    let target = "/r/fit:100x100/a.jpg";
    let good = house.get(&signed(now() + 600, 0, target));
    assert_eq!(good.status, 200);
    let caching = good.header("cache-control").unwrap_or_default();
    let seconds = caching.strip_prefix("max-age=").unwrap_or_default();
    let seconds: u64 = seconds.parse().unwrap_or_else(|_| panic!("{caching}"));
    assert!((1..=600).contains(&seconds), "{caching}");
    for _ in 0..2 {
        let gone = house.get(&signed(now() - 1, 0, target));
        assert_eq!(gone.status, 410, "{}", gone.text());
        assert_eq!(gone.header("cache-control"), Some("no-store"));
    }
    let wrong = house.get(&signed(now() + 600, 0, target).replace("fit:100", "fit:101"));
    assert_eq!(wrong.status, 403);
    assert_eq!(wrong.header("cache-control"), Some("no-store"));
}

#[test]
fn a_file_tells_for_how_long_its_url_is_good_whichever_way_it_comes() {
    let house = house("");
    let url = signed(now() + 600, 0, "/a.jpg");
    let mut client = house.client();
    for _ in 0..3 {
        let reply = client.get(&url);
        let caching = reply.header("cache-control").unwrap_or_default();
        let seconds = caching
            .strip_prefix("max-age=")
            .and_then(|it| it.parse().ok());
        let seconds: u64 = seconds.unwrap_or_else(|| panic!("{caching}"));
        assert!((1..=600).contains(&seconds), "{caching}");
    }
    let gone = signed(now() - 1, 0, "/a.jpg");
    assert_eq!(client.get(&gone).status, 410);
}

#[test]
fn nginxs_secure_link_guards_a_location_in_any_dialect() {
    let house = house(
        "[image_filter]\nprefix = \"/\"\n\
         [[rewrite]]\nfrom = \"^/secure/(.*)$\"\nto = \"/image_filter(resize,100,-)/$1\"\n\
         [[secure_link]]\nlocation = \"/secure/\"\nsecure_link = \"$arg_md5,$arg_expires\"\n\
         secure_link_md5 = \"$secure_link_expires$uri swordfish\"\n",
    );
    let link = |expires: u64| {
        let signed = format!("{expires}/secure/a.jpg swordfish");
        let md5 = base64::bare(&md5(&[signed.as_bytes()]));
        format!("/secure/a.jpg?md5={md5}&expires={expires}")
    };
    assert_eq!(house.get(&link(now() + 600)).size(), (100, 75));
    assert_eq!(house.get(&link(1)).status, 410);
    assert_eq!(house.get("/secure/a.jpg").status, 403);
    let other = link(now() + 600).replace("a.jpg", "b.jpg");
    assert_eq!(house.get(&other).status, 403);
}
