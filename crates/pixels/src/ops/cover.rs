//! Masks: the opacity of the image below is multiplied by that of the overlay or, in luminous mode, by the overlay's
//! opacity times its luma.

use andon_recipe::Colour;

use super::lay::veil;
use crate::error::Result;
use crate::frame::Grid;
use crate::samples::{Planes, Sample, zip};

/// Multiplies the opacity of an overlay by its luma. The overlay must be gray.
pub(super) fn dim<T: Sample>(icon: &mut Planes<T>) -> Result<()> {
    let [luma] = &icon.colours[..] else {
        return Ok(());
    };
    icon.alpha = Some(match &icon.alpha {
        None => luma.clone(),
        Some(alpha) => zip(alpha, luma, |alpha, luma| {
            T::round(alpha.float() * luma.float() / T::MAX.float())
        })?,
    });
    Ok(())
}

/// Returns the opacity of a mask that is repeated at these places, over an image of this size.
pub(super) fn covered<T: Sample>(
    icon: &Planes<T>,
    (width, height): (u32, u32),
    places: impl Iterator<Item = (i64, i64)>,
) -> Grid<T> {
    let full = T::MAX.float();
    let mut cover = Grid::filled(width, height, T::default());
    for (x, y) in places {
        // Rows outside the image are skipped.
        let rows = |at: i64| at.clamp(0, height.into()) as u32;
        for row in rows(y)..rows(y.saturating_add(icon.height.into())) {
            let Ok(icon_row) = u32::try_from(i64::from(row) - y) else {
                continue;
            };
            let start = x.clamp(0, width.into());
            let end = x.saturating_add(icon.width.into()).clamp(0, width.into());
            let skipped = (start - x) as usize;
            let cover = &mut cover.row_mut(row)[start as usize..end as usize];
            match &icon.alpha {
                None => cover.fill(T::MAX),
                Some(alpha) => {
                    for (cover, alpha) in cover
                        .iter_mut()
                        .zip(alpha.row(icon_row).iter().skip(skipped))
                    {
                        let alpha = alpha.float();
                        *cover = T::round(alpha + cover.float() * (1.0 - alpha / full));
                    }
                }
            }
        }
    }
    cover
}

/// Hides an image where `cover` is transparent or, with `out`, where it is opaque, and shows the colour `around` there.
pub(super) fn hide<T: Sample>(
    image: &mut Planes<T>,
    mut cover: Grid<T>,
    out: bool,
    around: Colour,
) {
    let full = T::MAX.float();
    let stays = |cover: T| {
        let cover = cover.float() / full;
        if out { 1.0 - cover } else { cover }
    };
    // An opaque colour hides what is below it, so the image needs no alpha.
    if around.a < u8::MAX {
        let (width, height) = (image.width, image.height);
        let opaque = || Grid::filled(width, height, T::MAX);
        let alpha = image.alpha.get_or_insert_with(opaque);
        for (alpha, cover) in alpha.samples_mut().iter_mut().zip(cover.samples()) {
            *alpha = T::round(alpha.float() * stays(*cover));
        }
    }
    if around.a > 0 {
        let most = T::of(u16::from(around.a) * T::UNIT).float();
        for cover in cover.samples_mut() {
            *cover = T::round(most * (1.0 - stays(*cover)));
        }
        veil(image, around, cover);
    }
}
