//! Fits a palette to an image. Its colours are split into boxes, each time where a split reduces the error most. Then
//! every palette entry moves to the mean of the colours nearest to it.

/// A histogram of colours with `N` channels, counted in cells: 32 × 32 × 32 for three channels, 16 × 16 × 16 × 16 for
/// four.
pub(crate) struct Histogram<const N: usize> {
    cells: Vec<Sum<N>>,
}

impl<const N: usize> Histogram<N> {
    /// Number of high bits of each channel that select a cell of the histogram.
    const BITS: usize = 16 / N;

    /// Creates an empty histogram.
    pub(crate) fn new() -> Self {
        Self {
            cells: vec![Sum::default(); 1 << (N * Self::BITS)],
        }
    }

    /// Counts one pixel of this colour.
    pub(crate) fn add(&mut self, colour: [u8; N]) {
        let cell = colour.iter().fold(0, |cell, &value| {
            cell << Self::BITS | usize::from(value) >> (8 - Self::BITS)
        });
        self.cells[cell].add(colour.map(f64::from), 1.0);
    }

    /// Returns a palette of at most `most` colours that represents the counted pixels with a small squared error.
    pub(crate) fn fit(&self, most: usize) -> Vec<[u8; N]> {
        let mut colours: Vec<Colour<N>> = self
            .cells
            .iter()
            .filter(|cell| cell.weight > 0.0)
            .map(|cell| Colour {
                value: cell.mean(),
                weight: cell.weight,
            })
            .collect();
        let mut palette = split(&mut colours, most);
        for _ in 0..ROUNDS {
            palette = settle(&colours, &palette);
        }
        palette
            .into_iter()
            .map(|colour| colour.map(|value| value.round() as u8))
            .collect()
    }
}

/// Number of times that the palette entries are moved to the mean of their colours. More rounds change little.
const ROUNDS: usize = 2;

#[derive(Clone, Copy)]
struct Colour<const N: usize> {
    value: [f64; N],
    weight: f64,
}

/// Weighted sums of colours and of their squares.
#[derive(Clone, Copy)]
struct Sum<const N: usize> {
    weight: f64,
    values: [f64; N],
    squares: [f64; N],
}

impl<const N: usize> Default for Sum<N> {
    fn default() -> Self {
        Self {
            weight: 0.0,
            values: [0.0; N],
            squares: [0.0; N],
        }
    }
}

impl<const N: usize> Sum<N> {
    fn of(colours: &[Colour<N>]) -> Self {
        let mut sum = Self::default();
        for colour in colours {
            sum.add(colour.value, colour.weight);
        }
        sum
    }

    fn add(&mut self, value: [f64; N], weight: f64) {
        self.weight += weight;
        for (axis, value) in value.into_iter().enumerate() {
            self.values[axis] += weight * value;
            self.squares[axis] += weight * value * value;
        }
    }

    fn mean(&self) -> [f64; N] {
        self.values.map(|value| value / self.weight)
    }

    /// Returns the squared error along an axis of replacing every colour with the mean.
    fn error(&self, axis: usize) -> f64 {
        self.squares[axis] - self.values[axis] * self.values[axis] / self.weight
    }

    /// Returns the part of the sum of squares that the mean explains. The squared error is smallest where this is
    /// largest.
    fn explained(&self) -> f64 {
        let length: f64 = self.values.iter().map(|value| value * value).sum();
        length / self.weight
    }
}

/// A run of colours that one palette entry represents.
struct Cluster<const N: usize> {
    start: usize,
    end: usize,
    axis: usize,
    error: f64,
    mean: [f64; N],
}

impl<const N: usize> Cluster<N> {
    fn of(colours: &[Colour<N>], start: usize, end: usize) -> Self {
        let sum = Sum::of(&colours[start..end]);
        let errors: [f64; N] = std::array::from_fn(|axis| sum.error(axis));
        let axis = (0..N)
            .max_by(|&a, &b| errors[a].total_cmp(&errors[b]))
            .unwrap_or(0);
        Self {
            start,
            end,
            axis,
            error: errors.iter().sum(),
            mean: sum.mean(),
        }
    }
}

