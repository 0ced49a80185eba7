//! The elements of a document as `usvg` reads them: repetitions by `use` are included, styles are applied, and unknown
//! elements are left out with their content.

use std::collections::HashMap;
use std::rc::Rc;

use andon_pixels::Result;
use resvg::usvg::roxmltree::{Attribute, Document, Node};
use simplecss::Declaration;
use svgtypes::{
    FilterValue, FilterValueListParser, FontShorthand, FuncIRI, IRI, Length, LengthUnit,
};

use super::css::Css;
use super::document::unsupported;
use super::ground::Ground;
use super::numbers::{self, Side};
use super::size::FONT_SIZE;
use super::steps::Steps;

/// Maximum number of elements, including repetitions by `use`.
pub(super) const ELEMENTS: usize = 50_000;

/// Maximum nesting depth of elements.
pub(super) const DEPTH: usize = 200;

const SVG: &str = "http://www.w3.org/2000/svg";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Every element of the document in the order in which `usvg` reads them.
pub(super) struct Outline<'a> {
    pub(super) elements: Vec<Element<'a>>,
    /// Index of the element with each identifier.
    pub(super) ids: HashMap<&'a str, usize>,
    /// The identifiers in each `filter` value that is a list of filters. `Reference::List` is an index into this
    /// vector.
    pub(super) lists: Vec<Vec<&'a str>>,
    /// The background of the root.
    pub(super) ground: Ground,
    /// Width of the widest stroke in px, at least 1.
    pub(super) widest: f64,
}

/// An element. A repeated element occurs once for each repetition.
pub(super) struct Element<'a> {
    pub(super) node: Node<'a, 'a>,
    pub(super) tag: Tag,
    pub(super) parent: usize,
    /// Index of the first element after this one that is not inside it.
    pub(super) end: usize,
    /// The references of the element, indexed by [`Property`].
    pub(super) refers: [Reference<'a>; 9],
    /// Total length in bytes of the values of the element's attributes and of the declarations that apply to it.
    pub(super) bytes: usize,
    /// Number of attributes of the element and all its ancestors, all of which are searched for inherited properties.
    pub(super) above: usize,
    /// Number of characters directly in the element, if it is part of a text.
    pub(super) letters: usize,
    /// Font size in the element, in px.
    font: f32,
    /// Upper bound on the scale at which the element is drawn, relative to its own coordinates. Within a marker, it
    /// assumes a stroke width of 1 px.
    pub(super) scale: f64,
    /// Whether the element may be drawn rotated or skewed.
    pub(super) is_turned: bool,
    /// Whether the element is in a marker, whose size is proportional to the width of the stroke on which it is placed.
    pub(super) is_marker: bool,
}

/// Maximum scale in computations. Its product with any coordinate is still finite.
const SCALE: f64 = 1e12;

/// The target of an attribute or a declaration that may refer to another element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Reference<'a> {
    /// The property is not specified.
    #[default]
    Absent,
    /// The property is specified, but refers to nothing.
    Nothing,
    /// A plain colour.
    Colour,
    /// The paint of the element for which this one is drawn (`context-fill` or `context-stroke`).
    Context,
    /// The parent's reference, specified with the value `inherit`.
    Parent,
    Id(&'a str),
    /// An index into [`Outline::lists`].
    List(usize),
}

/// An attribute or style property that may refer to another element.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Property {
    Fill,
    Stroke,
    ClipPath,
    Mask,
    Filter,
    MarkerStart,
    MarkerMid,
    MarkerEnd,
    Href,
}

impl Property {
    /// Properties that children inherit from their parents.
    pub(super) const INHERITED: [Self; 5] = [
        Self::Fill,
        Self::Stroke,
        Self::MarkerStart,
        Self::MarkerMid,
        Self::MarkerEnd,
    ];

    /// Properties that a child inherits only with the value `inherit`.
    pub(super) const OWN: [Self; 3] = [Self::ClipPath, Self::Mask, Self::Filter];

