//! Small files that declare huge sizes are rejected because of their headers, without unpacking pixels or allocating
//! much memory. The limits on drawings are tested in `svg_bombs`.

use std::path::Path;
use std::time::Instant;

use andon_codecs::{ALL, BEHIND_FEATURES};
use andon_pixels::{Engine, Error, Limits};

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(samples.join(name)).expect("a sample")
}

fn find(file: &[u8], what: &[u8]) -> usize {
    let at = file.windows(what.len()).position(|part| part == what);
    at.expect("it is there")
}

/// Checks that the sample file `name` can be read, and returns a copy of it. `changes` returns the offsets at which
/// bytes are replaced, each with the new bytes.
fn claiming(name: &str, changes: impl Fn(&[u8]) -> Vec<(usize, Vec<u8>)>) -> Vec<u8> {
    let mut file = sample(name);
    assert!(engine().probe(&file).is_ok(), "{name}");
    for (at, bytes) in changes(&file) {
        file[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    file
}

/// A width or height in px that exceeds every limit.
const SIDE: u32 = 60_000;

fn engine() -> Engine {
    Engine::new(ALL, Limits::default())
}

/// Returns the offset of a tag's value in the first directory of a little-endian TIFF.
fn tag(file: &[u8], tag: u16) -> usize {
    let at = u32::from_le_bytes(file[4..8].try_into().expect("four bytes")) as usize;
    let entries = file[at + 2..].chunks_exact(12);
    let before = entries
        .take_while(|entry| entry[..2] != tag.to_le_bytes())
        .count();
    at + 2 + 12 * before
}

fn drawing(inside: &str) -> Vec<u8> {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{inside}</svg>").into()
}

/// Returns small files that declare huge sizes, for every decoder, each with a name that begins with the format.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let little = SIDE.to_le_bytes().to_vec();
    let big = SIDE.to_be_bytes().to_vec();
    let tiff = |name: &str, tags: &[u16]| {
        claiming(name, |file| {
            let long = [&4_u16.to_le_bytes()[..], &1_u32.to_le_bytes(), &little].concat();
            let entry = |which: &u16| (tag(file, *which) + 2, long.clone());
            tags.iter().map(entry).collect()
        })
    };
    let jpeg = sample("broken/bomb.jpg");
    let mut raf = b"FUJIFILMCCD-RAW 0201".to_vec();
    raf.resize(148, 0);
    raf[84..88].copy_from_slice(&148_u32.to_be_bytes());
    raf[88..92].copy_from_slice(&(jpeg.len() as u32).to_be_bytes());
    raf.extend(&jpeg);
    vec![
        ("jpeg", jpeg),
        ("png", sample("broken/bomb.png")),
        ("gif", sample("broken/bomb.gif")),
        ("jxl", sample("broken/bomb.jxl")),
        (
            "webp",
            claiming("webp/alpha.webp", |_| {
                let side = (SIDE - 1).to_le_bytes()[..3].to_vec();
                vec![(24, side.clone()), (27, side)]
            }),
        ),
        (
            "avif",
            claiming("avif/420.avif", |file| {
                let at = find(file, b"ispe") + 8;
                vec![(at, big.clone()), (at + 4, big.clone())]
            }),
        ),
        (
            "bmp",
            claiming("bmp/24-bit.bmp", |_| {
                vec![(18, little.clone()), (22, little.clone())]
            }),
        ),
        (
            "ico",
            claiming("ico/bitmap.ico", |file| {
                let at = u32::from_le_bytes(file[18..22].try_into().expect("four bytes")) as usize;
                let twice = (2 * SIDE).to_le_bytes().to_vec();
                vec![(at + 4, little.clone()), (at + 8, twice)]
            }),
        ),
        ("tiff, sides", tiff("tiff/lzw.tif", &[256, 257])),
        ("tiff, strips", tiff("tiff/lzw.tif", &[256, 257, 278])),
        (
            "psd",
            claiming("psd/rgb.psd", |_| {
                vec![(14, big.clone()), (18, big.clone())]
            }),
        ),
        ("raw", raf),
        (
            "svg, sides",
            String::from_utf8(drawing(""))
                .expect("text")
                .replace("'9'", "'60000'")
                .into(),
        ),
    ]
}

/// Returns the maximum resident memory of the process in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.expect("a number") << 10
}

/// Tolerance in bytes for the growth of the process's memory: for code that runs for the first time, and for parsers'
/// data about a few hundred kilobytes of text.
const SLACK: u64 = 8 << 20;

#[test]
fn huge_claims_are_refused_by_the_header_and_nothing_is_allocated_for_them() {
    let bombs = bombs();
    let engine = engine();
    let before = peak();
    for (name, file) in &bombs {
        match engine.probe(file) {
            Err(Error::Limit { .. } | Error::Broken { .. } | Error::Unsupported { .. }) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    let grown = peak() - before;
    assert!(grown < SLACK, "{grown} bytes more at the peak");
}

#[test]
fn every_reader_has_its_bomb() {
    let bombs = bombs();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    // Formats that are only written have no samples.
    let read = |name: &str| !BEHIND_FEATURES.contains(&name) && samples.join(name).is_dir();
    for codec in ALL.iter().filter(|codec| read(codec.name())) {
        let name = codec.name();
        let own = bombs.iter().filter(|(bomb, _)| bomb.starts_with(name));
        assert!(own.clone().count() > 0, "{name}");
        for (bomb, file) in own {
            assert!(codec.sniff(file), "{bomb}");
        }
    }
}

#[test]
#[ignore = "prints how long each refusal takes: for a quiet machine"]
fn how_long_refusals_take() {
    let engine = engine();
    for (name, file) in bombs() {
        let start = Instant::now();
        let refused = engine.probe(&file).expect_err(name);
        let (taken, bytes) = (start.elapsed(), file.len());
        println!("{name:<16} {bytes:>8} bytes {taken:>10.0?}  {refused}");
    }
}
