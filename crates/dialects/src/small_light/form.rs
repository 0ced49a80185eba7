//! How ngx_small_light's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength};

pub(super) const FORMS: &[Form] = &[Form {
    name: "ngx_small_light",
    dialect: "small_light",
    order: (3, 0),
    prefix_key: None,
    lenient: "",
    room: Room::OwnForm,
    pattern: "/.*small_light(?:\\(|%28).*",
    look,
}];

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let has_options = cut.path.contains("small_light(") || cut.path.contains("small_light%28");
    (cut.prefix.is_empty() && has_options).then(|| cut.marks(Strength::Sure))
}
