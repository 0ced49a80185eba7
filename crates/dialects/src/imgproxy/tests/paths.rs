//! Tests of the grammar of paths, of signatures and of sources.

use proptest::prelude::*;

use super::super::path::repair;
use super::{ImgproxyConfig, common, dialects, status};
use crate::{Ask, Fault, ImageRequest, Settings, Source};

/// Returns a configuration with the key `secret` and the salt `hello`.
fn signed() -> ImgproxyConfig {
    ImgproxyConfig {
        keys: vec!["736563726574".to_owned()],
        salts: vec!["68656C6C6F".to_owned()],
        weak_keys: true,
        ..common()
    }
}

const PATH: &str =
    "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png";
const SIGNATURE: &str = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8";

#[test]
fn what_proxies_did_to_a_path_is_undone() {
    for (received, right) in [
        ("_/w%3A5/plain/a", "_/w:5/plain/a"),
        ("_/w%3a5/plain/a", "_/w%3a5/plain/a"),
        ("_/plain/a%3Ab", "_/plain/a%3Ab"),
        ("_/plain/http:/a/b", "_/plain/http://a/b"),
        ("_/plain/http://a/b", "_/plain/http://a/b"),
        ("_/plain/local:/a", "_/plain/local:///a"),
        ("_/plain/local:///a", "_/plain/local:///a"),
        ("_/plain/x/http:/a", "_/plain/x/http:/a"),
        ("_/w%3A5/aHR0/plain", "_/w:5/aHR0/plain"),
        ("plain/s3:/b/k%3A", "plain/s3://b/k%3A"),
    ] {
        assert_eq!(repair(received), right, "{received}");
    }
}

#[test]
fn a_signature_holds_for_the_mended_path_and_no_other() {
    let dialects = dialects(signed());
    let url = Source::Url("http://example.com/images/curiosity.jpg".to_owned());
    for path in [
        PATH.to_owned(),
        PATH.replace(':', "%3A"),
        format!("{PATH}?x=1"),
    ] {
        let request = dialects.parse(&format!("/{SIGNATURE}{path}")).unwrap();
        assert_eq!(request.source, url);
    }
    let changed = SIGNATURE.replace('H', "I");
    for (signature, path) in [
        (&*changed, PATH),
        (SIGNATURE, &PATH.replace("300", "301")),
        ("unsafe", PATH),
        (&SIGNATURE[..42], PATH),
        (&format!("{SIGNATURE}="), PATH),
    ] {
        let refusal = dialects.parse(&format!("/{signature}{path}")).unwrap_err();
        assert_eq!(
            (refusal.fault, status(&refusal)),
            (Fault::Signature, 403),
            "{signature}"
        );
    }
}

#[test]
fn any_of_several_keys_may_sign_and_signatures_may_be_short() {
    let mut config = signed();
    config.keys.insert(0, "ab".repeat(20));
    config.salts.insert(0, "cd".repeat(20));
    assert!(
        dialects(config.clone())
            .parse(&format!("/{SIGNATURE}{PATH}"))
            .is_ok()
    );
    config.signature_size = 8;
    let dialects = dialects(config);
    assert!(
        dialects
            .parse(&format!("/{}{PATH}", "oKfUtW34Dvp"))
            .is_err()
    );
    let eight = crate::signature::base64::bare(
        &crate::signature::base64::read_bare(SIGNATURE).unwrap()[..8],
    );
    assert!(dialects.parse(&format!("/{eight}{PATH}")).is_ok());
}

#[test]
fn without_keys_every_signature_will_do_but_an_option() {
    let dialects = dialects(common());
    assert!(dialects.parse(&format!("/unsafe{PATH}")).is_ok());
    assert_eq!(status(&dialects.parse(PATH).unwrap_err()), 403);
    for missing in [
        "/unsafe",
        "/unsafe/",
        "//w:5/plain/local:///a",
        "/favicon.ico",
        "/.well-known/x",
    ] {
        assert_eq!(
            status(&dialects.parse(missing).unwrap_err()),
            404,
            "{missing}"
        );
    }
    assert!(dialects.parse("/").unwrap().is_file());
}

