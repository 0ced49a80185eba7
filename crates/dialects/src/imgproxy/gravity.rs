//! Gravities: which part of a side is kept, or where something lies along it.
//!
//! The two sides are apart, so that turns and mirrorings need no table: a mirroring exchanges start and end, a
//! quarter turn the sides.

use andon_recipe::{Orientation, Step};

use super::args::{self, Wrong};
use super::round;
use crate::geometry::FACES;

/// The arguments of a gravity: a word and two offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gravity {
    pub(super) kind: Kind,
    /// Offsets: from 1 px on in px, below in shares of the outer side. Of a focal point: where it is.
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A gravity's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A side, a corner or the middle: one end of each axis, or neither.
    Edges(Edge, Edge),
    /// The point named by the offsets.
    Focus,
    /// What catches the eye.
    Smart,
    /// Faces.
    Faces,
}

/// Which end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Left or top.
    Start,
    Centre,
    /// Right or bottom.
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

/// The object that can be looked for.
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
    /// Arguments, over what was said before: a gravity without offsets keeps those that there are. `smart`: may it
    /// look at the image?
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
            // Names, and weights, which mean nothing where at most one of them is looked for.
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

    /// The step that looks for what is kept, if something is looked for.
    pub(super) fn sought(self) -> Option<Step> {
        match self.kind {
            Kind::Smart => Some(Step::Salient),
            Kind::Faces => Some(Step::Faces),
            Kind::Edges(..) | Kind::Focus => None,
        }
    }

    /// Its arguments.
    pub(super) fn text(&self) -> String {
        let word = match self.kind {
            Kind::Edges(x, y) => {
                let named = EDGES.iter().find(|edges| (edges.1, edges.2) == (x, y));
                named.map_or("ce", |edges| edges.0)
            }
            Kind::Focus => "fp",
            Kind::Smart => return "sm".to_owned(),
            Kind::Faces => return format!("obj:{FACE}"),
        };
        format!("{word}:{}:{}", self.x, self.y)
    }

    /// Where an inner size lies in an outer one; with `overhang` it may hang out, but one px must show.
    pub(super) fn place(
        &self,
        outer: (i64, i64),
        inner: (i64, i64),
        dpr: f64,
        overhang: bool,
    ) -> (i64, i64) {
        self.seen(Orientation::default())
            .place(outer, inner, dpr, overhang)
    }

    /// Its place on both axes, for an image before it is turned.
    pub(super) fn seen(&self, turned: Orientation) -> Axes {
        let (x, y) = match self.kind {
            Kind::Edges(x, y) => (Anchor::Edge(x, self.x), Anchor::Edge(y, self.y)),
            Kind::Focus => (Anchor::Point(self.x), Anchor::Point(self.y)),
            Kind::Smart | Kind::Faces => (
                Anchor::Edge(Edge::Centre, 0.0),
                Anchor::Edge(Edge::Centre, 0.0),
            ),
        };
        let mut axes = Axes { x, y };
        // A clockwise quarter shows the left edge on top, and the bottom at the left.
        for _ in 0..turned.quarters {
            axes = Axes {
                x: axes.y,
                y: axes.x.mirrored(),
            };
        }
        if turned.mirror {
            axes.x = axes.x.mirrored();
        }
        axes
    }
}

/// A gravity in the image as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axes {
    x: Anchor,
    y: Anchor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    /// At an edge, this far inwards.
    Edge(Edge, f64),
    /// Around a point: a share of the side.
    Point(f64),
}

impl Axes {
    /// As [`Gravity::place`].
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

impl Anchor {
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
        let shift = |offset: f64| match offset.abs() >= 1.0 {
            true => round::even(offset * dpr),
            false => round::even(outer as f64 * offset),
        };
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
