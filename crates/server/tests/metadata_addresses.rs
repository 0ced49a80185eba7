//! The server never connects to the metadata services of clouds, which hand out credentials, however their addresses
//! are written and whichever redirect leads to them, even if a configuration lists them and allows every address.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::common::House;
use crate::common::origin::Origin;

const ADDRESSES: [Ipv4Addr; 8] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(169, 254, 42, 42),
    Ipv4Addr::new(169, 254, 0, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

const ADDRESSES_6: [&str; 5] = [
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:c1::a9fe:a9fe",
];

/// Returns a number in the ways in which C libraries and browsers read a part of an address.
fn spelled(number: u32) -> [String; 5] {
    [
        format!("{number}"),
        format!("0{number:o}"),
        format!("0x{number:x}"),
        format!("0X{number:X}"),
        format!("0x{number:010x}"),
    ]
}

/// Returns hosts that are read as this address: one to four parts, each decimal, octal or hexadecimal.
fn hosts(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets().map(u32::from);
    let mut hosts = Vec::new();
    for parts in [
        &[a, b, c, d][..],
        &[a, b, c << 8 | d],
        &[a, b << 16 | c << 8 | d],
        &[a << 24 | b << 16 | c << 8 | d],
    ] {
        // Every spelling of each part, mixed with those of the others.
        for first in 0..5 {
            for step in 0..5 {
                let part =
                    |(at, part): (usize, &u32)| spelled(*part)[(first + at * step) % 5].clone();
                let host: Vec<String> = parts.iter().enumerate().map(part).collect();
                hosts.push(host.join("."));
            }
        }
    }
    hosts
}

/// Returns IPv6 addresses that carry this one.
fn carriers(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let mapped = address.to_ipv6_mapped();
    let all = [
        mapped,
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 63, !high, !low),
        Ipv6Addr::new(0x2a00, 0x1450, 1, 2, 0, 0x5efe, high, low),
    ];
    let whole = mapped
        .segments()
        .map(|word| format!("{word:04X}"))
        .join(":");
    all.iter()
        .map(|address| format!("[{address}]"))
        .chain([format!("[::ffff:{address}]"), format!("[{whole}]")])
        .collect()
}

/// Returns URLs of all metadata services, in as many spellings as a stranger may think of.
fn urls() -> BTreeSet<String> {
    let mut hosts: Vec<String> = ADDRESSES
        .iter()
        .flat_map(|address| [hosts(*address), carriers(*address)].concat())
        .collect();
    hosts.extend(ADDRESSES_6.map(|address| format!("[{address}]")));
    hosts.extend(ADDRESSES_6.map(|address| format!("[{}]", address.replace("::", ":0:0:0:0:0:"))));
    let mut urls = BTreeSet::new();
    for host in hosts {
        let escaped: String = host.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for host in [
            host.clone(),
            format!("{host}."),
            format!("{host}:80"),
            format!("images.example@{host}"),
            format!("{host}#@images.example"),
            format!("{host}\\@images.example"),
            escaped,
        ] {
            urls.insert(format!("http://{host}/latest/meta-data/iam/"));
        }
    }
    urls
}

/// Starts a server whose configuration allows everything that it can: all addresses, and the metadata services as
/// origins.
fn house(origin: &Origin) -> House {
    let services: Vec<String> = ADDRESSES
        .iter()
        .flat_map(|address| [vec![address.to_string()], carriers(*address)].concat())
        .chain(ADDRESSES_6.map(|address| format!("[{address}]")))
        .map(|host| format!("http://{host}/"))
        .collect();
    let all = "allow = [\"0.0.0.0/0\", \"::/0\"]\ntimeouts = { connect = \"500ms\" }";
    House::with(&format!(
        "[cache]\nmemory = \"0\"\n[native]\nenabled = true\n\
         [[origin]]\nhttp.urls = {services:?}\n{all}\n\
         [[origin]]\nprefix = \"/far\"\nhttp.base = \"http://127.0.0.1:{}\"\nhttp.redirect_ports = [80]\n{all}\n",
        origin.port()
    ))
}

/// Whether a response says that nothing was connected to.
fn is_refusal(status: u16, text: &str) -> bool {
    let denied = text.starts_with("the origin is at an address that may not be asked")
        || text.starts_with("the origin's name could not be resolved")
        || text.starts_with("the origin sent us on");
    matches!(status, 400 | 403 | 404) || status == 502 && denied
}

#[test]
fn no_url_in_a_thousand_spellings_reaches_a_metadata_service() {
    let origin = Origin::start(Vec::new(), "");
    let house = house(&origin);
    let (mut client, mut denied) = (house.client(), 0);
    let urls = urls();
    for url in &urls {
        let escaped: String = url.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let reply = client.get(&format!("/r/fit:10x10/{escaped}"));
        assert!(
            is_refusal(reply.status, &reply.text()),
            "{url}: {} {}",
            reply.status,
            reply.text()
        );
        denied += usize::from(reply.status == 502);
    }
    assert!(urls.len() > 1000, "{} spellings", urls.len());
    // Most come as far as the guard, which is what this test is about.
    assert!(denied > 500, "{denied} were denied");
    assert_eq!(origin.asked(), 0);
}

#[test]
fn no_overlay_in_hundreds_of_spellings_reaches_a_metadata_service() {
    let origin = Origin::start(Vec::new(), "");
    let house = house(&origin);
    let (mut client, mut denied) = (house.client(), 0);
    for url in urls().iter().step_by(3) {
        // Once as an argument, and once as a part of the path.
        let escaped: String = url.bytes().map(|byte| format!("%25{byte:02x}")).collect();
        let reply = client.get(&format!("/r/overlay:{escaped}:0:0/a.jpg"));
        let text = reply.text();
        let told = text.split_once("/iam/: ").map_or(&*text, |(_, told)| told);
        assert!(
            is_refusal(reply.status, told),
            "{url}: {} {text}",
            reply.status
        );
        denied += usize::from(reply.status == 502);
    }
    assert!(denied > 200, "{denied} were denied");
    assert_eq!(origin.asked(), 0);
}

#[test]
fn no_redirect_in_hundreds_of_spellings_reaches_a_metadata_service() {
    let origin = Origin::start(Vec::new(), "");
    let house = house(&origin);
    let (mut client, mut denied) = (house.client(), 0);
    // A third of them, of all kinds: each takes a request to the origin as well.
    let urls: Vec<String> = urls().into_iter().step_by(3).collect();
    for url in &urls {
        origin.answers(302, &format!("Location: {url}\r\n"), Vec::new());
        let reply = client.get("/r/fit:10x10/far/a.jpg");
        assert!(
            is_refusal(reply.status, &reply.text()),
            "{url}: {} {}",
            reply.status,
            reply.text()
        );
        denied += usize::from(reply.status == 502);
    }
    assert!(denied > 500, "{denied} were denied");
    assert_eq!(origin.asked(), urls.len());
}
