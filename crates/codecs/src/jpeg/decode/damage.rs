//! Tests damaged files with the native decoder and libjpeg: both must accept or reject them alike.

use std::collections::BTreeMap;
use std::path::Path;

use andon_pixels::Limits;

use super::compare::{Verdict, compare};
use super::tests::samples;
use crate::jpeg::SCALES;

#[test]
fn damage_is_judged_as_libjpeg_judges_it() {
    judge(40);
}

#[test]
#[ignore = "the same for a minute or two: after work on the decoder"]
fn much_damage_is_judged_as_libjpeg_judges_it() {
    judge(3_000);
}

#[test]
fn what_the_fuzzer_found_once_differs_no_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg/findings");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the findings") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a finding");
        if let Err(why) = compare(&bytes, &SCALES, &Limits::default()) {
            panic!("{}: {why}", path.display());
        }
        count += 1;
    }
    assert!(count > 10, "only {count} findings");
}

fn judge(rounds: usize) {
    let limits = Limits {
        pixels: 1 << 20,
        ..Limits::default()
    };
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut tally = BTreeMap::<Verdict, usize>::new();
    for (name, bytes, ..) in samples() {
        for round in 0..rounds {
            let file = damaged(&bytes, round, &mut dice);
            let scale = SCALES[round / 2 % 4];
            let verdicts = compare(&file, &[scale], &limits);
            for verdict in verdicts.unwrap_or_else(|why| panic!("{name}, round {round}: {why}")) {
                *tally.entry(verdict).or_default() += 1;
            }
        }
    }
    println!("{tally:?}");
    let many = |verdict| tally.get(&verdict).is_some_and(|&count| count > rounds);
    assert!(many(Verdict::Both) && many(Verdict::Neither), "{tally:?}");
}

/// Damages a file in one to three places: flips a bit, replaces, removes or inserts a byte, or cuts the file off. In
/// every second round only the beginning, with the header, is damaged.
fn damaged(file: &[u8], round: usize, dice: &mut Dice) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..1 + dice.below(3) {
        let reach = if round.is_multiple_of(2) {
            file.len().min(700)
        } else {
            file.len()
        };
        let at = dice.below(reach);
        match dice.below(10) {
            0..=5 => file[at] ^= 1 << dice.below(8),
            6 => file[at] = [0, 0xff, 1, 0x7f][dice.below(4)],
            7 if file.len() > 1 => drop(file.remove(at)),
            8 => file.insert(at, dice.below(256) as u8),
            _ => file.truncate(at + 1),
        }
    }
    file
}

/// A small deterministic random number generator, so that failing tests can be reproduced.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}
