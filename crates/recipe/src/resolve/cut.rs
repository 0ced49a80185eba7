//! Crops an image.

use super::Image;
use crate::{Crop, Focus, Gravity, Length, Step};

impl Image<'_> {
    /// Returns the left and top edge, in px, of a part of this size to keep; `None` if they depend on something that
    /// was not measured.
    pub(crate) fn kept(&self, (w, h): (u32, u32), gravity: Gravity) -> Option<(u32, u32)> {
        let room = (self.width - w, self.height - h);
        let point = match (gravity, &self.focus) {
            (Gravity::Centre, Some(Focus::At { .. })) => self.point,
            (Gravity::Centre, Some(Focus::Salient)) => self.salient?,
            (Gravity::Centre, Some(Focus::Faces)) => {
                let faces = self.faces.as_ref()?;
                faces.middle((w, h)).or(self.salient)?
            }
            _ => {
                let (across, down) = gravity.halves();
                let part =
                    |room: u32, halves: u32| (u64::from(room) * u64::from(halves) / 2) as u32;
                return Some((part(room.0, across), part(room.1, down)));
            }
        };
        // `as` clamps negative numbers to 0.
        let around = |point: f64, length: u32| (point - f64::from(length) / 2.0).round() as u32;
        Some((
            around(point.0, w).min(room.0),
            around(point.1, h).min(room.1),
        ))
    }

    /// Crops to a part of size `(w, h)` whose upper left corner is `at`. Without `at`, adds a crop around an area that
    /// is still to be measured.
    pub(crate) fn keep(&mut self, at: Option<(u32, u32)>, (w, h): (u32, u32)) {
        if let Some((x, y)) = at {
            self.cut(x, y, w, h);
        } else if (w, h) != (self.width, self.height) {
            self.settle();
            let focus = self.focus.map(Step::Focus);
            // Resolved recipes contain a `focus` only for such areas, never for a point.
            let set = |step: &&Step| matches!(step, Step::Focus(_));
            if self.steps.iter().rev().find(set) != focus.as_ref() {
                self.steps.extend(focus);
            }
            self.steps.push(Step::Crop(Crop::Towards {
                w: Length::Px(w.into()),
                h: Length::Px(h.into()),
                gravity: Gravity::Centre,
            }));
            (self.width, self.height) = (w, h);
        }
    }

    /// Crops to a rectangle that lies inside the image, in px. A crop directly before is combined with it.
    pub(crate) fn cut(&mut self, x: u32, y: u32, w: u32, h: u32) {
        if (x, y, w, h) == (0, 0, self.width, self.height) {
            return;
        }
        self.settle();
        let before = self.steps.pop();
        let step = match before {
            Some(Step::Crop(Crop::At {
                x: Length::Px(left),
                y: Length::Px(top),
                ..
            })) => Step::crop(left as u32 + x, top as u32 + y, w, h),
            other => {
                self.steps.extend(other);
                Step::crop(x, y, w, h)
            }
        };
        self.steps.push(step);
        self.carry(|point| (point.0 - f64::from(x), point.1 - f64::from(y)));
        (self.width, self.height) = (w, h);
    }
}
