//! How Andon's own URLs are recognised in logs.

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

/// Returns the marks by which a recipe in a target is recognised; `None` without a recipe. The marks are weak if the
/// name of the recipe's first step is not known: the parser takes any unknown name for an effect of the engine.
fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, _) = cut.first()?;
    let step = first.split(',').next().unwrap_or_default();
    let end = step.find(':').or_else(|| step.find("%3A"))?;
    let name = &step[..end];
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    // A path segment with thumbor's filters looks like a step, too.
    (is_name && name != "filters").then(|| {
        cut.marks(match andon_recipe::words().any(|word| word.name == name) {
            true => Strength::Sure,
            false => Strength::Weak,
        })
    })
}
