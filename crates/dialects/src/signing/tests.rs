//! Tests with shared vectors and worked examples of signatures in front of targets, and with responses of nginx.

use proptest::prelude::*;

use super::{Keys, SecureLinkConfig, Signature, SigningConfig};
use crate::vectors;
use crate::{Ask, Config, Dialects, Fault, ImageRequest, Refusal};

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn signed(change: impl FnOnce(&mut Config)) -> Dialects {
    let mut config = Config::default();
    config.signing.keys = Keys::List(vec![
        "another key, of 27 bytes....".to_owned(),
        KEY.to_owned(),
    ]);
    change(&mut config);
    Dialects::new(&config).expect("a configuration")
}

fn linked(secure_link: &str, secure_link_md5: &str) -> Dialects {
    Dialects::new(&Config {
        secure_link: vec![SecureLinkConfig {
            location: "/secure/".to_owned(),
            secure_link: secure_link.to_owned(),
            secure_link_md5: secure_link_md5.to_owned(),
            secure_link_secret: String::new(),
            guards: None,
        }],
        ..Config::default()
    })
    .expect("a configuration")
}

fn nginx() -> Dialects {
    linked(
        "$arg_md5,$arg_expires",
        "$secure_link_expires$uri swordfish",
    )
}

fn fault(parsed: Result<ImageRequest, Refusal>) -> Fault {
    parsed.expect_err("a refusal").fault
}

#[test]
fn the_shared_vectors_hold() {
    let native = vectors::of("native").into_iter();
    for vector in native.filter(|vector| vector.url.starts_with("/~")) {
        vector.check(&signed(|_| {}));
    }
    for vector in vectors::of("secure_link") {
        vector.check(&nginx());
    }
}

#[test]
fn targets_are_signed_as_the_proposal_says() {
    let of = |expires, scope, target: &str| {
        let signature = Signature {
            expires,
            scope,
            ..Signature::default()
        };
        signature.of(KEY.as_bytes(), target).unwrap()
    };
    assert_eq!(
        of(0, 0, "/r/fit:250x250,q:80/trip/a.jpg"),
        "/~xZUZjLdO96qWkbP99ajA3E0oOs7KcNkDFFs_itm9QZo/r/fit:250x250,q:80/trip/a.jpg"
    );
    assert_eq!(
        of(1_893_456_000, 0, "/r/fit:250x250,q:80/trip/a.jpg"),
        "/~yjLqUuP70vlHQad9Uu3ples4_OLFwTr5it1wkUmBCo0.1893456000/r/fit:250x250,q:80/trip/a.jpg"
    );
    assert!(
        of(
            1_893_456_000,
            0,
            "/r/crop:0:0:50%25x50%25/trip/%C3%A4%20b.jpg"
        )
        .starts_with("/~woYYdIZv0VxQr9Mlkt7T_bsYDuGb9AQ7HUNgSA8kr4I.1893456000/")
    );
    assert!(
        of(0, 2, "/iiif/3/a/full/max/0/default.jpg")
            .starts_with("/~oFu-d3m-Mp4e6Qz7ir6fX2ZsUm2scWF8ywhFkQZv8Mg.0..2/iiif/")
    );
}

#[test]
fn a_signature_is_good_in_front_of_every_dialect_and_however_it_is_escaped() {
    let dialects = signed(|config| config.image_filter.prefix = "/".to_owned());
    let sign = |target: &str| Signature::default().of(KEY.as_bytes(), target).unwrap();
    for target in [
        "/small_light(dw=10)/a.jpg",
        "/image_filter(resize,5,-)/a.jpg",
        "/a.jpg",
        "//a.jpg",
        "/r/same/a.jpg?x=/?y",
    ] {
        let (plain, signed) = (
            dialects.parse(target).unwrap(),
            dialects.parse(&sign(target)).unwrap(),
        );
        assert_eq!(plain.rules.text(), signed.rules.text());
        assert_eq!(plain.source, signed.source);
    }
    let target = sign("/small_light(dw=10)/%C3%A4%20b.jpg");
    for escaped in [
        target.replace('(', "%28").replace(',', "%2c"),
        target.replace("%C3%A4", "%c3%a4"),
        target.replace("b.jpg", "%62.jpg"),
    ] {
        assert!(dialects.parse(&escaped).is_ok(), "{escaped}");
    }
    // An escaped slash never becomes one.
    let target = sign("/r/same/a%2Fb.jpg");
    assert_eq!(
        fault(dialects.parse(&target.replace("%2F", "/"))),
        Fault::Signature
    );
}

