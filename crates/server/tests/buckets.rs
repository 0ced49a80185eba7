//! Images in buckets of Google Cloud Storage and Azure. Servers on loopback stand in for the two services, and check
//! signatures as they do.
//!
//! The server reads the keys of buckets from its environment, so each test runs itself in a child process whose
//! environment contains them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::common::listener::Listener;
use crate::common::{House, sample};
use base64::prelude::{BASE64_STANDARD, Engine};
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use ring::{digest, hmac};
use url::Url;

/// A key that signs nothing but the URLs of this test.
const GOOGLE_KEY: &str = include_str!("gcs_test_key.txt");
const AZURE_KEY: &str = "bm90aGluZyBidXQgYSB0ZXN0IHJlYWRzIHRoaXMga2V5";
const SAS: &str = "?sv=2021-08-06&sp=r&sig=abc%2Bdef";

/// Whether this process has the keys of the buckets in its environment. If not, runs the test `test` in a child process
/// that has them, and waits until it has passed.
fn has_keys(test: &str) -> bool {
    if std::env::var_os("ANDON_TEST_GCS").is_some() {
        return true;
    }
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{GOOGLE_KEY}-----END PRIVATE KEY-----\n");
    let account = serde_json::json!({
        "type": "service_account", "private_key": pem, "private_key_id": "1", "client_email": "andon@test",
    });
    let program = std::env::current_exe().expect("this program");
    let run = Command::new(program)
        .args([&format!("buckets::{test}"), "--exact"])
        .env("ANDON_TEST_GCS", account.to_string())
        .env("ANDON_TEST_AZURE", AZURE_KEY)
        .env("ANDON_TEST_SAS", SAS)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        run.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(said.contains("1 passed"), "{said}");
    false
}

/// An emulated object store with `/photos/originals/a.jpg` and similar objects.
struct Emulator {
    listener: Listener,
    state: Arc<State>,
}

struct State {
    /// Whether the signature of a request's URL is valid.
    admits: fn(&Url) -> bool,
    file: Mutex<(Vec<u8>, &'static str)>,
    heads: Mutex<Vec<String>>,
}

impl Emulator {
    fn start(admits: fn(&Url) -> bool) -> Self {
        let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
        let state = Arc::new(State {
            admits,
            file: Mutex::new((image, "\"one\"")),
            heads: Mutex::default(),
        });
        let answering = state.clone();
        let listener = Listener::start(move |stream| answering.converse(stream));
        Self { listener, state }
    }

