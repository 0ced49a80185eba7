//! How Photon's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength, has_image_extension, is_host};

pub(super) const FORMS: &[Form] = &[
    // The first segment of the path is a host.
    Form {
        name: "Photon",
        dialect: "photon",
        order: (11, 0),
        prefix_key: Some("prefix"),
        lenient: "",
        room: Room::OwnForm,
        pattern: "/[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}/.+",
        look: of_host,
    },
    // The path is that of a file below the origins.
    Form {
        name: "Photon",
        dialect: "photon",
        order: (12, 1),
        prefix_key: Some("prefix"),
        lenient: "source = \"path\"\n",
        room: Room::Files("w|h|fit|crop|resize|quality|strip|ssl|zoom"),
        pattern: "/.+",
        look: of_path,
    },
];

/// Arguments that mark a query as one of Photon's.
const OPTIONS: [&str; 13] = [
    "w",
    "h",
    "resize",
    "fit",
    "crop",
    "quality",
    "strip",
    "ssl",
    "zoom",
    "lb",
    "ulb",
    "filter",
    "brightness",
];

fn of_host<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, _) = cut.first()?;
    let strength = match cut.has_argument(&OPTIONS) {
        true => Strength::Sure,
        false => Strength::Weak,
    };
    is_host(first).then(|| cut.marks(strength))
}

fn of_path<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let is_image = cut.prefix.is_empty() && has_image_extension(cut.path);
    // imgix has arguments of these names, too. Their values are words there, and numbers here.
    let is_word = |value: &str| !value.starts_with(|first: char| first.is_ascii_digit());
    let is_foreign = ["fit", "crop"]
        .iter()
        .filter_map(|name| cut.argument(name))
        .any(is_word);
    (is_image && cut.has_argument(&OPTIONS)).then(|| {
        cut.marks(match is_foreign {
            true => Strength::Weak,
            false => Strength::Sure,
        })
    })
}
