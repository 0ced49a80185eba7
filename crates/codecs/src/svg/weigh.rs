//! The work and memory for drawing, estimated beforehand because `resvg` cannot be interrupted.
//!
//! The tree is visited in the order and at the scale of `resvg`, with the layers that `resvg` would allocate. Repeated
//! content is visited each time.

use resvg::tiny_skia::{PathSegment, Transform};
use resvg::usvg::{ClipPath, Group, Image, ImageKind, Mask, Node, Paint, Path, Pattern, Tree};

use super::{filters, strokes};

/// The reason why a drawing is rejected.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// More work than the budget permits.
    Work,
    /// More memory at one time than the limit. The value is the number of bytes that the drawing needs.
    Memory(u64),
    /// The drawing contains a number that `resvg` cannot compute with.
    Number,
}

pub(super) type Weighed = Result<(), Refused>;

/// Limits on the work and memory of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Work, in ns.
    pub(super) work: f64,
    /// Memory for layers, in addition to the image, in bytes.
    pub(super) memory: f64,
}

/// Checks that a drawing stays within the budget `most` on a canvas of this size in px.
///
/// # Errors
/// The limit that it exceeds.
pub(super) fn weigh(tree: &Tree, at: Transform, canvas: (u32, u32), most: Budget) -> Weighed {
    let canvas = Canvas::root(f64::from(canvas.0), f64::from(canvas.1));
    Weighing::new(most).children(tree.root(), at, canvas)
}

/// A surface for drawing: the image or a layer.
#[derive(Clone, Copy)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Left, top, right and bottom of the area to which layers are clipped, in px.
    most: [f64; 4],
}

impl Canvas {
    /// Returns the canvas of an image. Layers may extend to five times its width and height.
    fn root(width: f64, height: f64) -> Self {
        let most = [-2.0 * width, -2.0 * height, 3.0 * width, 3.0 * height];
        Self {
            width,
            height,
            most,
        }
    }

    /// Returns a canvas of another size on which layers are clipped to the same area.
    fn sized(self, width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            ..self
        }
    }

    /// Returns a canvas on which layers are clipped to its own area.
    pub(super) fn unclipped(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            most: [0.0, 0.0, width, height],
        }
    }

    pub(super) fn area(self) -> f64 {
        self.width * self.height
    }

    /// Returns the size, in px of this canvas, of the area within the given left, top, right and bottom, after moving
    /// each of them outwards by `wider`.
    fn area_within(self, [left, top, right, bottom]: [f64; 4], wider: f64) -> f64 {
        let side = |from: f64, to: f64, most: f64| (to + wider).min(most) - (from - wider).max(0.0);
        let width = side(left, right, self.width);
        let height = side(top, bottom, self.height);
        (width + 1.0).max(0.0) * (height + 1.0).max(0.0)
    }
}

/// Maximum coordinate in px that `resvg` can compute with as `i32`, with reserve for sums. Beyond it, `resvg` accesses
/// pixels outside of images and panics, and panics again during the unwinding, which aborts the process.
pub(super) const FARTHEST: f64 = 1e8;

/// Returns left, top, right and bottom of a transformed rectangle in whole px, or `None` if the transformed rectangle
/// is not valid.
///
/// # Errors
/// [`Refused::Number`] if one of them is [`FARTHEST`] px or more from the origin.
pub(super) fn bounds(
    rect: resvg::usvg::NonZeroRect,
    at: Transform,
) -> Option<Result<[f64; 4], Refused>> {
    let rect = rect.transform(at)?;
    let (x, y) = (f64::from(rect.x()).floor(), f64::from(rect.y()).floor());
    let [right, bottom] = [
        x + f64::from(rect.width()).ceil().max(1.0),
        y + f64::from(rect.height()).ceil().max(1.0),
    ];
    let all = [x, y, right, bottom];
    let is_in_range = all.iter().all(|side| side.abs() < FARTHEST);
    Some(if is_in_range {
        Ok(all)
    } else {
        Err(Refused::Number)
    })
}

/// The remaining budget while the cost of a drawing is estimated.
pub(super) struct Weighing {
    /// Remaining work, in ns.
    work: f64,
    /// Bytes that are allocated at the moment; at most `memory`.
    live: f64,
    /// Maximum number of bytes that may be allocated at any moment.
    memory: f64,
}

/// Fixed cost of drawing a node, in ns, in addition to that of its outlines and pixels.
const NODE: f64 = 400.0;

/// Cost in ns per px of clearing a layer and compositing it with another.
const LAYER: f64 = 10.0;

/// Bytes per px of a layer.
const PIXEL: f64 = 4.0;

impl Weighing {
    fn new(most: Budget) -> Self {
        Self {
            work: most.work,
            live: 0.0,
            memory: most.memory,
        }
    }

