//! A serializable distribution of durations: an HDR histogram in nanoseconds.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{
    Deserializer as HdrReader, Serializer as _, V2DeflateSerializer,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// A distribution of durations in nanoseconds, with three significant digits. It is serialized as base64 of the
/// deflated HDR V2 format, which other HDR tools can read.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// Creates an empty distribution. Its range grows with the durations recorded.
    #[must_use]
    pub fn new() -> Self {
        Self(Histogram::new(3).expect("three significant digits are within 0 to 5"))
    }

    /// Records one duration. Anything below a nanosecond counts as one.
    pub fn record(&mut self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2);
        // The histogram resizes itself, so that every value fits.
        let _ = self.0.record(nanoseconds.max(1));
    }

    /// Adds all durations of another distribution.
    pub fn add(&mut self, other: &Self) {
        // The histogram resizes itself, so that every value fits.
        let _ = self.0.add(&other.0);
    }

    /// Returns the number of recorded durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the duration in seconds that `share` (0 to 1) of all recorded ones do not exceed; 0 when empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e9
    }

    /// Returns the mean in seconds; 0 when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.mean() / 1e9
    }

    /// Returns the standard deviation in seconds; 0 when empty.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.0.stdev() / 1e9
    }

    /// Returns the shortest duration in seconds; 0 when empty.
    #[must_use]
    pub fn min(&self) -> f64 {
        if self.0.is_empty() {
            0.0
        } else {
            self.0.min() as f64 / 1e9
        }
    }

    /// Returns the longest duration in seconds; 0 when empty.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.0.max() as f64 / 1e9
    }

    /// Returns the underlying histogram, in nanoseconds, for exports.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(|error| ser::Error::custom(format!("histogram: {error}")))?;
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(de::Error::custom)?;
        let mut histogram: Histogram<u64> = HdrReader::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| de::Error::custom(format!("histogram: {error}")))?;
        histogram.auto(true);
        Ok(Self(histogram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_can_grow() {
        let mut latencies = Latencies::new();
        for milliseconds in 1..=100 {
            latencies.record(Duration::from_millis(milliseconds));
        }
        let text = serde_json::to_string(&latencies).expect("writes");
        let mut back: Latencies = serde_json::from_str(&text).expect("reads");
        assert_eq!(back, latencies);
        assert!((back.quantile(0.5) - 0.050).abs() < 0.000_1);
        back.record(Duration::from_secs(3600));
        assert_eq!(back.count(), 101);
    }
}
