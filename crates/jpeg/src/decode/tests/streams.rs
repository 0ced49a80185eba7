//! Tests that reading a scan by several streams gives the same samples, and the same errors for broken files, as
//! reading one MCU after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use andon_kernels::cores::{Alone, Cores, Task};

use super::super::streams::with as with_streams;
use super::{Decoded, Plenty, SIDES, both_ways, decode, photos, samples};
use crate::decode::{Request, components};
use crate::header::{Header, Layout};

/// Decodes with two cores without streams, and with one and with two cores with streams.
fn three_ways(bytes: &[u8], side: u8) -> [Decoded; 3] {
    let [_, without] = with_streams(false, || both_ways(bytes, side));
    let [alone, lent] = with_streams(true, || both_ways(bytes, side));
    [without, alone, lent]
}

#[test]
fn streams_change_no_sample() {
    for bytes in photos() {
        for side in SIDES {
            let [without, alone, lent] = three_ways(&bytes, side).map(|it| it.expect("decodes"));
            assert!(without == alone && alone == lent, "at {side}/8");
        }
    }
}

/// One idle core that runs the first task lent to it only after all strips of the image have been decoded. Any further
/// task is refused. After the first refusal, the core counts the interrupt checks, of which each strip makes one, and
/// runs its task at the check that follows those of all strips.
struct Late {
    strips: usize,
    asked: AtomicUsize,
    begins: AtomicUsize,
    lent: Mutex<Option<Task>>,
}

impl Cores for Late {
    fn lend(&self, task: Task) -> Option<Task> {
        let mut lent = self.lent.lock().expect("one thread");
        if lent.is_none() {
            return lent.replace(task);
        }
        let begins = self.asked.load(Ordering::Relaxed) + self.strips;
        self.begins.store(begins, Ordering::Relaxed);
        Some(task)
    }

    fn lends_soon(&self) -> bool {
        true
    }
}

impl Late {
    fn interrupted(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked == self.begins.load(Ordering::Relaxed) {
            let lent = self.lent.lock().expect("one thread").take();
            lent.expect("something was lent")();
        }
        false
    }
}

#[test]
fn strips_that_are_decoded_from_their_entries_are_what_they_are_from_the_top() {
    let mut checked = 0;
    for bytes in photos() {
        let header = Header::read(&bytes).expect("a header");
        let layout = Layout::of(&header).expect("a layout");
        let has_restart_markers = bytes.windows(2).any(|pair| pair == [0xff, 0xdd]);
        if header.progressive || has_restart_markers || header.components.len() == 1 {
            continue;
        }
        let alone = decode(&bytes, 8, 8, &Alone).expect("decodes");
        // In tests a strip is a row of MCUs.
        let late = Late {
            strips: header.height.div_ceil(8 * u32::from(layout.sub.v)) as usize,
            asked: AtomicUsize::new(0),
            begins: AtomicUsize::new(usize::MAX),
            lent: Mutex::new(None),
        };
        let request = Request {
            cores: &late,
            interrupted: &|| late.interrupted(),
            ..Request::of(&[[8, 8]])
        };
        let lent = with_streams(true, || components(&bytes, &request));
        assert!(lent.expect("decodes") == alone);
        checked += 1;
    }
    assert!(checked > 0, "no sequential photo");
}

#[test]
fn streams_change_no_sample_whatever_the_sampling_and_the_sizes() {
    for (name, bytes) in samples() {
        for (luma, chroma) in SIDES.into_iter().flat_map(|a| SIDES.map(|b| (a, b))) {
            let decode = || decode(&bytes, luma, chroma, &Alone);
            let [with, without] = [true, false].map(|it| with_streams(it, decode));
            assert!(with == without, "{name} at {luma}/8 and {chroma}/8");
        }
    }
}

#[test]
fn streams_change_no_answer_to_cut_and_damaged_files() {
    for mut bytes in photos() {
        let length = bytes.len();
        for cut in [length - 3, length - 40, length * 3 / 4, length / 3] {
            for side in [2, 8] {
                let [without, alone, lent] = three_ways(&bytes[..cut], side);
                assert!(
                    without == alone && alone == lent,
                    "cut to {cut} of {length}, {side}/8"
                );
            }
        }
        for part in 2..20 {
            let place = length * part / 20;
            bytes[place] ^= 1 << (part % 8);
            let [without, alone, lent] = three_ways(&bytes, SIDES[part % 4]);
            assert!(
                without == alone && alone == lent,
                "damaged at {place} of {length}"
            );
        }
    }
}

#[test]
fn streams_change_no_answer_to_files_with_much_damage_anywhere() {
    let photos = photos();
    let mut compared = 0;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for case in 0..200 {
        let mut bytes = photos[dice.below(photos.len())].clone();
        damage(&mut bytes, &mut dice);
        let read = Header::read(&bytes).and_then(|header| Ok((Layout::of(&header)?, header)));
        // Sizes may be damaged, too.
        let Ok((layout, header)) = read else { continue };
        if u64::from(header.width) * u64::from(header.height) > 8 << 20 {
            continue;
        }
        let cores: [&dyn Cores; 2] = [&Alone, &Plenty];
        let cores = cores[dice.below(2)];
        let (luma, chroma) = (SIDES[dice.below(4)], SIDES[dice.below(4)]);
        if !layout.is_decodable(&header) {
            continue;
        }
        let decode = || decode(&bytes, luma, chroma, cores);
        let [with, without] = [true, false].map(|it| with_streams(it, decode));
        assert!(
            with == without,
            "case {case}: {:?} and {:?}",
            with.err(),
            without.err()
        );
        compared += 1;
    }
    assert!(compared > 100, "only {compared} files were still files");
}

/// A small deterministic random number generator, so that failing tests can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// Damages a file in random places: flipped bits, runs of zeros or noise, changed bytes of the tables, removed bytes,
/// or a missing end.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    // Behind the tables, most of the time.
    let place = |bytes: &[u8], dice: &mut Dice| 600 + dice.below(bytes.len() - 700);
    for _ in 0..dice.below(6) {
        let at = place(bytes, dice);
        match dice.below(4) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => {
                let is_flat = dice.below(2) == 0;
                for byte in &mut bytes[at..at + 60] {
                    *byte = if is_flat { 0 } else { dice.below(128) as u8 };
                }
            }
            2 => {
                let at = 150 + dice.below(450);
                bytes[at] = dice.below(256) as u8;
            }
            _ => drop(bytes.drain(at..at + dice.below(40))),
        }
    }
    if dice.below(8) == 0 {
        let end = place(bytes, dice);
        bytes.truncate(end);
    }
}
