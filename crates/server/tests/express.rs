//! A hit is answered by the fast path below hyper where that is possible, with the same bytes as by hyper.

use crate::common::{Client, House, Reply, sample};

const TARGET: &str = "/small_light(dw=40,of=auto)/a.jpg";

/// A file that is served unchanged.
const FILE: &str = "/a.jpg";

#[test]
fn both_ways_give_the_same_reply_to_the_same_request() {
    for keys in [
        "",
        "[cors]\norigins = [\"https://a\"]\n",
        "[cors]\norigins = [\"*\"]\n",
    ] {
        let house = House::with(&format!("{keys}[cache]\nfs_fresh = \"1h\"\n"));
        for accept in ["image/webp", "*/*"] {
            let reply = house.request("GET", TARGET, &[("Accept", accept)]);
            assert_eq!(reply.status, 200);
        }
        assert_eq!(house.get(FILE).status, 200);
        for request in [requests(TARGET), requests(FILE)].concat() {
            let method = request.split(' ').next().expect("a method");
            let [express, hyper] = [express(&house), hyper(&house)].map(|mut client| {
                client.send(&request);
                let mut reply = client.reply(method);
                let old = request.contains("HTTP/1.0") && reply.header("connection").is_none();
                let closes = old || reply.header("connection") == Some("close");
                make_timeless(&mut reply);
                let next = match closes {
                    true => client.rest(),
                    false => client.get("/healthz").body,
                };
                (reply, next)
            });
            assert_eq!(express, hyper, "{request}");
        }
    }
}

#[test]
fn every_hit_is_counted_once() {
    let house = House::with("[cache]\nfs_fresh = \"1h\"\n");
    let mut client = express(&house);
    client.get(TARGET);
    let figures = [
        "andon_requests_total{status=\"2xx\"}",
        "andon_stage_duration_seconds_count{stage=\"cache\"}",
        "andon_cache_lookups_total{tier=\"memory\",outcome=\"hit\"}",
    ];
    let read = || figures.map(|name| figure(&house, name));
    let before = read();
    for _ in 0..10 {
        assert_eq!(client.get(TARGET).status, 200);
    }
    let after = read();
    for ((name, before), after) in figures.iter().zip(before).zip(after) {
        assert_eq!(after - before, 10, "{name}");
    }
}

#[test]
fn a_file_that_was_served_is_looked_at_for_every_request() {
    let house = House::new();
    let mut client = express(&house);
    let first = client.get(FILE);
    assert_eq!(first.body, client.get(FILE).body);
    assert_eq!(client.get(FILE).header("etag"), first.header("etag"));

    // Another image, and one with something behind its end.
    let other = std::fs::read(sample("jpeg/440.jpg")).unwrap();
    house.put("a.jpg", [&other[..], b"and more"].concat());
    for _ in 0..3 {
        let reply = client.get(FILE);
        assert_eq!((reply.status, &reply.body), (200, &other));
        assert_ne!(reply.header("etag"), first.header("etag"));
    }
    std::fs::remove_file(house.file("a.jpg")).unwrap();
    assert_eq!(client.get(FILE).status, 404);
}

#[test]
fn a_large_file_arrives_whole_whoever_is_slow() {
    let house = House::new();
    let image = std::fs::read(sample("large/oakland-zoo-otters.jpg")).unwrap();
    house.put("large.jpg", &image);
    let mut clients = [(); 3].map(|()| express(&house));
    assert_eq!(clients[0].get("/large.jpg").body, image);
    for client in &mut clients {
        client.send("GET /large.jpg HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    // Nobody has read anything yet, and others are answered.
    assert_eq!(house.get(FILE).status, 200);
    for mut client in clients {
        assert_eq!(client.reply("GET").body, image);
        assert_eq!(client.get(FILE).status, 200);
    }
}

/// Returns requests for `target` with different methods, headers and versions, from the plainest to malformed ones.
fn requests(target: &str) -> Vec<String> {
    let headers = [
        "",
        "User-Agent: x\r\nCookie: a=b\r\n",
        "Accept: image/webp\r\n",
        "Accept: image/webp\r\nAccept: image/png\r\n",
        "Range: bytes=3-9\r\n",
        "Range: bytes=999999-\r\n",
        "If-None-Match: *\r\n",
        "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\r\n",
        "Origin: https://a\r\n",
        "Origin: https://b\r\n",
        "Connection: keep-alive\r\n",
        "Connection: close\r\n",
        "Host: second\r\n",
    ];
    let mut requests = Vec::new();
    for method in ["GET", "HEAD"] {
        for headers in headers {
            requests.push(format!(
                "{method} {target} HTTP/1.1\r\nHost: h\r\n{headers}\r\n"
            ));
        }
    }
    for request in [
        format!("GET {target} HTTP/1.1\r\n\r\n"),
        format!("GET {target} HTTP/1.0\r\n\r\n"),
        format!("HEAD {target} HTTP/1.0\r\nHost: h\r\nConnection: close\r\n\r\n"),
        format!("GET {target} HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"),
        format!("GET http://h{target} HTTP/1.1\r\nHost: h\r\n\r\n"),
        format!("GET {target}#part HTTP/1.1\r\nHost: h\r\n\r\n"),
        format!("GET {target}?query HTTP/1.1\r\nHost: h\r\n\r\n"),
        format!("GET {target} HTTP/1.1\nHost: h\n\n"),
        format!("DELETE {target} HTTP/1.1\r\nHost: h\r\n\r\n"),
    ] {
        requests.push(request);
    }
    requests
}

/// A client whose hits need not go through hyper.
fn express(house: &House) -> Client {
    house.client()
}

/// A client whose hits all go through hyper, because its first request came with a body, if an empty one.
fn hyper(house: &House) -> Client {
    let mut client = house.client();
    client.send("GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.reply("GET").status, 200);
    client
}

/// Removes times, and sorts the headers.
fn make_timeless(reply: &mut Reply) {
    for (name, value) in &mut reply.headers {
        let end = match name.as_str() {
            "date" => "",
            "server-timing" => "dur=",
            "cache-status" => "ttl=",
            _ => continue,
        };
        if let Some(place) = value.find(end) {
            value.truncate(place);
        }
    }
    reply.headers.sort();
}

fn figure(house: &House, name: &str) -> u64 {
    let page = house.get("/metrics").text();
    let line = page.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {page}"))
}
