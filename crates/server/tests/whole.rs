//! Every body is a whole image or none is sent: files that were cut and files with something behind them, in every
//! format and on every way through the server, judged by Pillow.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{House, Reply, sample};
use andon_codecs::ALL;
use andon_pixels::{Alone, Engine, Limits, Never};

const SAMPLES: [&str; 32] = [
    "jpeg/420.jpg",
    "jpeg/gray.jpg",
    "jpeg/restart.jpg",
    "jpeg/progressive-420.jpg",
    "jpeg/cmyk.jpg",
    "photos/wren.jpg",
    "png/rgb.png",
    "png/16-bit.png",
    "png/interlaced.png",
    "png/palette.png",
    "webp/lossy.webp",
    "webp/lossless.webp",
    "webp/alpha.webp",
    "webp/animated.webp",
    "gif/still.gif",
    "gif/animated.gif",
    "avif/420.avif",
    "avif/444-alpha.avif",
    "avif/turned.avif",
    "jxl/lossy.jxl",
    "jxl/lossless.jxl",
    "jxl/animated.jxl",
    "jxl/of-jpeg-orientation-6.jxl",
    "bmp/24-bit.bmp",
    "bmp/run-lengths.bmp",
    "ico/bitmap.ico",
    "ico/png.ico",
    "tiff/lzw.tif",
    "tiff/jpeg.tif",
    "tiff/fax4.tif",
    "psd/rgb.psd",
    "svg/chart.svgz",
];

const CONFIG: &str =
    "[upload]\nallow = \"local\"\n[small_light.patterns]\nhuge = \"dw=9000,dh=9000\"\n";

/// Targets that do not ask for other pixels than the source's; the last one asks for PNG. `NAME` stands for the file.
const ROUTES: [&str; 6] = [
    "/NAME",
    "/small_light()/NAME",
    "/small_light(dw=9000,dh=9000)/NAME",
    "/small_light(p=huge)/NAME",
    "/small_light(dw=9000,dh=9000,pt=ptss)/NAME",
    "/small_light(of=png)/NAME",
];

// Turned pixels would be another file.
const RECIPES: [&str; 3] = ["stored", "original", "stored,fit:100%x100%"];

const BEHIND: &[u8] = b"<script>alert(1)</script>";

fn file(name: &str) -> Vec<u8> {
    std::fs::read(sample(name)).expect("a sample")
}

fn upload(house: &House, recipe: &str, body: &[u8]) -> Reply {
    let mut client = house.client();
    let length = body.len().to_string();
    let headers = [("Andon-Recipe", recipe), ("Content-Length", &*length)];
    client.ask("POST", "/_andon/render", &headers);
    client.send(body);
    client.reply("POST")
}

/// Returns the replies to all `GET` requests and uploads of an image. Each `GET` request is sent twice, because the
/// second reply may come from the cache.
fn answers(house: &House, name: &str, body: &[u8]) -> Vec<(String, Reply)> {
    house.put(name, body);
    let gets = ROUTES.iter().flat_map(|route| [route, route]).map(|route| {
        let target = route.replace("NAME", name);
        let reply = house.get(&target);
        (target, reply)
    });
    let uploads = RECIPES
        .iter()
        .map(|recipe| (format!("{recipe} < {name}"), upload(house, recipe, body)));
    gets.chain(uploads).collect()
}

/// Bodies to be judged together, for starting a judge takes longer than judging.
#[derive(Default)]
struct Bodies(HashMap<String, Vec<u8>>);

