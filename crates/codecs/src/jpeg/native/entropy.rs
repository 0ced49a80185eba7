//! Entropy-coded data without its byte stuffing, cut at restart markers.

use std::ops::Range;

use andon_kernels::stuffing;
use andon_pixels::buffers::Buffer;

use super::bits::Bits;

/// The bytes of one scan, unstuffed.
#[derive(Default)]
pub(super) struct Unstuffed {
    bytes: Buffer<u8>,
    /// The end of each restart interval in `bytes`.
    ends: Vec<usize>,
    /// How many intervals come in order: those behind a marker of a wrong number do not count.
    in_order: usize,
    /// Are there fill bytes before a stuffed zero?
    filled: bool,
}

impl Unstuffed {
    /// Takes the entropy-coded bytes at the beginning of `coded` in and gives how many there were. A
    /// marker other than RSTn ends them.
    pub(super) fn read(&mut self, coded: &[u8]) -> usize {
        self.read_from(coded, 0)
    }

    /// Takes in entropy-coded bytes that begin in restart interval `number` of the scan, and gives how many there were.
    pub(super) fn read_from(&mut self, coded: &[u8], number: usize) -> usize {
        let stuffed = |coded: &[u8], bytes: &mut Vec<u8>| stuffing::remove(coded, bytes);
        self.read_runs(coded, number, stuffed, |_, _| {})
    }

    /// Takes in entropy-coded bytes; `runs` is told where each run of bytes without stuffing or a marker ends, unstuffed, and where
    /// in `coded`
    /// the next one begins.
    pub(super) fn read_telling(&mut self, coded: &[u8], runs: impl FnMut(usize, usize)) -> usize {
        self.read_runs(coded, 0, |_, _| 0, runs)
    }

    /// What `ahead` takes at once is not told to `runs`.
    #[inline(always)]
    fn read_runs(
        &mut self,
        coded: &[u8],
        number: usize,
        ahead: impl Fn(&[u8], &mut Vec<u8>) -> usize,
        mut runs: impl FnMut(usize, usize),
    ) -> usize {
        if self.bytes.capacity() < coded.len() {
            self.bytes = Buffer::with_capacity(coded.len());
        }
        self.bytes.clear();
        self.ends.clear();
        self.in_order = usize::MAX;
        self.filled = false;
        let mut from = 0;
        loop {
            // Where markers follow one another, there is nothing to take.
            if coded.get(from) != Some(&0xff) {
                from += ahead(&coded[from..], &mut self.bytes);
            }
            let Some(at) = memchr::memchr(0xff, &coded[from..]).map(|at| from + at) else {
                self.bytes.extend_from_slice(&coded[from..]);
                from = coded.len();
                break;
            };
            match coded.get(at + 1) {
                Some(0) => {
                    self.bytes.extend_from_slice(&coded[from..=at]);
                    from = at + 2;
                }
                Some(&marker @ 0xd0..=0xd7) => {
                    self.bytes.extend_from_slice(&coded[from..at]);
                    if usize::from(marker & 7) != (number + self.ends.len()) % 8 {
                        self.in_order = self.in_order.min(self.ends.len() + 1);
                    }
                    self.ends.push(self.bytes.len());
                    from = at + 2;
                }
                // A fill byte before a marker.
                Some(0xff) => {
                    self.filled |= coded.get(at + 2) == Some(&0);
                    self.bytes.extend_from_slice(&coded[from..at]);
                    from = at + 1;
                }
                _ => {
                    self.bytes.extend_from_slice(&coded[from..at]);
                    from = at;
                    break;
                }
            }
            runs(self.bytes.len(), from);
        }
        runs(self.bytes.len(), from);
        self.ends.push(self.bytes.len());
        from
    }

    /// Do fill bytes stand where only a marker may follow them? libjpeg takes them and the zero for one
    /// 0xFF, but its fast path for sequential scans stumbles, and leaves coefficients behind.
    pub(super) fn has_fill_bytes_inside(&self) -> bool {
        self.filled
    }