    fn house(&self, keys: &str) -> House {
        let endpoint = format!("http://127.0.0.1:{}", self.listener.port());
        House::with(&format!(
            "[[origin]]\nprefix = \"/far\"\nallow = [\"127.0.0.1\"]\n{}\n",
            keys.replace("ENDPOINT", &endpoint)
        ))
    }
}

impl State {
    /// Answers the only request of a connection.
    fn converse(&self, mut stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
        let head: Vec<String> = lines
            .by_ref()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let Some(target) = head.first().and_then(|line| line.split(' ').nth(1)) else {
            return;
        };
        let url = Url::parse(&format!("http://store{target}")).expect("a target");
        let (body, tag) = self.file.lock().expect("a lock").clone();
        let known = format!("if-none-match: {tag}");
        let knows = head.iter().any(|line| line.eq_ignore_ascii_case(&known));
        let there = matches!(
            url.path(),
            "/photos/originals/a.jpg"
                | "/photos/originals/with%20space%20&%20%C3%BC+%25.jpg"
                | "/photos/originals/with%20space%20%26%20%C3%BC%2B%25.jpg"
        );
        self.heads.lock().expect("a lock").push(head.join("\n"));
        let (status, body) = match (self.admits)(&url) {
            false => (403, Vec::new()),
            true if !there => (404, Vec::new()),
            true if knows => (304, Vec::new()),
            true => (200, body),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Told\r\nETag: {tag}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        // Whoever asked may have left.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&body);
    }
}

fn argument(url: &Url, name: &str) -> String {
    let found = url.query_pairs().find(|(key, _)| key == name);
    found
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Whether a URL has a valid V4 signature of Google Cloud Storage, made with RSA for the host of the service itself.
fn google_admits(url: &Url) -> bool {
    let pkcs8 = BASE64_STANDARD
        .decode(GOOGLE_KEY.replace('\n', ""))
        .expect("a key");
    let pair = RsaKeyPair::from_pkcs8(&pkcs8).expect("a key");
    let (query, signature) = url
        .query()
        .and_then(|query| query.split_once("&X-Goog-Signature="))
        .unwrap_or_default();
    let mut pairs: Vec<&str> = query.split('&').collect();
    pairs.sort_unstable();
    let request = format!(
        "GET\n{}\n{}\nhost:storage.googleapis.com\n\nhost\nUNSIGNED-PAYLOAD",
        url.path(),
        pairs.join("&")
    );
    let credential = argument(url, "X-Goog-Credential");
    let (email, scope) = credential.split_once('/').unwrap_or_default();
    let text = format!(
        "GOOG4-RSA-SHA256\n{}\n{scope}\n{}",
        argument(url, "X-Goog-Date"),
        hex(digest::digest(&digest::SHA256, request.as_bytes()).as_ref())
    );
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
    let bytes: Vec<u8> = (0..signature.len() / 2)
        .filter_map(|at| u8::from_str_radix(signature.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    email == "andon@test" && public.verify(text.as_bytes(), &bytes).is_ok()
}

/// Whether a URL has a valid service SAS of Azure that permits reading a blob, signed with the account's key.
fn azure_admits(url: &Url) -> bool {
    let of = |name: &str| argument(url, name);
    let text = format!(
        "{}\n{}\n{}\n/blob{}\n\n\n\n{}\n{}\n\n\n\n\n\n\n",
        of("sp"),
        of("st"),
        of("se"),
        url.path(),
        of("sv"),
        of("sr")
    );
    let key = BASE64_STANDARD.decode(AZURE_KEY).expect("a key");
    let signature = BASE64_STANDARD.decode(of("sig")).unwrap_or_default();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    of("sp") == "r" && hmac::verify(&key, text.as_bytes(), &signature).is_ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the behaviour that all kinds of buckets share.
fn serves(emulator: &Emulator, keys: &str) {
    let house = emulator.house(keys);
    for key in ["a.jpg", "with%20space%20&%20%C3%BC+%25.jpg"] {
        let reply = house.get(&format!("/small_light(dw=20)/far/originals/{key}"));
        assert_eq!(reply.status, 200, "{key}: {}", reply.text());
        assert_eq!(reply.size().0, 20);
    }
    let reply = house.get("/far/originals/missing.jpg");
    assert_eq!(reply.status, 404);
    assert!(
        reply.text().contains("/far/originals/missing.jpg"),
        "{}",
        reply.text()
    );

    let house = emulator.house(&format!("{keys}\n[cache]\nmemory = \"0\""));
    let target = "/small_light(dw=20)/far/originals/a.jpg";
    let etag = house.get(target).header("etag").expect("a tag").to_owned();
    let same = house.request("GET", target, &[("If-None-Match", &etag)]);
    assert_eq!(same.status, 304);
    let other = std::fs::read(sample("jpeg/444.jpg")).expect("a sample");
    *emulator.state.file.lock().unwrap() = (other, "\"two\"");
    let other = house.request("GET", target, &[("If-None-Match", &etag)]);
    assert_eq!(other.status, 200);
    assert_ne!(other.header("etag"), Some(etag.as_str()));
}

#[test]
fn google_is_asked_with_a_service_accounts_signature() {
    if has_keys("google_is_asked_with_a_service_accounts_signature") {
        let emulator = Emulator::start(google_admits);
        let keys = "gcs = { bucket = \"photos\", endpoint = \"ENDPOINT\"";
        serves(
            &emulator,
            &format!("{keys}, credentials_env = \"ANDON_TEST_GCS\" }}"),
        );
        let reply = emulator
            .house(&format!("{keys} }}"))
            .get("/far/originals/a.jpg");
        assert_eq!(reply.status, 403, "{}", reply.text());
    }
}

#[test]
fn azure_is_asked_with_the_accounts_key() {
    if has_keys("azure_is_asked_with_the_accounts_key") {
        let emulator = Emulator::start(azure_admits);
        let keys = "azure = { container = \"photos\", account = \"shop\", endpoint = \"ENDPOINT\"";
        serves(
            &emulator,
            &format!("{keys}, access_key_env = \"ANDON_TEST_AZURE\" }}"),
        );
        let reply = emulator
            .house(&format!("{keys} }}"))
            .get("/far/originals/a.jpg");
        assert_eq!(reply.status, 403, "{}", reply.text());
    }
}

#[test]
fn azure_is_asked_with_a_shared_access_signature() {
    if has_keys("azure_is_asked_with_a_shared_access_signature") {
        let emulator = Emulator::start(|url| url.query() == Some(&SAS[1..]));
        let keys = "azure = { container = \"photos\", account = \"shop\", endpoint = \"ENDPOINT\", sas_env = \"ANDON_TEST_SAS\" }";
        serves(&emulator, keys);
        let heads = emulator.state.heads.lock().unwrap().concat();
        assert!(heads.contains("x-ms-version: 2021-08-06"), "{heads}");
    }
}

#[test]
fn what_everybody_may_read_is_asked_for_without_keys() {
    let emulator = Emulator::start(|url| url.query().is_none());
    serves(
        &emulator,
        "gcs = { bucket = \"photos\", endpoint = \"ENDPOINT\" }",
    );
    let emulator = Emulator::start(|url| url.query().is_none());
    serves(
        &emulator,
        "azure = { container = \"photos\", account = \"shop\", endpoint = \"ENDPOINT\" }",
    );
}

#[test]
fn a_key_of_another_store_is_an_error_that_says_whose_it_is() {
    for (keys, why) in [
        (
            "gcs = { bucket = \"b\", region = \"x\" }",
            "a key of s3 only",
        ),
        (
            "s3 = { bucket = \"b\", account = \"x\" }",
            "a key of azure only",
        ),
        (
            "azure = { container = \"b\" }",
            "name of the storage account",
        ),
        ("gcs = { bucket = \"a/b\" }", "`gcs.folder`"),
        (
            "gcs = { bucket = \"b\" }\ns3 = { bucket = \"b\" }",
            "exactly one",
        ),
    ] {
        let text = format!("[[origin]]\n{keys}\n");
        let error = andon_server::Config::parse(&text, std::path::Path::new("/")).expect_err(keys);
        assert!(error.to_string().contains(why), "{keys}: {error}");
    }
}
