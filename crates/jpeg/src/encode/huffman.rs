//! Builds Huffman tables that are optimal for an image's symbols.

/// How often each symbol occurs.
#[derive(Clone)]
pub(super) struct Counts([u32; 256]);

impl Counts {
    /// Creates counts of 0.
    pub(super) fn new() -> Self {
        Self([0; 256])
    }

    /// Counts a symbol `times` times.
    #[inline(always)]
    pub(super) fn add(&mut self, symbol: u8, times: u32) {
        self.0[usize::from(symbol)] += times;
    }

    /// Adds the counts of another part of the image.
    pub(super) fn include(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }

    /// Counts each of these symbols once.
    pub(super) fn add_all(&mut self, symbols: &[u8]) {
        // Every second symbol is counted in a table of its own. Otherwise, two equal symbols in a row would have to
        // wait for the store and load of the same count.
        let mut second_counts = [0; 256];
        let (pairs, rest) = symbols.as_chunks();
        for &[first, second] in pairs {
            self.0[usize::from(first)] += 1;
            second_counts[usize::from(second)] += 1;
        }
        for &symbol in rest {
            self.0[usize::from(symbol)] += 1;
        }
        self.include(&Self(second_counts));
    }
}

/// A Huffman table in two forms: the one that a file stores, and one for encoding.
pub(super) struct Table {
    /// Number of codes of each length, 1 to 16 bits.
    pub(super) lengths: [u8; 16],
    /// The symbols, ordered by the length of their codes, the shortest first.
    pub(super) symbols: Vec<u8>,
    /// The code of each symbol: its length in the lowest byte, the code itself above it.
    pub(super) codes: [u32; 256],
    /// Total number of bits of all counted symbols, including the value bits that follow them.
    pub(super) bits: u64,
}

impl Table {
    /// Builds the optimal table for these counts (T.81, K.2). At every length, the code that is all ones stays unused.
    pub(super) fn of(counts: &Counts) -> Self {
        let mut frequencies: Vec<(u32, u8)> = (0..=255u8)
            .map(|symbol| (counts.0[usize::from(symbol)], symbol))
            .filter(|&(count, _)| count > 0)
            .collect();
        if frequencies.is_empty() {
            frequencies.push((1, 0));
        }
        // Among equally frequent symbols the largest counts as the rarest, so that tables do not depend on the sorting
        // algorithm.
        frequencies.sort_unstable_by_key(|&(count, symbol)| (count, u8::MAX - symbol));
        // The code that is all ones is reserved by a symbol that never occurs, the rarest of all.
        let weights: Vec<u64> = std::iter::once(0)
            .chain(frequencies.iter().map(|&(count, _)| count.into()))
            .collect();
        let mut numbers = code_lengths(&weights);
        limit(&mut numbers);
        // That symbol has one of the longest codes.
        if let Some(longest) = numbers.iter_mut().rev().find(|number| **number > 0) {
            *longest -= 1;
        }
        let mut lengths = [0; 16];
        for (length, &number) in lengths.iter_mut().zip(&numbers[1..]) {
            *length = number as u8;
        }
        let symbols: Vec<u8> = frequencies
            .iter()
            .rev()
            .map(|&(_, symbol)| symbol)
            .collect();
        let mut codes = [0; 256];
        let mut bits = 0;
        let (mut code, mut at) = (0, 0);
        for (length, &number) in (1u32..).zip(&lengths) {
            for &symbol in &symbols[at..at + usize::from(number)] {
                codes[usize::from(symbol)] = code << 8 | length;
                bits += u64::from(counts.0[usize::from(symbol)])
                    * u64::from(length + u32::from(symbol & 15));
                code += 1;
            }
            at += usize::from(number);
            code <<= 1;
        }
        Self {
            lengths,
            symbols,
            codes,
            bits,
        }
    }
}

/// Returns the number of codes of each length in a Huffman code for these weights, which must be in ascending order.
///
/// The algorithm merges two queues: the leaves, and the sums in the order in which they are created, which is
/// ascending, too.
fn code_lengths(weights: &[u64]) -> [u32; 258] {
    let leaves = weights.len();
    let mut sums: Vec<u64> = Vec::with_capacity(leaves);
    // Index of each node's parent. Leaves come first, then sums.
    let mut parents = vec![0; 2 * leaves];
    let (mut leaf, mut sum) = (0, 0);
    for sum_index in 0..leaves - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            let take_leaf = leaf < leaves && (sum >= sum_index || weights[leaf] <= sums[sum]);
            if take_leaf {
                weight += weights[leaf];
                parents[leaf] = leaves + sum_index;
                leaf += 1;
            } else {
                weight += sums[sum];
                parents[leaves + sum] = leaves + sum_index;
                sum += 1;
            }
        }
        sums.push(weight);
    }
    let mut numbers = [0; 258];
    let mut depths = vec![0usize; 2 * leaves];
    for node in (0..(2 * leaves - 2)).rev() {
        depths[node] = depths[parents[node]] + 1;
        if node < leaves {
            numbers[depths[node]] += 1;
        }
    }
    numbers
}

/// Shortens codes so that none is longer than 16 bits (T.81, figure K.3).
fn limit(numbers: &mut [u32; 258]) {
    for length in (17..258).rev() {
        while numbers[length] > 0 {
            let mut shorter = length - 2;
            while numbers[shorter] == 0 {
                shorter -= 1;
            }
            numbers[length] -= 2;
            numbers[length - 1] += 1;
            numbers[shorter + 1] += 2;
            numbers[shorter] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the rules of T.81: no code is longer than 16 bits, and none is all ones.
    #[test]
    fn codes_are_as_the_standard_wants_them_however_uneven_the_counts_are() {
        let mut fibonacci = Counts::new();
        let (mut a, mut b) = (1u32, 1);
        for level in 0..40u8 {
            fibonacci.add(level, a);
            (a, b) = (b, a.saturating_add(b));
        }
        let mut even = Counts::new();
        (0..=255).for_each(|symbol| even.add(symbol, 7));
        let mut single = Counts::new();
        single.add(3, 1);
        for (counts, symbols) in [
            (fibonacci, 40),
            (even, 256),
            (single, 1),
            (Counts::new(), 1),
        ] {
            let table = Table::of(&counts);
            assert_eq!(table.symbols.len(), symbols);
            let total: u32 = table.lengths.iter().map(|&number| u32::from(number)).sum();
            assert_eq!(total as usize, symbols);
            // In units of the longest code's share of all codes: at least one is left.
            let share = |(length, &number): (u32, &u8)| u32::from(number) << (16 - length);
            let taken: u32 = (1u32..).zip(&table.lengths).map(share).sum();
            assert!(taken < 1 << 16);
        }
    }
}
