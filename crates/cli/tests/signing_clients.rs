//! The programs in examples/sign, run by their own interpreters: they sign as the server does.

use std::path::{Path, PathBuf};
use std::process::Command;

use andon_dialects::signing::Signature;
use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/sign")
        .join(name)
}

/// What each URL of the shared file is when it is signed, there and by the server.
fn signed() -> Vec<String> {
    let text = std::fs::read_to_string(example("vectors.json")).expect("the vectors");
    let vectors: Vec<Value> = serde_json::from_str(&text).expect("a list");
    let sign = |vector: &Value| {
        let text = |key: &str| vector[key].as_str().expect(key);
        let number = |key: &str| vector[key].as_u64().expect(key);
        let signature = Signature {
            expires: number("expires"),
            key: text("name").to_owned(),
            scope: number("scope") as usize,
        };
        let url = signature.of(text("key").as_bytes(), text("target"));
        let url = url.expect("a target that can be signed");
        assert_eq!(url, text("signed"));
        url
    };
    vectors.iter().map(sign).collect()
}

/// What a program prints; nothing, and a message, where its interpreter is missing (`./dev setup` installs it).
fn printed(program: &str, words: &[&str], file: &str) -> Option<Vec<String>> {
    let home = tempfile::tempdir().expect("a folder for its caches");
    let output = Command::new(program)
        .args(words)
        .args([example(file), example("vectors.json")])
        .env("GOCACHE", home.path())
        .env("GO111MODULE", "off")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn node_go_and_ruby_sign_as_the_server_does() {
    let expected = signed();
    assert_eq!(expected.len(), 5);
    for (program, words, file) in [
        ("node", &[][..], "sign.mjs"),
        ("go", &["run"], "sign.go"),
        ("ruby", &[], "sign.rb"),
    ] {
        if let Some(signed) = printed(program, words, file) {
            assert_eq!(signed, expected, "{program}");
        }
    }
}
