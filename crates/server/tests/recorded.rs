//! ipx and Astro's image endpoint, held to answers that the originals gave; `tools/recorded` records them.

use std::path::Path;

use serde_json::Value;

use crate::common::images::probe;
use crate::common::origin::Origin;
use crate::common::{House, Reply, sample};

/// The files that the originals served, each with the sample that it is a copy of.
const FILES: &[(&str, &str)] = &[
    ("trip/a b.jpg", "jpeg/401x301.jpg"),
    ("large.jpg", "photos/otter.jpg"),
    ("turned.jpg", "jpeg/orientation-6.jpg"),
    ("mirrored.jpg", "jpeg/orientation-4.jpg"),
    ("alpha.png", "png/alpha.png"),
    ("rgb.png", "png/rgb.png"),
    ("lossy.webp", "webp/lossy.webp"),
    ("moving.webp", "webp/animated.webp"),
    ("moving.gif", "gif/animated.gif"),
    ("text.jpg", "broken/text.jpg"),
    ("corrupt.jpg", "broken/empty.jpg"),
    ("chart.svg", "svg/chart.svg"),
];

/// A part of a target, the properties in which its answer may differ, and why.
type Difference = (&'static str, &'static str, &'static str);

/// Intended differences from the answers of ipx.
const OF_IPX: &[Difference] = &[
    ("/trim/", "status", "works as documented"),
    ("/trim_10/", "status", "works as documented"),
    ("/modulate_1.5", "status", "works as documented"),
    ("/modulate_0", "status", "works as documented"),
    (
        "extract_300_0_200_100",
        "status",
        "a 400 says that the client is at fault",
    ),
    (
        "crop_1_2_0_5",
        "status",
        "a 400 says that the client is at fault",
    ),
    ("f_png/moving.gif", "alpha", "an opaque frame stays opaque"),
    ("animated&rotate_90", "status", "animations are turned, too"),
    (
        "w_50/chart.svg",
        "content-security-policy",
        "a drawing may have styles of its own, and do less",
    ),
    ("ftp://", "status", "nothing but http is ever asked"),
];

/// Intended differences from the answers of both of Astro's image endpoints.
const OF_ASTRO: &[Difference] = &[
    (
        "a.jpg&f=svg",
        "status",
        "only drawings are sent as they are",
    ),
    (
        "f=avif",
        "content-type",
        "the media type is that of the image",
    ),
    (
        "moving.gif&f=png",
        "size alpha",
        "a strip of all frames is no use",
    ),
    (
        "moving.gif&f=jpeg",
        "size",
        "a strip of all frames is no use",
    ),
    (
        "moving.webp&f=png",
        "size",
        "a strip of all frames is no use",
    ),
    (
        "moving.webp&f=jpeg",
        "size",
        "a strip of all frames is no use",
    ),
    (
        "/trip/../a.jpg",
        "status",
        "paths with dots are refused everywhere",
    ),
    (
        "chart.svg&f=svg",
        "content-security-policy",
        "a drawing from elsewhere may do less",
    ),
];

/// Intended differences from the answers of Astro's generic endpoint only.
const OF_GENERIC: &[Difference] = &[("f=bmp", "error", "names the formats that are written")];
const OF_NODE: &[Difference] = &[("file:///", "status", "a file of the machine is no source")];

fn recorded(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let text = std::fs::read_to_string(folder.join(name)).expect("recorded answers");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    file["answers"].as_array().expect("answers").clone()
}

/// Requests every target in the recording `name` from a server with the configuration `keys`, and asserts that its
/// answers differ from the recorded ones exactly as `known` says.
fn compare(name: &str, keys: &str, known: &[&[Difference]]) {
    let image_file = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let origin = Origin::start(image_file.clone(), "");
    let host = format!("http://127.0.0.1:{}", origin.port());
    let house = House::with(&format!(
        "{keys}\n[[origin]]\nhttp.urls = [\"{host}/\"]\nallow = [\"127.0.0.1\"]\n"
    ));
    for (name, from) in FILES {
        house.put_sample(name, from);
    }
    let mut wrong = Vec::new();
    for told in recorded(name) {
        let target = told["target"].as_str().expect("a target");
        match target.contains("}/none") {
            true => origin.answers(404, "", Vec::new()),
            false => origin.answers(200, "", image_file.clone()),
        }
        let accept = told["accept"].as_str().map(|value| ("Accept", value));
        let headers: Vec<_> = accept.into_iter().collect();
        let reply = house.request("GET", &target.replace("{origin}", &host), &headers);
        let differs = differences(&told, &reply, &host);
        let why = known
            .iter()
            .copied()
            .flatten()
            .find(|(part, ..)| target.contains(part));
        let allowed = why.map_or("", |(_, allowed, _)| allowed);
        if differs.join(" ") != allowed {
            let text = if reply.status == 200 {
                String::new()
            } else {
                reply.text()
            };
            wrong.push(format!(
                "{target}: {differs:?}, not [{allowed}]: {} {:?} {} {text}",
                reply.status, reply.headers, told
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} answers differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The properties in which an answer is another one than that which was recorded.
fn differences(told: &Value, reply: &Reply, host: &str) -> Vec<&'static str> {
    let mut differ = Vec::new();
    if told["status"] != reply.status {
        return vec!["status"];
    }
    for name in [
        "content-type",
        "vary",
        "cache-control",
        "content-security-policy",
    ] {
        let is_error = reply.status != 200;
        // Errors may be kept as long as the server's configuration says.
        if is_error && name != "content-type" {
            continue;
        }
        let said = reply.header(name).unwrap_or_default();
        let wanted = told[name].as_str().unwrap_or_default();
        if !said.eq_ignore_ascii_case(wanted) {
            differ.push(name);
        }
    }
    if reply.status != 200 {
        let error = told["error"].as_str().unwrap_or_default();
        if !is_alike(&error.replace("{origin}", host), &reply.text()) {
            differ.push("error");
        }
        return differ;
    }
    for name in ["etag", "last-modified"] {
        if told[name] == true && reply.header(name).is_none() {
            differ.push(name);
        }
    }
    let info = probe(&reply.body);
    if told["size"] != serde_json::json!([info.width, info.height]) {
        differ.push("size");
    }
    if told["frames"] != info.frames {
        differ.push("frames");
    }
    if told["progressive"] != info.progressive {
        differ.push("progressive");
    }
    if told["frames"] == 1 && info.format == "png" && told["alpha"] != info.alpha {
        differ.push("alpha");
    }
    differ
}

/// Whether an error of ours is JSON or plain text like the original one, and begins with the same code, or with the
/// whole original if that has no code. A sentence that comes from the library sharp has to be the same, too.
fn is_alike(original: &str, own: &str) -> bool {
    let message = |text: &str| {
        let json: Value = serde_json::from_str(text).ok()?;
        json["error"]["message"].as_str().map(str::to_owned)
    };
    let (original, own) = match (message(original), message(own)) {
        (Some(original), Some(own)) => (original, own),
        (None, None) => (original.to_owned(), own.to_owned()),
        _ => return false,
    };
    // What the sentence begins with, and the rest of it where that is sharp's.
    let code = original.rfind("] ").map(|end| &original[..end + 2]);
    let server = "Server Error: Error: ";
    let server = original.starts_with(server).then_some(server);
    let start = code.or(server).unwrap_or(&original);
    let of_sharp = original
        .find("Expected")
        .or_else(|| original.find("Unable to parse color"));
    let sentence = of_sharp.map_or("", |start| &original[start..]);
    own.starts_with(start) && own.contains(sentence)
}

#[test]
fn ipx_is_answered_as_it_answers_itself() {
    let keys =
        "[ipx]\nprefix = \"/_ipx\"\ndomains = [\"127.0.0.1\"]\nalias = { \"/pictures\" = \"/\" }\n";
    compare("ipx.json", keys, &[OF_IPX]);
}

#[test]
fn both_of_astros_endpoints_are_answered_as_they_answer_themselves() {
    let keys = "[astro]\nprefix = \"/_image\"\ndomains = [\"127.0.0.1\", \"pictures.example\"]\n\
        remote_patterns = [{ protocol = \"https\", hostname = \"**.patterns.example\", pathname = \"/public/*\" }]\n";
    compare("astro-generic.json", keys, &[OF_ASTRO, OF_GENERIC]);
    let node = format!("{keys}endpoint = \"node\"\n");
    compare("astro-node.json", &node, &[OF_ASTRO, OF_NODE]);
}
