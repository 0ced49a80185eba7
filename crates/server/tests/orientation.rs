//! A stored orientation is part of the image: a browser shows every result the same way up as its source, wherever the
//! source's file states the orientation, in every format and dialect.

use andon_pixels::codec::{Decode, Scales};
use andon_pixels::frame::{Frame, Grid, Image, Metadata, Model, Plane, Subsampling};
use andon_pixels::{
    Alone, Codec, Encode, Engine, Info, Limits, Never, Orientation, Run, block_of_orientation,
};
use andon_recipe::{Output, Recipe, StoredTurn};

use crate::common::{Client, House};

/// Colours of the six blocks of the test chart in RGB, three blocks to a row.
const BLOCKS: [[u8; 3]; 6] = [
    [220, 30, 30],
    [30, 180, 40],
    [40, 60, 220],
    [240, 240, 240],
    [20, 20, 20],
    [240, 220, 20],
];

/// Width and height in px of the test chart when it is upright.
const SIZE: (u32, u32) = (48, 32);

/// Formats of sources whose files state an orientation. Browsers ignore the one that a `webp` states.
const SOURCES: [&str; 6] = ["jpeg", "png", "avif", "tiff", "jxl", "webp"];

/// Formats of results.
const RESULTS: [&str; 9] = [
    "jpeg", "png", "webp", "avif", "jxl", "gif", "bmp", "ico", "tiff",
];

const DIALECTS: &str = r#"
    iiif = { prefix = "/iiif/3" }
    image_filter.prefix = "/nginx"
    weserv.prefix = "/weserv"
    astro.prefix = "/_image"
    imgix.prefix = "/imgix"
    cloudflare.prefix = "/cdn-cgi/image"
    imgproxy.prefix = "/imgproxy"
    thumbor.prefix = "/thumbor"
    imagor = { prefix = "/imagor", allow_unsafe = true }
"#;

/// Targets of requests for the test chart at half its size. `{}` stands for the file's name.
const REQUESTS: [&str; 13] = [
    "/nginx/image_filter(resize,24,24)/{}",
    "/small_light(dw=24,dh=24)/{}",
    "/small_light(dw=24,dh=24,rmprof=y,of=png)/{}",
    "/small_light(dw=24,dh=24,of=webp)/{}",
    "/small_light(dw=24,dh=24,of=webp,autoorient=y)/{}",
    "/weserv/?url={}&w=24&h=24&output=png",
    "/_image?href=/{}&w=24&h=24&fit=inside&f=webp",
    "/imgix/{}?w=24&h=24&fit=max&fm=webp",
    "/cdn-cgi/image/width=24,height=24,format=jpeg/{}",
    "/imgproxy/_/rs:fit:24:24/f:webp/plain/local:///{}",
    "/thumbor/unsafe/fit-in/24x24/{}",
    "/imagor/unsafe/fit-in/24x24/filters:format(jpeg)/{}",
    "/iiif/3/{}/full/!24,24/0/default.png",
];

fn all() -> impl Iterator<Item = Orientation> {
    (1..=8).map(Orientation::from_exif)
}

fn engine() -> Engine {
    Engine::new(andon_codecs::ALL, Limits::default())
}

fn codec(name: &str) -> &'static dyn Codec {
    let mut codecs = andon_codecs::ALL.iter();
    *codecs.find(|codec| codec.name() == name).expect("a codec")
}

/// Returns the upright pixels of the test chart.
fn chart() -> Frame {
    let plane = |channel: usize| {
        let (width, height) = SIZE;
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let block = |(x, y)| (y * 2 / height * 3 + x * 3 / width) as usize;
        let samples = places.map(|place| BLOCKS[block(place)][channel]);
        Plane::U8(Grid::from_samples(width, height, samples.collect()).expect("a plane"))
    };
    let planes = [0, 1, 2].map(plane).into();
    Frame::new(Model::Rgb, SIZE.0, SIZE.1, planes, None).expect("a frame")
}

/// Returns the test chart as a file that states the orientation `turn`. Its pixels are stored so that this orientation
/// makes them upright, except in a `webp`, where they are stored upright because browsers ignore its orientation.
fn source(format: &str, turn: Orientation) -> Vec<u8> {
    let chart = Image::still(chart());
    let png =
        codec("png")
            .encoder()
            .expect("an encoder")
            .encode(&chart, &Encode::default(), &Never);
    let png = png.expect("a PNG");
    let undone = all().find(|other| other.followed_by(turn).is_upright());
    let undone = match format {
        "webp" => Orientation::default(),
        _ => undone.expect("a turn back"),
    };
    let (how, written) = match format {
        "webp" => (
            "lossless",
            Encode {
                lossless: true,
                ..Encode::default()
            },
        ),
        "png" | "tiff" => ("same", Encode::default()),
        _ => (
            "q:95,chroma:444",
            Encode {
                quality: Some(95),
                chroma: Some(Subsampling::NONE),
                ..Encode::default()
            },
        ),
    };
    let through = match format {
        "tiff" => "png",
        "jxl" => "jpeg",
        format => format,
    };
    let mut recipe: Recipe = match how {
        "same" => format!("as:{through}"),
        how => format!("as:{through},{how}"),
    }
    .parse()
    .expect("a recipe");
    recipe.steps = undone.steps().collect();
    let plan = engine().plan(&recipe, &png).expect("a plan");
    let frame = if plan.is_copy() {
        chart.frame
    } else {
        let frame = engine().render_frame(&plan, Run::of(&png));
        frame.expect("a frame")
    };
    if format == "tiff" {
        return tiff(&frame, turn);
    }
    let image = Image {
        metadata: Metadata {
            exif: Some(block_of_orientation(turn)),
            ..Metadata::default()
        },
        ..Image::still(frame)
    };
    let file = codec(through)
        .encoder()
        .expect("an encoder")
        .encode(&image, &written, &Never);
    let file = file.expect("a file");
    match format {
        "jxl" => recoded(&file),
        _ => file,
    }
}

