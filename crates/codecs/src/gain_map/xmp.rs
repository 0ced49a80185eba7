//! The XMP of a JPEG that is a gain map, in the forms of Ultra HDR and of Apple.

use std::fmt::Write;

use roxmltree::{Document, Node, ParsingOptions};

use super::{Acts, Channel, Fraction};

pub(crate) const HDRGM: &str = "http://ns.adobe.com/hdr-gain-map/1.0/";
pub(crate) const CONTAINER: &str = "http://ns.google.com/photos/1.0/container/";
const APPLE: &str = "http://ns.apple.com/HDRGainMap/1.0/";
const APPLE_KIND: &str = "http://ns.apple.com/pixeldatainfo/1.0/";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Apple's auxiliary image type of a gain map.
const APPLE_TYPE: &str = "urn:com:apple:photo:2020:aux:hdrgainmap";

/// Maximum number of XML nodes in a packet. A packet with more nodes describes something else as well.
const MOST_NODES: u32 = 1000;

/// Ultra HDR's properties by name, with the default of each optional property and `None` for required ones.
const PROPERTIES: [(&str, Option<&str>); 9] = [
    ("Version", None),
    ("BaseRenditionIsHDR", Some("False")),
    ("GainMapMin", Some("0")),
    ("GainMapMax", None),
    ("Gamma", Some("1")),
    ("OffsetSDR", Some("0.015625")),
    ("OffsetHDR", Some("0.015625")),
    ("HDRCapacityMin", Some("0")),
    ("HDRCapacityMax", None),
];

/// Properties of a gain map and their values, verbatim.
#[derive(Debug)]
pub(super) enum Properties {
    /// Ultra HDR's properties, each with one value or three.
    Hdrgm(Vec<(String, Vec<String>)>),
    /// Apple's properties: the version, and the headroom, which is the ratio of the maximum brightness to white.
    Apple([String; 2]),
}

impl Properties {
    /// Reads the properties of a gain map from its XMP packet. Returns `None` if the packet does not describe a gain
    /// map or is inconsistent.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(packet).ok()?;
        let text = text.trim_matches(['\0', '\u{feff}']).trim();
        let options = ParsingOptions {
            nodes_limit: MOST_NODES,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(text, options).ok()?;
        let named = |space, name| document.descendants().find_map(|n| values(n, space, name));
        let one = |space, name| named(space, name)?.into_iter().next();
        let names = PROPERTIES.iter();
        let properties =
            names.filter_map(|(name, _)| Some(((*name).to_owned(), named(HDRGM, name)?)));
        let properties = Self::Hdrgm(properties.collect());
        if properties.acts().is_some() || properties.is_backward() {
            return Some(properties);
        }
        if one(APPLE_KIND, "AuxiliaryImageType").as_deref() != Some(APPLE_TYPE) {
            return None;
        }
        // Older files have their headroom in the maker note of the image, which is not stored.
        let apple = [
            one(APPLE, "HDRGainMapVersion")?,
            one(APPLE, "HDRGainMapHeadroom")?,
        ];
        let sound = apple.iter().all(|value| Fraction::of(value).is_some());
        sound.then_some(Self::Apple(apple))
    }

    /// Converts the properties to the parameters of ISO 21496-1. Returns `None` if the properties are inconsistent or
    /// have no equivalent in ISO 21496-1.
    pub(super) fn acts(&self) -> Option<Acts> {
        let Self::Hdrgm(properties) = self else {
            return None;
        };
        let values = |name: &str| -> Option<Vec<Fraction>> {
            let (_, default) = PROPERTIES.iter().find(|(property, _)| *property == name)?;
            match properties.iter().find(|(property, _)| property == name) {
                Some((_, values)) => values.iter().map(|value| Fraction::of(value)).collect(),
                None => Some(vec![Fraction::of((*default)?)?]),
            }
        };
        let one = |name: &str| values(name)?.first().copied();
        let of_colours = [
            values("GainMapMin")?,
            values("GainMapMax")?,
            values("Gamma")?,
            values("OffsetSDR")?,
            values("OffsetHDR")?,
        ];
        if self.is_backward() || one("Version")?.value().floor() > 1.0 {
            return None;
        }
        let count = if of_colours.iter().any(|of| of.len() > 1) {
            3
        } else {
            1
        };
        let of = |values: &[Fraction], index: usize| match values {
            [one] => Some(*one),
            several => several.get(index).copied(),
        };
        let channel = |index| {
            let [min, max, gamma, base, alternate] = &of_colours;
            Some(Channel {
                min: of(min, index)?,
                max: of(max, index)?,
                gamma: of(gamma, index)?,
                base_offset: of(base, index)?,
                alternate_offset: of(alternate, index)?,
            })
        };
        let channels: Option<_> = (0..count).map(channel).collect();
        let acts = Acts {
            base_headroom: one("HDRCapacityMin")?,
            alternate_headroom: one("HDRCapacityMax")?,
            channels: channels?,
            in_base_space: true,
        };
        acts.is_sound().then_some(acts)
    }

