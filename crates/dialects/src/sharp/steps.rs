//! Translates sharp's options to steps for an image of known size.

use andon_recipe::{
    Colour, Facts, Flatten, Flip, Orient, Pad, Recipe, ResolveError, Rotate, Step, Trim,
};

use super::resize::{Size, fill_around};
use super::{Pipeline, Position, Upright};
use crate::{effects, geometry};

impl Pipeline {
    /// Returns the steps for a stored image.
    ///
    /// # Errors
    /// A rectangle to crop to that is not within the image.
    pub(super) fn steps(&self, facts: &Facts) -> Result<Vec<Step>, ResolveError> {
        let (mut steps, mut size) = self.steps_before_scaling(facts)?;
        // With these options, sharp does not let its decoders reduce the image.
        let reads_all = self.part.is_some()
            || self.trim.is_some()
            || self.linear
            || (self.turns_first && self.moves());
        let shrinks = facts.format == "jpeg" && !reads_all;
        let resize = self.resize.clamped((facts.width, facts.height))?;
        if resize.has_side() {
            let new_size = resize.scaled_size(size, shrinks);
            steps.push(Step::exact(new_size.0, new_size.1));
            size = new_size;
        }
        if !self.turns_first {
            self.mirror(&mut steps);
            self.turn(&mut steps, &mut size);
        }
        // A background replaces transparency before padding is added, which may have another colour.
        let alpha = facts.alpha && self.ground.is_none();
        size = resize.frame(&mut steps, size, alpha);
        if !self.turns_first {
            self.rotate(&mut steps, &mut size);
        }
        if let Some(part) = self.later_part {
            size = cut(&mut steps, part, size)?;
        }
        if let Some(([top, right, bottom, left], colour)) = self.margins {
            steps.push(Step::Pad(Pad {
                top,
                right,
                bottom,
                left,
                colour: if alpha { Colour::CLEAR } else { colour },
            }));
            steps.extend(fill_around((left, top), size, colour, alpha));
        }
        steps.extend(effects::steps(self.effects.iter().cloned().map(Some)));
        Ok(steps)
    }

    /// Returns the steps that precede scaling, and the size in px of the image after them.
    fn steps_before_scaling(&self, facts: &Facts) -> Result<(Vec<Step>, Size), ResolveError> {
        let mut steps = Vec::new();
        steps.extend((self.upright == Some(Upright::First)).then_some(Step::Orient(Orient)));
        steps.extend(self.border(facts));
        let mut size = geometry::size_after(&steps, facts)?;
        if let (Some(part), Some(Upright::AfterPart) | None) = (self.part, self.upright) {
            size = cut(&mut steps, part, size)?;
        }
        if self.upright == Some(Upright::AfterPart) {
            steps.push(Step::Orient(Orient));
            size = facts.orientation.size(size.0, size.1);
        }
        steps.extend(self.ground.map(|colour| Step::Flatten(Flatten(colour))));
        if self.turns_first {
            self.mirror(&mut steps);
            self.turn(&mut steps, &mut size);
            self.rotate(&mut steps, &mut size);
        }
        Ok((steps, size))
    }

    /// Returns the step that trims the border. sharp does not trim images with a side of less than 3 px.
    fn border(&self, facts: &Facts) -> Option<Step> {
        let is_large = facts.width >= 3 && facts.height >= 3;
        self.trim
            .filter(|_| is_large)
            .map(|tolerance| Step::Trim(Trim(tolerance)))
    }

    fn moves(&self) -> bool {
        self.degrees != 0.0 || self.flip || self.flop
    }

    pub(super) fn flips(&self) -> Option<Flip> {
        match (self.flip, self.flop) {
            (false, false) => None,
            (true, false) => Some(Flip::Vertical),
            (false, true) => Some(Flip::Horizontal),
            (true, true) => Some(Flip::Both),
        }
    }

    fn mirror(&self, steps: &mut Vec<Step>) {
        steps.extend(self.flips().map(Step::Flip));
    }

    /// Adds the rotation to `steps` if it is by a multiple of 90 degrees, and changes `size` accordingly.
    fn turn(&self, steps: &mut Vec<Step>, size: &mut Size) {
        let degrees = self.degrees.rem_euclid(360.0);
        if let Some(turn) = geometry::turn(degrees as u32).filter(|_| degrees % 90.0 == 0.0) {
            steps.push(Step::Turn(turn));
            if degrees % 180.0 != 0.0 {
                *size = (size.1, size.0);
            }
        }
    }

    /// Adds the rotation to `steps` if it is by an angle that is not a multiple of 90 degrees, and changes `size`
    /// accordingly.
    fn rotate(&self, steps: &mut Vec<Step>, size: &mut Size) {
        let degrees = self.degrees.rem_euclid(360.0);
        if degrees % 90.0 != 0.0 {
            *size = andon_recipe::rotated_size(size.0, size.1, degrees);
            steps.push(Step::Rotate(Rotate {
                degrees,
                colour: self.corners.unwrap_or(Colour::BLACK),
            }));
        }
    }

    /// Returns a recipe with the steps that require measurements of the image.
    pub(super) fn measuring_recipe(&self) -> Recipe {
        let mut steps = Vec::new();
        steps.extend((self.upright == Some(Upright::First)).then_some(Step::Orient(Orient)));
        steps.extend(self.trim.map(|tolerance| Step::Trim(Trim(tolerance))));
        let looks = self.resize.position == Position::Salient && self.resize.has_side();
        steps.extend(looks.then_some(Step::Focus(andon_recipe::Focus::Salient)));
        Recipe::from(steps)
    }
}

/// Adds a crop to a rectangle within an image of this size in px, and returns the size of the rectangle.
///
/// # Errors
/// A rectangle that is not within the image.
fn cut(steps: &mut Vec<Step>, part: [u32; 4], size: Size) -> Result<Size, ResolveError> {
    let [x, y, w, h] = part;
    let within = |start: u32, side: u32, whole: u32| {
        side > 0 && start.checked_add(side).is_some_and(|end| end <= whole)
    };
    if !within(x, w, size.0) || !within(y, h, size.1) {
        let why = format!(
            "extract_area: bad extract area: {w}x{h} px at {x},{y} are not within {}x{} px",
            size.0, size.1
        );
        return Err(ResolveError::new(format!("{x}_{y}_{w}_{h}"), why));
    }
    steps.push(Step::crop(x, y, w, h));
    Ok((w, h))
}
