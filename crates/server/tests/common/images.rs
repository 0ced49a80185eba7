//! Images that tests make and judge, by the codecs alone.

use andon_codecs::ALL;
use andon_pixels::{
    Alone, Codec, Decode, Delay, Encode, Engine, Frame, Grid, Head, Image, Info, Limits, Metadata,
    Model, Never, Plane, Run, Scales, Subsampling, Timed,
};
use andon_recipe::Recipe;

/// The codec of this name or alias.
pub fn codec(name: &str) -> &'static dyn Codec {
    *ALL.iter()
        .find(|codec| codec.name() == name || codec.format().aliases.contains(&name))
        .expect("a codec")
}

/// What a file's header says.
pub fn probe(file: &[u8]) -> Info {
    let engine = Engine::new(ALL, Limits::default());
    engine.probe(file).expect("an image")
}

/// The first frame of a file of any format.
pub fn decoded(file: &[u8]) -> Frame {
    let codec = ALL.iter().find(|codec| codec.sniff(file));
    let codec = codec.expect("a known format");
    let how = Decode {
        scales: Scales::FULL,
        limits: &Limits::default(),
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let image = codec.decode(file, &probe(file), &how).expect("an image");
    image.frame
}

/// The 8-bit samples of a plane.
pub fn samples(plane: &Plane) -> &[u8] {
    plane.as_u8().expect("8 bits").samples()
}

/// Returns an RGB frame. `of` returns a sample by the number of its plane (0 to 2) and its index in the plane.
pub fn rgb(width: u32, height: u32, of: impl Fn(u32, u32) -> u8) -> Frame {
    let planes = (0..3).map(|plane| grid(width, height, |at| of(plane, at)));
    Frame::new(Model::Rgb, width, height, planes.collect(), None).expect("a frame")
}

fn grid(width: u32, height: u32, of: impl Fn(u32) -> u8) -> Plane {
    let samples = (0..width * height).map(of).collect();
    Plane::U8(Grid::from_samples(width, height, samples).expect("a plane"))
}

/// A frame of a few colours. Each `number` gives a different frame.
pub fn still(width: u32, height: u32, number: u32) -> Frame {
    rgb(width, height, |plane, at| {
        ((at % width) * 5 + (at / width) * 3 + plane * 60 + number * 40) as u8
    })
}

/// Encodes a frame in the format `name`, whose codec has to accept the frame without conversion.
pub fn written(name: &str, frame: &Frame, how: &Encode) -> Vec<u8> {
    let image = Image::still(frame.clone());
    codec(name)
        .encoder()
        .expect("an encoder")
        .encode(&image, how, &Never)
        .expect("a file")
}

/// What a recipe makes of a file.
pub fn made(file: &[u8], recipe: &str) -> Vec<u8> {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let engine = Engine::new(ALL, Limits::default());
    let plan = engine.plan(&recipe, file).expect("a plan");
    let made = engine.run(&plan, Run::of(file)).expect("an image");
    made.bytes(file).to_vec()
}

/// A JPEG of 4:2:0.
pub fn jpeg(width: u32, height: u32, progressive: bool) -> Vec<u8> {
    let model = Model::ycbcr(Subsampling::C420);
    let planes = (0..3).map(|index| {
        let (w, h) = model.plane_size(index, width, height);
        grid(w, h, |at| {
            ((at % w) * (7 + index as u32) + (at / w) * 13 + (at % 97) * (at % 89) % 29) as u8
        })
    });
    let frame = Frame::new(model, width, height, planes.collect(), None).expect("a frame");
    let how = Encode {
        progressive,
        ..Encode::default()
    };
    written("jpeg", &frame, &how)
}

/// Returns an animation in the format `name` with `frames` frames of this size, each of which is shown for `hundredths`
/// hundredths of a second.
pub fn animation(name: &str, (width, height): (u32, u32), frames: u32, hundredths: u32) -> Vec<u8> {
    let head = Head {
        width,
        height,
        traits: still(width, height, 0).traits(),
        plays: 0,
        metadata: Metadata::default(),
    };
    let mut writer = codec("gif")
        .encoder()
        .expect("an encoder")
        .animation()
        .expect("animations")
        .writer(&head, &Encode::default(), &Never)
        .expect("a writer");
    for number in 0..frames {
        let delay = Delay {
            ticks: hundredths,
            per_second: 100,
        };
        let frame = still(width, height, number);
        writer.push(Timed { frame, delay }).expect("a frame");
    }
    let gif = writer.finish().expect("a file");
    made(&gif, &format!("as:{name}"))
}

/// A chunk of a PNG.
pub fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut chunk = (data.len() as u32).to_be_bytes().to_vec();
    chunk.extend(kind);
    chunk.extend(data);
    let mut crc = u32::MAX;
    for &byte in &chunk[4..] {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    chunk.extend((!crc).to_be_bytes());
    chunk
}

/// A PNG with these chunks behind its header.
pub fn with_chunks(png: &[u8], chunks: &[Vec<u8>]) -> Vec<u8> {
    let (header, rest) = png.split_at(33);
    [header, &chunks.concat(), rest].concat()
}

/// A JPEG with these segments behind its beginning, each with its marker's code.
pub fn with_segments(jpeg: &[u8], segments: &[(u8, &[u8])]) -> Vec<u8> {
    let mut file = jpeg[..2].to_vec();
    for (code, body) in segments {
        file.extend([0xff, *code]);
        file.extend((body.len() as u16 + 2).to_be_bytes());
        file.extend_from_slice(body);
    }
    file.extend_from_slice(&jpeg[2..]);
    file
}

/// Whether `bytes` contain `text`.
pub fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}
