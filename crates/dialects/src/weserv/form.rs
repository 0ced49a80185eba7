//! The form of weserv's URLs in logs.

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

/// Options that pages have no arguments of. Others of one letter, such as `n` and `l`, may be those of a page that is
/// given a URL to lead to.
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
        ..cut.marked(strength)
    })
}
