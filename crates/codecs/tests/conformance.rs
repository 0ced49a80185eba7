//! Composed frames of files with known answers: disposal, blending, delays and loops of GIF, APNG, WebP, JPEG XL and
//! AVIF.
//!
//! The files are in `../shared/conformance`, next to the repository. Without them, the test reports that it was
//! skipped.

use std::fs;
use std::path::{Path, PathBuf};

use andon_codecs::ALL;
use andon_pixels::{Alone, Decode, Engine, Error, Info, Limits, Never, Result, Scales};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::rgba;

/// Files that decoders disagree about, and the result that we chose.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "gif/pillow/no_palette.gif",
        "a frame without any colours is broken",
    ),
    (
        "gif/pillow/no_palette_after_rgb.gif",
        "a frame without any colours is broken",
    ),
    (
        "gif/wuffs/empty-palette.gif",
        "a frame without any colours is broken",
    ),
    (
        "gif/wuffs/pixel-data-not-enough.gif",
        "a frame without all of its pixels is broken",
    ),
];

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    if folder.join("manifest.jsonl").is_file() {
        return Some(folder);
    }
    eprintln!("skipped: there is no ../shared/conformance beside the repository");
    None
}

/// A frame as shown: its delay in ms, and its pixels as RGBA rows.
type Shown = (f64, Vec<u8>);

/// Decodes every frame of a file.
fn composed(file: &[u8]) -> Result<(Info, Vec<Shown>)> {
    let limits = Limits::default();
    let info = Engine::new(ALL, limits).probe(file)?;
    let how = Decode {
        scales: Scales::FULL,
        limits: &limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let codec = ALL
        .iter()
        .find(|codec| codec.name() == info.format)
        .expect("its codec");
    if codec
        .animation()
        .expect("the capability")
        .composed(&info)
        .is_none()
    {
        return Err(Error::Unsupported {
            format: info.format,
            what: "one frame".to_owned(),
        });
    }
    let mut reader = codec
        .animation()
        .expect("the capability")
        .open(file, &info, &how)?;
    let mut frames = Vec::new();
    while let Some(timed) = reader.next()? {
        frames.push((timed.delay.seconds() * 1000.0, rgba(&timed.frame)));
    }
    Ok((info, frames))
}

/// Returns the number of plays in a form common to all formats: 0 means forever.
fn plays(format: &str, stored: &Value) -> u64 {
    match (format, stored.as_u64()) {
        ("gif", None) => 1,
        ("gif", Some(0)) => 0,
        ("gif", Some(more)) => more + 1,
        (_, plays) => plays.unwrap_or(0),
    }
}

#[test]
fn animations_are_composed_as_the_conformance_set_says() {
    let Some(folder) = folder() else { return };
    let manifest = fs::read_to_string(folder.join("manifest.jsonl")).expect("the manifest");
    let (mut judged, mut wrong) = (0, Vec::new());
    for row in manifest.lines() {
        let row: Value = serde_json::from_str(row).expect("a row");
        let (path, format) = (
            row["path"].as_str().unwrap_or(""),
            row["format"].as_str().unwrap_or(""),
        );
        let frames = row["expected"]["frames"].as_str();
        let (Some(frames), true) = (
            frames,
            matches!(format, "gif" | "apng" | "webp" | "jxl" | "avif"),
        ) else {
            continue;
        };
        let answer = fs::read_to_string(folder.join(frames)).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("an answer");
        let expected = answer["frames"].as_array().expect("frames");
        if expected.len() < 2 {
            continue;
        }
        judged += 1;
        let file = fs::read(folder.join(path)).expect("a file");
        match composed(&file) {
            Ok((info, own)) => {
                if let Err(why) = judge(&info, &own, &answer, expected, format) {
                    wrong.push(format!("{path}: {why}"));
                }
            }
            Err(error) => {
                let known = OTHERWISE.iter().any(|(known, _)| *known == path);
                let may = row["note"]
                    .as_str()
                    .is_some_and(|note| note.contains("refusal"));
                if !known && !may {
                    wrong.push(format!("{path}: {error}"));
                }
            }
        }
    }
    assert!(judged > 60, "only {judged} files were judged");
    assert!(
        wrong.is_empty(),
        "{} of {judged}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn judge(
    info: &Info,
    own: &[Shown],
    answer: &Value,
    expected: &[Value],
    format: &str,
) -> std::result::Result<(), String> {
    if own.len() != expected.len() || info.frames as usize != own.len() {
        return Err(format!(
            "{} frames of {}, {} told",
            own.len(),
            expected.len(),
            info.frames
        ));
    }
    let told = info.animation.map(|animation| u64::from(animation.plays));
    if told != Some(plays(format, &answer["loop"])) {
        return Err(format!(
            "it is played {told:?} times, and says {}",
            answer["loop"]
        ));
    }
    for (number, ((delay, pixels), expected)) in own.iter().zip(expected).enumerate() {
        // The conformance set lists the stored delay.
        let wanted = match expected["delay_ms"].as_f64().unwrap_or(0.0) {
            shortest if shortest <= 10.0 => 100.0,
            wanted => wanted,
        };
        if (delay - wanted).abs() > 0.5 {
            return Err(format!(
                "frame {number} stays {delay} ms instead of {wanted}"
            ));
        }
        if let Some(hash) = expected["rgba_sha256"].as_str() {
            let own: String = Sha256::digest(pixels)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            if own != hash {
                return Err(format!("frame {number} has other pixels"));
            }
        }
        if let Some(means) = expected["mean_rgba"].as_array() {
            for (channel, wanted) in means.iter().enumerate() {
                let samples = pixels.iter().skip(channel).step_by(4);
                let sum: f64 = samples.map(|&sample| f64::from(sample)).sum();
                let mean = sum / (pixels.len() / 4) as f64;
                let wanted = wanted.as_f64().unwrap_or(-1.0);
                if (mean - wanted).abs() > 1.0 {
                    return Err(format!(
                        "frame {number}: mean {mean:.2} instead of {wanted:.2}"
                    ));
                }
            }
        }
    }
    Ok(())
}
