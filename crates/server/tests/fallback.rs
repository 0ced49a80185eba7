//! Images in place of those whose sources cannot be had.

use crate::common::origin::Origin;
use crate::common::{House, sample};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};

const KEYS: &str = "[[fallback]]\nimage = \"/none.jpg\"\n\
     [[fallback]]\nprefix = \"/shop\"\nimage = \"/none.jpg\"\nstatus = 0\nttl = \"5s\"\n";

fn house(keys: &str) -> House {
    let house = House::with(keys);
    house.put_sample("none.jpg", "jpeg/444.jpg");
    house.put("broken.jpg", b"no image at all");
    house
}

#[test]
fn a_source_that_cannot_be_had_is_replaced_and_made_as_the_url_says() {
    let house = house(KEYS);
    for source in ["missing.jpg", "broken.jpg"] {
        let reply = house.get(&format!("/r/exact:31x17/{source}"));
        assert_eq!((reply.status, reply.size()), (200, (31, 17)), "{source}");
        assert_eq!(
            reply.header("cache-control"),
            Some("max-age=60"),
            "{source}"
        );
        assert_eq!(
            reply.header("etag"),
            None,
            "the source may come at any moment"
        );
        assert!(reply.header("andon-fallback").is_some());
    }
    let reply = house.get("/r/exact:31x17/shop/missing.jpg");
    assert_eq!((reply.status, reply.size()), (404, (31, 17)));
    assert_eq!(reply.header("cache-control"), Some("max-age=5"));
    assert_eq!(reply.header("andon-fallback"), Some("not_found"));
    // Others are as they were.
    let reply = house.get("/r/exact:31x17/a.jpg");
    assert_eq!((reply.status, reply.header("andon-fallback")), (200, None));
    for (target, status) in [("/missing.jpg", 404), ("/r/fit:ax/missing.jpg", 400)] {
        assert_eq!(house.get(target).status, status, "{target}");
    }
    house.put_sample("missing.jpg", "jpeg/420.jpg");
    let mut reply = house.get("/r/exact:31x17/missing.jpg");
    for _ in 0..600 {
        if reply.header("andon-fallback").is_none() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        reply = house.get("/r/exact:31x17/missing.jpg");
    }
    assert_eq!(reply.header("andon-fallback"), None, "the source has come");
}

#[test]
fn without_a_fallback_or_with_one_that_is_missing_too_the_error_is_told() {
    for keys in ["", "[[fallback]]\nimage = \"/neither.jpg\"\n"] {
        let reply = house(keys).get("/r/exact:31x17/missing.jpg");
        assert_eq!(reply.status, 404, "{keys}");
        assert!(reply.text().contains("/missing.jpg"), "{}", reply.text());
    }
}

#[test]
fn imgproxys_urls_name_a_fallback_of_their_own() {
    let house = house("[imgproxy]\nprefix = \"/ip\"\n");
    let target = |url: &str| {
        let url = BASE64_URL_SAFE_NO_PAD.encode(url);
        format!("/ip/insecure/rs:force:31:17/fiu:{url}/plain/local:///missing.jpg")
    };
    let reply = house.get(&target("local:///none.jpg"));
    assert_eq!((reply.status, reply.size()), (200, (31, 17)));
    assert_eq!(
        house.get(&target("http://elsewhere.test/a.jpg")).status,
        404
    );
}

#[test]
fn weservs_urls_send_clients_on_but_only_to_what_is_served_here() {
    let origin = Origin::start(std::fs::read(sample("jpeg/420.jpg")).unwrap(), "");
    let served = format!("http://127.0.0.1:{}/b.jpg", origin.port());
    let house = house(&format!("[weserv]\nprefix = \"/ws\"\n{}", origin.keys()));
    let reply = house.get(&format!("/ws/?w=9&url=missing.jpg&default={served}"));
    assert_eq!(
        (reply.status, reply.header("location")),
        (302, Some(&*served))
    );
    let reply = house.get("/ws/?w=9&url=missing.jpg&default=http://elsewhere.test/b.jpg");
    assert_eq!(reply.status, 404);
    let reply = house.get(&format!("/ws/?w=9&url=a.jpg&default={served}"));
    assert_eq!(reply.status, 200);
}

#[test]
fn a_fallback_may_come_from_a_web_server_that_urls_name() {
    let origin = Origin::start(std::fs::read(sample("jpeg/420.jpg")).unwrap(), "");
    let base = format!("http://127.0.0.1:{}", origin.port());
    let keys = format!(
        "[imgproxy]\nprefix = \"/ip\"\n[[origin]]\nhttp.urls = [\"{base}/\"]\nallow = [\"127.0.0.1\"]\n\
         [[fallback]]\nimage = \"{base}/none.jpg\"\n"
    );
    let house = House::with(&keys);
    for target in [
        "/ip/insecure/rs:force:31:17/plain/local:///missing.jpg",
        "/r/exact:31x17/missing.jpg",
    ] {
        let reply = house.get(target);
        assert_eq!((reply.status, reply.size()), (200, (31, 17)), "{target}");
    }
    // Sources that are URLs have the fallback, too; and where it is missing itself, the error is told.
    let source = format!("/r/exact:31x17/{base}/a.jpg");
    origin.answers(404, "", Vec::new());
    let reply = house.get(&source);
    let told = (reply.status, reply.header("andon-fallback"));
    assert_eq!(told, (200, Some("not_found")), "{}", reply.text());
    let unknown = House::with(&keys);
    assert_eq!(unknown.get(&source).status, 404);
}

#[test]
fn a_fallback_and_a_watermark_that_no_origin_has_are_refused() {
    let origins = "[[origin]]\nprefix = \"/shop\"\nfs.root = \".\"\n[[origin]]\ns3.buckets = [\"photos\"]\n\
                   [[origin]]\nhttp.urls = [\"https://cdn.example/a/\"]\n";
    let checked = |rest: String| {
        let text = format!("{origins}{rest}");
        let config = andon_server::Config::parse(&text, std::path::Path::new("."))?;
        andon_server::check(&config, andon_codecs::ALL)
    };
    for (image, is_served) in [
        ("/shop/a.jpg", true),
        ("shop/a.jpg", true),
        ("s3://photos/a.jpg", true),
        ("https://cdn.example/a/b.jpg", true),
        ("/other/a.jpg", false),
        ("s3://assets/a.jpg", false),
        ("gs://photos/a.jpg", false),
        ("https://cdn.example/b.jpg", false),
    ] {
        let fallback = checked(format!("[[fallback]]\nimage = \"{image}\"\n"));
        let watermark = checked(format!(
            "[imgproxy]\nprefix = \"/ip\"\nwatermark.file = \"{image}\"\n"
        ));
        // A name without a slash is that of a file in a folder that is not there.
        let is_marked = is_served && image != "shop/a.jpg";
        for (checked, is_sound, key) in [
            (fallback, is_served, "fallback.image"),
            (watermark, is_marked, "imgproxy.watermark.file"),
        ] {
            match checked {
                Ok(()) => assert!(is_sound, "{key}: {image}"),
                Err(error) => {
                    let said = error.to_string();
                    assert!(
                        !is_sound && said.contains(key) && said.contains(image),
                        "{said}"
                    );
                }
            }
        }
    }
}
