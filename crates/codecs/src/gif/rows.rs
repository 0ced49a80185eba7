//! The order in which an interlaced GIF stores its rows.

/// First row and row distance of each of the four passes.
const PASSES: [(u32, usize); 4] = [(0, 8), (4, 8), (2, 4), (1, 2)];

/// Returns the row numbers of a frame in the order in which they are stored.
pub(super) fn stored_order(height: u32, interlaced: bool) -> impl Iterator<Item = u32> {
    let passes: &[(u32, usize)] = if interlaced { &PASSES } else { &[(0, 1)] };
    passes
        .iter()
        .flat_map(move |&(first, distance)| (first..height).step_by(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interlaced_frame_stores_every_eighth_row_first() {
        let rows: Vec<u32> = stored_order(10, true).collect();
        assert_eq!(rows, [0, 8, 4, 2, 6, 1, 3, 5, 7, 9]);
    }

    #[test]
    fn a_plain_frame_stores_its_rows_in_order() {
        assert!(stored_order(5, false).eq(0..5));
    }

    #[test]
    fn a_single_row_is_stored_once() {
        assert!(stored_order(1, true).eq(0..1));
    }
}
