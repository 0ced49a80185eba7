//! Chooses how a sequential scan is decoded, by a table.
//!
//! Progressive images are not decoded scan by scan, and do not use this table ([`super::progressive`]).

use andon_kernels::cores::Cores;

use crate::decode::entropy::WORTH_IT;
use crate::decode::plane::PlaneDecoder;
use crate::decode::scan::Scan;
use crate::decode::streams;

/// A way to decode a sequential scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The scan is refused as `Unsupported`, so that the caller can use another decoder.
    Elsewhere,
    /// Strips of rows are decoded on all idle cores ([`super::strips`]).
    Strips,
    /// The scan is decoded at 32 positions at once with SIMD instructions ([`super::streams`]).
    Streams,
    /// An idle core decodes the second half of the scan, and this core the first ([`super::split`]).
    Split,
    /// This core decodes row by row, and an idle one makes the samples ([`super::output`]).
    SamplesApart,
    /// This core does all the work, row by row.
    Plain,
}

/// The properties of a scan and of the machine that determine how the scan is decoded ([`Route`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// Whether an earlier scan already contained a component of this one. libjpeg mixes the coefficients of both.
    repeats: bool,
    /// Whether fill bytes occur where libjpeg loses coefficients (see `Unstuffed::has_fill_bytes_inside`).
    has_fill_bytes: bool,
    /// Whether the scan should be a single restart interval, according to its number of MCUs and the restart interval
    /// that the file defines (DRI).
    is_one: bool,
    /// The largest number of samples per block side of any component: 1, 2, 4 or 8.
    side: usize,
    /// Number of unstuffed bytes of the scan.
    bytes: usize,
    /// Number of samples that the scan has at full size.
    samples: usize,
    /// Whether decoding with parallel streams ([`super::streams`]) is faster for these data on this machine.
    suits_streams: bool,
    /// Whether a core is idle or may soon be.
    lends: bool,
}

impl Facts {
    /// Determines the properties of a scan that is decoded into `planes`, and of the machine.
    pub(super) fn of(scan: &Scan<'_>, planes: &[PlaneDecoder], cores: &dyn Cores) -> Self {
        let (across, down) = scan.size;
        let planes = || scan.header.components.iter().map(|one| &planes[one.index]);
        Self {
            repeats: planes().any(|plane| plane.complete),
            has_fill_bytes: scan.data.has_fill_bytes_inside(),
            is_one: match scan.tables.restart as usize {
                0 => true,
                restart => restart >= across as usize * down as usize,
            },
            side: planes()
                .map(|plane| plane.selection.side)
                .max()
                .unwrap_or(0),
            bytes: scan.data.len(),
            samples: scan.samples,
            suits_streams: streams::are_for(&scan.data),
            lends: cores.lends_soon(),
        }
    }

    /// Whether to decode an image at 1/2 in two halves, on two cores, instead of as parallel streams. With few
    /// bits per pixel, most of the time goes into computing samples, which two halves share between the cores. Photos of
    /// 20 megapixels took 10.5 ms in halves and 12.8 ms as streams at 0.18 bits per pixel, but 18.1 ms and 16.6 ms at 0.4
    /// bits per pixel.
    fn rather_splits(&self) -> bool {
        self.side == 4 && 5 * 8 * self.bytes < self.samples && self.lends
    }
}

/// Returns the routes that suit a scan, the best first. The caller tries the next one if a route fails, because no core
/// takes the work or the route cannot read these data.
pub(super) fn routes(scan: &Facts) -> impl Iterator<Item = Route> + use<> {
    let full = scan.side == 8;
    let large = scan.samples >= SAMPLES_WORTH_IT;
    let one = scan.is_one;
    let pays = splits_in_full(scan.bytes as u64, scan.samples as u64);
    #[rustfmt::skip]
    let table = [
        (Route::Elsewhere,    scan.repeats || scan.has_fill_bytes),
        (Route::Strips,       full && one && large && scan.suits_streams && scan.lends),
        (Route::Streams,      !full && one && scan.suits_streams && !scan.rather_splits()),
        (Route::Split,        one && (!full || pays)),
        (Route::SamplesApart, full && large),
        (Route::Plain,        true),
    ];
    table
        .into_iter()
        .filter_map(|(route, suits)| suits.then_some(route))
}

