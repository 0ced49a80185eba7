//! Arithmetic of the native language, which resolves steps to whole pixels.
//!
//! Sides that follow from others are rounded to the nearest pixel, half away from zero; none is shorter than one pixel.
//! A resolved recipe contains only `orient`, `shrink`, `flip`, `turn`, `crop`, `exact`, `canvas`, `rotate` and effects,
//! plus steps that depend on faces or on what draws the eye if that was not measured. Steps that change nothing are
//! dropped, and neighbours that amount to one step are joined.

mod faces;

use std::sync::Arc;

use faces::Faces;

use crate::rules::{Facts, ResolveError, Rules};
use crate::step::{Bounds, Canvas, Colour, Crop, Gravity, Length, Pad, Step, Turn};
use crate::{Area, Kept, Measure, Orientation, Output, Profile, Recipe, StoredTurn, Wish};

impl Rules for Recipe {
    fn text(&self) -> String {
        self.to_string()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        if self.is_original() {
            return Ok(Self::original());
        }
        let trim = |step: &Step| matches!(step, Step::Trim(_));
        if let Some(at) = self.steps.iter().rposition(trim)
            && !self.steps[..at].iter().all(comes_before_trim)
        {
            return Err(ResolveError::new(
                &self.steps[at],
                "it can be used once, and only orient, turn and flip may come before it among the steps that \
                 change the geometry",
            ));
        }
        let mut picture = Picture::new(facts);
        for step in self.all_steps() {
            picture.step(step, facts)?;
        }
        let recipe = picture.recipe(self, facts)?;
        // One word may come to two steps.
        match self.steps.last() {
            Some(last) if recipe.steps_in_all() > Self::MOST_STEPS => {
                let why = format!("with it, it comes to more than {} steps", Self::MOST_STEPS);
                Err(ResolveError::new(last, why))
            }
            _ => Ok(recipe),
        }
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let facts = Facts {
            orientation: stored,
            ..Facts::new("", 1, 1)
        };
        let mut picture = Picture::new(&facts);
        let asks = |of: fn(&Step) -> bool| self.steps.iter().any(of);
        let faces = asks(|step| matches!(step, Step::Faces | Step::BlurFaces(_)));
        // Where no face is found, what draws the eye counts.
        let salient = asks(|step| matches!(step, Step::Salient | Step::Faces));
        let mut measures = Vec::from_iter(faces.then_some(Measure::Faces));
        measures.extend(salient.then_some(Measure::Salient));
        for step in self.all_steps() {
            if let Step::Trim(tolerance) = *step {
                measures.push(picture.border(tolerance));
                break;
            }
            if !comes_before_trim(step) || picture.step(step, &facts).is_err() {
                break;
            }
        }
        measures
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self {
            output,
            ..self.clone()
        })
    }

    fn materials(&self) -> Vec<String> {
        self.materials()
    }

    fn wish(&self) -> Option<Wish> {
        Some(Wish::of(self))
    }
}

impl Recipe {
    /// Returns the steps of this recipe. They begin with the step that turns the image upright, unless the steps
    /// contain it already or the output keeps the stored turn.
    fn all_steps(&self) -> impl Iterator<Item = &Step> {
        let first =
            self.output.stored_turn == StoredTurn::Applied && !self.steps.contains(&Step::Orient);
        first
            .then_some(&Step::Orient)
            .into_iter()
            .chain(&self.steps)
    }
}

/// What later crops keep in view.
enum Focus {
    /// A point, in px.
    Point((f64, f64)),
    /// The area that draws the eye.
    Salient,
    /// Faces or, if there are none, the area that draws the eye.
    Faces,
}

/// State of the image after the steps so far.
struct Picture {
    width: u32,
    height: u32,
    alpha: bool,
    /// All turns and flips so far, including the one that made the image upright.
    seen: Orientation,
    /// Whether the image has been turned upright.
    upright: bool,
    /// Whether the image has been scaled, other than by `shrink`.
    scaled: bool,
    dpr: f64,
    focus: Option<Focus>,
    /// Centre of the area that draws the eye, in px of the current image; `None` if it was not measured.
    salient: Option<(f64, f64)>,
    /// Faces at their position in the current image; `None` if they were not looked for.
    faces: Option<Faces>,
    steps: Vec<Step>,
    /// Turns and flips that are not yet among `steps`, because no other step has followed them.
    turned: Orientation,
}

