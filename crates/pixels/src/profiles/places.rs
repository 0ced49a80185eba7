//! The fields of EXIF, IPTC and XMP that reveal where an image was taken, all of which `metadata:public` removes. The
//! creator's address, titles, captions and keywords are not among them.

use std::ops::RangeInclusive;

/// Tags of EXIF: the GPS directory, and the coordinates and projections of `GeoTIFF`.
const TAGS: &[RangeInclusive<u16>] = &[
    0x8825..=0x8825,
    0x830e..=0x830e,
    0x8480..=0x8482,
    0x85d8..=0x85d8,
    0x87af..=0x87b1,
];

/// Record and number of the IPTC data sets that reveal where the image was taken: code and name of the location of the
/// content, city, sublocation, province, and code and name of the country.
const SETS: &[(u8, u8)] = &[
    (2, 26),
    (2, 27),
    (2, 90),
    (2, 92),
    (2, 95),
    (2, 100),
    (2, 101),
];

/// XMP properties that reveal where the image was taken, by namespace.
const PROPERTIES: &[(&str, &[&str])] = &[
    (
        "http://ns.adobe.com/photoshop/1.0/",
        &["City", "State", "Country"],
    ),
    (
        "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
        &["Location", "CountryCode"],
    ),
    (
        "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
        &[
            "LocationCreated",
            "LocationShown",
            // Fields of these two structures, which some programs write outside them.
            "LocationId",
            "LocationName",
            "Sublocation",
            "City",
            "ProvinceState",
            "CountryName",
            "CountryCode",
            "WorldRegion",
        ],
    ),
    (
        "http://ns.adobe.com/xmp/1.0/DynamicMedia/",
        &["shotLocation"],
    ),
    (
        "http://www.w3.org/2003/01/geo/wgs84_pos#",
        &["lat", "long", "alt", "lat_long", "location", "Point"],
    ),
];

/// Parts of names that mean coordinates in any namespace, in lower case: besides EXIF's, makers of drones and phones
/// have namespaces of their own. The last one is a misspelling that is in use.
const COORDINATES: [&str; 3] = ["latitude", "longitude", "longtitude"];

/// Whether a tag of EXIF's first directory reveals where the image was taken, or points to a directory that does.
pub(super) fn is_tag(tag: u16) -> bool {
    TAGS.iter().any(|range| range.contains(&tag))
}

/// Whether an IPTC data set reveals where the image was taken.
pub(super) fn is_set(record: u8, number: u8) -> bool {
    SETS.contains(&(record, number))
}

/// Whether an XMP property, or a field of one, reveals where the image was taken.
pub(super) fn is_property(space: &str, name: &str) -> bool {
    let is_listed =
        |(namespace, names): &(&str, &[&str])| *namespace == space && names.contains(&name);
    let name_in_lower_case = name.to_ascii_lowercase();
    PROPERTIES.iter().any(is_listed)
        || name_in_lower_case.starts_with("gps")
        || COORDINATES
            .iter()
            .any(|part| name_in_lower_case.contains(part))
}

#[cfg(test)]
mod tests {
    use andon_recipe::{Kept, Orientation};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::frame::Metadata;
    use crate::profiles::settle;

    const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
    const DRONE: &str = "http://www.dji.com/drone-dji/1.0/";

    /// XMP properties whose names alone reveal that they hold GPS data or coordinates, each by namespace and name.
    const POINTS: [(&str, &str); 7] = [
        (EXIF, "GPSLatitude"),
        (EXIF, "GPSLongitude"),
        (EXIF, "GPSVersionID"),
        (EXIF, "GPSAreaInformation"),
        ("http://cipa.jp/exif/1.0/", "GPSDestDistance"),
        (DRONE, "GpsLongtitude"),
        (DRONE, "Latitude"),
    ];