    /// Bytes of all intervals.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Restart interval `index`, unless a marker before it is missing.
    pub(super) fn interval(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(index)?)
    }

    /// A reader of restart interval `index`, unless a marker before it is missing. It loads bytes of the next
    /// one in advance: many intervals are short, and the end of the data is slow to load from.
    pub(super) fn reader(&self, index: usize) -> Option<Bits<'_>> {
        Some(Bits::within(&self.bytes, self.range(index)?))
    }

    /// A reader of restart interval `index` from bit `position` of all data on, which is not before the interval.
    pub(super) fn reader_within(&self, index: usize, position: u64) -> Option<Bits<'_>> {
        Some(self.reader_up_to(self.range(index)?.end, position))
    }

    /// A reader of the first restart interval from bit `position` on.
    pub(super) fn reader_at(&self, position: u32) -> Bits<'_> {
        let end = self.ends.first().copied().unwrap_or_default();
        self.reader_up_to(end, position.into())
    }

    /// A reader from bit `position` up to byte `end`.
    fn reader_up_to(&self, end: usize, position: u64) -> Bits<'_> {
        let mut bits = Bits::within(&self.bytes, (position / 8) as usize..end);
        bits.take((position % 8) as u32);
        bits
    }

    /// The unstuffed bytes of restart interval `index`, unless a marker before it is missing.
    pub(super) fn range(&self, index: usize) -> Option<Range<usize>> {
        if index >= self.in_order {
            return None;
        }
        let start = if index == 0 {
            0
        } else {
            *self.ends.get(index - 1)?
        };
        Some(start..*self.ends.get(index)?)
    }
}

/// Unstuffed bytes from which on other cores are worth waking.
pub(super) const WORTH_IT: usize = 48 << 10;

/// How many entropy-coded bytes stand at the beginning of `coded`, without reading them.
pub(in crate::jpeg) fn length(coded: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = memchr::memchr(0xff, &coded[from..]) {
        match coded.get(from + at + 1) {
            Some(0 | 0xd0..=0xd7) => from += at + 2,
            Some(0xff) => from += at + 1,
            _ => return from + at,
        }
    }
    coded.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuffing_goes_and_restart_markers_cut() {
        let coded = [1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff, 0xd9, 7];
        let mut unstuffed = Unstuffed::default();
        assert_eq!(unstuffed.read(&coded), 8);
        assert_eq!(unstuffed.interval(0), Some(&[1, 0xff, 2][..]));
        assert_eq!(unstuffed.interval(1), Some(&[3][..]));
        assert_eq!(unstuffed.interval(2), None);
        assert_eq!(length(&coded), 8);
    }

    #[test]
    fn fill_bytes_before_a_stuffed_zero_are_told_from_those_before_a_marker() {
        let read = |coded: &[u8]| {
            let mut unstuffed = Unstuffed::default();
            unstuffed.read(coded);
            (unstuffed.bytes.to_vec(), unstuffed.has_fill_bytes_inside())
        };
        assert_eq!(read(&[1, 0xff, 0xff, 0xff, 0, 2]), (vec![1, 0xff, 2], true));
        assert_eq!(read(&[1, 0xff, 0xff, 0xd9]), (vec![1], false));
        assert_eq!(read(&[1, 0xff, 0, 0xff, 0xd9]), (vec![1, 0xff], false));
    }

    #[test]
    fn nothing_counts_behind_a_restart_marker_out_of_order() {
        let coded = [1, 0xff, 0xd0, 2, 0xff, 0xd2, 3, 0xff, 0xd9];
        let mut unstuffed = Unstuffed::default();
        unstuffed.read(&coded);
        assert_eq!(unstuffed.interval(1), Some(&[2][..]));
        assert_eq!(unstuffed.interval(2), None);
    }
}