impl Picture {
    fn new(facts: &Facts) -> Self {
        Self {
            width: facts.width,
            height: facts.height,
            alpha: facts.alpha,
            seen: Orientation::default(),
            upright: false,
            scaled: false,
            dpr: 1.0,
            focus: None,
            salient: salient(facts),
            faces: Faces::of(facts),
            steps: Vec::new(),
            turned: Orientation::default(),
        }
    }

    fn step(&mut self, step: &Step, facts: &Facts) -> Result<(), ResolveError> {
        match step {
            // What is no geometry is put in its place at the end.
            Step::Original => {}
            Step::Orient => self.orient(facts),
            Step::Turn(turn) => self.turn(Orientation::default().then(*turn)),
            Step::Flip(flip) => self.turn(Orientation::default().flipped(*flip)),
            Step::Rotate { degrees, colour } => self.rotate(*degrees, *colour),
            Step::Shrink(eighths) => self.shrink(*eighths, step, facts)?,
            Step::Trim(tolerance) => self.trim(*tolerance, step, facts)?,
            Step::Crop(crop) => self.crop(crop, step)?,
            Step::Fit { inside, enlarge } => self.fit(*inside, *enlarge, step)?,
            Step::Cover {
                w,
                h,
                gravity,
                enlarge,
            } => self.cover((*w, *h), *gravity, *enlarge, step)?,
            Step::Exact { w, h } => {
                let size = self.boxed((*w, *h), step)?;
                self.scale(side(size.0), side(size.1));
            }
            Step::Pad(pad) => self.pad(pad),
            Step::Canvas(canvas) => self.canvas(canvas),
            Step::Flatten(colour) => {
                if self.alpha {
                    self.lay((self.width, self.height), (0, 0), *colour);
                }
            }
            Step::Focus { x, y } => {
                let point = (x.of(self.width.into()), y.of(self.height.into()));
                self.focus = Some(Focus::Point(point));
            }
            Step::Salient => self.focus = Some(Focus::Salient),
            Step::Faces => self.focus = Some(Focus::Faces),
            Step::BlurFaces(sigma) => match &self.faces {
                Some(faces) => {
                    for blur in faces.blurred((self.width, self.height), *sigma) {
                        self.push(blur);
                    }
                }
                None => self.push(step.clone()),
            },
            Step::Dpr(ratio) => self.dpr = *ratio,
            Step::Effect(_) => self.push(step.clone()),
        }
        Ok(())
    }

    /// Returns the resolved recipe: the steps, and the output without settings that make no difference for this source,
    /// such as the format that the result has anyway.
    fn recipe(mut self, asked: &Recipe, facts: &Facts) -> Result<Recipe, ResolveError> {
        self.settle();
        if let Some(step) = self.steps.iter().find(|step| is_beyond_words(step)) {
            let most = Length::MAX_PX;
            return Err(ResolveError::new(
                step,
                format!("sides of more than {most} px are not supported"),
            ));
        }
        let mut output = asked.output.clone();
        // Nothing is left to say of an image that is upright, or is made so.
        if self.upright || facts.orientation.is_upright() {
            output.stored_turn = StoredTurn::default();
        }
        output.settle_moving(facts.frames > 1 && output.frame.is_none());
        // The only frame is the whole image.
        output.frame = output
            .frame
            .filter(|frame| (*frame, facts.frames) != (1, 1));
        let fewer = |most: &u32| *most < facts.frames && output.frame.is_none();
        output.most_frames = output.most_frames.filter(fewer);
        output.format = output
            .format
            .filter(|format| facts.replaced || format.as_str() != facts.format);
        // What is sRGB already is to be widened, if anything.
        if !facts.tagged && !facts.cmyk && output.profile != Profile::P3 {
            output.profile = Profile::default();
        }
        if !facts.metadata && output.stored_turn == StoredTurn::default() {
            output.metadata = Kept::default();
        }
        Ok(Recipe {
            steps: self.steps,
            output,
        })
    }

