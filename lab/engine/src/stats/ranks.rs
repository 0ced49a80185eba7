//! Ranks of values with ties, as doubled integers: tied values share the mean of their ranks, which is a multiple of
//! one half.

/// Returns twice the rank (from 1) of each value, in the order of the values.
pub(super) fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let mut last = first;
        while last + 1 < order.len() && values[order[last + 1]] == values[order[first]] {
            last += 1;
        }
        for &at in &order[first..=last] {
            // This is the mean of first + 1 and last + 1, doubled.
            ranks[at] = first + last + 2;
        }
        first = last + 1;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_values_share_the_mean_of_their_places() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 7.0]), [5, 2, 5, 8]);
        assert!(doubled_ranks(&[]).is_empty());
    }
}
