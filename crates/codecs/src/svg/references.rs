//! The cost of a document when `usvg` and `resvg` follow every reference in it: the depth of recursion, and the work
//! and memory including all repetitions.
//!
//! `usvg` and `resvg` convert or draw the contents of paint servers, clip paths, masks, filters, markers and images
//! once for each reference to them. This module visits each element once, stores its weight, and does not recurse.

use std::collections::HashMap;
use std::iter;

use andon_pixels::{Error, Result};
use svgtypes::{NumberListParser, PathParser, PathSegment};

use super::document::unsupported;
use super::outline::{Element, Outline, Property, Reference, Tag, href};
use super::steps::Steps;
use super::strokes;

/// Maximum nesting depth of elements. Elements that are referred to, including drawings in images, count as nested in
/// the element that refers to them. Drawing the maximum depth takes 0.8 MB of stack; threads that process images have
/// [`andon_pixels::STACK`].
pub(super) const LEVELS: u32 = 200;

/// Number of levels that a reference counts as, because following a reference takes several times the stack of visiting
/// a child.
const REFERENCE: u32 = 6;

/// Maximum length of a chain of templates of a gradient, pattern or filter, where each refers to the next with `href`.
const TEMPLATES: usize = 100;

/// The cost of an element, including its content and the elements to which it refers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weight {
    /// Work and memory. One unit is about a microsecond of `usvg`'s time and some hundred bytes of its memory.
    pub(super) units: u64,
    /// Depth of recursion.
    pub(super) levels: u32,
    /// Additional time for reading the element and stroking its curves, in ns.
    pub(super) nanos: f64,
}

/// Follows every reference and returns the weight of the document. `nested` returns the weight of the document in a
/// `data:` URL, if the URL contains one.
///
/// # Errors
/// `Unsupported` for documents over the limits on nesting depth, chains of templates and steps, and for cycles of
/// references.
pub(super) fn follow<'a>(
    outline: Outline<'a>,
    steps: &'a Steps,
    nested: &dyn Fn(&'a str) -> Result<Weight>,
) -> Result<Weight> {
    let mut walk = Walk {
        outline,
        steps,
        nested,
        images: HashMap::new(),
    };
    walk.remove_cycles()?;
    walk.inherit();
    walk.templates()?;
    walk.weigh()
}

struct Walk<'a, 'f> {
    outline: Outline<'a>,
    steps: &'a Steps,
    nested: &'f dyn Fn(&'a str) -> Result<Weight>,
    /// The costs of the documents in images, by the number of the image's node.
    images: HashMap<u32, Weight>,
}

/// An edge from an element to a child or to an element that it refers to.
#[derive(Clone, Copy)]
struct Side {
    to: Place,
    times: u64,
    is_reference: bool,
}

/// An element and the context in which it is visited.
#[derive(Clone, Copy, PartialEq)]
struct Place {
    element: usize,
    /// Whether the element is visited within a clip path, in which paints, masks and filters are ignored.
    clips: bool,
}

impl Place {
    /// Whether elements with `tag` are drawn in this context where they stand in the document, and not only where
    /// others refer to them.
    fn draws(self, tag: Tag) -> bool {
        match self.clips {
            true => tag.is_graphic(),
            false => tag.is_drawn(),
        }
    }

    fn number(self) -> usize {
        2 * self.element + usize::from(self.clips)
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Unseen,
    Open,
    Known(Weight),
}

impl<'a> Walk<'a, '_> {
    fn elements(&self) -> &[Element<'a>] {
        &self.outline.elements
    }

