//! The rules of HTTP caching (RFC 9111, and 9213 and 5861 beside it) with an origin that says odd things. The table of
//! docs/http-caching.md names each of these tests.

use crate::common::origin::Origin;
use crate::common::{House, Reply, sample};

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

const RESULT: &str = "/r/fit:20x20/far/a.jpg";

const AT_ONCE: &str = "[cache]\nstale_while_revalidate = \"0s\"\n";

/// An origin that answers with these headers, and a server in front of it.
fn pair(headers: &[&str]) -> (Origin, House) {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let origin = Origin::start(image_file(), &lines);
    // An operator may have stale results used while they are validated, and by default does.
    let house = House::with(&format!("{}{AT_ONCE}", origin.keys()));
    (origin, house)
}

/// Is the second request for a result answered without asking an origin that answers with these headers?
fn is_reused(headers: &[&str]) -> bool {
    let (origin, house) = pair(headers);
    for _ in 0..2 {
        let reply = house.get(RESULT);
        assert_eq!(reply.status, 200, "{headers:?}: {}", reply.text());
    }
    match origin.asked() {
        1 => true,
        2 => false,
        times => panic!("{headers:?}: asked {times} times"),
    }
}

/// Returns the reply to the second request for a result whose origin answers the first one with these headers, which
/// make the result stale at once, and then fails.
fn after_a_failure(headers: &[&str]) -> Reply {
    let (origin, house) = pair(headers);
    assert_eq!(house.get(RESULT).status, 200, "{headers:?}");
    origin.answers(503, "", Vec::new());
    house.get(RESULT)
}

const DATE: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT";

#[test]
fn what_is_for_one_client_or_for_nobody_is_not_stored() {
    for said in [
        "no-store",
        "private",
        "private, max-age=600",
        "PRIVATE=\"set-cookie\", max-age=600",
        "max-age=600, no-store",
        "must-understand, no-store",
    ] {
        assert!(!is_reused(&[&format!("Cache-Control: {said}")]), "{said}");
    }
}

#[test]
fn a_lifetime_is_that_for_shared_caches_before_that_for_all_before_a_date() {
    let expired = "Expires: Sun, 06 Nov 1994 08:49:37 GMT";
    let later = "Expires: Sun, 06 Nov 1994 09:49:37 GMT";
    for (headers, reused) in [
        (&["Cache-Control: max-age=600"][..], true),
        (&["Cache-Control: max-age=0"], false),
        (&["Cache-Control: max-age=600, s-maxage=0"], false),
        (&["Cache-Control: max-age=0, s-maxage=600"], true),
        (&["Cache-Control: max-age=600", DATE, expired], true),
        (&["Cache-Control: max-age=0", DATE, later], false),
        (&[DATE, later], true),
        (&[DATE, expired], false),
        (&["Expires: 0"], false),
        (&["Expires: tomorrow"], false),
    ] {
        assert_eq!(is_reused(headers), reused, "{headers:?}");
    }
}

#[test]
fn what_is_said_to_caches_in_front_of_an_origin_goes_before_what_is_said_to_all() {
    for (targeted, all, reused) in [
        ("max-age=600", "max-age=0", true),
        ("max-age=600", "no-store", true),
        ("max-age=0", "max-age=600", false),
        ("no-store", "max-age=600", false),
        ("no-cache", "max-age=600", false),
    ] {
        let headers = [
            &*format!("CDN-Cache-Control: {targeted}"),
            &*format!("Cache-Control: {all}"),
        ];
        assert_eq!(is_reused(&headers), reused, "{headers:?}");
    }
}

#[test]
fn the_time_in_other_caches_counts() {
    for (age, reused) in [
        ("599", true),
        ("600", false),
        ("7200", false),
        ("99999999999999999999", false),
    ] {
        let age = format!("Age: {age}");
        assert_eq!(
            is_reused(&["Cache-Control: max-age=600", &age]),
            reused,
            "{age}"
        );
    }
}

