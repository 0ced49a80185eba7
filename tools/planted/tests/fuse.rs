//! Tests that a fault in a worker process fails only its own request, and that a worker process can neither reach the
//! rest of the system nor read secrets.

mod common;

use common::{Process, Served, distinct};

/// The faults that end a worker process.
const DEADLY: &[&str] = &["abort", "exit", "panic", "overflow", "allocate", "loop"];

#[test]
fn a_worker_that_dies_costs_its_own_request_and_no_other() {
    let served = Served::new("");
    served.file("good.planted", b"PLANTED nowhere none\n");
    for place in ["header", "pixels"] {
        for fault in DEADLY {
            let name = format!("{place}-{fault}.planted");
            served.file(&name, format!("PLANTED {place} {fault}\n").as_bytes());
            let (status, body) = served.get(&format!("/r/as:png/{name}"));
            assert!(
                matches!(status, 500 | 503),
                "{name}: {status} {}",
                String::from_utf8_lossy(&body)
            );
            let (status, body) = served.get(&format!("/r/{}/good.planted", distinct()));
            assert_eq!(
                status,
                200,
                "after {name}: {}",
                String::from_utf8_lossy(&body)
            );
            assert!(body.starts_with(b"\x89PNG"), "after {name}");
        }
    }
    assert!(served.metric("andon_process_deaths_total{cause=\"crash\"}") >= 8.0);
    assert!(served.metric("andon_process_deaths_total{cause=\"cpu\"}") >= 1.0);
    assert_eq!(served.get("/readyz").0, 200);
}

#[test]
fn nobody_waits_for_a_worker_that_sleeps_beyond_its_deadline() {
    let served = Served::new("[timeouts]\nrequest = \"1s\"\n");
    served.file("good.planted", b"PLANTED nowhere none\n");
    served.file("asleep.planted", b"PLANTED pixels sleep\n");
    let (status, _) = served.get("/r/as:png/asleep.planted");
    assert_eq!(status, 503);
    assert_eq!(served.get("/r/as:png/good.planted").0, 200);
    served.until(|| served.metric("andon_process_deaths_total{cause=\"overstayed\"}") >= 1.0);
    // The file is not suspected.
    assert_eq!(served.metric("andon_process_suspects"), 0.0);
}

#[test]
fn a_worker_that_cannot_be_started_is_tried_again() {
    let served = Served::new("");
    served.file("good.planted", b"PLANTED nowhere none\n");
    assert_eq!(served.get("/r/as:png/good.planted").0, 200);
    served.until(|| served.workers().len() == 3);
    let before = served.starter().most_descriptors(Some(0)).unwrap();
    for worker in served.workers() {
        worker.kill();
    }
    let asked = || served.get(&format!("/r/{}/good.planted", distinct()));
    served.until(|| {
        assert_eq!(asked().0, 500);
        let (status, body) = served.get("/readyz");
        status == 503 && String::from_utf8_lossy(&body).contains("no worker process")
    });
    served.starter().most_descriptors(Some(before));
    served.until(|| asked().0 == 200);
    served.until(|| served.get("/readyz").0 == 200);
    served.until(|| served.workers().len() == 3);
}

#[test]
fn a_file_on_which_two_workers_died_is_refused_without_being_tried_until_a_purge() {
    let served = Served::new("[admin]\ntoken = \"open sesame, open\"\n");
    served.file("bad.planted", b"PLANTED pixels abort\n");
    for _ in 0..2 {
        let (status, body) = served.get(&format!("/r/{}/bad.planted", distinct()));
        assert_eq!(status, 500, "{}", String::from_utf8_lossy(&body));
    }
    let started = served.metric("andon_process_deaths_total{cause=\"crash\"}");
    let (status, body) = served.get(&format!("/r/{}/bad.planted", distinct()));
    let body = String::from_utf8_lossy(&body);
    assert_eq!(status, 422, "{body}");
    assert!(body.contains("not tried again"), "{body}");
    assert_eq!(
        served.metric("andon_process_deaths_total{cause=\"crash\"}"),
        started
    );
    served.purge("open sesame, open");
    let (status, _) = served.get(&format!("/r/{}/bad.planted", distinct()));
    assert_eq!(status, 500, "it is tried again");
}

