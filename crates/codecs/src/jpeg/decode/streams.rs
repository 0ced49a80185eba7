//! Tests that reading a scan by several streams gives the same samples, and the same answers to broken files, as
//! reading one MCU after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use andon_pixels::{Alone, Cores, Decode, Grid, Interrupt, Limits, Model, Result, Scale, Task};

use super::damage::Dice;
use super::own;
use super::tests::{Plenty, both_ways, how, photographs, samples};
use crate::jpeg::header::layout::Layout;
use crate::jpeg::header::markers::Header;
use crate::jpeg::native::with_streams;

/// The scales for which streams are used, at full size only together with another core.
const SCALES: [Scale; 4] = [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL];

type Decoded = Result<Option<Vec<Grid<u8>>>>;

/// Decodes with two cores without streams, and with one and with two cores with streams.
fn three_ways(bytes: &[u8], scale: Scale) -> [Decoded; 3] {
    let [_, without] = with_streams(false, || both_ways(bytes, scale));
    let [alone, lent] = with_streams(true, || both_ways(bytes, scale));
    [without, alone, lent]
}

#[test]
fn streams_change_no_sample() {
    for bytes in photographs() {
        for scale in SCALES {
            let [without, alone, lent] = three_ways(&bytes, scale).map(|it| it.expect("decodes"));
            assert!(without == alone && alone == lent, "at {scale:?}");
        }
    }
}

/// One idle core that begins a lent task only after all strips have been made. When a second task, which precedes the
/// strips, is offered and refused, it starts counting interrupt checks, one per strip, and begins the lent task after
/// the last.
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

impl Interrupt for Late {
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
    for bytes in photographs() {
        let header = Header::read(&bytes).expect("a header");
        let layout = Layout::of(&header).expect("a layout");
        let has_restart_markers = bytes.windows(2).any(|pair| pair == [0xff, 0xdd]);
        if header.progressive || has_restart_markers {
            continue;
        }
        let limits = Limits::default();
        let how = how(Scale::FULL, Scale::FULL, &limits);
        let alone = own(&bytes, &header, &layout, &how).expect("decodes");
        // In tests a strip is a row of MCUs.
        let Model::YCbCr { sub, .. } = layout.model else {
            continue;
        };
        let late = Late {
            strips: header.height.div_ceil(8 * u32::from(sub.v)) as usize,
            asked: AtomicUsize::new(0),
            begins: AtomicUsize::new(usize::MAX),
            lent: Mutex::new(None),
        };
        let how = Decode {
            cores: &late,
            interrupt: &late,
            ..how
        };
        let lent = with_streams(true, || own(&bytes, &header, &layout, &how));
        assert!(lent.expect("decodes") == alone);
        checked += 1;
    }
    assert!(checked > 0, "no sequential photograph");
}

#[test]
fn streams_change_no_sample_whatever_the_sampling_and_the_scales() {
    let limits = Limits::default();
    for (name, bytes, header, layout) in samples() {
        for (luma, chroma) in SCALES.into_iter().flat_map(|a| SCALES.map(|b| (a, b))) {
            let how = how(luma, chroma, &limits);
            let decode = || own(&bytes, &header, &layout, &how);
            let [with, without] = [true, false].map(|it| with_streams(it, decode));
            assert!(with == without, "{name} at {luma:?} and {chroma:?}");
        }
    }
}

#[test]
fn streams_change_no_answer_to_cut_and_damaged_files() {
    for mut bytes in photographs() {
        let length = bytes.len();
        for cut in [length - 3, length - 40, length * 3 / 4, length / 3] {
            for scale in [Scale::QUARTER, Scale::FULL] {
                let [without, alone, lent] = three_ways(&bytes[..cut], scale);
                assert!(
                    without == alone && alone == lent,
                    "cut to {cut} of {length}, {scale:?}"
                );
            }
        }
        for part in 2..20 {
            let place = length * part / 20;
            bytes[place] ^= 1 << (part % 8);
            let [without, alone, lent] = three_ways(&bytes, SCALES[part % 4]);
            assert!(
                without == alone && alone == lent,
                "damaged at {place} of {length}"
            );
        }
    }
}

#[test]
fn streams_change_no_answer_to_files_with_much_damage_anywhere() {
    let photographs = photographs();
    let limits = Limits::default();
    let mut compared = 0;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for case in 0..200 {
        let mut bytes = photographs[dice.below(photographs.len())].clone();
        damage(&mut bytes, &mut dice);
        let read = Header::read(&bytes).and_then(|header| Ok((Layout::of(&header)?, header)));
        // Sizes may be damaged, too.
        let Ok((layout, header)) = read else { continue };
        if u64::from(header.width) * u64::from(header.height) > 8 << 20 {
            continue;
        }
        let cores: [&dyn Cores; 2] = [&Alone, &Plenty];
        let how = Decode {
            cores: cores[dice.below(2)],
            ..how(SCALES[dice.below(4)], SCALES[dice.below(4)], &limits)
        };
        let decode = || own(&bytes, &header, &layout, &how);
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