/// Splits the cluster with the largest error in two, at the best place along its worst axis, until there are `most`
/// clusters. Returns their means.
fn split<const N: usize>(colours: &mut [Colour<N>], most: usize) -> Vec<[f64; N]> {
    if colours.is_empty() {
        return Vec::new();
    }
    let mut clusters = vec![Cluster::of(colours, 0, colours.len())];
    while clusters.len() < most {
        let Some((index, worst)) = clusters
            .iter()
            .enumerate()
            .filter(|(_, cluster)| cluster.end - cluster.start > 1)
            .max_by(|(_, a), (_, b)| a.error.total_cmp(&b.error))
        else {
            break;
        };
        let (start, end, axis) = (worst.start, worst.end, worst.axis);
        let run = &mut colours[start..end];
        run.sort_unstable_by(|a, b| a.value[axis].total_cmp(&b.value[axis]));
        let middle = start + best_cut(run);
        clusters[index] = Cluster::of(colours, start, middle);
        clusters.push(Cluster::of(colours, middle, end));
    }
    clusters.into_iter().map(|cluster| cluster.mean).collect()
}

/// Returns the index at which to cut a sorted run of at least two colours, so that at least one remains on each side.
fn best_cut<const N: usize>(run: &[Colour<N>]) -> usize {
    let all = Sum::of(run);
    let mut left = Sum::<N>::default();
    let mut best = (f64::MIN, 1);
    for (index, colour) in run[..run.len() - 1].iter().enumerate() {
        left.add(colour.value, colour.weight);
        let right: Sum<N> = Sum {
            weight: all.weight - left.weight,
            values: std::array::from_fn(|axis| all.values[axis] - left.values[axis]),
            ..Sum::default()
        };
        let explained = left.explained() + right.explained();
        if explained > best.0 {
            best = (explained, index + 1);
        }
    }
    best.1
}

/// Moves every palette entry to the mean of the colours that are nearest to it.
fn settle<const N: usize>(colours: &[Colour<N>], palette: &[[f64; N]]) -> Vec<[f64; N]> {
    let mut sums = vec![Sum::default(); palette.len()];
    for colour in colours {
        let distance = |entry: &[f64; N]| -> f64 {
            let difference = |axis: usize| entry[axis] - colour.value[axis];
            (0..N).map(|axis| difference(axis) * difference(axis)).sum()
        };
        let nearest = (0..palette.len())
            .map(|index| (distance(&palette[index]), index))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, index)) = nearest {
            sums[index].add(colour.value, colour.weight);
        }
    }
    sums.iter()
        .zip(palette)
        .map(|(sum, &old)| if sum.weight > 0.0 { sum.mean() } else { old })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram<const N: usize>(colours: impl IntoIterator<Item = [u8; N]>) -> Histogram<N> {
        let mut histogram = Histogram::new();
        for colour in colours {
            histogram.add(colour);
        }
        histogram
    }

    #[test]
    fn few_distant_colours_are_found_as_they_are() {
        let colours = [[0, 0, 0], [250, 10, 20], [20, 240, 30], [255, 255, 255]];
        let mut palette = histogram(colours).fit(16);
        palette.sort_unstable();
        assert_eq!(
            palette,
            [[0, 0, 0], [20, 240, 30], [250, 10, 20], [255, 255, 255]]
        );
    }

    #[test]
    fn a_slope_is_cut_evenly() {
        let mut palette = histogram((0..=255).map(|v| [v, v, v])).fit(4);
        palette.sort_unstable();
        for (entry, middle) in palette.iter().zip([32, 96, 160, 224]) {
            assert!(entry[0].abs_diff(middle) <= 4, "{palette:?}");
        }
    }

    #[test]
    fn no_pixels_make_no_palette() {
        assert!(histogram::<3>([]).fit(256).is_empty());
    }

    #[test]
    fn a_fourth_channel_is_fitted_like_the_others() {
        let colours = [[10, 20, 30, 0], [10, 20, 30, 255], [200, 20, 30, 128]];
        let mut palette = histogram(colours).fit(16);
        palette.sort_unstable();
        assert_eq!(palette, colours);
    }

    #[test]
    fn a_palette_never_has_more_colours_than_asked_for() {
        let many = (0..40_000u32).map(|n| [n as u8, (n >> 3) as u8, (n >> 7) as u8]);
        assert_eq!(histogram(many).fit(255).len(), 255);
    }
}
