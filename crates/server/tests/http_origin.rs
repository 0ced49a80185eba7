//! Images of another web server.

use crate::common::hostile::{Hostile, TAG};
use crate::common::origin::Origin;
use crate::common::{House, sample};

fn origin() -> Hostile {
    Hostile::start(std::fs::read(sample("jpeg/420.jpg")).expect("a sample"))
}

fn house(origin: &Hostile, keys: &str) -> House {
    House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{}/base/\"\nallow = [\"127.0.0.0/8\"]\n{keys}\n",
        origin.base()
    ))
}

#[test]
fn images_are_fetched_transformed_and_passed_on_as_they_are() {
    let origin = origin();
    let house = house(&origin, "");
    let reply = house.get("/small_light(dw=20)/far/good.jpg");
    assert_eq!(
        (reply.status, reply.size().0),
        (200, 20),
        "{}",
        reply.text()
    );
    let reply = house.get("/far/good.jpg");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, std::fs::read(sample("jpeg/420.jpg")).unwrap());
    assert_eq!(reply.header("content-type"), Some("image/jpeg"));
    // The folder at `/` is still there.
    assert_eq!(house.get("/small_light(dw=20)/a.jpg").status, 200);
    assert_eq!(house.get("/far/missing.png").status, 404);
    assert!(
        house
            .get("/far/missing.png")
            .text()
            .contains("/far/missing.png")
    );
    assert_eq!(house.get("/farther/good.jpg").status, 404);
}

#[test]
fn bodies_of_every_framing_arrive_whole() {
    let origin = origin();
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    for path in ["good.jpg", "plain.jpg", "chunked.jpg"] {
        let reply = house.get(&format!("/far/{path}"));
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        assert_eq!(
            reply.body,
            std::fs::read(sample("jpeg/420.jpg")).unwrap(),
            "{path}"
        );
    }
}

#[test]
fn a_body_that_ends_with_its_connection_is_for_decoders_only() {
    let origin = origin();
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    let reply = house.get("/small_light(dw=9)/far/until-close.jpg");
    assert_eq!(reply.status, 200, "{}", reply.text());
    let reply = house.get("/far/until-close.jpg");
    assert_eq!(reply.status, 502);
    assert!(reply.text().contains("where it ends"), "{}", reply.text());
}

#[test]
fn conditional_requests_work_with_and_without_the_origins_validators() {
    let origin = origin();
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    for (path, dated) in [("good.jpg", true), ("plain.jpg", false)] {
        for target in [
            format!("/far/{path}"),
            format!("/small_light(dw=9)/far/{path}"),
        ] {
            let first = house.get(&target);
            assert_eq!(first.header("last-modified").is_some(), dated, "{target}");
            let etag = first.header("etag").expect("a tag").to_owned();
            assert_ne!(etag, TAG, "the origin's own tag is for its own bytes");
            let second = house.request("GET", &target, &[("If-None-Match", &etag)]);
            assert_eq!((second.status, second.body.len()), (304, 0), "{target}");
            assert_eq!(second.header("etag"), Some(etag.as_str()));
        }
    }
}

