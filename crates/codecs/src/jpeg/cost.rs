//! Estimates the cost of reading and writing JPEGs: linear fits to measurements with sample photos (0.5 to 1.8 bits per
//! pixel) on one core of a 2020s server, accurate to about a third.
//!
//! The cost of entropy coding grows with the length of the file, the rest with the number of samples.

use andon_jpeg::decode::{MOST_INDEX_BYTES, splits_in_full};
use andon_pixels::{Cost, Encode, Info, Model, Scale, Scales, Traits};

use super::encode::quality;

/// Estimates the cost of decoding a file of `bytes` bytes.
pub(crate) fn decoding(bytes: u64, info: &Info, scales: Scales) -> Cost {
    let stored_samples = samples(info.model, info.width, info.height);
    let (width, height) = info.scaled(scales.luma);
    let decoded_samples = samples(info.model, width, height);
    // Time in ns per byte and per stored sample. At 1/8, most bits are skipped and most scans are not decoded.
    // Otherwise, each refinement scan visits all coefficients again.
    let (per_byte, per_stored) = match (info.progressive, scales.luma) {
        (false, Scale::EIGHTH) => (5.0, 0.03),
        (false, Scale::QUARTER) => (7.0, 0.06),
        (false, Scale::HALF) => (9.0, 0.08),
        (false, _) => (5.0, 0.1),
        (true, Scale::EIGHTH) => (0.5, 0.05),
        (true, Scale::QUARTER | Scale::HALF) => (20.0, 0.1),
        (true, _) => (20.0, 0.3),
    };
    let nanos =
        bytes as f64 * per_byte + stored_samples as f64 * per_stored + decoded_samples as f64 * 0.3;
    let coefficients = match scales.luma {
        _ if info.decoder_bytes > 0 => info.decoder_bytes,
        // The coefficients are converted to samples row by row, without being stored.
        Scale::FULL if !info.progressive && !splits_in_full(bytes, stored_samples) => 0,
        // For each block of 64 samples, the coefficients that are stored and 8 bytes more: between the scans of a
        // progressive image, or from the middle of a sequential image on if another core helps.
        scale => stored_samples / 64 * (2 * u64::from(scale.0).pow(2) + 8),
    };
    Cost {
        nanos: nanos as u64,
        // The native decoder stores a copy of the scan without stuffed bytes.
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

/// Estimates the cost of making an index of a sequential file, which lists the positions from which parts of it can be
/// decoded.
pub(crate) fn indexing(bytes: u64, info: &Info) -> Cost {
    let cost = checking(bytes, info);
    Cost {
        scratch: cost.scratch + 2 * MOST_INDEX_BYTES,
        ..cost
    }
}

/// Estimates the cost of encoding a frame of this size. The symbols of all coefficients are stored so that Huffman
/// tables can be fitted to them. For progressive files, all coefficients are stored as well.
pub(crate) fn encoding(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let samples = samples(traits.model, width, height);
    let (per_sample, files) = match (how.progressive, quality(how)) {
        // Two bytes per symbol, three per block, and the coded bits before and after byte stuffing.
        (false, _) => (2.5, samples / 4),
        // Two bytes per coefficient, the file of one scan from which they are read, and the progressive file. Measured
        // with noise, which takes the most memory.
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

/// Memory for every decode or encode, in bytes: tables, a row of MCUs, and libjpeg's memory pools.
const BASE_BYTES: u64 = 1 << 20;
