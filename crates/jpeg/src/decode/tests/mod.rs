//! Tests that samples depend neither on the number of cores nor on which other sizes are requested, and that they equal
//! recorded ones.

mod streams;

use std::path::Path;

use andon_kernels::cores::{Alone, Cores, Task};

use super::*;
use crate::header::{Header, Layout};

/// The samples per block side at which images are decoded.
const SIDES: [u8; 4] = [1, 2, 4, 8];

/// The planes of each component, or the error.
type Decoded = Result<Vec<Vec<Scaled>>>;

/// Returns every file of a folder below `samples` with its name, sorted by it.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder of samples");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jpg"));
    paths.sort();
    let file = |path: &std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), std::fs::read(path).expect("a sample"))
    };
    paths.iter().map(file).collect()
}

/// Returns every sample file that the decoder supports, with its name.
fn samples() -> Vec<(String, Vec<u8>)> {
    let mut samples = files("jpeg");
    samples.retain(|(_, bytes)| {
        let header = Header::read(bytes).expect("a header");
        Layout::of(&header).is_ok_and(|layout| layout.is_decodable(&header))
    });
    assert!(samples.len() > 15, "only {} samples", samples.len());
    samples
}

/// Returns the photos whose scans are long enough to be split.
fn photos() -> Vec<Vec<u8>> {
    let mut long: Vec<_> = files("photos")
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect();
    long.retain(|bytes| bytes.len() > 200_000);
    assert!(long.len() > 2, "only {} long photos", long.len());
    long
}

/// Idle cores that never run out: each task gets a thread of its own.
struct Plenty;

impl Cores for Plenty {
    fn lend(&self, task: Task) -> Option<Task> {
        std::thread::spawn(task);
        None
    }

    fn lends_soon(&self) -> bool {
        true
    }
}

/// Decodes luma and chroma with these samples per block side.
fn decode(bytes: &[u8], luma: u8, chroma: u8, cores: &dyn Cores) -> Decoded {
    let sizes = [[luma, chroma]];
    let request = Request {
        memory: 1 << 30,
        cores,
        ..Request::of(&sizes)
    };
    components(bytes, &request)
}

/// Decodes an image on one core and on two.
fn both_ways(bytes: &[u8], side: u8) -> [Decoded; 2] {
    let cores: [&dyn Cores; 2] = [&Alone, &Plenty];
    cores.map(|cores| decode(bytes, side, side, cores))
}

#[test]
fn chroma_of_its_own_size_is_the_plane_of_that_size() {
    for (name, bytes) in samples() {
        let decode = |luma, chroma| decode(&bytes, luma, chroma, &Alone).expect("decodes");
        let apart = decode(4, 1);
        assert!(apart[0] == decode(4, 4)[0], "{name}");
        assert!(apart[1..] == decode(1, 1)[1..], "{name}");
    }
}

#[test]
fn several_sizes_at_once_are_what_they_are_alone() {
    for (name, bytes) in samples() {
        let sizes = [[1, 1], [4, 2], [8, 8], [4, 4]];
        let at_once = components(&bytes, &Request::of(&sizes)).expect("decodes");
        for [luma, chroma] in sizes {
            let alone = decode(&bytes, luma, chroma, &Alone).expect("decodes");
            for (at_once, alone) in at_once.iter().zip(alone) {
                assert!(at_once.contains(&alone[0]), "{name}");
            }
        }
    }
}

#[test]
fn a_lent_core_changes_no_sample() {
    for bytes in photos() {
        for side in SIDES {
            let [alone, lent] = both_ways(&bytes, side);
            assert!(alone.expect("decodes") == lent.expect("decodes"));
        }
    }
}

#[test]
fn a_lent_core_changes_no_answer_to_cut_and_damaged_files() {
    for mut bytes in photos() {
        let length = bytes.len();
        for cut in [
            length - 3,
            length - 40,
            length * 3 / 4,
            length / 2,
            length / 3,
        ] {
            let [alone, lent] = both_ways(&bytes[..cut], 2);
            assert!(alone == lent, "cut to {cut} of {length}");
        }
        for part in 2..20 {
            let place = length * part / 20;
            bytes[place] ^= 1 << (part % 8);
            for side in [4, 8] {
                let [alone, lent] = both_ways(&bytes, side);
                assert!(alone == lent, "damaged at {place} of {length}");
            }
        }
    }
}

/// Compares a hash of the samples of all files, at each size, with a recorded one. It was recorded when the samples
/// were last compared with those of libjpeg-turbo, in a test of `andon-codecs`. That test decodes more rows or bits at
/// a time, because this crate uses smaller constants in its own tests.
#[test]
fn samples_are_what_they_were() {
    let mut sums = [0; 4];
    for (_, bytes) in samples() {
        for (sum, side) in sums.iter_mut().zip(SIDES) {
            for plane in decode(&bytes, side, side, &Alone)
                .expect("decodes")
                .concat()
            {
                for sample in plane.plane.samples {
                    *sum = (*sum ^ u64::from(sample)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }
    let expected = [
        695_962_708_046_422_658,
        7_911_392_883_799_359_794,
        7_099_981_234_334_731_475,
        11_975_627_840_248_810_494,
    ];
    assert_eq!(sums, expected);
}
