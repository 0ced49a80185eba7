//! The state of an image between steps, and the steps in whole pixels that have led to it.

use super::faces::Faces;
use crate::{Area, Facts, Focus, Measure, Orientation, Step};

/// State of the image after the steps so far.
pub(crate) struct Image<'a> {
    /// The facts about the stored image.
    pub(crate) facts: &'a Facts,
    /// Width in px.
    pub(crate) width: u32,
    /// Height in px.
    pub(crate) height: u32,
    /// Whether the image may be transparent.
    pub(crate) alpha: bool,
    /// All turns and flips so far, including the one that made the image upright.
    pub(crate) total_turn: Orientation,
    /// Whether the image has been turned upright.
    pub(crate) upright: bool,
    /// Whether the image has been scaled, other than by `shrink`.
    pub(crate) scaled: bool,
    /// Device pixels per CSS pixel.
    pub(crate) dpr: f64,
    /// What later crops keep in view, unless they name a gravity; `None` if no step has set a focus.
    pub(crate) focus: Option<Focus>,
    /// The focus point, in px of the current image; it has a meaning only if `focus` is [`Focus::At`].
    pub(crate) point: (f64, f64),
    /// Centre of the area that draws the eye, in px of the current image; `None` if it was not measured.
    pub(super) salient: Option<(f64, f64)>,
    /// Faces at their positions in the current image; `None` if they were not measured.
    pub(crate) faces: Option<Faces>,
    /// The steps so far, in whole pixels.
    pub(super) steps: Vec<Step>,
    /// Turns and flips that are not yet among `steps`, because no other step has followed them.
    turned: Orientation,
}

impl<'a> Image<'a> {
    /// Creates the state of an image before the first step.
    pub(super) fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            width: facts.width,
            height: facts.height,
            alpha: facts.alpha,
            total_turn: Orientation::default(),
            upright: false,
            scaled: false,
            dpr: 1.0,
            focus: None,
            point: (0.0, 0.0),
            salient: salient(facts),
            faces: Faces::of(facts),
            steps: Vec::new(),
            turned: Orientation::default(),
        }
    }

    /// Turns the image. Adjacent turns are combined.
    pub(crate) fn turn(&mut self, turn: Orientation) {
        self.turned = self.turned.followed_by(turn);
        self.moved(turn);
    }

    /// Applies a turn to the size, the focus and the measured areas.
    pub(crate) fn moved(&mut self, turn: Orientation) {
        self.total_turn = self.total_turn.followed_by(turn);
        let size = (f64::from(self.width), f64::from(self.height));
        self.carry(|point| turn.point(point, size));
        (self.width, self.height) = turn.size(self.width, self.height);
    }

    /// Moves the focus point and the measured areas with the image: `to` maps a point before a step to its position
    /// after the step.
    pub(crate) fn carry(&mut self, to: impl Fn((f64, f64)) -> (f64, f64)) {
        self.point = to(self.point);
        self.salient = self.salient.map(&to);
        if let Some(faces) = &mut self.faces {
            faces.carry(to);
        }
    }

    /// Whether the image may be scaled beyond its size: if the request allows it, or while it is a vector image that no
    /// step so far has turned into pixels. A vector image can be drawn at any size without inventing detail.
    pub(crate) fn may_grow(&self, enlarge: bool) -> bool {
        let keeps_vector = |step: &Step| {
            matches!(
                step,
                Step::Orient(_) | Step::Turn(_) | Step::Flip(_) | Step::Crop(_)
            )
        };
        enlarge || (self.facts.vector && !self.scaled && self.steps.iter().all(keeps_vector))
    }

    /// Appends a step, whose sizes are whole pixels, after any pending turns and flips.
    pub(crate) fn push(&mut self, step: Step) {
        self.settle();
        self.steps.push(step);
    }

    /// Adds the pending turns and flips to the steps.
    pub(super) fn settle(&mut self) {
        self.steps.extend(std::mem::take(&mut self.turned).steps());
    }

    /// Whether the steps so far have at most turned the image.
    pub(crate) fn is_only_turned(&self) -> bool {
        let turns = |step: &Step| matches!(step, Step::Orient(_) | Step::Turn(_) | Step::Flip(_));
        self.steps.iter().all(turns)
    }
}

/// Returns the centre of the area that draws the eye, in px of the stored image; `None` if it was not measured.
fn salient(facts: &Facts) -> Option<(f64, f64)> {
    let Area { x, y, w, h } = facts.measured.area(Measure::Salient)?;
    let middle = |start: u32, length: u32| f64::from(start) + f64::from(length) / 2.0;
    Some((middle(x, w), middle(y, h)))
}
