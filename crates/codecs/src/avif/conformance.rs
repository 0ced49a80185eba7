//! Compares decoded code values with the files in `../shared/conformance`. The AV1 specification defines decoding
//! exactly, so every value has to match. Without the folder the test reports that it was skipped.

use std::fs;
use std::path::{Path, PathBuf};

use andon_pixels::{Never, Plane, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::decode::Canvas;
use super::header::Header;

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    if folder.join("manifest.jsonl").is_file() {
        return Some(folder);
    }
    eprintln!("skipped: there is no ../shared/conformance beside the repository");
    None
}

/// Returns the SHA-256 hash of the planes in the layout of a Y4M file, with the opacity plane if `opacity` is set.
fn hash(file: &[u8], opacity: bool) -> Result<String> {
    let header = Header::read(file)?;
    let mut hash = Sha256::new();
    for coded in [
        Some(&header.colour),
        header.alpha.as_ref().filter(|_| opacity),
    ]
    .into_iter()
    .flatten()
    {
        for plane in Canvas::decode(&header.items, coded, &Never)?.planes {
            match plane {
                Plane::U8(grid) => hash.update(grid.samples()),
                Plane::U16(grid) => {
                    let samples = grid.samples().iter();
                    hash.update(
                        samples
                            .flat_map(|sample| sample.to_le_bytes())
                            .collect::<Vec<_>>(),
                    );
                }
            }
        }
    }
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[test]
fn code_values_are_those_of_the_conformance_set() {
    let Some(folder) = folder() else { return };
    let manifest = fs::read_to_string(folder.join("manifest.jsonl")).expect("the manifest");
    let (mut judged, mut wrong) = (0, Vec::new());
    for row in manifest.lines() {
        let row: Value = serde_json::from_str(row).expect("a row");
        let path = row["path"].as_str().unwrap_or("");
        let expected = row["expected"]["planes"]["sha256"].as_str();
        let (Some(expected), Some(1)) = (expected, row["frames"].as_u64()) else {
            continue;
        };
        judged += 1;
        let file = fs::read(folder.join(path)).expect("a file");
        let format = row["expected"]["planes"]["y4m"].as_str().unwrap_or("");
        match hash(&file, format.contains("alpha")) {
            Ok(own) if own == expected => {}
            Ok(_) => wrong.push(format!("{path}: other planes")),
            Err(error) => wrong.push(format!("{path}: {error}")),
        }
    }
    assert!(judged > 50, "only {judged} files were judged");
    assert!(
        wrong.is_empty(),
        "{} of {judged}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
