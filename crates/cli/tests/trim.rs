//! `trim` with files of many formats, compared with measurements by Pillow.

use crate::common;
use std::path::Path;

use crate::common::{andon, python};

/// Python script that writes an image with a border in many formats (one file is too large to be measured in full), an
/// animation, and an image of a single colour.
const WRITTEN: &str = "\
import os, sys
from PIL import Image
folder, sample = sys.argv[1:]
def put(name, photo, size, at, border, mode='RGB', **options):
    canvas = Image.new(mode, size, border)
    canvas.paste(photo.convert(mode), at)
    canvas.save(os.path.join(folder, name), **options)
photo = Image.open(sample).convert('RGB').resize((300, 200))
put('plain.png', photo, (450, 333), (50, 70), (0, 255, 0))
put('clear.png', photo, (450, 333), (50, 70), (9, 8, 7, 0), 'RGBA')
put('gray.png', photo, (450, 333), (50, 70), 255, 'L')
put('lossless.webp', photo, (450, 333), (50, 70), (0, 255, 0), lossless=True)
put('aligned.jpg', photo, (448, 336), (48, 64), (0, 255, 0), quality=95, subsampling=0)
put('large.jpg', photo.resize((3000, 2000)), (3600, 2600), (303, 205), (0, 255, 0), quality=95, subsampling=0)
exif = Image.Exif(); exif[0x112] = 6
put('turned.jpg', photo, (448, 336), (48, 64), (0, 255, 0), quality=95, subsampling=0, exif=exif)
frames = []
for step in range(3):
    frame = Image.new('RGB', (200, 100), (255, 255, 255))
    frame.paste((200, 0, 0), (20 + 40 * step, 30, 50 + 40 * step, 60))
    frames.append(frame)
frames[0].save(os.path.join(folder, 'moves.gif'), save_all=True, append_images=frames[1:], duration=100)
Image.new('RGB', (40, 30), (5, 5, 5)).save(os.path.join(folder, 'uniform.png'))
";

/// Python script that prints the name, width and height in px, and number of frames of each image in a folder.
const LOOKED_AT: &str = "\
import os, sys
from PIL import Image
for name in sorted(os.listdir(sys.argv[1])):
    image = Image.open(os.path.join(sys.argv[1], name))
    print(name, image.width, image.height, getattr(image, 'n_frames', 1))
";

#[test]
fn a_border_goes_to_the_pixel_up_to_four_megapixels_and_nearly_so_above() {
    let folder = tempfile::tempdir().expect("a folder");
    let [inputs, outputs] = ["in", "out"].map(|name| folder.path().join(name));
    std::fs::create_dir(&inputs).expect("a folder");
    python(WRITTEN, &[&inputs, &common::sample("photos/otter.jpg")]);
    let mut args = vec!["convert".to_owned(), "orient,trim:40".to_owned()];
    let files = std::fs::read_dir(&inputs).expect("the folder");
    args.extend(files.map(|entry| path(&entry.expect("an entry").path())));
    args.extend(["-o".to_owned(), path(&outputs)]);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let done = andon(&args, &[]);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );

    let told = python(LOOKED_AT, &[&outputs]);
    let mut lines = told.lines().collect::<Vec<_>>();
    let large = lines.iter().position(|line| line.starts_with("large.jpg"));
    let large = lines.remove(large.expect("the large one"));
    assert_eq!(
        lines,
        [
            "aligned.jpg 300 200 1",
            "clear.png 300 200 1",
            "gray.png 300 200 1",
            "lossless.webp 300 200 1",
            "moves.gif 110 30 3",
            "plain.png 300 200 1",
            "turned.jpg 200 300 1",
            "uniform.png 40 30 1",
        ]
    );
    // Measured at half scale: a pixel there is two of the source, and JPEG's blocks are not aligned with the content.
    let sides: Vec<u32> = large
        .split(' ')
        .skip(1)
        .map(|it| it.parse().expect("a number"))
        .collect();
    assert!(
        (3000..=3016).contains(&sides[0]) && (2000..=2016).contains(&sides[1]),
        "{large}"
    );
}

fn path(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
