//! The form of Andon's own URLs in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength};

pub(super) const FORMS: &[Form] = &[Form {
    name: "Andon",
    dialect: "native",
    order: (10, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::Everything,
    pattern: "/[a-z-]+:[^/]*/.+",
    look,
}];

/// The parser leaves names that it does not know to the engine, as effects. A recipe that begins with an effect counts
/// only beside others.
fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, _) = cut.first()?;
    let step = first.split(',').next().unwrap_or_default();
    let end = step.find(':').or_else(|| step.find("%3A"))?;
    let name = &step[..end];
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    // The filters of thumbor look like a step.
    (is_name && name != "filters").then(|| {
        cut.marked(match andon_recipe::words().any(|word| word.name == name) {
            true => Strength::Sure,
            false => Strength::Weak,
        })
    })
}
