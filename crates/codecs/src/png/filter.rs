//! Row filters, mainly for interlaced images, which the `png` crate does not write.

/// How a row's filter is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Always this filter.
    Fixed(Filter),
    /// The filter whose residuals have the smallest sum of absolute values, which is the usual heuristic for photos.
    SmallestSum,
}

/// PNG's five filters, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Stores bytes without a change.
    None = 0,
    /// Subtracts the pixel to the left.
    Sub = 1,
    /// Subtracts the pixel above.
    Up = 2,
    /// Subtracts the mean of the pixels to the left and above.
    Average = 3,
    /// Subtracts the pixel to the left, above or above-left, whichever predicts best.
    Paeth = 4,
}

/// Filters rows one after another. The previous row is stored, because filters refer to it.
pub(super) struct Rows {
    choice: Choice,
    pixel_bytes: usize,
    above: Vec<u8>,
    best: Vec<u8>,
    trial: Vec<u8>,
}

impl Rows {
    /// Creates a filter for the rows of one pass, each `row_bytes` long.
    pub(super) fn new(choice: Choice, pixel_bytes: usize, row_bytes: usize) -> Self {
        Self {
            choice,
            pixel_bytes,
            above: vec![0; row_bytes],
            best: Vec::with_capacity(row_bytes + 1),
            trial: Vec::with_capacity(row_bytes + 1),
        }
    }

    /// Returns the row for the zlib stream: the number of the filter, then the residuals.
    pub(super) fn filter(&mut self, row: &[u8]) -> &[u8] {
        match self.choice {
            Choice::Fixed(filter) => {
                residuals(filter, self.pixel_bytes, &self.above, row, &mut self.best);
            }
            Choice::SmallestSum => {
                let mut smallest = u64::MAX;
                for filter in ALL {
                    residuals(filter, self.pixel_bytes, &self.above, row, &mut self.trial);
                    let sum = self.trial[1..]
                        .iter()
                        .map(|&byte| u64::from((byte as i8).unsigned_abs()))
                        .sum();
                    if sum < smallest {
                        smallest = sum;
                        std::mem::swap(&mut self.best, &mut self.trial);
                    }
                }
            }
        }
        self.above.clear();
        self.above.extend_from_slice(row);
        &self.best
    }
}

const ALL: [Filter; 5] = [
    Filter::None,
    Filter::Sub,
    Filter::Up,
    Filter::Average,
    Filter::Paeth,
];

fn residuals(filter: Filter, pixel_bytes: usize, above: &[u8], row: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.push(filter as u8);
    // The first pixel has no left neighbour, so every filter except `Average` acts like `None` or `Up`.
    let first = pixel_bytes.min(row.len());
    let (head, tail) = row.split_at(first);
    let (above_head, above_tail) = above.split_at(first);
    let tail_left_up = tail.iter().zip(row).zip(above_tail);
    match filter {
        Filter::None => out.extend_from_slice(row),
        Filter::Sub => {
            out.extend_from_slice(head);
            out.extend(
                tail.iter()
                    .zip(row)
                    .map(|(&it, &left)| it.wrapping_sub(left)),
            );
        }
        Filter::Up => out.extend(row.iter().zip(above).map(|(&it, &up)| it.wrapping_sub(up))),
        Filter::Average => {
            let head = head.iter().zip(above_head);
            out.extend(head.map(|(&it, &up)| it.wrapping_sub(up / 2)));
            out.extend(
                tail_left_up.map(|((&it, &left), &up)| it.wrapping_sub(u8::midpoint(left, up))),
            );
        }
        Filter::Paeth => {
            let head = head.iter().zip(above_head);
            out.extend(head.map(|(&it, &up)| it.wrapping_sub(up)));
            let pixels = tail_left_up.zip(above);
            out.extend(
                pixels
                    .map(|(((&it, &left), &up), &corner)| it.wrapping_sub(paeth(left, up, corner))),
            );
        }
    }
}

/// Returns the neighbour nearest to left + up − corner. Ties are resolved in the order of the standard.
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let guess = a + b - c;
    let (to_a, to_b, to_c) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        up
    } else {
        corner
    }
}
