//! How weserv's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength, has_image_extension};

pub(super) const FORMS: &[Form] = &[Form {
    name: "weserv",
    dialect: "weserv",
    order: (7, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::OneArgument("url"),
    pattern: "/?",
    look,
}];

/// Options whose names are not those of arguments of web pages. Others, such as `n` and `l`, may be arguments of a page
/// that takes a URL to redirect to.
const OPTIONS: [&str; 16] = [
    "w", "h", "dpr", "fit", "output", "we", "cx", "cy", "cw", "ch", "mask", "mbg", "maxage", "il",
    "crop", "fpx",
];

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let url = cut.argument("url")?;
    let is_image = has_image_extension(url.split(['?', '#']).next().unwrap_or_default());
    let strength = match is_image || cut.has_argument(&OPTIONS) {
        true => Strength::Sure,
        false => Strength::Weak,
    };
    matches!(cut.path, "" | "/").then(|| Marks {
        path: "/".into(),
        ..cut.marks(strength)
    })
}
