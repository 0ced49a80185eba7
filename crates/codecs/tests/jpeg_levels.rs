//! JPEGs are decoded to identical samples with every instruction set: valid and damaged ones, at every scale. Bit
//! readers and inverse DCTs have several implementations.

use std::path::Path;

use andon_kernels::cpu::{Level, limited_to};
use andon_pixels::{Image, Limits, Never, Result, Scale};

use crate::support::{Dice, codec, decode_at};

#[test]
fn every_instruction_set_decodes_alike() {
    let mut dice = Dice::new(5);
    let (mut whole, mut broken) = (0, 0);
    for folder in ["../../samples/jpeg", "tests/jpeg"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().extension().is_none_or(|ext| ext != "jpg") {
                continue;
            }
            let file = std::fs::read(entry.path()).expect("an image");
            for round in 0..6 {
                let mut damaged = file.clone();
                // The first round has no damage.
                for _ in 0..round {
                    damaged[dice.below(file.len())] ^= 1 << dice.below(8);
                }
                for scale in [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL] {
                    let baseline = decoded(Level::Baseline, &damaged, scale);
                    *if baseline.is_ok() {
                        &mut whole
                    } else {
                        &mut broken
                    } += 1;
                    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                        let same = decoded(level, &damaged, scale) == baseline;
                        assert!(same, "{}: {level:?}, {scale:?}", entry.path().display());
                    }
                }
            }
        }
    }
    assert!(whole > 200 && broken > 50, "{whole} whole, {broken} broken");
}

fn decoded(level: Level, file: &[u8], scale: Scale) -> Result<Image> {
    limited_to(level, || {
        let (jpeg, limits) = (codec("jpeg"), Limits::default());
        decode_at(jpeg, file, &jpeg.probe(file)?, scale, &limits, &Never)
    })
}