    /// Properties that draw a marker on a shape's vertices.
    pub(super) const MARKERS: [Self; 3] = [Self::MarkerStart, Self::MarkerMid, Self::MarkerEnd];

    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "fill" => Self::Fill,
            "stroke" => Self::Stroke,
            "clip-path" => Self::ClipPath,
            "mask" => Self::Mask,
            "filter" => Self::Filter,
            "marker-start" => Self::MarkerStart,
            "marker-mid" => Self::MarkerMid,
            "marker-end" => Self::MarkerEnd,
            _ => return None,
        })
    }
}

/// The kind of an element. Elements that references and drawing treat alike share a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tag {
    /// `svg`, `g`, `a` or `switch`, whose content is drawn.
    Group,
    Use,
    Symbol,
    Shape,
    Image,
    Text,
    /// `tspan`, and elements converted to one: `tref`, and `a` within a text.
    Span,
    TextPath,
    Pattern,
    Gradient,
    ClipPath,
    Mask,
    Marker,
    Filter,
    FeImage,
    /// Any other element that is read but not drawn on its own.
    Other,
}

impl Tag {
    /// Returns the tag of a node, or `None` for a node that is ignored together with all its content, such as text or
    /// an unknown element.
    fn of(node: Node<'_, '_>) -> Option<Self> {
        let tag = node.tag_name();
        if !node.is_element() || !matches!(tag.namespace(), None | Some(SVG)) {
            return None;
        }
        Some(match tag.name() {
            "svg" | "g" | "a" | "switch" => Self::Group,
            "use" => Self::Use,
            "symbol" => Self::Symbol,
            "circle" | "ellipse" | "line" | "path" | "polygon" | "polyline" | "rect" => Self::Shape,
            "image" => Self::Image,
            "text" => Self::Text,
            "tspan" | "tref" => Self::Span,
            "textPath" => Self::TextPath,
            "pattern" => Self::Pattern,
            "linearGradient" | "radialGradient" => Self::Gradient,
            "clipPath" => Self::ClipPath,
            "mask" => Self::Mask,
            "marker" => Self::Marker,
            "filter" => Self::Filter,
            "feImage" => Self::FeImage,
            "defs"
            | "stop"
            | "feBlend"
            | "feColorMatrix"
            | "feComponentTransfer"
            | "feComposite"
            | "feConvolveMatrix"
            | "feDiffuseLighting"
            | "feDisplacementMap"
            | "feDistantLight"
            | "feDropShadow"
            | "feFlood"
            | "feFuncA"
            | "feFuncB"
            | "feFuncG"
            | "feFuncR"
            | "feGaussianBlur"
            | "feMerge"
            | "feMergeNode"
            | "feMorphology"
            | "feOffset"
            | "fePointLight"
            | "feSpecularLighting"
            | "feSpotLight"
            | "feTile"
            | "feTurbulence" => Self::Other,
            _ => return None,
        })
    }

    /// Whether the element is drawn at its place in the document, rather than where it is referred to.
    pub(super) fn is_drawn(self) -> bool {
        matches!(self, Self::Group | Self::Use) || self.is_graphic()
    }

    /// Whether the element is drawn at its place in the document and is not a group.
    pub(super) fn is_graphic(self) -> bool {
        matches!(self, Self::Shape | Self::Image | Self::Text | Self::Use)
    }
}

impl<'a> Outline<'a> {
    /// Reads the elements of a document.
    ///
    /// # Errors
    /// `Unsupported` for documents over the limits on elements, nesting depth, numbers, style sheets and steps.
    pub(super) fn of(document: &'a Document<'a>, steps: &'a Steps) -> Result<Self> {
        let mut originals = HashMap::new();
        let mut side = Side::LEAST;
        for node in document.descendants() {
            if let Some(id) = node.attribute("id") {
                originals.entry(id).or_insert(node);
            }
            for attribute in node.attributes() {
                side.widen(node.tag_name().name(), attribute.name(), attribute.value());
            }
        }
        let root = document.root_element();
        let mut reading = Reading {
            css: Css::of(root, steps)?,
            steps,
            originals,
            side,
            styles: HashMap::new(),
            outline: Self {
                elements: Vec::new(),
                ids: HashMap::new(),
                lists: Vec::new(),
                ground: Ground::default(),
                widest: 1.0,
            },
            open: vec![Open {
                next: Some(root),
                from: root,
                element: 0,
                repeats: false,
                is_text: false,
            }],
        };
        while reading.step()? {}
        Ok(reading.outline)
    }

