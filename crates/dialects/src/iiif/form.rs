//! How URLs of the IIIF Image API, in both versions, are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength, Suits};

const PATTERN: &str = "/.+/(?:info\\.json|[^/]+/[^/]+/!?[0-9.]+/[a-z]+\\.[a-z0-9]+)";

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "IIIF 3",
        dialect: "iiif",
        order: (4, 0),
        prefix_key: Some("prefix"),
        lenient: "",
        room: Room::Everything,
        pattern: PATTERN,
        look: |cut| look(cut, "3", "2"),
    },
    Form {
        name: "IIIF 2",
        dialect: "iiif",
        order: (4, 1),
        prefix_key: Some("prefix2"),
        lenient: "",
        room: Room::Everything,
        pattern: PATTERN,
        look: |cut| look(cut, "2", "3"),
    },
];

/// Returns the marks by which a URL of this version of IIIF (`3` or `2`) is recognised; `None` for other targets.
/// `other` is the other version.
fn look<'a>(cut: &Cut<'a>, version: &str, other: &str) -> Option<Marks<'a>> {
    let segments: Vec<&str> = cut.path.strip_prefix('/')?.split('/').collect();
    let names_iiif = cut
        .prefix
        .split('/')
        .any(|segment| segment.starts_with("iiif"));
    let strength = match &segments[..] {
        [identifier @ .., "info.json"] if !identifier.is_empty() => match names_iiif {
            true => Strength::Sure,
            false => Strength::Weak,
        },
        [identifier @ .., region, _, rotation, last] if !identifier.is_empty() => {
            let (quality, _) = last.split_once('.')?;
            let is_region = matches!(*region, "full" | "square")
                || region.contains(',')
                || region.contains("%2C");
            let is_rotation = rotation.trim_start_matches('!').parse::<f64>().is_ok();
            let is_quality = ["default", "native", "color", "gray", "bitonal"].contains(&quality);
            (is_region && is_rotation && is_quality).then_some(Strength::Sure)?
        }
        _ => return None,
    };
    Some(Marks {
        prefix: suits(cut.prefix, names_iiif, version, other),
        ..cut.marks(strength)
    })
}

/// Returns how well a prefix goes with this version of IIIF. Identifiers may contain slashes, so that each beginning of
/// a path may be the prefix.
fn suits(prefix: &str, names_iiif: bool, version: &str, other: &str) -> Suits {
    let last = prefix.rsplit('/').next().unwrap_or_default();
    let suffix = last.trim_start_matches("iiif").trim_start_matches('v');
    match names_iiif {
        true if suffix == version => Suits::Sure,
        true if suffix == other => Suits::Variant,
        _ if last.starts_with("iiif") => Suits::Named,
        _ => Suits::Long,
    }
}