#[test]
fn odd_directives_are_read_as_written_and_what_cannot_be_read_is_no_permission() {
    for (said, reused) in [
        ("MAX-AGE=600", true),
        ("max-age=\"600\"", true),
        ("max-age=600, max-age=0", false),
        ("max-age=0, max-age=600", false),
        ("max-age=-1", false),
        ("max-age=600.5", false),
        ("max-age=", false),
        ("max-age=soon", false),
        ("max-age=99999999999999999999", true),
        ("extension=\"max-age=0\", max-age=600", true),
        ("extension=\"a, max-age=600\", max-age=0", false),
        ("extension=\"a, no-store\", max-age=600", true),
        ("extension=\"\\\", no-store\", max-age=600", true),
        (",, , max-age=600,", true),
        ("a=b;max-age=0, max-age=600", true),
    ] {
        assert_eq!(
            is_reused(&[&format!("Cache-Control: {said}")]),
            reused,
            "{said}"
        );
    }
    // Lines are one list.
    assert!(!is_reused(&[
        "Cache-Control: max-age=600",
        "Cache-Control: no-cache"
    ]));
}

#[test]
fn a_star_in_vary_fits_no_other_request_and_what_is_the_same_in_all_of_ours_fits_each() {
    for (vary, reused) in [
        ("*", false),
        ("Accept, *", false),
        ("Accept-Encoding, User-Agent", true),
        ("Cookie", true),
    ] {
        let headers = ["Cache-Control: max-age=600", &format!("Vary: {vary}")];
        assert_eq!(is_reused(&headers), reused, "{vary}");
    }
}

#[test]
fn what_is_to_be_validated_is_and_a_304_makes_it_good_again() {
    for (said, tag) in [
        ("no-cache", "\"strong\""),
        ("no-cache=\"set-cookie\", max-age=600", "W/\"weak\""),
        ("max-age=0", "\"strong\""),
    ] {
        let lines = [&*format!("Cache-Control: {said}"), &*format!("ETag: {tag}")];
        let (origin, house) = pair(&lines);
        let first = house.get(RESULT);
        let same = format!("ETag: {tag}\r\nCache-Control: max-age=600\r\n");
        origin.answers(304, &same, Vec::new());
        for _ in 0..3 {
            assert_eq!(house.get(RESULT).body, first.body, "{said}");
        }
        let tags = origin.told("if-none-match");
        assert_eq!(tags, [None, Some(tag.to_owned())], "{said}");
    }
}

#[test]
fn a_date_is_a_validator_where_there_is_no_tag() {
    let modified = "Sat, 05 Nov 1994 08:49:37 GMT";
    let (origin, house) = pair(&[
        "Cache-Control: no-cache",
        DATE,
        &format!("Last-Modified: {modified}"),
    ]);
    assert_eq!(house.get(RESULT).status, 200);
    origin.answers(304, "", Vec::new());
    assert_eq!(house.get(RESULT).status, 200);
    assert_eq!(
        origin.told("if-modified-since"),
        [None, Some(modified.to_owned())]
    );
}

#[test]
fn a_304_that_says_nothing_leaves_what_was_said_before() {
    for (said, asked) in [("no-cache", 3), ("max-age=0", 3)] {
        let (origin, house) = pair(&[&format!("Cache-Control: {said}"), "ETag: \"a\""]);
        assert_eq!(house.get(RESULT).status, 200);
        origin.answers(304, "ETag: \"a\"\r\n", Vec::new());
        for _ in 0..2 {
            let reply = house.get(RESULT);
            assert_eq!(reply.header("cache-control"), Some(said));
        }
        assert_eq!(origin.asked(), asked, "{said}");
    }
}

#[test]
fn another_state_replaces_what_was_stored() {
    let (origin, house) = pair(&["Cache-Control: no-cache", "ETag: \"a\""]);
    let first = house.get(RESULT);
    let other = std::fs::read(sample("jpeg/444.jpg")).expect("a sample");
    origin.answers(200, "Cache-Control: max-age=600\r\nETag: \"b\"\r\n", other);
    let second = house.get(RESULT);
    assert_ne!(first.body, second.body);
    assert_eq!(house.get(RESULT).body, second.body);
    assert_eq!(origin.asked(), 2);
}