    fn refers(&self, element: usize, property: Property) -> Reference<'a> {
        self.elements()[element].refers[property as usize]
    }

    fn target(&self, element: usize, property: Property) -> Option<usize> {
        self.outline.target(self.refers(element, property))
    }

    /// Removes the references that `usvg` removes, too: references of a pattern, clip path, mask or filter to itself,
    /// and references back to it from an element that it refers to. Longer cycles are rejected later.
    fn remove_cycles(&mut self) -> Result<()> {
        for (tag, property) in [
            (Tag::Pattern, Property::Fill),
            (Tag::Pattern, Property::Stroke),
            (Tag::ClipPath, Property::ClipPath),
            (Tag::Mask, Property::Mask),
            (Tag::Filter, Property::Filter),
        ] {
            // `usvg` starts its search again after each reference that it removes.
            let steps_before = self.steps.left();
            let removed = self.remove_cycles_of(tag, property)?;
            let pass = steps_before - self.steps.left();
            self.steps.spend(pass.saturating_mul(removed), LOOPS)?;
        }
        for element in 0..self.elements().len() {
            if self.elements()[element].tag != Tag::FeImage {
                continue;
            }
            let filter = self.elements()[self.elements()[element].parent]
                .node
                .attribute("id");
            let Some(link) = self.target(element, Property::Href) else {
                continue;
            };
            let is_filter = |id: &&str| Some(*id) == filter;
            let back = match self.refers(link, Property::Filter) {
                Reference::Id(id) => is_filter(&id),
                Reference::List(list) => self.outline.lists[list].iter().any(is_filter),
                _ => false,
            };
            if back {
                self.outline.elements[link].refers[Property::Filter as usize] = Reference::Nothing;
            }
        }
        Ok(())
    }

    /// Removes references with `property` from elements with `tag` to themselves, directly or through one other
    /// element, and returns the number of removed references.
    fn remove_cycles_of(&mut self, tag: Tag, property: Property) -> Result<u64> {
        let mut removed = 0;
        for holder in 0..self.elements().len() {
            self.steps.spend(1, LOOPS)?;
            if self.elements()[holder].tag != tag {
                continue;
            }
            let mut remove = |walk: &mut Self, element: usize| {
                walk.outline.elements[element].refers[property as usize] = Reference::Nothing;
                removed += 1;
            };
            for inner in holder..self.elements()[holder].end {
                self.steps.spend(1, LOOPS)?;
                let Some(link) = self.target(inner, property) else {
                    continue;
                };
                if link == holder {
                    remove(self, inner);
                    continue;
                }
                for back in link..self.elements()[link].end {
                    self.steps.spend(1, LOOPS)?;
                    if self.target(back, property) == Some(holder) {
                        remove(self, back);
                    }
                }
            }
        }
        Ok(removed)
    }

    /// Copies inherited references to elements. Parents come before their children.
    fn inherit(&mut self) {
        for element in 1..self.outline.elements.len() {
            let (before, from) = self.outline.elements.split_at_mut(element);
            let Some(element) = from.first_mut() else {
                continue;
            };
            let parent = &before[element.parent];
            for property in Property::INHERITED {
                let reference = &mut element.refers[property as usize];
                if *reference == Reference::Absent {
                    *reference = parent.refers[property as usize];
                }
            }
            for property in Property::OWN {
                let reference = &mut element.refers[property as usize];
                if *reference == Reference::Parent {
                    *reference = parent.refers[property as usize];
                }
            }
        }
    }

    /// Checks the chains of templates: gradients, patterns and filters that refer to others of their kind with `href`.
    ///
    /// # Errors
    /// `Unsupported` for long chains, and for cycles that do not return to the first template, which `usvg` does not
    /// detect.
    fn templates(&self) -> Result<()> {
        for (first, element) in self.elements().iter().enumerate() {
            if !matches!(element.tag, Tag::Pattern | Tag::Gradient | Tag::Filter) {
                continue;
            }
            let mut current = first;
            for length in 0.. {
                let Some(next) = self.target(current, Property::Href) else {
                    break;
                };
                if next == current || next == first {
                    break;
                }
                if length == TEMPLATES {
                    return Err(unsupported(format!(
                        "more than {TEMPLATES} templates of gradients, patterns or filters in a row"
                    )));
                }
                current = next;
            }
        }
        Ok(())
    }

    /// Computes the weight (cost) of every drawn element, after those of its children and of the elements that it
    /// refers to. Returns the weight of the root.
    fn weigh(&mut self) -> Result<Weight> {
        // Two states for each element, within and outside of clip paths, and for the pseudo-element of a context's
        // paints.
        let mut states = vec![State::Unseen; 2 * self.elements().len() + 2];
        let root = Place {
            element: 0,
            clips: false,
        };
        let mut sides = Vec::new();
        let mut open = vec![self.open(root, &mut sides, &mut states)?];
        while let Some(last) = open.last_mut() {
            if last.next < sides.len() {
                let side: Side = sides[last.next];
                match states[side.to.number()] {
                    State::Unseen => {
                        let next = self.open(side.to, &mut sides, &mut states)?;
                        open.push(next);
                    }
                    State::Open => return Err(self.circle(side.to)),
                    State::Known(weight) => {
                        last.next += 1;
                        last.add(side, weight);
                    }
                }
                continue;
            }
            if last.weight.levels > LEVELS {
                return Err(unsupported(format!(
                    "elements and references nested more than {LEVELS} deep"
                )));
            }
            states[last.place.number()] = State::Known(last.weight);
            sides.truncate(last.first);
            open.pop();
        }
        match states[root.number()] {
            State::Known(weight) => Ok(weight),
            _ => Ok(Weight::default()),
        }
    }

    fn open(&mut self, place: Place, sides: &mut Vec<Side>, states: &mut [State]) -> Result<Visit> {
        states[place.number()] = State::Open;
        let first = sides.len();
        let weight = match place.element == self.elements().len() {
            true => {
                let patterns = self.elements().iter().enumerate();
                let patterns = patterns.filter(|(_, element)| element.tag == Tag::Pattern);
                sides.extend(patterns.map(|(element, _)| Side::to(element)));
                Weight::default()
            }
            false => self.sides_of(place, sides)?,
        };
        self.steps
            .spend((sides.len() - first) as u64, "references")?;
        Ok(Visit {
            place,
            first,
            next: first,
            weight,
            is_choice: place.element == self.elements().len(),
        })
    }

    fn circle(&self, to: Place) -> Error {
        let element = self.elements().get(to.element);
        unsupported(match element {
            None => "a context-fill or context-stroke within a pattern".to_owned(),
            Some(element) => format!(
                "references that lead back to the {} element with the id `{}`",
                element.node.tag_name().name(),
                element.node.attribute("id").unwrap_or_default(),
            ),
        })
    }

    /// Appends the edges from an element to its children, and to all elements that it refers to, to `sides`. Returns
    /// the cost of the element alone.
    fn sides_of(&mut self, place: Place, sides: &mut Vec<Side>) -> Result<Weight> {
        let Place { element, clips } = place;
        let tag = self.elements()[element].tag;
        let mut weight = Weight {
            units: self.inside(place, sides),
            levels: 1,
            nanos: 0.0,
        };
        if matches!(tag, Tag::Image | Tag::FeImage) {
            let link = self.target(element, Property::Href);
            if let Some(link) = link.filter(|_| tag == Tag::FeImage) {
                self.shown_element(link, sides)?;
            } else {
                let image = self.image(element)?;
                weight.units = weight.units.saturating_add(image.units);
                weight.levels += image.levels + REFERENCE;
                weight.nanos += image.nanos;
            }
        }
        if place.draws(tag) || tag == Tag::Symbol {
            weight.units += self.elements()[element].above as u64 / ABOVE;
            self.clips(element, sides);
            if !clips {
                self.masks(element, sides);
                self.filters(element, sides);
            }
        }
        if !clips {
            self.paints(element, sides);
            if tag == Tag::Shape {
                self.markers(element, sides)?;
                weight.nanos += self.strokes(element)?;
            }
        }
        Ok(weight)
    }

    /// Appends the edges to an element's content to `sides`. For a mask or a clip path, these include the masks or clip
    /// paths that apply to it. Returns the cost of the element alone, in units.
    fn inside(&self, place: Place, sides: &mut Vec<Side>) -> u64 {
        let Place { element, clips } = place;
        let node = &self.elements()[element];
        let is_drawn = |tag: Tag| place.draws(tag);
        let mut units = 1 + node.bytes as u64 / BYTES;
        match node.tag {
            Tag::Group | Tag::Symbol => self.children(element, is_drawn, clips, sides),
            Tag::Use => {
                let is_repeated = |tag| is_drawn(tag) || tag == Tag::Symbol && !clips;
                self.children(element, is_repeated, clips, sides);
            }
            Tag::Marker => self.children(element, Tag::is_drawn, false, sides),
            Tag::Mask => {
                self.children(element, Tag::is_drawn, false, sides);
                self.masks(element, sides);
            }
            Tag::ClipPath => {
                self.children(element, Tag::is_graphic, true, sides);
                self.clips(element, sides);
            }
            Tag::Pattern => {
                let template = self.template(element);
                self.children(template, Tag::is_drawn, false, sides);
            }
            Tag::Gradient => {
                let stops = self.count(self.template(element));
                // `usvg` removes equal stops one by one, each time moving the following ones.
                units += stops / STOPS + stops * stops / (1000 * STOPS);
            }
            Tag::Filter => {
                let template = self.template(element);
                let primitives = self.count(template);
                // `usvg` searches for each primitive's name among all before it, and reads the primitives' attributes
                // for each user.
                let inside = &self.elements()[template..self.elements()[template].end];
                let bytes: u64 = inside.iter().map(|element| element.bytes as u64).sum();
                units += primitives + primitives * primitives / 64 + bytes / BYTES;
                self.children(template, |tag| tag == Tag::FeImage, false, sides);
            }
            Tag::Text | Tag::Span | Tag::TextPath => {
                if node.tag == Tag::Text {
                    units = units.saturating_add(self.letters(element));
                }
                let path = self.target(element, Property::Href);
                if let Some(path) = path.filter(|_| node.tag == Tag::TextPath) {
                    units += self.elements()[path].bytes as u64 / PATH_BYTES;
                }
                self.children(element, |_| true, clips, sides);
            }
            Tag::Shape | Tag::Image | Tag::FeImage | Tag::Other => {}
        }
        units
    }

    /// Appends to `sides` an edge to each child of an element for whose tag `is_wanted` returns true.
    fn children(
        &self,
        parent: usize,
        is_wanted: impl Fn(Tag) -> bool,
        clips: bool,
        sides: &mut Vec<Side>,
    ) {
        let children = self.inner(parent);
        let selection = children.filter(|child| is_wanted(self.elements()[*child].tag));
        sides.extend(selection.map(|element| Side {
            to: Place { element, clips },
            times: 1,
            is_reference: false,
        }));
    }

    /// Returns the number of an element's children.
    fn count(&self, parent: usize) -> u64 {
        self.inner(parent).count() as u64
    }

    /// Returns the indices of an element's children.
    fn inner(&self, parent: usize) -> impl Iterator<Item = usize> {
        let elements = self.elements();
        let is_inside = move |child: &usize| *child < elements[parent].end;
        let first = Some(parent + 1).filter(is_inside);
        iter::successors(first, move |child| {
            Some(elements[*child].end).filter(is_inside)
        })
    }

    /// Returns the units of work for a text. For each letter, the layout visits all letters before it.
    fn letters(&self, text: usize) -> u64 {
        let parts = &self.elements()[text..self.elements()[text].end];
        let letters = parts.iter().map(|part| part.letters as u64).sum::<u64>();
        let walked = letters.saturating_mul(letters + SPAN * parts.len() as u64);
        // The outline and position of a letter take about half a kilobyte.
        (letters - letters / 4 + PART * parts.len() as u64).saturating_add(walked / LAYOUT)
    }

    /// Returns the element whose children are used as an element's content: the first one with children in the chain
    /// that consists of the element and its templates, or the element itself if none has any.
    fn template(&self, element: usize) -> usize {
        let tag = self.elements()[element].tag;
        let mut current = element;
        for _ in 0..=TEMPLATES {
            if self.elements()[current].end > current + 1 {
                return current;
            }
            let next = self.target(current, Property::Href);
            match next.filter(|next| self.elements()[*next].tag == tag && *next != element) {
                Some(next) => current = next,
                None => break,
            }
        }
        element
    }

    /// Appends an edge to the clip path of a drawn element or of a clip path.
    fn clips(&self, element: usize, sides: &mut Vec<Side>) {
        let clip = self.target(element, Property::ClipPath);
        let clip = clip.filter(|clip| self.elements()[*clip].tag == Tag::ClipPath);
        sides.extend(clip.map(|element| Side {
            to: Place {
                element,
                clips: true,
            },
            ..Side::to(element)
        }));
    }

    /// Appends an edge to the mask of a drawn element or of a mask.
    fn masks(&self, element: usize, sides: &mut Vec<Side>) {
        let mask = self.target(element, Property::Mask);
        let mask = mask.filter(|mask| self.elements()[*mask].tag == Tag::Mask);
        sides.extend(mask.map(Side::to));
    }

    /// Appends edges to the filters of a drawn element.
    fn filters(&self, element: usize, sides: &mut Vec<Side>) {
        let filter = |id: &&str| {
            let filter = self.outline.ids.get(*id).copied();
            filter.filter(|filter| self.elements()[*filter].tag == Tag::Filter)
        };
        match self.refers(element, Property::Filter) {
            Reference::Id(id) => sides.extend(filter(&id).map(Side::to)),
            Reference::List(list) => {
                let filters = self.outline.lists[list].iter().filter_map(filter);
                sides.extend(filters.map(Side::to));
            }
            _ => {}
        }
    }

    /// Appends edges to the paints that fill and stroke an element. In a text they are counted once per letter, because
    /// each may be a separate outline.
    fn paints(&self, element: usize, sides: &mut Vec<Side>) {
        let node = &self.elements()[element];
        let times = match node.tag {
            Tag::Shape | Tag::Use => 1,
            Tag::Text | Tag::Span | Tag::TextPath => node.letters as u64,
            _ => return,
        };
        for property in [Property::Fill, Property::Stroke] {
            let paint = match self.refers(element, property) {
                Reference::Context => Some(self.elements().len()),
                reference => self.outline.target(reference).filter(|paint| {
                    matches!(self.elements()[*paint].tag, Tag::Pattern | Tag::Gradient)
                }),
            };
            sides.extend(paint.map(|paint| Side {
                times,
                ..Side::to(paint)
            }));
        }
    }

    /// Returns the time for stroking the curves of a shape, in ns. Reads the shape's outline again to count them.
    fn strokes(&self, element: usize) -> Result<f64> {
        let node = &self.elements()[element];
        if let Reference::Absent | Reference::Nothing = self.refers(element, Property::Stroke) {
            return Ok(0.0);
        }
        self.outline_of(node)?;
        let plain = strokes::shape(node.node, 1.0);
        if !node.is_turned {
            return Ok(plain);
        }
        // The outline is read again because it is transformed.
        self.outline_of(node)?;
        let larger = match node.is_marker {
            true => self.outline.widest,
            false => 1.0,
        };
        Ok(plain + strokes::shape(node.node, node.scale * larger))
    }

    /// Appends edges to the markers on the vertices of a shape. If the shape is inside the marker itself, that marker
    /// is left out.
    fn markers(&self, element: usize, sides: &mut Vec<Side>) -> Result<()> {
        for property in Property::MARKERS {
            let Some(marker) = self.target(element, property) else {
                continue;
            };
            let around = &self.elements()[marker];
            let is_within = (marker..around.end).contains(&element);
            if around.tag != Tag::Marker || is_within {
                continue;
            }
            let times = match property {
                Property::MarkerMid => vertices(self.outline_of(&self.elements()[element])?),
                _ => 1,
            };
            sides.push(Side {
                times,
                ..Side::to(marker)
            });
        }
        Ok(())
    }

    /// Counts the steps for reading an element's outline again towards the limit, and returns the element.
    fn outline_of<'e>(&self, element: &'e Element<'a>) -> Result<&'e Element<'a>> {
        let steps = element.bytes as u64 * 3 / 2;
        self.steps.spend(steps, "outlines")?;
        Ok(element)
    }

    /// Appends an edge to the element that a filter shows (`feImage`).
    ///
    /// # Errors
    /// `Unsupported` within a marker.
    fn shown_element(&self, element: usize, sides: &mut Vec<Side>) -> Result<()> {
        let mut around = element;
        while around > 0 {
            around = self.elements()[around].parent;
            if self.elements()[around].tag == Tag::Marker {
                return Err(unsupported(
                    "a filter that shows a part of a marker".to_owned(),
                ));
            }
        }
        if self.elements()[element].tag.is_drawn() {
            sides.push(Side::to(element));
        }
        Ok(())
    }

    /// Returns the weight of the document in an image. Each image is opened only once.
    fn image(&mut self, element: usize) -> Result<Weight> {
        let node = self.elements()[element].node;
        let Some(url) = href(node) else {
            return Ok(Weight::default());
        };
        if let Some(weight) = self.images.get(&node.id().get()) {
            return Ok(*weight);
        }
        let weight = (self.nested)(url)?;
        self.images.insert(node.id().get(), weight);
        Ok(weight)
    }
}