#[test]
fn sources_are_plain_or_base64() {
    let dialects = dialects(common());
    let path = |path: &str| Source::from_path(path);
    for (written, source, format) in [
        ("plain/local:///a%20b/c.jpg", path("a b/c.jpg"), None),
        ("plain/local:///a%2520b", path("a%20b"), None),
        ("plain/local:///a+b@png", path("a+b"), Some("png")),
        ("plain/local:///a%40b%3Fc@", path("a@b?c"), None),
        ("plain/local:/a", path("a"), None),
        (
            "bG9jYWw6Ly8vNDAweDMwMC5qcGc.webp",
            path("400x300.jpg"),
            Some("webp"),
        ),
        ("bG9jYWw6L/y8vNDAweDMw/MC5qcGc==", path("400x300.jpg"), None),
        ("bG9jYWw6Ly8vYQ.", path("a"), None),
        (
            "plain/https:/a.example/x%20y",
            Source::Url("https://a.example/x y".to_owned()),
            None,
        ),
    ] {
        let request = dialects.parse(&format!("/_/w:5/{written}")).expect(written);
        assert_eq!(request.source, source, "{written}");
        let asked = request.rules.output().format.as_ref();
        assert_eq!(asked.map(|format| format.as_str()), format, "{written}");
    }
    for wrong in [
        "plain/local:///a@b@jpg",
        "plain/local:///%zz",
        "plain/local:///%00",
        "plain/",
        "plain/@png",
        "plain",
        "plain/a.jpg",
        "plain/local:///a@nope",
        "abc.def.jpg",
        ".jpg",
        "a+b",
        "",
        "/",
        "enc/aaaa",
    ] {
        let refusal = dialects.parse(&format!("/_/w:5/{wrong}")).unwrap_err();
        assert_eq!(status(&refusal), 404, "{wrong}");
    }
}

#[test]
fn a_segment_without_a_colon_ends_the_options() {
    let dialects = dialects(common());
    assert_eq!(
        status(&dialects.parse("/_/w:100/foo/h:50/x").unwrap_err()),
        404
    );
    assert_eq!(
        status(&dialects.parse("/_/fill/100/100/ce/0/aHR0cA").unwrap_err()),
        404
    );
    let request = dialects.parse("/_/w:100/bG9j/YWw6/Ly8vYQ").unwrap();
    assert_eq!(request.source.as_str(), "a");
}

#[test]
fn sources_are_replaced_based_and_allowed_in_this_order() {
    let config = ImgproxyConfig {
        url_replacements: vec![("^mine/(.*)".to_owned(), "shop/$1".to_owned())],
        base_url: "https://a.example/".to_owned(),
        allowed_sources: vec!["https://*.example/shop/".to_owned()],
        base64_url_includes_filename: true,
        ..common()
    };
    let dialects = dialects(config);
    for written in [
        "plain/mine/x.jpg",
        "plain/https://a.example/shop/x.jpg",
        "bWluZS94LmpwZw/name.of.it.jpg",
    ] {
        let request = dialects.parse(&format!("/_/w:5/{written}")).unwrap();
        assert_eq!(request.source.as_str(), "https://a.example/shop/x.jpg");
    }
    for other in [
        "plain/yours/x.jpg",
        "plain/https://b.example/x",
        "plain/local:///x",
    ] {
        let refusal = dialects.parse(&format!("/_/w:5/{other}")).unwrap_err();
        assert_eq!(
            (refusal.fault, status(&refusal)),
            (Fault::Source, 404),
            "{other}"
        );
    }
}

#[test]
fn encrypted_sources_are_read_from_signed_urls_and_fail_alike() {
    const SEALED: &str =
        "p5VjorNdhs7mRRw8gA9TWoRlGci3l1kuzqN43UQlRaRIQ0qtBKW3qFABIsx-ZRz_cVc8iVTYbhsNsxNBL1BHaQ";
    let key = "1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1";
    let config = ImgproxyConfig {
        source_key: Some(key.to_owned()),
        trusted_signatures: vec!["unsafe".to_owned()],
        ..signed()
    };
    let open = dialects(config.clone());
    let request = open
        .parse(&format!("/unsafe/rs:fit:300:300/enc/{SEALED}.png"))
        .unwrap();
    assert_eq!(
        request.source.as_str(),
        "http://example.com/images/curiosity.jpg"
    );
    let changed = SEALED.replace("aQ", "aA");
    let sentence = |sealed: &str| {
        let refusal = open
            .parse(&format!("/unsafe/rs:fit:300:300/enc/{sealed}"))
            .unwrap_err();
        (refusal.why.clone(), status(&refusal))
    };
    let one = sentence(&changed);
    for broken in [
        "",
        "AAAA",
        "a.b.c",
        "*",
        &SEALED[..43],
        &format!("{}A", &SEALED[..64]),
    ] {
        assert_eq!(sentence(broken), one, "{broken}");
    }
    let unsigned = ImgproxyConfig {
        keys: Vec::new(),
        salts: Vec::new(),
        ..config
    };
    let error = unsigned.dialect().unwrap_err();
    assert!(error.to_string().contains("signed"), "{error}");
}

