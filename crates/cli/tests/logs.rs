//! What a running server writes to standard error: requests and its own messages, in one format.

use std::path::Path;

use crate::common::{Served, one_image};
use serde_json::Value;

/// Creates a folder with one image, and a file in the place of the disk cache's folder.
fn folder() -> tempfile::TempDir {
    let folder = one_image();
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    std::fs::write(folder.path().join("kept/andon-cache-1"), "no folder").unwrap();
    folder
}

fn config(log: &str) -> String {
    format!(
        "[[origin]]\nfs.root = \".\"\n[cache]\ndisk.path = \"kept\"\ndisk.size = \"1MiB\"\n{log}"
    )
}

/// Returns what a server writes to standard error from its start to its end, while it answers one request for an image.
/// `log` contains further lines of its configuration.
fn said(folder: &Path, log: &str) -> String {
    let served = Served::start(folder, &config(log));
    let reply = served.get("/small_light(dw=10)/a.jpg");
    assert_eq!(reply.status, 200, "a disk in trouble costs no answer");
    served.stop()
}

#[test]
fn as_text_a_warning_stands_between_the_requests() {
    let folder = folder();
    let said = said(folder.path(), "");
    let lines: Vec<&str> = said.lines().filter(|it| !it.contains("open to ")).collect();
    assert_eq!(lines.len(), 4, "{said}");
    for start in ["sandbox: ", "resources: "] {
        let of_start = |line: &&&str| line.contains("INFO") && line.contains(start);
        assert_eq!(lines.iter().filter(of_start).count(), 1, "{said}");
    }
    let warning = lines.iter().find(|line| line.contains("WARN")).unwrap();
    assert!(
        warning.contains("disk cache unavailable") && warning.contains("path="),
        "{warning}"
    );
    let request = lines.iter().find(|line| line.contains(" GET ")).unwrap();
    assert!(request.contains("/small_light(dw=10)/a.jpg 200 "));
    assert!(!said.contains('\x1b'), "colours belong on a terminal");
}

#[test]
fn as_json_every_line_is_an_object() {
    let folder = folder();
    let said = said(folder.path(), "[log]\nformat = \"json\"\n");
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|line: &Value| !line["message"].to_string().contains("open to "))
        .collect();
    assert_eq!(lines.len(), 4, "{said}");
    let says = |line: &&Value, start| {
        line["message"]
            .as_str()
            .is_some_and(|it| it.starts_with(start))
    };
    let resources = lines.iter().find(|line| says(line, "resources: ")).unwrap();
    assert!(lines.iter().any(|line| says(&line, "sandbox: ")), "{said}");
    for field in ["workers", "memory_bytes", "budget_bytes", "cache_bytes"] {
        assert!(resources[field].as_u64() > Some(0), "{field}: {resources}");
    }
    let warning = lines.iter().find(|line| line["level"] == "WARN").unwrap();
    assert_eq!(warning["disk_error"], "unavailable");
    assert_eq!(
        warning["message"],
        "disk cache unavailable; serving without it"
    );
    assert!(lines.iter().any(|line| line["status"] == 200), "{said}");
}

