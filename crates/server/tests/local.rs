//! Parts of the server for local clients are closed to the clients of a proxy on the same machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::common::{Client, House};
use andon_server::Address;

const TOKEN: &str = "a token of some length";

/// A configuration that opens uploads, the playground and the metrics to local clients.
const ALL: &str =
    "[upload]\nallow = \"local\"\n[play]\nallow = \"local\"\n[metrics]\nallow = \"local\"\n";

/// Methods and targets of requests for the parts that only local clients and holders of the admin token may use.
const PARTS: &[(&str, &str)] = &[
    ("GET", "/metrics"),
    ("GET", "/_andon/play"),
    ("GET", "/_andon/play/play.js"),
    ("GET", "/_andon/play/words"),
    ("GET", "/_andon/play/images"),
    ("GET", "/_andon/board"),
    ("GET", "/_andon/board/events"),
    ("POST", "/_andon/play/render?recipe=same&source=/a.jpg"),
    ("POST", "/_andon/render?recipe=same"),
    ("POST", "/_andon/purge"),
];

/// Starts a proxy that forwards as nginx does with nothing but `proxy_pass http://127.0.0.1:PORT`: HTTP/1.0, its own
/// Host, no header that names the client. Returns its address.
fn bare_proxy(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { break };
            std::thread::spawn(move || pass_on(client, to));
        }
    });
    address
}

fn pass_on(mut client: TcpStream, to: SocketAddr) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let first = lines
        .next()
        .unwrap_or_default()
        .replace("HTTP/1.1", "HTTP/1.0");
    let kept = lines.filter(|line| {
        let name = line
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        name != "host" && name != "connection"
    });
    let kept: String = kept.map(|line| format!("{line}\r\n")).collect();
    let mut server = TcpStream::connect(to)?;
    server.write_all(
        format!("{first}\r\nHost: {to}\r\nConnection: close\r\n{kept}\r\n").as_bytes(),
    )?;
    std::io::copy(&mut server, &mut client)?;
    Ok(())
}

/// The status of a request without a body.
fn status(address: SocketAddr, method: &str, target: &str, headers: &str) -> u16 {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: images.example\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n"
    );
    stream
        .write_all(request.as_bytes())
        .expect("an open connection");
    let mut reply = String::new();
    let mut bytes = [0; 64];
    while reply.len() < 16 {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(read) => reply += &String::from_utf8_lossy(&bytes[..read]),
        }
    }
    let code = reply.split(' ').nth(1).and_then(|it| it.parse().ok());
    code.unwrap_or_else(|| panic!("{method} {target}: {reply:?}"))
}

#[test]
fn behind_a_bare_proxy_nothing_local_answers() {
    let house = House::configured(ALL);
    let proxy = bare_proxy(house.address());
    assert_eq!(status(proxy, "GET", "/a.jpg", ""), 200);
    for (method, target) in PARTS {
        for address in [proxy, house.address()] {
            let status = status(address, method, target, "");
            assert!(
                matches!(status, 401 | 403 | 404 | 405),
                "{method} {target}: {status}"
            );
        }
    }
}

#[test]
fn the_token_opens_what_is_on_through_a_proxy_too() {
    let house = House::configured(&format!("{ALL}[admin]\ntoken = \"{TOKEN}\"\n"));
    let proxy = bare_proxy(house.address());
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    for (method, target) in PARTS {
        let (with, without) = (
            status(proxy, method, target, &token),
            status(proxy, method, target, ""),
        );
        // The files of the board hold nothing; empty bodies are refused for what they are.
        let is_file = *target == "/_andon/board";
        assert!(
            is_file || matches!(without, 401 | 403 | 404 | 405),
            "{method} {target}: {without}"
        );
        assert!(matches!(with, 200 | 400 | 415), "{method} {target}: {with}");
        let other_site = format!("{token}Sec-Fetch-Site: cross-site\r\n");
        if *target != "/_andon/purge" {
            let status = status(proxy, method, target, &other_site);
            assert_eq!(status, 403, "{method} {target}");
        }
    }
}

#[test]
fn a_unix_socket_is_local_unless_a_proxy_or_another_site_asks() {
    let house = House::configured(&format!(
        "listen = [\"127.0.0.1:0\", \"unix:a.sock\"]\n{ALL}"
    ));
    let path = house.folder.path().join("a.sock");
    let ask = |target: &str, host: &str, header: &str| {
        let mut client = Client::connect_unix(&path);
        client.send(format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n"
        ));
        client.reply("GET").status
    };
    for target in ["/metrics", "/_andon/play", "/_andon/play/words"] {
        for host in ["andon", "localhost", "127.0.0.1"] {
            assert_eq!(ask(target, host, ""), 200, "{target} {host}");
        }
        for (host, header) in [
            ("images.example", ""),
            ("localhost", "X-Forwarded-For: 127.0.0.1\r\n"),
            ("localhost", "X-Real-IP: 192.0.2.7\r\n"),
            ("localhost", "Via: 1.1 proxy\r\n"),
            ("localhost", "Origin: https://evil.example\r\n"),
            ("localhost", "Sec-Fetch-Site: cross-site\r\n"),
        ] {
            let status = ask(target, host, header);
            assert!(
                matches!(status, 403 | 404),
                "{target} {host} {header}: {status}"
            );
        }
    }
    assert_eq!(house.get("/metrics").status, 404);
}

#[test]
fn an_address_for_metrics_answers_no_page_of_another_site() {
    let house = House::configured("[metrics]\nlisten = \"127.0.0.1:0\"\n");
    let Some(Address::Tcp(address)) = house.addresses.last() else {
        panic!("no address in {:?}", house.addresses);
    };
    let ask = |target: &str, host: &str, header: &str| {
        let mut client = Client::connect(*address);
        client.send(format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n"
        ));
        client.reply("GET").status
    };
    for target in ["/metrics", "/_andon/board"] {
        assert_eq!(ask(target, "127.0.0.1:9180", ""), 200, "{target}");
        assert_eq!(ask(target, "andon:9180", ""), 200, "{target}");
        // A name that was made to lead here, and a page that asks across.
        assert_eq!(ask(target, "evil.example:9180", ""), 403, "{target}");
        let across = "Sec-Fetch-Site: cross-site\r\n";
        assert_eq!(ask(target, "127.0.0.1:9180", across), 403, "{target}");
    }
    assert_eq!(ask("/healthz", "evil.example", ""), 200);
}