#[test]
fn what_is_stale_is_used_when_the_origin_fails_unless_that_is_forbidden() {
    let stale = "Age: 600";
    for (said, status) in [
        ("max-age=600", 200),
        ("max-age=600, must-revalidate", 502),
        ("max-age=600, proxy-revalidate", 502),
        ("s-maxage=600", 502),
        ("s-maxage=600, stale-if-error=600", 200),
        (
            "max-age=600, stale-if-error=0, stale-while-revalidate=0",
            502,
        ),
        ("max-age=600, no-cache", 502),
    ] {
        let reply = after_a_failure(&[&format!("Cache-Control: {said}"), stale]);
        let is_served = reply.status == 200;
        assert_eq!(is_served, status == 200, "{said}: {}", reply.status);
    }
}

#[test]
fn what_is_reused_has_an_age_and_what_has_just_come_has_none() {
    for headers in [
        &["Cache-Control: max-age=600"][..],
        &["Cache-Control: max-age=600", "Age: 60"],
    ] {
        let (_origin, house) = pair(headers);
        assert_eq!(house.get(RESULT).header("age"), None);
        let left = house.get(RESULT);
        let age: u64 = left
            .header("age")
            .expect("an age")
            .parse()
            .expect("seconds");
        assert!(age < 60, "{age}");
        // What other caches have used up is taken off already.
        let told = if headers.len() == 1 {
            "max-age=600"
        } else {
            "max-age=540"
        };
        assert_eq!(left.header("cache-control"), Some(told));
        let head = house.request("HEAD", RESULT, &[]);
        assert!(head.header("age").is_some() && head.body.is_empty());
    }
}

#[test]
fn a_304_to_a_client_says_what_a_200_would() {
    let (_origin, house) = pair(&["Cache-Control: max-age=600"]);
    for target in [RESULT, "/r/fit:20x20,as:auto/far/a.jpg"] {
        let full = house.get(target);
        let tag = full.header("etag").expect("a tag").to_owned();
        let same = house.request("GET", target, &[("If-None-Match", &tag)]);
        assert_eq!(same.status, 304);
        for name in ["etag", "cache-control", "vary"] {
            assert_eq!(same.header(name), full.header(name), "{target} {name}");
        }
        assert!(same.header("date").is_some());
    }
    let house = House::with("[[cache.rule]]\nprefix = \"/\"\ncache_control = \"max-age=9\"\n");
    house.put_sample("a.jpg", "jpeg/420.jpg");
    for target in ["/r/fit:20x20/a.jpg", "/a.jpg"] {
        let tag = house.get(target).header("etag").expect("a tag").to_owned();
        for _ in 0..2 {
            let same = house.request("GET", target, &[("If-None-Match", &tag)]);
            assert_eq!(
                (same.status, same.header("cache-control")),
                (304, Some("max-age=9"))
            );
        }
    }
}

#[test]
fn what_is_not_whole_is_neither_sent_nor_stored() {
    let (origin, house) = pair(&[]);
    for (status, headers) in [
        (206, "Content-Range: bytes 0-99/100000\r\n"),
        (200, "Content-Encoding: br\r\n"),
        (304, ""),
    ] {
        origin.answers(status, headers, image_file());
        let before = origin.asked();
        for _ in 0..2 {
            let reply = house.get(RESULT);
            assert!(reply.status >= 400, "{status}: {}", reply.status);
        }
        assert!(origin.asked() > before, "{status}");
    }
    origin.answers(200, "", image_file());
    assert_eq!(house.get(RESULT).status, 200);
}

