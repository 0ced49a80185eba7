//! How much work a drawing is, before it is drawn: `resvg` cannot be interrupted.

use resvg::usvg::filter::Kind;
use resvg::usvg::{Group, ImageKind, Node, Paint, Tree};

/// Work that is left, in pixels that are touched.
pub(super) struct Budget {
    left: u64,
    /// Pixels of the whole picture.
    canvas: u64,
    /// Pixels of a square whose sides are one unit.
    unit: f64,
}

/// More than the budget.
pub(super) struct TooMuch;

type Weighed = Result<(), TooMuch>;

/// What a path or a group costs however small it is.
const LEAST: u64 = 500;

/// What a point of an outline costs.
const POINT: u64 = 100;

/// Refuses a drawing that touches more pixels than `most`, drawn on a canvas of `canvas` pixels.
pub(super) fn weigh(tree: &Tree, canvas: u64, most: u64) -> Weighed {
    let size = tree.size();
    let unit = canvas as f64 / (f64::from(size.width()) * f64::from(size.height()));
    let left = most;
    Budget { left, canvas, unit }.group(tree.root())
}

impl Budget {
    fn spend(&mut self, work: u64) -> Weighed {
        self.left = self.left.checked_sub(work).ok_or(TooMuch)?;
        Ok(())
    }

    /// A layer as large as the picture, of which a group needs a few.
    fn layers(&mut self, count: u64) -> Weighed {
        self.spend(count.saturating_mul(self.canvas))
    }

    fn group(&mut self, group: &Group) -> Weighed {
        self.spend(LEAST)?;
        if group.should_isolate() {
            self.layers(2)?;
        }
        if let Some(clip) = group.clip_path() {
            self.layers(2)?;
            self.group(clip.root())?;
            if let Some(clip) = clip.clip_path() {
                self.layers(2)?;
                self.group(clip.root())?;
            }
        }
        let mut mask = group.mask();
        while let Some(inner) = mask {
            self.layers(3)?;
            self.group(inner.root())?;
            mask = inner.mask();
        }
        for filter in group.filters() {
            let (rect, transform) = (filter.rect(), group.abs_transform());
            let (x, y) = transform.get_scale();
            let area = [rect.width(), rect.height(), x, y]
                .map(f64::from)
                .iter()
                .product::<f64>();
            // Five times the picture's sides is where they end.
            let region = ((area * self.unit) as u64).clamp(1, 25 * self.canvas);
            for primitive in filter.primitives() {
                let touches = match primitive.kind() {
                    Kind::Turbulence(turbulence) => {
                        30 * u64::from(turbulence.num_octaves()).saturating_add(1)
                    }
                    Kind::ConvolveMatrix(convolve) => {
                        let matrix = convolve.matrix();
                        10 + 5 * u64::from(matrix.columns()) * u64::from(matrix.rows())
                    }
                    Kind::Morphology(morphology) => {
                        let radius = morphology.radius_x().get().max(morphology.radius_y().get());
                        10 + (f64::from(radius) * 4.0) as u64
                    }
                    Kind::Image(image) => {
                        self.group(image.root())?;
                        10
                    }
                    Kind::GaussianBlur(_) | Kind::DropShadow(_) => 60,
                    _ => 15,
                };
                self.spend(region.saturating_mul(touches))?;
            }
        }
        group.children().iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Weighed {
        match node {
            Node::Group(group) => self.group(group),
            Node::Path(path) => {
                let points = path.data().points().len() as u64;
                self.spend(LEAST + points.saturating_mul(POINT) + self.canvas / 2)?;
                let fill = path.fill().map(|fill| fill.paint());
                let stroke = path.stroke();
                if stroke.is_some_and(|stroke| stroke.dasharray().is_some()) {
                    self.dashes(path)?;
                }
                let paints = fill.into_iter().chain(stroke.map(|stroke| stroke.paint()));
                for paint in paints {
                    if let Paint::Pattern(pattern) = paint {
                        self.layers(1)?;
                        self.group(pattern.root())?;
                    }
                }
                Ok(())
            }
            Node::Image(image) => {
                self.layers(3)?;
                match image.kind() {
                    ImageKind::SVG(tree) => self.group(tree.root()),
                    _ => Ok(()),
                }
            }
            Node::Text(text) => self.group(text.flattened()),
        }
    }

    /// Each dash is an outline of its own.
    fn dashes(&mut self, path: &resvg::usvg::Path) -> Weighed {
        let Some(dashes) = path.stroke().and_then(|stroke| stroke.dasharray()) else {
            return Ok(());
        };
        let period = dashes.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let bounds = path.data().bounds();
        // No outline is much longer than its points times the diagonal.
        let diagonal = bounds.width().hypot(bounds.height());
        let count = f64::from(diagonal) / f64::from(period)
            * path.data().points().len() as f64
            * dashes.len() as f64;
        self.spend((count * 10.0 * POINT as f64).min(u64::MAX as f64) as u64)
    }
}
