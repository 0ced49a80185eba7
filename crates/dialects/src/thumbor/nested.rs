//! Overlay images of imagor's `image` filter whose paths contain operations, as steps of a recipe.
//!
//! The size of such an overlay is not known when a URL is parsed, so that native steps compute sizes. Operations that
//! need the size (trimming, `smart`, backgrounds made from the image) are left out.

use andon_recipe::{
    Bounds, Canvas, Colour, Cover, Crop, Effect, Exact, Fit, Flatten, Gravity, Length, Orient, Pad,
    Step, Turn,
};

use super::colours::Ground;
use super::filters::{Filter, Nested};
use super::overlay::Overlay;
use super::path::Align;

/// Returns the step that lays an overlay on an image of this size in px, after the operations in the overlay's own
/// path.
pub(super) fn overlay_step(
    overlay: &Overlay,
    nested: Option<&Nested>,
    size: (u32, u32),
) -> Option<Step> {
    overlay.step(size, nested.map_or(Vec::new(), |nested| nested.steps(size)))
}

impl Nested {
    /// Returns the steps for an overlay on an image of the size `image_size`, in px.
    fn steps(&self, image_size: (u32, u32)) -> Vec<Step> {
        let requested = (self.sides.0.of(image_size.0), self.sides.1.of(image_size.1));
        let mut steps = vec![Step::Orient(Orient)];
        let turn = self.filters.iter().find_map(|filter| match filter {
            Filter::Orient(turn) => *turn,
            _ => None,
        });
        steps.extend(turn.map(Step::Turn));
        if let Some([left, top, right, bottom]) = self.parts.crop {
            steps.extend(crop([left, top, right - left, bottom - top]));
        }
        steps.extend(self.fit_step(requested));
        steps.extend(self.parts.mirroring().map(Step::Flip));
        // An unknown side is assumed to be that of the image below.
        let or = |side: u32, other: u32| if side > 0 { side } else { other };
        let mut size = (or(requested.0, image_size.0), or(requested.1, image_size.1));
        for filter in &self.filters {
            self.filter(filter, requested, &mut size, &mut steps);
        }
        steps.truncate(MOST);
        steps
    }

    fn fit_step(&self, (w, h): (u32, u32)) -> Option<Step> {
        let px = |side: u32| Length::Px(side.into());
        let has = |filter: &Filter| self.filters.contains(filter);
        let full = self.parts.fit.is_some_and(|fit| fit.full);
        let grows = has(&Filter::Upscale) || (self.parts.fit.is_none() && !has(&Filter::NoUpscale));
        let inside = match (w, h) {
            (0, 0) => return None,
            (w, 0) => Bounds::Width(px(w)),
            (0, h) => Bounds::Height(px(h)),
            (w, h) => Bounds::Both(px(w), px(h)),
        };
        let one = w == 0 || h == 0;
        let (w, h) = (px(w), px(h));
        Some(
            match (self.parts.fit, self.parts.stretch || has(&Filter::Stretch)) {
                (Some(_), _) if !full => Step::Fit(Fit {
                    inside,
                    enlarge: grows,
                }),
                _ if one => Step::Fit(Fit {
                    inside,
                    enlarge: grows || full,
                }),
                (_, true) => Step::Exact(Exact { w, h }),
                _ => Step::Cover(Cover {
                    w,
                    h,
                    gravity: self.gravity(),
                    enlarge: grows || full,
                }),
            },
        )
    }

    fn gravity(&self) -> Gravity {
        match (self.parts.across, self.parts.down) {
            (Some(Align::Start), Some(Align::Start)) => Gravity::NorthWest,
            (Some(Align::End), Some(Align::Start)) => Gravity::NorthEast,
            (_, Some(Align::Start)) => Gravity::North,
            (Some(Align::Start), Some(Align::End)) => Gravity::SouthWest,
            (Some(Align::End), Some(Align::End)) => Gravity::SouthEast,
            (_, Some(Align::End)) => Gravity::South,
            (Some(Align::Start), _) => Gravity::West,
            (Some(Align::End), _) => Gravity::East,
            _ => Gravity::Centre,
        }
    }

    /// Adds the steps of one filter to `steps`. Filters are passed in the order of the URL. `size` is the assumed size
    /// of the overlay in px, which the filter may change.
    fn filter(
        &self,
        filter: &Filter,
        requested: (u32, u32),
        size: &mut (u32, u32),
        steps: &mut Vec<Step>,
    ) {
        match filter {
            Filter::Effect(effect) => steps.push(Step::Effect(effect.clone())),
            Filter::Overlay(overlay, nested) => {
                steps.extend(overlay_step(overlay, nested.as_deref(), *size));
            }
            Filter::Text(text) => steps.extend(text.step(*size)),
            Filter::Pixelate(side) => {
                let squares = Effect::new("pixelate", vec![side.to_string()]);
                steps.extend(squares.ok().map(Step::Effect));
            }
            Filter::Ground(ground) => steps.push(Step::Flatten(Flatten(colour(*ground)))),
            Filter::Rotate(turn) => {
                steps.extend(turn.map(Step::Turn));
                if matches!(turn, Some(Turn::R90 | Turn::R270)) {
                    *size = (size.1, size.0);
                }
            }
            Filter::Fill(ground) => {
                let colour = colour(*ground);
                if requested.0 > 0 && requested.1 > 0 {
                    steps.push(Step::Canvas(Canvas {
                        w: requested.0,
                        h: requested.1,
                        colour,
                        at: None,
                    }));
                }
                steps.extend(self.parts.padding.map(|sides| pad(sides, colour, size)));
            }
            Filter::Padding(ground, sides) => steps.push(pad(*sides, colour(*ground), size)),
            Filter::Proportion(factor) if *factor > 0.0 => {
                let percent = if *factor > 1.0 {
                    factor.min(100.0)
                } else {
                    factor * 100.0
                };
                let side = Length::Percent(percent).rounded();
                steps.push(Step::Exact(Exact { w: side, h: side }));
                let of = |side: u32| ((f64::from(side) * percent / 100.0) as u32).max(1);
                *size = (of(size.0), of(size.1));
            }
            Filter::Crop(area) => steps.extend(crop(*area)),
            _ => {}
        }
    }
}

