//! Images of a web server behind TLS.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use crate::common::{House, sample};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A TLS server for `localhost` and 127.0.0.1 that answers every request with `reply` and closes, in
/// TLS's own way or by dropping the connection; and its certificate as PEM.
fn server(reply: Vec<u8>, says_goodbye: bool) -> (u16, String) {
    server_with(
        certificate(&["localhost", "127.0.0.1"]),
        reply,
        says_goodbye,
    )
}

/// Returns the parameters of a certificate for these host names.
fn certificate(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("names")
}

fn server_with(params: CertificateParams, reply: Vec<u8>, says_goodbye: bool) -> (u16, String) {
    let own = KeyPair::generate().expect("a key");
    let issued = params.self_signed(&own).expect("a certificate");
    let pem = issued.pem();
    let key = PrivateKeyDer::try_from(own.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![issued.der().clone()], key)
        .expect("a configuration");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its number").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("a connection");
            let mut stream = StreamOwned::new(connection, stream);
            if !matches!(stream.read(&mut [0; 4096]), Ok(1..)) || stream.write_all(&reply).is_err()
            {
                continue;
            }
            if says_goodbye {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
        }
    });
    (port, pem)
}

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

fn reply(head: &str) -> Vec<u8> {
    [
        format!("HTTP/1.1 200 OK\r\n{head}\r\n").into_bytes(),
        image_file(),
    ]
    .concat()
}

fn house(base: &str, ca: Option<&str>) -> House {
    let trust = ca.map_or("", |_| "http.ca = \"ca.pem\"");
    House::furnished(
        &format!(
            "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{base}\"\n{trust}\nallow = [\"127.0.0.1\", \"::1\"]\n"
        ),
        |folder: &Path| {
            std::fs::write(folder.join("ca.pem"), ca.unwrap_or_default()).expect("a file")
        },
    )
}

#[test]
fn an_origin_that_its_own_authority_vouches_for_is_believed() {
    let (port, ca) = server(
        reply(&format!("Content-Length: {}\r\n", image_file().len())),
        true,
    );
    for host in ["127.0.0.1", "localhost"] {
        let house = house(&format!("https://{host}:{port}"), Some(&ca));
        let reply = house.get("/far/a.jpg");
        assert_eq!(reply.status, 200, "{host}: {}", reply.text());
        assert_eq!(reply.body, image_file());
    }
}

#[test]
fn an_origin_that_nobody_vouches_for_is_not() {
    let (port, _) = server(
        reply(&format!("Content-Length: {}\r\n", image_file().len())),
        true,
    );
    let (_, other) = server(Vec::new(), true);
    for ca in [None, Some(other.as_str())] {
        let reply = house(&format!("https://127.0.0.1:{port}"), ca).get("/far/a.jpg");
        assert_eq!(reply.status, 502);
        assert!(
            reply.text().contains("no secure connection"),
            "{}",
            reply.text()
        );
    }
}

/// A certificate as `openssl req -x509` makes it: marked as an authority's.
fn marked_as_authority(names: &[&str]) -> CertificateParams {
    let mut params = certificate(names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

#[test]
fn a_certificate_that_is_signed_by_itself_is_believed_if_it_is_listed_and_fits() {
    let body = reply(&format!("Content-Length: {}\r\n", image_file().len()));
    let fitting = server_with(marked_as_authority(&["127.0.0.1"]), body.clone(), true);
    let misnamed = server_with(marked_as_authority(&["shop.example"]), body.clone(), true);
    let mut old = marked_as_authority(&["127.0.0.1"]);
    old.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let expired = server_with(old, body, true);
    let other = server_with(marked_as_authority(&["127.0.0.1"]), Vec::new(), true);
    for ((port, own), ca, status) in [
        (&fitting, &fitting.1, 200),
        (&fitting, &other.1, 502),
        (&misnamed, &misnamed.1, 502),
        (&expired, &expired.1, 502),
    ] {
        let reply = house(&format!("https://127.0.0.1:{port}"), Some(ca)).get("/far/a.jpg");
        assert_eq!(reply.status, status, "{own}: {}", reply.text());
    }
}

#[test]
fn behind_tls_a_body_without_a_length_is_whole_only_with_a_farewell() {
    let whole = server(reply("Connection: close\r\n"), true);
    let cut = server(reply("Connection: close\r\n"), false);
    for ((port, ca), expected) in [(whole, 200), (cut, 502)] {
        let reply = house(&format!("https://127.0.0.1:{port}"), Some(&ca)).get("/far/a.jpg");
        assert_eq!(reply.status, expected, "{}", reply.text());
    }
}

#[test]
fn a_handshake_that_never_comes_is_a_connection_that_was_not_made() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("https://{}", silent.local_addr().expect("its address"));
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{base}\"\nallow = [\"127.0.0.1\"]\ntimeouts.connect = \"200ms\"\n"
    ));
    let reply = house.get("/far/a.jpg");
    assert_eq!(reply.status, 504);
    assert_eq!(reply.text(), "the origin took no connection within 200ms\n");
}

#[test]
fn a_redirect_from_https_to_http_is_not_followed() {
    let head = "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n";
    let (port, ca) = server(head.into(), true);
    let reply = house(&format!("https://127.0.0.1:{port}"), Some(&ca)).get("/far/a.jpg");
    assert_eq!(reply.status, 502);
    assert!(
        reply.text().contains("from https to http"),
        "{}",
        reply.text()
    );
}
