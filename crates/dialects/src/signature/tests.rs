//! Tests with the worked examples of the programs that the dialects come from, and with those of RFC 2202 and RFC 4231.

use super::{Digest, Key, base64, md5, same, unhex};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn digests_are_those_of_the_standards() {
    let message: &[&[u8]] = &[b"what do ya want ", b"for nothing?"];
    for (digest, right) in [
        (Digest::Sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            Digest::Sha256,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            Digest::Sha512,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
    ] {
        assert_eq!(hex(&digest.sign(b"Jefe", message)), right, "{digest:?}");
    }
    assert_eq!(
        hex(&md5(&[b"MYT0KEN", b"/image/file.png?w=400"])),
        "2071b7fc73b91649c73d4e8444f8dc5f"
    );
    assert_eq!(
        base64::bare(&md5(&[b"2147483647/secure/a.jpg swordfish"])),
        "XtpGzfejz0U9crJSA7ilCg"
    );
}

#[test]
fn imagors_signatures_are_made() {
    let path: &[&[u8]] =
        &[b"500x500/top/raw.githubusercontent.com/cshum/imagor/master/testdata/gopher.png"];
    assert_eq!(
        base64::padded(&Digest::Sha1.sign(b"mysecret", path)),
        "cST4Ko5_FqwT3BDn-Wf4gO3RFSk="
    );
    assert_eq!(
        base64::padded(&Digest::Sha256.sign(b"mysecret", path)),
        "IGEn3TxngivD0jy4uuiZim2bdUCvhcnVi1Nm0xGyd9E="
    );
}

#[test]
fn a_signature_has_one_text() {
    assert_eq!(base64::bare(&[255, 239]), "_-8");
    assert_eq!(base64::read_bare("_-8"), Some(vec![255, 239]));
    // Unused bits of the last character must be zero, and padding is not accepted.
    for other in ["_-9", "_-8=", "/+8", "_-8 ", "_-8\n", "_"] {
        assert_eq!(base64::read_bare(other), None, "{other:?}");
    }
    for source in ["_-8", "_-9", "_-8=", "_-8=="] {
        assert_eq!(base64::read(source), Some(vec![255, 239]), "{source}");
    }
    assert_eq!(base64::read("_-=8"), None);
}

#[test]
fn what_differs_anywhere_is_not_the_same() {
    assert!(same(b"abc", b"abc"));
    for other in [&b"abd"[..], b"bbc", b"ab", b"abcd", b""] {
        assert!(!same(other, b"abc"));
    }
}

#[test]
fn weak_keys_are_refused_unless_they_are_meant() {
    for weak in [
        "MY_SECURE_KEY",
        "test",
        "fifteen letters",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        let key = |meant| Key::new("x.key", weak.as_bytes().to_vec(), meant);
        let error = key(false).unwrap_err().to_string();
        assert!(error.contains("weak_keys = true"), "{error}");
        assert!(!error.contains(weak), "{error}");
        assert_eq!(key(true).unwrap().bytes(), weak.as_bytes());
    }
    assert!(Key::new("x.key", Vec::new(), true).is_err());
    let sound = Key::from_hex(
        "x.key",
        "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
        false,
    );
    assert_eq!(format!("{:?}", sound.unwrap()), "Key(…)");
}

#[test]
fn hexadecimal_is_pairs_of_digits() {
    assert_eq!(unhex("00fFA1"), Some(vec![0, 255, 161]));
    for wrong in ["0", "0g", "+1", "é", " 00"] {
        assert_eq!(unhex(wrong), None, "{wrong}");
    }
}
