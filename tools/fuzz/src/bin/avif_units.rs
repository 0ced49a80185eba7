#![no_main]
//! Fuzzes AVIF with a bitstream whose units are repeated, moved, removed and changed, in a container that may declare
//! any size and any tiles. The input is a program with four bytes per step, because random bytes hardly ever form a
//! second frame of a bitstream.

// Only a part of this module is used here.
#[allow(dead_code)]
#[path = "../../../../crates/codecs/tests/support/hostile/mod.rs"]
mod hostile;

use hostile::avif::{AvifImage, units};

/// AVIF files with one item each, in gray and in colour.
const IMAGES: [&[u8]; 2] = [
    include_bytes!("../../../../samples/avif/gray.avif"),
    include_bytes!("../../../../samples/avif/420.avif"),
];

libfuzzer_sys::fuzz_target!(|program: &[u8]| {
    let Some((&first, steps)) = program.split_first() else {
        return;
    };
    let image = AvifImage::of(IMAGES[usize::from(first) % IMAGES.len()]);
    let mut units = units(&image.stream);
    let mut size = (u32::from(first >> 4) * 32 + 32, 96);
    let mut grid = None;
    for step in steps.chunks_exact(4).take(64) {
        let [what, one, other, value] = [step[0], step[1], step[2], step[3]];
        let place = |place: u8| usize::from(place) % units.len().max(1);
        let (from, to) = (place(one), place(other));
        match what % 8 {
            _ if units.is_empty() => break,
            // Repeats, moves or removes units.
            0 => {
                let unit = units[from].clone();
                let times = 1 + usize::from(value);
                units.splice(to..to, std::iter::repeat_n(unit, times));
            }
            1 => units.swap(from, to),
            2 => drop(units.remove(from)),
            // Changes the type, length or content of a unit.
            3 => {
                let unit = &mut units[from].1;
                let at = usize::from(other) % unit.len().max(1);
                if let Some(byte) = unit.get_mut(at) {
                    *byte = value;
                }
            }
            4 => units[from]
                .1
                .truncate(usize::from(other) * 64 + usize::from(value)),
            // Sets a size, and tiles.
            5 => {
                size = (
                    u32::from(one) * u32::from(value) + 1,
                    u32::from(other) * 4 + 1,
                )
            }
            6 => {
                grid = Some((
                    u32::from(one % 16) + 1,
                    u32::from(other % 16) + 1,
                    u32::from(value),
                ))
            }
            _ => {}
        }
        if units.len() > 20_000 {
            break;
        }
    }
    let stream: Vec<u8> = units.into_iter().flat_map(|(_, unit)| unit).collect();
    let length = stream.len() as u32;
    let image = image.with(stream);
    let file = match grid {
        None => image.file(size),
        Some((columns, rows, 0)) => image.grid_of_one((columns, rows), size),
        Some((columns, rows, step)) => {
            let tile = |tile| {
                vec![
                    (tile * (step - 1) % length.max(1), length / 2),
                    (0, length / step),
                ]
            };
            image.grid((columns, rows), size, tile)
        }
    };
    andon_fuzz::decode("avif", &file);
});
