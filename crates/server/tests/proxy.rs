//! Clients behind proxies. The tests read the metrics, which are open to local clients only, to see whether the server
//! takes a client for a local one.

use crate::common::{Client, House};

const HIT: &str = "/small_light(dw=60)/a.jpg";

/// Is the client of this request taken for one of this machine?
fn is_local(house: &House, header: &str, value: &str) -> bool {
    let reply = house.request("GET", "/metrics", &[(header, value)]);
    match reply.status {
        200 => true,
        404 => false,
        status => panic!("{status}: {}", reply.text()),
    }
}

#[test]
fn the_header_of_a_trusted_proxy_says_whose_request_it_is() {
    let house = House::with("[proxy]\ntrusted = [\"127.0.0.1\"]\nheader = \"x-forwarded-for\"");
    assert!(
        house.get("/metrics").status == 200,
        "a proxy that names nobody"
    );
    assert!(!is_local(&house, "X-Forwarded-For", "192.0.2.7"));
    assert!(!is_local(&house, "X-Forwarded-For", "127.0.0.2, 192.0.2.7"));
    assert!(is_local(&house, "X-Forwarded-For", "192.0.2.7, 127.0.0.2"));
    assert!(
        !is_local(&house, "Forwarded", "for=127.0.0.1"),
        "another header"
    );
}

#[test]
fn nobody_else_is_believed() {
    for keys in [
        "",
        "[proxy]\ntrusted = [\"10.0.0.0/8\"]\nheader = \"x-forwarded-for\"",
    ] {
        let house = House::with(keys);
        // Neither what it says is, nor that nobody came between.
        assert!(!is_local(&house, "X-Forwarded-For", "127.0.0.1"));
    }
}

#[test]
fn hits_are_the_same_with_and_without_a_proxy() {
    let house = House::with("[proxy]\ntrusted = [\"127.0.0.1\"]\nheader = \"forwarded\"");
    let first = house.get(HIT);
    let mut client = house.client();
    for headers in [
        &[][..],
        &[("Forwarded", "for=192.0.2.7")],
        &[("Forwarded", "for=1"), ("Forwarded", "for=2")],
    ] {
        let reply = client.request("GET", HIT, headers);
        assert_eq!((reply.status, &reply.body), (200, &first.body));
    }
}

#[test]
fn the_proxy_protocol_says_whose_connection_it_is() {
    let keys = "listen = [\"127.0.0.1:0\"]\n[limits]\nconnections_per_client = 1\n\
                [proxy]\ntrusted = [\"127.0.0.1\"]\nprotocol = [\"127.0.0.1:0\"]";
    let house = House::with(keys);
    let connect = |line: &str| {
        let mut client = house.client();
        client.send(line);
        client
    };
    let other = "PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n";
    let mut first = connect(other);
    assert_eq!(first.get("/metrics").status, 404);
    assert_eq!(first.get(HIT).status, 200);
    assert_eq!(
        connect(other).get(HIT).status,
        503,
        "a second connection of one client"
    );
    let another = "PROXY TCP4 192.0.2.8 192.0.2.1 4711 80\r\n";
    assert_eq!(connect(another).get(HIT).status, 200);
    assert_eq!(
        connect("PROXY TCP4 127.0.0.1 127.0.0.1 4711 80\r\n")
            .get("/metrics")
            .status,
        200
    );
    assert_eq!(connect("PROXY UNKNOWN\r\n").get("/healthz").status, 200);
    // Without the header, and from somebody who is not trusted.
    assert!(
        connect("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            .rest()
            .is_empty()
    );
    let mut stranger = Client::connect_from([127, 0, 0, 9], house.address());
    let sent = stranger.try_send(format!("{another}GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert!(sent.is_err() || stranger.rest().is_empty());
}

#[test]
fn a_configuration_that_believes_nobody_is_refused() {
    for (keys, words) in [
        ("[proxy]\nheader = \"forwarded\"", "proxy.trusted"),
        (
            "[proxy]\ntrusted = [\"unix\"]\nprotocol = [\"127.0.0.1:1\"]",
            "127.0.0.1:1 is neither in",
        ),
        ("[proxy]\ntrusted = [\"10.0.0\"]", "10.0.0"),
        ("[proxy]\nheader = \"x-real-ip\"", "x-forwarded-for"),
    ] {
        let error = andon_server::Config::parse(keys, "/srv".as_ref())
            .expect_err(keys)
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}