    /// Returns the index of the element that a reference names.
    pub(super) fn target(&self, reference: Reference<'a>) -> Option<usize> {
        match reference {
            Reference::Id(id) => self.ids.get(id).copied(),
            _ => None,
        }
    }
}

/// The state of reading a document. Reading does not recurse, so that excessive nesting is detected instead of
/// overflowing the stack.
struct Reading<'a> {
    css: Css<'a>,
    steps: &'a Steps,
    /// The first node with each identifier, which is the one that `use` repeats.
    originals: HashMap<&'a str, Node<'a, 'a>>,
    side: Side,
    styles: HashMap<Node<'a, 'a>, Rc<Style<'a>>>,
    outline: Outline<'a>,
    open: Vec<Open<'a>>,
}

/// An element whose children are being read.
struct Open<'a> {
    next: Option<Node<'a, 'a>>,
    /// The innermost `use` that repeats the element, otherwise the root.
    from: Node<'a, 'a>,
    element: usize,
    /// Whether the element is below a `use`. Identifiers there are ignored.
    repeats: bool,
    is_text: bool,
}

/// Properties of an element that are the same for each repetition.
#[derive(Default)]
struct Style<'a> {
    refers: [Reference<'a>; 9],
    /// Which of the references were declared as important.
    important: [bool; 9],
    bytes: usize,
    attributes: usize,
    /// Number of [`Steps`] (units of work of about 10 ns) for applying style sheets and reading transforms. They are
    /// spent again for each repetition.
    steps: u64,
    /// The value of `font-size`. The values in `lengths` may be relative to it.
    font_size: Option<&'a str>,
    lengths: [Option<&'a str>; 4],
    /// Upper bound on the scale of the element's content relative to its coordinates, at least 1.
    scale: f64,
    /// Whether the element's content is rotated or skewed.
    turns: bool,
}

impl<'a> Reading<'a> {
    /// Reads one node. Returns false at the end of the document.
    fn step(&mut self) -> Result<bool> {
        let Some(open) = self.open.last_mut() else {
            return Ok(false);
        };
        let Some(node) = open.next else {
            let end = self.outline.elements.len();
            let element = open.element;
            self.open.pop();
            if let Some(element) = self.outline.elements.get_mut(element) {
                element.end = end;
            }
            return Ok(!self.open.is_empty());
        };
        let (parent, from, repeats, is_text) =
            (open.element, open.from, open.repeats, open.is_text);
        // A `use` repeats a single node, and the document has a single root, so siblings are not read.
        let is_only_child =
            self.outline.elements.is_empty() || self.outline.elements[parent].tag == Tag::Use;
        open.next = node.next_sibling().filter(|_| !is_only_child);
        if is_text && node.is_text() {
            let letters = node.text().map_or(0, |text| text.chars().count());
            self.outline.elements[parent].letters += letters;
            return Ok(true);
        }
        let Some(tag) = Tag::of(node) else {
            return Ok(true);
        };
        let tag = match (tag, is_text, node.tag_name().name()) {
            (_, true, "a") => Tag::Span,
            (Tag::Span | Tag::TextPath, true, _) | (_, false, _) => tag,
            _ => return Ok(true),
        };
        let element = self.push(node, tag, parent, repeats)?;
        match tag {
            Tag::Use => {
                if let Some(link) = self.repeated(node, from)? {
                    self.enter(Some(link), node, element, true, false)?;
                }
            }
            Tag::Span if node.tag_name().name() == "tref" => {
                self.outline.elements[element].letters = self.letters_of(node)?;
            }
            Tag::Text | Tag::Span | Tag::TextPath => {
                self.enter(node.first_child(), from, element, repeats, true)?;
            }
            _ => self.enter(node.first_child(), from, element, repeats, false)?,
        }
        Ok(true)
    }

    fn enter(
        &mut self,
        next: Option<Node<'a, 'a>>,
        from: Node<'a, 'a>,
        element: usize,
        repeats: bool,
        is_text: bool,
    ) -> Result<()> {
        if self.open.len() > DEPTH {
            return Err(unsupported(format!(
                "elements nested more than {DEPTH} deep, repeated ones included"
            )));
        }
        self.open.push(Open {
            next,
            from,
            element,
            repeats,
            is_text,
        });
        Ok(())
    }

    fn push(
        &mut self,
        node: Node<'a, 'a>,
        tag: Tag,
        parent: usize,
        repeats: bool,
    ) -> Result<usize> {
        let style = self.style(node)?;
        let number = self.outline.elements.len();
        if number == ELEMENTS {
            return Err(unsupported(format!(
                "more than {ELEMENTS} elements, repeated ones included"
            )));
        }
        let around = self.outline.elements.get(parent);
        let above = around.map_or(0, |parent| parent.above) + 1 + style.attributes;
        let scale = around.map_or(1.0, |parent| parent.scale) * style.scale;
        let is_marker = tag == Tag::Marker || around.is_some_and(|parent| parent.is_marker);
        let is_turned = style.turns || is_marker || around.is_some_and(|parent| parent.is_turned);
        let font = around.map_or(FONT_SIZE, |parent| parent.font);
        let font = style
            .font_size
            .map_or(Ok(font), |size| numbers::font_size(size, font))?;
        for (name, value) in numbers::LENGTHS.iter().zip(style.lengths) {
            if let Some(value) = value {
                let length = numbers::check_length(name, value, font, self.side.length())?;
                if *name == "stroke-width" {
                    self.outline.widest = self.outline.widest.max(length);
                }
            }
        }
        self.outline.elements.push(Element {
            node,
            tag,
            parent,
            end: number + 1,
            refers: style.refers,
            bytes: style.bytes,
            above,
            letters: 0,
            font,
            scale: scale.min(SCALE),
            is_turned,
            is_marker,
        });
        if !repeats
            && let Some(id) = known_attributes(node).find(|attribute| attribute.name() == "id")
        {
            self.outline.ids.insert(id.value(), number);
        }
        Ok(number)
    }

    /// Returns the style of an element, reading it only the first time. The [`Steps`] (units of work) for reading it
    /// are spent each time, because `usvg` applies the style sheets again for each repetition.
    fn style(&mut self, node: Node<'a, 'a>) -> Result<Rc<Style<'a>>> {
        if let Some(style) = self.styles.get(&node) {
            self.steps.spend(style.steps, "selectors of style sheets")?;
            return Ok(style.clone());
        }
        let steps = self.steps;
        let before = steps.left();
        let mut style = Style {
            attributes: node.attributes().len(),
            scale: 1.0,
            ..Style::default()
        };
        let (lists, ground) = (&mut self.outline.lists, &mut self.outline.ground);
        for attribute in known_attributes(node) {
            style.attribute(&attribute, steps, lists)?;
        }
        let is_root = self.outline.elements.is_empty();
        let mut result = Ok(());
        self.css.apply(node, |declaration| {
            if is_root {
                ground.declare(declaration);
            }
            let one = style.declare(declaration, steps, lists);
            if result.is_ok() {
                result = one;
            }
        })?;
        result?;
        style.refers[Property::Href as usize] = match href(node).map(IRI::from_str) {
            None => Reference::Absent,
            Some(iri) => iri.map_or(Reference::Nothing, |IRI(id)| Reference::Id(id)),
        };
        style.steps = before - steps.left();
        style.scale *= self.scale(node);
        let style = Rc::new(style);
        self.styles.insert(node, style.clone());
        Ok(style)
    }

    /// Returns an upper bound on the scale that an element's view box and units apply to its content, at least 1.
    fn scale(&self, node: Node<'a, 'a>) -> f64 {
        let is_marker = node.has_tag_name((SVG, "marker"));
        let side = |name| match node.attribute(name).map(str::parse::<Length>) {
            _ if !is_marker => self.side.length(),
            // The default of `usvg`.
            None | Some(Err(_)) => 3.0,
            Some(Ok(length)) if length.unit == LengthUnit::None => length.number,
            Some(Ok(_)) => self.side.length(),
        };
        let view = node.attribute("viewBox").and_then(|text| text.parse().ok());
        let view_scale = view.map_or(1.0, |view: svgtypes::ViewBox| {
            (side("markerWidth") / view.w).max(side("markerHeight") / view.h)
        });
        let units = ["clipPathUnits", "maskContentUnits", "patternContentUnits"];
        let is_box = |name: &&str| node.attribute(*name) == Some("objectBoundingBox");
        let of_box = match units.iter().any(is_box) {
            true => self.side.length(),
            false => 1.0,
        };
        view_scale.max(1.0) * of_box.max(1.0)
    }

    /// Returns the node that a `use` repeats, or `None` if that would repeat the `use` itself.
    fn repeated(&self, node: Node<'a, 'a>, from: Node<'a, 'a>) -> Result<Option<Node<'a, 'a>>> {
        let link = |node| {
            let IRI(id) = IRI::from_str(href(node)?).ok()?;
            self.originals.get(id).copied()
        };
        let Some(target) = link(node).filter(|target| Tag::of(*target).is_some()) else {
            return Ok(None);
        };
        if target == node || target == from {
            return Ok(None);
        }
        for inner in target.descendants().skip(1) {
            let steps = 1 + inner.attributes().len() as u64;
            self.steps.spend(steps, "elements that are repeated")?;
            if inner.has_tag_name((SVG, "use"))
                && link(inner).is_some_and(|link| link == node || link == target)
            {
                return Ok(None);
            }
        }
        Ok(Some(target))
    }

    /// Returns the number of characters that a `tref` copies from another element. `usvg` searches for that element
    /// from the beginning of the document, which costs [`Steps`] (units of work).
    fn letters_of(&self, node: Node<'a, 'a>) -> Result<usize> {
        let id = href(node).and_then(|href| IRI::from_str(href).ok());
        let Some(target) = id.and_then(|IRI(id)| self.originals.get(id)) else {
            return Ok(0);
        };
        let mut letters = 0;
        self.steps
            .spend(u64::from(target.id().get()), "references to texts")?;
        for text in target.descendants() {
            self.steps.spend(1, "references to texts")?;
            if text.is_text() {
                letters += text.text().map_or(0, |text| text.chars().count());
            }
        }
        Ok(letters)
    }
}

