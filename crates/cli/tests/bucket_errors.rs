//! What a server logs, and what a command prints, if a bucket cannot be used: the setting and the remedy. Clients do
//! not see it.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::common::{Served, sample};
use crate::s3::S3;

/// Returns the status and the body of the client's response, and the log, for one request to a server. `keys` are
/// configuration lines of the bucket that is the server's origin.
fn asked(s3: &S3, keys: &str) -> (u16, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("[[origin]]\nallow = [\"127.0.0.1\"]\n{keys}\n");
    let photos = s3.folder.path().join("photos");
    fs::create_dir_all(&photos).unwrap();
    fs::copy(sample("jpeg/420.jpg"), photos.join("a.jpg")).unwrap();
    let served = Served::start(folder.path(), &config);
    let reply = served.get("/r/fit:10x10/a.jpg");
    let (status, text) = (reply.status, reply.text());
    (status, text, served.stop())
}

#[test]
fn the_log_names_the_setting_and_the_client_learns_nothing_of_it() {
    let s3 = S3::start();
    let endpoint = s3.endpoint();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = closed.local_addr().unwrap();
    drop(closed);
    let signed =
        "s3.access_key_env = \"CARGO_PKG_NAME\"\ns3.secret_key_env = \"CARGO_PKG_VERSION\"\n";
    let keys = |bucket: &str, endpoint: &str, more: &str| {
        format!("s3.bucket = \"{bucket}\"\ns3.endpoint = \"{endpoint}\"\n{more}")
    };
    for (keys, status, parts) in [
        (
            keys(
                "photos",
                endpoint,
                "s3.access_key_env = \"CARGO_PKG_VERSION\"\ns3.secret_key_env = \"CARGO_PKG_NAME\"\n",
            ),
            403,
            ["access key", "`s3.access_key_env`"],
        ),
        (
            keys(
                "photos",
                endpoint,
                "s3.access_key_env = \"CARGO_PKG_NAME\"\ns3.secret_key_env = \"CARGO_PKG_NAME\"\n",
            ),
            403,
            ["signature is wrong", "`s3.secret_key_env`"],
        ),
        (
            keys("photos", endpoint, ""),
            403,
            ["s3:GetObject", "`s3.access_key_env`"],
        ),
        (
            keys("photos", &format!("http://{nobody}"), signed),
            502,
            ["nothing listens at", "check `s3.endpoint`"],
        ),
        (
            keys("photos", &endpoint.replace("http:", "https:"), signed),
            502,
            ["does not speak TLS", "http://"],
        ),
        (
            keys("photos", "http://no.such.host.invalid", signed),
            502,
            ["could not be resolved", "`s3.endpoint`"],
        ),
    ] {
        let (answered, text, log) = asked(&s3, &keys);
        assert_eq!(answered, status, "{keys}: {text}{log}");
        for part in parts {
            assert!(log.contains(part), "{keys}: {part}: {log}");
        }
        for secret in ["s3.", "_env", "127.0.0.1"] {
            assert!(!text.contains(secret), "{text}");
        }
        let line = log.lines().find(|line| line.contains(" GET ")).unwrap();
        assert!(!line.contains('<'), "{line}");
    }
}

#[test]
fn a_command_names_the_variable_of_the_environment() {
    let s3 = S3::start();
    let folder = tempfile::tempdir().unwrap();
    let convert = |bucket: &str, endpoint: &str, access: &str, secret: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_andon"))
            .args(["convert", "fit:10x10", bucket, "-o", "out"])
            .current_dir(folder.path())
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_ACCESS_KEY_ID", access)
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    for (said, part) in [
        (
            convert("s3://results/a.jpg", s3.endpoint(), "another", version),
            "AWS_ACCESS_KEY_ID",
        ),
        (
            convert("s3://results/", s3.endpoint(), name, "another"),
            "AWS_SECRET_ACCESS_KEY",
        ),
        (
            convert("s3://nowhere/", s3.endpoint(), name, version),
            "the name after s3://",
        ),
        (
            convert("s3://results/", "http://127.0.0.1:1", name, version),
            "check AWS_ENDPOINT_URL",
        ),
    ] {
        assert!(said.contains(part), "{part}: {said}");
        assert!(
            !said.contains("<Code>") && !said.contains("Generic"),
            "{said}"
        );
    }
}
