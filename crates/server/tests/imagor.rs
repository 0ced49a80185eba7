//! imagor's filters over a socket, with results checked by Pillow: backgrounds made of the image, images in images,
//! masks, lists of colours and the first frames of animations.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::House;
use serde_json::{Value, json};

/// Runs a Python script with Pillow in the folder of the house, and returns the JSON that it prints. The script has the
/// value of `told` in a variable of that name.
fn pillow(house: &House, script: &str, told: &Value) -> Value {
    let mut child = Command::new("/usr/bin/python3")
        .args(["-c", &format!("{TOOLS}{script}")])
        .current_dir(house.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 with Pillow");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(told.to_string().as_bytes())
        .expect("an input");
    drop(pipe);
    let output = child.wait_with_output().expect("its end");
    serde_json::from_slice(&output.stdout).expect("what it says")
}

const TOOLS: &str = "
import json, sys
from PIL import Image, ImageChops, ImageFilter, ImageStat
told = json.load(sys.stdin)
def say(what): print(json.dumps(what))
def rgb(name): return Image.open(name).convert('RGB')
def off(one, other, box=None):
    difference = ImageChops.difference(one, other)
    return max(ImageStat.Stat(difference.crop(box) if box else difference).mean)
";

/// A flag of four colours: red and green above, blue and white below, 20 × 10 px each.
const FLAG: &str = "
flag = Image.new('RGBA', (40, 20))
for place, colour in {(0, 0): 'red', (20, 0): 'lime', (0, 10): 'blue', (20, 10): 'white'}.items():
    flag.paste(colour, (*place, place[0] + 20, place[1] + 10))
flag.save('root/flag.png')
clear = Image.new('RGBA', (40, 20))
clear.paste((0, 0, 0, 255), (0, 0, 20, 20))
clear.save('root/half.png')
say(1)
";

fn house() -> House {
    let house = House::with("[imagor]\nprefix = \"/i\"\nallow_unsafe = true\n");
    house.put_sample("moving.gif", "gif/animated.gif");
    pillow(&house, FLAG, &json!(null));
    house
}

/// Requests the image at a path of imagor, and saves it as `name` in the folder of the house.
fn made(house: &House, name: &str, path: &str) {
    let reply = house.get(&format!("/i/unsafe/{path}"));
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    std::fs::write(house.folder.path().join(name), reply.body).expect("a file");
}

/// The colours of a result, in RGBA, at these places.
fn seen(house: &House, path: &str, places: &[(u32, u32)]) -> Vec<[u8; 4]> {
    made(house, "seen", path);
    let script = "image = Image.open('seen').convert('RGBA')\nsay([image.getpixel(tuple(at)) for at in told])";
    let told = pillow(house, script, &json!(places));
    serde_json::from_value(told).expect("colours")
}

fn assert_near(have: [u8; 4], want: [u8; 4], what: &str) {
    let near = have.iter().zip(want).all(|(a, b)| a.abs_diff(b) <= 2);
    assert!(near, "{what}: {have:?} for {want:?}");
}

#[test]
fn a_blurred_ground_is_the_image_stretched_and_blurred_and_an_automatic_one_its_mean() {
    let house = house();
    let filters = |fill: &str| format!("fit-in/200x200/filters:{fill}format(png)/a.jpg");
    made(&house, "plain", &filters(""));
    made(&house, "blurred", &filters("fill(blur):"));
    made(&house, "mean", &filters("fill(auto):"));
    let script = "
plain, blurred, mean = rgb('plain'), rgb('blurred'), rgb('mean')
inner = (0, 25, 200, 175)
ground = plain.resize((200, 200), Image.BILINEAR).filter(ImageFilter.GaussianBlur(50))
bars = [off(ground, blurred, box) for box in ((0, 0, 200, 25), (0, 175, 200, 200))]
colour = ImageStat.Stat(plain).mean
flat = Image.new('RGB', (200, 200), tuple(round(level) for level in colour))
say({
    'modes': [Image.open('blurred').mode, Image.open('mean').mode],
    'sizes': [list(plain.size), list(blurred.size), list(mean.size)],
    'inner': [off(plain, image.crop(inner)) for image in (blurred, mean)],
    'blurred': max(bars),
    'mean': max(off(flat, mean, box) for box in ((0, 0, 200, 25), (0, 175, 200, 200))),
})";
    let told = pillow(&house, script, &json!(null));
    assert_eq!(told["sizes"], json!([[200, 150], [200, 200], [200, 200]]));
    assert_eq!(told["modes"], json!(["RGB", "RGB"]), "they are opaque");
    for (what, most) in [("blurred", 6.0), ("mean", 1.5)] {
        let off = told[what].as_f64().expect("a number");
        assert!(off < most, "{what}: {told}");
    }
    for off in told["inner"].as_array().expect("two") {
        assert!(off.as_f64().expect("a number") < 0.5, "{told}");
    }
}

#[test]
fn an_image_in_an_image_goes_through_its_own_path_first() {
    let house = house();
    let base = "100x80/filters:";
    // Counter-clockwise, so that green is at the upper left corner.
    let path = format!("{base}image(filters:rotate(90)/flag.png,10,20):format(png)/color:000000");
    let at = [(12, 22), (27, 22), (12, 57), (27, 57), (31, 22), (5, 5)];
    let want = [
        [0, 255, 0, 255],
        [255, 255, 255, 255],
        [255, 0, 0, 255],
        [0, 0, 255, 255],
        [0, 0, 0, 255],
        [0, 0, 0, 255],
    ];
    for ((place, want), have) in at.iter().zip(want).zip(seen(&house, &path, &at)) {
        assert_near(have, want, &format!("{place:?}"));
    }
    // Its middle, gray, twice as high; as large as the other one but for 60 px; and on another colour.
    let path = format!(
        "{base}image(20x20/filters:grayscale()/flag.png,0,0):image(f-60xf-60/filters:proportion(0.5)/color:0000ff,right,bottom):\
         image(30x10/filters:image(10x10/color:ff0000,0,0)/color:ffff00,center,top):format(png)/color:000000"
    );
    let at = [(2, 2), (17, 17), (85, 75), (75, 75), (38, 5), (50, 5)];
    let want = [
        [127, 127, 127, 255],
        [255, 255, 255, 255],
        [0, 0, 255, 255],
        [0, 0, 0, 255],
        [255, 0, 0, 255],
        [255, 255, 0, 255],
    ];
    for ((place, want), have) in at.iter().zip(want).zip(seen(&house, &path, &at)) {
        assert_near(have, want, &format!("{place:?}"));
    }
}

#[test]
fn an_image_may_mask_another_or_add_to_it() {
    let house = house();
    let laid = |mode: &str, file: &str| {
        let path = format!("40x20/filters:image({file},0,0,0,{mode}):format(png)/color:646464");
        seen(&house, &path, &[(5, 5), (35, 15)])
    };
    assert_eq!(
        laid("mask", "half.png")
            .iter()
            .map(|it| it[3])
            .collect::<Vec<_>>(),
        [255, 0]
    );
    assert_eq!(
        laid("mask-out", "half.png")
            .iter()
            .map(|it| it[3])
            .collect::<Vec<_>>(),
        [0, 255]
    );
    let added = laid("add", "flag.png");
    assert_near(added[0], [255, 100, 100, 255], "red and gray");
    assert_near(added[1], [255, 255, 255, 255], "white and gray");
}

#[test]
fn pngs_have_as_few_colours_and_animations_as_few_frames_as_is_said() {
    let house = house();
    for (filter, colours) in [
        ("palette()", 256),
        ("bitdepth(4)", 16),
        ("palette():bitdepth(1)", 2),
    ] {
        made(
            &house,
            "listed",
            &format!("100x80/filters:format(png):{filter}/a.jpg"),
        );
        let script = "image = Image.open('listed')\nsay([image.mode, len(image.convert('RGBA').getcolors(1 << 20))])";
        let told = pillow(&house, script, &json!(null));
        assert_eq!(told[0], "P", "{filter}");
        assert!(
            told[1].as_u64().is_some_and(|count| count <= colours),
            "{filter}: {told}"
        );
    }
    let frames = |filters: &str| {
        made(&house, "moving", &format!("40x0{filters}/moving.gif"));
        pillow(
            &house,
            "say(getattr(Image.open('moving'), 'n_frames', 1))",
            &json!(null),
        )
    };
    let all = frames("").as_u64().expect("a number");
    assert!(all > 2, "{all}");
    assert_eq!(frames("/filters:max_frames(2)"), 2);
    assert_eq!(frames("/filters:max_frames(1)"), 1);
    assert_eq!(frames(&format!("/filters:max_frames({})", all + 5)), all);
}

#[test]
fn images_in_images_are_files_of_the_origins_to_a_bounded_depth() {
    let house = house();
    let deep = |levels: usize| {
        let path = (0..levels).fold("flag.png".to_owned(), |path, _| {
            format!("filters:image({path},0,0):grayscale()/flag.png")
        });
        house.get(&format!("/i/unsafe/40x20/filters:image({path},0,0)/a.jpg"))
    };
    for levels in 0..5 {
        let reply = deep(levels);
        assert_eq!((reply.status, reply.size()), (200, (40, 20)), "{levels}");
    }
    let missing = house.get("/i/unsafe/filters:image(filters:grayscale()/none.png,0,0)/a.jpg");
    assert_eq!(missing.status, 404);
    let outside =
        house.get("/i/unsafe/filters:image(filters:grayscale()/../../flag.png,0,0)/a.jpg");
    assert_eq!(outside.status, 400);
}
