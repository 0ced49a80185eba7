//! Formats as they are served: what was asked for is what comes, whatever the source's own format.

use andon_codecs::ALL;
use andon_pixels::{Codec, Depth, Encode, Image, Model, Never};

use crate::common::House;
use crate::common::images::{animation, codec, probe, still};

/// Returns a file of this format. `None` if the codec cannot encode 8-bit RGB without a conversion, or does not
/// recognise the file that it has encoded.
fn file(codec: &dyn Codec) -> Option<Vec<u8>> {
    let how = Encode {
        lossless: true,
        ..Encode::default()
    };
    let frame = still(40, 30, 0);
    let encoder = codec.encoder()?;
    let takes = encoder.accepts(frame.traits(), &how);
    if takes.model != Model::Rgb || takes.depth != Depth::U8 {
        return None;
    }
    let file = encoder.encode(&Image::still(frame), &how, &Never).ok()?;
    codec.sniff(&file).then_some(file)
}

#[test]
fn the_sources_own_format_is_written_where_it_is_asked_for_by_name() {
    let house = House::with("[imgproxy]\nprefix = \"/imgproxy\"\n");
    let mut seen = Vec::new();
    for codec in ALL {
        let Some(file) = file(*codec) else {
            continue;
        };
        let name = codec.name();
        house.put(&format!("n.{name}"), file);
        for target in [
            format!("/r/as:{name}/n.{name}"),
            format!("/r/fit:20x20,as:{name}/n.{name}"),
            format!("/imgproxy/unsafe/rs:fit:20:20/plain/local:///n.{name}@{name}"),
        ] {
            let reply = house.get(&target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.text());
            assert_eq!(probe(&reply.body).format, name, "{target}");
        }
        seen.push(name);
    }
    for name in ["png", "bmp", "ico", "tiff", "gif"] {
        assert!(seen.contains(&name), "{name} was not tried: {seen:?}");
    }
    // Where nobody asks, the result is one that browsers show.
    for name in ["bmp", "ico", "tiff"] {
        let reply = house.get(&format!("/r/fit:20x20/n.{name}"));
        assert!(
            ["png", "jpeg"].contains(&probe(&reply.body).format),
            "{name}"
        );
    }
}

#[test]
fn a_frame_that_is_asked_for_is_one_frame_in_every_format() {
    let house = House::new();
    let moving: Vec<&str> = ALL
        .iter()
        .filter_map(|codec| Some(codec.encoder()?.animation()?.requested_as()))
        .collect();
    assert!(moving.len() >= 5, "{moving:?}");
    for source in &moving {
        let name = format!("three.{source}");
        house.put(&name, animation(source, (40, 30), 3, 10));
        for result in moving.iter().copied().chain(["png", "jpeg"]) {
            for number in 1..=3 {
                for resize in ["", "fit:20x20,"] {
                    let target = format!("/r/{resize}frame:{number},as:{result}/{name}");
                    let reply = house.get(&target);
                    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
                    let info = probe(&reply.body);
                    assert_eq!(info.frames, 1, "{target}");
                    assert_eq!(info.format, codec(result).name(), "{target}");
                }
            }
        }
    }
}

/// A GIF's delays, in hundredths of a second, as its bytes say them.
fn hundredths(file: &[u8]) -> Vec<u16> {
    let controls = file.windows(8).filter(|at| at[..3] == [0x21, 0xf9, 4]);
    controls
        .map(|at| u16::from_le_bytes([at[4], at[5]]))
        .collect()
}

/// Returns a GIF with these delays, in hundredths of a second. They replace those that the encoder has written, because
/// it writes no very short ones.
fn gif(delays: &[u16]) -> Vec<u8> {
    let mut file = animation("gif", (40, 30), delays.len() as u32, 10);
    let mut left = delays.iter();
    for at in 0..file.len() - 8 {
        if file[at..at + 3] == [0x21, 0xf9, 4] {
            let delay = left.next().expect("as many delays as frames");
            file[at + 4..at + 6].copy_from_slice(&delay.to_le_bytes());
        }
    }
    assert_eq!(hundredths(&file), delays);
    file
}

#[test]
fn small_animations_are_written_in_every_format() {
    let house = House::new();
    for side in [1, 2, 8, 17] {
        let name = format!("tiny{side}.gif");
        house.put(&name, animation("gif", (side, side), 4, 10));
        for result in [
            "webp",
            "webp,lossless",
            "avif",
            "avif,lossless",
            "apng",
            "gif",
            "jxl",
        ] {
            let target = format!("/r/turn:180,as:{result}/{name}");
            let reply = house.get(&target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.text());
            assert_eq!(probe(&reply.body).frames, 4, "{target}");
        }
    }
}

#[test]
fn delays_of_10_ms_and_less_are_what_browsers_play_in_every_format() {
    let house = House::new();
    house.put("z.gif", gif(&[0, 1, 0]));
    for result in ["gif", "webp", "apng", "avif", "jxl"] {
        let target = format!("/r/fit:20x20,as:{result}/z.gif");
        let reply = house.get(&target);
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        let info = probe(&reply.body);
        let animation = info.animation.expect("it moves");
        assert_eq!((info.frames, animation.duration_ms), (3, 300), "{target}");
    }
}

#[test]
fn no_delay_of_a_gif_that_is_written_is_too_short_for_browsers_and_the_whole_keeps_its_duration() {
    let house = House::new();
    // Frames of 12 to 45 ms in WebP, whose bytes say milliseconds at a known place of each frame.
    for (number, each) in [[16, 17, 17], [12, 12, 12], [11, 45, 13], [30, 33, 20]]
        .into_iter()
        .enumerate()
    {
        let frames = 30;
        let mut file = animation("webp", (40, 30), frames, 10);
        let starts: Vec<usize> = (0..file.len() - 4)
            .filter(|&at| file[at..at + 4] == *b"ANMF")
            .collect();
        assert_eq!(starts.len(), frames as usize);
        let mut whole = 0;
        for (frame, at) in starts.into_iter().enumerate() {
            let delay: u32 = each[frame % 3];
            whole += delay;
            file[at + 20..at + 23].copy_from_slice(&delay.to_le_bytes()[..3]);
        }
        let name = format!("quick{number}.webp");
        house.put(&name, file);
        let reply = house.get(&format!("/r/fit:20x20,as:gif/{name}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let delays = hundredths(&reply.body);
        assert!(delays.iter().all(|&delay| delay >= 2), "{delays:?}");
        let written: u32 = delays.iter().map(|&delay| 10 * u32::from(delay)).sum();
        let off = written.abs_diff(whole);
        assert!(off * 50 <= whole, "{written} ms of {whole}");
    }
}