impl<'a> Style<'a> {
    /// Adds an attribute of the element to its style. For references, the first attribute of a name counts.
    fn attribute(
        &mut self,
        attribute: &Attribute<'a, 'a>,
        steps: &Steps,
        lists: &mut Vec<Vec<&'a str>>,
    ) -> Result<()> {
        let (name, value) = (attribute.name(), attribute.value());
        self.bytes += value.len();
        self.value(name, value, steps)?;
        if let Some(property) = Property::of(name) {
            let reference = &mut self.refers[property as usize];
            if *reference == Reference::Absent {
                *reference = read(property, value, lists);
            }
        }
        Ok(())
    }

    /// Adds a declaration of a style sheet to the style of the element. For a reference to another element, the first
    /// important declaration counts or, if there is none, the last one.
    fn declare(
        &mut self,
        declaration: &Declaration<'a>,
        steps: &Steps,
        lists: &mut Vec<Vec<&'a str>>,
    ) -> Result<()> {
        let (name, value) = (declaration.name, declaration.value);
        self.bytes += value.len();
        self.attributes += 1;
        match FontShorthand::from_str(value) {
            Ok(font) if name == "font" => self.value("font-size", font.font_size, steps)?,
            _ => self.value(name, value, steps)?,
        }
        let one = Property::of(name);
        let properties = match name {
            "marker" => &Property::MARKERS[..],
            _ => one.as_slice(),
        };
        for property in properties {
            let index = *property as usize;
            // `usvg` keeps the first important declaration, even if a later one is important as well.
            if !self.important[index] {
                self.refers[index] = read(*property, value, lists);
                self.important[index] = declaration.important;
            }
        }
        Ok(())
    }

