//! How URLs of Astro's image endpoint are recognised in logs.

use crate::forms::{Form, Room};

pub(super) const FORMS: &[Form] = &[Form {
    name: "Astro",
    dialect: "astro",
    order: (2, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::OnePath,
    pattern: "/?",
    look: |cut| cut.endpoint("/_image", &["href"]),
}];
