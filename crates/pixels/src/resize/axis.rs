//! Where the samples of a resized plane lie on the incoming one, along one axis.

/// Largest difference between a position and a whole number at which they count as equal. Positions that would be whole
/// in exact arithmetic differ from whole numbers by rounding errors only.
const SNAP: f64 = 1e-6;

/// One axis of a plane being resampled, in samples of the incoming plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The first input sample that may be read.
    pub(crate) start: u32,
    /// Number of input samples that may be read from `start` on; at least 1.
    pub(crate) count: u32,
    /// Position of the first output sample's left edge, in input samples from `start`.
    pub(crate) left: f64,
    /// Length, in input samples, that all output samples together cover; may reach beyond `count`.
    pub(crate) length: f64,
    /// Number of output samples.
    pub(crate) out: u32,
}

impl Axis {
    /// Returns the axis of a plane of `have` samples, with `density` samples per source px, where source px `from` to
    /// `from + length` become `to` px, of which `thin` share an output sample.
    ///
    /// If `to` is not a multiple of `thin`, the last output sample reaches beyond the image. Like all others it still
    /// stands for `thin` px, so that chroma samples stay in line with luma.
    pub(crate) fn new(have: u32, density: f64, from: f64, length: f64, to: u32, thin: u8) -> Self {
        let out = to.div_ceil(u32::from(thin));
        let begin = snap((from * density).max(0.0));
        let end = snap((from + length) * density);
        let covered = f64::from(out) * f64::from(thin) / f64::from(to);
        let start = (begin.floor() as u32).min(have.saturating_sub(1));
        let stop = (end.ceil() as u32).clamp(start + 1, have.max(start + 1));
        Self {
            start,
            count: stop - start,
            left: begin - f64::from(start),
            length: snap((end - begin) * covered),
            out,
        }
    }

    /// Also allows reading samples around those that the axis covers, within source px `from` to `from + length`, as
    /// far as the kernel reaches: `support` samples of the output or, when enlarging, of the input.
    pub(crate) fn reaching(
        self,
        have: u32,
        density: f64,
        from: f64,
        length: f64,
        support: f64,
    ) -> Self {
        if self.is_copy() {
            return self;
        }
        let reach = support * (self.length / f64::from(self.out)).max(1.0);
        let first = f64::from(self.start) + self.left;
        let begin = snap((from * density).max(0.0)).max(first - reach).floor() as u32;
        let end = snap((from + length) * density).min(first + self.length + reach);
        let start = begin.min(self.start);
        let stop = (end.ceil() as u32).min(have).max(self.start + self.count);
        Self {
            start,
            count: stop - start,
            left: first - f64::from(start),
            ..self
        }
    }

    /// Returns this axis for a plane that lacks the samples before sample `first` of the incoming plane.
    pub(crate) fn of_part(self, first: f64) -> Self {
        Self {
            // Parts begin with whole samples, so `first` is a whole number.
            start: self.start.saturating_sub(first as u32),
            ..self
        }
    }

    /// Returns an axis that moves samples: sample `i` of the result lies at `i + shift` of the `have` input samples.
    pub(crate) fn shifted(have: u32, shift: f64) -> Self {
        Self {
            start: 0,
            count: have,
            left: shift,
            length: f64::from(have),
            out: have,
        }
    }

    /// Returns an axis that leaves every sample as it is.
    pub(crate) fn same(have: u32) -> Self {
        Self::shifted(have, 0.0)
    }

    /// Whether output samples are input samples, unfiltered.
    pub(crate) fn is_copy(&self) -> bool {
        self.left == 0.0 && self.length == f64::from(self.out) && self.out == self.count
    }

    /// Returns how many samples beyond the last readable one the axis covers.
    pub(crate) fn excess(&self) -> u32 {
        let reach = (self.left + self.length - SNAP).ceil() as u32;
        reach.saturating_sub(self.count)
    }

    /// Returns this axis for a plane that was cut down to the readable samples, plus those that `excess` counts.
    pub(crate) fn windowed(&self) -> Self {
        Self {
            start: 0,
            count: self.count + self.excess(),
            ..*self
        }
    }

    /// Returns how many input samples contribute to one output sample, for a kernel that reaches `support` samples.
    pub(crate) fn taps(&self, support: f64) -> f64 {
        if self.is_copy() {
            return 0.0;
        }
        2.0 * support * (self.length / f64::from(self.out)).max(1.0)
    }
}

fn snap(value: f64) -> f64 {
    let whole = value.round();
    if (value - whole).abs() < SNAP {
        whole
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_plane_at_its_own_size_is_a_copy() {
        assert!(Axis::new(67, 0.5, 0.0, 133.0, 133, 2).is_copy());
        assert!(Axis::new(133, 1.0, 0.0, 133.0, 133, 1).is_copy());
    }

    #[test]
    fn chroma_of_an_odd_width_covers_one_px_more_than_luma() {
        let axis = Axis::new(2000, 0.5, 0.0, 4000.0, 133, 2);
        assert_eq!(axis.out, 67);
        assert!((axis.length - 2000.0 * 134.0 / 133.0).abs() < 1e-9);
        assert_eq!(axis.excess(), 16);
    }

    #[test]
    fn an_odd_offset_lies_between_chroma_samples() {
        let axis = Axis::new(50, 0.5, 11.0, 20.0, 20, 2);
        assert_eq!((axis.start, axis.count, axis.left), (5, 11, 0.5));
        assert_eq!(axis.length, 10.0);
        assert_eq!(axis.excess(), 0);
    }

    #[test]
    fn a_region_beyond_the_plane_reads_only_what_is_there() {
        let axis = Axis::new(10, 1.0, 8.0, 5.0, 5, 1);
        assert_eq!((axis.start, axis.count, axis.excess()), (8, 2, 3));
    }
}
