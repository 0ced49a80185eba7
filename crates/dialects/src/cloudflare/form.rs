//! How Cloudflare's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength};

pub(super) const FORMS: &[Form] = &[Form {
    name: "Cloudflare",
    dialect: "cloudflare",
    order: (5, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::Everything,
    pattern: "/[^/=]+=[^/]*/.+",
    look,
}];

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, _) = cut.first()?;
    let strength = match cut.prefix.ends_with("/cdn-cgi/image") {
        true => Strength::Sure,
        false => Strength::IfKnown,
    };
    first.contains('=').then(|| cut.marks(strength))
}