#[test]
fn what_is_written_is_signed_and_reads_back() {
    let config = ImgproxyConfig {
        quality: 70,
        ..signed()
    };
    let dialects = dialects(config);
    let own = |request: &ImageRequest| {
        let mut written = dialects.write(request);
        written
            .find(|(name, _)| *name == "imgproxy")
            .map(|(_, target)| target)
    };
    let trusted = ImgproxyConfig {
        trusted_signatures: vec!["_".to_owned()],
        quality: 70,
        ..signed()
    };
    let trusted = super::dialects(trusted);
    for (asked, written) in [
        (
            "rs:fill:100:50/w:80/plain/local:///a%20b.jpg",
            "rt:fill/w:80/h:50/plain/local:///a%20b.jpg",
        ),
        (
            "q:90/exp:9999999999/plain/http://a.example/x%40y@webp",
            "q:90/f:webp/exp:9999999999/plain/http://a.example/x%40y",
        ),
        (
            "w:9/q:5/-/h:7/q:8/plain/local:///a",
            "w:9/q:5/-/h:7/q:8/plain/local:///a",
        ),
        (
            "sm:1/c:0.5:10:so/plain/local:///a",
            "c:0.5:10:so:0:0/plain/local:///a",
        ),
    ] {
        let request = trusted.parse(&format!("/_/{asked}")).unwrap();
        let target = own(&request).expect(asked);
        assert!(target.ends_with(&format!("/{written}")), "{target}");
        let again = dialects.parse(&target).unwrap();
        assert_eq!(again.rules.text(), request.rules.text());
        assert_eq!((again.ask, again.source), (Ask::Image, request.source));
    }
}

proptest! {
    #[test]
    fn whatever_is_written_reads_back_as_itself(
        options in "((rs:(fit|fill|force)|s|w|h|z|dpr|g:(no|fp|sm)|c|t|pd|bg|q|fq|f|wm|ex|fl|rot|mw|ba|maf):[0-9.:a-f]{0,6}/(-/)?){0,3}",
        source in "(plain/local:///[a-z%@0-9 ]{1,6}|[a-zA-Z0-9]{4,8})",
    ) {
        let dialects = dialects(common());
        if let Ok(request) = dialects.parse(&format!("/_/{options}{source}")) {
            for (_, written) in dialects.write(&request) {
                let again = dialects.parse(&written).unwrap();
                prop_assert_eq!(again.rules.text(), request.rules.text());
                let once_more: Vec<_> = dialects.write(&again).collect();
                prop_assert!(once_more.iter().any(|(_, target)| *target == written));
            }
        }
    }

    #[test]
    fn no_path_panics(path in any::<String>(), width in 1..=u32::MAX, height in 1..=u32::MAX) {
        let _ = dialects(common()).parse(&format!("/_/{path}"));
        if let Ok(request) = super::ask(&common(), &path) {
            let _ = request.rules.resolve(&andon_recipe::Facts::new("webp", width, height));
        }
    }
}

#[test]
fn keys_of_buckets_are_taken_as_they_are() {
    for (written, url) in [
        ("s3%3A%2F%2Fshop%2FNr%235.jpg", "s3://shop/Nr%235.jpg"),
        (
            "s3%3A%2F%2Fshop%2F50%2520off.jpg",
            "s3://shop/50%2520off.jpg",
        ),
        (
            "gs%3A%2F%2Fshop%2F100%25%231%25.jpg",
            "gs://shop/100%25%231%25.jpg",
        ),
        (
            "s3%3A%2F%2Fshop%2Fgro%C3%9Fe%20a.jpg",
            "s3://shop/große a.jpg",
        ),
        // In HTTP URLs, the escapes that remain belong to the URL.
        (
            "https%3A%2F%2Fa.example%2F50%2520off.jpg",
            "https://a.example/50%20off.jpg",
        ),
    ] {
        let target = format!("/insecure/w:30/plain/{written}");
        let request = dialects(common()).parse(&target).expect(&target);
        assert_eq!(request.source, Source::Url(url.to_owned()), "{target}");
        let again = dialects(common())
            .write(&request)
            .map(|(_, target)| target)
            .next()
            .expect(url);
        assert_eq!(
            dialects(common()).parse(&again).expect(&again).source,
            request.source,
            "{again}"
        );
    }
}
