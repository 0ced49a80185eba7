//! How ipx's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength, has_image_extension};

pub(super) const FORMS: &[Form] = &[Form {
    name: "ipx",
    dialect: "ipx",
    order: (6, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::Everything,
    pattern: "/(?:_|[A-Za-z]+(?:[_&,][^/]*)?)/.+",
    look,
}];

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, rest) = cut.first()?;
    let is_modifier = |piece: &str| {
        let name = piece.split(['_', ':', '=']).next().unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let all = first == "_" || first.split(['&', ',']).all(is_modifier);
    // Only ipx has URLs below its usual prefix.
    if cut.prefix.ends_with("/_ipx") {
        return all.then(|| cut.marks(Strength::Sure));
    }
    let is_image = has_image_extension(rest) || rest.starts_with("http");
    (all && first.contains('_') && is_image).then(|| {
        cut.marks(match first {
            "_" => Strength::Weak,
            _ => Strength::IfKnown,
        })
    })
}
