//! Which sizes of results are permitted, and which crops may lead to them.
//!
//! The permitted sizes of one source are few: a listed width with a listed height, or one of them with the side that
//! follows by the source's aspect ratio. The sides of the source itself count as listed. A recipe may scale once and
//! crop once. The crop has to follow from the size of the result, because otherwise a result of a permitted size could
//! show any part of the source.

use andon_recipe::{Crop, Facts, Length, Recipe, ResolveError, Step, size_after};

use super::PermittedConfig;
use super::limited::list;

/// Width and height in px.
type Size = (u32, u32);

/// Checks the sizes and crops of a recipe in whole pixels.
///
/// # Errors
/// A size, a crop or a scaling that is not permitted.
pub(super) fn check(
    lists: &PermittedConfig,
    recipe: &Recipe,
    facts: &Facts,
) -> Result<(), ResolveError> {
    let crops_freely = lists.words.iter().any(|word| word == "crop");
    let stored = (facts.width, facts.height);
    let size = size_after(&recipe.steps, facts).unwrap_or_default();
    let mut scaling: Option<(Size, Size)> = None;
    let (mut is_shrunk, mut is_cut) = (false, false);
    let mut shapes = vec![stored];
    for (at, step) in recipe.steps.iter().enumerate() {
        let before = size_after(&recipe.steps[..at], facts).unwrap_or_default();
        let after = size_after(&recipe.steps[..=at], facts).unwrap_or_default();
        match step {
            Step::Shrink(_) if !is_shrunk && scaling.is_none() => is_shrunk = true,
            Step::Exact(_) if scaling.is_none() => scaling = Some((before, after)),
            Step::Shrink(_) | Step::Exact(_) => {
                return Err(ResolveError::new(step, "unsigned URLs may scale once"));
            }
            Step::Crop(crop) if !crops_freely => {
                let follows = match scaling {
                    Some((before, after)) => has_ratio(after, before),
                    None => has_ratio(after, size) || has_ratio(after, (size.1, size.0)),
                };
                if is_cut || !follows || !spans(before, after) || !lies_evenly(crop, before, after)
                {
                    return Err(ResolveError::new(
                        step,
                        "unsigned URLs may cut off what hangs over a permitted size, from the middle, a side or a \
                         corner; `permitted.words` can list `crop`",
                    ));
                }
                is_cut = true;
            }
            Step::Crop(_) => shapes.push(after),
            _ => {}
        }
    }
    match is_permitted(lists, size, stored, &shapes) {
        true => Ok(()),
        false => Err(size_error(lists, size)),
    }
}

/// Whether a source of the size `source_size`, turned or not, may have a result of this size. `shapes` are the sizes
/// whose aspect ratio the result may have if one of its sides is permitted.
fn is_permitted(lists: &PermittedConfig, (w, h): Size, source_size: Size, shapes: &[Size]) -> bool {
    let turn = |(w, h): Size| (h, w);
    // The crop to a listed box gives the box's shape to a source that is smaller than the box.
    let fits_a_box = || {
        let with = |width: u32| {
            lists
                .heights
                .iter()
                .any(|it| has_ratio((w, h), (width, *it)))
        };
        lists.widths.iter().any(|width| with(*width))
    };
    [source_size, turn(source_size)]
        .into_iter()
        .any(|source_size| {
            let has_w = w == source_size.0 || lists.widths.contains(&w);
            let has_h = h == source_size.1 || lists.heights.contains(&h);
            let follows = |shape: Size| {
                has_w && is_near(h, w, (shape.1, shape.0)) || has_h && is_near(w, h, shape)
            };
            let is_own = w == source_size.0 || h == source_size.1;
            has_w && has_h
                || shapes
                    .iter()
                    .any(|shape| follows(*shape) || follows(turn(*shape)))
                || is_own && fits_a_box()
        })
}

/// Whether one side of a size follows from the other one by the aspect ratio of the size `of`, rounded in any way.
fn has_ratio((w, h): Size, of: Size) -> bool {
    is_near(h, w, (of.1, of.0)) || is_near(w, h, of)
}

/// Whether `side` is `other` times the ratio, rounded in any way.
fn is_near(side: u32, other: u32, ratio: Size) -> bool {
    let expected = f64::from(other) * f64::from(ratio.0) / f64::from(ratio.1.max(1));
    (f64::from(side) - expected).abs() < 1.0
}

/// Whether a crop keeps the whole width or the whole height. `before` and `after` are the sizes of the image before and
/// after the crop.
fn spans(before: Size, after: Size) -> bool {
    before.0 == after.0 || before.1 == after.1
}

/// Whether a crop lies along each axis at an end or in the middle (within 1 px), or is placed by gravity. `before` and
/// `after` are the sizes of the image before and after the crop.
fn lies_evenly(crop: &Crop, before: Size, after: Size) -> bool {
    let Crop::At { x, y, .. } = crop else {
        return true;
    };
    let is_even = |at: Length, before: u32, after: u32| {
        let (at, room) = (at.of(0.0) as u32, before.saturating_sub(after));
        at == 0 || at == room || (2 * at).abs_diff(room) <= 2
    };
    is_even(*x, before.0, after.0) && is_even(*y, before.1, after.1)
}

fn size_error(lists: &PermittedConfig, (w, h): Size) -> ResolveError {
    let side_list = |name: &str, sides: &[u32]| match sides.is_empty() {
        true => String::new(),
        false => format!("{name} {}", list(sides)),
    };
    let lists = [
        side_list("widths", &lists.widths),
        side_list("heights", &lists.heights),
    ];
    let texts: Vec<String> = lists.into_iter().filter(|it| !it.is_empty()).collect();
    ResolveError::new(
        format_args!("{w}x{h}"),
        format!(
            "unsigned URLs may ask for these {} (px), and for what follows from one of them by the source's aspect ratio",
            texts.join(" and ")
        ),
    )
}