#[test]
fn one_origin_gets_what_was_written_for_it_and_nothing_of_the_clients() {
    let origin = origin();
    // Any variable that is always set here will do for a secret.
    let house = house(
        &origin,
        "http.user = \"me\"\nhttp.password_env = \"CARGO_PKG_NAME\"\nhttp.headers = { X-From = \"andon\" }",
    );
    let client = [
        ("Cookie", "a=b"),
        ("Authorization", "Basic eHg6eXk="),
        ("X-Forwarded-For", "1.2.3.4"),
    ];
    assert_eq!(house.request("GET", "/far/good.jpg", &client).status, 200);
    let head = origin.seen().concat().to_ascii_lowercase();
    assert!(
        head.starts_with("get /base/good.jpg http/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
    assert!(head.contains("x-from: andon\r\n"), "{head}");
    // me:andon-server
    assert!(
        head.contains("authorization: basic bwu6yw5kb24tc2vydmvy\r\n"),
        "{head}"
    );
    for not_sent in [
        "cookie",
        "x-forwarded",
        "ehg6exk",
        "range:",
        "if-none-match",
    ] {
        assert!(!head.contains(not_sent), "{not_sent}: {head}");
    }
}

#[test]
fn credentials_stay_behind_when_another_host_is_named() {
    let (here, there) = (origin(), origin());
    let front = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://127.0.0.1:{}", front.local_addr().unwrap().port());
    let to = there.base();
    let asked = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = front.accept().unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).unwrap();
        let reply =
            format!("HTTP/1.1 302 Found\r\nLocation: {to}/good.jpg\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(reply.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..length]).to_ascii_lowercase()
    });
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{base}\"\nhttp.bearer_env = \"CARGO_PKG_NAME\"\nhttp.redirect_ports = [{}]\nallow = [\"127.0.0.1\"]\n",
        there.port()
    ));
    assert_eq!(house.get("/far/x.jpg").status, 200);
    assert!(
        asked
            .join()
            .unwrap()
            .contains("authorization: bearer andon-server")
    );
    assert!(
        !there
            .seen()
            .concat()
            .to_ascii_lowercase()
            .contains("authorization")
    );
    assert!(here.seen().is_empty());
}

#[test]
fn so_many_redirects_are_followed_and_no_more() {
    let origin = origin();
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{0}\"\nallow = [\"127.0.0.1\"]\n\
         [[origin]]\nprefix = \"/near\"\nhttp.base = \"{0}\"\nhttp.redirects = 0\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    assert_eq!(house.get("/far/hop/3/good.jpg").status, 200);
    let reply = house.get("/far/hop/4/good.jpg");
    assert_eq!(reply.status, 502);
    assert_eq!(reply.text(), "the origin sent us on more than 3 times\n");
    assert_eq!(house.get("/near/hop/1/good.jpg").status, 502);
}

#[test]
fn a_redirect_reaches_another_port_of_an_allowed_address_only_where_a_key_says_so() {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let inner = Origin::start(image, "");
    let to = |host: &str| format!("Location: http://{host}:{}/a.jpg\r\n", inner.port());
    let outer = Origin::start(Vec::new(), "");
    for (keys, status) in [
        (String::new(), 502),
        (format!("http.redirect_ports = [{}]\n", inner.port()), 200),
    ] {
        let house = House::with(&format!("{}{keys}", outer.keys()));
        for host in ["127.0.0.1", "localhost", "0x7f.1"] {
            outer.answers(302, &to(host), Vec::new());
            let before = inner.asked();
            let reply = house.get(&format!("/small_light(dw=9)/far/{host}.jpg"));
            assert_eq!(reply.status, status, "{host}: {}", reply.text());
            assert_eq!(inner.asked() > before, status == 200, "{host}");
        }
    }
}

#[test]
fn a_connection_that_breaks_before_its_answer_costs_one_more_try() {
    let origin = origin();
    let with = |retries: u32| {
        House::with(&format!(
            "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nhttp.retries = {retries}\nallow = [\"127.0.0.1\"]\n",
            origin.base()
        ))
    };
    assert_eq!(with(0).get("/far/once.jpg").status, 502);
    assert_eq!(origin.count("/once.jpg"), 1);
    assert_eq!(with(2).get("/far/close-at-once").status, 502);
    assert_eq!(origin.count("/close-at-once"), 3);
}

