//! Parameters of gain maps in files: in the binary form of ISO 21496-1, and in the XMP of Ultra HDR JPEGs.

mod iso;
mod xmp;

pub(crate) use xmp::{CONTAINER, HDRGM, packet};

use andon_pixels::GainParams;

/// The parameters of a gain map that both forms can express, ISO 21496-1 and XMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acts {
    /// Headroom of the base image, without the gain map, in stops above white.
    base_headroom: Fraction,
    /// Headroom of the alternate image, which is the base image with the full gain map applied, in stops above white.
    alternate_headroom: Fraction,
    /// One channel for all colours, or one each for red, green and blue.
    channels: Vec<Channel>,
    /// Whether the gain map is applied in the base image's own colour space.
    in_base_space: bool,
}

/// The parameters of a gain map for red, green or blue, or for all three alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Channel {
    /// Gain for a sample of 0, in stops.
    min: Fraction,
    /// Gain for a full-scale sample, in stops.
    max: Fraction,
    gamma: Fraction,
    base_offset: Fraction,
    alternate_offset: Fraction,
}

/// A fraction, which is how files store numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    /// The numerator: a signed or unsigned number of 32 bits.
    numerator: i64,
    denominator: u32,
}

impl Fraction {
    fn value(self) -> f64 {
        self.numerator as f64 / f64::from(self.denominator)
    }

    /// Returns the fraction with the smallest denominator that equals a decimal text, such as 1/64 for 0.015625.
    fn of(text: &str) -> Option<Self> {
        let value: f64 = text.trim().parse().ok()?;
        if !value.is_finite() || value.abs() > f64::from(i32::MAX) {
            return None;
        }
        let mut best = None;
        for digits in 0..=9 {
            let denominator = 10_u32.pow(digits);
            let numerator = (value * f64::from(denominator)).round();
            if numerator.abs() > f64::from(i32::MAX) {
                break;
            }
            let common = divisor(numerator.abs() as u32, denominator);
            let fraction = Self {
                numerator: numerator as i64 / i64::from(common),
                denominator: denominator / common,
            };
            best = Some(fraction);
            if (fraction.value() - value).abs() < EXACT {
                break;
            }
        }
        best
    }
}

/// Maximum difference at which a fraction counts as equal to the value of a decimal text. Texts have fewer digits than
/// that.
const EXACT: f64 = 1e-12;

fn divisor(mut one: u32, mut other: u32) -> u32 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}

impl Acts {
    /// Returns whether the parameters of the gain map are consistent.
    fn is_sound(&self) -> bool {
        let sound = |channel: &Channel| channel.gamma.numerator > 0;
        matches!(self.channels.len(), 1 | 3)
            && self.channels.iter().all(sound)
            && self.base_headroom != self.alternate_headroom
    }
}

/// Returns the parameters of a gain map from their binary form in ISO 21496-1, or `None` if they cannot be read.
pub(crate) fn of_iso(iso: &[u8]) -> Option<GainParams> {
    Acts::from_iso(iso)?;
    Some(GainParams {
        iso: Some(iso.into()),
        xmp: None,
    })
}

/// Returns the gain map parameters of a JPEG, from its XMP packet and from its data in the binary form of ISO 21496-1.
/// Returns `None` if the JPEG is not a gain map, which is the case if neither contains parameters.
pub(crate) fn of_jpeg(packet: Option<&[u8]>, iso: Option<&[u8]>) -> Option<GainParams> {
    let properties = packet.and_then(xmp::Properties::read);
    let iso = iso.filter(|iso| Acts::from_iso(iso).is_some());
    let acts = properties.as_ref().and_then(xmp::Properties::acts);
    let iso = iso.map(<[u8]>::to_vec).or(acts.map(|acts| acts.to_iso()));
    if properties.is_none() && iso.is_none() {
        return None;
    }
    Some(GainParams {
        iso: iso.map(Into::into),
        xmp: properties.map(|properties| properties.packet().into_bytes().into()),
    })
}