    /// Returns whether the base image is the brighter (HDR) one.
    fn is_backward(&self) -> bool {
        let Self::Hdrgm(properties) = self else {
            return false;
        };
        let mut properties = properties.iter();
        properties.any(|(name, values)| name == "BaseRenditionIsHDR" && values == &["True"])
    }

    /// Converts the parameters to Ultra HDR's properties. Returns `None` if those cannot express them.
    pub(super) fn of(acts: &Acts) -> Option<Self> {
        if acts.base_headroom.value() > acts.alternate_headroom.value() {
            return None;
        }
        let text = |fraction: Fraction| fraction.value().to_string();
        let all = |of: fn(&Channel) -> Fraction| acts.channels.iter().map(of).map(text).collect();
        let properties: [(&str, Vec<String>); 9] = [
            ("Version", vec!["1.0".to_owned()]),
            ("BaseRenditionIsHDR", vec!["False".to_owned()]),
            ("GainMapMin", all(|channel| channel.min)),
            ("GainMapMax", all(|channel| channel.max)),
            ("Gamma", all(|channel| channel.gamma)),
            ("OffsetSDR", all(|channel| channel.base_offset)),
            ("OffsetHDR", all(|channel| channel.alternate_offset)),
            ("HDRCapacityMin", vec![text(acts.base_headroom)]),
            ("HDRCapacityMax", vec![text(acts.alternate_headroom)]),
        ];
        let properties = properties.map(|(name, values)| (name.to_owned(), values));
        Some(Self::Hdrgm(properties.into()))
    }

    /// Returns an XMP packet that contains only these properties.
    pub(super) fn packet(&self) -> String {
        match self {
            Self::Hdrgm(properties) => {
                let mut attributes = format!("xmlns:hdrgm=\"{HDRGM}\"");
                let mut inside = String::new();
                for (name, values) in properties {
                    // Writing to a String cannot fail.
                    if let [value] = &values[..] {
                        let _ = write!(attributes, " hdrgm:{name}=\"{value}\"");
                        continue;
                    }
                    let list: String = values
                        .iter()
                        .map(|value| format!("<rdf:li>{value}</rdf:li>"))
                        .collect();
                    let _ = write!(
                        inside,
                        "<hdrgm:{name}><rdf:Seq>{list}</rdf:Seq></hdrgm:{name}>"
                    );
                }
                packet(&attributes, &inside)
            }
            Self::Apple([version, headroom]) => packet(
                &format!("xmlns:HDRGainMap=\"{APPLE}\" xmlns:apdi=\"{APPLE_KIND}\""),
                &format!(
                    "<apdi:AuxiliaryImageType>{APPLE_TYPE}</apdi:AuxiliaryImageType>\
                     <HDRGainMap:HDRGainMapVersion>{version}</HDRGainMap:HDRGainMapVersion>\
                     <HDRGainMap:HDRGainMapHeadroom>{headroom}</HDRGainMap:HDRGainMapHeadroom>"
                ),
            ),
        }
    }
}

/// Returns an XMP packet with a single `rdf:Description`, which has these attributes and the content `inside`.
pub(crate) fn packet(attributes: &str, inside: &str) -> String {
    format!(
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"{RDF}\">\
         <rdf:Description rdf:about=\"\" {attributes}>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
}

/// Returns the one or three values of the property `name` in the namespace `space`. `node` either has the property as
/// an attribute or is itself the element of that name. Returns `None` if neither is the case, or if a value is not a
/// plain number or word.
fn values(node: Node<'_, '_>, space: &str, name: &str) -> Option<Vec<String>> {
    let plain = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.:".contains(&byte);
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(plain)).then(|| text.to_owned())
    };
    if let Some(value) = node.attribute((space, name)) {
        return Some(vec![plain(value)?]);
    }
    if !node.has_tag_name((space, name)) {
        return None;
    }
    let items = node.descendants().filter(|n| n.has_tag_name((RDF, "li")));
    let list: Option<Vec<String>> = items.map(|item| plain(item.text()?)).collect();
    match list? {
        list if list.is_empty() => Some(vec![plain(node.text()?)?]),
        list => matches!(list.len(), 1 | 3).then_some(list),
    }
}
