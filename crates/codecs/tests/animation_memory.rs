//! Memory for reducing the size of an animation, measured on the whole process; hence a single test in its own program.

use andon_codecs::ALL;
use andon_pixels::{Engine, Interrupt, Limits, Run};
use andon_recipe::Recipe;
use std::sync::atomic::{AtomicU64, Ordering};

const WIDTH: u16 = 800;
const HEIGHT: u16 = 600;

/// Bytes of the canvas: red, green, blue and opacity.
const CANVAS: u64 = WIDTH as u64 * HEIGHT as u64 * 4;

/// Memory of libaom for frames of any size, in bytes.
const AOM: u64 = 6 << 20;

/// An interrupt that never fires, and records the maximum memory of the process over all of its checks.
struct Watch(AtomicU64);

impl Interrupt for Watch {
    fn interrupted(&self) -> bool {
        self.0.fetch_max(resident(), Ordering::Relaxed);
        false
    }
}

/// Returns the resident memory of the process in bytes; 0 on systems that do not report it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

/// Creates an animation with a large background and a small moving square, whose earlier position becomes transparent.
fn moving(frames: u32) -> Vec<u8> {
    let palette = [240, 240, 200, 200, 30, 30];
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, WIDTH, HEIGHT, &palette).expect("a size");
    for number in 0..frames {
        let whole = number == 0;
        let (width, height) = if whole { (WIDTH, HEIGHT) } else { (40, 40) };
        let frame = gif::Frame {
            width,
            height,
            left: if whole { 0 } else { (number * 13 % 700) as u16 },
            top: if whole { 0 } else { (number * 7 % 500) as u16 },
            delay: 4,
            dispose: if number % 2 == 0 {
                gif::DisposalMethod::Previous
            } else {
                gif::DisposalMethod::Background
            },
            buffer: vec![u8::from(!whole); usize::from(width) * usize::from(height)].into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).expect("in memory");
    }
    drop(encoder);
    file
}

/// Returns the bytes that a recipe takes in addition to its result, after checking them against its plan.
fn taken(engine: &Engine, recipe: &str, frames: u32) -> u64 {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let file = moving(frames);
    let plan = engine.plan(&recipe, &file).expect("a plan");
    let before = resident();
    let watch = Watch(AtomicU64::new(before));
    let made = engine
        .run(
            &plan,
            Run {
                interrupt: &watch,
                ..Run::of(&file)
            },
        )
        .expect("an animation");
    let result = made.body.map_or(0, |body| body.len() as u64);
    let took = watch.0.load(Ordering::Relaxed).saturating_sub(before);
    assert!(
        took <= plan.peak_bytes(),
        "{recipe}: {took} bytes were taken, and {} planned",
        plan.peak_bytes()
    );
    // The result grows with the number of frames, which is expected.
    took.saturating_sub(result)
}

#[test]
fn a_thousand_frames_take_no_more_memory_than_ten() {
    andon_codecs::allocator::return_free_memory();
    let limits = Limits {
        frames: 1000,
        animation_pixels: 1000 * u64::from(WIDTH) * u64::from(HEIGHT),
        ..Limits::default()
    };
    let engine = Engine::new(ALL, limits);
    // Frames as large as the canvas, with opacity, in libaom, whose allocations our counters do not see.
    let few = taken(&engine, "exact:800x600,as:avif,effort:0", 4);
    let more = taken(&engine, "exact:800x600,as:avif,effort:0", 12);
    assert!(
        more < few + CANVAS,
        "{few} bytes for 4 frames, {more} for 12"
    );
    for (recipe, encoder) in [
        ("fit:80x60,as:webp,effort:0", 0),
        ("fit:80x60,as:gif", 0),
        ("fit:80x60,as:apng", 0),
        ("fit:80x60,as:avif", AOM),
    ] {
        for frames in [10, 1000] {
            let own = taken(&engine, recipe, frames);
            assert!(
                own <= 6 * CANVAS + encoder,
                "{recipe}: {frames} frames took {own} bytes beside the result, {} canvases",
                own / CANVAS
            );
        }
    }
}