#[test]
fn what_runs_in_a_worker_opens_nothing_connects_to_nothing_and_signals_nobody() {
    let served = Served::new("");
    for place in ["header", "pixels"] {
        let name = format!("{place}.planted");
        served.file(&name, format!("PLANTED {place} escape\n").as_bytes());
        let (_, body) = served.get(&format!("/r/as:png/{name}"));
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(body.contains("0 of 12 succeeded"), "{body}");
    }
}

#[test]
fn no_worker_has_a_key_or_what_was_another_jobs_in_its_memory() {
    let (certificate, key) = common::certificate();
    let served = Served::with(|folder| {
        std::fs::write(folder.join("cert.pem"), &certificate).unwrap();
        std::fs::write(folder.join("key.pem"), &key).unwrap();
        format!(
            "[admin]\ntoken = \"a-token-of-the-purge-page\"\n\
             [tls]\ncertificate = \"{0}/cert.pem\"\nkey = \"{0}/key.pem\"\nlisten = [\"127.0.0.1:0\"]\n\
             [[origin]]\nprefix = \"/bucket\"\ns3.bucket = \"photos\"\n\
             s3.access_key_env = \"AWS_ACCESS_KEY_ID\"\ns3.secret_key_env = \"AWS_SECRET_ACCESS_KEY\"\n",
            folder.display()
        )
    });
    let mark = "what-only-this-job-knows-0123456789";
    let file = format!("PLANTED nowhere none\n{}", mark.repeat(10_000));
    served.file("marked.planted", file.as_bytes());
    served.file("good.planted", b"PLANTED nowhere none\n");
    for _ in 0..4 {
        for name in ["marked", "good"] {
            let target = format!("/r/{}/{name}.planted", distinct());
            assert_eq!(served.get(&target).0, 200);
        }
    }
    let line = key.lines().nth(1).unwrap();
    let secrets = [line, "a-token-of-the-purge-page", common::SECRET, mark];
    let workers = served.workers();
    assert!(workers.len() >= 2, "{workers:?}");
    let Some(own) = Process::this().memory() else {
        eprintln!("no memory of processes can be read here: nothing was looked for");
        return;
    };
    assert!(common::finds(&own, mark), "the search finds what is there");
    for worker in workers {
        let Some(memory) = worker.memory() else {
            continue;
        };
        for secret in secrets {
            assert!(!common::finds(&memory, secret), "{worker:?} knows {secret}");
        }
    }
}

#[test]
fn drawings_without_any_guard_cost_themselves() {
    let served = Served::new("[timeouts]\nrequest = \"3s\"\n");
    served.file(
        "good.svg",
        b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>",
    );
    let chain: String = (0..2000)
        .map(|it| {
            format!(
                "<pattern id=\"p{it}\" width=\"9\" height=\"9\"><rect width=\"9\" height=\"9\" fill=\"url(#p{})\"/></pattern>",
                it + 1
            )
        })
        .collect();
    let nest = |element: &str, depth: usize| {
        format!(
            "{}{}",
            format!("<{element}>").repeat(depth),
            format!("</{element}>").repeat(depth)
        )
    };
    let style = format!("{} {{fill:red}}", "g ".repeat(14));
    for (name, inside) in [
        (
            "chain",
            format!("{chain}<rect width=\"9\" height=\"9\" fill=\"url(#p0)\"/>"),
        ),
        (
            "selectors",
            format!("<style>{}</style>{}", style.repeat(20), nest("g", 180)),
        ),
    ] {
        let name = format!("{name}.svg");
        let drawing = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">{inside}</svg>"
        );
        served.file(&name, drawing.as_bytes());
        let (status, _) = served.get(&format!("/r/as:png/{name}"));
        assert!(status >= 400 || status == 200, "{name}: {status}");
        let (status, body) = served.get(&format!("/r/{}/good.svg", distinct()));
        assert_eq!(
            status,
            200,
            "after {name}: {}",
            String::from_utf8_lossy(&body)
        );
    }
    assert_eq!(served.get("/readyz").0, 200);
}

#[test]
fn a_worker_that_was_ended_from_outside_is_replaced_and_nobody_is_blamed() {
    let served = Served::new("");
    served.file("good.planted", b"PLANTED nowhere none\n");
    assert_eq!(served.get("/r/as:png/good.planted").0, 200);
    for worker in served.workers() {
        worker.kill();
    }
    // One request may find each of them ended.
    served.until(|| {
        let target = format!("/r/{}/good.planted", distinct());
        served.get(&target).0 == 200
    });
    assert_eq!(served.metric("andon_process_suspects"), 0.0);
}