    /// Checks the value of an attribute or declaration called `name`, and adds it to the style if it is a font size, a
    /// radius, a stroke width or a transform. Its cost counts for each repetition of the element.
    fn value(&mut self, name: &str, value: &'a str, steps: &Steps) -> Result<()> {
        if name == "font-size" {
            self.font_size = Some(value);
        }
        if let Some(length) = numbers::LENGTHS.iter().position(|length| *length == name) {
            self.lengths[length] = Some(value);
        }
        steps.spend(value.len() as u64 / 16, "values")?;
        if matches!(name, "transform" | "patternTransform") {
            steps.spend(value.len() as u64, "transforms")?;
            let (larger, turns) = transformed(value);
            self.scale = self.scale.max(larger);
            self.turns |= turns;
        }
        numbers::check(name, value)
    }
}

/// Returns an upper bound on the scale of a transform, at least 1, and whether it rotates or skews.
fn transformed(text: &str) -> (f64, bool) {
    let Ok(t) = text.parse::<svgtypes::Transform>() else {
        return (1.0, false);
    };
    let larger = t.a.hypot(t.b).hypot(t.c.hypot(t.d));
    match larger <= SCALE {
        true => (larger.max(1.0), t.b != 0.0 || t.c != 0.0),
        // The scale may be NaN.
        false => (SCALE, true),
    }
}