    fn orient(&mut self, facts: &Facts) {
        if !self.upright && !facts.orientation.is_upright() {
            self.push(Step::Orient);
            self.moved(facts.orientation);
        }
        self.upright = true;
    }

    fn turn(&mut self, turn: Orientation) {
        self.turned = self.turned.followed_by(turn);
        self.moved(turn);
    }

    /// Returns the measurement, on the image as stored, that finds the border of the image as turned so far.
    fn border(&self, tolerance: u8) -> Measure {
        Measure::Trim {
            tolerance,
            corner: self.seen.first_corner(),
        }
    }

    fn trim(&mut self, tolerance: u8, step: &Step, facts: &Facts) -> Result<(), ResolveError> {
        let Some(Area { x, y, w, h }) = facts.measured.area(self.border(tolerance)) else {
            return Err(ResolveError::new(step, "the border was not measured"));
        };
        let stored = (f64::from(facts.width), f64::from(facts.height));
        let [left, top, ..] = self.seen.part([x, y, x + w, y + h].map(f64::from), stored);
        let (w, h) = self.seen.size(w, h);
        self.cut(left as u32, top as u32, w, h);
        Ok(())
    }

    /// Applies a turn to the size, the focus and the measured areas.
    fn moved(&mut self, turn: Orientation) {
        self.seen = self.seen.followed_by(turn);
        let size = (f64::from(self.width), f64::from(self.height));
        self.carry(|point| turn.point(point, size));
        (self.width, self.height) = turn.size(self.width, self.height);
    }