    pub(super) fn spend(&mut self, nanos: f64) -> Weighed {
        self.work -= nanos;
        // NaN fails this check, too.
        if self.work >= 0.0 {
            Ok(())
        } else {
            Err(Refused::Work)
        }
    }

    /// Calls `run` while `bytes` more bytes count as allocated.
    ///
    /// # Errors
    /// [`Refused::Memory`] if more bytes would be allocated than permitted; those of `run`.
    pub(super) fn holding(
        &mut self,
        bytes: f64,
        run: impl FnOnce(&mut Self) -> Weighed,
    ) -> Weighed {
        self.live += bytes;
        if self.live > self.memory || self.live.is_nan() {
            return Err(Refused::Memory(self.live as u64));
        }
        run(self)?;
        self.live -= bytes;
        Ok(())
    }

    pub(super) fn children(&mut self, group: &Group, at: Transform, on: Canvas) -> Weighed {
        group.children().iter().try_for_each(|node| match node {
            Node::Group(group) => self.group(group, at, on),
            Node::Path(path) => self.path(path, at, on),
            Node::Image(image) => self.image(image, at, on),
            Node::Text(text) => self.group(text.flattened(), at, on),
        })
    }

    fn group(&mut self, group: &Group, at: Transform, on: Canvas) -> Weighed {
        self.spend(NODE)?;
        let at = at.pre_concat(group.transform());
        if !group.should_isolate() {
            return self.children(group, at, on);
        }
        let Some(layer) = bounds(group.layer_bounding_box(), at) else {
            return Ok(());
        };
        let [left, top, right, bottom] = match layer {
            Ok(layer) => layer,
            // Without filters, the layer is clipped to the canvas.
            Err(_) if group.filters().is_empty() => on.most,
            Err(reason) => return Err(reason),
        };
        let (left, top) = ((left - 2.0).max(on.most[0]), (top - 2.0).max(on.most[1]));
        let (right, bottom) = (
            (right + 2.0).min(on.most[2]),
            (bottom + 2.0).min(on.most[3]),
        );
        if left >= right || top >= bottom {
            return Ok(());
        }
        let on = on.sized(right - left, bottom - top);
        let at = Transform::from_translate(-left as f32, -top as f32).pre_concat(at);
        self.spend(LAYER * on.area())?;
        self.holding(PIXEL * on.area(), |this| {
            this.children(group, at, on)?;
            for filter in group.filters() {
                filters::weigh(this, filter, at, on)?;
            }
            if let Some(clip) = group.clip_path() {
                this.clip(clip, at, on)?;
            }
            if let Some(mask) = group.mask() {
                this.mask(mask, at, on)?;
            }
            Ok(())
        })
    }

    /// Estimates the cost of a clip path and of the clip paths that clip it. They are drawn one after the other, and
    /// all of their layers stay allocated.
    fn clip(&mut self, clip: &ClipPath, at: Transform, on: Canvas) -> Weighed {
        self.spend(NODE + LAYER * on.area())?;
        self.holding((PIXEL + 1.0) * on.area(), |this| {
            this.clipped(clip.root(), at.pre_concat(clip.transform()), on)?;
            clip.clip_path()
                .map_or(Ok(()), |clip| this.clip(clip, at, on))
        })
    }

    /// Estimates the cost of the content of a clip path: its paths, and the clip paths of its groups. Images, masks and
    /// filters have no effect in it.
    fn clipped(&mut self, group: &Group, at: Transform, on: Canvas) -> Weighed {
        for node in group.children() {
            match node {
                Node::Path(path) => self.path(path, at, on)?,
                Node::Text(text) => self.clipped(text.flattened(), at, on)?,
                Node::Group(group) => {
                    self.spend(NODE)?;
                    let at = at.pre_concat(group.transform());
                    let Some(clip) = group.clip_path() else {
                        self.clipped(group, at, on)?;
                        continue;
                    };
                    self.spend(LAYER * on.area())?;
                    self.holding(PIXEL * on.area(), |this| {
                        this.clipped(group, at, on)?;
                        this.clip(clip, at, on)
                    })?;
                }
                Node::Image(_) => {}
            }
        }
        Ok(())
    }

    fn mask(&mut self, mask: &Mask, at: Transform, on: Canvas) -> Weighed {
        if let Some(Err(reason)) = bounds(mask.rect(), at) {
            return Err(reason);
        }
        self.spend(NODE + 2.0 * LAYER * on.area())?;
        self.holding((PIXEL + 1.0) * on.area(), |this| {
            this.children(mask.root(), at, on)?;
            mask.mask().map_or(Ok(()), |mask| this.mask(mask, at, on))
        })
    }