impl Bodies {
    /// Asserts that every body is one whole image with nothing behind it. Pillow checks all but AVIF, JPEG XL and SVG,
    /// which our own reader checks because Pillow does not read them.
    fn judge(&self, house: &House) {
        let folder = house.folder.path().join("bodies");
        std::fs::create_dir(&folder).expect("a folder");
        let mut names: HashMap<String, &str> = HashMap::new();
        let engine = Engine::new(ALL, Limits::default());
        for (number, (name, body)) in self.0.iter().enumerate() {
            if ["avif", "jxl", "svg"].contains(&engine.probe(body).expect("an image").format) {
                let end = engine.extent(&Alone, body, &Never).expect("a whole image");
                assert_eq!(end, body.len(), "something behind {name}");
                let script = body.windows(8).any(|part| part == b"<script>");
                assert!(!script, "something inside {name}");
                continue;
            }
            std::fs::write(folder.join(number.to_string()), body).expect("a body");
            names.insert(number.to_string(), name);
        }
        let script = "import os, sys\n\
            from PIL import Image\n\
            Image.MAX_IMAGE_PIXELS = None\n\
            for name in os.listdir(sys.argv[1]):\n    \
                path = os.path.join(sys.argv[1], name)\n    \
                data = open(path, 'rb').read()\n    \
                try:\n        \
                    image = Image.open(path)\n        \
                    for frame in range(getattr(image, 'n_frames', 1)):\n            \
                        image.seek(frame); image.load()\n        \
                    end = {'JPEG': b'\\xff\\xd9', 'PNG': b'IEND\\xaeB`\\x82', 'GIF': b';'}\n        \
                    if image.format == 'WEBP':\n            \
                        assert int.from_bytes(data[4:8], 'little') + 8 == len(data), 'length'\n        \
                    else:\n            \
                        assert data.endswith(end.get(image.format, b'')), 'no end'\n        \
                    assert b'<script>' not in data, 'something behind it'\n    \
                except Exception as error:\n        \
                    print(name, error)\n";
        let output = Command::new("/usr/bin/python3")
            .args(["-c", script])
            .arg(&folder)
            .output()
            .expect("python3 with Pillow");
        let told = String::from_utf8_lossy(&output.stdout);
        let faults: Vec<_> = told
            .lines()
            .map(|line| {
                let (number, why) = line.split_once(' ').unwrap_or((line, ""));
                format!("{}: {why}", names.get(number).copied().unwrap_or(number))
            })
            .collect();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn what_is_cut_is_refused_and_what_stands_behind_an_image_is_left_out() {
    let house = House::with(CONFIG);
    let mut bodies = Bodies::default();
    let (mut refused, mut passed) = (0, 0);
    for (number, name) in SAMPLES.iter().enumerate() {
        let whole = file(name);
        let kind = PathBuf::from(name);
        let kind = kind
            .extension()
            .and_then(|kind| kind.to_str())
            .expect("a kind");
        let cuts = [
            whole.len() / 100,
            whole.len() / 4,
            whole.len() / 2,
            whole.len() / 100 * 99,
            whole.len() - 1,
        ];
        for length in cuts {
            let name = format!("{number}-cut-{length}.{kind}");
            for (target, reply) in answers(&house, &name, &whole[..length]) {
                match reply.status {
                    200 => {
                        assert_ne!(reply.body, &whole[..length], "{target} of {number}");
                        bodies.0.insert(format!("{target} of {number}"), reply.body);
                    }
                    status => {
                        assert_eq!(status, 415, "{target}: {}", reply.text());
                        refused += 1;
                    }
                }
            }
        }
        for (what, behind) in [("none", 0), ("10k", 10 << 10)] {
            let mut longer = whole.clone();
            longer.extend(BEHIND.iter().cycle().take(behind));
            let name = format!("{number}-{what}.{kind}");
            for (target, reply) in answers(&house, &name, &longer) {
                assert_eq!(reply.status, 200, "{target}: {}", reply.text());
                passed += usize::from(reply.body == whole);
                bodies.0.insert(target, reply.body);
            }
        }
    }
    assert!(refused > 1000, "{refused} answers");
    assert!(passed > 250, "{passed} answers");
    bodies.judge(&house);
}

#[test]
fn a_cut_scan_with_an_end_marker_behind_it_is_refused() {
    let house = House::with(CONFIG);
    for name in [
        "jpeg/420.jpg",
        "jpeg/progressive-420.jpg",
        "photos/wren.jpg",
    ] {
        let whole = file(name);
        for share in [25, 50, 75] {
            let mut patched = whole[..whole.len() * share / 100].to_vec();
            patched.extend([0xff, 0xd9]);
            for (target, reply) in answers(&house, &format!("patched-{share}.jpg"), &patched) {
                assert_eq!(reply.status, 415, "{target} of {name}");
            }
        }
    }
}

#[test]
fn a_large_file_is_gone_through_once_and_sent_in_pieces_up_to_its_end() {
    let house = House::new();
    let whole = file("photos/wren.jpg");
    let mut longer = whole.clone();
    longer.resize(whole.len() + (512 << 10), b'<');
    house.put("large.jpg", &longer);
    let length = whole.len();
    for _ in 0..2 {
        let reply = house.get("/large.jpg");
        assert_eq!((reply.status, reply.body == whole), (200, true));
        let range = format!("bytes={}-", length - 10);
        let reply = house.request("GET", "/large.jpg", &[("Range", &range)]);
        assert_eq!(
            (reply.status, &reply.body[..]),
            (206, &whole[length - 10..])
        );
        let mut client = house.client();
        let head = client.request("HEAD", "/large.jpg", &[]);
        assert_eq!(head.header("content-length"), Some(&*length.to_string()));
    }
    house.put("large.jpg", &longer[..length / 2]);
    assert_eq!(house.get("/large.jpg").status, 415);
}