    /// XMP properties that do not reveal where the image was taken, although some share a namespace with those that do.
    const OTHERS: [(&str, &str); 9] = [
        ("http://purl.org/dc/elements/1.1/", "title"),
        ("http://ns.adobe.com/photoshop/1.0/", "Headline"),
        (
            "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
            "CreatorContactInfo",
        ),
        ("http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "Event"),
        (
            "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
            "DigitalSourceType",
        ),
        ("http://ns.adobe.com/xmp/1.0/DynamicMedia/", "scene"),
        (EXIF, "FNumber"),
        (DRONE, "CamReverse"),
        ("http://example.com/own/", "City"),
    ];

    fn places() -> Vec<(&'static str, &'static str)> {
        let listed = PROPERTIES
            .iter()
            .flat_map(|(space, names)| names.iter().map(move |name| (*space, *name)));
        listed.chain(POINTS).collect()
    }

    /// Number of forms in which the tests write a property in RDF.
    const FORMS: usize = 8;

    /// Returns an RDF description that gives a property this value, in one of the forms that RDF allows.
    fn description(number: usize, (space, name): (&str, &str), form: usize, value: &str) -> String {
        let named = format!("n{number}:{name}");
        let (attribute, body) = match form {
            0 => (format!(" {named}=\"{value}\""), String::new()),
            1 => (String::new(), format!("<{named}>{value}</{named}>")),
            2 => {
                let list =
                    format!("<rdf:Alt><rdf:li xml:lang='x-default'>{value}</rdf:li></rdf:Alt>");
                (String::new(), format!("<{named}>{list}</{named}>"))
            }
            3 => {
                let field = format!("<e:a><e:b>{value}</e:b></e:a>");
                let typed = format!("{named} rdf:parseType='Resource'");
                (String::new(), format!("<{typed}>{field}</{named}>"))
            }
            4 => {
                let inner =
                    format!("<rdf:Bag><rdf:li><rdf:Description e:a='{value}'/></rdf:li></rdf:Bag>");
                (String::new(), format!("<{named}>{inner}</{named}>"))
            }
            5 => (String::new(), format!("<{named} rdf:resource='{value}'/>")),
            6 => {
                let other = format!("<rdf:li><rdf:Description {named}='{value}'/></rdf:li>");
                let list = format!("<e:others><rdf:Bag>{other}</rdf:Bag></e:others>");
                (String::new(), list)
            }
            _ => {
                let other = format!("<e:other><{named}>{value}</{named}></e:other>");
                (String::new(), other)
            }
        };
        format!(
            "<rdf:Description rdf:about='' xmlns:n{number}='{space}' xmlns:e='http://example.com/e/'\n{attribute}>\
             {body}</rdf:Description>\n"
        )
    }

    fn packet(descriptions: &str) -> Vec<u8> {
        format!(
            "<?xpacket begin='\u{feff}' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \
             xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>{descriptions}</rdf:RDF></x:xmpmeta>\
             <?xpacket end='w'?>"
        )
        .into_bytes()
    }

    fn settled(kept: Kept, metadata: &Metadata) -> Metadata {
        let mut metadata = metadata.clone();
        settle(&mut metadata, kept, Orientation::default());
        metadata
    }

    fn has(block: Option<&Vec<u8>>, text: &str) -> bool {
        let mut parts = block.iter().flat_map(|block| block.windows(text.len()));
        parts.any(|part| part == text.as_bytes())
    }

    proptest! {
        #[test]
        fn no_place_is_left_in_a_packet_and_everything_else_is(
            fields in vec((any::<bool>(), any::<prop::sample::Index>(), 0..FORMS), 1..12),
        ) {
            let (places, mut whole, mut said) = (places(), String::new(), Vec::new());
            for (number, (is_place, index, form)) in fields.into_iter().enumerate() {
                let field = match is_place {
                    true => *index.get(&places),
                    false => *index.get(&OTHERS),
                };
                let value = format!("&#252;ber value{number}.");
                whole += &description(number, field, form, &value);
                said.push((value, is_place, field));
            }
            let metadata = Metadata { xmp: Some(packet(&whole)), ..Metadata::default() };
            prop_assert_eq!(&settled(Kept::All, &metadata), &metadata);
            let public = settled(Kept::Public, &metadata);
            for (value, is_place, field) in said {
                prop_assert_eq!(has(public.xmp.as_ref(), &value), !is_place, "{:?}", field);
            }
            prop_assert_eq!(settled(Kept::Public, &public), public, "once more");
        }

        #[test]
        fn no_place_is_left_in_data_sets_and_everything_else_is(
            ids in vec((1..4_u8, 0..200_u8), 0..10), of_places in vec(any::<prop::sample::Index>(), 1..4),
            at in any::<prop::sample::Index>(),
        ) {
            let mut ids = ids;
            for index in of_places {
                ids.insert(at.index(ids.len() + 1), *index.get(SETS));
            }
            let mut block = Vec::new();
            for (number, (record, set)) in ids.iter().enumerate() {
                let value = format!("value{number}.");
                block.extend([0x1c, *record, *set, 0, value.len() as u8]);
                block.extend(value.bytes());
            }
            let metadata = Metadata { iptc: Some(block), ..Metadata::default() };
            prop_assert_eq!(&settled(Kept::All, &metadata), &metadata);
            let public = settled(Kept::Public, &metadata);
            for (number, id) in ids.iter().enumerate() {
                let value = format!("value{number}.");
                prop_assert_eq!(has(public.iptc.as_ref(), &value), !SETS.contains(id), "{:?}", id);
            }
        }
    }

    #[test]
    fn every_place_goes_however_it_is_written() {
        for (number, place) in places().into_iter().enumerate() {
            for form in 0..FORMS {
                let whole = description(number, place, form, "here it was");
                let metadata = Metadata {
                    xmp: Some(packet(&whole)),
                    ..Metadata::default()
                };
                let public = settled(Kept::Public, &metadata);
                assert!(has(metadata.xmp.as_ref(), "here it was"), "{whole}");
                assert!(!has(public.xmp.as_ref(), "here it was"), "{whole}");
            }
        }
    }
}
