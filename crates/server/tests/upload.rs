//! Images that come with the request, over real sockets.

use std::thread;
use std::time::Duration;

use crate::common::{Client, House, Reply, figure, sample};
use andon_codecs::ALL;
use andon_pixels::{Encode, Frame, Grid, Image, Model, Never, Plane};

const OPEN: &str = "[upload]\nallow = \"local\"\n";

fn photo() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

fn post(client: &mut Client, query: &str, body: &[u8]) -> Reply {
    client.ask(
        "POST",
        &format!("/_andon/render{query}"),
        &[("Content-Length", &body.len().to_string())],
    );
    client.send(body);
    client.reply("POST")
}

#[test]
fn a_get_and_an_upload_of_one_image_are_answered_with_the_same_bytes() {
    let house = House::with(OPEN);
    let source = photo();
    for (options, is_source) in [
        ("dw=100,dh=100", false),
        ("of=webp,q=60", false),
        ("dw=60,dh=60,da=s,cw=60,ch=60", false),
        // It would only be larger if it were encoded again.
        ("q=100", true),
    ] {
        let got = house.get(&format!("/small_light({options})/a.jpg"));
        let posted = post(
            &mut house.client(),
            &format!("?small_light={options}"),
            &source,
        );
        assert_eq!((got.status, posted.status), (200, 200), "{options}");
        assert_eq!(got.header("content-type"), posted.header("content-type"));
        assert!(got.body == posted.body, "{options}");
        assert_eq!(got.body == source, is_source, "{options}");
    }
}

#[test]
fn a_form_is_told_how_an_image_is_sent() {
    let house = House::with("[upload]\nallow = \"local\"\n");
    let form = "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.jpg\"\r\n\r\n\r\n--x--\r\n";
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/render?recipe=same HTTP/1.1\r\nHost: t\r\nContent-Type: Multipart/Form-Data; boundary=x\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    ));
    let reply = client.reply("POST");
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("--data-binary @"), "{}", reply.text());
}

#[test]
fn what_is_wrong_with_an_upload_or_too_large_in_a_url_is_the_clients_fault() {
    let house = House::with("[upload]\nallow = \"local\"\n");
    let mut client = house.client();
    client.send(
        "POST /_andon/render?recipe=same HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc",
    );
    assert_eq!(client.reply("POST").status, 415);
    assert_eq!(house.get("/small_light(dw=60000,ds=s)/a.jpg").status, 422);
    house.put("broken.jpg", "abc");
    assert_eq!(house.get("/small_light(dw=6)/broken.jpg").status, 415);
    let figures = house.get("/metrics").text();
    for counted in [
        "andon_errors_total{cause=\"unknown_format\",fault=\"client\"} 1",
        "andon_errors_total{cause=\"limit\",fault=\"client\"} 1",
        "andon_errors_total{cause=\"unknown_format\",fault=\"origin\"} 1",
    ] {
        assert!(figures.contains(counted), "{counted}: {figures}");
    }
}