    fn image(&mut self, image: &Image, at: Transform, on: Canvas) -> Weighed {
        self.spend(NODE)?;
        match image.kind() {
            ImageKind::SVG(tree) => {
                self.spend(LAYER * on.area())?;
                let inner = Canvas::root(on.width, on.height);
                self.holding(PIXEL * on.area(), |this| {
                    this.children(tree.root(), at, inner)
                })
            }
            _ => {
                // The image is decoded each time, and drawn with the most expensive interpolation. Its memory is part
                // of the file's plan.
                let size = image.size();
                let pixels = f64::from(size.width()) * f64::from(size.height());
                let drawn = size.to_rect(0.0, 0.0).and_then(|rect| rect.transform(at));
                let drawn = drawn.map_or(0.0, |rect| {
                    let sides = [rect.left(), rect.top(), rect.right(), rect.bottom()];
                    on.area_within(sides.map(f64::from), 0.0)
                });
                self.spend(UNPACK * pixels + BICUBIC * drawn)
            }
        }
    }

    fn path(&mut self, path: &Path, at: Transform, on: Canvas) -> Weighed {
        self.spend(NODE)?;
        if !path.is_visible() {
            return Ok(());
        }
        let outline = Outline::of(path, at, on);
        // Miter joins extend farther than the sides of a stroke.
        let stroke = path.stroke().map_or(0.0, |stroke| {
            f64::from(stroke.width().get()) * f64::from(stroke.miterlimit().get()).max(2.0)
        });
        if outline.farthest(stroke * largest_scale(at)) > FARTHEST {
            return Err(Refused::Number);
        }
        if let Some(fill) = path.fill() {
            let shade = shade(fill.paint(), fill.opacity().get());
            self.spend(outline.filled(0.0) + shade * outline.area(0.0))?;
            self.pattern(fill.paint(), at, on)?;
        }
        if let Some(stroke) = path.stroke() {
            let width = f64::from(stroke.width().get());
            let scale = largest_scale(at);
            let dashes = stroke
                .dasharray()
                .map_or(0.0, |dashes| outline.dashes(dashes));
            let wide = width * scale * f64::from(stroke.miterlimit().get()).clamp(1.0, 10.0);
            let shade = shade(stroke.paint(), stroke.opacity().get());
            // Pixels beside the line are not painted.
            let painted = (outline.length * scale + wide) * (wide + 2.0);
            self.spend(outline.stroked(wide) + DASH * dashes)?;
            self.spend(shade * outline.area(wide).min(painted))?;
            self.spend(outline.curves)?;
            if width * scale > WIDE && outline.curves > 0.0 {
                self.spend(WIDE_CURVE * outline.points)?;
            }
            self.holding(DASH_BYTES * dashes + STROKE_BYTES * outline.points, |_| {
                Ok(())
            })?;
            self.pattern(stroke.paint(), at, on)?;
        }
        Ok(())
    }

    /// Estimates the cost of the content of a pattern, which is drawn once for each path that it paints.
    fn pattern(&mut self, paint: &Paint, at: Transform, on: Canvas) -> Weighed {
        let Paint::Pattern(pattern) = paint else {
            return Ok(());
        };
        let (width, height, at) = tile(pattern, at);
        let tile = on.sized(width, height);
        self.spend(NODE + LAYER * tile.area())?;
        self.holding(PIXEL * tile.area(), |this| {
            this.children(pattern.root(), at, tile)
        })
    }
}

/// Returns the width and height of a pattern's tile in px, and the transform for drawing it.
fn tile(pattern: &Pattern, at: Transform) -> (f64, f64, Transform) {
    let (x, y) = at.pre_concat(pattern.transform()).get_scale();
    let (width, height) = (pattern.rect().width() * x, pattern.rect().height() * y);
    (
        f64::from(width).round(),
        f64::from(height).round(),
        Transform::from_scale(x, y),
    )
}

/// Returns an upper bound on the factor by which a transform increases lengths.
fn largest_scale(at: Transform) -> f64 {
    let row = |a: f32, b: f32| f64::from(a).hypot(f64::from(b));
    row(at.sx, at.kx).hypot(row(at.ky, at.sy))
}

/// Returns the cost of painting a px, in ns.
fn shade(paint: &Paint, opacity: f32) -> f64 {
    match paint {
        Paint::Color(_) if opacity == 1.0 => 0.7,
        Paint::Color(_) => 3.5,
        Paint::LinearGradient(_) => 12.0,
        Paint::RadialGradient(_) => 14.0,
        Paint::Pattern(_) => BICUBIC,
    }
}

/// Cost in ns per px of sampling a pattern or an image.
const BICUBIC: f64 = 60.0;

/// Cost in ns per px of decoding an embedded raster image.
const UNPACK: f64 = 25.0;

