//! Detects URLs of files whose path or query suggests that a server resizes them.

use std::sync::LazyLock;

use regex::Regex;

/// A path segment with two sides in px and an `x` between them. One side may be missing or a dash, and a word may
/// precede or follow: `150x150`, `150x-`, `-x150`, `x150`, `fit-150x150`, `150x150_crop`.
const SIDES: &str = r"(?i)^(?:(?:[a-z]{1,12}[-_]?)?[1-9]\d{1,3}x(?:[1-9]\d{1,3}|[-0])?[a-z]{0,8}(?:[-_!^<>].*)?|[-0_]?x[1-9]\d{1,3})$";

/// A path segment with one side in px and its name or unit: `w_300`, `w300`, `width-300`, `thumb300`, `300w`, `300px`.
const NAMED: &str = r"(?i)^(?:(?:(?:max|min)[-_]?)?(?:w|h|s|sq|width|height|size|dim|max|min|thumb|thumbs|thumbnail|resize|resized|crop|fit)[-_]?[1-9]\d{1,3}(?:[-_].*)?|[1-9]\d{1,3}(?:w|h|px))$";

/// Whether a folder in the path of a target, or an argument of its query, looks like a size in px. A folder that is
/// only a number counts, unless it follows a year, or the path has a number with a leading 0: such numbers are parts of
/// a date or of an identifier that is split into folders.
pub(crate) fn looks_resized(target: &str) -> bool {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let folders = || folders.split('/').filter(|folder| !folder.is_empty());
    let is_size = |text: &str| has_sides(text) || is_named(text);
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let is_argument =
        |(name, value): (&str, &str)| has_sides(value) || is_named(&format!("{name}_{value}"));
    let is_number = |folder: &str| side(folder).is_some_and(|side| !YEARS.contains(&side));
    folders().any(is_size)
        || pairs.any(is_argument)
        || folders().take_while(|it| !is_year(it)).any(is_number) && !folders().any(is_part)
}

fn has_sides(text: &str) -> bool {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SIDES).ok());
    FORM.as_ref().is_some_and(|form| form.is_match(text))
}

fn is_named(text: &str) -> bool {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NAMED).ok());
    FORM.as_ref().is_some_and(|form| form.is_match(text))
}

/// Numbers that are considered years.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

/// Returns the number in a path segment if it can be a side in px: three or four digits, the first not 0.
fn side(folder: &str) -> Option<u32> {
    let is_digits = folder.bytes().all(|byte| byte.is_ascii_digit());
    let is_long_enough = (3..=4).contains(&folder.len());
    let number = folder.parse().ok().filter(|_| is_digits)?;
    (is_long_enough && !folder.starts_with('0')).then_some(number)
}

fn is_year(folder: &str) -> bool {
    side(folder).is_some_and(|year| YEARS.contains(&year))
}

/// Whether a path segment consists of digits and begins with 0, like a month or a part of an identifier that is split
/// into folders.
fn is_part(folder: &str) -> bool {
    let is_digits = folder.bytes().all(|byte| byte.is_ascii_digit());
    is_digits && folder.len() > 1 && folder.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::looks_resized;

    #[test]
    fn folders_and_arguments_that_look_like_sizes_are_found() {
        for target in [
            "/thumb/150x-/trip/a.jpg",
            "/thumb/-x150/a.jpg",
            "/thumb/x150/a.jpg",
            "/thumb/150x/a.jpg",
            "/150x150/a.jpg",
            "/img/fit-150x150/a.jpg",
            "/img/150X150_crop/a.jpg",
            "/img/w_300/a.jpg",
            "/img/w300-h200/a.jpg",
            "/img/300w/a.jpg",
            "/sq40/a.jpg",
            "/300/a.jpg",
            "/resize/300/200/a.jpg",
            "/2021/05/300x200/a.jpg",
            "/foto/300/2024/a.jpg",
            "/a.jpg?size=150x150",
            "/a.jpg?v=3&width=300",
        ] {
            assert!(looks_resized(target), "{target}");
        }
    }

    #[test]
    fn files_with_dates_versions_and_identifiers_are_not() {
        for target in [
            "/a.jpg",
            "/uploads/2021/05/a.jpg",
            "/uploads/2021/300/a.jpg",
            "/system/photos/000/012/345/a.jpg",
            "/48/12/a.jpg",
            "/users/1234567/a.jpg",
            "/icons/2x/a.png",
            "/static/v12/a.png",
            "/xbox360/linux64/a.jpg",
            "/uploads/a-150x150.jpg",
            "/logo.png?v=300",
            "/logo.png?1699999999",
        ] {
            assert!(!looks_resized(target), "{target}");
        }
    }
}