/// Returns the XMP packet to write into a JPEG that is a gain map.
pub(crate) fn jpeg_packet(params: &GainParams) -> Option<Vec<u8>> {
    if let Some(xmp) = &params.xmp {
        return Some(xmp.to_vec());
    }
    let acts = Acts::from_iso(params.iso.as_deref()?)?;
    Some(xmp::Properties::of(&acts)?.packet().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(name: &str, values: &[&str]) -> (String, Vec<String>) {
        let values = values.iter().map(|value| (*value).to_owned());
        (name.to_owned(), values.collect())
    }

    fn packet_of(properties: Vec<(String, Vec<String>)>) -> String {
        xmp::Properties::Hdrgm(properties).packet()
    }

    #[test]
    fn decimals_become_the_shortest_fractions() {
        let of =
            |text| Fraction::of(text).map(|fraction| (fraction.numerator, fraction.denominator));
        assert_eq!(of("0.015625"), Some((1, 64)));
        assert_eq!(of("-0.256907"), Some((-256_907, 1_000_000)));
        assert_eq!(of("1.3"), Some((13, 10)));
        assert_eq!(of("0"), Some((0, 1)));
        assert_eq!(of("6.64386"), Some((332_193, 50_000)));
        for text in ["", "x", "inf", "nan", "9e9"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_xmp_says_is_kept_to_the_letter_and_said_by_iso_too() {
        let packet = packet_of(vec![
            properties("Version", &["1.0"]),
            properties("GainMapMin", &["-0.256907", "-0.261365", "-0.280284"]),
            properties("GainMapMax", &["1.277177", "1.277203", "1.277969"]),
            properties("Gamma", &["0.953784", "0.941095", "0.919422"]),
            properties("HDRCapacityMax", &["1.30"]),
        ]);
        let params = of_jpeg(Some(packet.as_bytes()), None).expect("a gain map");
        assert_eq!(params.xmp.as_deref(), Some(packet.as_bytes()));
        assert!(packet.contains("hdrgm:HDRCapacityMax=\"1.30\""), "{packet}");
        let acts = Acts::from_iso(&params.iso.expect("it can be said")).expect("sound");
        assert_eq!(
            acts.alternate_headroom,
            Fraction {
                numerator: 13,
                denominator: 10
            }
        );
        assert_eq!(acts.channels.len(), 3);
        assert_eq!(
            acts.channels[1].min,
            Fraction {
                numerator: -52_273,
                denominator: 200_000
            }
        );
        // The value that the file leaves out.
        assert_eq!(
            acts.channels[2].base_offset,
            Fraction {
                numerator: 1,
                denominator: 64
            }
        );
        let again = jpeg_packet(&GainParams {
            iso: Some(acts.to_iso().into()),
            xmp: None,
        });
        let again = of_jpeg(again.as_deref(), None).expect("a gain map");
        assert_eq!(again.iso, Some(acts.to_iso().into()));
    }

    #[test]
    fn what_is_no_gain_map_or_makes_no_sense_is_none() {
        assert_eq!(of_jpeg(None, None), None);
        assert_eq!(of_jpeg(Some(b"<a/>"), Some(b"\0\0\0\0")), None);
        let without_most = packet_of(vec![properties("Version", &["1.0"])]);
        assert_eq!(of_jpeg(Some(without_most.as_bytes()), None), None);
        for gamma in ["0", "-1", "x"] {
            let packet = packet_of(vec![
                properties("Version", &["1.0"]),
                properties("GainMapMax", &["2"]),
                properties("Gamma", &[gamma]),
                properties("HDRCapacityMax", &["2"]),
            ]);
            assert_eq!(of_jpeg(Some(packet.as_bytes()), None), None, "{gamma}");
        }
    }

    #[test]
    fn every_beginning_of_either_form_is_read_or_refused() {
        let packet = packet_of(vec![
            properties("Version", &["1.0"]),
            properties("GainMapMax", &["2"]),
            properties("HDRCapacityMax", &["2"]),
        ]);
        let params = of_jpeg(Some(packet.as_bytes()), None).expect("a gain map");
        let iso = params.iso.expect("it can be said");
        for length in 0..packet.len() {
            let _ = of_jpeg(Some(&packet.as_bytes()[..length]), None);
        }
        for length in 0..iso.len() {
            assert_eq!(of_iso(&iso[..length]), None, "{length}");
        }
        let longer = [&iso[..], b"more"].concat();
        assert!(of_iso(&longer).is_some(), "a later writer may say more");
        let mut later = iso.to_vec();
        later[1] = 1;
        assert_eq!(of_iso(&later), None, "a later reader is asked for");
    }
}
