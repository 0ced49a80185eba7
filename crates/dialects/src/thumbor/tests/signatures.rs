//! Tests of signatures: worked examples of thumbor and imagor, and the security holes that they had.

use super::{imagor, thumbor};
use crate::signature::Digest;
use crate::{Config, Dialects, ImagorConfig, ThumborConfig};

const GOOD: &str = "/8ammJH8D-7tXy6kU3lTvoXlhu4o=/300x200/my.server.com/some/path/to/image.jpg";

#[test]
fn the_text_is_signed_as_received() {
    assert!(thumbor().parse(GOOD).is_ok());
    assert!(thumbor().parse(&GOOD.replace('=', "%3D")).is_ok());
    // The signature does not cover the query.
    assert!(thumbor().parse(&format!("{GOOD}?v=2")).is_ok());
    for bad in [
        GOOD.replace("4o=", "4p="),
        GOOD.replace("4o=", "4o"),
        GOOD.replace("300x200", "300x201"),
        GOOD.replace("some/path", "some%2Fpath"),
        GOOD.replace("/300", "//300"),
        "/300x200/a.jpg".to_owned(),
        "/unsafe".to_owned(),
        "/".to_owned(),
    ] {
        assert!(thumbor().parse(&bad).is_err(), "{bad}");
    }
}

#[test]
fn one_signature_is_cut_off_and_no_more() {
    // thumbor removed each further copy of the signature from the text, so that a signature was valid for other URLs.
    let signature = "8ammJH8D-7tXy6kU3lTvoXlhu4o=";
    for smuggled in [
        format!("/{signature}/300x200/my.server.com/some/{signature}/path/to/image.jpg"),
        format!("/{signature}/300x{signature}200/my.server.com/some/path/to/image.jpg"),
        format!("/{signature}/{signature}/300x200/my.server.com/some/path/to/image.jpg"),
        format!("/{signature}/300x200/my.server.com/so/{signature}/me/path/to/image.jpg"),
        format!("/unsafe{}", GOOD.replace("300x200", "300x200/unsafe")).replace("unsafe/8", "x/8"),
    ] {
        assert!(thumbor().parse(&smuggled).is_err(), "{smuggled}");
    }
}

#[test]
fn imagor_signs_with_other_digests_and_cuts_characters() {
    let path = "500x500/top/raw.githubusercontent.com/cshum/imagor/master/testdata/gopher.png";
    let dialects = |digest, truncate| {
        Dialects::new(&Config {
            imagor: ImagorConfig {
                prefix: "/i".to_owned(),
                keys: vec![
                    "another key, of 27 bytes....".to_owned(),
                    "mysecret".to_owned(),
                ],
                weak_keys: true,
                digest,
                truncate,
                ..ImagorConfig::default()
            },
            ..Config::default()
        })
        .unwrap()
    };
    let sha256 = "IGEn3TxngivD0jy4uuiZim2bdUCvhcnVi1Nm0xGyd9E=";
    let good = |dialects: &Dialects, signature: &str| {
        dialects.parse(&format!("/i/{signature}/{path}")).is_ok()
    };
    assert!(good(
        &dialects(Digest::Sha1, 0),
        "cST4Ko5_FqwT3BDn-Wf4gO3RFSk="
    ));
    assert!(good(&dialects(Digest::Sha256, 0), sha256));
    assert!(good(&dialects(Digest::Sha256, 28), &sha256[..28]));
    assert!(!good(&dialects(Digest::Sha256, 28), sha256));
    assert!(!good(&dialects(Digest::Sha1, 0), sha256));
    assert!(!good(&dialects(Digest::Sha1, 0), "unsafe"));
    // The signature remains valid if a proxy escapes the whole path.
    let escaped = path.replace('/', "%2F");
    let target = format!("/i/cST4Ko5_FqwT3BDn-Wf4gO3RFSk=%2F{escaped}");
    assert!(dialects(Digest::Sha1, 0).parse(&target).is_ok());
    assert!(imagor().parse("/300x200/a.jpg").is_err());
    assert!(
        imagor()
            .parse("/adaptive-full-fit-in/300x200/a.jpg")
            .is_err()
    );
}

#[test]
fn what_is_written_is_signed() {
    let dialects = thumbor();
    let request = dialects
        .parse("/unsafe/300x200/my.server.com/some/path/to/image.jpg")
        .unwrap();
    let written: Vec<_> = dialects.write(&request).collect();
    assert_eq!(written, [("thumbor", GOOD.to_owned())]);
}

#[test]
fn a_key_that_everybody_knows_is_refused_at_the_start() {
    for keys in [vec!["MY_SECURE_KEY".to_owned()], vec![String::new()]] {
        let thumbor = ThumborConfig {
            prefix: "/".to_owned(),
            keys,
            ..ThumborConfig::default()
        };
        let config = Config {
            thumbor,
            ..Config::default()
        };
        assert!(Dialects::new(&config).is_err());
    }
    let mut config = Config::default();
    config.imagor.prefix = "/".to_owned();
    let error = Dialects::new(&config).unwrap_err().to_string();
    assert!(error.contains("allow_unsafe"), "{error}");
}
