//! Never resample what will not be seen.

use super::{Example, Rule};
use crate::plan::place::Wanted;
use crate::resize::RegionF;

pub(crate) static RULE: Rule = Rule {
    name: "crop_before_resize",
    reason: "what a canvas cuts off need not be resampled, turned or converted: only the part that \
             shows is",
    example: Example {
        source: "jpeg 800x400 ycbcr420 q90",
        recipe: "cover:200x200,canvas:200x200:ffffff",
        plan: "decode jpeg ycbcr420 | resize 200x200 lanczos3 from 200,0 400x400 | encode jpeg q92",
    },
};

/// Reduces what is wanted to what shows on its canvas. `None`: all of it shows, or nothing.
pub(crate) fn cut(wanted: &Wanted) -> Option<Wanted> {
    let (canvas, from) = (wanted.canvas?, wanted.from?);
    let across = visible(canvas.x, wanted.to.0, canvas.width)?;
    let down = visible(canvas.y, wanted.to.1, canvas.height)?;
    let to = (across.1, down.1);
    if to == wanted.to {
        return None;
    }
    let per_px = (
        from.w / f64::from(wanted.to.0),
        from.h / f64::from(wanted.to.1),
    );
    Some(Wanted {
        from: Some(RegionF {
            x: from.x + f64::from(across.0) * per_px.0,
            y: from.y + f64::from(down.0) * per_px.1,
            w: f64::from(across.1) * per_px.0,
            h: f64::from(down.1) * per_px.1,
        }),
        to,
        canvas: Some(andon_recipe::CanvasLayout {
            x: canvas.x.max(0),
            y: canvas.y.max(0),
            ..canvas
        }),
    })
}

/// Start and length of the part of a side that lies on the canvas, in px of the picture.
fn visible(at: i64, length: u32, canvas: u32) -> Option<(u32, u32)> {
    let start = at.saturating_neg().clamp(0, i64::from(length));
    let end = i64::from(canvas)
        .saturating_sub(at)
        .clamp(0, i64::from(length));
    if start < end {
        // Both lie within 0..=length, a u32.
        Some((start as u32, (end - start) as u32))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_fits_shows_whole() {
        assert_eq!(visible(25, 150, 200), Some((0, 150)));
    }

    #[test]
    fn an_overhang_is_cut_on_both_ends() {
        assert_eq!(visible(-33, 266, 200), Some((33, 200)));
    }

    #[test]
    fn a_side_beyond_the_canvas_does_not_show() {
        assert_eq!(visible(200, 50, 200), None);
        assert_eq!(visible(-50, 50, 200), None);
        assert_eq!(visible(i64::MIN, 50, 200), None);
        assert_eq!(visible(i64::MAX, 50, 200), None);
    }
}