/// Maximum number of steps of one overlay. The recipe that contains it may have more.
const MOST: usize = 32;

/// Returns the colour of a background. White stands for backgrounds that are made from the image.
fn colour(ground: Ground) -> Colour {
    match ground {
        Ground::Colour(colour) => colour,
        Ground::Mean | Ground::Median | Ground::Blurred => Colour::WHITE,
    }
}

fn pad([left, top, right, bottom]: [u32; 4], colour: Colour, size: &mut (u32, u32)) -> Step {
    let most = |side: u32| side.min(MOST_PX);
    let [left, top, right, bottom] = [left, top, right, bottom].map(most);
    size.0 = size.0.saturating_add(left + right);
    size.1 = size.1.saturating_add(top + bottom);
    Step::Pad(Pad {
        top,
        right,
        bottom,
        left,
        colour,
    })
}

/// Maximum width of a margin in px.
const MOST_PX: u32 = 1_000_000;

/// Returns a crop to left, top, width and height, which are in px or shares of the sides.
fn crop([left, top, width, height]: [f64; 4]) -> Option<Step> {
    let shares = left < 1.0 && top < 1.0 && left + width <= 1.0 && top + height <= 1.0;
    let length = |value: f64| match shares {
        true => Length::percent(value * 100.0).map(Length::rounded),
        false => Length::px(value),
    };
    (width > 0.0 && height > 0.0).then_some(())?;
    Some(Step::Crop(Crop::At {
        x: length(left.max(0.0))?,
        y: length(top.max(0.0))?,
        w: length(width)?,
        h: length(height)?,
    }))
}

#[cfg(test)]
mod tests {
    use andon_recipe::{Facts, Recipe};

    use super::super::flavour::Flavour;
    use super::super::table;
    use super::*;

    /// Returns the recipe of an image that the filter `image` lays over an image of 400×300 px.
    fn recipe(path: &str) -> Option<String> {
        let args = format!("{path},0,0");
        let filter = table::read(Flavour::Imagor, "image", &args, Effect::DEEPEST)?;
        let Filter::Overlay(overlay, nested) = filter else {
            return None;
        };
        let Some(Step::Effect(effect)) = overlay_step(&overlay, nested.as_deref(), (400, 300))
        else {
            return None;
        };
        let recipe = effect.recipe()?.expect("a recipe");
        // It is one that any image can go through.
        let facts = Facts::new("jpeg", 200, 100);
        andon_recipe::Rules::resolve(&recipe, &facts).expect("it resolves");
        Some(recipe.to_string())
    }

    #[test]
    fn a_path_becomes_steps() {
        for (path, steps) in [
            ("filters:grayscale()/a.png", "orient,gray:light"),
            (
                "-120x80/left/a.png",
                "orient,cover:120x80:west:enlarge,flip:h",
            ),
            ("-fx-f-250/a.png", "orient,cover:400x50:enlarge,flip:hv"),
            (
                "fit-in/100x100/filters:fill(red)/a.png",
                "orient,fit:100x100,canvas:100x100:ff0000",
            ),
            (
                "f-100x0/filters:rotate(90)/a.png",
                "orient,fit:300x:enlarge,turn:270",
            ),
            ("0.1x0.2:0.6x0.7/a.png", "orient,crop:10%:20%:50%x50%"),
            (
                "stretch/60x40/filters:padding(00f,5):proportion(0.5)/a.png",
                "orient,exact:60x40,pad:5:5:5:5:0000ff,exact:50%x50%",
            ),
        ] {
            assert_eq!(recipe(path).as_deref(), Some(steps), "{path}");
        }
        // What only brings it to a size needs none.
        assert_eq!(recipe("fit-in/100x100/a.png"), None);
    }

    #[test]
    fn an_overlay_may_have_overlays_to_a_bounded_depth() {
        let nested = |levels: usize| {
            (0..levels).fold("a.png".to_owned(), |path, _| {
                format!("9x9/filters:image({path},0,0):grayscale()/b.png")
            })
        };
        let files = |levels: usize| {
            let recipe: Recipe = recipe(&nested(levels)).expect("a recipe").parse().unwrap();
            recipe.overlays().len()
        };
        for levels in 1..=3 {
            assert_eq!(files(levels), levels);
        }
        // What lies deeper is left out.
        assert_eq!(files(200), 2);
    }
}
