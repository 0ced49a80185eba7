//! Estimates the cost of reading and writing JPEGs: linear fits to measurements of the sample photographs (0.5 to 1.8
//! bits per pixel) on one core of a 2020s server, accurate to about a third.
//!
//! The cost of entropy coding grows with the file, the rest with the number of samples.

use andon_jpeg::decode::{MOST_INDEX_BYTES, splits_in_full};
use andon_pixels::{Cost, Encode, Info, Model, Scale, Scales, Traits};

use super::encode::quality;

/// Estimates the cost of decoding a file of `bytes` bytes.
pub(crate) fn decoding(bytes: u64, info: &Info, scales: Scales) -> Cost {
    let stored = samples(info.model, info.width, info.height);
    let (width, height) = info.scaled(scales.luma);
    let decoded = samples(info.model, width, height);
    // What a byte and a stored sample take: at 1/8 most bits are passed over, and most scans not opened;
    // otherwise each refining scan walks over all coefficients again.
    let (per_byte, per_stored) = match (info.progressive, scales.luma) {
        (false, Scale::EIGHTH) => (5.0, 0.03),
        (false, Scale::QUARTER) => (7.0, 0.06),
        (false, Scale::HALF) => (9.0, 0.08),
        (false, _) => (5.0, 0.1),
        (true, Scale::EIGHTH) => (0.5, 0.05),
        (true, Scale::QUARTER | Scale::HALF) => (20.0, 0.1),
        (true, _) => (20.0, 0.3),
    };
    let nanos = bytes as f64 * per_byte + stored as f64 * per_stored + decoded as f64 * 0.3;
    let coefficients = match scales.luma {
        _ if info.decoder_bytes > 0 => info.decoder_bytes,
        // They become samples at once, row by row.
        Scale::FULL if !info.progressive && !splits_in_full(bytes, stored) => 0,
        // Those that are kept, and 8 bytes more, for each block of 64 samples: between the scans of a
        // progressive image, or from the middle of a sequential one on, if a core is lent.
        scale => stored / 64 * (2 * u64::from(scale.0).pow(2) + 8),
    };
    Cost {
        nanos: nanos as u64,
        // Our own decoder holds a scan without its stuffing.
        scratch: BASE_BYTES + bytes + coefficients,
    }
}

/// Estimates the cost of following all scans of a file while decoding as little of the image as possible.
pub(crate) fn checking(bytes: u64, info: &Info) -> Cost {
    let cost = decoding(bytes, info, Scales::both(Scale::EIGHTH));
    let (width, height) = info.scaled(Scale::EIGHTH);
    let scans = if info.progressive { 20 * bytes } else { 0 };
    Cost {
        nanos: cost.nanos + scans,
        scratch: cost.scratch + samples(info.model, width, height),
    }
}

/// Estimates the cost of making an index of a sequential file: the places from which parts of it can be decoded.
pub(crate) fn indexing(bytes: u64, info: &Info) -> Cost {
    let cost = checking(bytes, info);
    Cost {
        scratch: cost.scratch + 2 * MOST_INDEX_BYTES,
        ..cost
    }
}

/// Estimates the cost of encoding a frame of this size. The symbols of all coefficients are held in memory so that
/// Huffman tables can be fitted to them, and all coefficients if they are written again in several scans.
pub(crate) fn encoding(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let samples = samples(traits.model, width, height);
    let (per_sample, files) = match (how.progressive, quality(how)) {
        // Two bytes a symbol, three a block, and the bits before and after they are stuffed.
        (false, _) => (2.5, samples / 4),
        // Two bytes a coefficient, the file of one scan, which they are read from, and the progressive one. As measured on
        // noise, which takes the most.
        (true, ..=90) => (6.0, samples),
        (true, ..=95) => (6.0, samples + samples / 2),
        (true, _) => (6.0, 2 * samples + samples / 2),
    };
    Cost {
        nanos: (samples as f64 * per_sample) as u64,
        scratch: BASE_BYTES + 2 * samples + files,
    }
}

/// Returns the number of samples of all planes.
fn samples(model: Model, width: u32, height: u32) -> u64 {
    (0..model.planes())
        .map(|index| model.plane_size(index, width, height))
        .map(|(width, height)| u64::from(width) * u64::from(height))
        .sum()
}

/// Memory that every decode or encode takes, in bytes: tables, a band of MCUs, and libjpeg's memory pools.
const BASE_BYTES: u64 = 1 << 20;