#[test]
fn what_is_not_signed_so_is_refused() {
    let dialects = signed(|_| {});
    let good = Signature {
        expires: 4_000_000_000,
        ..Signature::default()
    };
    let good = good.of(KEY.as_bytes(), "/r/same/a.jpg").unwrap();
    assert_eq!(
        dialects.parse(&good).unwrap().style.expires,
        Some(4_000_000_000)
    );
    for bad in [
        good.replace(".4000000000", ""),
        good.replace(".4000000000", ".4000000001"),
        good.replace(".4000000000", ".+4000000000"),
        good.replace(".4000000000", ".4000000000.nobody"),
        good.replace(".4000000000", ".4000000000.1"),
        good.replace(".4000000000", ".4000000000..2"),
        good.replace(".4000000000", ".4000000000..99"),
        good.replace(".4000000000", ".4000000000..0.0"),
        good.replace("same", "original"),
        good.replace("a.jpg", "b.jpg"),
        format!("{good}?x"),
        good.replace("/~", "/~A"),
        format!("/~{}", &good[10..]),
        "/~/r/same/a.jpg".to_owned(),
        "/~x/a.jpg".to_owned(),
    ] {
        assert_eq!(fault(dialects.parse(&bad)), Fault::Signature, "{bad}");
    }
    assert!(
        dialects
            .parse(&good.replace(".4000000000", ".4000000000.2.0"))
            .is_ok()
    );
}

#[test]
fn a_scope_leaves_the_rest_to_the_viewer() {
    let dialects = signed(|_| {});
    let scoped = Signature {
        scope: 2,
        ..Signature::default()
    };
    let target = scoped.of(KEY.as_bytes(), "/r/same/a.jpg").unwrap();
    assert!(
        dialects
            .parse(&target.replace("a.jpg", "b/c.jpg?d"))
            .is_ok()
    );
    assert!(dialects.parse(&target.replace("same", "original")).is_err());
}

#[test]
fn signatures_may_be_required_shortened_or_of_no_meaning() {
    let required = signed(|config| config.signing.required = true);
    assert_eq!(fault(required.parse("/r/same/a.jpg")), Fault::Signature);
    let target = Signature::default()
        .of(KEY.as_bytes(), "/r/same/a.jpg")
        .unwrap();
    assert!(required.parse(&target).is_ok());
    // 16 bytes are 22 characters of base64. Unused bits of the last one must be zero.
    let short = {
        let bytes = crate::signature::base64::read_bare(&target[2..45]).unwrap();
        let text = crate::signature::base64::bare(&bytes[..16]);
        format!("/~{text}/r/same/a.jpg")
    };
    assert_eq!(fault(required.parse(&short)), Fault::Signature);
    assert!(
        signed(|config| config.signing.bytes = 16)
            .parse(&short)
            .is_ok()
    );
    // Without keys, signatures are skipped without a check, and other segments are names of files.
    let none = Dialects::new(&Config::default()).unwrap();
    assert_eq!(none.parse(&target).unwrap().ask, Ask::Image);
    assert_eq!(
        none.parse("/~me/a.jpg").unwrap().source.as_str(),
        "~me/a.jpg"
    );
}

#[test]
fn rewrites_act_behind_the_signature() {
    let dialects = signed(|config| {
        config.rewrite = vec![crate::Rewrite {
            query: Vec::new(),
            from: "^/w(\\d+)/(.+)$".to_owned(),
            to: "/small_light(dw=$1)/$2".to_owned(),
            opens: false,
        }];
    });
    let target = Signature::default()
        .of(KEY.as_bytes(), "/w10/a.jpg")
        .unwrap();
    assert_eq!(
        dialects.parse(&target).unwrap().rules.text(),
        "small_light(dw=10)"
    );
}

#[test]
fn keys_that_cannot_work_are_refused_at_the_start() {
    for change in [
        |config: &mut SigningConfig| config.keys = Keys::List(vec!["short".to_owned()]),
        |config: &mut SigningConfig| {
            config.keys = Keys::Named([("a.b".to_owned(), KEY.to_owned())].into())
        },
        |config: &mut SigningConfig| config.required = true,
        |config: &mut SigningConfig| config.bytes = 8,
    ] {
        let mut config = Config::default();
        change(&mut config.signing);
        assert!(Dialects::new(&config).is_err());
    }
}