/// The state of an element whose edges are being followed.
struct Visit {
    place: Place,
    /// Index of the element's first edge in the list of the edges of all elements that are being visited. The edges of
    /// the element that is visited next inside this one begin where its own end.
    first: usize,
    next: usize,
    weight: Weight,
    /// Whether drawing follows only one of the element's edges. Then the units of the most expensive edge count instead
    /// of the sum of all.
    is_choice: bool,
}

impl Visit {
    fn add(&mut self, side: Side, weight: Weight) {
        let units = weight.units.saturating_mul(side.times);
        self.weight.units = match self.is_choice {
            true => self.weight.units.max(units),
            false => self.weight.units.saturating_add(units),
        };
        self.weight.nanos += weight.nanos * side.times as f64;
        let step = if side.is_reference { REFERENCE } else { 1 };
        self.weight.levels = self.weight.levels.max(weight.levels + step);
    }
}

impl Side {
    /// Returns an edge to an element for a reference that drawing follows once.
    fn to(element: usize) -> Self {
        Self {
            to: Place {
                element,
                clips: false,
            },
            times: 1,
            is_reference: true,
        }
    }
}

/// Returns an upper bound on the number of a shape's vertices.
fn vertices(element: &Element<'_>) -> u64 {
    if let Some(points) = element.node.attribute("points") {
        return NumberListParser::from(points).count() as u64 / 2;
    }
    let outline = element.node.attribute("d").unwrap_or_default();
    let segments = PathParser::from(outline).map_while(Result::ok);
    let vertices = segments.map(|segment| match segment {
        PathSegment::EllipticalArc { .. } => ARC,
        _ => 1,
    });
    // The maximum for a rounded rectangle.
    match element.node.tag_name().name() {
        "path" => vertices.sum(),
        _ => 10,
    }
}

/// Upper bound on the number of curves of an arc of any size.
const ARC: u64 = 40;

/// Number of bytes of attributes that cost as much to read as an element, which is one unit.
const BYTES: u64 = 100;

/// Number of attributes of an element and its ancestors that cost as much as an element, which is one unit, because all
/// of them are searched for inherited properties.
const ABOVE: u64 = 50;

/// Number of gradient stops that cost as much to copy as an element, which is one unit.
const STOPS: u64 = 8;

/// Number of bytes of a path's outline that cost as much to process as an element, which is one unit.
const PATH_BYTES: u64 = 20;

/// Cost of each element of a text (`text`, `tspan` or `textPath`), for finding its font, in the unit of
/// [`Weight::units`].
const PART: u64 = 8;

/// Number of visits to letters that cost as much as an element, which is one unit. The layout of a text visits all of
/// its letters once for each letter.
const LAYOUT: u64 = 1000;

/// Number of letters that take as long to visit as an element (`text`, `tspan` or `textPath`) of a text.
const SPAN: u64 = 16;

const LOOPS: &str = "references between patterns, clip paths, masks and filters";
