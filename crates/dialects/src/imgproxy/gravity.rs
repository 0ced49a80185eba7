//! Gravities: which part of an image is kept, or where an overlay lies on it.
//!
//! Both axes are handled separately, so that turns and mirrorings need no table: a mirroring swaps start and end, and a
//! quarter turn swaps the axes.

use andon_recipe::{Focus, Orientation, Step};

use super::args::{self, Wrong};
use super::round;
use crate::geometry::FACES;

/// A gravity with its two offsets: which part of an image is kept, or where an overlay lies on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gravity {
    pub(super) kind: Kind,
    /// Horizontal offset in px or, if between -1 and 1, as a share of the width of the image that is cropped or drawn
    /// on. For a focal point, its position as a share of the width.
    pub(super) x: f64,
    pub(super) y: f64,
}

/// How a gravity selects a position. Its first argument names the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A side, a corner or the middle: for each axis, one end or the centre.
    Edges(Edge, Edge),
    /// Around a focal point, whose coordinates are the offsets.
    Focus,
    /// The salient part of the image.
    Smart,
    /// Faces in the image.
    Faces,
}

/// An end of an axis, or its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The left end of the horizontal axis, or the top of the vertical one.
    Start,
    Centre,
    /// The right end of the horizontal axis, or the bottom of the vertical one.
    End,
}

const EDGES: [(&str, Edge, Edge); 9] = [
    ("ce", Edge::Centre, Edge::Centre),
    ("no", Edge::Centre, Edge::Start),
    ("so", Edge::Centre, Edge::End),
    ("ea", Edge::End, Edge::Centre),
    ("we", Edge::Start, Edge::Centre),
    ("noea", Edge::End, Edge::Start),
    ("nowe", Edge::Start, Edge::Start),
    ("soea", Edge::End, Edge::End),
    ("sowe", Edge::Start, Edge::End),
];

/// The only kind of object that can be detected.
pub(super) const FACE: &str = "face";

impl Default for Gravity {
    fn default() -> Self {
        Self {
            kind: Kind::Edges(Edge::Centre, Edge::Centre),
            x: 0.0,
            y: 0.0,
        }
    }
}

impl Gravity {
    /// Replaces this gravity by the one in `arguments`, but keeps the offsets if the arguments have none. `smart` tells
    /// whether gravities that depend on the image's pixels are allowed.
    pub(super) fn read(&mut self, arguments: &[&str], smart: bool) -> Result<(), Wrong> {
        let [word, offsets @ ..] = arguments else {
            return Err("a gravity is missing".to_owned());
        };
        let edges = EDGES.iter().find(|(name, ..)| name == word);
        let kind = match (*word, edges) {
            (_, Some((_, x, y))) => Kind::Edges(*x, *y),
            ("fp", _) => Kind::Focus,
            ("obj" | "objw", _) if smart && FACES && offsets.contains(&FACE) => Kind::Faces,
            ("sm" | "obj" | "objw", _) if smart => Kind::Smart,
            _ => return Err(format!("`{word}` is no gravity here")),
        };
        let most = match *word {
            "sm" => 0,
            // Any number of names of objects, with weights. The weights have no effect, as at most one kind of object
            // is detected.
            "obj" | "objw" => usize::MAX,
            _ => 2,
        };
        if offsets.len() > most || (kind == Kind::Focus && offsets.len() < 2) {
            return Err(format!("`{word}` does not take {} offsets", offsets.len()));
        }
        self.kind = kind;
        if matches!(kind, Kind::Smart | Kind::Faces) {
            (self.x, self.y) = (0.0, 0.0);
            return Ok(());
        }
        let offset = |text: &str| match kind {
            Kind::Focus => args::number(text, 0.0, 1.0),
            _ => args::number(text, f64::MIN, f64::MAX),
        };
        for (text, place) in offsets.iter().zip([&mut self.x, &mut self.y]) {
            if !text.is_empty() || kind == Kind::Focus {
                *place = offset(text)?;
            }
        }
        Ok(())
    }

    /// Returns the step that detects the part to keep; `None` if the gravity does not depend on the image's pixels.
    pub(super) fn detection(self) -> Option<Step> {
        match self.kind {
            Kind::Smart => Some(Step::Focus(Focus::Salient)),
            Kind::Faces => Some(Step::Focus(Focus::Faces)),
            Kind::Edges(..) | Kind::Focus => None,
        }
    }

    /// Returns the gravity's arguments as text.
    pub(super) fn text(&self) -> String {
        let word = match self.kind {
            Kind::Edges(x, y) => {
                let row = EDGES.iter().find(|edges| (edges.1, edges.2) == (x, y));
                row.map_or("ce", |edges| edges.0)
            }
            Kind::Focus => "fp",
            Kind::Smart => return "sm".to_owned(),
            Kind::Faces => return format!("obj:{FACE}"),
        };
        format!("{word}:{}:{}", self.x, self.y)
    }

    /// Returns the position in px of an inner size within an outer one. Offsets in px are multiplied by `dpr`. With
    /// `overhang` the inner part may extend over the edges, as long as 1 px of it is visible.
    pub(super) fn place(
        &self,
        outer: (i64, i64),
        inner: (i64, i64),
        dpr: f64,
        overhang: bool,
    ) -> (i64, i64) {
        self.stored_axes(Orientation::default())
            .place(outer, inner, dpr, overhang)
    }

    /// Returns the position of an overlay of unknown size on an outer one, in the engine's syntax: px, or percent (`p`)
    /// of the free space next to the overlay plus px. A transparent margin of `margin` px around the overlay is not
    /// counted.
    pub(super) fn place_of_any(
        &self,
        outer: (i64, i64),
        dpr: f64,
        margin: i64,
    ) -> (String, String) {
        let Axes { x, y } = self.stored_axes(Orientation::default());
        (
            x.place_of_any(outer.0, dpr, margin),
            y.place_of_any(outer.1, dpr, margin),
        )
    }

