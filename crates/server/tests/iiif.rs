//! The IIIF Image API over a socket: what its public validator asks, with an image like the validator's, of 10x10 flat
//! squares of 100x100 px.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{House, Reply};
use serde_json::{Value, json};

const SQUARES: &str = "67352ccc-d1b0-11e1-89ae-279075081939.png";

const KEYS: &str = "[iiif]\nprefix = \"/iiif/3\"\nprefix2 = \"/iiif/2\"\n";

/// Python function that returns the colour of the test image's square in column `x` and row `y`, which is far from the
/// colours of its neighbours.
const COLOURS: &str = "def colour(x, y): return (x * 53 + y * 101) % 256, (x * 151 + y * 37) % 256, (x * 83 + y * 211) % 256\n";

fn python(script: &str, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("/usr/bin/python3")
        .args(["-c", &format!("{COLOURS}{script}")])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 with Pillow");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("an input");
    drop(pipe);
    let output = child.wait_with_output().expect("its end");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn house() -> House {
    House::furnished(KEYS, |folder| {
        let script = "import sys; from PIL import Image\n\
            image = Image.new('RGB', (1000, 1000))\n\
            for x in range(10):\n    for y in range(10): image.paste(colour(x, y), (x * 100, y * 100, x * 100 + 100, y * 100 + 100))\n\
            image.save(sys.argv[1])";
        let path = folder.join("root").join(SQUARES);
        python(script, &[path.to_str().expect("UTF-8")], "");
        assert!(path.is_file(), "no image was made");
    })
}

fn three(house: &House, parameters: &str) -> Reply {
    house.get(&format!("/iiif/3/{SQUARES}/{parameters}"))
}

/// A point of a result and the square that must be there: x and y in hundredths of the width and height, then column
/// and row of the square.
type Seen = (u32, u32, u32, u32);

/// Requests the test image with each of the given IIIF parameters, and asserts that the result has the given size and
/// shows the given squares, with every sample within 5 levels of 255.
fn assert_show(house: &House, expected: &[(&str, (u32, u32), &[Seen])]) {
    let rows: Vec<Value> = expected
        .iter()
        .enumerate()
        .map(|(number, (parameters, size, squares))| {
            let reply = three(house, parameters);
            assert_eq!(reply.status, 200, "{parameters}: {}", reply.text());
            let path = house.put(&format!("results/{number}"), &reply.body);
            json!([parameters, path, size, squares])
        })
        .collect();
    let script = "import sys, json; from PIL import Image\n\
        for name, path, size, squares in json.load(sys.stdin):\n\
        \x20   image = Image.open(path).convert('RGB')\n\
        \x20   if list(image.size) != size: print(name, image.size)\n\
        \x20   for x, y, column, row in squares:\n\
        \x20       seen, right = image.getpixel((x * (size[0] - 1) // 100, y * (size[1] - 1) // 100)), colour(column, row)\n\
        \x20       if max(abs(a - b) for a, b in zip(seen, right)) > 5: print(name, (column, row), seen, right)\n\
        print('done')";
    let told = python(script, &[], &Value::from(rows).to_string());
    assert_eq!(told, "done\n");
}

#[test]
fn regions_sizes_rotations_and_formats_show_the_squares_that_they_should() {
    const FULL: &[Seen] = &[(5, 5, 0, 0), (95, 5, 9, 0), (5, 95, 0, 9), (55, 25, 5, 2)];
    assert_show(
        &house(),
        &[
            ("full/max/0/default.jpg", (1000, 1000), FULL),
            ("full/max/0/color.png", (1000, 1000), FULL),
            ("full/max/0/default.webp", (1000, 1000), FULL),
            ("square/max/0/default.jpg", (1000, 1000), FULL),
            (
                "113,213,76,76/max/0/default.jpg",
                (76, 76),
                &[(50, 50, 1, 2)],
            ),
            (
                "pct:90,20,10,10/max/0/default.jpg",
                (100, 100),
                &[(50, 50, 9, 2)],
            ),
            (
                "500,300,200,100/!50,50/0/default.jpg",
                (50, 25),
                &[(25, 50, 5, 3), (75, 50, 6, 3)],
            ),
            ("full/pct:37/0/default.jpg", (370, 370), FULL),
            ("full/250,/0/default.jpg", (250, 250), FULL),
            ("full/,333/0/default.jpg", (333, 333), FULL),
            ("full/300,100/0/default.jpg", (300, 100), FULL),
            ("full/!200,999/0/default.jpg", (200, 200), FULL),
            (
                "400,0,100,100/^150,/0/default.jpg",
                (150, 150),
                &[(50, 50, 4, 0)],
            ),
            (
                "full/max/90/default.jpg",
                (1000, 1000),
                &[(95, 5, 0, 0), (5, 5, 0, 9)],
            ),
            (
                "full/max/180/default.jpg",
                (1000, 1000),
                &[(95, 95, 0, 0), (5, 95, 9, 0)],
            ),
            (
                "full/100,100/270/default.png",
                (100, 100),
                &[(5, 95, 0, 0), (5, 5, 9, 0)],
            ),
            (
                "0,0,200,100/max/!0/default.jpg",
                (200, 100),
                &[(25, 50, 1, 0), (75, 50, 0, 0)],
            ),
            (
                "full/max/!180/default.jpg",
                (1000, 1000),
                &[(5, 95, 0, 0), (5, 5, 0, 9)],
            ),
            (
                "300,700,100,100/max/45/default.png",
                (141, 141),
                &[(50, 50, 3, 7)],
            ),
        ],
    );
}

#[test]
fn gray_has_no_colour_and_bitonal_two_levels() {
    let house = house();
    let script = "import sys; from PIL import Image\n\
        image = Image.open(sys.argv[1]); mode = image.mode; image = image.convert('RGB')\n\
        colours = image.getcolors(1 << 20)\n\
        gray = sum(n for n, (r, g, b) in colours if max(r, g, b) - min(r, g, b) <= 2)\n\
        two = sum(n for n, c in colours if sum(c) < 15 or sum(c) > 750)\n\
        print(gray * 100 // 1000000, two * 100 // 1000000)";
    for (last, two) in [
        ("gray.jpg", false),
        ("gray.png", false),
        ("bitonal.jpg", true),
        ("bitonal.png", true),
    ] {
        let reply = three(&house, &format!("full/max/0/{last}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let path = house.put("result", &reply.body);
        let told = python(script, &[path.to_str().expect("UTF-8")], "");
        let (gray, extremes) = told.trim().split_once(' ').expect("two numbers");
        assert_eq!(gray, "100", "{last}");
        let extremes: u32 = extremes.parse().expect("a number");
        assert_eq!(extremes > 95, two, "{last}: {extremes} %");
    }
}

#[test]
fn what_cannot_be_is_a_400_and_what_is_not_there_a_404() {
    let house = house();
    for parameters in [
        "full/1001,/0/default.jpg",
        "full/full/0/default.jpg",
        "1000,0,10,10/max/0/default.jpg",
        "aB[\\]^/max/0/default.jpg",
        "full/aB[\\]^/0/default.jpg",
        "full/max/aB[\\]^/default.jpg",
        "full/max/0/aB[\\]^.jpg",
        "full/max/0/default.aB[",
        // hyper itself takes none of these.
        "full/`<>/0/default.jpg",
    ] {
        let reply = three(&house, parameters);
        assert_eq!(reply.status, 400, "{parameters}: {}", reply.text());
    }
    for target in [
        "/iiif/3/none/full/max/0/default.jpg",
        "/iiif/3/a/b/full/max/0/default.jpg",
        "/iiif/3/a%2Fb/full/max/0/default.jpg",
        "/iiif/3/[frob]/full/max/0/default.jpg",
        "/iiif/3/none/info.json",
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 404, "{target}: {}", reply.text());
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }
    assert_eq!(three(&house, "full/max/0/default.jp2").status, 501);
}

#[test]
fn the_information_is_found_and_names_the_uri_that_was_asked() {
    let house = house();
    for (version, id, name) in [(3, "id", "ImageService3"), (2, "@id", "")] {
        // The same identifier in another spelling.
        for spelling in [SQUARES.to_owned(), SQUARES.replace('-', "%2D")] {
            let base = format!("/iiif/{version}/{spelling}");
            let redirected = house.get(&base);
            assert_eq!(redirected.status, 303);
            assert_eq!(redirected.header("access-control-allow-origin"), Some("*"));
            let there = redirected.header("location").expect("a location");
            assert_eq!(there, format!("{base}/info.json"));
            for host in ["one.example:81", "two.example"] {
                let mut client = house.client();
                client.send(format!("GET {there} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
                let reply = client.reply("GET");
                assert_eq!(reply.status, 200, "{}", reply.text());
                assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
                let info: Value = serde_json::from_slice(&reply.body).expect("JSON");
                assert_eq!(info[id], format!("http://{host}{base}"));
                assert_eq!(
                    (&info["width"], &info["height"]),
                    (&json!(1000), &json!(1000))
                );
                assert_eq!(info["type"].as_str().unwrap_or_default(), name);
                assert_eq!(info["tiles"][0]["scaleFactors"], json!([1, 2]));
            }
        }
    }
}

#[test]
fn linked_data_has_its_media_type_where_it_is_asked_for() {
    let house = house();
    let media_type = |version: u32, accept: &str| {
        let target = format!("/iiif/{version}/{SQUARES}/info.json");
        let reply = house.request("GET", &target, &[("Accept", accept)]);
        let varies: Vec<_> = reply
            .headers
            .iter()
            .filter(|(name, _)| name == "vary")
            .collect();
        assert_eq!(varies, [&("vary".to_owned(), "accept".to_owned())]);
        reply.header("content-type").expect("a type").to_owned()
    };
    for _ in 0..2 {
        assert_eq!(media_type(2, "*/*"), "application/json");
        assert_eq!(media_type(2, "application/ld+json"), "application/ld+json");
        assert!(media_type(3, "application/ld+json").starts_with("application/ld+json;profile="));
    }
}

#[test]
fn images_link_to_their_canonical_uri_and_to_the_profile() {
    let house = house();
    for (asked, canonical, profile) in [
        (
            "/iiif/3/{}/pct:0,0,100,100/max/0/color.jpg",
            "/iiif/3/{}/full/max/0/default.jpg",
            3,
        ),
        (
            "/iiif/3/{}/0,0,500,250/100,/!90.0/color.png",
            "/iiif/3/{}/0,0,500,250/100,50/!90/default.png",
            3,
        ),
        (
            "/iiif/2/{}/full/max/0/default.jpg",
            "/iiif/2/{}/full/full/0/default.jpg",
            2,
        ),
        (
            "/iiif/2/{}/full/pct:10/0/default.jpg",
            "/iiif/2/{}/full/100,/0/default.jpg",
            2,
        ),
    ] {
        let (asked, canonical) = (
            asked.replace("{}", SQUARES),
            canonical.replace("{}", SQUARES),
        );
        let link = format!(
            "<{canonical}>; rel=\"canonical\", <http://iiif.io/api/image/{profile}/level2.json>; rel=\"profile\""
        );
        // A miss, hits, and what the client has already.
        let tag = house
            .get(&asked)
            .header("etag")
            .map(str::to_owned)
            .expect("a tag");
        for headers in [&[][..], &[("If-None-Match", &*tag)]] {
            let reply = house.request("GET", &asked, headers);
            assert_eq!(reply.header("link"), Some(&*link), "{}", reply.text());
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        }
        let same = house.get(&canonical);
        assert_eq!(same.header("etag"), Some(&*tag));
        assert!(
            same.header("cache-status")
                .is_some_and(|status| status.contains("hit"))
        );
    }
}

#[test]
fn pages_of_all_sites_may_ask_whether_they_may_ask() {
    let house = house();
    for target in [
        format!("/iiif/3/{SQUARES}/full/max/0/default.jpg"),
        format!("/iiif/2/{SQUARES}/info.json"),
        format!("/iiif/2/{SQUARES}"),
        "/iiif/3/none/full/none/0/default.jpg".to_owned(),
    ] {
        let mut client = house.client();
        let asks = [
            ("Origin", "https://x.example"),
            ("Access-Control-Request-Method", "GET"),
        ];
        client.ask("OPTIONS", &target, &asks);
        let reply = client.reply("HEAD");
        assert_eq!(reply.status, 204);
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        assert_eq!(
            reply.header("access-control-allow-methods"),
            Some("GET, HEAD, OPTIONS")
        );
        let posted = house.request("POST", &target, &[("Content-Length", "0")]);
        assert_eq!(
            (posted.status, posted.header("access-control-allow-origin")),
            (405, Some("*"))
        );
    }
    let closed = house.request("OPTIONS", "/a.jpg", &[]);
    assert_eq!(
        (closed.status, closed.header("access-control-allow-origin")),
        (405, None)
    );
}
