//! Entropy-coded data without byte stuffing, split at restart markers.

use std::ops::Range;

use andon_kernels::buffers::Buffer;
use andon_kernels::stuffing;

use crate::codes::{RST0, RST7};
use crate::decode::bits::Bits;

/// The bytes of one scan, unstuffed.
#[derive(Default)]
pub(super) struct Unstuffed {
    bytes: Buffer<u8>,
    /// Offset in `bytes` of the end of each restart interval.
    ends: Vec<usize>,
    /// Number of restart intervals before the first restart marker with a wrong number. The intervals after it are not
    /// used.
    in_order: usize,
    /// Whether there are fill bytes before a stuffed zero.
    has_fill_bytes: bool,
}

impl Unstuffed {
    /// Removes the byte stuffing from the entropy-coded data at the beginning of `coded`, up to a marker other than RSTn.
    /// Returns the length of these data in `coded`, in bytes.
    pub(super) fn read(&mut self, coded: &[u8]) -> usize {
        self.read_from(coded, 0)
    }

    /// Removes the byte stuffing from the entropy-coded data at the beginning of `coded`, which begin with restart
    /// interval `number` of the scan. Returns the length of these data in `coded`, in bytes.
    pub(super) fn read_from(&mut self, coded: &[u8], number: usize) -> usize {
        let stuffed = |coded: &[u8], bytes: &mut Vec<u8>| stuffing::remove(coded, bytes);
        self.read_runs(coded, number, stuffed, |_, _| {})
    }

    /// Removes the byte stuffing from the entropy-coded data at the beginning of `coded`, and returns the length of
    /// these data in `coded`, in bytes. For each run of bytes that contains neither stuffing nor a marker, `runs` gets
    /// the offset of its end in the unstuffed bytes, and the offset in `coded` at which the next run begins.
    pub(super) fn read_runs_of(&mut self, coded: &[u8], runs: impl FnMut(usize, usize)) -> usize {
        self.read_runs(coded, 0, |_, _| 0, runs)
    }

    /// Removes the byte stuffing from the entropy-coded data at the beginning of `coded`, which begin with restart
    /// interval `number` of the scan. Returns the length of these data in `coded`, in bytes.
    ///
    /// `ahead` may unstuff many bytes at once: it appends them to its second argument and returns how many bytes of
    /// `coded` they were. For each run of bytes without stuffing or a marker that is left after that, `runs` gets the
    /// offset of its end in the unstuffed bytes, and the offset in `coded` at which the next run begins.
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
        self.has_fill_bytes = false;
        let mut from = 0;
        loop {
            // Between two markers that follow each other directly, there is nothing to unstuff.
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
                Some(&marker @ RST0..=RST7) => {
                    self.bytes.extend_from_slice(&coded[from..at]);
                    if usize::from(marker & 7) != (number + self.ends.len()) % 8 {
                        self.in_order = self.in_order.min(self.ends.len() + 1);
                    }
                    self.ends.push(self.bytes.len());
                    from = at + 2;
                }
                // A fill byte before a marker.
                Some(0xff) => {
                    self.has_fill_bytes |= coded.get(at + 2) == Some(&0);
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

    /// Whether there are fill bytes before a stuffed zero; they are allowed only before a marker. libjpeg reads them
    /// and the zero as one 0xFF, but its fast path for sequential scans loses coefficients there.
    pub(super) fn has_fill_bytes_inside(&self) -> bool {
        self.has_fill_bytes
    }

    /// Returns the total number of unstuffed bytes in all intervals.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of restart interval `index`, or `None` if a marker before it is missing.
    pub(super) fn interval(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(index)?)
    }

    /// Returns a reader of restart interval `index`, or `None` if a marker before it is missing. The reader may also
    /// load bytes of the next interval, because many intervals are short and loading at the end of the data is slow.
    pub(super) fn reader(&self, index: usize) -> Option<Bits<'_>> {
        Some(Bits::within(&self.bytes, self.range(index)?))
    }

    /// Returns a reader of restart interval `index` that begins at bit `position` of the unstuffed data, which must
    /// not lie before the interval.
    pub(super) fn reader_within(&self, index: usize, position: u64) -> Option<Bits<'_>> {
        let end = self.range(index)?.end;
        let mut bits = Bits::within(&self.bytes, (position / 8) as usize..end);
        bits.take((position % 8) as u32);
        Some(bits)
    }

    /// Returns a reader that begins at bit `position` of the unstuffed data, inside the first restart interval, and
    /// reads the rest of this interval. The reader is empty if there is no such interval.
    pub(super) fn reader_at(&self, position: u32) -> Bits<'_> {
        let bits = self.reader_within(0, position.into());
        bits.unwrap_or(Bits::new(&[]))
    }

    /// Returns the range of restart interval `index` in the unstuffed bytes, or `None` if a marker before it is
    /// missing.
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

/// Minimum size of a scan, in unstuffed bytes, for which waking other cores pays.
pub(super) const WORTH_IT: usize = 48 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::coded_length;

    #[test]
    fn stuffing_goes_and_restart_markers_cut() {
        let coded = [1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff, 0xd9, 7];
        let mut unstuffed = Unstuffed::default();
        assert_eq!(unstuffed.read(&coded), 8);
        assert_eq!(unstuffed.interval(0), Some(&[1, 0xff, 2][..]));
        assert_eq!(unstuffed.interval(1), Some(&[3][..]));
        assert_eq!(unstuffed.interval(2), None);
        assert_eq!(coded_length(&coded), 8);
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