/// Returns whether a sequential image at full size is decoded in two halves if another core is idle, which decodes the
/// second half. This pays only if decoding the `bytes` is more work than computing the `samples` (of all components).
/// Otherwise it is faster if one core decodes the whole image and the other one computes all samples. Of sixteen photos
/// of 4 megapixels, 4:2:0, those with at least one bit per pixel were decoded 1.01 to 1.16 times as fast in two halves,
/// while decoding those with fewer took up to 1.16 times as long.
#[must_use]
pub fn splits_in_full(bytes: u64, samples: u64) -> bool {
    bytes >= WORTH_IT as u64 && 3 * 8 * bytes >= 2 * samples && 2 * samples <= MOST_BYTES
}

/// Maximum size in bytes of an image's coefficients for decoding it in two halves at full size. Those of the second
/// half are held in memory.
const MOST_BYTES: u64 = 16 << 20;

/// Minimum number of samples at full size for which waking another core to compute them pays: about half a millisecond
/// of work. It is lower for tests, which have small images.
const SAMPLES_WORTH_IT: usize = if cfg!(any(test, fuzzing)) {
    32 << 10
} else {
    2 << 20
};

#[cfg(test)]
mod tests {
    use super::Route::{Elsewhere, Plain, SamplesApart, Split, Streams, Strips};
    use super::*;

    /// A scan of 4 megapixels (6 million samples at 4:2:0) without restart markers, with 1.5 bits per pixel.
    const SCAN: Facts = Facts {
        repeats: false,
        has_fill_bytes: false,
        is_one: true,
        side: 8,
        bytes: 750_000,
        samples: 6_000_000,
        suits_streams: true,
        lends: true,
    };

    #[test]
    fn every_kind_of_scan_takes_its_routes() {
        let plain = Facts {
            suits_streams: false,
            ..SCAN
        };
        let restarts = Facts {
            is_one: false,
            suits_streams: false,
            ..SCAN
        };
        let half = Facts { side: 4, ..SCAN };
        let golden: [(&str, Facts, &[Route]); 14] = [
            ("full", SCAN, &[Strips, Split, SamplesApart, Plain]),
            (
                "full, without streams",
                plain,
                &[Split, SamplesApart, Plain],
            ),
            (
                "full, no core",
                Facts {
                    lends: false,
                    ..SCAN
                },
                &[Split, SamplesApart, Plain],
            ),
            (
                "full, few bits",
                Facts {
                    bytes: 400_000,
                    ..plain
                },
                &[SamplesApart, Plain],
            ),
            (
                "full, huge",
                Facts {
                    bytes: 9_000_000,
                    samples: 60_000_000,
                    ..plain
                },
                &[SamplesApart, Plain],
            ),
            (
                "full, small",
                Facts {
                    bytes: 9_000,
                    samples: 32_000,
                    ..SCAN
                },
                &[Plain],
            ),
            ("full, restart markers", restarts, &[SamplesApart, Plain]),
            ("half", half, &[Streams, Split, Plain]),
            (
                "half, few bits",
                Facts {
                    bytes: 100_000,
                    ..half
                },
                &[Split, Plain],
            ),
            (
                "half, few bits, no core",
                Facts {
                    bytes: 100_000,
                    lends: false,
                    ..half
                },
                &[Streams, Split, Plain],
            ),
            (
                "an eighth, few bits",
                Facts {
                    side: 1,
                    bytes: 100_000,
                    ..SCAN
                },
                &[Streams, Split, Plain],
            ),
            (
                "a quarter, restart markers",
                Facts {
                    side: 2,
                    ..restarts
                },
                &[Plain],
            ),
            (
                "a component again",
                Facts {
                    repeats: true,
                    ..restarts
                },
                &[Elsewhere, SamplesApart, Plain],
            ),
            (
                "fill bytes",
                Facts {
                    has_fill_bytes: true,
                    side: 1,
                    ..restarts
                },
                &[Elsewhere, Plain],
            ),
        ];
        for (name, facts, expected) in golden {
            assert_eq!(routes(&facts).collect::<Vec<_>>(), expected, "{name}");
        }
    }
}