    fn rotate(&mut self, degrees: f64, colour: Colour) {
        let degrees = degrees.rem_euclid(360.0);
        if degrees % 90.0 == 0.0 {
            let quarters = (degrees / 90.0) as u8;
            return self.turn(Orientation {
                mirror: false,
                quarters,
            });
        }
        let (width, height) = rotated_size(self.width, self.height, degrees);
        self.push(Step::Rotate { degrees, colour });
        // The middle stays the middle.
        let middle = (f64::from(self.width) / 2.0, f64::from(self.height) / 2.0);
        self.carry(|(x, y)| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let (x, y) = (x - middle.0, y - middle.1);
            (
                x * cos - y * sin + f64::from(width) / 2.0,
                x * sin + y * cos + f64::from(height) / 2.0,
            )
        });
        (self.width, self.height) = (width, height);
        self.alpha |= colour.a < u8::MAX;
    }

    fn shrink(&mut self, eighths: u8, step: &Step, facts: &Facts) -> Result<(), ResolveError> {
        let turns = |step: &Step| matches!(step, Step::Orient | Step::Turn(_) | Step::Flip(_));
        if !self.steps.iter().all(turns) {
            return Err(ResolveError::new(
                step,
                "it must come before all steps but orient, turn and flip",
            ));
        }
        if facts.shrinks {
            let scaled = |side: u32| (u64::from(side) * u64::from(eighths)).div_ceil(8) as u32;
            self.push(step.clone());
            self.resized(scaled(self.width), scaled(self.height));
        }
        Ok(())
    }

    fn crop(&mut self, crop: &Crop, step: &Step) -> Result<(), ResolveError> {
        let dpr = if self.scaled { self.dpr } else { 1.0 };
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let along = |length: Length, whole: f64| px(length, whole, dpr);
        let (at, (w, h)) = match *crop {
            Crop::At { x, y, w, h } => {
                let (left, right) = edges(along(x, width), along(w, width), self.width);
                let (top, bottom) = edges(along(y, height), along(h, height), self.height);
                (Some((left, top)), (right - left, bottom - top))
            }
            Crop::Towards { w, h, gravity } => {
                let w = (along(w, width).round() as u32).min(self.width);
                let h = (along(h, height).round() as u32).min(self.height);
                (self.kept((w, h), gravity), (w, h))
            }
        };
        if w == 0 || h == 0 {
            return Err(ResolveError::new(
                step,
                format!(
                    "nothing of the image is left: it is {}x{} px here",
                    self.width, self.height
                ),
            ));
        }
        self.keep(at, (w, h));
        Ok(())
    }

    /// Returns the left and top edge, in px, of a part of this size to keep; `None` if they depend on something that
    /// was not measured.
    fn kept(&self, (w, h): (u32, u32), gravity: Gravity) -> Option<(u32, u32)> {
        let room = (self.width - w, self.height - h);
        let point = match (gravity, &self.focus) {
            (Gravity::Centre, Some(Focus::Point(point))) => *point,
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
        // `as` saturates below 0.
        let around = |point: f64, length: u32| (point - f64::from(length) / 2.0).round() as u32;
        Some((
            around(point.0, w).min(room.0),
            around(point.1, h).min(room.1),
        ))
    }

    /// Crops to a part of size `(w, h)` whose upper left corner is `at`. Without `at`, adds a crop around what is yet
    /// to be measured.
    fn keep(&mut self, at: Option<(u32, u32)>, (w, h): (u32, u32)) {
        if let Some((x, y)) = at {
            self.cut(x, y, w, h);
        } else if (w, h) != (self.width, self.height) {
            self.settle();
            let sought = match self.focus {
                Some(Focus::Faces) => Step::Faces,
                _ => Step::Salient,
            };
            // No other point is set by a resolved recipe.
            let set = |step: &&Step| matches!(step, Step::Salient | Step::Faces);
            if self.steps.iter().rev().find(set) != Some(&sought) {
                self.steps.push(sought);
            }
            self.steps.push(Step::Crop(Crop::Towards {
                w: Length::Px(w.into()),
                h: Length::Px(h.into()),
                gravity: Gravity::Centre,
            }));
            (self.width, self.height) = (w, h);
        }
    }

    fn fit(&mut self, inside: Bounds, enlarge: bool, step: &Step) -> Result<(), ResolveError> {
        let whole = Length::Percent(100.0);
        let (w, h) = match inside {
            Bounds::Both(w, h) => self.boxed((w, h), step)?,
            Bounds::Width(w) => (self.boxed((w, whole), step)?.0, f64::INFINITY),
            Bounds::Height(h) => (f64::INFINITY, self.boxed((whole, h), step)?.1),
        };
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        if !enlarge && w >= width && h >= height {
            return Ok(());
        }
        if w * height <= h * width {
            self.scale(side(w), side(height * w / width));
        } else {
            self.scale(side(width * h / height), side(h));
        }
        Ok(())
    }

    fn cover(
        &mut self,
        size: (Length, Length),
        gravity: Gravity,
        enlarge: bool,
        step: &Step,
    ) -> Result<(), ResolveError> {
        let (w, h) = self.boxed(size, step)?;
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let shrinks = w < width && h < height;
        if enlarge || shrinks {
            if w * height >= h * width {
                self.scale(side(w), side((height * w / width).max(h)));
            } else {
                self.scale(side((width * h / height).max(w)), side(h));
            }
        }
        let part = (side(w).min(self.width), side(h).min(self.height));
        self.keep(self.kept(part, gravity), part);
        Ok(())
    }

    /// Converts the sides of a box to px. Sides that round to less than 1 px are an error.
    fn boxed(&self, (w, h): (Length, Length), step: &Step) -> Result<(f64, f64), ResolveError> {
        let w = px(w, self.width.into(), self.dpr);
        let h = px(h, self.height.into(), self.dpr);
        if w.round() < 1.0 || h.round() < 1.0 {
            return Err(ResolveError::new(
                step,
                format!(
                    "a result of {w}x{h} px has no pixels; width and height must be at least 1"
                ),
            ));
        }
        Ok((w, h))
    }

    fn pad(&mut self, pad: &Pad) {
        let scaled = |side: u32| (f64::from(side) * self.dpr).round() as u32;
        let (left, top) = (scaled(pad.left), scaled(pad.top));
        let width = self
            .width
            .saturating_add(left)
            .saturating_add(scaled(pad.right));
        let height = self
            .height
            .saturating_add(top)
            .saturating_add(scaled(pad.bottom));
        if (width, height) != (self.width, self.height) {
            self.lay((width, height), (left.into(), top.into()), pad.colour);
        }
    }

    fn canvas(&mut self, canvas: &Canvas) {
        let scaled = |side: f64| (side * self.dpr).round();
        let (w, h) = (side(scaled(canvas.w.into())), side(scaled(canvas.h.into())));
        let centred = |room: u32, length: u32| (i64::from(room) - i64::from(length)).div_euclid(2);
        let (x, y) = match canvas.at {
            Some((x, y)) => (scaled(x.into()) as i64, scaled(y.into()) as i64),
            None => (centred(w, self.width), centred(h, self.height)),
        };
        self.lay((w, h), (x, y), canvas.colour);
    }

    /// Lays the image on a canvas of size `(w, h)`, with its upper left corner at `(x, y)`. What hangs over is cut off
    /// first, so that it is never scaled.
    fn lay(&mut self, (w, h): (u32, u32), (x, y): (i64, i64), colour: Colour) {
        let across = visible(x, self.width, w);
        let down = visible(y, self.height, h);
        let (x, y) = match (across, down) {
            (Some((left, width)), Some((top, height))) => {
                self.cut(left, top, width, height);
                (x.max(0) as u32, y.max(0) as u32)
            }
            // Nothing of it is seen, wherever it lies.
            _ => (w, 0),
        };
        let covers = (x, y) == (0, 0) && (self.width, self.height) == (w, h);
        let shows = !covers || self.alpha;
        if !shows {
            return;
        }
        let invisible = covers && colour.a == 0;
        if !invisible {
            let place = |at: u32| i32::try_from(at).unwrap_or(i32::MAX);
            self.push(Step::Canvas(Canvas {
                w,
                h,
                colour,
                at: Some((place(x), place(y))),
            }));
        }
        self.alpha = colour.a < u8::MAX;
        self.carry(|point| (point.0 + f64::from(x), point.1 + f64::from(y)));
        (self.width, self.height) = (w, h);
    }

    /// Crops to a rectangle that lies inside the image, in px, and joins this with a crop directly before.
    fn cut(&mut self, x: u32, y: u32, w: u32, h: u32) {
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

    fn scale(&mut self, w: u32, h: u32) {
        self.scaled = true;
        if (w, h) != (self.width, self.height) {
            self.push(Step::exact(w, h));
            self.resized(w, h);
        }
    }

    fn resized(&mut self, w: u32, h: u32) {
        let ratio = (
            f64::from(w) / f64::from(self.width),
            f64::from(h) / f64::from(self.height),
        );
        self.carry(|(x, y)| (x * ratio.0, y * ratio.1));
        (self.width, self.height) = (w, h);
    }

    /// Moves the focus point and the measured areas to where a step moves them.
    fn carry(&mut self, to: impl Fn((f64, f64)) -> (f64, f64)) {
        if let Some(Focus::Point(point)) = &mut self.focus {
            *point = to(*point);
        }
        self.salient = self.salient.map(&to);
        if let Some(faces) = &mut self.faces {
            faces.carry(to);
        }
    }

    fn push(&mut self, step: Step) {
        self.settle();
        self.steps.push(step);
    }

    /// Adds the pending turns and flips to the steps.
    fn settle(&mut self) {
        self.steps.extend(std::mem::take(&mut self.turned).steps());
    }
}

/// Returns the centre of the area that was measured to draw the eye, in px of the stored image; `None` if it was not
/// measured.
fn salient(facts: &Facts) -> Option<(f64, f64)> {
    let Area { x, y, w, h } = facts.measured.area(Measure::Salient)?;
    let middle = |start: u32, length: u32| f64::from(start) + f64::from(length) / 2.0;
    Some((middle(x, w), middle(y, h)))
}

/// Whether a step contains a position or side larger than the recipe's text can express.
fn is_beyond_words(step: &Step) -> bool {
    let beyond = |px: f64| px > Length::MAX_PX;
    match *step {
        Step::Crop(Crop::At {
            x: Length::Px(x),
            y: Length::Px(y),
            w: Length::Px(w),
            h: Length::Px(h),
        }) => [x, y, w, h].into_iter().any(beyond),
        Step::Crop(Crop::Towards {
            w: Length::Px(w),
            h: Length::Px(h),
            ..
        })
        | Step::Exact {
            w: Length::Px(w),
            h: Length::Px(h),
        } => beyond(w) || beyond(h),
        Step::Canvas(Canvas { w, h, at, .. }) => {
            let (x, y) = at.unwrap_or_default();
            [w.into(), h.into(), x.into(), y.into()]
                .into_iter()
                .any(beyond)
        }
        _ => false,
    }
}

/// Whether a step may come before `trim`. Borders are measured on the image as stored, so it may have been turned or
/// flipped before but not changed otherwise.
fn comes_before_trim(step: &Step) -> bool {
    use Step::{Dpr, Faces, Flip, Focus, Orient, Salient, Turn};
    matches!(
        step,
        Orient | Turn(_) | Flip(_) | Dpr(_) | Focus { .. } | Salient | Faces
    )
}

/// Converts a length along a side of `whole` px to px. Lengths given in pixels are multiplied by `dpr`.
fn px(length: Length, whole: f64, dpr: f64) -> f64 {
    match length {
        Length::Px(px) => px * dpr,
        Length::Percent(_) => length.of(whole),
    }
}

/// Rounds a side to whole px, at least 1. A side longer than that of any image saturates, and a limit refuses it later.
fn side(length: f64) -> u32 {
    (length.round() as u32).max(1)
}

/// Returns the whole px at which the range from `start` to `start + length` begins and ends, clipped to `0..side`.
fn edges(start: f64, length: f64, side: u32) -> (u32, u32) {
    let start = (start.round() as u32).min(side);
    let end = start.saturating_add(length.round() as u32).min(side);
    (start, end)
}

/// Returns start and length, in px of the image, of the part of one side that lies on a canvas, if the image begins at
/// `at` on the canvas. Returns `None` if no part of it does.
fn visible(at: i64, length: u32, canvas: u32) -> Option<(u32, u32)> {
    let start = at.saturating_neg().clamp(0, length.into());
    let end = i64::from(canvas).saturating_sub(at).clamp(0, length.into());
    // Both lie within 0..=length, a u32.
    (start < end).then_some((start as u32, (end - start) as u32))
}

/// Returns the width and height in px that `steps` leave of a source; `None` if a step is not resolved to whole pixels.
#[must_use]
pub fn size_after(steps: &[Step], facts: &Facts) -> Option<(u32, u32)> {
    let source = (facts.width, facts.height);
    steps.iter().try_fold(source, |(width, height), step| {
        Some(match step {
            Step::Orient => facts.orientation.size(width, height),
            Step::Turn(Turn::R90 | Turn::R270) => (height, width),
            Step::Crop(
                Crop::At {
                    w: Length::Px(w),
                    h: Length::Px(h),
                    ..
                }
                | Crop::Towards {
                    w: Length::Px(w),
                    h: Length::Px(h),
                    ..
                },
            )
            | Step::Exact {
                w: Length::Px(w),
                h: Length::Px(h),
            } => (*w as u32, *h as u32),
            Step::Canvas(canvas) => (canvas.w, canvas.h),
            Step::Rotate { degrees, .. } => rotated_size(width, height, *degrees),
            Step::Shrink(eighths) => {
                let shrunk = |side: u32| (u64::from(side) * u64::from(*eighths)).div_ceil(8) as u32;
                (shrunk(width), shrunk(height))
            }
            Step::Original
            | Step::Turn(Turn::R180)
            | Step::Flip(_)
            | Step::Flatten(_)
            | Step::Salient
            | Step::Faces
            | Step::BlurFaces(_)
            | Step::Effect(_) => (width, height),
            _ => return None,
        })
    })
}

/// Returns the size in px that holds all of an image turned by any angle: its bounding box, rounded to the nearest px.
#[must_use]
pub fn rotated_size(width: u32, height: u32, degrees: f64) -> (u32, u32) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (w, h) = (f64::from(width), f64::from(height));
    (
        side(w * cos.abs() + h * sin.abs()),
        side(w * sin.abs() + h * cos.abs()),
    )
}

#[cfg(test)]
mod tests;