#[test]
fn a_posted_image_comes_back_as_the_recipe_wants_it() {
    let house = House::with(OPEN);
    let mut client = house.client();
    for (query, format) in [
        ("?recipe=fit:100x100", "jpeg"),
        ("?recipe=fit%3A100x100%2Cas%3Awebp", "webp"),
        ("?small_light=dw=100,dh=100", "jpeg"),
        ("?small_light=dw%3D100,dh%3D100,of%3Dpng", "png"),
    ] {
        let reply = post(&mut client, query, &photo());
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        assert_eq!(
            (reply.size(), reply.format()),
            ((100, 75), format),
            "{query}"
        );
        let media_type = format!("image/{format}");
        assert_eq!(reply.header("content-type"), Some(&*media_type));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn the_recipe_may_stand_in_a_header() {
    let house = House::with(OPEN);
    let mut client = house.client();
    let length = photo().len().to_string();
    let headers = [
        ("Andon-Recipe", "fit:100x100"),
        ("Content-Length", &*length),
    ];
    client.ask("POST", "/_andon/render", &headers);
    client.send(photo());
    assert_eq!(client.reply("POST").size(), (100, 75));
}

#[test]
fn an_icon_of_the_overlay_folder_is_laid_over_it() {
    let house = House::furnished(
        &format!("{OPEN}[small_light]\nmaterial_dir = \"icons\"\n"),
        |folder| {
            std::fs::create_dir(folder.join("icons")).expect("a folder");
            std::fs::copy(sample("jpeg/420.jpg"), folder.join("icons/star.jpg")).expect("an icon");
        },
    );
    let mut client = house.client();
    let with = post(
        &mut client,
        "?recipe=over:star.jpg:200:100,as:png",
        &photo(),
    );
    let without = post(&mut client, "?recipe=as:png", &photo());
    assert_eq!((with.status, without.status), (200, 200), "{}", with.text());
    assert_eq!(with.size(), (400, 300));
    assert_ne!(with.body, without.body);
    let missing = post(&mut client, "?recipe=over:moon.png:0:0", &photo());
    assert_eq!(missing.status, 400);
    assert!(missing.text().contains("moon.png"), "{}", missing.text());
}

#[test]
fn a_unix_socket_takes_images_too_and_a_body_in_chunks() {
    let house = House::with(&format!("listen = [\"unix:s.sock\"]\n{OPEN}"));
    let mut client = Client::connect_unix(&house.folder.path().join("s.sock"));
    client.ask(
        "POST",
        "/_andon/render?recipe=fit:40x40",
        &[("Transfer-Encoding", "chunked")],
    );
    for chunk in photo().chunks(1000) {
        client.send(format!("{:x}\r\n", chunk.len()));
        client.send(chunk);
        client.send("\r\n");
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.reply("POST").size(), (40, 30));
}

#[test]
fn uploads_are_off_until_they_are_allowed() {
    let house = House::new();
    let reply = post(&mut house.client(), "?recipe=fit:10x10", &photo());
    assert_eq!(reply.status, 403);
    assert!(reply.text().contains("[upload] allow"), "{}", reply.text());
}

#[test]
fn an_image_over_the_limit_is_413_whether_its_length_is_told_or_not() {
    let house = House::with(&format!("{OPEN}[limits]\nsource_bytes = 2000\n"));
    let mut client = house.client();
    let told = post(&mut client, "?recipe=fit:10x10", &[7; 2001]);
    assert_eq!(told.status, 413);
    let over = "the image is over the limit of 2000 bytes; `limits.source_bytes`";
    assert!(told.text().starts_with(over), "{}", told.text());
    let mut client = house.client();
    client.ask(
        "POST",
        "/_andon/render?recipe=fit:10x10",
        &[("Transfer-Encoding", "chunked")],
    );
    client.send("bb8\r\n");
    client.send([7; 3000]);
    client.send("\r\n0\r\n\r\n");
    assert_eq!(client.reply("POST").status, 413);
    assert_eq!(house.get("/healthz").status, 200);
}

#[test]
fn who_expects_a_go_gets_one_or_a_refusal_before_a_byte_is_sent() {
    let house = House::with(&format!("{OPEN}[limits]\nsource_bytes = \"64KiB\"\n"));
    let body = photo();
    let length = body.len().to_string();
    let ask = |length: &str| {
        let mut client = house.client();
        let headers = [("Expect", "100-continue"), ("Content-Length", length)];
        client.ask("POST", "/_andon/render?recipe=fit:40x40", &headers);
        client
    };
    let mut client = ask(&length);
    let go = String::from_utf8_lossy(&client.some(1000)).into_owned();
    assert_eq!(go, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(&body);
    assert_eq!(client.reply("POST").size(), (40, 30));
    assert_eq!(ask("70000").reply("POST").status, 413);
}

#[test]
fn a_body_that_stalls_is_given_up_and_the_next_one_served() {
    let house = House::with(&format!("{OPEN}[timeouts]\nbody = \"200ms\"\n"));
    let mut client = house.client();
    let headers = [("Content-Length", "1000")];
    client.ask("POST", "/_andon/render?recipe=fit:40x40", &headers);
    client.send("some");
    assert_eq!(client.reply("POST").status, 408);
    assert_eq!(client.rest(), b"", "the connection is closed");
    let next = post(&mut house.client(), "?recipe=fit:40x40", &photo());
    assert_eq!(next.status, 200);
}

#[test]
fn a_body_that_breaks_off_harms_nobody() {
    let house = House::with(OPEN);
    for _ in 0..20 {
        let mut client = house.client();
        let headers = [("Content-Length", "100000")];
        client.ask("POST", "/_andon/render?recipe=fit:40x40", &headers);
        client.send(&photo()[..500]);
    }
    let next = post(&mut house.client(), "?recipe=fit:40x40", &photo());
    assert_eq!(next.status, 200);
}

#[test]
fn what_is_not_understood_is_said_in_one_sentence() {
    let house = House::with(OPEN);
    let cases: [(&str, &[u8], u16, &str); 9] = [
        ("", &photo(), 400, "?recipe="),
        (
            "?recipe=fit:1x1&recipe=fit:2x2",
            &photo(),
            400,
            "exactly one",
        ),
        ("?wish=1", &photo(), 400, "known here: recipe, small_light"),
        ("?recipe=frobnicate:9", &photo(), 400, "frobnicate"),
        ("?small_light=dw=1)/x(", &photo(), 400, "small_light"),
        ("?recipe=fit:10x10", b"no image", 415, ""),
        ("?recipe=fit:10x10", b"", 400, "the body is empty"),
        (
            "?recipie=fit:10x10",
            &photo(),
            400,
            "did you mean `recipe`?",
        ),
        (
            "?recipe=fit:10x10&qualty%0A=9",
            &photo(),
            400,
            "parameter `qualty\\n`",
        ),
    ];
    for (query, body, status, part) in cases {
        let reply = post(&mut house.client(), query, body);
        assert_eq!(reply.status, status, "{query}: {}", reply.text());
        assert_eq!(reply.text().lines().count(), 1, "{query}");
        assert!(reply.text().contains(part), "{query}: {}", reply.text());
    }
    let get = house.get("/_andon/render?recipe=fit:10x10");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
}

#[test]
fn replies_to_uploads_have_the_headers_of_the_operator_and_the_permission_for_pages() {
    let house = House::with(&format!(
        "{OPEN}[headers]\nX-House = \"ours\"\n[cors]\norigins = [\"*\"]\n"
    ));
    for (query, status) in [("?recipe=fit:40x40", 200), ("?recipe=fot:40x40", 400)] {
        let reply = post(&mut house.client(), query, &photo());
        assert_eq!(reply.status, status, "{query}");
        assert_eq!(reply.header("x-house"), Some("ours"), "{query}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }
}

#[test]
fn many_uploads_at_once_come_back_whole_and_equal() {
    let house = House::with(OPEN);
    let expected = post(&mut house.client(), "?recipe=fit:90x90", &photo()).body;
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = house.client();
                for _ in 0..5 {
                    let reply = post(&mut client, "?recipe=fit:90x90", &photo());
                    assert_eq!((reply.status, &reply.body), (200, &expected));
                    thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
}

#[test]
fn an_upload_borrows_idle_cores() {
    let house = House::with(&format!("workers = 2\n{OPEN}"));
    // Noise, so that its file is long enough to be worth a second core.
    let mut random = 1_u32;
    let samples = (0..1200 * 1200).map(|_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    });
    let plane = Plane::U8(Grid::from_samples(1200, 1200, samples.collect()).unwrap());
    let frame = Frame::new(Model::Gray, 1200, 1200, vec![plane], None).unwrap();
    let jpeg = ALL.iter().find(|codec| codec.name() == "jpeg");
    let image = jpeg
        .expect("the codec")
        .encoder()
        .expect("an encoder")
        .encode(&Image::still(frame), &Encode::default(), &Never)
        .expect("an image");
    // Both threads have to be waiting before one of them can be lent.
    let patience = std::time::Instant::now() + Duration::from_secs(60);
    while figure(&house, "andon_stolen_tasks_total") == 0.0 {
        let reply = post(&mut house.client(), "?recipe=fit:100x100", &image);
        assert_eq!(reply.size(), (100, 100));
        assert!(std::time::Instant::now() < patience, "nobody was ever idle");
    }
}