#[test]
fn a_fault_that_is_not_to_be_stored_is_asked_about_each_time() {
    for (said, asked, told) in [
        ("Cache-Control: no-store\r\n", 3, "no-store"),
        ("Cache-Control: private\r\n", 3, "no-store"),
        ("Cache-Control: no-cache\r\n", 3, "no-store"),
        ("", 1, "max-age=60"),
        ("Cache-Control: max-age=86400\r\n", 1, "max-age=60"),
    ] {
        let origin = Origin::start(Vec::new(), "");
        origin.answers(404, said, Vec::new());
        let house = House::with(&format!("{}[cache]\nnegative = \"1m\"\n", origin.keys()));
        for _ in 0..3 {
            let reply = house.get(RESULT);
            assert_eq!(reply.status, 404);
            assert_eq!(reply.header("cache-control"), Some(told), "{said}");
        }
        assert_eq!(origin.asked(), asked, "{said}");
    }
}

#[test]
fn what_a_redirect_leads_to_is_good_for_no_longer_than_the_redirect() {
    for (redirect, asked) in [
        ("", 1),
        ("Cache-Control: max-age=600\r\n", 1),
        ("Cache-Control: max-age=0\r\n", 2),
        ("Cache-Control: no-store\r\n", 2),
        ("Cache-Control: private, max-age=300\r\n", 2),
    ] {
        let target = Origin::start(image_file(), "Cache-Control: max-age=600\r\n");
        let origin = Origin::start(Vec::new(), "");
        let to = format!(
            "Location: http://127.0.0.1:{}/b.jpg\r\n{redirect}",
            target.port()
        );
        origin.answers(302, &to, Vec::new());
        let house = House::with(&format!(
            "[[origin]]\nprefix = \"/far\"\nallow = [\"127.0.0.1\"]\n\
             http = {{ base = \"http://127.0.0.1:{}\", redirect_ports = [{}] }}\n{AT_ONCE}",
            origin.port(),
            target.port()
        ));
        for _ in 0..2 {
            let reply = house.get(RESULT);
            assert_eq!(reply.status, 200, "{redirect}: {}", reply.text());
        }
        assert_eq!(origin.asked(), asked, "{redirect}");
    }
}

#[test]
fn other_methods_are_answered_from_nothing_that_is_stored_and_end_nothing() {
    let (origin, house) = pair(&["Cache-Control: max-age=600"]);
    assert_eq!(house.get(RESULT).status, 200);
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_eq!(house.request(method, RESULT, &[]).status, 405, "{method}");
    }
    assert_eq!(house.get(RESULT).status, 200);
    assert_eq!(origin.asked(), 1);
}

#[test]
fn what_clients_ask_of_caches_is_advice_that_costs_no_origin_a_request() {
    let (origin, house) = pair(&["Cache-Control: max-age=600"]);
    for said in ["no-cache", "max-age=0", "no-store", "only-if-cached"] {
        let reply = house.request("GET", RESULT, &[("Cache-Control", said)]);
        assert_eq!(reply.status, 200, "{said}");
    }
    assert_eq!(origin.asked(), 1);
}

#[test]
fn credentials_of_clients_reach_no_origin() {
    let (origin, house) = pair(&["Cache-Control: max-age=600"]);
    let reply = house.request(
        "GET",
        RESULT,
        &[("Authorization", "Basic eDp5"), ("Cookie", "a=b")],
    );
    assert_eq!(reply.status, 200);
    for name in ["authorization", "cookie"] {
        assert_eq!(origin.told(name), [None], "{name}");
    }
}

#[test]
fn the_table_of_rules_names_each_of_these_tests_and_no_other() {
    let table = include_str!("../../../docs/http-caching.md");
    let code = include_str!("cache_rules.rs");
    let tests = code.split("#[test]\nfn ").skip(1);
    let mut tests: Vec<&str> = tests.filter_map(|it| it.split('(').next()).collect();
    tests.retain(|name| !name.starts_with("the_table_of_rules"));
    for name in &tests {
        assert!(
            table.contains(&format!("`{name}`")),
            "{name} is not in the table"
        );
    }
    let named = table.lines().filter(|line| line.starts_with("| "));
    for name in named.filter_map(|row| row.rsplit('`').nth(1)) {
        assert!(tests.contains(&name), "there is no test {name}");
    }
}
