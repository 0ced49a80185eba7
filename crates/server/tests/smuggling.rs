//! Requests that two servers may read in two ways: each ends its connection, and what was hidden behind it
//! is never taken for a request.

use crate::common::{House, wait_for_figure};

/// The path of a request that nobody sent.
const HIDDEN: &str = "/hidden.txt";
const SECRET: &str = "the hidden request was answered";

fn house() -> House {
    let keys = "[timeouts]\nheader = \"400ms\"\nkeep_alive = \"400ms\"\nbody = \"400ms\"\n[upload]\nallow = \"all\"\n";
    let house = House::with(keys);
    house.put("hidden.txt", SECRET);
    house.put("b.txt", "b");
    house
}

/// Sends `bytes`, and hands back all that is answered until the server closes the connection.
fn answers(house: &House, bytes: &[u8]) -> String {
    let mut client = house.client();
    // A server that has refused already may have closed by now.
    let _ = client.try_send(bytes);
    String::from_utf8_lossy(&client.rest()).into_owned()
}

fn statuses(answers: &str) -> Vec<&str> {
    let is_code = |code: &&str| code.bytes().all(|byte| byte.is_ascii_digit());
    answers
        .split("HTTP/1.1 ")
        .filter_map(|rest| rest.get(..3))
        .filter(is_code)
        .collect()
}