/// Cost in ns of a point of an outline.
const POINT: f64 = 100.0;
/// Cost in ns of each line of samples that an edge of an outline crosses. There are four of these lines per px.
const CROSSING: f64 = 5.0;

/// Number of points that replace one point when an outline is stroked: those of joins, of caps and of both sides of a
/// curve.
const STROKED: f64 = 20.0;

/// Stroke width in px above which the sides of a curve are divided into the maximum number of pieces.
const WIDE: f64 = 2e5;
/// Cost in ns of dividing the sides of a curve into the maximum number of pieces, counted for every point of the
/// outline.
const WIDE_CURVE: f64 = 7e7;

/// Cost of a dash in ns.
const DASH: f64 = 2000.0;
/// Memory of a dash in bytes.
const DASH_BYTES: f64 = 400.0;

/// Bytes of a stroke's outline for each point.
const STROKE_BYTES: f64 = 400.0;

/// The properties of a path's outline that determine its cost.
struct Outline {
    points: f64,
    /// Time for stroking the outline's curves at the current scale, in ns.
    curves: f64,
    /// Length of the control polygon, in the path's own units.
    length: f64,
    /// Number of rows of px that the edges cross.
    crossed: f64,
    /// Left, top, right and bottom on the canvas, in px.
    bounds: [f64; 4],
    on: Canvas,
}

impl Outline {
    fn of(path: &Path, at: Transform, on: Canvas) -> Self {
        let (ky, sy) = (f64::from(at.ky), f64::from(at.sy));
        let scale = largest_scale(at);
        let (mut last, mut first) = ((0.0, 0.0), (0.0, 0.0));
        let mut outline = Self {
            points: 0.0,
            curves: 0.0,
            length: 0.0,
            crossed: 0.0,
            // The path has no visible bounds.
            bounds: [0.0; 4],
            on,
        };
        let line_to = |outline: &mut Self, last: &mut (f64, f64), to: (f64, f64)| {
            let (x, y) = (to.0 - last.0, to.1 - last.1);
            outline.points += 1.0;
            outline.length += x.hypot(y);
            outline.crossed += (x * ky + y * sy).abs().min(on.height);
            *last = to;
        };
        for segment in path.data().segments() {
            let pair = |point: resvg::tiny_skia::Point| (f64::from(point.x), f64::from(point.y));
            match segment {
                PathSegment::MoveTo(point) => {
                    first = pair(point);
                    last = first;
                    outline.points += 1.0;
                }
                PathSegment::LineTo(point) => line_to(&mut outline, &mut last, pair(point)),
                PathSegment::QuadTo(a, b) => {
                    let before = outline.length;
                    line_to(&mut outline, &mut last, pair(a));
                    line_to(&mut outline, &mut last, pair(b));
                    outline.curves += strokes::curve((outline.length - before) * scale);
                }
                PathSegment::CubicTo(a, b, c) => {
                    let before = outline.length;
                    line_to(&mut outline, &mut last, pair(a));
                    line_to(&mut outline, &mut last, pair(b));
                    line_to(&mut outline, &mut last, pair(c));
                    outline.curves += strokes::curve((outline.length - before) * scale);
                }
                PathSegment::Close => line_to(&mut outline, &mut last, first),
            }
        }
        if let Some(bounds) = path.data().bounds().transform(at) {
            outline.bounds =
                [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()].map(f64::from);
        }
        outline
    }

    /// Returns the largest absolute coordinate of the bounds after moving each side outwards by `wider`.
    fn farthest(&self, wider: f64) -> f64 {
        self.bounds
            .iter()
            .fold(0.0, |far: f64, side| far.max(side.abs()))
            + wider
    }

    /// Returns the area, in px of the canvas, within the bounds after moving each side outwards by `wider`.
    fn area(&self, wider: f64) -> f64 {
        self.on.area_within(self.bounds, wider)
    }

    fn filled(&self, wider: f64) -> f64 {
        let [_, top, _, bottom] = self.bounds;
        let lines = (bottom - top + 2.0 * wider).min(self.on.height).max(0.0);
        POINT * self.points + CROSSING * 4.0 * (self.crossed + lines)
    }

    /// Returns the cost of stroking in ns, without painting: each point becomes several, and each line has two sides
    /// and two ends.
    fn stroked(&self, wide: f64) -> f64 {
        let crossed = 2.0 * self.crossed + 4.0 * self.points * wide.min(self.on.height);
        STROKED * POINT * self.points + CROSSING * 4.0 * crossed + self.filled(wide)
    }

    /// Returns the number of dashes, each of which is a separate outline.
    fn dashes(&self, dashes: &[f32]) -> f64 {
        let period = f64::from(dashes.iter().sum::<f32>());
        let count = self.length / period * dashes.len() as f64;
        if count.is_finite() {
            count + self.points
        } else {
            f64::INFINITY
        }
    }
}