#[test]
fn secure_links_are_nginxs() {
    let nginx = nginx();
    let good = "/secure/a.jpg?md5=XtpGzfejz0U9crJSA7ilCg&expires=2147483647";
    assert_eq!(
        nginx.parse(good).unwrap().style.expires,
        Some(2_147_483_648)
    );
    // The path is decoded and its slashes are merged. Names of arguments are case-insensitive.
    assert!(
        nginx
            .parse(&good.replace("/a.jpg", "//%61.jpg").replace("md5", "MD5"))
            .is_ok()
    );
    assert!(nginx.parse(&good.replace("ilCg", "ilCg==")).is_ok());
    let long_past = "/secure/a.jpg?md5=liQqgE2wqeVkz9i200RqVg&expires=1";
    assert_eq!(nginx.parse(long_past).unwrap().style.expires, Some(2));
    for bad in [
        good.replace("ilCg", "ilC"),
        good.replace("ilCg", "ilCh9"),
        good.replace("ilCg", "ilCg==="),
        good.replace("2147483647", "2147483646"),
        good.replace("2147483647", "0"),
        good.replace("2147483647", "x"),
        good.replace("&expires=2147483647", ""),
        "/secure/a.jpg".to_owned(),
        "/secure/../secure/a.jpg?md5=&expires=".to_owned(),
    ] {
        assert_eq!(fault(nginx.parse(&bad)), Fault::Signature, "{bad}");
    }
    // Other paths are not checked, but do not lead around the check.
    assert!(nginx.parse("/open/a.jpg").is_ok());
    assert_eq!(
        fault(nginx.parse("/open/../%73ecure/a.jpg")),
        Fault::Signature
    );
    // Without `,$arg_expires`, a link does not expire.
    let timeless = linked("$arg_md5", "${uri} swordfish");
    let md5 = crate::signature::base64::bare(&crate::signature::md5(&[b"/secure/a.jpg swordfish"]));
    let parsed = timeless.parse(&format!("/secure/a.jpg?md5={md5}")).unwrap();
    assert_eq!(parsed.style.expires, None);
}

#[test]
fn the_older_form_signs_the_end_of_a_path_in_the_path() {
    let config = |change: &dyn Fn(&mut SecureLinkConfig)| {
        let mut link = SecureLinkConfig {
            location: "/p/".to_owned(),
            secure_link: String::new(),
            secure_link_md5: String::new(),
            secure_link_secret: "segredo".to_owned(),
            guards: None,
        };
        change(&mut link);
        Dialects::new(&Config {
            secure_link: vec![link],
            rewrite: vec![crate::Rewrite {
                query: Vec::new(),
                from: "^/p/[0-9a-fA-F]{32}/(.*)$".to_owned(),
                to: "/$1".to_owned(),
                opens: false,
            }],
            ..Config::default()
        })
    };
    let dialects = config(&|_| {}).unwrap();
    let hex = |rest: &str| {
        let digest = crate::signature::md5(&[rest.as_bytes(), b"segredo"]);
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let right = hex("x/a b.jpg");
    for good in [
        format!("/p/{right}/x/a%20b.jpg"),
        format!("/p/{}/x//%61 b.jpg", right.to_uppercase()),
    ] {
        let request = dialects.parse(&good).expect(&good);
        assert_eq!(request.source, crate::Source::from_path("x/a b.jpg"));
    }
    for bad in [
        format!("/p/{right}/x/a%20c.jpg"),
        format!("/p/{}/", hex("")),
        format!("/p/{}/x/a%20b.jpg", &right[1..]),
        "/p/x/a%20b.jpg".to_owned(),
        "/p/".to_owned(),
    ] {
        assert_eq!(fault(dialects.parse(&bad)), Fault::Signature, "{bad}");
    }
    assert!(config(&|link| link.secure_link_secret.clear()).is_err());
    assert!(config(&|link| link.secure_link = "$arg_md5".to_owned()).is_err());
}

#[test]
fn an_expression_with_an_unknown_variable_is_refused_at_the_start() {
    let config = Config {
        secure_link: vec![SecureLinkConfig {
            location: "/".to_owned(),
            secure_link: "$arg_md5".to_owned(),
            secure_link_md5: "$remote_addr$uri".to_owned(),
            secure_link_secret: String::new(),
            guards: None,
        }],
        ..Config::default()
    };
    let error = Dialects::new(&config).unwrap_err().to_string();
    assert!(error.contains("$remote_addr"), "{error}");
}

proptest! {
    #[test]
    fn what_is_signed_reads_back(rest in "[a-zA-Z0-9%/.~?&=]{0,30}", expires in 0_u64..1 << 40, scope in 0_usize..4) {
        let signature = Signature { expires, scope, key: "2".to_owned() };
        let dialects = signed(|_| {});
        if let Ok(target) = signature.of(KEY.as_bytes(), &rest) {
            let refused = dialects.parse(&target).err().map(|refusal| refusal.fault);
            prop_assert_ne!(refused, Some(Fault::Signature), "{}", target);
        }
    }

    #[test]
    fn no_signature_panics(mark in "[A-Za-z0-9_.-]{0,60}", rest in "[a-z%/]{0,9}") {
        let _ = signed(|_| {}).parse(&format!("/~{mark}/{rest}"));
    }
}