    /// Returns the horizontal and vertical gaps in px between copies of a repeated overlay, which are given by the
    /// offsets.
    pub(super) fn spacing(&self, outer: (i64, i64), dpr: f64) -> (i64, i64) {
        let px = |offset: f64, side: i64| shift(offset, side, dpr).clamp(0, side.max(0));
        (px(self.x, outer.0), px(self.y, outer.1))
    }

    /// Returns the side or corner of an image at which something is placed, as a word of recipes such as `northwest`, and
    /// the horizontal and vertical distance from it in px. The distance is 0 along an axis on which the place is the
    /// middle. `outer` is the image's size in px.
    pub(super) fn corner(&self, outer: (i64, i64), dpr: f64) -> (String, (i64, i64)) {
        let Axes { x, y } = self.stored_axes(Orientation::default());
        let word = |anchor: Anchor, [start, end]: [&'static str; 2], side: i64| match anchor {
            Anchor::Edge(Edge::Start, offset) => (start, shift(offset, side, dpr)),
            Anchor::Edge(Edge::End, offset) => (end, shift(offset, side, dpr)),
            Anchor::Edge(Edge::Centre, _) | Anchor::Point(_) => ("", 0),
        };
        let (across, x) = word(x, ["west", "east"], outer.0);
        let (down, y) = word(y, ["north", "south"], outer.1);
        let corner = match format!("{down}{across}") {
            side if side.is_empty() => "centre".to_owned(),
            side => side,
        };
        (corner, (x, y))
    }

    /// Returns the gravity along both axes of the stored image, before it is turned and mirrored as `turns` says.
    pub(super) fn stored_axes(&self, turns: Orientation) -> Axes {
        let (x, y) = match self.kind {
            Kind::Edges(x, y) => (Anchor::Edge(x, self.x), Anchor::Edge(y, self.y)),
            Kind::Focus => (Anchor::Point(self.x), Anchor::Point(self.y)),
            Kind::Smart | Kind::Faces => (
                Anchor::Edge(Edge::Centre, 0.0),
                Anchor::Edge(Edge::Centre, 0.0),
            ),
        };
        let mut axes = Axes { x, y };
        // A clockwise quarter turn brings the left edge to the top, and the bottom edge to the left.
        for _ in 0..turns.quarters {
            axes = Axes {
                x: axes.y,
                y: axes.x.mirrored(),
            };
        }
        if turns.mirror {
            axes.x = axes.x.mirrored();
        }
        axes
    }
}

/// A gravity along both axes of the stored image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axes {
    x: Anchor,
    y: Anchor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    /// At this end of the axis, or at its centre, moved by an offset. From an end, positive offsets move inwards.
    Edge(Edge, f64),
    /// Around a point, given as a share of the side.
    Point(f64),
}

impl Axes {
    /// Returns the position of an inner size within an outer one, as [`Gravity::place`] does.
    pub(super) fn place(
        &self,
        outer: (i64, i64),
        inner: (i64, i64),
        dpr: f64,
        overhang: bool,
    ) -> (i64, i64) {
        (
            self.x.place(outer.0, inner.0, dpr, overhang),
            self.y.place(outer.1, inner.1, dpr, overhang),
        )
    }
}

/// Converts an offset along a side to px, rounded. Offsets between -1 and 1 are shares of `side`.
fn shift(offset: f64, side: i64, dpr: f64) -> i64 {
    match offset.abs() >= 1.0 {
        true => round::even(offset * dpr),
        false => round::even(side as f64 * offset),
    }
}

impl Anchor {
    /// Returns the position of an overlay of any size; see [`Gravity::place_of_any`].
    fn place_of_any(self, outer: i64, dpr: f64, margin: i64) -> String {
        let with_offset = |share: &str, px: i64| match px {
            0 => share.to_owned(),
            px => format!("{share}{px:+}"),
        };
        match self {
            Self::Edge(Edge::Start, offset) => {
                shift(offset, outer, dpr).saturating_sub(margin).to_string()
            }
            Self::Edge(Edge::Centre, offset) => with_offset("50p", shift(offset, outer, dpr)),
            Self::Edge(Edge::End, offset) => {
                with_offset("100p", margin.saturating_sub(shift(offset, outer, dpr)))
            }
            // Unreachable: no option places a watermark at a focal point.
            Self::Point(_) => "50p".to_owned(),
        }
    }

    fn mirrored(self) -> Self {
        match self {
            Self::Edge(Edge::Start, offset) => Self::Edge(Edge::End, offset),
            Self::Edge(Edge::Centre, offset) => Self::Edge(Edge::Centre, -offset),
            Self::Edge(Edge::End, offset) => Self::Edge(Edge::Start, offset),
            Self::Point(share) => Self::Point(1.0 - share),
        }
    }

    fn place(self, outer: i64, inner: i64, dpr: f64, overhang: bool) -> i64 {
        let room = outer.saturating_sub(inner);
        let shift = |offset| shift(offset, outer, dpr);
        let start = match self {
            Self::Edge(Edge::Start, offset) => shift(offset),
            Self::Edge(Edge::Centre, offset) => {
                round::even((room + 1) as f64 / 2.0).saturating_add(shift(offset))
            }
            Self::Edge(Edge::End, offset) => room.saturating_sub(shift(offset)),
            Self::Point(share) => round::even(outer as f64 * share) - inner / 2,
        };
        let (least, most) = match overhang {
            true => (1 - inner, outer - 1),
            false => (0, room),
        };
        start.min(most).max(least)
    }
}