/// Returns the attributes of an element in the supported namespaces.
fn known_attributes<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Attribute<'a, 'a>> {
    let read = |attribute: &Attribute<'a, 'a>| {
        matches!(attribute.namespace(), None | Some(SVG | XLINK | XML))
    };
    node.attributes().filter(read)
}

/// Returns the value of `href`, otherwise of its older form `xlink:href`.
pub(super) fn href<'a>(node: Node<'a, 'a>) -> Option<&'a str> {
    let view_scale = |namespace: Option<&str>| {
        node.attributes()
            .find(|attribute| attribute.name() == "href" && attribute.namespace() == namespace)
    };
    let attribute = view_scale(None).or_else(|| view_scale(Some(XLINK)))?;
    Some(attribute.value())
}

/// Parses the reference in a property's value. Lists of filters are appended to `lists`.
fn read<'a>(property: Property, value: &'a str, lists: &mut Vec<Vec<&'a str>>) -> Reference<'a> {
    if value == "inherit" {
        let is_own = Property::OWN.contains(&property);
        // Other properties are inherited anyway, as if they were absent.
        return if is_own {
            Reference::Parent
        } else {
            Reference::Absent
        };
    }
    match property {
        Property::Fill | Property::Stroke => match svgtypes::Paint::from_str(value) {
            Ok(svgtypes::Paint::FuncIRI(id, _)) => Reference::Id(id),
            Ok(svgtypes::Paint::ContextFill | svgtypes::Paint::ContextStroke) => Reference::Context,
            Ok(svgtypes::Paint::None) => Reference::Nothing,
            _ => Reference::Colour,
        },
        Property::Filter => match FuncIRI::from_str(value) {
            Ok(FuncIRI(id)) => Reference::Id(id),
            Err(_) if value == "none" => Reference::Nothing,
            Err(_) => {
                let values = FilterValueListParser::from(value).map_while(Result::ok);
                let urls = values.filter_map(|value| match value {
                    FilterValue::Url(id) => Some(id),
                    _ => None,
                });
                lists.push(urls.collect());
                Reference::List(lists.len() - 1)
            }
        },
        _ => FuncIRI::from_str(value).map_or(Reference::Nothing, |FuncIRI(id)| Reference::Id(id)),
    }
}
