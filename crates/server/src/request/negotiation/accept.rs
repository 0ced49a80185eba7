//! The `Accept` header: the media types that a client accepts.

use hyper::HeaderMap;
use hyper::header;

/// A parsed `Accept` header: media ranges and their qualities in thousandths.
pub(super) struct Accept(Vec<(String, u16)>);

impl Accept {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut ranges = Vec::new();
        for value in headers.get_all(header::ACCEPT) {
            let Ok(list) = value.to_str() else { continue };
            // A header may be 64 KiB long, which is far more than any client needs.
            for item in list.split(',').take(MOST_RANGES) {
                let mut parts = item.split(';').map(str::trim);
                let range = parts.next().unwrap_or_default().to_ascii_lowercase();
                let quality = parts.find_map(|part| {
                    let (name, value) = part.split_once('=')?;
                    name.trim()
                        .eq_ignore_ascii_case("q")
                        .then(|| thousandths(value))
                });
                ranges.push((range, quality.unwrap_or(1000)));
            }
        }
        Self(ranges)
    }

    /// Returns the quality of a media type, in thousandths, if the header names it literally.
    pub(super) fn literal_quality(&self, media_type: &str) -> Option<u16> {
        let range = self.0.iter().find(|(range, _)| range == media_type);
        range.map(|(_, quality)| *quality)
    }

    /// Returns the quality of a media type in thousandths, from the most specific range that contains it; 0 if none
    /// does.
    pub(super) fn quality(&self, media_type: &str) -> u16 {
        [media_type, "image/*", "*/*"]
            .iter()
            .find_map(|range| self.literal_quality(range))
            .unwrap_or(0)
    }
}

/// Parses a quality as thousandths. A quality that cannot be parsed counts as 0: not accepted.
fn thousandths(quality: &str) -> u16 {
    match quality.trim().parse::<f32>() {
        Ok(quality) if (0.0..=1.0).contains(&quality) => (quality * 1000.0).round() as u16,
        _ => 0,
    }
}

const MOST_RANGES: usize = 64;