#[test]
fn nothing_that_is_not_public_is_asked_unless_the_origin_is_allowed_to_be_there() {
    let origin = origin();
    for base in [
        origin.base(),
        format!("http://localhost:{}", origin.port()),
        format!("http://0x7f.1:{}", origin.port()),
        format!("http://[::ffff:127.0.0.1]:{}", origin.port()),
    ] {
        let house = House::with(&format!(
            "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{base}\"\n"
        ));
        let reply = house.get("/far/good.jpg");
        assert_eq!(reply.status, 502, "{base}");
        assert!(
            reply.text().contains("may not be asked"),
            "{base}: {}",
            reply.text()
        );
    }
    assert!(origin.seen().is_empty());
}

#[test]
fn a_slow_origin_is_to_blame_even_when_our_own_patience_is_shorter() {
    let origin = origin();
    let house = House::with(&format!(
        "[timeouts]\nrequest = \"300ms\"\n\
         [[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nallow = [\"127.0.0.1\"]\n",
        origin.base()
    ));
    for path in ["hang-before-headers", "hang-mid-body", "trickle-body"] {
        let reply = house.get(&format!("/small_light(dw=9)/far/{path}"));
        assert_eq!(reply.status, 504, "{path}: {}", reply.text());
    }
}

#[test]
fn each_origin_has_limits_of_its_own() {
    let origin = origin();
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{0}\"\nallow = [\"127.0.0.1\"]\n\
         [[origin]]\nprefix = \"/far/small\"\nhttp.base = \"{0}\"\nallow = [\"127.0.0.1\"]\nmax_bytes = \"100B\"\n",
        origin.base()
    ));
    assert_eq!(house.get("/far/good.jpg").status, 200);
    for path in ["good.jpg", "chunked.jpg"] {
        let reply = house.get(&format!("/far/small/{path}"));
        assert_eq!(reply.status, 422, "{path}");
        assert!(reply.text().contains("limit of 100"), "{}", reply.text());
    }
}

#[test]
fn an_origin_that_hangs_takes_its_own_slots_and_nobody_elses() {
    let origin = origin();
    let house = House::with(&format!(
        "queue = 1\nworkers = 1\n[limits]\nfetches = 1\n\
         [[origin]]\nprefix = \"/slow\"\nhttp.base = \"{0}\"\nallow = [\"127.0.0.1\"]\nfetches = 1\n\
         [[origin]]\nprefix = \"/far\"\nhttp.base = \"{0}\"\nallow = [\"127.0.0.1\"]\nfetches = 1\n",
        origin.base()
    ));
    let mut waiting: Vec<_> = (0..8).map(|_| house.client()).collect();
    for client in &mut waiting {
        client.ask("GET", "/small_light(dw=9)/slow/hang-before-headers", &[]);
    }
    while origin.count("/hang-before-headers") == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(house.get("/small_light(dw=9)/a.jpg").status, 200);
    assert_eq!(house.get("/small_light(dw=9)/far/good.jpg").status, 200);
    assert_eq!(origin.count("/hang-before-headers"), 1);
}

#[test]
fn requests_over_the_rate_of_an_origin_wait_for_their_turn_or_are_refused_at_once() {
    let origin = origin();
    let house = house(
        &origin,
        "fetches_per_second = 1\n[timeouts]\nrequest = \"3500ms\"",
    );
    let began = std::time::Instant::now();
    let replies: Vec<_> = std::thread::scope(|scope| {
        let asked = (0..12).map(|index| {
            let target = format!("/small_light(dw=20)/far/{index}good.jpg");
            let house = &house;
            scope.spawn(move || house.get(&target))
        });
        let asked: Vec<_> = asked.collect();
        asked
            .into_iter()
            .map(|it| it.join().expect("a reply"))
            .collect()
    });
    let (served, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|it| it.status == 200);
    assert!(served.len() as u64 <= began.elapsed().as_secs() + 2);
    let mut paced = refused
        .iter()
        .filter(|reply| reply.text().contains("at most 1 times per second"))
        .peekable();
    assert!(!served.is_empty() && paced.peek().is_some());
    for reply in paced {
        assert_eq!(reply.status, 503);
        assert!(reply.header("retry-after").is_some());
    }
}
