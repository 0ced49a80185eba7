//! How thumbor's and imagor's URLs are recognised in logs.

use crate::forms::{Cut, Form, Marks, Room, Strength, looks_signed};

const PATTERN: &str = "/(?:unsafe|[A-Za-z0-9_-]{26,88}(?:=|%3D){0,2})/.+";

pub(super) const THUMBOR: &[Form] = &[Form {
    name: "thumbor",
    dialect: "thumbor",
    order: (9, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::Everything,
    pattern: PATTERN,
    look: look_of_thumbor,
}];

pub(super) const IMAGOR: &[Form] = &[Form {
    name: "imagor",
    dialect: "imagor",
    order: (9, 1),
    prefix_key: Some("prefix"),
    lenient: "allow_unsafe = true\nmax_filters = 0\n",
    room: Room::Everything,
    pattern: PATTERN,
    look,
}];

/// Segments that, like sizes and filters, show that the one before is a signature.
const WORDS: [&str; 7] = [
    "fit-in",
    "adaptive-fit-in",
    "full-fit-in",
    "smart",
    "meta",
    "trim",
    "stretch",
];

/// Length of thumbor's signatures without padding, which are SHA-1. imagor's may have other digests.
const OF_SHA_1: usize = 27;

fn look_of_thumbor<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let marks = look(cut)?;
    let signature = marks.signature.as_deref().unwrap_or_default();
    let is_own = signature == "unsafe" || signature.trim_end_matches('=').len() == OF_SHA_1;
    is_own.then_some(marks)
}

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (first, rest) = cut.first()?;
    if first == "unsafe" {
        return Some(Marks {
            signature: Some(first.to_owned()),
            ..cut.marks(Strength::Sure)
        });
    }
    let signature = first.replace("%3D", "=").replace("%3d", "=");
    let next = rest.split('/').next().unwrap_or_default();
    let is_side = |side: &str| {
        side.bytes()
            .all(|byte| byte.is_ascii_digit() || b"-:x".contains(&byte))
    };
    let is_part = next
        .split_once('x')
        .is_some_and(|(w, h)| is_side(w) && is_side(h))
        || WORDS.contains(&next)
        || ["filters:", "filters%3A", "trim:"]
            .iter()
            .any(|start| next.starts_with(start));
    looks_signed(&signature).then(|| Marks {
        path: format!("/unsafe/{rest}").into(),
        signature: Some(signature),
        ..cut.marks(match is_part {
            true => Strength::Sure,
            false => Strength::Weak,
        })
    })
}