#[test]
fn an_origins_error_names_prefix_url_and_address_in_the_log_and_none_of_them_to_the_client() {
    let folder = folder();
    // The port was free a moment ago, so nothing listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let config = format!(
        "[[origin]]\nfs.root = \".\"\n\
         [[origin]]\nprefix = \"/far\"\nhttp.base = \"http://127.0.0.1:{port}/base\"\nallow = [\"127.0.0.1\"]\n\
         [[origin]]\nprefix = \"/inner\"\nhttp.base = \"http://127.0.0.1:{port}/base\"\n"
    );
    let served = Served::start(folder.path(), &config);
    for (prefix, label) in [("far", "origin_unreachable"), ("inner", "origin_denied")] {
        let reply = served.get(&format!("/small_light(dw=10)/{prefix}/a.jpg"));
        assert_eq!(reply.status, 502, "{label}");
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(!text.contains("127.0.0.1"), "{text}");
    }
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("out.jpg")).unwrap();
    assert_eq!(served.get("/out.jpg").status, 404);
    let said = served.stop();
    for (prefix, label) in [("/far", "origin_unreachable"), ("/inner", "origin_denied")] {
        let line = said.lines().find(|line| line.contains(label)).unwrap();
        for part in [
            prefix,
            &format!("http://127.0.0.1:{port}/base/a.jpg"),
            &format!("address 127.0.0.1:{port}"),
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    let link = said.lines().find(|line| line.contains("/out.jpg")).unwrap();
    assert!(link.contains("outside_links"), "{link}");
}

#[test]
fn the_level_says_what_is_left_out() {
    let folder = folder();
    for (log, requests, warnings) in [
        ("level = \"warn\"", 0, 1),
        ("level = \"error\"", 0, 0),
        ("format = \"off\"", 0, 1),
        ("level = \"debug\"", 1, 1),
    ] {
        let said = said(folder.path(), &format!("[log]\n{log}\n"));
        let count = |what: &str| said.lines().filter(|line| line.contains(what)).count();
        assert_eq!(count(" GET "), requests, "{log}: {said}");
        assert_eq!(count("serving without it"), warnings, "{log}: {said}");
    }
}

/// Makes a server reload its configuration, and waits until it has.
fn reload(served: &Served) {
    served.signal("-HUP");
    for _ in 0..3000 {
        let figures = String::from_utf8(served.get("/metrics").body).unwrap();
        if figures.contains("andon_reloads_total{outcome=\"done\"} 1") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it was not reloaded");
}

#[test]
fn what_is_still_to_be_filled_in_is_said_at_the_start_and_after_a_reload() {
    let folder = folder();
    let with = |dialect: &str| {
        let key = "keys = [\"0123456789abcdef0123456789abcdef\"]  # SECRET: KEY goes here; this random one opens nothing";
        config(&format!(
            "[metrics]\nallow = \"all\"\n[{dialect}]\nprefix = \"/x\"\n{key}\n"
        ))
    };
    let served = Served::start(folder.path(), &with("thumbor"));
    std::fs::write(folder.path().join("andon.toml"), with("imagor")).unwrap();
    reload(&served);
    let said = served.stop();
    for dialect in ["thumbor", "imagor"] {
        let warning = format!("{dialect}.keys is marked SECRET (KEY goes here");
        let warnings = said.lines().filter(|line| line.contains("WARN"));
        assert_eq!(
            warnings.filter(|line| line.contains(&warning)).count(),
            1,
            "{said}"
        );
    }
}

#[test]
fn a_reload_changes_the_shape() {
    let folder = folder();
    let served = Served::start(
        folder.path(),
        &config("[metrics]\nallow = \"all\"\n[log]\nlevel = \"error\"\n"),
    );
    std::fs::write(
        folder.path().join("andon.toml"),
        config("[metrics]\nallow = \"all\"\n[log]\nformat = \"json\"\n"),
    )
    .unwrap();
    reload(&served);
    served.get("/small_light(dw=10)/a.jpg");
    let said = served.stop();
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line["message"] == "the configuration was read again"),
        "{said}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line["target"] == "/small_light(dw=10)/a.jpg"),
        "{said}"
    );
}

#[test]
fn a_fallback_that_cannot_be_sent_is_said_once_and_again_when_it_can() {
    let folder = folder();
    let served = Served::start(
        folder.path(),
        &config("[[fallback]]\nimage = \"/none.jpg\"\n"),
    );
    let get = || served.get("/small_light(dw=10)/missing.jpg").status;
    assert_eq!((get(), get()), (404, 404));
    std::fs::copy(
        crate::common::sample("jpeg/420.jpg"),
        folder.path().join("none.jpg"),
    )
    .unwrap();
    let is_sent = (0..3000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        get() == 200
    });
    assert!(is_sent);
    let said = served.stop();
    for line in [
        "of a [[fallback]] cannot be sent",
        "of a [[fallback]] can be sent again",
    ] {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
}