/// Names and bytes of requests that have to be refused. The test sends a request for [`HIDDEN`] behind each.
const REFUSED: &[(&str, &str)] = &[
    (
        "two lengths",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n",
    ),
    (
        "a list of lengths",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0, 44\r\n\r\n",
    ),
    (
        "a length with a sign",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: +44\r\n\r\n",
    ),
    (
        "a negative length",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n",
    ),
    (
        "a hexadecimal length",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0x10\r\n\r\n",
    ),
    (
        "an empty length",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \r\n\r\n",
    ),
    (
        "a length beyond all numbers",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 18446744073709551617\r\n\r\n",
    ),
    (
        "a space before the colon",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length : 44\r\n\r\n",
    ),
    (
        "the same of the coding",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "an unknown coding",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a coding after chunked",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    ),
    (
        "the same on two lines",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    ),
    (
        "a coding of HTTP/1.1 in HTTP/1.0",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a folded line",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a folded value",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX: a\r\n b\r\n\r\n",
    ),
    (
        "a space before the first header",
        "GET /b.txt HTTP/1.1\r\n X: a\r\nHost: t\r\n\r\n",
    ),
    (
        "a bare CR in a value",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX: a\rContent-Length: 44\r\n\r\n",
    ),
    (
        "a NUL in a value",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX: a\0b\r\n\r\n",
    ),
    (
        "a NUL in a name",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX\0: a\r\n\r\n",
    ),
    (
        "a nameless header",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\n: a\r\n\r\n",
    ),
    (
        "a line without a colon",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nContent-Length\r\n\r\n",
    ),
    (
        "a space in the target",
        "GET /b.txt /x HTTP/1.1\r\nHost: t\r\n\r\n",
    ),
    (
        "coding and length",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    ),
    (
        "length and coding",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "the same of an upload",
        "POST /_andon/render HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "lines that end in LF alone",
        "GET /b.txt HTTP/1.1\nHost: t\n\n",
    ),
    (
        "one such line",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX: a\nContent-Length: 0\r\n\r\n",
    ),
    (
        "an end of the head in LF alone",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\n\n",
    ),
    (
        "one before the end of a length",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 1\nX: a\r\n\r\na",
    ),
    ("another version", "GET /b.txt HTTP/1.2\r\nHost: t\r\n\r\n"),
];

#[test]
fn what_may_be_read_in_two_ways_is_400_and_the_end() {
    let house = house();
    for (name, head) in REFUSED {
        let bytes = format!("{head}GET {HIDDEN} HTTP/1.1\r\nHost: t\r\n\r\n");
        let answers = answers(&house, bytes.as_bytes());
        assert!(!answers.contains(SECRET), "{name}: {answers}");
        assert_eq!(statuses(&answers), ["400"], "{name}: {answers}");
        assert_eq!(house.get("/b.txt").text(), "b", "the next one");
    }
}

/// Heads that are legal, or read leniently as the standard allows: they get one response at most, and none to the hidden
/// request.
const ANSWERED_ONCE: &[(&str, &str)] = &[
    (
        "chunked twice",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a body on GET",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a coding in capitals after a tab",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding:\tCHUNKED\r\n\r\n0\r\n\r\n",
    ),
    (
        "a chunk of unknown size",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    ),
    (
        "a chunk that is longer than it says",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
    ),
    (
        "a bare LF after a chunk's size",
        "POST /b.txt HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0;a\n\r\n\r\n",
    ),
    (
        "a length that takes the hidden one in",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 41\r\n\r\n",
    ),
    (
        "equal lengths that take it in",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 41\r\nContent-Length: 41\r\n\r\n",
    ),
    (
        "a header's value that is a request",
        "GET /b.txt HTTP/1.1\r\nHost: t\r\nX: ",
    ),
];

#[test]
fn what_is_legal_is_answered_once_and_what_is_hidden_never() {
    let house = house();
    for (name, head) in ANSWERED_ONCE {
        let bytes = format!("{head}GET {HIDDEN} HTTP/1.1\r\nHost: t\r\n\r\n");
        let answers = answers(&house, bytes.as_bytes());
        assert!(!answers.contains(SECRET), "{name}: {answers}");
        assert_eq!(statuses(&answers).len(), 1, "{name}: {answers}");
        assert_eq!(house.get("/b.txt").text(), "b", "the next one");
    }
}

#[test]
fn what_is_no_request_is_counted_too() {
    let house = house();
    answers(&house, b"nonsense\r\n\r\n");
    let many = "x: y\r\n".repeat(20_000);
    answers(&house, format!("GET / HTTP/1.1\r\n{many}").as_bytes());
    let counted = "andon_errors_total{cause=\"malformed\",fault=\"client\"}";
    wait_for_figure(&house, counted, 2.0);
}

#[test]
fn http_2_without_leave_is_the_end() {
    let house = house();
    let request =
        format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET {HIDDEN} HTTP/1.1\r\nHost: t\r\n\r\n");
    let answers = answers(&house, request.as_bytes());
    assert!(matches!(*statuses(&answers), [] | ["400"]), "{answers}");
}

#[test]
fn a_bare_lf_is_refused_on_every_way_to_an_answer() {
    let house = house();
    let target = "/small_light(dw=10)/a.jpg";
    let mut client = house.client();
    // The second is answered beneath hyper.
    for _ in 0..2 {
        assert_eq!(client.get(target).status, 200);
    }
    client.send(format!("GET {target} HTTP/1.1\nHost: t\n\n"));
    assert_eq!(client.reply("GET").status, 400);
    assert_eq!(client.rest(), b"", "closed");

    let mut client = house.client();
    // Those of a body are its own.
    client.send(
        "POST /_andon/render?recipe=same HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\n\n\n\n",
    );
    assert_eq!(client.reply("POST").status, 415);
    client.send("GET /healthz HTTP/1.1\r\nHost: t\r\nX: a");
    client.send("\n\r\n");
    assert_eq!(client.reply("GET").status, 400);
    assert_eq!(client.rest(), b"", "closed");
}

#[test]
fn ten_thousand_headers_are_431_and_a_target_of_64_kib_is_414_or_431() {
    let house = house();
    let headers: String = (0..10_000)
        .map(|number| format!("x{number}: y\r\n"))
        .collect();
    let request = format!("GET /b.txt HTTP/1.1\r\nHost: t\r\n{headers}\r\n");
    let many = answers(&house, request.as_bytes());
    assert!(matches!(*statuses(&many), [] | ["431"]), "{many}");
    let request = format!("GET /{} HTTP/1.1\r\nHost: t\r\n\r\n", "x".repeat(64 << 10));
    let long = answers(&house, request.as_bytes());
    assert!(matches!(*statuses(&long), [] | ["414" | "431"]), "{long}");
    assert_eq!(house.get("/b.txt").text(), "b", "the next one");
}