/// Returns the JPEG XL that `cjxl` makes of a JPEG: its header states the orientation, and so does its EXIF box.
fn recoded(jpeg: &[u8]) -> Vec<u8> {
    let info = codec("jpeg").probe(jpeg).expect("a header");
    let how = Decode {
        scales: Scales::FULL,
        limits: &Limits::default(),
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: true,
    };
    let file = codec("jxl")
        .recoder()
        .expect("the capability")
        .recode(jpeg, &info, "jxl", &how);
    file.expect("no fault").expect("a JPEG XL")
}

/// Returns a TIFF with one uncompressed strip of RGB, which states the orientation `turn`.
fn tiff(frame: &Frame, turn: Orientation) -> Vec<u8> {
    let planes: Vec<&[u8]> = (frame.planes.iter())
        .map(|plane| plane.as_u8().expect("8 bits").samples())
        .collect();
    let count = planes[0].len();
    let pixels: Vec<u8> = (0..count)
        .flat_map(|at| planes.iter().map(move |plane| plane[at]))
        .collect();
    const TAGS: u32 = 10;
    let depths = 8 + 2 + TAGS * 12 + 4;
    let strip = depths + 6;
    let tags: [(u16, u16, u32, u32); TAGS as usize] = [
        (256, 4, 1, frame.width),
        (257, 4, 1, frame.height),
        (258, 3, 3, depths),
        (259, 3, 1, 1),
        (262, 3, 1, 2),
        (273, 4, 1, strip),
        (274, 3, 1, turn.exif().into()),
        (277, 3, 1, 3),
        (278, 4, 1, frame.height),
        (279, 4, 1, pixels.len() as u32),
    ];
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((TAGS as u16).to_le_bytes());
    for (tag, kind, count, value) in tags {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file.extend([8, 0, 8, 0, 8, 0]);
    file.extend(pixels);
    file
}

/// Returns the orientation by which a browser turns the decoded pixels of a file: that of EXIF in JPEG and PNG, that of
/// the container in AVIF. Decoders of JPEG XL turn pixels themselves; in all other formats nothing turns them.
fn read(info: &Info) -> Orientation {
    match info.format {
        "jpeg" | "png" | "avif" => info.orientation,
        _ => Orientation::default(),
    }
}

/// What a browser shows of a file, in RGB.
fn shown(file: &[u8]) -> Frame {
    let turn = read(&engine().probe(file).expect("a header"));
    let output: Recipe = "as:png,frame:1".parse().expect("a recipe");
    let output = Output {
        stored_turn: StoredTurn::Verbatim,
        ..output.output
    };
    let recipe = Recipe::of_stored(turn.steps().collect(), output);
    let plan = engine().plan(&recipe, file).expect("a plan");
    let frame = engine().render_frame(&plan, Run::of(file));
    frame.expect("a frame")
}

/// Asserts that a browser shows a file as the upright test chart, at its full size or half of it. `case` names the file
/// in failure messages.
fn assert_upright(file: &[u8], case: &str) {
    let frame = shown(file);
    let size @ (width, height) = (frame.width, frame.height);
    let sizes = [SIZE, (SIZE.0 / 2, SIZE.1 / 2)];
    assert!(sizes.contains(&size), "{case}: {size:?}");
    assert_eq!(frame.planes.len(), 3, "{case}");
    for (number, block) in BLOCKS.iter().enumerate() {
        let (column, row) = (number as u32 % 3, number as u32 / 3);
        let (x, y) = (width * (2 * column + 1) / 6, height * (2 * row + 1) / 4);
        let level = |plane: &Plane| match plane {
            Plane::U8(grid) => grid.row(y)[x as usize],
            Plane::U16(grid) => (grid.row(y)[x as usize] >> 8) as u8,
        };
        let found: Vec<u8> = frame.planes.iter().map(level).collect();
        let off = found.iter().zip(block).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(
            off.unwrap_or_default() < 45,
            "{case}: block {number} is {found:?} instead of {block:?}"
        );
    }
}

fn name(format: &str, turn: Orientation) -> String {
    format!("{format}-{}.{format}", turn.exif())
}

/// Starts a server with the test chart in every format of [`SOURCES`] and every orientation.
fn house(keys: &str) -> House {
    let house = House::with(keys);
    for format in SOURCES {
        for turn in all() {
            house.put(&name(format, turn), source(format, turn));
        }
    }
    house
}

fn get(client: &mut Client, target: &str) -> Vec<u8> {
    let reply = client.get(target);
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply.body
}

#[test]
fn every_result_is_upright_where_its_source_is_shown_so() {
    let house = house("");
    let mut client = house.client();
    let words = [
        "fit:24x24",
        "stored,fit:24x24",
        "fit:24x24,metadata:none",
        "stored,fit:24x24,metadata:none",
        "fit:24x24,metadata:all",
        "stored,fit:24x24,metadata:all",
        // A copy, and a JPEG that becomes a JPEG XL without being decoded, or comes back out of one.
        "metadata:all",
        "stored,metadata:all",
    ];
    for source in SOURCES {
        for turn in all() {
            let source = name(source, turn);
            for result in RESULTS {
                for words in words {
                    let target = format!("/r/{words},as:{result}/{source}");
                    let body = get(&mut client, &target);
                    assert_upright(&body, &target);
                    let comes_back =
                        source.starts_with("jxl") && result == "jpeg" && words == "metadata:all";
                    if !words.starts_with("stored") && !comes_back {
                        let info = engine().probe(&body).expect("a header");
                        assert!(info.orientation.is_upright(), "{target} says a turn");
                    }
                }
            }
        }
    }
}

#[test]
fn every_dialect_shows_what_browsers_show_of_the_source() {
    let house = house(DIALECTS);
    let mut client = house.client();
    for source in SOURCES {
        for turn in all() {
            let source = name(source, turn);
            for request in REQUESTS {
                // The module reads no other formats.
                let read = ["jpeg", "png", "webp"]
                    .iter()
                    .any(|it| source.starts_with(it));
                if request.starts_with("/nginx") && !read {
                    continue;
                }
                let target = request.replace("{}", &source);
                assert_upright(&get(&mut client, &target), &target);
            }
        }
    }
}

#[test]
fn an_orientation_of_another_type_than_short_turns_nothing() {
    let house = House::new();
    let mut file = source("jpeg", Orientation::from_exif(6));
    // The type stands behind the tag's number.
    let tag = file.windows(4).position(|bytes| bytes == [0x12, 1, 3, 0]);
    file[tag.expect("the tag") + 2] = 4;
    house.put("long.jpg", file);
    let mut client = house.client();
    for target in [
        "/r/fit:24x24/long.jpg",
        "/r/fit:24x24,metadata:all,as:png/long.jpg",
        "/r/stored,fit:24x24,metadata:all/long.jpg",
        "/small_light(dw=24,dh=24)/long.jpg",
    ] {
        let info = engine().probe(&get(&mut client, target)).expect("a header");
        assert_eq!((info.width, info.height), (16, 24), "{target}");
        assert!(info.orientation.is_upright(), "{target}");
    }
}

#[test]
fn a_placeholder_is_that_of_the_upright_image() {
    let house = house("");
    let mut client = house.client();
    for kind in ["blurhash", "thumbhash"] {
        let upright = get(&mut client, &format!("/r/as:{kind}/png-1.png"));
        for turn in all() {
            for words in ["", "stored,"] {
                let target = format!("/r/{words}as:{kind}/{}", name("png", turn));
                assert_eq!(get(&mut client, &target), upright, "{target}");
            }
        }
    }
}

#[test]
fn strictly_small_light_turns_nothing_and_keeps_the_tag_that_the_module_keeps() {
    let house = house("[small_light]\ncompat = \"strict\"\n");
    let mut client = house.client();
    let mut info = |target: &str| {
        let body = get(&mut client, target);
        let info = engine().probe(&body).expect("a header");
        (info.width, info.height, info.orientation.exif())
    };
    assert_eq!(info("/small_light(dw=24,dh=24)/jpeg-6.jpeg"), (16, 24, 6));
    assert_eq!(
        info("/small_light(dw=24,dh=24,rmprof=y)/jpeg-6.jpeg"),
        (16, 24, 1)
    );
    assert_eq!(
        info("/small_light(dw=24,dh=24,of=webp)/jpeg-6.jpeg"),
        (16, 24, 1)
    );
    assert_eq!(
        info("/small_light(dw=24,dh=24,autoorient=y)/jpeg-6.jpeg"),
        (24, 16, 1)
    );
}

#[test]
fn thumbor_shows_images_as_they_are_stored_if_it_is_told_to() {
    let house = house("[thumbor]\nprefix = \"/thumbor\"\nrespect_orientation = false\n");
    let body = get(
        &mut house.client(),
        "/thumbor/unsafe/fit-in/24x24/jpeg-6.jpeg",
    );
    let info = engine().probe(&body).expect("a header");
    assert_eq!(
        (info.width, info.height, info.orientation.exif()),
        (16, 24, 1)
    );
}
