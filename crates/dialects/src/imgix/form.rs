//! How imgix's URLs are recognised in logs.

use super::options::OPTIONS;
use crate::forms::{Cut, Form, Marks, Room, Strength, has_image_extension};

pub(super) const FORMS: &[Form] = &[Form {
    name: "imgix",
    dialect: "imgix",
    order: (12, 0),
    prefix_key: Some("prefix"),
    lenient: "",
    room: Room::Files("w|h|fit|crop|auto|fm|q|dpr|ixlib|s"),
    pattern: "/.+",
    look,
}];

/// Arguments that only imgix has. They mark a query even if the path has no image extension.
const OWN: [&str; 4] = ["ixlib", "ixid", "auto", "fm"];

/// Returns the marks by which a URL of imgix is recognised; `None` for other targets. The marks are weak if the path is
/// that of an image, but no argument is known to be imgix's, such as `?v=2`. A path without an image extension may be a
/// page, and needs an argument that only imgix has.
fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let query = cut
        .query
        .filter(|_| cut.prefix.is_empty() && cut.path.len() > 1)?;
    let signature = signature(query);
    let is_own = signature.is_some() || cut.has_argument(&OWN);
    // Other servers have an argument `expires` for signatures, too.
    let is_known =
        |name: &str| name != "expires" && OPTIONS.0.iter().any(|row| row.names.contains(&name));
    // Photon has arguments of these names, too. Their values are numbers there, and words here.
    let begins_with_digit = |value: &str| value.starts_with(|first: char| first.is_ascii_digit());
    let is_foreign = ["fit", "crop"]
        .iter()
        .filter_map(|name| cut.argument(name))
        .any(begins_with_digit);
    let is_image = has_image_extension(cut.path);
    if !is_image && !is_own {
        return None;
    }
    let is_known = is_own || cut.arguments().any(|(name, _)| is_known(name)) && !is_foreign;
    Some(Marks {
        signature: signature.map(str::to_owned),
        ..cut.marks(match is_known {
            true => Strength::Sure,
            false => Strength::Weak,
        })
    })
}

/// Returns the signature of a query, which is its last parameter.
fn signature(query: &str) -> Option<&str> {
    let signature = match query.rsplit_once("&s=") {
        Some((_, signature)) => signature,
        None => query.strip_prefix("s=")?,
    };
    let is_hex = signature.bytes().all(|byte| byte.is_ascii_hexdigit());
    (signature.len() == 32 && is_hex).then_some(signature)
}
